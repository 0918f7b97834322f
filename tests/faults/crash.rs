//! A run that is killed at a chosen system call.

use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::phase::{Phase, under};
use crate::support::env::Ran;
use crate::support::strace::{self, Point, Trace};
use crate::support::tracer;

pub struct Crash {
    pub ran: Ran,
    /// Where it was killed, if it was.
    pub at: Option<Point>,
}

/// Runs a command of which one process is killed at `point`; counts it if it
/// was, there or elsewhere.
pub fn crash(phase: &Phase, point: &Point, command: impl FnOnce(&[&str]) -> Command) -> Crash {
    let (ran, at) = if point.hidden {
        let (ran, struck) = tracer::crash(command(&[]), point);
        (ran, struck.then(|| point.clone()))
    } else {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let log = phase.env.root().join(format!("crash-{}", NUMBER.fetch_add(1, Ordering::Relaxed)));
        let ran = under(&strace::crashing(point, &log), command);
        let at = Trace::read(&log).struck(point.place.process).cloned();
        fs::remove_file(log).unwrap();
        (ran, at)
    };
    phase.faults.fetch_add(usize::from(at.is_some()), Ordering::Relaxed);
    Crash { ran, at }
}

/// Does something with each of them, several at once: interleaving only helps.
pub fn with_each<T: Sync>(all: &[T], at_once: usize, act: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while let Some(one) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    act(one);
                }
            });
        }
    });
}
