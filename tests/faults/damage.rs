//! Files that are spoiled before a run has ended: the run ends all the same,
//! in one way, and the queue goes on.

use std::fs;
use std::sync::atomic::Ordering;

use serde_json::Value;

use crate::phase::Phase;
use crate::support::agent::playing;
use crate::support::env::{PATIENCE, Submitted, wait_for};
use crate::support::kill;

/// What a shell does to put something else in the place of `$f`. The first two
/// do it in one step.
pub const KINDS: [&str; 4] =
    ["echo '{\"version\": 1, ' >$f", ": >$f", "rm -f $f; mkdir -m 700 $f", "rm -f $f; mkfifo -m 600 $f"];

/// Spoils a file of a run that nobody writes to.
pub fn spoil(phase: &Phase, task: &Submitted, file: &str, how: &str) {
    let path = phase.env.run_dir(&task.run_id).join(file);
    let mut command = std::process::Command::new("/bin/sh");
    command.args(["-c", &format!("umask 077; f={}; {how}", path.display())]);
    assert!(command.status().unwrap().success(), "{how}");
}

#[test]
fn a_waiting_task_whose_files_are_spoiled_fails_at_once_and_says_why() {
    let phase = Phase::new();
    phase.limit(0);
    let brief = playing(&phase.env, "brief", &["say one", "exit 0"]);
    let mut spoiled = Vec::new();
    for file in ["request.json", "result.json"] {
        for how in KINDS {
            // Not entered into the journal: nobody could find their requests.
            let task = phase.env.submit(&brief);
            spoil(&phase, &task, file, how);
            spoiled.push((task, file, how));
        }
    }
    let whole = phase.submit(&brief);
    phase.limit(1);
    phase.env.expect(0, &["status"]);
    for (task, file, how) in &spoiled {
        let row = phase.row(task);
        assert_eq!((row.state.as_str(), row.code.as_deref()), ("failed", Some("STORAGE")), "{file}: {how}");
        assert_eq!(row.attempt, 1, "{file}: {how}");
        let told = phase.env.expect(1, &["results", &task.task_id]).stdout;
        let line = format!("summary: `{}` is damaged", phase.env.run_dir(&task.run_id).join(file).display());
        assert!(told.contains(&line), "{file}: {how}: {told}");
        assert!(!phase.env.side().join(format!("{}.starts", task.run_id)).exists(), "{file}: {how}");
    }
    assert_eq!(phase.env.await_final(&whole.task_id), "completed");
    phase.faults.fetch_add(spoiled.len(), Ordering::Relaxed);
    phase.env.expect(0, &["wait", &whole.task_id]);
    phase.settle();
}

/// An agent that writes into its own run directory, and how the run ends.
fn spoiling(phase: &Phase, file: &str, how: &str, end: &str) -> Submitted {
    let runs = phase.env.home().join("runs");
    phase.env.submit(&format!("umask 077; f={}/$DELEGATOR_RUNS/{file}; {how}; {end}", runs.display()))
}

#[test]
fn an_agent_that_spoils_its_own_record_is_judged_by_what_it_did() {
    let phase = Phase::new();
    phase.limit(1);
    // A request that is missing for a moment may be taken for a deleted run.
    for (file, kinds) in [("result.json", &KINDS[..]), ("request.json", &KINDS[..2])] {
        for how in kinds {
            for (end, state, code) in [("exit 0", "completed", 0), ("exit 3", "failed", 1)] {
                let what = format!("{file}: {how}: {end}");
                let task = spoiling(&phase, file, how, end);
                phase.env.expect(code, &["wait", &task.task_id]);
                let row = phase.row(&task);
                assert_eq!((row.state.as_str(), row.attempt), (state, 1), "{what}");
                let dir = phase.env.run_dir(&task.run_id);
                let sealed: Value =
                    serde_json::from_slice(&fs::read(dir.join("result.json")).unwrap()).unwrap();
                assert_eq!(sealed.pointer("/outcome/state").unwrap(), state, "{what}");
                assert_eq!(
                    dir.join("result.json.foreign").symlink_metadata().is_ok(),
                    file == "result.json",
                    "{what}"
                );
                phase.faults.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
    phase.settle();
}

#[test]
fn a_record_that_was_spoiled_before_its_supervisor_was_killed_is_sealed_as_lost() {
    let phase = Phase::new();
    phase.limit(1);
    for how in KINDS {
        let ready = phase.env.work().join("ready");
        let task =
            spoiling(&phase, "result.json", how, &format!("touch {}; exec sleep 100", ready.display()));
        wait_for("the agent", PATIENCE, || ready.exists().then_some(()));
        fs::remove_file(&ready).unwrap();
        // While it runs, nobody believes what stands there, and nothing hangs.
        let told = phase.env.expect(0, &["status", &task.task_id]).stdout;
        assert!(told.contains("working"), "{how}: {told}");
        phase.env.expect(4, &["wait", &task.task_id, "--timeout", "0.2"]);
        let supervisor = kill::supervisor_of(&phase.env.run_dir(&task.run_id)).unwrap();
        kill::send(supervisor, libc::SIGKILL);
        phase.env.expect(1, &["wait", &task.task_id]);
        assert_eq!(phase.row(&task).code.as_deref(), Some("LOST"), "{how}");
        let told = phase.env.expect(1, &["results", &task.task_id]).stdout;
        assert!(told.contains("summary: the run's supervisor died"), "{how}: {told}");
        phase.faults.fetch_add(1, Ordering::Relaxed);
    }
    let after = phase.env.submit("true");
    phase.env.expect(0, &["wait", &after.task_id]);
    phase.settle();
}
