//! A script whose words do not say what it runs, and a run of everything: `./run_tests.sh`, `pytest`.
//!
//! Both ran in one directory and by one framework. Where as many tests ran in the later one, and no more
//! of them were left out, these are taken for the same.

use super::packages::Packages;
use super::{Counts, Framework, Scope, TestRun};

impl TestRun {
    /// Whether all tests of `old` are among those that ran in this one, by how many they are.
    pub(super) fn ran_as_many(&self, old: &TestRun) -> bool {
        let Some((now, before)) =
            self.counted().zip(old.counts.filter(|_| old.complete).or_else(|| old.seen.plain()))
        else {
            return false;
        };
        now.passed + now.failed > 0
            && now.total >= before.total
            && now.skipped <= before.skipped
            && self.unit == old.unit
            && ![self, old].iter().any(|run| run.says_more)
            && self.scope.may_be_all_of(&old.scope)
            && !old.failing.iter().any(|name| self.scope.surely_lacks(&old.scope.full_name(name)))
    }

    /// The counts of all that it ran; of what a pipe let through, those that are all green.
    fn counted(&self) -> Option<Counts> {
        let whole = self.counts.filter(|_| self.complete);
        whole.or_else(|| self.passed_in_sight().then(|| self.seen.counts()))
    }
}

impl Scope {
    fn may_be_all_of(&self, other: &Self) -> bool {
        let is_here = |scope: &&Self| {
            scope.elsewhere().is_none() && !scope.by_turns && !scope.any_framework && scope.part == 0
        };
        let pair = [self, other];
        let scripts = pair.iter().filter(|scope| scope.unclear.is_some()).count();
        let is_alike = match scripts {
            0 => self.is_of_python(other),
            1 => self.framework == other.framework,
            _ => self.framework == other.framework && self.unclear == other.unclear,
        };
        let are_all = scripts == 2 || pair.iter().all(|scope| scope.is_everything());
        is_alike && are_all && self.directory == other.directory && pair.iter().all(is_here)
    }

    /// Whether the test is none of those that it finds.
    fn surely_lacks(&self, full: &str) -> bool {
        match self.framework {
            Framework::Pytest => self.unclear.is_none() && self.asks_for(full) != Some(true),
            Framework::Unittest => self.unclear.is_none() && !self.surely_runs(full),
            _ => false,
        }
    }

    /// Whether one is a script of all tests, and the other asks for tests by itself, in the same place.
    pub(super) fn is_beside_a_script(&self, other: &Self) -> bool {
        let is_script = |scope: &Self| scope.unclear.is_some() && scope.is_everything();
        let is_pair = |a: &Self, b: &Self| is_script(a) && b.unclear.is_none();
        self.directory == other.directory && (is_pair(self, other) || is_pair(other, self))
    }

    /// Whether it asks for no tests of all that there are, in its own words or by the name of a script.
    fn is_everything(&self) -> bool {
        let Self { packages, targets, filters, modes, unclear, places, settings, .. } = self;
        match unclear {
            Some(script) => self.alias.is_none() && is_plain(script),
            None => {
                *packages == Packages::Default
                    && [targets, filters, modes, &settings.filters].iter().all(|list| list.is_empty())
                    && (places.is_empty() || settings.names_places)
            }
        }
    }
}

/// Programs that run a task by its name.
const TASKS: [&str; 12] =
    ["bun", "gmake", "hatch", "inv", "invoke", "just", "make", "npm", "pnpm", "rake", "task", "yarn"];

/// Whether a script is that of all tests by its name, and is told nothing else: `npm test`, `./run_tests.sh`.
fn is_plain(script: &str) -> bool {
    let how = ["-s", "-q", "--silent", "--quiet", "run"];
    let words: Vec<&str> = script.split_ascii_whitespace().filter(|word| !how.contains(word)).collect();
    let is_here = |file: &str| {
        let name = file.strip_prefix("./").unwrap_or(file);
        !name.contains('/') && (name.len() < file.len() || name.ends_with(".sh"))
    };
    let is_name = |word: &&str| !word.starts_with('-') && !word.contains(['=', ':', '$']);
    words.iter().all(is_name)
        && match words.as_slice() {
            [program] => is_here(program) || matches!(*program, "tox" | "nox"),
            ["bash" | "sh", file] => is_here(file),
            [program, "test" | "tests" | "check" | "pytest"] => TASKS.contains(program),
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::evidence::proofs::{PASSED, PYTEST, left};
    use crate::evidence::{Changed, Gathered};
    use crate::model::Timestamp;

    #[track_caller]
    fn check(red: &str, green: &str, text: &str, is_mended: bool) {
        let (failing, has_error) = left(&[(red, 1, PYTEST), (green, 0, text)]);
        assert_eq!((failing.is_empty(), has_error), (is_mended, !is_mended), "{red}, {green}: {failing:?}");
    }

    #[test]
    fn a_script_and_the_tests_that_it_runs_are_the_same_where_as_many_ran() {
        for script in
            ["./run_tests.sh", "bash run_tests.sh", "make -s test", "npm test --silent", "tox", "make test"]
        {
            check(script, "pytest -q", PASSED, true);
            check("python3 -m pytest", script, PASSED, true);
            check("pytest", &format!("{script} 2>&1 | tail -3"), PASSED, true);
            // Fewer, or some left out.
            for text in ["1 passed in 0.01s\n", "1 passed, 1 skipped in 0.01s\n"] {
                check(script, "pytest -q", text, false);
                check("pytest -q", script, text, false);
            }
            for other in ["pytest -q test_b.py", "pytest -k b", "cd web && pytest -q", "./other_tests.sh a"] {
                check(script, other, PASSED, false);
                check(other, script, PASSED, false);
            }
        }
        for script in ["npm run test:unit", "make test-web", "make test ARGS=-x", "npm test -w web"] {
            check(script, "pytest -q", PASSED, false);
            check("pytest -q", script, PASSED, false);
        }
        check("make test", "npm test", PASSED, false);
        check("a/run_tests.sh", "pytest", PASSED, false);
    }

    #[test]
    fn as_many_others_are_not_the_same() {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("pytest.ini", "[pytest]\ntestpaths = unit\n"),
            ("unit/test_u.py", ""),
            ("integration/test_i.py", ""),
        ] {
            let file = dir.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let failing = |of: &str| {
            let red = PYTEST.replace("test_a.py", of);
            let mut gathered = Gathered::new(dir.path(), dir.path());
            for (line, code, text) in
                [("./run_tests.sh", 1, red.as_str()), ("pytest", 0, "3 passed in 0.02s\n")]
            {
                gathered.note_only_command(line, Some(code), text, true, Timestamp::from_millis(0));
            }
            gathered.finish(Changed::Unknown, None).0.unwrap().failed_tests.len()
        };
        assert_eq!((failing("integration/test_i.py"), failing("unit/test_u.py")), (1, 0));
    }
}
