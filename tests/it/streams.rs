//! What a run printed on two streams is read in the order in which it came.

use std::fs;
use std::process::Stdio;

use crate::normalized_output::fits;
use crate::support::env::{PATIENCE, TestEnv, wait_for};

fn ran(env: &TestEnv, command: &str) -> String {
    let task = env.submit(command).task_id;
    env.await_final(&task);
    task
}

#[test]
fn inspect_reads_both_streams_in_the_order_in_which_they_came() {
    let env = TestEnv::new();
    let both = ran(&env, "echo start; sleep 0.1; echo error: no >&2");
    let found = env.expect(0, &["inspect", &both, "--grep", "error"]);
    assert_eq!((found.stdout.as_str(), found.stderr.as_str()), ("1-start\n2:error: no\n", ""));
    let shown = env.expect(0, &["inspect", &both]);
    assert_eq!((shown.stdout.as_str(), shown.stderr.as_str()), ("start\nerror: no\n", ""));
    let named = env.expect(0, &["inspect", &both, "stderr.log", "--grep", "error"]);
    assert_eq!((named.stdout.as_str(), named.stderr.as_str()), ("1:error: no\n", ""));
    let document = env.json(&["inspect", &both, "--summary", "--json"]);
    fits("registry_info", &document);
    assert_eq!(document["data"]["artifact"], "transcript.log");
}

#[test]
fn a_command_is_read_with_both_streams() {
    let env = TestEnv::new();
    let both = ran(&env, "echo start; sleep 0.1; echo error: no >&2");
    for id in [&both, &format!("{both}/command")] {
        let read = env.expect(0, &["terminal", "read", id]);
        assert_eq!((read.stdout.as_str(), read.stderr.as_str()), ("start\nerror: no\n", ""), "{id}");
    }
    let document = env.json(&["terminal", "read", &both, "--json"]);
    fits("registry_info", &document);

    // A compiler prints all it has to say there.
    let silent = ran(&env, "echo bad >&2");
    let read = env.expect(0, &["terminal", "read", &silent]);
    assert_eq!((read.stdout.as_str(), read.stderr.as_str()), ("bad\n", ""));
    let read = env.expect(0, &["terminal", "read", &ran(&env, "echo good")]);
    assert_eq!((read.stdout.as_str(), read.stderr.as_str()), ("good\n", ""));
    env.expect(3, &["terminal", "read", &format!("{silent}/stdout")]);
}

#[test]
fn the_log_of_a_stream_beyond_its_limit_has_its_end() {
    let env = TestEnv::new();
    env.configure("max_stream_bytes = 1048576");
    let task =
        env.submit("seq 1 400000; touch printed; until [ -e go ]; do sleep 0.02; done; echo over").task_id;
    wait_for("the numbers", PATIENCE, || env.work().join("printed").exists().then_some(()));
    wait_for("the last of them", PATIENCE, || {
        let tail = env.expect(0, &["logs", &task, "--tail", "2"]).stdout;
        (tail == "399999\n400000\n").then_some(())
    });
    let whole = env.expect(0, &["logs", &task]);
    assert!(whole.stdout.starts_with("1\n2\n") && whole.stdout.ends_with("\n400000\n"));
    assert!(whole.stdout.contains(" bytes were left out here]\n") && whole.stdout.len() < 2 << 20);
    assert_eq!(whole.stderr, "");
    let document = env.json(&["logs", &task, "--json"]);
    assert!(document["data"]["text"].as_str().unwrap().ends_with("\n400000\n"), "{document:#}");
    // Whoever follows it is told that the end comes later.
    let told = env.work().join("told");
    let mut command = env.command(&["logs", "-f", &task, "--tail", "1"]);
    let mut follower =
        command.stdout(Stdio::null()).stderr(fs::File::create(&told).unwrap()).spawn().unwrap();
    wait_for("a word about the end", PATIENCE, || {
        fs::read_to_string(&told).unwrap().contains("its last part follows when the run ends").then_some(())
    });
    fs::write(env.work().join("go"), "").unwrap();
    env.await_final(&task);
    assert!(follower.wait().unwrap().success());
    assert_eq!(env.expect(0, &["logs", &task, "--tail", "2"]).stdout, "400000\nover\n");
}

#[test]
fn no_lines_of_a_log_are_not_a_log_without_lines() {
    let env = TestEnv::new();
    let log = env.expect(0, &["logs", &ran(&env, "echo one"), "--tail", "0"]);
    assert_eq!((log.stdout.as_str(), log.stderr.as_str()), ("", ""));
    let log = env.expect(0, &["logs", &ran(&env, "true"), "--tail", "0"]);
    assert_eq!((log.stdout.as_str(), log.stderr.as_str()), ("", "the run printed nothing\n"));
}
