//! The checker itself: it passes what is right and fails on what is planted.

use std::fs;
use std::path::Path;
use std::process::Command;

use rusqlite::Connection;

use crate::phase::Phase;
use crate::support::agent::playing;
use crate::support::env::{self, PATIENCE, Ran, Submitted};
use crate::support::kill;

/// A home with two finished tasks and an honest journal.
fn finished() -> (Phase, Submitted) {
    let phase = Phase::new();
    let task = playing(&phase.env, "two", &["say one", "say two", "exit 0"]);
    phase.submit(&task);
    let submitted = phase.submit(&task);
    phase.settle();
    (phase, submitted)
}

/// Runs the built checker, as somebody with a doubt would.
fn checked(phase: &Phase) -> Ran {
    let built = crate::support::agent::program().with_file_name("checker");
    let mut command = Command::new(built);
    command.args([phase.env.home(), phase.journal.path()]);
    env::finish(command, PATIENCE)
}

#[track_caller]
fn check_fails(phase: &Phase, words: &str) {
    let ran = checked(phase);
    assert_eq!(ran.code, Some(1), "{}", ran.stdout);
    assert!(ran.stdout.contains(words), "no `{words}` in {}", ran.stdout);
}

fn change(phase: &Phase, sql: &str) {
    Connection::open(phase.env.registry()).unwrap().execute_batch(sql).unwrap();
}

fn run_file(phase: &Phase, task: &Submitted, name: &str) -> std::path::PathBuf {
    phase.env.run_dir(&task.run_id).join(name)
}

#[test]
fn a_home_where_nothing_went_wrong_passes() {
    let (phase, _) = finished();
    let ran = checked(&phase);
    assert_eq!(ran.code, Some(0), "{}", ran.stdout);
    assert!(
        ran.stdout.starts_with("submissions=2, rows=2, agent starts=2, lost=0, duplicated finals=0"),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_missing_row_is_a_loss() {
    let (phase, task) = finished();
    change(&phase, &format!("DELETE FROM tasks WHERE id = '{}'", task.task_id));
    check_fails(&phase, &format!("lost: {}: acknowledged, and no row", task.task_id));
}

#[test]
fn a_missing_directory_is_a_loss() {
    let (phase, task) = finished();
    fs::remove_dir_all(phase.env.run_dir(&task.run_id)).unwrap();
    check_fails(&phase, "and no request of it in its directory");
    check_fails(&phase, "without a sealed result");
}

#[test]
fn a_task_that_never_ends_is_a_loss() {
    let (phase, task) = finished();
    change(&phase, &format!("UPDATE tasks SET state = 'working' WHERE id = '{}'", task.task_id));
    check_fails(&phase, "it never ended: working");
}

#[test]
fn a_second_final_state_is_a_duplicate() {
    let (phase, task) = finished();
    change(&phase, &format!("UPDATE tasks SET state = 'failed' WHERE id = '{}'", task.task_id));
    check_fails(&phase, "sealed as completed, listed as failed");
}

#[test]
fn a_final_state_that_changed_is_a_duplicate() {
    let (phase, task) = finished();
    phase.journal.told_final(&task.task_id, "cancelled");
    check_fails(&phase, "told as cancelled, now completed");
}

#[test]
fn a_second_start_is_a_duplicate() {
    let (phase, task) = finished();
    let starts = phase.env.side().join(format!("{}.starts", task.run_id));
    fs::write(&starts, "11\n12\n").unwrap();
    check_fails(&phase, "its agent was started 2 times");
}

#[test]
fn a_second_task_for_a_key_is_a_duplicate() {
    let (phase, task) = finished();
    phase.journal.acknowledged(&task.task_id, &task.run_id, Some("k"));
    let other = phase.rows().remove(0);
    phase.journal.acknowledged(&other.id, &other.run_id, Some("k"));
    check_fails(&phase, "the key k had given");
}

#[test]
fn a_process_that_outlives_its_run_is_left_over() {
    let (phase, task) = finished();
    let mut sleep = Command::new("/bin/sleep");
    let mut child = sleep.arg("60").env("DELEGATOR_RUNS", format!("outer:{}", task.run_id)).spawn().unwrap();
    check_fails(&phase, &format!("process {} outlived it", child.id()));
    kill::send(i32::try_from(child.id()).unwrap(), libc::SIGKILL);
    child.wait().unwrap();
    assert_eq!(checked(&phase).code, Some(0), "gone is gone");
}

#[test]
fn altered_output_and_open_files_are_noticed() {
    let (phase, task) = finished();
    fs::write(run_file(&phase, &task, "stdout.log"), "one\ntwx\n").unwrap();
    check_fails(&phase, "no beginning of what was printed");
    fs::write(run_file(&phase, &task, "stdout.log"), "one\n").unwrap();
    check_fails(&phase, "4 bytes kept of 8 printed");
    fs::write(run_file(&phase, &task, "stdout.log"), "one\ntwo\n").unwrap();
    open_to_all(&run_file(&phase, &task, "result.json"));
    check_fails(&phase, "mode 644 instead of 600");
    fs::write(run_file(&phase, &task, "env.json"), "{}").unwrap();
    check_fails(&phase, "its environment is still on the disk");
}

fn open_to_all(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
}
