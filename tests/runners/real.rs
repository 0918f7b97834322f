//! The real test runners, in small projects of `tests/runners`: what is read from
//! their output is what they say in a form made for machines.
//!
//! `scripts/runners` installs those that do not come with their language.

#![allow(clippy::disallowed_methods, reason = "tests start programs and read the environment themselves")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use serde_json::Value;

use super::corpus::read;
use super::tests::{Framework, TestRun};

#[path = "../support/installed.rs"]
mod installed;
use installed::installed;

/// Passed, failed, skipped.
type Counts = (u64, u64, u64);

/// A copy of one project, with the runners on its `PATH`.
struct Project {
    dir: tempfile::TempDir,
    path: String,
}

/// A command that ran, and all that it printed.
struct Ran {
    command: String,
    exit_code: i64,
    text: String,
}

impl Project {
    fn new(name: &str, programs: &[PathBuf]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/runners").join(name);
        copy(&project, dir.path());
        let own = programs.iter().map(|program| program.parent().unwrap().to_owned());
        let path = env::join_paths(own.chain(env::split_paths(&env::var_os("PATH").unwrap()))).unwrap();
        Self { dir, path: path.into_string().unwrap() }
    }

    fn of_vitest() -> Self {
        let vitest = installed("vitest");
        let project = Self::new("vitest", &[installed("node"), vitest.clone()]);
        // Imported by the tests; a folder of its own keeps its cache out of the shared one.
        let modules = project.dir.path().join("node_modules");
        fs::create_dir(&modules).unwrap();
        let package = vitest.parent().unwrap().parent().unwrap().join("vitest");
        std::os::unix::fs::symlink(package, modules.join("vitest")).unwrap();
        project
    }

    fn run(&self, command: &str) -> Ran {
        let here = self.dir.path();
        let mut shell = Command::new("/bin/bash");
        shell.args(["-c", &format!("exec 2>&1; {command}")]).current_dir(here).env_clear();
        shell.envs(
            ["HOME", "CARGO_HOME", "RUSTUP_HOME"].iter().filter_map(|name| Some((name, env::var_os(name)?))),
        );
        shell.env("PATH", &self.path).env("TMPDIR", here).env("CARGO_TARGET_DIR", here.join("target"));
        shell.env("CARGO_NET_OFFLINE", "true").env("npm_config_cache", here.join(".npm"));
        shell.env("npm_config_update_notifier", "false").env("PYTHONDONTWRITEBYTECODE", "1");
        let output = shell.stdin(Stdio::null()).output().unwrap();
        Ran {
            command: command.to_owned(),
            exit_code: i64::from(output.status.code().unwrap()),
            text: String::from_utf8_lossy(&output.stdout).into_owned(),
        }
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.dir.path().join(name), text).unwrap();
    }

    fn report(&self, name: &str) -> String {
        fs::read_to_string(self.dir.path().join(name)).unwrap()
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.report(name)).unwrap()
    }
}

impl Ran {
    #[track_caller]
    fn read(&self) -> TestRun {
        let mut runs = read(&self.command, Some(self.exit_code), &self.text);
        assert_eq!(runs.len(), 1, "{} ended with {}:\n{}", self.command, self.exit_code, self.text);
        runs.remove(0)
    }

    #[track_caller]
    fn check(&self, framework: Framework, (passed, failed, skipped): Counts, failing: &[&str]) {
        let run = self.read();
        let told = format!("{}:\n{}\n{run:#?}", self.command, self.text);
        assert_eq!((run.framework, counts(&run)), (framework, (passed, failed, skipped)), "{told}");
        assert_eq!(run.failing, failing, "{told}");
        assert!(run.complete && run.duration_ms.is_some(), "{told}");
        self.check_cut(&run);
    }

    /// Whatever of the output is missing at its end: the counts are those of the
    /// whole run, or are said not to be.
    #[track_caller]
    fn check_cut(&self, whole: &TestRun) {
        let fine = self.text.len().saturating_sub(400);
        let cuts = self.text.char_indices().filter(|(at, c)| *at >= fine || *c == '\n');
        for (at, _) in cuts {
            for run in read(&self.command, Some(self.exit_code), &self.text[..at]) {
                assert!(
                    run.counts == whole.counts || !run.complete,
                    "cut at {at}: {}\n{run:#?}",
                    &self.text[..at]
                );
            }
        }
    }

    #[track_caller]
    fn check_empty(&self, framework: Framework) {
        let run = self.read();
        assert_eq!(
            (run.framework, counts(&run), run.failing.len()),
            (framework, (0, 0, 0), 0),
            "{}\n{}",
            self.command,
            self.text
        );
    }
}

fn counts(run: &TestRun) -> Counts {
    let counts = run.counts.unwrap();
    assert_eq!(counts.total, counts.passed + counts.failed + counts.skipped);
    (counts.passed, counts.failed, counts.skipped)
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            fs::create_dir_all(&target).unwrap();
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// The sum of an attribute over the outermost suites of a JUnit report.
fn attribute(report: &str, element: &str, name: &str) -> u64 {
    let opening = format!("<{element} ");
    let assigned = format!(" {name}=\"");
    let tags = report.split(&opening).skip(1).filter_map(|rest| rest.split('>').next());
    let value = |tag: &str| format!(" {tag}").split(&assigned).nth(1)?.split('"').next()?.parse::<u64>().ok();
    tags.filter_map(value).sum()
}

/// Tests of which none runs.
const IGNORED: &str = "#[test]\n#[ignore]\nfn a() {}\n#[test]\n#[ignore]\nfn b() {}\n";
const SKIPPED: &str = "test.skip('a', () => {});\ntest.skip('b', () => {});\ntest.todo('c');\n";

#[test]
fn cargo_test_is_read_as_it_ran() {
    let project = Project::new("cargo", &[]);
    let all = (5, 1, 1);
    let failing = ["tests::breaks"];
    project.run("cargo test --no-fail-fast").check(Framework::CargoTest, all, &failing);
    project.run("cargo test --no-fail-fast --color always -q").check(Framework::CargoTest, all, &failing);
    // Prints of tests between the lines, one of them a result line that is none.
    project.run("bash -c 'cargo test --no-fail-fast -- --nocapture'").check(
        Framework::CargoTest,
        all,
        &failing,
    );
    project.run("cargo test --test outside").check(Framework::CargoTest, (2, 0, 0), &[]);
    project.run("cargo test matches_nothing").check_empty(Framework::CargoTest);
    project.write("tests/skipped.rs", IGNORED);
    project.run("cargo test --test skipped").check(Framework::CargoTest, (0, 0, 2), &[]);
    fs::remove_file(project.dir.path().join("tests/skipped.rs")).unwrap();
    let tail = project.run("cargo test --no-fail-fast 2>&1 | tail -n 4").read();
    assert!(!tail.complete, "{tail:?}");
    fs::write(project.dir.path().join("run_tests"), "#!/bin/sh\nexec cargo test --no-fail-fast\n").unwrap();
    project.run("chmod +x run_tests");
    project.run("./run_tests").check(Framework::CargoTest, all, &failing);
    fs::write(project.dir.path().join("src/lib.rs"), "fn broken( {}\n").unwrap();
    let broken = project.run("cargo test").read();
    assert!(broken.counts.is_none() && !broken.complete, "{broken:?}");
}

#[test]
fn nextest_is_read_as_it_ran() {
    let project = Project::new("cargo", &[]);
    let check = |command: &str| {
        let ran = project.run(command);
        let report = project.report("target/nextest/default/junit.xml");
        let total = |name| attribute(&report, "testsuites", name);
        let failed = total("failures") + total("errors");
        assert_eq!((total("tests"), failed), (5, 1), "{report}");
        // Its report leaves out what it skips.
        ran.check(Framework::Nextest, (total("tests") - failed, failed, 1), &["sample tests::breaks"]);
    };
    check("cargo nextest run --no-fail-fast");
    check("cargo nextest run --no-fail-fast --color always --no-capture");
    project.run("cargo nextest run outside_").check(Framework::Nextest, (2, 0, 4), &[]);
    // It counts as skipped what it was not asked for.
    project.run("cargo nextest run matches_nothing").check(Framework::Nextest, (0, 0, 6), &[]);
    project.write("tests/skipped.rs", IGNORED);
    project.run("cargo nextest run --test skipped").check(Framework::Nextest, (0, 0, 2), &[]);
    project.run("cargo nextest run --test skipped --no-tests=pass").check(Framework::Nextest, (0, 0, 2), &[]);
}

#[test]
fn pytest_is_read_as_it_ran() {
    let project = Project::new("python", &[installed("pytest")]);
    let failing = ["test_sample.py::Sample::test_breaks", "test_sample.py::Sample::test_fails"];
    let check = |command: &str| {
        let ran = project.run(&format!("{command} --junitxml=report.xml"));
        let report = project.report("report.xml");
        let total = |name| attribute(&report, "testsuite", name);
        let (failed, skipped) = (total("failures") + total("errors"), total("skipped"));
        let counts = (total("tests") - failed - skipped, failed, skipped);
        assert_eq!(counts, (3, 2, 2), "{report}");
        ran.check(Framework::Pytest, counts, &failing);
    };
    check("python -m pytest");
    check("python -m pytest -q -s --color=yes");
    check("timeout 60 python -m pytest -v --tb=short");
    project.run("python -m pytest -k test_adds").check(Framework::Pytest, (3, 0, 0), &[]);
    project.run("python -m pytest -k matches_nothing").check_empty(Framework::Pytest);
    project.run("python -m pytest -k test_waits").check(Framework::Pytest, (0, 0, 1), &[]);
    let stopped = project.run("python -m pytest -x").read();
    assert!(counts(&stopped).1 == 1 && !stopped.complete, "{stopped:?}");
    // Without its counts, by a mark for each test.
    for (quiet, all) in [
        ("python -m pytest -qq", (3, 2, 2)),
        ("python -m pytest -q --tb=no -q | tail -20", (3, 2, 2)),
        ("python -m pytest -qq -k test_adds --color=yes", (3, 0, 0)),
    ] {
        let ran = project.run(quiet);
        let run = ran.read();
        assert_eq!(
            (counts(&run), run.failing.len() as u64, run.complete),
            (all, all.1, true),
            "{}",
            ran.text
        );
        ran.check_cut(&run);
    }
    let named = project.run("python -m pytest -qqx").read();
    assert_eq!((named.counts, named.failing.len(), named.complete), (None, 1, false));
    for cut in [
        "python -m pytest | head -5",
        "python -m pytest -qq --no-summary",
        "python -m pytest -qq -k test_adds | tail -1",
        "python -m pytest -qq -k matches_nothing",
        "python -m pytest >/dev/null",
    ] {
        let run = project.run(cut).read();
        assert!(run.counts.is_none() && !run.complete, "{cut}: {run:?}");
    }
    let tail = project.run("python -m pytest | tail -3").read();
    assert_eq!((counts(&tail), tail.failing.len()), ((3, 2, 2), 2));
    // By way of a script.
    fs::write(project.dir.path().join("run_tests.sh"), "python -m pytest -v\n").unwrap();
    project.run("sh run_tests.sh").check(Framework::Pytest, (3, 2, 2), &failing);
    let xml = project.run("python -m pytest -qq --junitxml=/dev/stdout -k test_adds --no-summary").read();
    assert_eq!(counts(&xml), (3, 0, 0));
}

#[test]
fn unittest_is_read_as_it_ran() {
    let project = Project::new("python", &[]);
    let report: Value = serde_json::from_str(&project.run("python3 report.py").text).unwrap();
    let count = |name: &str| report[name].as_u64().unwrap();
    let counts = (count("passed"), count("failed"), count("skipped"));
    assert_eq!(counts, (3, 2, 2));
    let failing =
        ["test_breaks (test_sample.Sample.test_breaks)", "test_fails (test_sample.Sample.test_fails)"];
    for command in ["python3 -m unittest", "python3 -m unittest -v", "python3 -m unittest discover -s . -b"] {
        project.run(command).check(Framework::Unittest, counts, &failing);
    }
    fs::write(
        project.dir.path().join("run_tests.py"),
        "import unittest\nfrom test_sample import *\nunittest.main()\n",
    )
    .unwrap();
    for command in
        ["python3 run_tests.py -b", "python3 run_tests.py -v -b", "cd . && python3 -B run_tests.py -b"]
    {
        project.run(command).check(Framework::Unittest, counts, &failing);
    }
    let first = project.run("python3 -m unittest -f").read();
    assert!(!first.complete, "{first:?}");
    project.run("python3 -m unittest test_sample.Other").check(Framework::Unittest, (1, 0, 0), &[]);
    project.run("python3 -m unittest -k matches_nothing").check_empty(Framework::Unittest);
    for all in ["-k test_waits", "-k test_waits -v", "-v -k test_waits -k test_known"] {
        let skipped = 1 + u64::from(all.contains("known"));
        project.run(&format!("python3 -m unittest {all}")).check(Framework::Unittest, (0, 0, skipped), &[]);
    }
}

#[test]
fn jest_is_read_as_it_ran() {
    let project = Project::new("jest", &[installed("node"), installed("jest")]);
    let check = |command: &str| {
        let ran = project.run(command);
        let report = project.json("report.json");
        let count = |name: &str| report[name].as_u64().unwrap();
        let skipped = count("numPendingTests") + count("numTodoTests");
        let counts = (count("numPassedTests"), count("numFailedTests"), skipped);
        assert_eq!(counts, (3, 1, 2), "{report}");
        ran.check(Framework::Jest, counts, &["sums › breaks"]);
    };
    check("jest --json --outputFile=report.json");
    check("jest --json --outputFile=report.json --verbose --colors");
    check("npm test -- --json --outputFile=report.json");
    let bail = project.run("jest --bail -i").read();
    assert!(!bail.complete, "{bail:?}");
    project.run("jest other").check(Framework::Jest, (1, 0, 0), &[]);
    project.run("jest matches_nothing").check_empty(Framework::Jest);
    // It counts as skipped what it was not asked for.
    project.run("jest -t matches_nothing").check(Framework::Jest, (0, 0, 6), &[]);
    project.write("skipped.test.js", SKIPPED);
    project.run("jest skipped.test.js").check(Framework::Jest, (0, 0, 3), &[]);
}

#[test]
fn vitest_is_read_as_it_ran() {
    let project = Project::of_vitest();
    let check = |command: &str| {
        let ran = project
            .run(&format!("{command} --reporter=default --reporter=json --outputFile.json=report.json"));
        let report = project.json("report.json");
        let count = |name: &str| report[name].as_u64().unwrap();
        let skipped = count("numPendingTests") + count("numTodoTests");
        let counts = (count("numPassedTests"), count("numFailedTests"), skipped);
        assert_eq!(counts, (3, 1, 2), "{report}");
        ran.check(Framework::Vitest, counts, &["sample.test.js > sums > breaks"]);
    };
    check("vitest run");
    check("NO_COLOR=1 vitest run");
    check("npm test --");
    // Nested by file and suite, or one after the other.
    for form in ["tap", "tap-flat"] {
        let tap = project.run(&format!("vitest run --reporter={form}")).read();
        assert_eq!(
            (counts(&tap), &tap.failing[..]),
            ((3, 1, 2), &["sample.test.js > sums > breaks".to_owned()][..])
        );
    }
    let json = project.run("vitest run --reporter=json").read();
    assert_eq!((json.counts, json.complete), (None, false));
    project.run("vitest run other").check(Framework::Vitest, (1, 0, 0), &[]);
    project.run("vitest run matches_nothing").check_empty(Framework::Vitest);
    // It counts as skipped what it was not asked for.
    project.run("vitest run -t matches_nothing").check(Framework::Vitest, (0, 0, 6), &[]);
    project.write("skipped.test.js", &format!("import {{ test }} from 'vitest';\n{SKIPPED}"));
    project.run("vitest run skipped.test.js").check(Framework::Vitest, (0, 0, 3), &[]);
}

#[test]
fn mocha_is_read_as_it_ran() {
    let project = Project::new("mocha", &[installed("node"), installed("mocha")]);
    project.run("mocha sample.test.js --reporter json --reporter-option output=report.json");
    let report = project.json("report.json");
    let count = |name: &str| report["stats"][name].as_u64().unwrap();
    let all = (count("passes"), count("failures"), count("pending"));
    assert_eq!(all, (3, 1, 2), "{report}");
    for command in
        ["mocha sample.test.js", "mocha sample.test.js --color", "mocha -R dot sample.test.js", "npm test"]
    {
        project.run(command).check(Framework::Mocha, all, &["sums > breaks"]);
    }
    project.run("mocha sample.test.js -g alone").check(Framework::Mocha, (1, 0, 0), &[]);
    project.run("mocha sample.test.js -g matches_nothing").check_empty(Framework::Mocha);
    project.write("skipped.test.js", "it.skip('a', () => {});\nit('b');\n");
    project.run("mocha skipped.test.js").check(Framework::Mocha, (0, 0, 2), &[]);
    let json = project.run("mocha -R json sample.test.js").read();
    assert_eq!((json.counts, json.complete), (None, false));
    let tap = project.run("mocha -R tap sample.test.js").read();
    assert_eq!(counts(&tap), all);
    let xml = project.run("mocha -R xunit sample.test.js").read();
    assert_eq!(counts(&xml), all);
}

#[test]
fn nodes_own_runner_is_read_as_it_ran() {
    // The one of this machine, and a newer one with another default form.
    for programs in [vec![], vec![installed("node")]] {
        let project = Project::new("node", &programs);
        let all = (3, 1, 2);
        for reporter in ["spec", "tap"] {
            let both = format!(
                "node --test --test-reporter={reporter} --test-reporter-destination=stdout --test-reporter=junit --test-reporter-destination=report.xml"
            );
            let ran = project.run(&both);
            let report = project.report("report.xml");
            let failed = report.matches("<failure ").count() as u64;
            let skipped = report.matches("<skipped ").count() as u64;
            let passed = report.matches("<testcase ").count() as u64 - failed - skipped;
            assert_eq!((passed, failed, skipped), all, "{report}");
            ran.check(Framework::Node, all, &["breaks"]);
        }
        project.run("node --test").check(Framework::Node, all, &["breaks"]);
        project.run("node sample.test.js").check(Framework::Node, all, &["breaks"]);
        project.run("FORCE_COLOR=1 node --test").check(Framework::Node, all, &["breaks"]);
        let xml = project.run("node --test --test-reporter=junit").read();
        assert_eq!(counts(&xml), all);
        let alone = project.run("node --test --test-name-pattern alone").read();
        assert_eq!((counts(&alone).0, counts(&alone).1), (1, 0));
        // The older one counts as skipped what it was not asked for.
        let none = project.run("node --test --test-name-pattern matches_nothing").read();
        assert_eq!((counts(&none).0, counts(&none).1, none.complete), (0, 0, true));
        for left_out in ["skip: true", "todo: true"] {
            let test = format!("require('node:test').test('a', {{ {left_out} }}, () => {{}});\n");
            project.write("skipped.test.js", &test);
            project.run("node --test skipped.test.js").check(Framework::Node, (0, 0, 1), &[]);
            project.run("node skipped.test.js").check(Framework::Node, (0, 0, 1), &[]);
        }
    }
}
