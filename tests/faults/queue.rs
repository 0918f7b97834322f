//! The queue moves as long as anybody is alive, and only the dead are called lost.

use std::fs;
use std::process::{Child, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::phase::Phase;
use crate::support::agent::playing;
use crate::support::env::{Submitted, wait_for};
use crate::support::kill;

const SOON: Duration = Duration::from_secs(20);

fn wait_until_started(phase: &Phase, task: &Submitted, limit: Duration) {
    let starts = phase.env.side().join(format!("{}.starts", task.run_id));
    wait_for("an agent to start", limit, || starts.exists().then_some(()));
}

fn supervisor(phase: &Phase, task: &Submitted) -> i32 {
    kill::supervisor_of(&phase.env.run_dir(&task.run_id)).unwrap()
}

/// Waits for `task` in a process of its own, which does nothing else and has
/// come as far as to hold `sign` open.
fn idle_waiter(phase: &Phase, task: &Submitted, sign: &str) -> Child {
    let mut command = phase.env.command(&["wait", &task.task_id]);
    let waiter = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("the waiter to be idle", SOON, || {
        let files = fs::read_dir(format!("/proc/{}/fd", waiter.id())).ok()?.flatten();
        let mut names = files.filter_map(|file| fs::read_link(file.path()).ok());
        names.any(|name| name.to_string_lossy().contains(sign)).then_some(())
    });
    waiter
}

/// One runs, two wait, somebody waits for the last; then the runner's
/// supervisor is killed.
fn check_idle_waiter(what: &str, sign: &str) {
    let phase = Phase::new();
    phase.limit(1);
    let running = phase.submit(&playing(&phase.env, "endless", &["say one", "hang"]));
    let brief = playing(&phase.env, "brief", &["say one", "exit 0"]);
    let (next, last) = (phase.submit(&brief), phase.submit(&brief));
    wait_until_started(&phase, &running, SOON);
    let mut waiter = idle_waiter(&phase, &last, sign);

    let began = Instant::now();
    kill::send(supervisor(&phase, &running), libc::SIGKILL);
    wait_until_started(&phase, &next, Duration::from_secs(1));
    println!("{what}: next started after {:?}", began.elapsed());
    assert_eq!(waiter.wait().unwrap().code(), Some(0), "the last task completed");
    assert_eq!(phase.row(&running).code.as_deref(), Some("LOST"));
    phase.faults.fetch_add(1, Ordering::Relaxed);
    phase.close(what);
}

#[test]
fn an_idle_waiter_starts_the_next_task_when_a_supervisor_is_killed() {
    check_idle_waiter("idle waiter", "inotify");
}

#[test]
fn an_idle_waiter_does_so_even_where_notifications_are_used_up() {
    let mut taken = Vec::new();
    while let Ok(instance) = rustix::fs::inotify::init(rustix::fs::inotify::CreateFlags::CLOEXEC) {
        taken.push(instance);
    }
    check_idle_waiter("idle waiter without notifications", "registry.db");
}

#[test]
fn a_queue_without_any_other_process_moves_when_a_run_ends() {
    let phase = Phase::new();
    phase.limit(1);
    let go = phase.env.work().join("go");
    let first = phase.submit(&playing(&phase.env, "first", &[&format!("await {}", go.display()), "exit 0"]));
    let brief = playing(&phase.env, "brief", &["say one", "exit 0"]);
    let others: Vec<Submitted> = (0..5).map(|_| phase.submit(&brief)).collect();
    wait_until_started(&phase, &first, SOON);
    fs::write(go, "").unwrap();
    for task in &others {
        assert_eq!(phase.env.await_final(&task.task_id), "completed");
    }
    phase.close("queue alone");
}

#[test]
fn first_come_is_first_served() {
    let phase = Phase::new();
    phase.limit(0);
    let brief = playing(&phase.env, "brief", &["exit 0"]);
    let submitted: Vec<String> = (0..10).map(|_| phase.submit(&brief).run_id).collect();
    phase.limit(1);
    phase.env.expect(0, &["status"]);
    wait_for("all to end", SOON, || phase.rows().iter().all(|row| row.is_final()).then_some(()));
    let spans = fs::read_to_string(phase.env.side().join("spans")).unwrap();
    let started: Vec<&str> = spans
        .lines()
        .filter(|line| line.starts_with('+'))
        .filter_map(|line| line.rsplit(' ').next())
        .collect();
    assert_eq!(started, submitted);
    phase.close("order");
}

#[test]
fn a_supervisor_that_is_stopped_for_a_while_is_not_lost() {
    let phase = Phase::new();
    let go = phase.env.work().join("go");
    let task = phase.submit(&playing(
        &phase.env,
        "held",
        &["say one", &format!("await {}", go.display()), "say two", "exit 0"],
    ));
    wait_until_started(&phase, &task, SOON);
    let pid = supervisor(&phase, &task);
    kill::send(pid, libc::SIGSTOP);
    wait_for("the supervisor to stop", SOON, || (kill::state(pid) == Some(b'T')).then_some(()));
    fs::write(go, "").unwrap();
    for _ in 0..10 {
        phase.env.expect(0, &["status", "--all"]);
        assert_eq!(
            phase.env.run(&["wait", &task.task_id, "--timeout", "0.05"]).code,
            Some(4),
            "still working"
        );
        assert_eq!(phase.row(&task).state, "working");
    }
    kill::send(pid, libc::SIGCONT);
    assert_eq!(phase.env.await_final(&task.task_id), "completed");
    phase.faults.fetch_add(1, Ordering::Relaxed);
    phase.close("stopped supervisor");
}

#[test]
fn a_submission_that_only_waits_costs_no_more_the_longer_the_queue_is() {
    let phase = Phase::new();
    phase.limit(0);
    let brief = playing(&phase.env, "brief", &["exit 0"]);
    let counts = || {
        let calls = phase.calls(&["run", "--agent", "command", "--json", &brief]);
        let count = |names: &[&str]| calls.iter().filter(|one| names.contains(&one.call.as_str())).count();
        (count(&["openat", "statx", "newfstatat"]), count(&["fsync", "fdatasync"]))
    };
    phase.submit(&brief);
    let (first, syncs) = counts();
    (0..40).for_each(|_| drop(phase.submit(&brief)));
    let (last, _) = counts();
    println!("files looked at: {first}, behind 40 others {last}; syncs: {syncs}");
    assert!(last <= first + 2, "{first} files were looked at first, {last} behind 40 others");
    assert_eq!(syncs, 4, "the request, its name, its directory's name, the row");
    phase.settle();
    phase.close("long queue");
}
