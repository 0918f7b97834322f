//! Tasks that cannot be started, in the middle of a queue: they say why, and
//! the others go on.

use std::fs;
use std::sync::atomic::Ordering;

use serde_json::Value;

use crate::phase::{Phase, under};
use crate::support::agent::{install, playing};
use crate::support::env::Submitted;
use crate::support::strace::PROGRAM;

fn result(phase: &Phase, task: &Submitted) -> Value {
    let path = phase.env.run_dir(&task.run_id).join("result.json");
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Failed as `SPAWN`, with `message` in the record, the row, and every answer.
#[track_caller]
fn failed_to_start(phase: &Phase, task: &Submitted, message: &str) {
    assert_eq!(phase.env.await_final(&task.task_id), "failed");
    assert_eq!(phase.row(task).code.as_deref(), Some("SPAWN"));
    let sealed = result(phase, task);
    assert_eq!(sealed.pointer("/outcome/fault/message").unwrap(), message);
    for verb in ["wait", "results"] {
        let ran = phase.env.expect(1, &[verb, &task.task_id]);
        let lines: Vec<&str> = ran.stdout.lines().filter(|line| line.contains(message)).collect();
        assert_eq!(lines, [format!("summary: {message}")], "{verb}: {}", ran.stdout);
    }
}

#[test]
fn a_task_whose_directory_or_program_is_gone_fails_and_the_next_one_runs() {
    let phase = Phase::new();
    phase.limit(1);
    let go = phase.env.work().join("go");
    let first = phase.submit(&playing(&phase.env, "first", &[&format!("await {}", go.display()), "exit 0"]));
    let brief = playing(&phase.env, "brief", &["say one", "exit 0"]);
    let elsewhere = phase.env.root().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let codex = install(&phase.env, "codex");
    phase.env.configure(&format!("max_concurrent = 1\ncodex_path = {:?}\n", codex.to_str().unwrap()));
    let submit = |options: &[&str], task: &str| {
        let args: Vec<&str> = ["run", "--json"].iter().chain(options).chain([&task]).copied().collect();
        phase.note(&phase.env.expect(0, &args).stdout).unwrap()
    };
    let at = elsewhere.to_str().unwrap();
    let no_directory = submit(&["--agent", "command", "--cwd", at], &brief);
    let next = phase.submit(&brief);
    let no_program = submit(&["--agent", "codex", "--skip-git-repo-check"], "anything");
    let last = phase.submit(&brief);
    fs::remove_dir(&elsewhere).unwrap();
    fs::remove_file(&codex).unwrap();

    // From here on nobody looks: each supervisor starts the next.
    fs::write(go, "").unwrap();
    for task in [&first, &next, &last] {
        assert_eq!(phase.env.await_final(&task.task_id), "completed");
    }
    failed_to_start(&phase, &no_directory, &format!("the directory `{at}` is gone"));
    let message =
        format!("failed to start `{}`: No such file or directory (os error 2)", codex.to_str().unwrap());
    failed_to_start(&phase, &no_program, &message);
    phase.faults.fetch_add(2, Ordering::Relaxed);
    phase.close("nothing to start");
}

/// What comes before a command that is denied the `which` processes it wants
/// to start, as on a machine that has too many.
fn denied(which: &str) -> [String; 7] {
    let inject = format!("inject=clone,clone3,?fork,?vfork:error=EAGAIN:when={which}");
    [PROGRAM, "-qq", "-o", "/dev/null", "-e", &inject, "--"].map(str::to_owned)
}

/// Looks at the tasks from a process that is denied the `which` processes it wants to start.
pub fn look_denied(phase: &Phase, which: &str) {
    let ran = under(&denied(which), |tracer| phase.env.command_under(tracer, &["status"]));
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    phase.faults.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn a_task_whose_supervisor_cannot_be_started_waits_and_holds_up_nobody() {
    let phase = Phase::new();
    phase.limit(0);
    let brief = playing(&phase.env, "brief", &["say one", "exit 0"]);
    let go = phase.env.work().join("go");
    let held = playing(&phase.env, "held", &[&format!("await {}", go.display()), "exit 0"]);
    let tasks = [&brief, &brief, &held, &brief].map(|task| phase.submit(task));
    phase.limit(1);
    look_denied(&phase, "1..2");
    let states = || tasks.each_ref().map(|task| phase.row(task).state);
    assert_eq!(states(), ["pending", "pending", "working", "pending"], "the first two were put back");
    fs::write(go, "").unwrap();
    // Nobody else looks: whoever ends starts the next, in order.
    for task in &tasks {
        assert_eq!(phase.env.await_final(&task.task_id), "completed");
    }
    assert_eq!(tasks.each_ref().map(|task| phase.row(task).attempt), [2, 2, 1, 1]);
    phase.close("supervisor not started");
}

#[test]
fn a_submission_that_cannot_start_its_supervisor_is_taken_in_all_the_same() {
    let phase = Phase::new();
    let brief = playing(&phase.env, "brief", &["say one", "exit 0"]);
    let args = ["run", "--agent", "command", "--json", &brief];
    let ran = under(&denied("1+"), |tracer| phase.env.command_under(tracer, &args));
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    let task = phase.note(&ran.stdout).unwrap();
    assert_eq!(phase.row(&task).state, "pending");
    phase.faults.fetch_add(1, Ordering::Relaxed);
    phase.env.expect(0, &["wait", &task.task_id]);
    phase.close("supervisor not started at submit");
}

#[test]
fn a_task_whose_supervisor_can_never_be_started_ends_in_the_end() {
    let phase = Phase::new();
    phase.limit(0);
    let brief = playing(&phase.env, "brief", &["say one", "exit 0"]);
    let (never, next) = (phase.submit(&brief), phase.submit(&brief));
    phase.limit(1);
    for _ in 0..25 {
        look_denied(&phase, "1+");
    }
    for task in [&never, &next] {
        let row = phase.row(task);
        assert_eq!((row.state.as_str(), row.code.as_deref()), ("failed", Some("INTERNAL")));
        let told = phase.env.expect(1, &["results", &task.task_id]).stdout;
        assert!(told.contains("its agent was never started"), "{told}");
    }
    let after = phase.submit(&brief);
    assert_eq!(phase.env.await_final(&after.task_id), "completed");
    phase.close("supervisor never started");
}

/// Programs that do not want to hear of their children hand that down.
#[test]
fn started_by_one_that_is_deaf_to_its_children_a_run_ends_all_the_same() {
    let phase = Phase::new();
    phase.limit(1);
    let brief = playing(&phase.env, "brief", &["say one", "exit 0"]);
    let deaf = ["/bin/bash", "-c", "trap '' CHLD; exec \"$@\"", "bash"].map(str::to_owned);
    for _ in 0..2 {
        let args = ["run", "--agent", "command", "--json", &brief];
        let ran = under(&deaf, |prefix| phase.env.command_under(prefix, &args));
        let task = phase.note(&ran.stdout).unwrap();
        assert_eq!(phase.env.await_final(&task.task_id), "completed");
        assert_eq!(phase.row(&task).attempt, 1);
    }
    phase.close("deaf to children");
}

/// The one in between is killed when the supervisor runs already: it does, and
/// the task is none that waits.
#[test]
fn a_supervisor_whose_starter_is_killed_is_a_supervisor() {
    let phase = Phase::new();
    phase.limit(0);
    let go = phase.env.work().join("go");
    let task = phase.submit(&playing(&phase.env, "held", &[&format!("await {}", go.display()), "exit 0"]));
    phase.limit(1);
    // Its exit: it returns to nobody, which no other process here does.
    let strike = ["inject=exit:signal=KILL:when=1", "--"];
    let strike = [PROGRAM, "-f", "-qq", "--detach-on=execve", "-o", "/dev/null", "-e"].iter().chain(&strike);
    let strike: Vec<String> = strike.map(|&word| word.to_owned()).collect();
    let ran = under(&strike, |tracer| phase.env.command_under(tracer, &["status"]));
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    phase.faults.fetch_add(1, Ordering::Relaxed);
    assert_eq!((phase.row(&task).state, phase.row(&task).attempt), ("working".to_owned(), 1));
    fs::write(go, "").unwrap();
    assert_eq!(phase.env.await_final(&task.task_id), "completed");
    phase.close("starter killed");
}

/// A limit on the size of files, which the system enforces by a signal.
#[test]
fn a_file_that_may_not_grow_fails_the_run_and_kills_nobody() {
    let phase = Phase::new();
    // 1,024 blocks of 1,024 bytes.
    let limited = ["/bin/bash", "-c", "ulimit -f 1024; exec \"$@\"", "bash"].map(str::to_owned);
    let args = ["run", "--agent", "command", "--json", "yes | head -c 3000000"];
    let ran = under(&limited, |prefix| phase.env.command_under(prefix, &args));
    let task = phase.note(&ran.stdout).unwrap();
    assert_eq!(phase.env.await_final(&task.task_id), "failed");
    assert_eq!(phase.row(&task).code.as_deref(), Some("STORAGE"));
    phase.faults.fetch_add(1, Ordering::Relaxed);
    phase.close("a limit on files");
}

/// The one answer that matters has to come out somewhere.
#[test]
fn an_id_that_cannot_be_written_is_told_on_the_other_stream() {
    let phase = Phase::new();
    let into = ["/bin/bash", "-c", "exec \"$@\" >/dev/full", "bash"].map(str::to_owned);
    let brief = playing(&phase.env, "brief", &["say one", "exit 0"]);
    let args = ["run", "--agent", "command", &brief];
    let ran = under(&into, |prefix| phase.env.command_under(prefix, &args));
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(6), ""));
    let [row] = &phase.rows()[..] else { panic!("one task") };
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!(lines[0], format!("delegator: the task was accepted as {}", row.id), "{}", ran.stderr);
    assert_eq!(phase.env.await_final(&row.id), "completed");
}
