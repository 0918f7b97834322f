//! What the real pytest collects: a test that a run of all does not find has not passed in it,
//! whatever settings are the reason.

#![allow(clippy::disallowed_methods, reason = "tests start programs themselves")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::runners::installed;
use super::tests::Origin;
use super::{Changed, Tests};
use crate::model::Timestamp;

/// No two of one name: what pytest calls a file depends on where it starts.
const FILES: [&str; 9] = [
    "test_top.py",
    "tests/test_a.py",
    "tests/b_test.py",
    "tests/check.py",
    "tests/web/test_c.py",
    "web/test_d.py",
    "web/legacy/test_e.py",
    "build/test_f.py",
    "old.tmp/test_g.py",
];

/// The output of pytest in a folder of a project.
fn collected(root: &Path, folder: &str, place: &str) -> String {
    let mut pytest = Command::new(installed("pytest"));
    pytest.args(["-B", "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]);
    pytest.args(Some(place).filter(|place| !place.is_empty()));
    let output = pytest.current_dir(root.join(folder)).stdin(Stdio::null()).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Whether a test of `file` that failed by itself is still told to fail after `whole` passed.
fn still_fails(root: &Path, file: &str, whole: &str) -> bool {
    let root = root.to_str().unwrap();
    let mut tests = Tests::new(Origin::new(root, root));
    let at = Timestamp::from_millis(0);
    let red = format!("==== short test summary info ====\nFAILED {file}::test_x - no\n1 failed in 0.1s\n");
    tests.note_command("1", &format!("pytest -q {file}"), Some(1), &red, at);
    tests.note_command("2", whole, Some(0), "9 passed in 0.1s\n", at);
    !tests.finish(Changed::Unknown).unwrap().failed_tests.is_empty()
}

#[test]
fn what_pytest_does_not_collect_has_not_passed() {
    for (name, text) in [
        ("pytest.ini", "[pytest]\naddopts = --ignore=web -ra\n"),
        ("pytest.ini", "[pytest]\naddopts = --ignore tests/web --ignore-glob=*/legacy\n"),
        ("pytest.ini", "[pytest]\naddopts = --ignore-glob=*_test.py --ignore-glob=./test_t*\n"),
        ("pytest.ini", "[pytest]\nnorecursedirs = web *.tmp\n"),
        ("pytest.ini", "[pytest]\nnorecursedirs = tests/web\n"),
        ("conftest.py", "collect_ignore = [\n    'web',\n    \"tests/test_a.py\",\n]\n"),
        ("web/conftest.py", "collect_ignore_glob = ['leg*']  # old\n"),
        (
            "conftest.py",
            "def pytest_ignore_collect(collection_path): return 'web' in str(collection_path) or None\n",
        ),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        for (file, text) in FILES.map(|file| (file, "def test_x(): pass\n")).iter().chain([&(name, text)]) {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), text).unwrap();
        }
        for (folder, place) in [("", ""), ("", "tests"), ("web", ""), ("", "--ignore=web/legacy")] {
            let whole = format!("cd ./{folder} && pytest -q {place}");
            let found = collected(root, folder, place);
            for file in FILES {
                let is_found = found.contains(&format!("{}::test_x", file.rsplit('/').next().unwrap()));
                let fails = still_fails(root, file, &whole);
                assert!(is_found || fails, "{file} passed in `{whole}`, with {text}\n{found}");
                // Where there is no doubt, it did.
                let plain = file == "tests/test_a.py" && !text.contains("def ");
                assert!(!(plain && is_found && fails), "{file} failed in `{whole}`, with {text}\n{found}");
            }
        }
    }
}
