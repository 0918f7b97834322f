//! A supervisor that its agent stopped (SIGSTOP): whoever looks is told, and `cancel` ends the run.

use crate::phase::Phase;
use crate::support::env::{PATIENCE, Submitted, wait_for};
use crate::support::kill;

/// A run whose agent has stopped its supervisor and then does `more`.
fn stopped(phase: &Phase, more: &str) -> (Submitted, i32) {
    let task = phase.submit(&format!("kill -STOP $PPID; {more}"));
    let supervisor = wait_for("the supervisor to stop", PATIENCE, || {
        let pid = kill::supervisor_of(&phase.env.run_dir(&task.run_id))?;
        (kill::state(pid) == Some(b'T')).then_some(pid)
    });
    (task, supervisor)
}

#[test]
fn whoever_looks_is_told_of_a_stopped_supervisor() {
    let phase = Phase::new();
    let (task, supervisor) = stopped(&phase, "exec sleep 100000");
    let id = task.task_id.as_str();
    let advice = format!("kill -CONT {supervisor}");
    for (args, exit) in [
        (&["status"][..], 0),
        (&["status", id], 0),
        (&["wait", "--timeout", "0.2", id], 4),
        (&["results", id], 4),
        (&["doctor"], 0),
    ] {
        let ran = phase.env.run(args);
        let told = ran.stdout + &ran.stderr;
        assert!(ran.code == Some(exit) || args == ["doctor"], "{args:?}: {told}");
        assert!(told.contains("stopped") && told.contains(&advice), "{args:?}: {told}");
    }
    let told = phase.env.json(&["status", "--json"]).to_string();
    assert!(told.contains(&advice), "{told}");
    // Once it goes on, nobody is warned any more.
    kill::send(supervisor, libc::SIGCONT);
    wait_for("the supervisor to go on", PATIENCE, || (kill::state(supervisor) != Some(b'T')).then_some(()));
    let told = phase.env.expect(0, &["status"]).stdout;
    assert!(!told.contains(&advice), "{told}");
    phase.env.expect(0, &["cancel", id]);
    phase.close("stopped supervisor");
}

#[test]
fn cancel_ends_a_run_whose_supervisor_is_stopped() {
    let phase = Phase::new();
    let (task, _) = stopped(&phase, "exec sleep 100000");
    phase.env.expect(0, &["cancel", &task.task_id]);
    assert_eq!(phase.row(&task).state, "cancelled");
    phase.close("cancel of a stopped supervisor");
}

#[test]
fn cancel_ends_a_run_whose_agent_stops_its_supervisor_again_and_again() {
    let phase = Phase::new();
    let (task, _) = stopped(&phase, "trap '' TERM INT HUP; while :; do kill -STOP $PPID; done");
    phase.env.expect(0, &["cancel", &task.task_id]);
    let row = phase.row(&task);
    assert!(row.is_final(), "{}", row.state);
    phase.close("cancel of a supervisor that is stopped again");
}
