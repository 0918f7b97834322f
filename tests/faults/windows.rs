//! Submitters that are killed in a chosen window.
//!
//! Each stands still at a call that it makes there, until the disk shows that
//! its task has come as far as it should: nothing depends on who is faster.

use std::sync::atomic::Ordering;

use rusqlite::Connection;

use crate::kills::Windows;
use crate::scene::Scene;
use crate::stop_at_syscall;
use crate::support::env::{PATIENCE, wait_for};
use crate::support::kill::{Window, window};
use crate::support::strace::Point;

/// Kills submitters until `enough` of them were struck in the window `wanted`.
pub fn kill_submitters(scene: &Scene, wanted: Window, enough: usize, windows: &mut Windows) {
    let Scene { phase, task, .. } = scene;
    let calls = calls_in(scene, wanted);
    for (number, point) in calls.iter().cycle().take(4 * enough).enumerate() {
        if windows.get(&wanted) >= Some(&enough) {
            return;
        }
        let alias = format!("{wanted:?}-{number}");
        let args = ["run", "--agent", "command", "--json", "--alias", &alias, task];
        let submitter = stop_at_syscall::at(phase, point, |tracer| phase.env.command_under(tracer, &args));
        let Some(submitter) = submitter else { continue };
        // Who seals the run cannot end its row meanwhile.
        let busy = (wanted == Window::AfterSeal).then(|| {
            let registry = Connection::open(phase.env.registry()).unwrap();
            registry.execute_batch("BEGIN IMMEDIATE").unwrap();
            scene.release();
            registry
        });
        let struck = || window(phase.env.home(), |row| row.alias.as_ref() == Some(&alias));
        if wanted >= Window::AfterSpawn {
            let reached = || (struck() == wanted).then_some(());
            wait_for(&format!("{wanted:?}, held at {point}"), PATIENCE, reached);
        }
        submitter.kill();
        *windows.entry(struck()).or_default() += 1;
        phase.faults.fetch_add(1, Ordering::Relaxed);
        drop(busy);
        scene.rest();
    }
}

/// The calls that a submitter makes while its task is in that window, or may
/// get there without it.
fn calls_in(scene: &Scene, wanted: Window) -> Vec<Point> {
    let Scene { phase, task, .. } = scene;
    // With a name, as those that are killed: it is looked whether a task has it.
    let mut points = phase.points(&["run", "--agent", "command", "--json", "--alias", "none", task]);
    scene.rest();
    // How often these are made depends on other processes.
    let wavers = |point: &Point| ["fcntl", "pread64", "read", "statx"].contains(&point.call.as_str());
    points.retain(|point| point.place.process == 0 && !wavers(point));
    let first = |call: &str, text: &str| {
        let is = |point: &Point| point.call.starts_with(call) && point.text.contains(text);
        points.iter().position(is).unwrap_or_else(|| panic!("no {call} {text}"))
    };
    let (begun, requested) = (first("openat", "/unsettled/"), first("rename", "/request.json"));
    // The note goes once the row is there.
    let (committed, spawned) = (first("unlink", "/unsettled/"), first("clone", ""));
    let answered = first("write", "write(1<");
    let calls = match wanted {
        Window::BeforeCommit => begun..requested,
        Window::AfterCommit => committed..spawned,
        Window::AfterSpawn | Window::AfterSeal | Window::Ended => spawned + 1..answered,
    };
    points.drain(calls).collect()
}
