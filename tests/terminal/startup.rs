//! `delegator setup shell`: what a real shell makes of its start-up file.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Command;

use crate::recording;
use crate::support::env::{PATIENCE, TestEnv, finish};
use crate::window::Window;

const BEFORE: &str = "PS1='prompt> '\nread_by_rc=yes\n# no line feed at the end";

/// A world whose bash is set up, with the program under a name of its own.
fn set_up() -> (TestEnv, PathBuf) {
    let env = TestEnv::new();
    let rc = env.root().join("user/.bashrc");
    fs::write(&rc, BEFORE).unwrap();
    symlink(env!("CARGO_BIN_EXE_delegator"), env.root().join("bin/delegator")).unwrap();
    let ran = finish(setup(&env, &[]), PATIENCE);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.stdout.contains("added a marked block")
            && ran.stdout.contains("undo: `delegator setup shell --undo"),
        "{ran:?}"
    );
    (env, rc)
}

fn setup(env: &TestEnv, args: &[&str]) -> Command {
    let mut command = env.command(&[&["setup", "shell", "--shell", "bash"], args].concat());
    command.env("PATH", format!("{}:/usr/bin:/bin", env.root().join("bin").display()));
    command
}

fn bash(env: &TestEnv, args: &[&str]) -> Command {
    let mut command = Command::new("/bin/bash");
    env.settle_in(&mut command);
    command.args(args);
    command
}

/// A shell that works, and whether it is recorded.
#[track_caller]
fn check(env: &TestEnv, is_recorded: bool) {
    let before = recording::all(env).len();
    let mut window = Window::with(bash(env, &["-i"]), 120, 24);
    window.await_text("prompt> ");
    window.type_in("echo \"in=${DELEGATOR_TERMINAL:-nothing} $read_by_rc\"\r");
    window.await_text(if is_recorded { "in=term-" } else { "in=nothing yes" });
    window.type_in("exit 5\r");
    window.expect(5);
    assert_eq!(recording::all(env).len() - before, usize::from(is_recorded));
}

#[test]
fn an_interactive_shell_is_recorded_and_no_other() {
    let (env, rc) = set_up();
    check(&env, true);
    // One inside it is part of it.
    let mut window = Window::with(bash(&env, &["-i"]), 120, 24);
    window.await_text("prompt> ");
    window.type_in("bash -i\r");
    window.await_times("prompt> ", 2);
    window.type_in("exit 0\r");
    window.await_times("prompt> ", 3);
    window.type_in("exit 0\r");
    window.expect(0);
    assert_eq!(recording::all(&env).len(), 2);
    // A script, a command, a shell without a terminal.
    let mut window = Window::with(bash(&env, &["-ic", "echo \"in=${DELEGATOR_TERMINAL:-nothing}\""]), 80, 24);
    window.expect(0);
    assert!(window.text().contains("in=nothing"), "{}", window.text());
    let rc = rc.to_str().unwrap();
    for args in [
        &["-c", "echo \"in=${DELEGATOR_TERMINAL:-nothing}\""][..],
        &["-c", &format!("source {rc}; echo in=nothing")],
    ] {
        let ran = finish(bash(&env, args), PATIENCE);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "in=nothing\n"), "{ran:?}");
    }
    let mut interactive = bash(&env, &["-i"]);
    interactive.stdin(fs::File::open("/dev/null").unwrap());
    finish(interactive, PATIENCE);
    assert_eq!(recording::all(&env).len(), 2);
}

#[test]
fn a_login_shell_reads_its_profile_to_the_end() {
    let (env, _) = set_up();
    let profile = ". ~/.bashrc\nPATH=\"$HOME/of-the-profile:$PATH\"\n";
    fs::write(env.root().join("user/.profile"), profile).unwrap();
    for (args, kind) in [(&["-l"][..], "login"), (&["-i"], "other")] {
        let mut window = Window::with(bash(&env, args), 120, 24);
        window.await_text("prompt> ");
        window
            .type_in("shopt -q login_shell && k=login || k=other; echo \"in=$DELEGATOR_TERMINAL kind=$k\"\r");
        window.await_text("in=term-");
        window.await_text(&format!("kind={kind}"));
        window
            .type_in("case $PATH in *of-the-profile*) echo path=$((40+2));; *) echo path=$((40+3));; esac\r");
        window.await_text(if kind == "login" { "path=42" } else { "path=43" });
        window.type_in("exit 5\r");
        window.expect(5);
    }
    assert_eq!(recording::all(&env).len(), 2);
}

#[test]
fn a_program_that_is_gone_or_broken_locks_nobody_out() {
    let (env, _) = set_up();
    let program = env.root().join("bin/delegator");
    fs::remove_file(&program).unwrap();
    check(&env, false);
    for broken in ["#!/bin/sh\nexit 1\n", "#!/nowhere\n", "\u{7f}ELF nonsense", ""] {
        fs::write(&program, broken).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        // What is empty runs, and does nothing: it is asked for its version all the same.
        if broken.is_empty() {
            fs::set_permissions(&program, fs::Permissions::from_mode(0o644)).unwrap();
        }
        check(&env, false);
    }
}

#[test]
fn a_home_that_cannot_be_used_locks_nobody_out() {
    let (env, _) = set_up();
    fs::write(env.home().join("terminals"), "").unwrap();
    let mut window = Window::with(bash(&env, &["-i"]), 120, 24);
    window.await_text("prompt> ");
    window.type_in("echo levels=$SHLVL\r");
    window.await_text("levels=1");
    window.type_in("exit 6\r");
    window.expect(6);
    assert!(window.text().contains("delegator: this terminal was not recorded"), "{}", window.text());
}

#[test]
fn undoing_leaves_the_file_as_it_was() {
    let (env, rc) = set_up();
    let ran = finish(setup(&env, &[]), PATIENCE);
    assert!(ran.stdout.contains("nothing to do"), "{ran:?}");
    let with = fs::read_to_string(&rc).unwrap();
    fs::write(&rc, with.replace("read_by_rc=yes", "read_by_rc=no")).unwrap();
    let dry = finish(setup(&env, &["--undo", "--dry-run", "--json"]), PATIENCE);
    let dry: serde_json::Value = serde_json::from_str(&dry.stdout).unwrap();
    assert_eq!(
        (&dry["meta"]["dry_run"], &dry["data"]["operation"]),
        (&true.into(), &"undo".into()),
        "{dry:#}"
    );
    assert_ne!(fs::read_to_string(&rc).unwrap(), BEFORE);
    finish(setup(&env, &["--undo"]), PATIENCE);
    assert_eq!(fs::read_to_string(&rc).unwrap(), BEFORE.replace("read_by_rc=yes", "read_by_rc=no"));
    fs::write(&rc, "PS1='prompt> '\nread_by_rc=yes\n").unwrap();
    check(&env, false);
}

#[test]
fn a_shell_that_cannot_be_told_has_to_be_named() {
    let env = TestEnv::new();
    let ran = env.expect(2, &["setup", "shell"]);
    assert!(ran.stderr.contains("--shell"), "{ran:?}");
}
