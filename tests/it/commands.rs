//! Every command at its ordinary work, as people see it.

use crate::normalized_output::{plain, value};
use crate::support::env::{PATIENCE, TestEnv, wait_for};

/// What is printed for people; the snapshot bears the name of the case.
#[track_caller]
fn check(env: &TestEnv, name: &str, code: i32, args: &[&str]) {
    let ran = env.expect(code, args);
    insta::assert_snapshot!(name, plain(env, &ran.stdout));
}

/// A task that is done, by its id.
#[track_caller]
fn done(env: &TestEnv, options: &[&str], task: &str) -> String {
    let task = env.submit_with(options, task).task_id;
    env.await_final(&task);
    task
}

#[test]
fn run_prints_the_id_alone_and_says_what_to_do_next() {
    let env = TestEnv::new();
    let ran = env.expect(0, &["run", "--agent", "command", "true"]);
    insta::assert_snapshot!("run", plain(&env, &format!("{}--- stderr\n{}", ran.stdout, ran.stderr)));
}

#[test]
fn run_joins_words_and_reads_a_task_from_standard_input() {
    let env = TestEnv::new();
    let words =
        env.expect(0, &["run", "--agent", "command", "--wait", "echo", "two  words", "--timeout", "60"]);
    assert_eq!(value(&words.stdout, "summary"), "exit 0: two words");
    let script = env.root().join("script");
    std::fs::write(&script, "echo from\necho a file\n").unwrap();
    let mut command = env.command(&["run", "--agent", "command", "--wait", "-"]);
    command.stdin(std::fs::File::open(script).unwrap());
    let ran = crate::support::env::finish(command, PATIENCE);
    assert_eq!(value(&ran.stdout, "summary"), "exit 0: a file");
}

#[test]
fn run_waits_and_ends_with_the_code_of_the_outcome() {
    let env = TestEnv::new();
    check(&env, "run_wait_completed", 0, &["run", "--agent", "command", "--wait", "echo done"]);
    check(&env, "run_wait_failed", 1, &["run", "--agent", "command", "--wait", "echo no >&2; exit 3"]);
    check(
        &env,
        "run_wait_limit",
        1,
        &["run", "--agent", "command", "--wait", "--hard", "0.2", "echo so far; sleep 60"],
    );
    check(&env, "run_wait_replay", 0, &["run", "--agent", "replay", "--wait", "fix-test --instant"]);
    check(&env, "run_wait_replay_failed", 1, &["run", "--agent", "replay", "--wait", "fails --instant"]);
}

/// The part of a reply that shows what was printed.
fn printed(text: &str) -> &str {
    let (start, end) =
        (text.find("\nstdout:\n").unwrap_or_else(|| panic!("{text}")), text.rfind("\nnext: ").unwrap());
    &text[start..end]
}

#[test]
fn a_failed_run_shows_what_it_printed_whoever_asks() {
    let env = TestEnv::new();
    let ran = env.expect(1, &["run", "--agent", "command", "--wait", "echo half; echo why >&2; exit 3"]);
    let task = value(&ran.stdout, "task_id").to_owned();
    let waited = env.expect(1, &["wait", &task]);
    let results = env.expect(1, &["results", &task]);
    assert_eq!(printed(&ran.stdout), "\nstdout:\n```\nhalf\n```\nstderr:\n```\nwhy\n```");
    assert_eq!(
        (printed(&waited.stdout), printed(&results.stdout)),
        (printed(&ran.stdout), printed(&ran.stdout))
    );
}

#[test]
fn a_limit_has_one_name_in_the_text_and_in_the_document() {
    let env = TestEnv::new();
    let task = done(&env, &["--hard", "0.2"], "sleep 60");
    for verb in ["wait", "results"] {
        let text = env.expect(1, &[verb, &task]).stdout;
        assert!(value(&text, "status").starts_with("timeout ("), "{text}");
    }
}

#[test]
fn a_command_is_summed_up_by_what_it_came_to() {
    let env = TestEnv::new();
    let lines = "src/a.c:1:10: fatal error: nosuch.h: No such file or directory\\ncompilation terminated.";
    let gcc = format!("gcc() {{ printf '{lines}\\n' >&2; return 1; }}; gcc -c src/a.c");
    let ran = env.expect(1, &["run", "--agent", "command", "--wait", &gcc]);
    assert!(value(&ran.stdout, "summary").contains("nosuch.h"), "{}", ran.stdout);
}

#[test]
fn what_a_command_printed_last_is_shown_while_it_runs() {
    let env = TestEnv::new();
    let task = env.submit("echo phase 1 of 6; echo phase 2 of 6; exec sleep 60").task_id;
    wait_for("the last line", PATIENCE, || {
        let shown = env.expect(0, &["status", &task]).stdout;
        shown.contains("(last line: phase 2 of 6)").then_some(())
    });
    env.expect(0, &["cancel", &task]);
}

#[test]
fn a_bounded_wait_leaves_the_run_working() {
    let env = TestEnv::new();
    // A shell beside it might end a moment later, and would be told of.
    let ran = env.expect(4, &["run", "--agent", "command", "--wait", "--timeout", "0.2", "exec sleep 60"]);
    assert_eq!(value(&ran.stdout, "status"), "working (the wait timed out)");
    let task = value(&ran.stdout, "task_id");
    env.expect(4, &["wait", "--timeout", "0", task]);
    env.expect(4, &["results", task]);
    check(&env, "cancel", 0, &["cancel", task, "--reason", "enough"]);
    check(&env, "cancel_again", 0, &["cancel", task]);
    check(&env, "wait_cancelled", 5, &["wait", task]);
}

#[test]
fn wait_takes_several_tasks_and_ends_with_the_worst() {
    let env = TestEnv::new();
    let good = done(&env, &[], "echo good");
    let bad = done(&env, &[], "exit 7");
    let long = env.submit("sleep 60").task_id;
    check(&env, "wait_several", 1, &["wait", &good, &bad, &good]);
    env.expect(0, &["wait", "--any", &good, &long]);
    env.expect(4, &["wait", "--timeout", "0.1", &good, &long]);
}

#[test]
fn a_task_is_found_by_whatever_it_is_called() {
    let env = TestEnv::new();
    let task = env.submit_with(&["--alias", "build"], "echo it");
    env.await_final(&task.task_id);
    let replay = env.expect(0, &["run", "--agent", "replay", "--wait", "quick"]);
    let upper = task.task_id.to_uppercase();
    for name in ["build", &task.run_id, &upper, &task.task_id[..16], &task.task_id[8..16]] {
        let ran = env.expect(0, &["results", name]);
        assert_eq!(value(&ran.stdout, "task_id"), task.task_id, "{name}");
    }
    let by_thread = env.expect(0, &["results", value(&replay.stdout, "subagent_thread_id")]);
    assert_eq!(value(&by_thread.stdout, "task_id"), value(&replay.stdout, "task_id"));
}

#[test]
fn an_alias_that_passes_from_a_task_that_runs_is_told() {
    let env = TestEnv::new();
    let run = |task: &str| env.expect(0, &["run", "--agent", "command", "--alias", "phases", task]);
    let first = run("exec sleep 60");
    assert!(!first.stderr.contains("warning"), "{}", first.stderr);
    let second = run("exec sleep 61");
    let said =
        format!("warning: alias `phases` was taken from {}, which is still running", first.stdout.trim());
    assert!(second.stderr.contains(&said), "{}", second.stderr);
    env.expect(0, &["cancel", "phases"]);
    assert!(!run("true").stderr.contains("warning"), "one that is over gives its name away");
    env.expect(0, &["cancel", first.stdout.trim()]);
}

#[test]
fn results_shows_output_when_asked_and_when_it_failed() {
    let env = TestEnv::new();
    let good = done(&env, &[], "echo out; echo err >&2");
    check(&env, "results", 0, &["results", &good]);
    check(&env, "results_output", 0, &["results", &good, "--output"]);
    let bad = done(&env, &[], "echo out; echo err >&2; exit 1");
    check(&env, "results_failed", 1, &["results", &bad]);
    let replay = env.expect(0, &["run", "--agent", "replay", "--wait", "quick"]);
    let events = env.expect(0, &["results", value(&replay.stdout, "task_id"), "--events"]);
    assert!(events.stdout.contains("\nevents:\n```\nthread.started: "), "{}", events.stdout);
}

#[test]
fn status_lists_this_project_and_all_projects() {
    let env = TestEnv::new();
    // Each a project of its own, whatever lies above them.
    let elsewhere = env.root().join("user");
    for project in [&env.work(), &elsewhere] {
        std::fs::create_dir(project.join(".git")).unwrap();
        std::fs::write(project.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    }
    check(&env, "status_empty", 0, &["status"]);
    // One slot: the second waits.
    env.configure("max_concurrent = 1\n");
    let ended = done(&env, &["--alias", "first"], "echo 12 passed");
    let running = env.submit("sleep 60").task_id;
    let queued = env.submit("echo later").task_id;
    wait_for("the first sign of life", PATIENCE, || {
        env.expect(0, &["status"]).stdout.contains("running: sleep").then_some(())
    });
    check(&env, "status", 0, &["status"]);
    for (name, task) in [("status_running", &running), ("status_queued", &queued), ("status_ended", &ended)] {
        check(&env, name, 0, &["status", task]);
    }
    let mut command = env.command(&["status"]);
    command.current_dir(&elsewhere);
    let ran = crate::support::env::finish(command, PATIENCE);
    assert!(ran.stdout.starts_with("no tasks in"), "{}", ran.stdout);
    let all = env.expect(0, &["status", "--all", "--limit", "0"]);
    assert!(
        all.stdout.ends_with("1 running, 1 queued, 0 finished (1 more: `--limit 1`), anywhere\n"),
        "{}",
        all.stdout
    );
    env.expect(0, &["cancel", &queued]);
}

#[test]
fn logs_shows_what_was_printed_or_what_happened() {
    let env = TestEnv::new();
    let task = done(&env, &[], "echo one; echo two; echo three; echo bad >&2");
    let logs = |args: &[&str]| env.expect(0, &[&["logs", &task], args].concat()).stdout;
    assert_eq!(logs(&[]), "one\ntwo\nthree\nbad\n");
    assert_eq!(logs(&["--stderr"]), "bad\n");
    assert_eq!(logs(&["--tail", "2"]), "three\nbad\n");
    assert_eq!(logs(&["-f"]), "one\ntwo\nthree\nbad\n");
    let replay = env.expect(0, &["run", "--agent", "replay", "--wait", "fix-test --instant"]);
    let id = value(&replay.stdout, "task_id");
    check(&env, "logs_replay", 0, &["logs", id]);
    let raw = env.expect(0, &["logs", id, "--events", "--tail", "1"]).stdout;
    assert!(raw.starts_with("{\"type\":\"turn.completed\"") && raw.lines().count() == 1, "{raw}");
}

#[test]
fn cleanup_removes_what_is_old_and_says_what_it_would() {
    let env = TestEnv::new();
    let task = done(&env, &[], "echo old");
    // What is kept follows, in bytes that differ every time.
    let without_figures = |name: &str, args: &[&str]| {
        let text = plain(&env, &env.expect(0, args).stdout);
        let (done, kept) = text.split_once("KEPT ").unwrap();
        insta::assert_snapshot!(name, done);
        assert!(kept.contains("\nruns       1 ") && kept.contains("\ncaptures   0 "), "{kept}");
    };
    without_figures("cleanup_nothing", &["cleanup"]);
    without_figures("cleanup_dry", &["cleanup", "--dry-run", "--older-than", "0"]);
    env.expect(0, &["results", &task]);
    let ran = env.expect(0, &["cleanup", "--older-than", "0"]);
    assert!(ran.stdout.contains("removed 1 old run and 0 abandoned submissions"), "{}", ran.stdout);
    env.expect(3, &["results", &task]);
}

#[test]
fn doctor_has_a_row_for_everything() {
    let env = TestEnv::new();
    let ran = env.expect(0, &["doctor"]);
    for row in [
        "home",
        "database",
        "disk",
        "config",
        "agent codex",
        "agent command",
        "agent replay",
        "kill level",
        "limits",
    ] {
        assert!(
            ran.stdout.lines().any(|line| line.get(6..).is_some_and(|rest| rest.starts_with(row))),
            "{row}: {}",
            ran.stdout
        );
    }
    if ran.stdout.contains("kill level     cgroup") {
        assert!(ran.stdout.contains("moves out of its control group, as root can"), "{}", ran.stdout);
    }
    check(&env, "doctor_config", 0, &["doctor", "--config"]);
}

#[test]
fn doctor_makes_a_damaged_registry_anew() {
    let env = TestEnv::new();
    let task = done(&env, &[], "echo kept");
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{suffix}", env.registry().display()));
    }
    std::fs::write(env.registry(), "no database ".repeat(1000)).unwrap();
    let bad = env.expect(6, &["doctor"]);
    assert!(bad.stdout.contains("bad   database"), "{}", bad.stdout);
    check(&env, "doctor_rebuild", 0, &["doctor", "--rebuild"]);
    assert_eq!(value(&env.expect(0, &["results", &task]).stdout, "summary"), "exit 0: kept");
}

#[test]
fn the_same_key_gives_the_same_task() {
    let env = TestEnv::new();
    let run = |task: &str| env.run(&["run", "--agent", "command", "--key", "k1", task]);
    let (first, second) = (run("echo once"), run("echo once"));
    assert_eq!((first.code, second.code), (Some(0), Some(0)));
    assert_eq!(first.stdout, second.stdout);
    assert!(second.stderr.starts_with("the same request was submitted before"), "{}", second.stderr);
    let other = run("echo another");
    assert_eq!((other.code, other.stdout.as_str()), (Some(2), ""));
    assert!(
        other.stderr.starts_with("delegator: the key `k1` was used for another request"),
        "{}",
        other.stderr
    );
}

#[test]
fn the_demonstration_needs_nothing() {
    let env = TestEnv::new();
    let mut command = env.command(&["demo", "--instant"]);
    command.current_dir("/").env("PATH", env.root().join("bin"));
    let ran = crate::support::env::finish(command, PATIENCE);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    insta::assert_snapshot!("demo", plain(&env, &ran.stdout));
}

#[test]
fn help_says_what_there_is() {
    let env = TestEnv::new();
    check(&env, "help", 0, &["--help"]);
    check(&env, "help_run", 0, &["run", "--help"]);
    let bare = env.expect(2, &[]);
    assert!(bare.stdout.is_empty() && bare.stderr.contains("Commands:"), "{}", bare.stderr);
    assert!(env.expect(0, &["--version"]).stdout.starts_with("delegator "));
}

#[test]
fn a_supervisor_in_trouble_says_so_in_the_directory_of_its_run() {
    let env = TestEnv::new();
    let dir = env.root().join("run");
    std::fs::create_dir(&dir).unwrap();
    let args = ["supervise", "--lock-fd", "999", "--attempt", "1", dir.to_str().unwrap()];
    env.expect(6, &args);
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 0, "not the directory of a run");
    std::fs::write(dir.join("request.json"), "{}").unwrap();
    env.expect(6, &args);
    let log = std::fs::read_to_string(dir.join("supervisor.log")).unwrap();
    assert!(log.contains("Bad file descriptor"), "{log}");
}
