//! Where the output goes: a terminal, a pipe whose reader leaves, a file that
//! grows; and what Ctrl-C does.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::{Child, Stdio};

use crate::shown::value;
use crate::support::env::{PATIENCE, TestEnv, wait_for};
use crate::support::kill;

/// Begins, says so, and goes on until the file `go` is there.
const HELD: &str = "echo begun; until [ -e go ]; do sleep 0.02; done; echo over";

fn pid(child: &Child) -> i32 {
    i32::try_from(child.id()).unwrap()
}

/// Waits until the process would not simply die of Ctrl-C.
fn await_handler(pid: i32) {
    wait_for("the waiter to be prepared", PATIENCE, || {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let caught = u64::from_str_radix(value(&status.replace(":\t", ": "), "SigCgt"), 16).ok()?;
        (caught & 1 << (libc::SIGINT - 1) != 0).then_some(())
    });
}

#[test]
fn an_interrupted_wait_leaves_the_run_alone() {
    let env = TestEnv::new();
    let task = env.submit(HELD).task_id;
    for args in [&["wait", &task][..], &["logs", "-f", &task]] {
        let mut waiter = env.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        await_handler(pid(&waiter));
        kill::send(pid(&waiter), libc::SIGINT);
        assert_eq!(waiter.wait().unwrap().code(), Some(130), "{args:?}");
        let mut said = String::new();
        waiter.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(said.contains("goes on: `delegator") && said.contains(&task), "{args:?}: {said}");
    }
    assert!(env.expect(0, &["status"]).stdout.contains("working"));
    fs::write(env.work().join("go"), "").unwrap();
    env.expect(0, &["wait", &task]);
}

#[test]
fn a_log_is_followed_until_the_run_is_done() {
    let env = TestEnv::new();
    let task = env.submit(HELD).task_id;
    let mut follower = env.command(&["logs", "-f", &task]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(follower.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "begun");
    fs::write(env.work().join("go"), "").unwrap();
    assert_eq!(lines.next().unwrap().unwrap(), "over");
    assert!(lines.next().is_none());
    assert_eq!(follower.wait().unwrap().code(), Some(0));
}

#[test]
fn a_reader_that_leaves_ends_the_output_quietly() {
    let env = TestEnv::new();
    let task = env.submit("yes a line of output | head -n 100000").task_id;
    env.expect(0, &["wait", &task]);
    let mut logs =
        env.command(&["logs", &task]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 16];
    logs.stdout.take().unwrap().read_exact(&mut first).unwrap();
    assert_eq!(logs.wait().unwrap().code(), Some(0));
    let mut said = String::new();
    logs.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(said, "");
}

#[test]
fn a_wait_without_a_terminal_says_little() {
    let env = TestEnv::new();
    let ran = env.expect(0, &["run", "--agent", "replay", "--wait", "fix-test --speed 4"]);
    assert!(ran.stderr.lines().count() <= 1, "{}", ran.stderr);
    assert!(!ran.stderr.contains(['\r', '\u{1b}']), "{:?}", ran.stderr);
}

#[test]
fn a_terminal_shows_one_line_that_fits_it() {
    let env = TestEnv::new();
    let (ours, theirs) = terminal(48);
    let mut command = env.command(&["run", "--agent", "replay", "--wait", "fix-test --speed 3"]);
    let mut child = command.stdout(Stdio::piped()).stderr(theirs).spawn().unwrap();
    drop(command);
    let shown = read_all(ours);
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(value(&text, "status").split(' ').next(), Some("completed"));
    assert!(shown.ends_with("\r\u{1b}[K"), "the line is left behind: {shown:?}");
    assert!(!shown.contains('\n'), "{shown:?}");
    let drawn: Vec<&str> = shown.split('\r').map(|line| line.trim_end_matches("\u{1b}[K")).collect();
    assert!(drawn.iter().all(|line| line.chars().count() < 48), "{drawn:#?}");
    // The name of the task gives way to how far it is, and to what it does.
    assert!(drawn.iter().any(|line| line.contains(" of 4 steps  ")), "{drawn:#?}");
    let (id, far) = (value(&text, "task_id"), |line: &&&str| line.contains(" of 4 steps"));
    assert!(drawn.iter().filter(far).all(|line| !line.contains(id)), "{drawn:#?}");
}

#[test]
fn a_table_fits_a_narrow_terminal() {
    let env = TestEnv::new();
    let task = env.submit("echo a rather long command line that no narrow terminal can show whole").task_id;
    env.await_final(&task);
    for width in [40, 80, 200] {
        let (ours, theirs) = terminal(width);
        let mut command = env.command(&["status"]);
        let mut child = command.stdout(theirs).stderr(Stdio::null()).spawn().unwrap();
        drop(command);
        let shown = read_all(ours);
        assert!(child.wait().unwrap().success());
        let row = shown.lines().find(|line| line.starts_with(&task)).unwrap_or_else(|| panic!("{shown}"));
        // The id is never cut; the rest gives way to it.
        assert!(row.trim_end().chars().count() <= usize::from(width).max(50), "{width}: {row}");
        assert_eq!(row.contains('…'), width < 100, "{width}: {row}");
    }
}

#[test]
fn a_terminal_that_can_do_nothing_is_sent_lines() {
    let env = TestEnv::new();
    let (ours, theirs) = terminal(80);
    let mut command = env.command(&["run", "--agent", "replay", "--wait", "fix-test --speed 3"]);
    let command = command.env("TERM", "dumb").stdout(Stdio::null()).stderr(theirs);
    let mut child = command.spawn().unwrap();
    command.stderr(Stdio::null());
    let shown = read_all(ours);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(!shown.contains('\u{1b}') && shown.contains('\n'), "{shown:?}");
}

#[test]
fn who_follows_a_task_that_waits_is_told() {
    let env = TestEnv::new();
    env.configure("max_concurrent = 1\n");
    let first = env.submit(HELD).task_id;
    let queued = env.submit("echo at last").task_id;
    let mut follower = env.command(&["logs", "-f", &queued]);
    let mut follower = follower.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(follower.stderr.take().unwrap()).lines();
    assert!(said.next().unwrap().unwrap().contains("queued"));
    fs::write(env.work().join("go"), "").unwrap();
    env.expect(0, &["wait", &first]);
    let mut printed = String::new();
    follower.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
    assert_eq!((printed.as_str(), follower.wait().unwrap().code()), ("at last\n", Some(0)));
}

/// Both ends of a terminal of so many columns.
fn terminal(columns: u16) -> (File, Stdio) {
    let size = libc::winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    let (mut ours, mut theirs) = (-1, -1);
    // SAFETY: the places to write to are valid, and the rest may be absent.
    let made =
        unsafe { libc::openpty(&mut ours, &mut theirs, std::ptr::null_mut(), std::ptr::null(), &size) };
    assert_eq!(made, 0, "{}", std::io::Error::last_os_error());
    // SAFETY: both descriptors were just made and belong to nobody else.
    let (ours, theirs) = unsafe { (OwnedFd::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs)) };
    (File::from(ours), Stdio::from(theirs))
}

/// Everything until the other end is closed.
fn read_all(mut terminal: File) -> String {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    // A terminal whose other end is closed gives an error, not an end.
    while let Ok(read @ 1..) = terminal.read(&mut chunk) {
        bytes.extend_from_slice(&chunk[..read]);
    }
    String::from_utf8(bytes).unwrap()
}
