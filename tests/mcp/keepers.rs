//! Several servers in one home: one of them looks after the queue, the others sleep, and none holds more the more
//! runs there were.

use std::fs;
use std::time::Duration;

use crate::client::{Client, Era};
use crate::support::env::{PATIENCE, Submitted, TestEnv, wait_for};
use crate::support::kill;

const RUNS: usize = 60;

/// How many files the process watches with inotify.
fn watches(pid: i32) -> usize {
    let infos = fs::read_dir(format!("/proc/{pid}/fdinfo")).unwrap().flatten();
    let texts = infos.filter_map(|info| fs::read_to_string(info.path()).ok());
    texts.map(|text| text.lines().filter(|line| line.starts_with("inotify ")).count()).sum()
}

/// How often a thread of the process went to sleep so far.
fn sleeps(pid: i32) -> u64 {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
    let texts = threads.filter_map(|thread| fs::read_to_string(thread.path().join("status")).ok());
    let count = |text: String| {
        text.lines()
            .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:")?.trim().parse::<u64>().ok())
    };
    texts.filter_map(count).sum::<u64>()
}

/// Servers that were asked once, and the numbers of their processes.
fn servers(env: &TestEnv, count: usize) -> Vec<(Client, i32)> {
    let start = |_| {
        let mut client = Client::new(env, Era::Session);
        client.call("delegate_status", serde_json::json!({})).unwrap();
        let pid = client.pid();
        (client, pid)
    };
    (0..count).map(start).collect()
}

/// The one server that looks after the queue.
fn keeper(servers: &[(Client, i32)]) -> i32 {
    wait_for("one keeper", PATIENCE, || {
        let mut keepers =
            servers.iter().map(|(_, pid)| *pid).filter(|pid| kill::alive(*pid) && watches(*pid) > 0);
        keepers.next().filter(|_| keepers.next().is_none())
    })
}

fn held(env: &TestEnv) -> Submitted {
    env.submit(&format!("while ! [ -e {} ]; do sleep 0.02; done", env.side().join("go").display()))
}

/// Kills the supervisor of the run that holds the only slot, and waits until `next` is through without anybody asking.
fn check_queue_moves(env: &TestEnv, running: &Submitted, next: &Submitted) {
    let supervisor =
        wait_for("a supervisor", PATIENCE, || kill::supervisor_of(&env.run_dir(&running.run_id)));
    wait_for("the start", PATIENCE, || {
        env.run_dir(&running.run_id).join("started.json").exists().then_some(())
    });
    kill::send(supervisor, libc::SIGKILL);
    assert_eq!(env.await_final(&next.task_id), "completed");
}

#[test]
fn a_server_watches_no_run_that_has_ended() {
    let env = TestEnv::new();
    let servers = servers(&env, 1);
    let pid = keeper(&servers);
    env.submit("true");
    let before = watches(pid);
    let tasks: Vec<Submitted> = (0..RUNS).map(|_| env.submit("true")).collect();
    for task in &tasks {
        env.await_final(&task.task_id);
    }
    let most = before.max(3);
    wait_for("the watches of ended runs to go", Duration::from_secs(15), || {
        (watches(pid) <= most).then_some(())
    });
}

#[test]
fn only_one_of_several_servers_wakes_when_runs_come_and_go() {
    let env = TestEnv::new();
    let servers = servers(&env, 4);
    let keeper = keeper(&servers);
    // Whatever the calls above started comes to rest.
    let others: Vec<i32> = servers.iter().map(|(_, pid)| *pid).filter(|pid| *pid != keeper).collect();
    let count = || others.iter().map(|pid| sleeps(*pid)).sum::<u64>();
    let mut last = count();
    wait_for("the other servers to rest", PATIENCE, || {
        std::thread::sleep(Duration::from_millis(300));
        let before = std::mem::replace(&mut last, count());
        (before == last).then_some(())
    });
    for _ in 0..20 {
        let task = env.submit("true");
        env.await_final(&task.task_id);
    }
    // Each may give back its memory once meanwhile, no more.
    let woken = count() - last;
    assert!(woken <= 2 * others.len() as u64, "the others woke {woken} times during 20 runs");
}

#[test]
fn another_server_takes_over_when_the_keeper_is_killed() {
    let env = TestEnv::new();
    env.configure("max_concurrent = 1\n");
    let servers = servers(&env, 3);
    let first = keeper(&servers);
    let (running, next) = (held(&env), env.submit("true"));
    kill::send(first, libc::SIGKILL);
    wait_for("the end of the first keeper", PATIENCE, || (!kill::alive(first)).then_some(()));
    let second = keeper(&servers);
    assert_ne!(first, second);
    check_queue_moves(&env, &running, &next);
}

#[test]
fn a_home_that_is_removed_and_made_again_has_its_keeper() {
    let env = TestEnv::new();
    env.configure("max_concurrent = 1\n");
    let servers = servers(&env, 2);
    keeper(&servers);
    fs::remove_dir_all(env.home()).unwrap();
    let (running, next) = (held(&env), env.submit("true"));
    check_queue_moves(&env, &running, &next);
}

#[test]
fn nobody_makes_the_home_again_that_somebody_removed() {
    let env = TestEnv::new();
    let servers = servers(&env, 2);
    let pid = keeper(&servers);
    fs::remove_dir_all(env.home()).unwrap();
    wait_for("the keeper to give up", Duration::from_secs(15), || (watches(pid) == 0).then_some(()));
    assert!(!env.home().exists());
}
