//! Killing without aim while everybody is at work.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use crate::phase::{Phase, meanwhile};
use crate::support::agent::playing;
use crate::support::env::{PATIENCE, acknowledged, finish};
use crate::support::kill::{self, Dice};

/// Submitters and supervisors die while the queue is full and others go on.
#[test]
fn kills_in_a_crowd_lose_nothing() {
    let phase = Phase::new();
    let task = playing(&phase.env, "short", &["say one", "spawn setsid", "pause 10", "say two", "exit 0"]);
    let mut dice = Dice::new(0xbad);
    let kill_one = || {
        let victims: Vec<i32> = kill::mentioning(phase.env.home());
        if !victims.is_empty() {
            kill::send(victims[dice.below(victims.len() as u64) as usize], libc::SIGKILL);
            phase.faults.fetch_add(1, Ordering::Relaxed);
        }
        // Often enough to hit many, seldom enough to let some live.
        thread::sleep(Duration::from_millis(5));
    };
    meanwhile(kill_one, || {
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..50).for_each(|_| submit_to_the_death(&phase, &task)));
            }
        });
    });
    phase.close("kills in a crowd");
}

/// Submits; it may be killed, but it may not fail.
fn submit_to_the_death(phase: &Phase, task: &str) {
    let ran = finish(phase.env.command(&["run", "--agent", "command", "--json", task]), PATIENCE);
    assert!(matches!(ran.code, None | Some(0)), "{:?}: {}{}", ran.code, ran.stdout, ran.stderr);
    assert!(ran.code.is_none() || acknowledged(&ran.stdout).is_some(), "{}", ran.stdout);
    phase.note(&ran.stdout);
}

/// As if the power went: every process of ours at once.
#[test]
fn everything_killed_at_once_loses_nothing() {
    let phase = Phase::new();
    let task = playing(&phase.env, "short", &["say one", "spawn setsid", "pause 10", "say two", "exit 0"]);
    let mut dice = Dice::new(0xdead);
    for _ in 0..20 {
        (0..6).for_each(|_| drop(phase.submit(&task)));
        // Any moment will do: there is no state to wait for.
        thread::sleep(Duration::from_micros(dice.below(40_000)));
        for pid in kill::mentioning(phase.env.home()) {
            kill::send(pid, libc::SIGKILL);
            phase.faults.fetch_add(1, Ordering::Relaxed);
        }
    }
    phase.close("everything at once");
}
