//! However a session ends, its record says so and nobody is left behind.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::recording::{self, await_file, inner_pid};
use crate::support::env::{PATIENCE, TestEnv, wait_for};
use crate::support::kill;
use crate::window::Window;

/// Notes the hang-up that it gets, and ends.
const LISTENS: &str =
    "trap 'echo hup >>$FAKE_SIDE/hup; exit 9' HUP; echo begun; touch ready; while :; do sleep 0.02; done";

fn state_of(env: &TestEnv, id: &str) -> String {
    let listed = env.json(&["terminal", "list", "--json"]);
    let terminals = listed["data"]["terminals"].as_array().unwrap().clone();
    let one = terminals.into_iter().find(|one| one["terminal_id"] == id).unwrap();
    one["state"].as_str().unwrap().to_owned()
}

#[test]
fn a_killed_recorder_leaves_a_readable_record_and_no_shell() {
    let env = TestEnv::new();
    let mut window = Window::open(&env, &["--name", "lost", "--", "sh", "-c", LISTENS]);
    window.await_text("begun");
    await_file(&env.work().join("ready"));
    let recording = recording::only(&env);
    let inner = inner_pid(&recording);
    assert_eq!(state_of(&env, recording.id()), "live");
    kill::send(window.pid(), libc::SIGKILL);
    window.end();
    await_file(&env.side().join("hup"));
    wait_for("the shell to end", PATIENCE, || (!kill::alive(inner)).then_some(()));
    assert_eq!(state_of(&env, recording.id()), "lost");
    let read = env.json(&["terminal", "read", "lost", "--json"]);
    assert_eq!(
        (read["data"]["content"].as_str(), read["data"]["live"].as_bool()),
        (Some("begun\n"), Some(false))
    );
    assert_eq!(read["data"].get("exit_status"), None);
}

#[test]
fn told_to_end_it_ends_the_shell_as_a_closed_terminal_does() {
    for signal in [libc::SIGTERM, libc::SIGHUP] {
        let env = TestEnv::new();
        let mut window = Window::open(&env, &["--", "sh", "-c", LISTENS]);
        window.await_text("begun");
        await_file(&env.work().join("ready"));
        kill::send(window.pid(), signal);
        window.expect(9);
        assert_eq!(fs::read_to_string(env.side().join("hup")).unwrap(), "hup\n");
        let recording = recording::only(&env);
        assert_eq!(state_of(&env, recording.id()), "ended");
        assert_eq!(recording.meta()["exit"], serde_json::json!({ "code": 9 }));
    }
}

#[test]
fn a_window_that_is_closed_ends_everything_in_it() {
    let env = TestEnv::new();
    let mut window = Window::open(&env, &["--", "sh", "-c", LISTENS]);
    window.await_text("begun");
    await_file(&env.work().join("ready"));
    let recording = recording::only(&env);
    let inner = inner_pid(&recording);
    let mut recorder = window.close();
    await_file(&env.side().join("hup"));
    assert_eq!(recorder.wait().unwrap().code(), Some(9));
    assert!(!kill::alive(inner));
    assert_eq!(state_of(&env, recording.id()), "ended");
}

#[test]
fn one_that_will_not_end_is_left_without_a_terminal() {
    let env = TestEnv::new();
    let script = "trap '' HUP TERM; echo $$ >pid; echo begun; while :; do sleep 0.02; done";
    let mut window = Window::open(&env, &["--", "sh", "-c", script]);
    window.await_text("begun");
    let inner: i32 = fs::read_to_string(env.work().join("pid")).unwrap().trim().parse().unwrap();
    kill::send(window.pid(), libc::SIGTERM);
    window.expect(128 + libc::SIGHUP);
    assert!(kill::alive(inner));
    kill::send(inner, libc::SIGKILL);
    let recording = recording::only(&env);
    assert_eq!(state_of(&env, recording.id()), "ended");
    assert!(recording.meta().get("exit").is_none());
}

#[test]
fn what_the_shell_leaves_in_the_background_does_not_hold_the_terminal() {
    let env = TestEnv::new();
    let script = "sleep 1000 & echo $! >pid; echo over; exit 4";
    let mut window = Window::open(&env, &["--", "sh", "-c", script]);
    window.expect(4);
    assert_eq!(window.text(), "over\r\n");
    let sleep: i32 = fs::read_to_string(env.work().join("pid")).unwrap().trim().parse().unwrap();
    if kill::alive(sleep) {
        kill::send(sleep, libc::SIGKILL);
    }
}

#[test]
fn what_outlives_the_shell_in_a_session_of_its_own_does_not_hold_the_terminal() {
    let env = TestEnv::new();
    for (what, told) in [
        ("sleep 1000", "over\r\n"),
        ("yes", "over\r\n"),
        ("sh -c 'while sleep 0.02; do echo again; done'", "over\r\n"),
        ("sh -c 'sleep 0.01; exec yes'", ""),
    ] {
        let script = format!("setsid {what} & seq 1 3000; echo $! >pid; echo over; exec sh -c 'exit 4'");
        let mut window = Window::open(&env, &["--", "sh", "-c", &script]);
        window.expect(4);
        assert!(window.text().contains("\r\n3000\r\n") && window.text().contains(told), "{}", window.text());
        let left: i32 = fs::read_to_string(env.work().join("pid")).unwrap().trim().parse().unwrap();
        if kill::alive(left) {
            kill::send(left, libc::SIGKILL);
        }
    }
}

#[test]
fn stopped_from_outside_it_gives_the_terminal_back_and_takes_it_again() {
    let env = TestEnv::new();
    let mut window = Window::open(&env, &["--", "sh", "-c", "echo begun; read line; echo got $line"]);
    window.await_text("begun");
    let raw = window.settings();
    kill::send(window.pid(), libc::SIGTSTP);
    wait_for("it to stop", PATIENCE, || (kill::state(window.pid()) == Some(b'T')).then_some(()));
    assert_ne!(window.settings(), raw);
    kill::send(window.pid(), libc::SIGCONT);
    wait_for("the terminal to be taken again", PATIENCE, || (window.settings() == raw).then_some(()));
    window.type_in("this\r");
    window.await_text("got this");
    window.expect(0);
}

#[test]
fn an_interrupt_that_no_key_sent_goes_to_what_runs() {
    let env = TestEnv::new();
    let script = "trap 'echo interrupted; exit 8' INT; echo begun; while :; do sleep 0.02; done";
    let mut command = env.command(&["terminal", "--", "sh", "-c", script]);
    let mut recorder = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(recorder.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "begun");
    kill::send(i32::try_from(recorder.id()).unwrap(), libc::SIGINT);
    assert!(lines.next().unwrap().unwrap().contains("interrupted"));
    assert_eq!(recorder.wait().unwrap().code(), Some(8));
}
