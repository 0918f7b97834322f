//! A run directory that somebody deletes while the run goes on: its agent is
//! ended with all that it started, and the task says what happened.

use std::fs;
use std::sync::atomic::Ordering;

use serde_json::Value;

use crate::phase::Phase;
use crate::support::agent::{install, playing};
use crate::support::env::{PATIENCE, Submitted, acknowledged, wait_for};
use crate::support::kill;

/// A run with an agent and two descendants.
struct Family {
    phase: Phase,
    task: Submitted,
    supervisor: i32,
    processes: Vec<i32>,
}

fn family(level: &str) -> Family {
    let phase = Phase::new();
    phase.env.configure(&format!("max_concurrent = 1\nkill_level = \"{level}\"\n"));
    let (pids, ready) = (phase.env.work().join("pids"), phase.env.work().join("ready"));
    let steps = [
        "say one",
        &format!("spawn setsid {}", pids.display()),
        &format!("spawn ignorer {}", pids.display()),
        &format!("touch {}", ready.display()),
        "hang",
    ];
    let task = phase.env.submit(&playing(&phase.env, "parent", &steps));
    wait_for("the family", PATIENCE, || ready.exists().then_some(()));
    let numbers = fs::read_to_string(&pids).unwrap();
    let agent = fs::read_to_string(phase.env.side().join(format!("{}.starts", task.run_id))).unwrap();
    let processes: Vec<i32> =
        numbers.lines().chain([agent.trim()]).map(|line| line.parse().unwrap()).collect();
    assert_eq!(processes.len(), 3);
    let supervisor = kill::supervisor_of(&phase.env.run_dir(&task.run_id)).unwrap();
    Family { phase, task, supervisor, processes }
}

impl Family {
    fn delete(&self) {
        fs::remove_dir_all(self.phase.env.run_dir(&self.task.run_id)).unwrap();
    }

    /// Final, with nobody left, and a next task can run.
    #[track_caller]
    fn is_over(&self) {
        let Family { phase, task, processes, .. } = self;
        assert_eq!(phase.env.await_final(&task.task_id), "failed");
        let left: Vec<_> = processes.iter().filter(|pid| kill::alive(**pid)).collect();
        assert!(left.is_empty(), "{left:?} are left");
        wait_for("the supervisor to go", PATIENCE, || {
            kill::supervisors(phase.env.home()).is_empty().then_some(())
        });
        let next = phase.env.submit("true");
        phase.env.expect(0, &["wait", &next.task_id]);
        phase.faults.fetch_add(1, Ordering::Relaxed);
    }

    /// What every command has to say of it.
    #[track_caller]
    fn is_told(&self, code: &str, message: &str) {
        let Family { phase, task, .. } = self;
        let id = task.task_id.as_str();
        assert_eq!(phase.row(task).code.as_deref(), Some(code));
        for (args, exit) in [(["status", id], 0), (["wait", id], 1), (["results", id], 1)] {
            let told = phase.env.expect(exit, &args).stdout;
            assert_eq!(told.matches(message).count(), 1, "{args:?}: {told}");
            let told = phase.env.json(&[args[0], id, "--json"]);
            assert!(told.to_string().contains(message), "{args:?}: {told:#}");
        }
        let context = phase.env.json(&["results", id, "--json"]);
        let context = context.pointer("/data/metadata/error_context").unwrap_or(&Value::Null);
        assert_eq!(context["code"], code, "{context:#}");
        let logs = phase.env.expect(0, &["logs", id]);
        assert!(!logs.stderr.contains("panicked"), "{}", logs.stderr);
        phase.env.expect(0, &["cancel", id]);
    }
}

/// Nobody looks: the supervisor itself finds out.
#[test]
fn a_supervisor_whose_directory_is_deleted_ends_its_run() {
    for level in ["cgroup", "subreaper", "marker"] {
        let family = family(level);
        family.delete();
        family.is_over();
        family.is_told("STORAGE", "the run directory was deleted during the run");
        // It is made again for the one thing that is known.
        let dir = family.phase.env.run_dir(&family.task.run_id);
        let left: Vec<_> = fs::read_dir(&dir).unwrap().flatten().map(|entry| entry.file_name()).collect();
        assert!(left.iter().all(|name| name == "result.json" || name == "progress.json"), "{left:?}");
        family.phase.settle();
        println!("deleted at level {level}: processes left=0");
    }
}

/// Somebody looks before the supervisor finds out: the lock is gone, too.
#[test]
fn whoever_looks_first_ends_a_run_whose_directory_is_deleted() {
    let family = family("subreaper");
    let Family { phase, task, supervisor, .. } = &family;
    kill::send(*supervisor, libc::SIGSTOP);
    wait_for("the supervisor to stop", PATIENCE, || (kill::state(*supervisor) == Some(b'T')).then_some(()));
    family.delete();
    phase.env.expect(0, &["status"]);
    family.is_told("LOST", "the run directory is gone");
    kill::send(*supervisor, libc::SIGCONT);
    family.is_over();
    // What the supervisor has to say comes too late to change the end.
    let row = phase.row(task);
    assert_eq!((row.state.as_str(), row.code.as_deref()), ("failed", Some("LOST")));
    phase.settle();
}

#[test]
fn a_waiter_is_told_when_the_directory_is_deleted() {
    let family = family("subreaper");
    family.delete();
    let told = family.phase.env.run(&["wait", &family.task.task_id]);
    assert_eq!(told.code, Some(1), "{}{}", told.stdout, told.stderr);
    assert!(told.stdout.contains("run directory"), "{}", told.stdout);
    family.is_over();
    family.phase.settle();
}

/// One that prints events has more files to write.
#[test]
fn a_run_of_events_whose_directory_is_deleted_ends_too() {
    let phase = Phase::new();
    let codex = install(&phase.env, "codex");
    phase.env.configure(&format!("codex_path = {:?}\n", codex.to_str().unwrap()));
    let (ready, go) = (phase.env.work().join("ready"), phase.env.work().join("go"));
    let script = format!(
        "SCRIPT:\ntouch {}\nawait {}\nturn done\nspawn setsid\nhang\nEND",
        ready.display(),
        go.display()
    );
    let args = ["run", "--agent", "codex", "--skip-git-repo-check", "--json", &script];
    let task = acknowledged(&phase.env.expect(0, &args).stdout).unwrap();
    wait_for("the agent", PATIENCE, || ready.exists().then_some(()));
    fs::remove_dir_all(phase.env.run_dir(&task.run_id)).unwrap();
    fs::write(go, "").unwrap();
    assert_eq!(phase.env.await_final(&task.task_id), "failed");
    wait_for("supervisors to go", PATIENCE, || kill::supervisors(phase.env.home()).is_empty().then_some(()));
    let left: Vec<_> = kill::mentioning(phase.env.root()).into_iter().map(kill::arguments).collect();
    assert!(left.is_empty(), "{left:?}");
    let told = phase.env.expect(1, &["results", &task.task_id]).stdout;
    assert!(told.contains("the run directory was deleted during the run"), "{told}");
}
