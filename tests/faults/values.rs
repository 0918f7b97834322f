//! Values of the environment are on the disk from the submission to the start,
//! and no longer: not when the submitter dies, not when the agent looks.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use crate::claim::claim;
use crate::cleanup::{is_a_step, steps};
use crate::environment::files_holding;
use crate::phase::Phase;
use crate::stop_at_syscall;
use crate::support::agent::playing;
use crate::support::env::{PATIENCE, finish, wait_for};

const KEY: &str = "made-up-key-of-a-submitter-c41d";

/// The program, for somebody who has the key.
fn with_key(mut command: Command) -> Command {
    command.env("MY_KEY", KEY);
    command
}

/// Whoever comes next removes what a dead submitter left, whatever they came
/// for; `visit` returns how many directories it says it removed.
fn check_dead_submitters(what: &str, visit: impl Fn(&Phase) -> Option<u64>) {
    let phase = Phase::new();
    let task = playing(&phase.env, "brief", &["say one", "exit 0"]);
    let args = ["run", "--agent", "command", "--json", &task];
    phase.submit(&task);
    let (mut killed, mut left_values) = (0, 0);
    for point in &steps() {
        phase.settle();
        let submitter =
            stop_at_syscall::at(&phase, point, |tracer| with_key(phase.env.command_under(tracer, &args)));
        let Some(submitter) = submitter else { continue };
        if !is_a_step(&phase, &submitter.call) {
            submitter.go_on();
            continue;
        }
        submitter.kill();
        killed += 1;
        left_values += usize::from(!files_holding(phase.env.home(), KEY).is_empty());
        let rows: BTreeSet<String> = phase.rows().into_iter().map(|row| row.run_id).collect();
        let abandoned = names(&phase, "runs").difference(&rows).count() as u64;
        let told = visit(&phase);
        assert_eq!(told.unwrap_or(abandoned), abandoned, "{point}");
        assert_eq!(names(&phase, "runs"), rows, "{point}: a directory that nobody owns is left");
        assert_eq!(names(&phase, "unsettled"), BTreeSet::new(), "{point}: a note is left");
        // A task whose row was there runs, and has its values until then.
        phase.settle();
        let found = files_holding(phase.env.home(), KEY);
        assert!(found.is_empty(), "{point}: the key is still in {found:?}");
    }
    println!("dead submitters, then {what}: killed={killed}, with values on disk={left_values}");
    assert!(left_values >= 5, "hardly a submitter was killed while it had values on the disk");
    phase.close(&format!("dead submitters, then {what}"));
}

fn names(phase: &Phase, dir: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(phase.env.home().join(dir)).unwrap().flatten();
    entries.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

#[test]
fn what_a_dead_submitter_left_is_gone_after_a_look() {
    check_dead_submitters("status", |phase| {
        phase.env.expect(0, &["status"]);
        None
    });
}

#[test]
fn what_a_dead_submitter_left_is_gone_after_a_cleanup_which_says_so() {
    check_dead_submitters("cleanup", |phase| {
        let cleaned = phase.env.json(&["cleanup", "--json"]);
        cleaned.pointer("/data/abandoned_directories").unwrap().as_u64()
    });
}

#[test]
fn the_values_are_gone_before_the_agents_first_act() {
    let phase = Phase::new();
    let (listing, key) = (phase.env.work().join("listing"), phase.env.work().join("key"));
    let runs = phase.env.home().join("runs");
    let task = format!(
        "ls {}/$DELEGATOR_RUNS >{}; printenv MY_KEY >{}",
        runs.display(),
        listing.display(),
        key.display()
    );
    let args = ["run", "--agent", "command", "--env", "MY_KEY", "--wait", &task];
    let ran = finish(with_key(phase.env.command(&args)), PATIENCE);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert_eq!(fs::read_to_string(key).unwrap().trim(), KEY, "the agent has the value");
    let seen = fs::read_to_string(listing).unwrap();
    assert!(seen.lines().any(|name| name == "started.json"), "{seen}");
    assert!(!seen.lines().any(|name| name == "env.json"), "{seen}");
    let found = files_holding(phase.env.home(), KEY);
    assert!(found.is_empty(), "the key is still in {found:?}");
}

/// The one who starts it next needs them.
#[test]
fn the_values_stay_for_the_next_attempt_when_a_supervisor_dies_before_the_start() {
    let phase = Phase::new();
    phase.limit(0);
    let key = phase.env.work().join("key");
    let task = format!("printenv MY_KEY >{}", key.display());
    let args = ["run", "--agent", "command", "--env", "MY_KEY", "--json", &task];
    let ran = finish(with_key(phase.env.command(&args)), PATIENCE);
    let task = phase.note(&ran.stdout).unwrap();
    let values = phase.env.run_dir(&task.run_id).join("env.json");
    let claimed = claim(&phase, &task);
    // The last file that it makes before it says that it starts.
    let output = phase.env.run_dir(&task.run_id).join("stdout.log");
    stop_at_syscall::first(&phase, "openat", &output, |tracer| claimed.supervise(&phase, tracer)).kill();
    drop(claimed);
    phase.env.expect(0, &["status"]);
    assert_eq!(phase.row(&task).state, "pending");
    assert!(values.exists(), "it has not started: its values are still needed");
    phase.limit(1);
    phase.env.expect(0, &["status"]);
    assert_eq!(phase.env.await_final(&task.task_id), "completed");
    assert_eq!(fs::read_to_string(key).unwrap().trim(), KEY);
    wait_for("the values to go", PATIENCE, || files_holding(phase.env.home(), KEY).is_empty().then_some(()));
}
