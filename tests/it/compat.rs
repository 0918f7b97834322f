//! What a released version left behind opens for ever: finished tasks are
//! read, a lost one is recovered, and one that waited is started.
//!
//! `tests/compat/<version>` holds a home as that version wrote it, and
//! `tasks.txt`, what must be found in it. None of it is ever changed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::support::env::TestEnv;

/// What the commands of some tasks printed. No run of these versions has a transcript.
const PRINTED: [(&str, &str); 3] = [
    ("T-local-qn7yrkfq250t", "compiling\n12 passed\n"),
    ("T-local-ghcc178b2y9a", "panicked at src/dates.rs:41:9:\n"),
    ("T-local-9rvz82w103m9", "thread 'rounds' panicked at src/lib.rs:9:9:\n"),
];

#[test]
fn a_home_of_every_released_version_opens() {
    for version in versions() {
        check(&version, |_| {});
    }
}

#[test]
fn run_directories_of_every_released_version_are_enough() {
    for version in versions() {
        check(&version, |env| fs::remove_file(env.registry()).unwrap());
    }
}

/// Opens a copy of the home, after `damage`, and compares every task.
#[track_caller]
fn check(version: &Path, damage: impl Fn(&TestEnv)) {
    let env = TestEnv::new();
    // However long ago it was.
    env.configure("retention_days = 36500\n");
    copy(version, env.home());
    damage(&env);
    let expected = fs::read_to_string(version.join("tasks.txt")).unwrap();
    assert!(!expected.is_empty());
    for line in expected.lines() {
        let [task, state, summary] = *line.splitn(3, ' ').collect::<Vec<_>>() else { panic!("{line}") };
        env.run(&["wait", task, "--timeout", "30"]);
        let reply = env.json(&["results", task, "--output", "--json"]);
        let found = |name: &str| reply["data"][name].as_str().unwrap_or_default().to_owned();
        assert_eq!(
            (found("state").as_str(), found("summary").as_str()),
            (state, summary),
            "{task}: {reply:#}"
        );
        // Those of the first version had none to miss; what is lost later has.
        let warnings = reply["data"]["warnings"].to_string();
        assert!(!warnings.contains("evidence.json"), "{task}: {warnings}");
    }
    for (task, printed) in PRINTED.iter().filter(|(task, _)| expected.contains(task)) {
        for args in [&["logs", task][..], &["logs", "-f", task], &["results", task, "--output"]] {
            let shown = env.run(args).stdout;
            assert!(shown.contains(printed), "{args:?}: {shown}");
        }
    }
}

/// What the code before one rule for all commands had inferred is still told, and none of it is damage.
#[test]
fn evidence_with_inferred_fields_is_told_as_it_was_written() {
    let env = TestEnv::new();
    env.configure("retention_days = 36500\n");
    copy(&compat().join("v1_evidence"), env.home());
    for task in ["T-local-9rvz82w103m9", "T-local-f58etdp950bn"] {
        let reply = env.json(&["results", task, "--json"]);
        assert!(reply["data"]["warnings"].is_null(), "{task}: {reply:#}");
        insta::assert_snapshot!(task, format!("{:#}", reply["data"]["metadata"]));
    }
}

fn compat() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compat")
}

fn versions() -> Vec<PathBuf> {
    let versions: Vec<PathBuf> = fs::read_dir(compat()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!versions.is_empty());
    versions
}

/// Copies a home, private again: git keeps no such modes.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    fs::set_permissions(to, fs::Permissions::from_mode(0o700)).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (path, copied) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &copied);
        } else {
            fs::copy(&path, &copied).unwrap();
            fs::set_permissions(&copied, fs::Permissions::from_mode(0o600)).unwrap();
        }
    }
}
