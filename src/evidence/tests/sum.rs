//! What the runs of tests come to together.

use super::relation::Relation;
use super::results::MOST_NAMES;
use super::{Counts, TestRun, Unit};

/// A test that fails.
#[derive(Debug)]
pub(super) struct Failing {
    /// Its name from the root.
    pub(super) full: String,
    /// The same as its framework says it.
    pub(super) name: String,
    /// Which of the runs it failed in.
    run: usize,
}

#[derive(Debug)]
pub(super) struct Sum {
    pub(super) counts: Option<Counts>,
    pub(super) failed: Option<u64>,
    pub(super) failing: Vec<Failing>,
    unit: Option<Unit>,
    /// Whether tests and packages were counted.
    pub(super) mixed: bool,
    /// Whether something failed that is no test.
    pub(super) says_more: bool,
}

impl Default for Sum {
    fn default() -> Self {
        let counts = Some(Counts::default());
        Self { counts, failed: Some(0), failing: Vec::new(), unit: None, mixed: false, says_more: false }
    }
}

impl Sum {
    /// Whether the test that is called so from the root fails.
    pub(super) fn has(&self, full: &str) -> bool {
        self.failing.iter().any(|failing| failing.full == full || failing.name == full)
    }

    /// Adds a run to the earlier ones.
    pub(super) fn add(&mut self, earlier: &[&TestRun], new: &TestRun) {
        self.mixed |= self.unit.replace(new.unit).is_some_and(|unit| unit != new.unit);
        self.says_more |= new.said.is_some();
        let touches = |old: &&&TestRun| new.scope.relation(&old.scope) != Relation::Apart;
        let touched: Vec<&TestRun> = earlier.iter().filter(touches).copied().collect();
        let again = self.ran_again(earlier, new);
        let corrected = match touched.as_slice() {
            [] => self.add_apart(new.counts),
            [wider] if new.may_miss(wider) => None,
            [wider] if new.scope.relation(&wider.scope) == Relation::Within => {
                self.correct(wider, new, &again)
            }
            _ => None,
        };
        if corrected.is_none() {
            self.counts = None;
            // Each test has passed where it ran before, so its last word is the new one's.
            let failed = new.all_failures().filter(|_| touched.iter().all(|old| all_passed(old)));
            self.failed = self.failed.zip(failed).map(|(sum, new)| sum.saturating_add(new));
        }
        self.failing.retain(|failing| {
            !again.contains(&failing.full) && !new.mends(earlier[failing.run], &failing.name)
        });
        for name in &new.failing {
            let full = new.scope.full_name(name);
            if self.failing.len() < MOST_NAMES && !self.failing.iter().any(|known| known.full == full) {
                self.failing.push(Failing { full, name: name.clone(), run: earlier.len() });
            }
        }
    }

    /// All that fail, where pytest ran just what had failed last: as many as these, and all passed.
    fn ran_again(&self, earlier: &[&TestRun], new: &TestRun) -> Vec<String> {
        let is_asked = |failing: &Failing| {
            let old = earlier[failing.run];
            new.scope.asks_for_last_failed(&failing.full) && !new.scope.lacks(&old.scope)
        };
        let all = self.failing.len() as u64;
        let passed = new.counts.is_some_and(|counts| counts.passed == all && counts.total == all);
        let ran = new.complete && passed && self.failing.iter().all(is_asked);
        self.failing.iter().filter(|_| ran).map(|failing| failing.full.clone()).collect()
    }

    fn add_apart(&mut self, new: Option<Counts>) -> Option<()> {
        let new = new?;
        if let Some(counts) = &mut self.counts {
            counts.passed = counts.passed.saturating_add(new.passed);
            counts.skipped = counts.skipped.saturating_add(new.skipped);
        }
        self.failed = self.failed.map(|failed| failed.saturating_add(new.failed));
        Some(())
    }

    /// Tests of `wider` ran again: what they came to then is what counts.
    fn correct(&mut self, wider: &TestRun, new: &TestRun, again: &[String]) -> Option<()> {
        let (before, now) = (wider.counts?, new.counts?);
        let known = |run: &TestRun, counts: Counts| run.failing.len() as u64 == counts.failed;
        // What failed may be what settings leave out by now.
        let (left_out, before_it) = (&new.scope.settings.filters, &wider.scope.settings.filters);
        let asks_alike = left_out.is_empty() || left_out == before_it;
        if !(asks_alike && wider.complete && known(wider, before) && known(new, now)) {
            return None;
        }
        let (mut mended, mut still) = (Vec::new(), 0);
        let failing_now: Vec<String> = new.failing.iter().map(|name| new.scope.full_name(name)).collect();
        for own in &wider.failing {
            let name = wider.scope.full_name(own);
            // It may be the one that was skipped.
            let passed = now.skipped == 0 || again.contains(&name) || new.mends(wider, own);
            match again.contains(&name) || new.scope.asks_for(&name)? {
                true if failing_now.contains(&name) => still += 1,
                true if new.complete && passed => mended.push(name),
                true => return None,
                false => {}
            }
        }
        let anew = now.failed.checked_sub(still)?;
        let counts = self.counts.as_mut()?;
        counts.passed = counts.passed.saturating_add(mended.len() as u64).checked_sub(anew)?;
        self.failed = Some(self.failed?.saturating_add(anew).checked_sub(mended.len() as u64)?);
        self.failing.retain(|failing| !mended.contains(&failing.full));
        Some(())
    }
}

fn all_passed(run: &TestRun) -> bool {
    run.all_failures() == Some(0)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::evidence::{Changed, Gathered};
    use crate::model::Timestamp;

    const RED: &str = "F.F\n=========== short test summary info ============\nFAILED test_a.py::x - assert 1 == 2\nFAILED test_b.py::z - no\n2 failed, 1 passed in 0.02s\n";

    /// What `pytest -q` came to, after it failed in two files and something else ran.
    #[track_caller]
    fn check(line: &str, text: &str, counts: Option<[u64; 3]>, failing: &[&str]) {
        let mut gathered = Gathered::new(Path::new("/home/dev/shop"), Path::new("/home/dev/shop"));
        for (line, code, text) in [("pytest -q", 1, RED), (line, 0, text)] {
            gathered.note_only_command(line, Some(code), text, true, Timestamp::from_millis(0));
        }
        let tests = gathered.finish(Changed::Unknown, None).0.unwrap();
        let told = tests.passed.zip(tests.failed).zip(tests.skipped);
        assert_eq!(told.map(|((passed, failed), skipped)| [passed, failed, skipped]), counts, "{line}");
        assert_eq!(tests.failed_tests, failing, "{line}");
    }

    #[test]
    fn a_test_that_was_skipped_or_left_out_did_not_pass() {
        let both = ["test_a.py::x", "test_b.py::z"];
        check("pytest -q test_a.py", "1 passed in 0.01s\n", Some([2, 1, 0]), &both[1..]);
        check("pytest -q test_a.py", "1 skipped in 0.01s\n", None, &both);
        check("pytest -q test_a.py", "1 xfailed in 0.01s\n", None, &both);
        check("pytest -q test_a.py", "1 passed, 1 skipped in 0.01s\n", None, &both);
        let listed =
            "test_a.py::x PASSED [ 50%]\ntest_a.py::y SKIPPED [100%]\n1 passed, 1 skipped in 0.01s\n";
        check("pytest -v test_a.py", listed, Some([2, 1, 0]), &both[1..]);
        let listed = listed.replace("x PASSED", "w PASSED").replace("y SKIPPED", "x SKIPPED");
        check("pytest -v test_a.py", &listed, None, &both);
        for line in
            ["pytest -q -k 'not x and not z'", "pytest -q --deselect test_a.py::x --deselect test_b.py::z"]
        {
            check(line, "1 passed, 2 deselected in 0.01s\n", None, &both);
        }
        check("pytest -q --ignore=test_a.py", "2 passed in 0.01s\n", None, &both[..1]);
        // All of them, of which these are none any more.
        check("pytest -q", "1 passed, 2 skipped in 0.01s\n", Some([1, 0, 2]), &[]);
        check("pytest -q", "1 passed in 0.01s\n", Some([1, 0, 0]), &[]);
    }
}
