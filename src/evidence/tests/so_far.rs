//! The tests of a command that still runs, for those who look on.

use super::chain::are_apart;
use super::detect::{Detected, Runs, Start, detect};
use super::printed::{Reader, is_of_tests};
use super::{BY_OUTPUT, Changed, Framework, Tests, tap};
use crate::evidence::lines::lines;
use crate::model::Timestamp;

/// What a command that still runs has told of its tests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SoFar {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl SoFar {
    /// By the summaries in all that it printed.
    pub(crate) fn of(command: &str, text: &str) -> Self {
        let mut tests = Tests::default();
        tests.note_command("", command, None, text, Timestamp::from_millis(0));
        let told = tests.finish(Changed::Unknown).and_then(|told| told.passed.zip(told.failed));
        // What may overlap is not added up here either: nothing is known of it yet.
        told.map_or_else(Self::default, |(passed, failed)| Self { passed, failed })
    }
}

/// How many tests a command has said to pass, where it has a line for each.
///
/// Every line is read once, when it comes. What its tests came to at last, its summary tells.
#[derive(Debug)]
pub(crate) struct Passing {
    forms: Vec<Form>,
    /// Whether it is a script that may run any: then these are guesses, of which one is right.
    is_script: bool,
}

#[derive(Debug)]
struct Form {
    framework: Framework,
    reader: Reader,
    passed: u64,
}

impl Passing {
    /// Of a command that may run a test twice, nothing is counted.
    pub(crate) fn of(command: &str) -> Self {
        let Some(detected) = detect(command) else { return Self { forms: Vec::new(), is_script: false } };
        let is_alone = |framework: &Framework| is_of_tests(&detected, *framework, command);
        let forms = frameworks(&detected).into_iter().filter(is_alone);
        let forms = forms.map(|framework| Form { framework, reader: Reader::new(framework), passed: 0 });
        let is_script = detected.starts.iter().any(|start| start.runs == Runs::Any);
        Self { forms: forms.collect(), is_script }
    }

    /// Reads lines that came since the last.
    pub(crate) fn read(&mut self, text: &str) {
        for line in lines(text) {
            self.forms.iter_mut().for_each(|form| form.line(&line));
        }
    }

    pub(crate) fn count(&self) -> u64 {
        let each = self.forms.iter().map(|form| form.passed);
        if self.is_script { each.max().unwrap_or(0) } else { each.sum() }
    }
}

impl Form {
    fn line(&mut self, line: &str) {
        let passes = match self.framework {
            Framework::Tap => tap::passes(line),
            Framework::Go => line.trim_start().starts_with("--- PASS: "),
            // The list at its end names them once more.
            Framework::Pytest if line.starts_with("PASSED ") => false,
            _ => self.reader.line(line).is_some_and(|(_, passed)| passed),
        };
        self.passed += u64::from(passes);
    }
}

/// What a command starts, each once, where no test is in two of them.
fn frameworks(detected: &Detected) -> Vec<Framework> {
    let starts: Vec<&Start> = detected.starts.iter().collect();
    if !are_apart(&starts) {
        return Vec::new();
    }
    let mut found: Vec<Framework> = Vec::new();
    for start in starts {
        match start.runs {
            Runs::Framework(framework) if !found.contains(&framework) => found.push(framework),
            Runs::Framework(_) => {}
            Runs::Any if detected.starts.len() == 1 => return BY_OUTPUT.to_vec(),
            Runs::Any | Runs::Perhaps => return Vec::new(),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(command: &str, text: &str, expected: u64) {
        let mut passing = Passing::of(command);
        // However it comes.
        text.split_inclusive('\n').for_each(|line| passing.read(line.trim_end_matches('\n')));
        assert_eq!(passing.count(), expected, "{command}");
        assert_eq!(SoFar::of(command, text).failed, 0, "{command}");
    }

    const CARGO: &str = "     Running unittests src/lib.rs (target/debug/deps/a)\n\nrunning 3 tests\ntest a ... ok\ntest b ... ignored\ntest c ... ok\n";
    const MOCHA: &str = "\n  sums\n    ✔ adds\n    1) breaks\n    ✔ adds again (51ms)\n    - waits\n";

    #[test]
    fn a_test_that_has_a_line_of_its_own_is_counted_when_it_passes() {
        check("cargo test", CARGO, 2);
        check(
            "cargo nextest run",
            "    Starting 3 tests across 1 binary\n        PASS [   0.009s] (1/3) a tests::x\n        FAIL [   0.009s] (2/3) a tests::y\n        PASS [   0.009s] (3/3) a tests::z\n",
            2,
        );
        let pytest = "==== test session starts ====\ncollected 3 items\n\na.py::x PASSED   [ 33%]\na.py::y FAILED   [ 66%]\na.py::z PASSED   [100%]\n";
        check("pytest -v", pytest, 2);
        check("pytest -v -rA", &format!("{pytest}==== short test summary info ====\nPASSED a.py::x\n"), 2);
        check("pytest -v -n 2", "[gw0] [ 50%] PASSED a.py::x \n[gw1] [100%] PASSED a.py::y \n", 2);
        let unittest = "test_a (t.T.test_a) ... ok\ntest_b (t.T.test_b) ... skipped 'slow'\ntest_c (t.T.test_c) ... ok\n";
        check("python3 -m unittest -v", unittest, 2);
        check("npx mocha", MOCHA, 2);
        check("node --test", "▶ g\n  ✔ a (1.2ms)\n  ✔ b (0.1ms)\n✔ g (2.0ms)\n﹣ c (0.1ms) # SKIP\n", 2);
        check(
            "npx jest --verbose",
            "PASS ./a.test.js\n  sums\n    ✓ adds (2 ms)\n    ○ skipped b\n    ✓ c\n",
            2,
        );
        check("npx vitest run --reporter=verbose", " ✓ a.test.js > sums > adds 1ms\n ↓ a.test.js > b\n", 1);
        check("go test -v ./...", "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n", 1);
        check("bats a.bats", "ok 1 a\nok 2 b # skip\nok 3 c\n", 2);
    }

    #[test]
    fn a_script_is_read_in_whatever_form_it_prints() {
        check("npm test", MOCHA, 2);
        check("make test", CARGO, 2);
    }

    #[test]
    fn of_marks_and_of_what_may_overlap_nothing_is_counted() {
        check("pytest -q", "..s.\n", 0);
        check("npx vitest run", " ✓ a.test.js (3 tests) 5ms\n", 0);
        check("cargo test a; cargo test b", CARGO, 0);
        check("cargo test -- --nocapture", CARGO, 0);
        check("cargo test -p a && cargo test -p b", &CARGO.repeat(2), 4);
        check("cat log", CARGO, 0);
    }
}
