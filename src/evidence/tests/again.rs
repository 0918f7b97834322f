//! A command line that is run once more: the same question, whose new answer takes the place of the old.
//!
//! The same words, pipes and all, let the same of the tests' words through. So a line that told of a
//! failure, and that now shows as many summaries of which none does, was mended, whether or not it can be
//! told which of its parts each summary is of, and whether or not a filter hides others.

use super::detect::Start;
use super::scope::Scope;
use super::settled::Settled;
use super::tally::Tally;
use super::{Counts, Framework, Reading, TestRun};
use crate::evidence::errors::succeeded;
use crate::evidence::shell::{Command, End};

/// What the summaries of a run say, as far as they came through.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Seen {
    summaries: u64,
    counts: Counts,
    /// Whether they can be relied on: no pipe that lets only the first lines through, or other words
    /// than it read, stands between, and nothing else says that the run failed.
    is_plain: bool,
    /// Whether they are of several starts, and of which cannot be told.
    is_mixed: bool,
    /// What the exit code says beside them.
    settled: Settled,
}

impl Seen {
    pub(super) fn of(tally: &Tally, is_plain: bool, is_mixed: bool) -> Self {
        let is_plain = is_plain && !tally.cut && !tally.unknown && tally.said.is_none();
        let summaries = tally.more.saturating_add(1);
        let (counts, is_mixed) = (tally.seen(), is_mixed || tally.mixed);
        Self { summaries, counts, is_plain, is_mixed, settled: Settled::Nothing }
    }

    /// Whether it passed, though nothing of it was seen.
    pub(super) fn is_settled(&self) -> bool {
        self.settled == Settled::Unseen
    }

    pub(super) fn counts(&self) -> Counts {
        self.counts
    }

    pub(super) fn has_passed(&self) -> bool {
        self.counts.passed > 0
    }

    pub(super) fn beside(self, settled: Settled) -> Self {
        Self { settled, ..self }
    }
}

impl Reading<'_> {
    /// What its exit code says of all its tests, or the words that it has for what they came to.
    pub(super) fn settled(&self) -> Settled {
        match (self.exit_code, self.detected.starts.as_slice()) {
            (Some(0), [start]) if self.detected.settled == Settled::Nothing && start.is_hidden => {
                self.told_of(start)
            }
            (Some(0), _) => self.detected.settled,
            _ => Settled::Nothing,
        }
    }

    /// `pytest >/dev/null && echo yes || echo no`, `pytest >/dev/null; echo $?`
    fn told_of(&self, start: &Start) -> Settled {
        let command = Command::parse(self.command);
        let told = succeeded(&command, self.text);
        let is_told = told.contains(&start.at) || command.end_of(start.at, &told) == End::Succeeded;
        if is_told && !start.repeats { Settled::Unseen } else { Settled::Nothing }
    }

    /// Whether `scope` is that of a whole line which started more than one.
    pub(super) fn is_of_many(&self, start: &Start, scope: &Scope) -> bool {
        start.repeats || (self.detected.starts.len() > 1 && scope.script() == Some(self.command))
    }
}

impl TestRun {
    /// Whether all that is seen of it passed.
    pub(crate) fn passed_in_sight(&self) -> bool {
        let Seen { counts, is_plain, .. } = self.seen;
        is_plain && counts.passed > 0 && counts.failed == 0 && self.failing.is_empty()
    }

    /// Whether something failed in it, or it is not known that nothing did.
    pub(super) fn may_have_failed(&self) -> bool {
        !self.failing.is_empty() || self.all_failures() != Some(0)
    }
}

/// What failed when a line ran before, by command and framework.
pub(super) struct Asked {
    pub(super) answered: Vec<(u64, Framework)>,
    pub(super) is_all: bool,
}

/// Which of `old`, the earlier runs of a line with the commands that they are of, `new` answers anew.
pub(super) fn asked(old: &[(u64, &TestRun)], new: &[TestRun]) -> Asked {
    let failed = old.iter().filter(|(_, run)| run.may_have_failed());
    let mut answered: Vec<(u64, Framework)> =
        failed.map(|(command, run)| (*command, run.framework)).collect();
    answered.dedup();
    let all = answered.len();
    answered.retain(|(command, framework)| {
        let old = old.iter().filter(|(of, run)| of == command && run.framework == *framework);
        let new: Vec<&TestRun> = new.iter().filter(|run| run.framework == *framework).collect();
        answers(&old.map(|(_, run)| *run).collect::<Vec<_>>(), &new)
    });
    Asked { is_all: all > 0 && answered.len() == all, answered }
}

/// Whether what failed in `old` is answered anew by `new`: the runs of one framework in one line, which
/// tell of as many now, and all that is seen of these passed.
fn answers(old: &[&TestRun], new: &[&TestRun]) -> bool {
    let summaries = |runs: &[&TestRun]| -> u64 { runs.iter().map(|run| run.seen.summaries).sum() };
    let mixed = old.iter().any(|run| run.seen.is_mixed && run.may_have_failed());
    // What each run asks for says more, where that is known.
    let is_unclear = mixed || new.iter().any(|run| run.seen.is_mixed || !run.complete);
    let is_settled = |settled: Settled| !new.is_empty() && new.iter().all(|run| run.seen.settled == settled);
    if is_settled(Settled::Unseen) {
        return new.iter().all(|run| !run.failed());
    }
    // A try that is not needed any more has no summary: the first has all the tests in it.
    let most = |runs: &[&TestRun]| runs.iter().map(|run| run.seen.counts.total).max();
    let as_many = summaries(new) >= summaries(old) || (is_settled(Settled::AtLast) && most(new) >= most(old));
    is_unclear && as_many && new.iter().all(|run| run.passed_in_sight())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::evidence::{Changed, Gathered};
    use crate::model::{Event, ItemStatus, Timestamp};

    /// The tests that are left to fail, and whether an error is, after commands with their exit codes.
    fn left(commands: &[(&str, Option<i64>, &str)]) -> (Vec<String>, bool) {
        let mut gathered = Gathered::new(Path::new("/home/dev/shop"), Path::new("/home/dev/shop"));
        for (item, (line, exit_code, text)) in commands.iter().enumerate() {
            let (item, command, exit_code) =
                (item.to_string(), format!("/bin/bash -lc '{line}'"), *exit_code);
            let status = ItemStatus::Completed;
            let ended = Event::CommandEnded { item, command, exit_code, output_bytes: 0, status };
            gathered.note(&ended, Some(text), Timestamp::from_millis(0));
        }
        let (tests, errors) = gathered.finish(Changed::Unknown, None);
        (tests.unwrap().failed_tests, errors.is_some())
    }

    /// The same line, red and then with `exit_code` and `text`: whether its tests and its error are told.
    #[track_caller]
    fn told(red: (&str, i64, &str), (exit_code, text): (Option<i64>, &str), expected: (bool, bool)) {
        let (line, code, before) = red;
        let (failing, has_error) = left(&[(line, Some(code), before), (line, exit_code, text)]);
        assert_eq!((!failing.is_empty(), has_error), expected, "{line}: {failing:?}\n{text}");
    }

    #[track_caller]
    fn check(red: (&str, i64, &str), then: (Option<i64>, &str), is_mended: bool) {
        told(red, then, (!is_mended, !is_mended));
    }

    const PYTEST: &str = "F.                                     [100%]\n=========== FAILURES ===========\n___________ test_x ___________\n\n    def test_x():\n>       assert X == 2\nE       assert 1 == 2\n\ntest_a.py:2: AssertionError\n=========== short test summary info ===========\nFAILED test_a.py::test_x - assert 1 == 2\n1 failed, 1 passed in 0.02s\n";
    const JEST: &str = "\n> shop@1.0.0 test\n> jest\n\nPASS ./a.test.js\n  ✓ m (2 ms)\n  ✓ n\n\nTest Suites: 1 passed, 1 total\nTests:       2 passed, 2 total\n";

    #[test]
    fn a_chain_that_stopped_at_its_first_tests_and_now_goes_through_has_none_left() {
        let line = "pytest -q && (cd web && npm test)";
        let red = (line, 1, PYTEST);
        check(red, (Some(0), &format!("..   [100%]\n2 passed in 0.01s\n{JEST}")), true);
        // What comes after may fail of something else.
        let broken =
            JEST.replace("✓ m", "✕ m").replace("PASS", "FAIL").replace("2 passed", "1 failed, 1 passed");
        let (failing, has_error) = left(&[
            (line, Some(1), PYTEST),
            (line, Some(1), &format!("..   [100%]\n2 passed in 0.01s\n{broken}  ● m\n\n    no\n")),
        ]);
        assert!(!failing.contains(&"test_a.py::test_x".to_owned()) && has_error, "{failing:?}");
        // Its tests did not begin, or not all of them were there.
        check(red, (Some(5), "no tests ran in 0.01s\n"), false);
        check(red, (None, "..   [100%]\n2 passed in 0.01s\n"), false);
        // By the exit code they succeeded, and nothing of pytest is to be seen: it may have been ended.
        told(red, (Some(0), ""), (true, true));
        told(red, (Some(0), JEST), (true, true));
    }

    fn cargo(failed: bool) -> &'static str {
        match failed {
            true => {
                "test tests::x ... FAILED\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n"
            }
            false => {
                "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n"
            }
        }
    }

    #[test]
    fn a_filter_that_lets_the_summaries_through_shows_that_all_pass() {
        let doc =
            "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
        let green = format!("{}{doc}", cargo(false));
        for filter in ["grep -E \"test result|FAILED\"", "grep -E \"^test |test result\"", "tail -40"] {
            let line = format!("cargo test 2>&1 | {filter}");
            let red = (line.as_str(), 0, cargo(true));
            check(red, (Some(0), &green), true);
            check(red, (Some(0), cargo(true)), false);
            check(red, (Some(0), doc), false);
            check(red, (Some(1), ""), false);
            // By the words of cargo it failed all the same.
            check(red, (Some(0), &format!("{green}error: test failed, to rerun pass `--test b`\n")), false);
        }
        let both = format!("{}{}", cargo(false), cargo(true));
        check(("cargo test 2>&1 | grep \"test\"", 0, &both), (Some(0), cargo(false)), false);
        // Where only so many lines come through, or other ones, what failed may be among the rest.
        for filter in ["head -1", "sed s/1/0/"] {
            let line = format!("cargo test 2>&1 | {filter}");
            check((&line, 0, cargo(true)), (Some(0), cargo(false)), false);
        }
    }

    #[test]
    fn two_pipes_are_two_summaries() {
        let red_jest = "FAIL ./a.test.js\n  ✕ m (2 ms)\n\n  ● m\n\n    expect(received).toBe(expected)\n\nTest Suites: 1 failed, 1 total\nTests:       1 failed, 1 passed, 2 total\n";
        let line = "pytest -q 2>&1 | tail -5; cd web; npm test 2>&1 | tail -20";
        let end = &PYTEST[PYTEST.find("=========== short").unwrap()..];
        let red = format!("{end}{red_jest}");
        let red = (line, 0, red.as_str());
        let green = "..   [100%]\n2 passed in 0.01s\n";
        check(red, (Some(0), &format!("{green}{JEST}")), true);
        check(red, (Some(0), &format!("{green}{red_jest}")), false);
        // Each of them has its own word.
        let after = |text: &str| left(&[(line, Some(0), red.2), (line, Some(0), text)]);
        assert_eq!(after(&format!("{green}{red_jest}")), (vec!["m".to_owned()], true));
        assert_eq!(after(&format!("{end}{JEST}")), (vec!["test_a.py::test_x".to_owned()], true));
        check(red, (Some(0), green), false);
        check(red, (Some(0), JEST), false);
    }
}
