//! Tests in a line where each start waits for a success of the one before: `cargo test -p a && cargo test -p b`.

use super::detect::{Detected, Runs, Start};
use super::tally::Tally;
use super::{Framework, Reading, Relation, TestRun};

impl Reading<'_> {
    /// Those of `starts`, all of one framework, that ran: where a failure ends the chain, as many as
    /// have a summary.
    pub(super) fn begun<'a, 'b>(&self, starts: &'a [&'b Start], found: &[Tally]) -> &'a [&'b Start] {
        let runs = |start: &&Start| !start.repeats;
        let passed = |tally: &Tally| tally.failed == 0 && tally.passed > 0;
        let failed = |tally: &Tally| tally.failed > 0 || tally.said.is_some();
        // Else one that came after it may have died without a word.
        let stopped =
            found.split_last().is_some_and(|(last, before)| failed(last) && before.iter().all(passed));
        let is_chain = self.is_chain() && self.exit_code.is_some_and(|code| code != 0);
        match is_chain && stopped && found.len() < starts.len() && starts.iter().all(runs) {
            true => &starts[..found.len()],
            false => starts,
        }
    }

    /// What ran before a script that did not begin: the last tests failed, and the script does not say
    /// that it was started.
    pub(super) fn stopped_before_a_script(&self) -> Option<Vec<TestRun>> {
        let starts = &self.detected.starts;
        let at = starts.iter().position(|start| start.runs == Runs::Any).filter(|at| *at > 0)?;
        let (named, scripts) = starts.split_at(at);
        if !self.is_chain() || self.exit_code == Some(0) || self.any_begins(scripts) {
            return None;
        }
        let named = Detected { starts: named.to_vec(), ..self.detected.clone() };
        let runs = Reading { detected: &named, ..*self }.all();
        let failed = |run: &TestRun| run.counts.is_some_and(|counts| counts.failed > 0);
        runs.last().is_some_and(failed).then_some(runs)
    }

    /// One script and frameworks by their names, all of which passed: the summaries of these are theirs,
    /// where there are as many, and others are the script's.
    pub(super) fn went_through(&self) -> Option<Vec<TestRun>> {
        let detected = self.detected;
        if !self.is_chain() || !detected.owns_exit || self.exit_code != Some(0) {
            return None;
        }
        let (scripts, named): (Vec<&Start>, Vec<&Start>) =
            detected.starts.iter().partition(|start| start.runs == Runs::Any);
        let [script] = scripts.as_slice() else { return None };
        let of = |starts: Vec<Start>| Detected { starts, ..detected.clone() };
        let named = of(named.into_iter().cloned().collect());
        let of_named = Reading { detected: &named, ..*self }.all();
        let has_others = |start: &Start| match start.runs {
            Runs::Framework(framework) => {
                let own = named.starts.iter().filter(|start| start.is_of(framework)).count();
                self.parsed(framework, &start.scope).len() != own
            }
            Runs::Any | Runs::Perhaps => true,
        };
        if named.starts.iter().any(has_others) {
            return None;
        }
        let is_own = |framework: Framework| of_named.iter().any(|run| run.framework == framework);
        let script = of(vec![(*script).clone()]);
        let mut of_script = Reading { detected: &script, ..*self }.by_output(script.starts.first()?);
        of_script.retain(|run| !is_own(run.framework));
        let is_whole = of_named.len() == named.starts.len() && of_named.iter().all(|run| run.complete);
        (is_whole && !of_script.is_empty()).then(|| of_named.into_iter().chain(of_script).collect())
    }

    /// Whether each of its starts waits for the one before, and all that they print is seen.
    fn is_chain(&self) -> bool {
        let Detected { starts, pipes, shown, hidden, beside, branches, at_once, .. } = self.detected;
        let seen = pipes.is_empty() && !shown.any && !hidden && !beside;
        seen && !branches && !at_once && starts.len() > 1 && starts[1..].iter().all(|start| start.waits)
    }
}

/// Whether no two of them have a test in common.
pub(super) fn are_apart(starts: &[&Start]) -> bool {
    let mut all = starts.iter().enumerate();
    all.all(|(at, start)| {
        !start.repeats
            && starts[at + 1..].iter().all(|later| later.scope.relation(&start.scope) == Relation::Apart)
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::evidence::{Changed, Gathered};
    use crate::model::Timestamp;

    /// The tests that are left to fail after commands with their exit codes, and whether an error is.
    fn left(commands: &[(&str, i64, &str)]) -> (Vec<String>, bool) {
        let mut gathered = Gathered::new(Path::new("/home/dev/shop"), Path::new("/home/dev/shop"));
        for (line, exit_code, text) in commands {
            gathered.note_only_command(line, Some(*exit_code), text, true, Timestamp::from_millis(0));
        }
        let (tests, errors) = gathered.finish(Changed::Unknown, None);
        (tests.unwrap().failed_tests, errors.is_some())
    }

    #[track_caller]
    fn check(commands: &[(&str, i64, &str)], expected: &[&str]) {
        let (failing, has_error) = left(commands);
        assert_eq!(failing, expected, "{commands:?}");
        assert_eq!(has_error, !expected.is_empty(), "{commands:?}");
    }

    fn pytest(name: Option<&str>) -> String {
        name.map_or_else(
            || "..   [100%]\n2 passed in 0.01s\n".to_owned(),
            |name| format!("=== short test summary info ===\nFAILED {name} - assert 1 == 2\n1 failed, 1 passed in 0.02s\n"),
        )
    }

    const A: &str = "t/a/test_a.py::x";
    const B: &str = "t/b/test_b.py::z";

    #[test]
    fn a_chain_stops_at_the_first_that_fails() {
        let line = "pytest -q t/a && pytest -q t/b";
        let (red_a, red_b, green) = (pytest(Some(A)), pytest(Some(B)), pytest(None));
        let red = (line, 1, red_a.as_str());
        check(&[red], &[A]);
        check(&[red, ("pytest -q t/a", 0, &green)], &[]);
        check(&[red, ("pytest -q t/b", 0, &green)], &[A]);
        let second = format!("{green}{red_b}");
        check(&[red, (line, 1, &second)], &[B]);
        check(&[red, (line, 1, &second), ("pytest -q t/b", 0, &green)], &[]);
        check(&[red, (line, 1, &second), ("pytest -q t/a", 0, &green)], &[B]);
        // What does not wait may be the one that was seen.
        for line in ["pytest -q t/a; pytest -q t/b", "pytest -q t/a || pytest -q t/b"] {
            check(&[(line, 1, &red_a)], &[A]);
            check(&[(line, 1, &red_a), ("pytest -q t/a", 0, &green)], &[A]);
        }
    }

    const JEST: &str = "Test Suites: 1 passed, 1 total\nTests:       2 passed, 2 total\n";
    const HEADING: &str = "\n> shop@1.0.0 test\n> jest\n\n";

    #[test]
    fn a_script_that_did_not_begin_has_no_part_in_it() {
        let (red, green) = (pytest(Some(A)), pytest(None));
        check(&[("pytest -q && npm test", 1, &red), ("pytest -q", 0, &green)], &[]);
        check(&[("pytest -q && npm test", 1, &red), ("npm test", 0, &format!("{HEADING}{JEST}"))], &[A]);
        check(&[("pytest -q; npm test", 1, &red), ("npm test", 0, &format!("{HEADING}{JEST}"))], &[A]);
    }

    #[test]
    fn a_chain_that_went_through_passed_in_each_part() {
        let (red, green) = (pytest(Some(A)), pytest(None));
        let failed = "FAIL ./a.test.js\n  ● m\n\n    no\n\nTest Suites: 1 failed, 1 total\nTests:       1 failed, 1 passed, 2 total\n";
        let before =
            [("pytest -q", 1, red.as_str()), ("cd web && npm test", 1, &format!("{HEADING}{failed}"))];
        let line = "(cd web && npm test) && pytest -q";
        let after =
            |line, code, text: &str, left: &[&str]| check(&[before[0], before[1], (line, code, text)], left);
        after(line, 0, &format!("{HEADING}{JEST}{green}"), &[]);
        after(line, 1, &format!("{HEADING}{JEST}{red}"), &[A, "m"]);
        after("npm test && pytest -q", 0, &format!("{HEADING}{JEST}{green}"), &["m"]);
        // Whose summary each is cannot be told, though all succeeded.
        let twice = format!("{HEADING}{JEST}{green}{green}");
        let names = vec![A.to_owned(), "m".to_owned()];
        assert_eq!(left(&[before[0], before[1], (line, 0, &twice)]), (names, false));
    }

    #[test]
    fn a_part_that_died_without_a_word_is_not_passed_over() {
        let mut gathered = Gathered::new(Path::new("/home/dev/shop"), Path::new("/home/dev/shop"));
        let line = "pytest -q t/a && pytest -q t/b";
        gathered.note_only_command(line, Some(3), &pytest(None), true, Timestamp::from_millis(0));
        let tests = gathered.finish(Changed::Unknown, None).0.unwrap();
        assert_eq!((tests.passed, tests.complete), (None, false));
    }
}
