//! An installed program that does not answer when it is asked what it is.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::phase::Phase;
use crate::support::agent::install;
use crate::support::env::{PATIENCE, Ran, finish, wait_for};
use crate::support::kill;

/// Every question is given ten seconds; this is far more, and far less than
/// for ever.
const BOUNDED: Duration = Duration::from_secs(40);

/// A `codex` on `PATH` that sleeps for ever on a question that begins with
/// `deaf`, with a process of its own below it, and else is the fake one.
fn with_codex_deaf_to(deaf: &str) -> Phase {
    let phase = Phase::new();
    fs::create_dir(phase.env.work().join(".git")).unwrap();
    fs::write(phase.env.work().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let real = phase.env.root().join("side/codex");
    fs::rename(install(&phase.env, "codex"), &real).unwrap();
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in {deaf}*) sleep 1000000 & exec sleep 1000000;; *) exec {} \"$@\";; esac\n",
        real.display()
    );
    let codex = phase.env.root().join("bin/codex");
    fs::write(&codex, script).unwrap();
    fs::set_permissions(&codex, fs::Permissions::from_mode(0o755)).unwrap();
    // The fake one tells the side what it does.
    phase.env.configure("env_allow = [\"FAKE_SIDE\"]\n");
    phase
}

/// The program, for somebody who has that Codex.
fn command(phase: &Phase, args: &[&str]) -> Command {
    let mut command = phase.env.command(args);
    command.env("PATH", format!("{}:/usr/bin:/bin", phase.env.root().join("bin").display()));
    command
}

fn timed(phase: &Phase, args: &[&str]) -> (Ran, Duration) {
    let began = Instant::now();
    let ran = finish(command(phase, args), PATIENCE);
    (ran, began.elapsed())
}

/// Everything that was started here has the world's path in its environment.
#[track_caller]
fn nothing_is_left(phase: &Phase) {
    wait_for("supervisors to go", PATIENCE, || kill::supervisors(phase.env.home()).is_empty().then_some(()));
    let left: Vec<Vec<String>> =
        kill::mentioning(phase.env.root()).into_iter().map(kill::arguments).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Both at once: each takes ten seconds.
#[test]
fn a_codex_that_never_tells_its_version_holds_up_nobody() {
    let phase = with_codex_deaf_to("--version");
    let run = [
        "run",
        "--agent",
        "codex",
        "--env",
        "FAKE_SIDE",
        "--wait",
        "--json",
        "SCRIPT:\nturn done\nexit 0\nEND",
    ];
    let ((doctor, doctor_took), (ran, run_took)) = thread::scope(|scope| {
        let doctor = scope.spawn(|| timed(&phase, &["doctor"]));
        let run = scope.spawn(|| timed(&phase, &run));
        (doctor.join().unwrap(), run.join().unwrap())
    });
    println!("codex without a version: doctor took {doctor_took:?}, run took {run_took:?}");
    assert_eq!(doctor.code, Some(0), "{}{}", doctor.stdout, doctor.stderr);
    let lines: Vec<&str> = doctor.stdout.lines().filter(|line| line.contains(" agent codex ")).collect();
    assert_eq!(lines.len(), 1, "{}", doctor.stdout);
    assert!(lines[0].contains("bin/codex --version` did not answer within 10 s"), "{}", lines[0]);
    assert!(doctor_took < BOUNDED, "{doctor_took:?}");

    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["status"], "completed", "{report:#}");
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("this Codex does not report its version"), "{warnings}");
    assert!(run_took < BOUNDED, "{run_took:?}");
    nothing_is_left(&phase);
    phase.note(&ran.stdout);
    phase.close("codex without a version");
}

#[test]
fn a_codex_that_never_answers_anything_is_ended_by_its_limit() {
    let phase = with_codex_deaf_to("");
    let run = ["run", "--agent", "codex", "--idle", "0.5", "--wait", "--json", "anything"];
    let (ran, took) = timed(&phase, &run);
    println!("codex that never answers: run took {took:?}");
    assert_eq!(ran.code, Some(1), "{}{}", ran.stdout, ran.stderr);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["summary"], "ended by the idle limit: no output for 0.5 s", "{report:#}");
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("could not ask Codex for its options"), "{warnings}");
    assert!(took < BOUNDED, "{took:?}");
    nothing_is_left(&phase);
    phase.note(&ran.stdout);
    phase.close("codex that never answers");
}

/// A question that nobody waits for any more: whoever asked was killed.
#[test]
fn a_supervisor_that_is_killed_while_it_asks_leaves_no_question_behind() {
    let phase = with_codex_deaf_to("--version");
    let run = ["run", "--agent", "codex", "--json", "SCRIPT:\nturn done\nexit 0\nEND"];
    let submitted = phase.note(&timed(&phase, &run).0.stdout).unwrap();
    let dir = phase.env.run_dir(&submitted.run_id);
    let supervisor = wait_for("a supervisor", PATIENCE, || kill::supervisor_of(&dir));
    let sleeping = || {
        let asked = |pid: &i32| kill::arguments(*pid).first().is_some_and(|name| name == "sleep");
        kill::mentioning(phase.env.root()).into_iter().filter(asked).count()
    };
    wait_for("the question to be put", PATIENCE, || (sleeping() == 2).then_some(()));
    phase.limit(0);
    kill::send(supervisor, libc::SIGKILL);
    wait_for("the task to wait again", PATIENCE, || {
        phase.env.expect(0, &["status"]);
        (phase.row(&submitted).state == "pending").then_some(())
    });
    assert_eq!(sleeping(), 0, "what was asked is still running");
    assert!(!dir.join("started.json").exists());
    phase.faults.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    phase.env.expect(0, &["cancel", &submitted.task_id]);
    phase.close("killed while asking");
}
