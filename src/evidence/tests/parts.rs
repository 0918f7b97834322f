//! A run of pytest whose failures have no names, and later runs of parts of it.
//!
//! Which tests failed is not known, so none of them can be seen to pass. But where each test file
//! that there is was in a part that passed, and these come to at least as many tests, all do.
//! Counts alone do not show it: a test that was added may hide one that is missing.

use std::fs;
use std::path::Path;

use super::held::{self, Held};
use super::relation::Relation;
use super::scope::Scope;
use super::{Counts, Framework, TestRun};

/// In more than this nobody looks for test files.
const MOST_ENTRIES: usize = 10_000;

impl TestRun {
    /// Whether `later` runs were all of this one between them, and passed. `files` are the test
    /// files that there are, where that is known.
    pub(super) fn passed_in_parts(
        &self,
        later: &[&TestRun],
        files: impl FnOnce(&Scope) -> Option<Vec<String>>,
    ) -> bool {
        let Some(all) = self.counts.filter(|counts| counts.failed > self.failing.len() as u64) else {
            return false;
        };
        let relation = |run: &TestRun| run.scope.relation(&self.scope);
        let parts: Vec<&TestRun> =
            later.iter().copied().filter(|run| relation(run) != Relation::Apart).collect();
        let is_green_part = |run: &&TestRun| {
            let passed = run.failing.is_empty() && run.counts.is_some_and(|counts| counts.failed == 0);
            // What was left out for whatever reason is in no part.
            let leaves_out = run.scope.settings.filters != self.scope.settings.filters;
            let is_part = relation(run) == Relation::Within && !run.scope.lacks(&self.scope) && !leaves_out;
            is_part && passed && run.complete
        };
        let is_apart = |(at, run): (usize, &&TestRun)| {
            parts[..at].iter().all(|other| run.scope.relation(&other.scope) == Relation::Apart)
        };
        let sum = |count: fn(&Counts) -> u64| {
            let counts = parts.iter().filter_map(|run| run.counts.as_ref());
            counts.fold(0, |sum: u64, counts| sum.saturating_add(count(counts)))
        };
        let is_in_a_part = |file: &String| parts.iter().any(|run| run.scope.asks_for(file) == Some(true));
        self.complete
            && parts.iter().all(is_green_part)
            && parts.iter().enumerate().all(is_apart)
            && sum(|counts| counts.total) >= all.total
            && sum(|counts| counts.skipped) <= all.skipped
            && files(&self.scope).is_some_and(|files| files.iter().all(is_in_a_part))
    }
}

/// The test files that pytest finds where it was asked to look, named from `root`; `None` where that
/// cannot be told.
pub(super) fn files_of(root: &str, scope: &Scope) -> Option<Vec<String>> {
    let is_plain = scope.framework == Framework::Pytest && scope.asks_for("").is_some();
    let own_rules = scope.settings.own_rules || scope.settings.more_files;
    (is_plain && !own_rules && !root.is_empty()).then_some(())?;
    let mut files = Vec::new();
    let mut folders = Vec::new();
    for place in scope.looked_in() {
        match place.ends_with(".py") {
            _ if place.contains("::") || place.starts_with('/') => return None,
            true => files.push(place),
            false => folders.push((place.clone(), place)),
        }
    }
    let mut left = MOST_ENTRIES;
    while let Some((outer, folder)) = folders.pop() {
        for entry in fs::read_dir(Path::new(root).join(&folder)).ok()? {
            left = left.checked_sub(1)?;
            let entry = entry.ok()?;
            let name = entry.file_name().into_string().ok()?;
            let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            let kind = entry.file_type().ok()?;
            let is_found = |path: &str| held::of_pytest(&outer, path) == Held::Surely;
            if kind.is_dir() && is_found(&format!("{path}/test_a.py")) {
                folders.push((outer.clone(), path));
            } else if !kind.is_dir() && path.ends_with(".py") && is_found(&path) {
                files.push(path);
            } else if kind.is_symlink() && fs::metadata(entry.path()).is_ok_and(|to| to.is_dir()) {
                // It may lead to more of them.
                return None;
            }
        }
    }
    Some(files)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use crate::evidence::{Changed, Gathered};
    use crate::model::Timestamp;

    type Left = (Option<u64>, Option<u64>, Option<String>);

    /// How many pass and fail after these commands, and the error that is left.
    fn left(root: &Path, commands: &[(&str, &str)]) -> Left {
        let mut gathered = Gathered::new(root, root);
        for (line, text) in commands {
            gathered.note_only_command(line, Some(0), text, true, Timestamp::from_millis(0));
        }
        let (tests, errors) = gathered.finish(Changed::Unknown, None);
        let tests = tests.unwrap();
        (tests.passed, tests.failed, errors.map(|errors| errors.error_message))
    }

    fn project(files: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for file in files {
            let file = dir.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        dir
    }

    const RED: (&str, &str) = ("pytest -q --no-summary | tail -1", "2 failed, 9 passed, 1 skipped in 0.1s\n");
    const A: (&str, &str) = ("pytest -q tests/test_a.py", "5 passed in 0.1s\n");
    const B: (&str, &str) = ("pytest -q tests/test_b.py tests/c_test.py", "6 passed, 1 skipped in 0.1s\n");

    #[track_caller]
    fn check(root: &Path, later: &[(&str, &str)], is_mended: bool) {
        let commands: Vec<(&str, &str)> = [RED].into_iter().chain(later.iter().copied()).collect();
        let (_, failed, error) = left(root, &commands);
        assert_eq!((failed == Some(0), error.is_none()), (is_mended, is_mended), "{later:?}: {error:?}");
    }

    #[test]
    fn parts_that_are_the_whole_and_pass_mend_it() {
        let files = ["tests/test_a.py", "tests/test_b.py", "tests/c_test.py", "setup.py", "build/test_x.py"];
        let dir = project(&files);
        let root = dir.path();
        check(root, &[], false);
        check(root, &[A, B], true);
        check(root, &[B, A], true);
        assert_eq!(left(root, &[RED, A, B]), (Some(11), Some(0), None));
        // Not all of them, or not known to be.
        check(root, &[A], false);
        check(root, &[A, (B.0, "8 passed in 0.1s\n")], true);
        check(root, &[A, (B.0, "6 passed in 0.1s\n")], false);
        check(root, &[A, (B.0, "5 passed, 2 skipped in 0.1s\n")], false);
        check(root, &[A, (B.0, "1 failed, 6 passed in 0.1s\n")], false);
        check(root, &[A, ("pytest -q tests/test_b.py", "7 passed in 0.1s\n")], false);
        check(root, &[A, ("pytest -q tests", "7 passed in 0.1s\n")], false);
        check(root, &[A, ("pytest -q -k x", "7 passed in 0.1s\n")], false);
        check(root, &[A, (B.0, "7 passed, 3 deselected in 0.1s\n")], false);
        check(root, &[A, ("pytest -q tests/test_b.py::x tests/c_test.py", "7 passed in 0.1s\n")], false);
        // The whole is the whole.
        check(root, &[("pytest -q", "12 passed in 0.1s\n")], true);
    }

    #[test]
    fn a_file_that_no_part_holds_may_still_fail() {
        let files = ["tests/test_a.py", "tests/test_b.py", "tests/c_test.py"];
        let new = project(&[&files[..], &["tests/deep/test_new.py"]].concat());
        check(new.path(), &[A, B], false);
        check(new.path(), &[A, B, ("pytest -q tests/deep", "1 passed in 0.1s\n")], true);
        let linked = project(&files);
        std::os::unix::fs::symlink("tests/test_a.py", linked.path().join("a.txt")).unwrap();
        check(linked.path(), &[A, B], true);
        std::os::unix::fs::symlink("/", linked.path().join("more")).unwrap();
        check(linked.path(), &[A, B], false);
        check(Path::new("/home/dev/gone"), &[A, B], false);
    }
}
