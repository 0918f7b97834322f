//! Trouble with the record is no trouble of the session.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::recording;
use crate::support::env::TestEnv;
use crate::window::Window;

const TALKS: &str = "i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done; read line; exit 5";

/// Everything was shown, and the last thing on the screen says what is missing.
#[track_caller]
fn check(mut window: Window, said: &str) {
    window.await_text("line 2999\r\n");
    assert!(!window.text().contains("delegator:"), "it waits for the end to say so");
    window.type_in("\r");
    window.expect(5);
    let text = window.text();
    let last = text.trim_end().lines().last().unwrap();
    assert!(last.starts_with("delegator: ") && last.contains(said), "{last}");
    assert_eq!(text.matches("delegator:").count(), 1);
}

#[test]
fn a_file_that_may_not_grow_ends_the_record_and_not_the_shell() {
    let env = TestEnv::new();
    let mut command = env.command_under(&["bash", "-c", "ulimit -f 16; exec \"$0\" \"$@\""], &["terminal"]);
    command.args(["--name", "small", "--", "sh", "-c", TALKS]);
    check(Window::with(command, 80, 24), "only the first 16384 bytes of this terminal were recorded");
    let recording = recording::only(&env);
    let expected: String = (0..3000).map(|number| format!("line {number}\r\n")).collect();
    assert_eq!(recording.output(), &expected.as_bytes()[..16384]);
    let read = env.json(&["terminal", "read", "small", "--json"]);
    assert_eq!((&read["data"]["state"], &read["data"]["exit_status"]), (&"ended".into(), &5.into()));
    assert!(read["data"]["incomplete"].as_str().unwrap().contains("16384"), "{read:#}");
    assert!(!recording.file("reserve").exists());
}

#[test]
fn a_home_that_cannot_be_used_keeps_nobody_from_working() {
    let env = TestEnv::new();
    let open = env.root().join("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).unwrap();
    let file = env.root().join("file");
    fs::write(&file, "").unwrap();
    for (home, said) in [(open, "open to other users"), (file, "is not a directory")] {
        let mut command = env.command(&["terminal", "--", "sh", "-c", TALKS]);
        command.env("DELEGATOR_HOME", home);
        check(Window::with(command, 80, 24), said);
    }
    fs::write(env.home().join("terminals"), "").unwrap();
    check(
        Window::open(&env, &["--", "sh", "-c", TALKS]),
        "this terminal was not recorded: failed to write to",
    );
}

#[test]
fn a_record_that_is_removed_under_it_keeps_nobody_from_working() {
    let env = TestEnv::new();
    let mut window = Window::open(&env, &["--", "sh", "-c", TALKS]);
    window.await_text("line 2999\r\n");
    fs::remove_dir_all(env.home().join("terminals")).unwrap();
    check(window, "the end of this terminal was not recorded");
}

#[test]
fn a_record_is_its_owners_alone() {
    let env = TestEnv::new();
    Window::open(&env, &["--", "true"]).expect(0);
    let recording = recording::only(&env);
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&env.home().join("terminals")), mode(&recording.0)), (0o700, 0o700));
    let mut names: Vec<String> = Vec::new();
    for entry in fs::read_dir(&recording.0).unwrap().map(Result::unwrap) {
        assert_eq!(mode(&entry.path()), 0o600, "{:?}", entry.path());
        names.push(entry.file_name().into_string().unwrap());
    }
    names.sort();
    assert_eq!(names, ["lock", "meta.json", "output.log", "times.idx"]);
}
