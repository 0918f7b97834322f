//! What is left of the errors of a command, where some of its tests pass since and others do not.

use super::collect::Errors;
use super::diagnose::{Diagnosis, Found};
use super::earlier::EarlierError;
use super::failing::named_test;
use crate::evidence::tests::Fates;

/// Whose an error is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// No test, as far as is known.
    Nobody,
    /// One that fails still.
    Failing,
    Mended,
    /// One of them.
    Unclear,
}

impl Errors {
    /// Of commands some of whose tests were mended, what the others failed of is what is left: as they
    /// failed last.
    pub(crate) fn leave_out_mended(&mut self, fates: &[Fates]) {
        for fates in fates {
            let of = |line: &String| self.failures.iter().position(|failure| failure.line == *line);
            let (Some(at), again) = (of(&fates.command), fates.again_in.as_ref().and_then(of)) else {
                continue;
            };
            let is_of_tests = self.failures[at].is_of_tests();
            match again.filter(|again| *again > at && is_of_tests && !self.failures[*again].found.is_vague) {
                Some(again) => self.failures[at] = self.failures.remove(again),
                None => {
                    let failure = &mut self.failures[at];
                    let mended = failure.found.leave_out_mended(fates);
                    let command = &failure.command;
                    mended.into_iter().for_each(|error| self.earlier.add(error.earlier(command)));
                }
            }
        }
    }
}

impl Diagnosis {
    /// Of a test that passes since, of which command is not asked.
    fn earlier(self, command: &str) -> EarlierError {
        let (command, error_message, error_type) = (command.to_owned(), self.message, Some(self.kind));
        EarlierError { command, error_message, error_type, succeeded_since: None }
    }
}

impl Found {
    /// Leaves out what tests failed of that pass since, and hands over the first of it. Where nothing
    /// says what the others fail of, which these are is all there is to tell.
    fn leave_out_mended(&mut self, fates: &Fates) -> Option<Diagnosis> {
        let first = fates.still.first().filter(|_| fates.still.len() < fates.failed.len())?;
        let mended: Vec<Diagnosis> =
            self.errors.extract_if(.., |error| owner(error, fates) == Owner::Mended).collect();
        self.count = self.count.saturating_sub(mended.len() as u64);
        // What may be of a test that passes is not the first thing to tell.
        self.errors.sort_by_key(|error| owner(error, fates) == Owner::Unclear);
        if self.errors.first().is_none_or(|error| owner(error, fates) == Owner::Unclear) {
            *self = Self { is_glimpse: self.is_glimpse, ..named_test(first) };
        }
        mended.into_iter().next()
    }
}

fn owner(error: &Diagnosis, fates: &Fates) -> Owner {
    if error.is_fixed_in_place() {
        return Owner::Nobody;
    }
    let file = error.place.as_ref().map(|place| place.file.as_str());
    let in_file = |name: &&String| file_of(name).zip(file).is_some_and(|(of, file)| is_same_file(of, file));
    let under =
        error.under.iter().map(|heading| told_under(heading, &fates.failed)).find(|found| !found.is_empty());
    let names = match under {
        // Two files may have a test of that name.
        Some(names) if names.len() > 1 && names.iter().any(in_file) => {
            names.into_iter().filter(|name| in_file(name)).collect()
        }
        Some(names) => names,
        None => fates.failed.iter().filter(in_file).collect(),
    };
    let is_test = !error.under.is_empty() || error.kind == "test failure";
    let fails = names.iter().filter(|name| fates.still.contains(name)).count();
    match (names.len(), fails) {
        (0, _) if is_test => Owner::Unclear,
        (0, _) => Owner::Nobody,
        (all, fails) if all == fails => Owner::Failing,
        (_, 0) => Owner::Mended,
        _ => Owner::Unclear,
    }
}

/// The tests that a heading may be of.
fn told_under<'a>(heading: &str, names: &'a [String]) -> Vec<&'a String> {
    let is_it = |name: &&String| {
        let inside = name.split_once("::").map(|(_, inside)| inside.replace("::", "."));
        // nextest, mocha and Node name what a test is in before it.
        let ends = [" ", " > "].iter().any(|between| name.ends_with(&format!("{between}{heading}")));
        *name == heading || inside.is_some_and(|inside| inside == heading) || ends
    };
    names.iter().filter(is_it).collect()
}

/// The file that a name of pytest or vitest begins with.
fn file_of(name: &str) -> Option<&str> {
    let (file, _) = name.split_once("::").or_else(|| name.split_once(" > "))?;
    file.contains('.').then_some(file)
}

fn is_same_file(a: &str, b: &str) -> bool {
    let ends = |long: &str, short: &str| {
        long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    ends(a, b) || ends(b, a)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::evidence::{Changed, Gathered};
    use crate::model::Timestamp;

    /// The error that is told after commands, and how many more follow it.
    #[track_caller]
    fn check(commands: &[(&str, i64, &str)], expected: Option<&str>) {
        let mut gathered = Gathered::new(Path::new("/home/dev/shop"), Path::new("/home/dev/shop"));
        for (line, exit_code, text) in commands {
            gathered.note_only_command(line, Some(*exit_code), text, true, Timestamp::from_millis(0));
        }
        let told = gathered.finish(Changed::Unknown, None).1.map(|errors| {
            let places: Vec<_> = errors.error_locations.iter().map(|place| place.file.as_str()).collect();
            [&errors.error_message, places.join(" ").as_str()].join(" | ")
        });
        assert_eq!(told.as_deref(), expected, "{commands:?}");
    }

    const BOTH: &str = "FF                                      [100%]\n=================== FAILURES ===================\n____________________ test_x ____________________\n\n    def test_x():\n>       assert X == 2\nE       assert 1 == 2\n\ntest_a.py:3: AssertionError\n____________________ test_x ____________________\n\n    def test_x():\n        d = {}\n>       d[\"k\"]\nE       KeyError: 'k'\n\ntest_b.py:3: KeyError\n=========== short test summary info ============\nFAILED test_a.py::test_x - assert 1 == 2\nFAILED test_b.py::test_x - KeyError: 'k'\n2 failed in 0.02s\n";
    const LEFT: &str = "F                                       [100%]\n=================== FAILURES ===================\n____________________ test_x ____________________\n\n    def test_x():\n>       {}[\"j\"]\nE       KeyError: 'j'\n\ntest_b.py:3: KeyError\n=========== short test summary info ============\nFAILED test_b.py::test_x - KeyError: 'j'\n1 failed in 0.02s\n";
    const GREEN: &str = ".                                       [100%]\n1 passed in 0.01s\n";

    #[test]
    fn what_a_test_failed_of_that_passes_since_is_told_as_an_earlier_error() {
        let mut gathered = Gathered::new(Path::new("/home/dev/shop"), Path::new("/home/dev/shop"));
        for (line, exit_code, text) in [("pytest -q", 1, BOTH), ("pytest -q test_a.py", 0, GREEN)] {
            gathered.note_only_command(line, Some(exit_code), text, true, Timestamp::from_millis(0));
        }
        let told = gathered.told(Changed::Unknown, None).unwrap();
        let [earlier] = told.earlier.list.as_slice() else { panic!("{told:?}") };
        assert_eq!(
            (earlier.command.as_str(), earlier.error_message.as_str()),
            ("pytest -q", "assert 1 == 2")
        );
    }

    #[test]
    fn what_a_test_failed_of_that_passes_since_is_not_told() {
        let red = ("pytest -q", 1, BOTH);
        let (a, b) = (("pytest -q test_a.py", 0, GREEN), ("pytest -q test_b.py", 0, GREEN));
        check(&[red], Some("assert 1 == 2 | test_a.py test_b.py"));
        check(&[red, a], Some("'k' | test_b.py"));
        check(&[red, b], Some("assert 1 == 2 | test_a.py"));
        check(&[red, a, b], None);
        let listed = &BOTH[BOTH.find("FAILED").unwrap()..];
        for line in ["pytest -q 2>&1 | tail -3", "pytest -q --tb=no 2>&1 | tail -3"] {
            check(&[(line, 0, listed), a], Some("test_b.py::test_x failed | "));
            check(&[(line, 0, listed), b], Some("test_a.py::test_x failed | "));
        }
        check(&[("pytest -q --tb=no", 1, listed), a], Some("test_b.py::test_x failed | "));
        check(&[("pytest -q --tb=no", 1, listed), b], Some("assert 1 == 2 | "));
    }

    #[test]
    fn what_a_test_fails_of_is_what_it_failed_of_last() {
        let (red, again) = (("pytest -q", 1, BOTH), ("pytest -q test_b.py", 1, LEFT));
        let a = ("pytest -q test_a.py", 0, GREEN);
        check(&[red, again], Some("assert 1 == 2 | test_a.py test_b.py"));
        check(&[red, again, a], Some("'j' | test_b.py"));
        check(&[red, a, again], Some("'j' | test_b.py"));
        // What says less does not take its place.
        let short =
            ("pytest -q test_b.py | tail -2", 0, "FAILED test_b.py::test_x - Key...\n1 failed in 0.02s\n");
        check(&[red, a, short], Some("'k' | test_b.py"));
    }

    #[test]
    fn what_is_of_no_test_stays() {
        let broken = "src/a.ts(1,2): error TS2322: no\n";
        let red = format!("{broken}{BOTH}");
        let a = ("pytest -q test_a.py", 0, GREEN);
        check(&[("npx tsc --noEmit; pytest -q", 1, &red), a], Some("no | src/a.ts test_b.py"));
    }
}
