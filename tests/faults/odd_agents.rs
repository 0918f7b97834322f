//! Agents that do what agents do: each of these is an ordinary case.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::phase::Phase;
use crate::support::agent::{install, playing};
use crate::support::env::{PATIENCE, Submitted, finish, wait_for};
use crate::support::kill;

fn play(phase: &Phase, name: &str, steps: &[&str]) -> Submitted {
    phase.submit(&playing(&phase.env, name, steps))
}

fn result(phase: &Phase, task: &Submitted) -> Value {
    let path = phase.env.run_dir(&task.run_id).join("result.json");
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn number(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("no {pointer} in {value}"))
}

/// Plays `steps` to their end: the final state and what was kept of the output.
fn kept(phase: &Phase, name: &str, steps: &[&str]) -> (String, Vec<u8>) {
    let task = play(phase, name, steps);
    let state = phase.env.await_final(&task.task_id);
    (state, fs::read(phase.env.run_dir(&task.run_id).join("stdout.log")).unwrap())
}

#[test]
fn what_an_agent_prints_is_kept_byte_for_byte() {
    let phase = Phase::new();
    let (state, bytes) = kept(
        &phase,
        "bytes",
        &["bytes", "part caf", "bytes c3", "bytes a9 00 0d 0a", "part no newline", "exit 0"],
    );
    assert_eq!(state, "completed");
    assert_eq!(bytes, b"\xff\xfe\x00caf\xc3\x28\x80\xed\xa0\x80\ncaf\xc3\xa9\x00\r\nno newline");
    let (state, bytes) = kept(&phase, "line", &["line 1200000", "say after", "exit 0"]);
    assert_eq!(state, "completed");
    assert_eq!((bytes.len(), &bytes[1_199_990..]), (1_200_007, &b"xxxxxxxxxx\nafter\n"[..]));
    let (state, bytes) = kept(&phase, "errors", &["err to the other", "say one", "exit 7"]);
    assert_eq!((state.as_str(), &bytes[..]), ("failed", &b"one\n"[..]));
    phase.close("bytes");
}

#[test]
fn an_agent_that_closes_its_output_is_still_waited_for() {
    let phase = Phase::new();
    let go = phase.env.work().join("go");
    let task =
        play(&phase, "closes", &["say one", "close stdout", &format!("await {}", go.display()), "exit 0"]);
    let log = phase.env.run_dir(&task.run_id).join("stdout.log");
    wait_for("the first line", PATIENCE, || fs::read(&log).is_ok_and(|text| text == b"one\n").then_some(()));
    assert_eq!(
        phase.env.run(&["wait", &task.task_id, "--timeout", "0.2"]).code,
        Some(4),
        "end of output is not exit"
    );
    fs::write(go, "").unwrap();
    assert_eq!(phase.env.await_final(&task.task_id), "completed");
    phase.close("closed output");
}

#[test]
fn three_gigabytes_pass_without_blocking_or_growing() {
    let phase = Phase::new();
    phase.env.configure("max_stream_bytes = 1048576\n");
    // Three gigabytes in the side file would be a test of the disk.
    let script = playing(&phase.env, "flood", &["flood 3000000000", "exit 0"]);
    let task = phase.env.submit(&format!("unset FAKE_SIDE; {script}"));
    let pid = wait_for("a supervisor", PATIENCE, || kill::supervisor_of(&phase.env.run_dir(&task.run_id)));
    let began = Instant::now();
    let mut peak = 0;
    wait_for("the end of the flood", Duration::from_secs(120), || {
        peak = own_memory_kib(pid).unwrap_or(0).max(peak);
        phase.row(&task).is_final().then_some(())
    });
    let took = began.elapsed();
    assert_eq!(phase.row(&task).state, "completed");
    let result = result(&phase, &task);
    let size = fs::metadata(phase.env.run_dir(&task.run_id).join("stdout.log")).unwrap().len();
    let (seen, dropped) = (number(&result, "/stdout/bytes"), number(&result, "/stdout/dropped_bytes"));
    println!(
        "flood: bytes={seen}, kept={size}, dropped={dropped}, supervisor's own memory={peak} KiB, took={took:?}"
    );
    assert_eq!(seen, 3_000_000_000);
    assert!(size <= 2 << 20, "{size} bytes kept");
    // The line that stands for the gap comes on top of what was kept.
    assert!((1..1024).contains(&(size + dropped - seen)), "{size} + {dropped} is not {seen}");
    assert!(peak > 0 && peak < 4 << 10, "the supervisor grew to {peak} KiB");
}

/// The memory that a process does not share with the file it was started from;
/// how much of that is mapped depends on how the program was built.
fn own_memory_kib(pid: i32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}

#[test]
fn an_agent_that_ignores_the_request_to_end_is_ended() {
    let phase = Phase::new();
    let ready = phase.env.work().join("ready");
    let steps = ["ignore TERM", "ignore INT", &format!("touch {}", ready.display()), "hang"];
    let task = play(&phase, "stubborn", &steps);
    wait_for("the agent", PATIENCE, || ready.exists().then_some(()));
    let ran = phase.env.run(&["cancel", &task.task_id]);
    assert!(matches!(ran.code, Some(0 | 5)), "{}{}", ran.stdout, ran.stderr);
    assert_eq!(phase.env.await_final(&task.task_id), "cancelled");
    phase.close("stubborn agent");
}

#[test]
fn limits_end_a_run_that_does_not_end_itself() {
    let phase = Phase::new();
    let silent = playing(&phase.env, "silent", &["say one", "hang"]);
    for (option, kind) in [("--idle", "idle"), ("--hard", "hard")] {
        let task = phase.env.submit_with(&[option, "0.3"], &silent);
        phase.journal.acknowledged(&task.task_id, &task.run_id, None);
        assert_eq!(phase.env.run(&["wait", &task.task_id]).code, Some(1));
        assert_eq!(phase.env.await_final(&task.task_id), "timed_out");
        assert_eq!(result(&phase, &task).pointer("/outcome/limit").unwrap(), kind);
    }
    phase.close("limits");
}

#[test]
fn whoever_holds_the_pipe_after_the_exit_cannot_hold_the_run() {
    let phase = Phase::new();
    let pids = phase.env.work().join("pids");
    let steps = [
        "say one",
        &format!("spawn holder {}", pids.display()),
        &format!("daemon {}", pids.display()),
        "say two",
        "exit 0",
    ];
    let began = Instant::now();
    let (state, bytes) = kept(&phase, "holder", &steps);
    let took = began.elapsed();
    assert_eq!((state.as_str(), &bytes[..]), ("completed", &b"one\ntwo\n"[..]));
    assert!(took < Duration::from_secs(10), "it took {took:?}");
    let left: Vec<i32> = fs::read_to_string(&pids).unwrap().lines().map(|pid| pid.parse().unwrap()).collect();
    assert_eq!(left.len(), 2);
    assert!(left.iter().all(|pid| !kill::alive(*pid)));
    phase.close("held pipe");
}

/// A Codex of ours, in a directory that passes for a repository.
fn with_codex(name: &str) -> (Phase, PathBuf) {
    let phase = Phase::new();
    fs::create_dir(phase.env.work().join(".git")).unwrap();
    fs::write(phase.env.work().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let codex = install(&phase.env, name);
    phase.env.configure(&format!("codex_path = {:?}\n", codex.to_str().unwrap()));
    let work = phase.env.work();
    (phase, work)
}

/// Hands a prompt of about a mebibyte to `name` and waits for the answer.
#[track_caller]
fn prompt(phase: &Phase, work: &Path, rest: &str) {
    let task = phase.env.root().join("prompt");
    fs::write(&task, format!("{}\n{rest}", "x".repeat(1_000_000))).unwrap();
    let args = ["run", "--agent", "codex", "--cwd", work.to_str().unwrap(), "--wait", "-"];
    let mut command = phase.env.command(&args);
    command.stdin(fs::File::open(task).unwrap());
    let ran = finish(command, PATIENCE);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn an_agent_that_never_reads_its_prompt_is_no_failure() {
    let (phase, work) = with_codex("codex-deaf");
    prompt(&phase, &work, "");
}

#[test]
fn a_prompt_arrives_whole() {
    let (phase, work) = with_codex("codex");
    let seen = phase.env.work().join("seen");
    prompt(&phase, &work, &format!("SCRIPT:\nlog {} played\nturn done\nexit 0\nEND\n", seen.display()));
    assert_eq!(fs::read_to_string(seen).unwrap(), "played\n");
}
