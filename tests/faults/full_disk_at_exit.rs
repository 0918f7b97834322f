//! A disk that is full when an agent says the last thing it has to say. The
//! run is over by then, and still must not pass for one whose output was kept.

use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::Value;

use crate::claim::claim;
use crate::full_disk::on_a_disk_of;
use crate::phase::Phase;
use crate::small_disk;
use crate::stop_at_syscall;
use crate::support::agent::playing;
use crate::support::env::{PATIENCE, Submitted, wait_for};
use crate::support::kill;

const SIZE: u64 = 8 << 20;

/// Failed for want of space, in the record and in what is told; `lost` bytes
/// of standard output were not kept.
#[track_caller]
fn storage_failed(phase: &Phase, task: &Submitted, lost: u64) {
    let sealed = phase.env.run_dir(&task.run_id).join("result.json");
    let sealed: Value = wait_for("the seal on a full disk", Duration::from_secs(20), || {
        serde_json::from_slice(&fs::read(&sealed).ok()?).ok()
    });
    assert_eq!(sealed.pointer("/outcome/state").unwrap(), "failed", "{sealed:#}");
    assert_eq!(sealed.pointer("/outcome/fault/code").unwrap(), "STORAGE", "{sealed:#}");
    let message = sealed.pointer("/outcome/fault/message").unwrap().as_str().unwrap();
    assert!(message.starts_with("failed to save the output: No space left"), "{message}");
    assert_eq!(sealed.pointer("/exit/code"), Some(&Value::from(0)), "the agent itself did well: {sealed:#}");
    assert_eq!(sealed.pointer("/stdout/dropped_bytes"), Some(&Value::from(lost)), "{sealed:#}");
}

#[track_caller]
fn reckon(phase: Phase, task: &Submitted, what: &str) {
    let told = phase.env.expect(1, &["results", &task.task_id]).stdout;
    assert!(told.contains("summary: failed to save the output: No space left"), "{told}");
    assert!(told.contains("were not saved"), "{told}");
    phase.faults.fetch_add(1, Ordering::Relaxed);
    phase.close(what);
}

/// Output and exit reach the supervisor at one and the same moment.
#[test]
fn a_last_line_that_does_not_fit_fails_a_run_that_has_already_exited() {
    if !small_disk::inside(
        "full_disk_at_exit::a_last_line_that_does_not_fit_fails_a_run_that_has_already_exited",
    ) {
        return;
    }
    let (disk, phase) = on_a_disk_of(SIZE);
    let (ready, go) = (phase.env.work().join("ready"), phase.env.work().join("go"));
    let steps =
        [&format!("touch {}", ready.display()), &format!("await {}", go.display()), "line 99", "exit 0"];
    let task = phase.submit(&playing(&phase.env, "late", &steps));
    wait_for("the agent", PATIENCE, || ready.exists().then_some(()));
    let starts = phase.env.side().join(format!("{}.starts", task.run_id));
    let agent: i32 = fs::read_to_string(starts).unwrap().trim().parse().unwrap();
    let supervisor = kill::supervisor_of(&phase.env.run_dir(&task.run_id)).unwrap();
    kill::send(supervisor, libc::SIGSTOP);
    wait_for("the supervisor to stop", PATIENCE, || (kill::state(supervisor) == Some(b'T')).then_some(()));
    disk.fill(0);
    fs::write(go, "").unwrap();
    wait_for("the agent to exit", PATIENCE, || (!kill::alive(agent)).then_some(()));
    kill::send(supervisor, libc::SIGCONT);
    storage_failed(&phase, &task, 100);
    disk.free();
    reckon(phase, &task, "last line on a full disk");
}

/// The agent has exited well; somebody it left behind holds its output, and
/// speaks after the supervisor has stopped listening to end them both.
#[test]
fn words_that_are_read_after_the_end_and_do_not_fit_fail_the_run() {
    if !small_disk::inside("full_disk_at_exit::words_that_are_read_after_the_end_and_do_not_fit_fail_the_run")
    {
        return;
    }
    let (disk, phase) = on_a_disk_of(SIZE);
    phase.limit(0);
    let (go, said) = (phase.env.work().join("go"), phase.env.work().join("said"));
    let left_behind = format!(
        "(until [ -e {} ]; do sleep 0.01; done; echo last words; touch {}; exec sleep 100) & exit 0",
        go.display(),
        said.display()
    );
    let task = phase.submit(&left_behind);
    let claimed = claim(&phase, &task);
    // It reads the list of processes only in order to end what is left.
    let supervisor = stop_at_syscall::first(&phase, "openat", Path::new("/proc"), |tracer| {
        claimed.supervise(&phase, tracer)
    });
    disk.fill(0);
    fs::write(go, "").unwrap();
    wait_for("the last words", PATIENCE, || said.exists().then_some(()));
    let ran = supervisor.go_on();
    // Where not even the row can be finished, whoever comes next does it.
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    storage_failed(&phase, &task, "last words\n".len() as u64);
    disk.free();
    drop(claimed);
    phase.settle();
    reckon(phase, &task, "last words on a full disk");
}
