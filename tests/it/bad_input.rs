//! Bad input: one clear line, one hint, the right exit code, and nothing made.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::chown;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::normalized_output::fits;
use crate::support::env::{PATIENCE, Ran, TestEnv, finish};

/// What a refused command has to say.
struct Told<'a> {
    code: i32,
    error: &'a str,
    message: &'a str,
    hint: &'a str,
}

const BAD: Told<'_> = Told { code: 2, error: "VALIDATION", message: "", hint: "" };
const MACHINE: Told<'_> = Told { code: 6, error: "INTERNAL", message: "", hint: "" };

/// Runs the command for people and for programs; both must say the same.
#[track_caller]
fn check(env: &TestEnv, args: &[&str], told: &Told<'_>) {
    check_with(env, args, told, &|_| {});
}

#[track_caller]
fn check_with(env: &TestEnv, args: &[&str], told: &Told<'_>, prepare: &dyn Fn(&mut Command)) {
    let before = runs(env.home());
    let run = |args: &[&str]| -> Ran {
        let mut command = env.command(args);
        prepare(&mut command);
        finish(command, PATIENCE)
    };
    let ran = run(args);
    let lines: Vec<&str> = ran.stderr.lines().collect();
    let [message, hint] = lines.as_slice() else {
        panic!("{args:?}: not one line and a hint: {}", ran.stderr)
    };
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(told.code), ""), "{args:?}: {}", ran.stderr);
    let message = message.strip_prefix("delegator: ").unwrap_or_else(|| panic!("{message}"));
    let hint = hint.strip_prefix("hint: ").unwrap_or_else(|| panic!("{hint}"));
    assert!(message.contains(told.message), "{args:?}: {message}");
    assert!(hint.contains(told.hint), "{args:?}: {hint}");

    let ran = run(&[&["--json"], args].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(told.code), ""), "{args:?}: {}", ran.stdout);
    let envelope: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{e}: {}", ran.stdout));
    fits("error", &envelope);
    // It names the format of its category, `codex/v3.6/{category}/v1`.
    let named = envelope["schema_id"].as_str().and_then(|id| id.split('/').nth(2)).unwrap();
    fits(named, &envelope);
    let error = &envelope["error"];
    assert_eq!(error["code"], told.error, "{error:#}");
    assert_eq!((error["message"].as_str(), error["hint"].as_str()), (Some(message), Some(hint)));
    assert_eq!(runs(env.home()), before, "{args:?}: something was made");
}

/// How many run directories there are.
fn runs(home: &Path) -> usize {
    fs::read_dir(home.join("runs")).map_or(0, Iterator::count)
}

/// A directory that is taken for a git repository.
fn repository(env: &TestEnv) -> String {
    fs::create_dir_all(env.work().join(".git")).unwrap();
    fs::write(env.work().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    env.work().display().to_string()
}

#[test]
fn a_directory_whose_name_is_no_text_is_refused() {
    let env = TestEnv::new();
    let odd = env.side().join(OsStr::from_bytes(b"a\xffb"));
    fs::create_dir(&odd).unwrap();
    let message = format!("the name of the directory `{}` is not UTF-8", odd.display());
    let told = Told { message: &message, hint: "rename it", ..BAD };
    check_with(&env, &["run", "--agent", "command", "--wait", "true"], &told, &|command| {
        command.current_dir(&odd);
    });
}

#[test]
fn a_directory_that_is_none_is_refused() {
    let env = TestEnv::new();
    let missing = env.root().join("missing").display().to_string();
    for agent in ["command", "codex", "replay"] {
        let told = Told { message: "missing` does not exist", hint: "--cwd", ..BAD };
        check(&env, &["run", "--agent", agent, "--cwd", &missing, "quick"], &told);
    }
    fs::write(env.work().join("file"), "").unwrap();
    let told = Told { message: "file` is not a directory", hint: "--cwd", ..BAD };
    check(&env, &["run", "--agent", "command", "--cwd", "file", "true"], &told);
}

#[test]
fn codex_outside_git_needs_to_be_told() {
    let env = TestEnv::new();
    let told = Told { message: "is not inside a git repository", hint: "--skip-git-repo-check", ..BAD };
    check(&env, &["run", "--cwd", "/usr", "look"], &told);
    let told =
        Told { code: 6, error: "UNSUPPORTED", message: "`codex` is not installed", hint: "npm install" };
    let without_codex = |command: &mut Command| {
        command.env("PATH", env.root().join("bin"));
    };
    check_with(&env, &["run", "--cwd", "/usr", "--skip-git-repo-check", "look"], &told, &without_codex);
    check_with(&env, &["run", "--cwd", &repository(&env), "look"], &told, &without_codex);
}

#[test]
fn a_task_has_to_say_something_and_not_too_much() {
    let env = TestEnv::new();
    for task in [&[][..], &[""], &["  ", "\n"]] {
        let told = Told { message: "the task is empty", hint: "say what the agent should do", ..BAD };
        check(&env, &[&["run", "--agent", "command"], task].concat(), &told);
    }
    let long = env.root().join("long");
    fs::write(&long, "x".repeat(2 << 20)).unwrap();
    let told =
        Told { message: "the task is 2097152 bytes long; the limit is 1048576", hint: "into a file", ..BAD };
    let too_long_for_an_argument = Told { message: "bytes long; the limit is 131071", ..told };
    let from_file = |command: &mut Command| {
        command.stdin(fs::File::open(&long).unwrap());
    };
    check_with(&env, &["run", "--cwd", &repository(&env), "-"], &told, &from_file);
    check_with(&env, &["run", "--agent", "command", "-"], &too_long_for_an_argument, &from_file);
    fs::write(&long, b"echo \xff").unwrap();
    let told = Told { message: "not UTF-8", ..BAD };
    check_with(&env, &["run", "--agent", "command", "-"], &told, &from_file);
}

#[test]
fn an_unknown_name_gets_the_nearest_known_one() {
    let env = TestEnv::new();
    let cases: [(&[&str], &str, &str); 7] = [
        (
            &["run", "--agent", "comand", "x"],
            "invalid value `comand` for `--agent`",
            "did you mean `command`?",
        ),
        (
            &["run", "--agent", "zebra", "x"],
            "invalid value `zebra` for `--agent`",
            "known: codex, codex_cloud, command, replay",
        ),
        (&["run", "--sandbox", "readonly", "x"], "invalid value `readonly` for `--sandbox`", "`read-only`"),
        (&["run", "--sandbx", "read-only", "x"], "unknown option `--sandbx`", "did you mean `--sandbox`?"),
        (&["statsu"], "unknown command `statsu`", "did you mean `status`?"),
        (&["schema", "delegate_rnu"], "invalid value `delegate_rnu` for `NAME`", "`delegate_run`"),
        (&["run", "--agent", "replay", "fix-tset"], "there is no recording `fix-tset`", "`fix-test`"),
    ];
    for (args, message, hint) in cases {
        check(&env, args, &Told { message, hint, ..BAD });
    }
}

#[test]
fn a_word_in_the_wrong_place_is_told_where_it_goes() {
    let env = TestEnv::new();
    let cases: [(&[&str], &str, &str); 5] = [
        (&["terminal", "ls", "-l"], "unexpected argument `ls`", "`delegator terminal -- ls -l`"),
        (&["pin", "--list"], "unknown option `--list`", "`delegator pin --help`"),
        (&["terminal", "read", "x", "--tail"], "`--tail` needs a value", "`delegator terminal --help`"),
        (&["run", "-x"], "unknown option `-x`", "after `--`"),
        (&["nonsense"], "unknown command `nonsense`", "`delegator --help` lists the commands"),
    ];
    for (args, message, hint) in cases {
        check(&env, args, &Told { message, hint, ..BAD });
    }
}

#[test]
fn options_are_checked_before_anything_is_made() {
    let env = TestEnv::new();
    fs::write(env.work().join("schema.json"), "{\"type\": 7}").unwrap();
    let git = repository(&env);
    let cases: [(&[&str], &str, &str); 17] = [
        (&["run", "--agent", "command", "--alias", "a\u{1b}[1m", "x"], "is not a valid alias", "printable"),
        (&["run", "--agent", "command", "--alias", "", "x"], "`--alias` is empty", "leave it out"),
        (&["wait"], "`ID` is missing", "usage: delegator wait"),
        (&["run", "--agent"], "`--agent` needs a value", "codex"),
        (&["run", "--agent", "command", "--idle", "soon", "x"], "invalid value `soon` for `--idle`", ""),
        (
            &["run", "--hard", "1h", "x"],
            "invalid value `1h` for `--hard`: expected a number of seconds",
            "`--hard 900`",
        ),
        (
            &["status", "--limit", "x"],
            "invalid value `x` for `--limit`: expected a whole number",
            "`--limit 20`",
        ),
        (
            &["serve", "--http", "127.0.0.1"],
            "invalid value `127.0.0.1` for `--http`: expected an address with a port",
            "`--http 127.0.0.1:",
        ),
        (
            &["run", "--agent", "command", "--hard", "0", "x"],
            "`--hard` must be a number of seconds",
            "--hard 900",
        ),
        (&["run", "--agent", "command", "--timeout", "5", "x"], "`--wait` is missing", ""),
        (
            &["run", "--agent", "codex", "--cwd", &git, "--output-schema", "schema.json", "x"],
            "not a valid JSON Schema",
            "--output-schema",
        ),
        (
            &["run", "--agent", "codex", "--cwd", &git, "--output-schema", "none.json", "x"],
            "No such file",
            "--output-schema",
        ),
        (
            &["run", "--agent", "codex", "--cwd", &git, "--sandbox", "danger-full-access", "x"],
            "more than this machine's configuration allows",
            "max_sandbox",
        ),
        (
            &["run", "--agent", "codex", "--cwd", &git, "--network", "x"],
            "network access is not allowed",
            "allow_network",
        ),
        (
            &["run", "--agent", "codex", "--cwd", &git, "--config", "notify=x", "x"],
            "`notify` is not allowed",
            "config_override_keys",
        ),
        (
            &["run", "--agent", "command", "--env", "NOT_SET_ANYWHERE", "x"],
            "`NOT_SET_ANYWHERE` is not set",
            "set it",
        ),
        (
            &["results", "x", "--max-output-bytes", "65537"],
            "invalid value `65537` for `--max-output-bytes`",
            "",
        ),
    ];
    for (args, message, hint) in cases {
        check(&env, args, &Told { message, hint, ..BAD });
    }
    let told = Told {
        code: 2,
        error: "UNSUPPORTED",
        message: "agent `command` does not support `--model`",
        hint: "leave out `--model`",
    };
    check(&env, &["run", "--agent", "command", "--model", "m", "x"], &told);
    let told =
        Told { message: "agent `command` does not support `--effort`", hint: "leave out `--effort`", ..told };
    check(&env, &["run", "--agent", "command", "--effort", "high", "x"], &told);
    let told = Told { message: "`--key` is empty", hint: "leave it out", ..BAD };
    check(&env, &["run", "--agent", "command", "--key", "", "x"], &told);
}

#[test]
fn what_was_typed_comes_back_in_a_line_however_long_it_is() {
    let env = TestEnv::new();
    let long = "x".repeat(100_000);
    for args in [["pin", &long], ["results", &long], ["resume", &long], ["inspect", &long]] {
        let told = env.expect(3, &args);
        assert!(told.stderr.len() < 1500, "{}: {} bytes", args[0], told.stderr.len());
    }
    let told = env.run(&["terminal", "read", &long]);
    assert!(told.stderr.len() < 1500, "{}", told.stderr.len());
}

#[test]
fn the_directory_of_a_run_names_it() {
    let env = TestEnv::new();
    let task = env.submit("true");
    env.await_final(&task.task_id);
    let dir = env.run_dir(&task.run_id).display().to_string();
    for named in [dir.clone(), format!("{dir}/")] {
        let found = env.json(&["status", "--json", &named]);
        assert_eq!(found["data"]["recently_completed"][0]["task_id"], task.task_id.as_str(), "{found}");
    }
}

#[test]
fn a_task_that_is_not_there_or_not_the_only_one_is_refused() {
    let env = TestEnv::new();
    let (first, second) = (env.submit("true"), env.submit("true"));
    env.await_final(&first.task_id);
    env.await_final(&second.task_id);
    for verb in ["status", "wait", "results", "logs", "cancel"] {
        for name in ["T-local-000000000000", "nobody", "../../etc"] {
            let told = Told {
                code: 3,
                error: "NOT_FOUND",
                message: &format!("no task `{name}`"),
                hint: "delegator status --all",
            };
            check(&env, &[verb, name], &told);
        }
        let told = Told { message: "could be any of", hint: "more of the id", ..BAD };
        check(&env, &[verb, &first.run_id[..5]], &told);
    }
}

#[test]
fn only_a_thread_can_be_resumed() {
    let env = TestEnv::new();
    let task = env.submit("true").task_id;
    env.await_final(&task);
    let told = Told {
        message: "neither a known task nor a thread id",
        hint: "a thread id is a UUID",
        code: 3,
        error: "NOT_FOUND",
    };
    check(&env, &["resume", "last tuesday", "go on"], &told);
    let told = Told { message: "has no thread to resume", hint: "start a new task", ..BAD };
    check(&env, &["resume", &task, "go on"], &told);
    let replay = env.json(&["run", "--agent", "replay", "--wait", "--json", "quick"]);
    let told = Told {
        code: 2,
        error: "UNSUPPORTED",
        message: "agent `replay` does not support `resume`",
        hint: "new task",
    };
    check(&env, &["resume", replay["task_id"].as_str().unwrap(), "quick"], &told);
}

#[test]
fn a_registry_that_is_damaged_or_newer_is_left_alone() {
    let env = TestEnv::new();
    fs::write(env.registry(), "no database at all ".repeat(500)).unwrap();
    let told = Told { message: "registry.db` is damaged", hint: "delegator doctor --rebuild", ..MACHINE };
    check(&env, &["run", "--agent", "command", "true"], &told);
    check(&env, &["status"], &told);

    let env = TestEnv::new();
    env.expect(0, &["status"]);
    let registry = rusqlite::Connection::open(env.registry()).unwrap();
    registry.pragma_update(None, "user_version", 99).unwrap();
    drop(registry);
    let told =
        Told { message: "was written by a newer version (format 99", hint: "update `delegator`", ..MACHINE };
    check(&env, &["run", "--agent", "command", "true"], &told);
    check(&env, &["results", "x"], &told);
}

#[test]
fn a_home_that_cannot_be_used_is_refused() {
    let file = TestEnv::new();
    fs::write(file.root().join("file"), "").unwrap();
    for home in [file.root().join("file/home"), "/proc/delegator".into()] {
        let env = TestEnv::with_home(home.clone());
        let message = format!("`{}` cannot be used", home.display());
        let told = Told { message: &message, hint: "set DELEGATOR_HOME", ..MACHINE };
        check(&env, &["run", "--agent", "command", "true"], &told);
        assert!(!home.exists());
    }
    let told = Told { message: "is not a directory", hint: "set DELEGATOR_HOME", ..MACHINE };
    check(&TestEnv::with_home(file.root().join("file")), &["status"], &told);
    let told = Told { message: "is not an absolute path", hint: "set DELEGATOR_HOME", ..MACHINE };
    check(&TestEnv::with_home("relative".into()), &["status"], &told);
}

#[test]
fn a_home_of_another_user_is_refused() {
    // SAFETY: a system call without arguments.
    let user = unsafe { libc::geteuid() };
    assert_eq!(user, 0, "this test gives a directory away, which only root can do: run it as root");
    let env = TestEnv::new();
    chown(env.home(), Some(12345), None).unwrap();
    let told =
        Told { message: "belongs to another user (uid 12345)", hint: "a directory of your own", ..MACHINE };
    check(&env, &["run", "--agent", "command", "true"], &told);
    assert_eq!(fs::read_dir(env.home()).unwrap().count(), 0);
}

#[test]
fn a_misspelt_configuration_is_an_error() {
    let env = TestEnv::new();
    for (text, message) in [
        ("max_sandbx = \"read-only\"\n", "line 1: unknown key `max_sandbx`; did you mean `max_sandbox`?"),
        ("max_depth = 1\nmax_concurrent = \"two\"\n", "line 2: `max_concurrent`: invalid type: string"),
        ("codex_path = \"~/bin/codex\"\n", "`codex_path`: `~/bin/codex` is not an absolute path"),
    ] {
        env.configure(text);
        let told = Told { code: 6, error: "INTERNAL", message, hint: "doctor --config" };
        check(&env, &["run", "--agent", "command", "true"], &told);
        let doctor = env.expect(6, &["doctor"]).stdout;
        let limits = doctor.lines().find(|line| line.contains("limits")).unwrap_or_default();
        assert!(limits.starts_with("warn") && limits.contains("unknown"), "{doctor}");
    }
    let file = env.root().join("config/delegator/config.toml");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    let told = Told { message: "failed to read `", hint: "readable regular file", ..MACHINE };
    check(&env, &["run", "--agent", "command", "true"], &told);
}

#[test]
fn a_name_that_is_far_too_long_is_not_told_whole() {
    let env = TestEnv::new();
    let ran = env.expect(3, &["results", &"x".repeat(100_000)]);
    assert!(ran.stderr.len() < 400 && ran.stderr.contains("no task `xxx"), "{} bytes", ran.stderr.len());
}
