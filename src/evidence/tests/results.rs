//! The tests of a whole run, from its commands and edits as they come.
//!
//! Of each framework and scope the last run counts. A run of all tests takes the
//! place of those of some; a run of some after it adds what it found to be failing.

use serde::{Deserialize, Serialize};

use super::{Framework, TestRun, Unit, read};
use crate::model::{Event, ItemStatus, Timestamp};

/// Scopes that are told apart; the oldest go first.
const MOST_RUNS: usize = 32;
const MOST_COMMANDS: usize = 64;
const MOST_NAMES: usize = 50;

/// Collects while a run goes on.
#[derive(Debug, Default)]
pub(crate) struct Tests {
    /// Where commands start.
    directory: String,
    /// The last run of each scope, oldest first.
    runs: Vec<Kept>,
    earlier: u64,
    edits: u64,
    /// Commands that are running, and how many edits there were when they began.
    running: Vec<(String, u64)>,
}

#[derive(Debug)]
struct Kept {
    run: TestRun,
    /// How many edits there were when it began.
    edits: u64,
    ended_at: Timestamp,
}

/// What is known about tests at the end. Never from what the agent says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TestResults {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
    /// The first of them, by the frameworks' own names.
    pub(crate) failed_tests: Vec<String>,
    /// Whether files changed after tests had begun to run.
    pub(crate) stale: bool,
    /// Whether every run came to its own summary, and that is all of it.
    pub(crate) complete: bool,
    /// Runs that a later one took the place of.
    pub(crate) earlier_runs: u64,
    /// What the numbers are made of, in the order in which it ran.
    pub(crate) runs: Vec<RunResults>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunResults {
    pub(crate) framework: Framework,
    pub(crate) unit: Unit,
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
    pub(crate) total: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) duration_ms: Option<u64>,
    pub(crate) stale: bool,
    pub(crate) complete: bool,
}

impl Tests {
    pub(crate) fn new(directory: &str) -> Self {
        Self { directory: directory.trim_end_matches('/').to_owned(), ..Self::default() }
    }

    /// Commands that begin, and files that change.
    pub(crate) fn note_event(&mut self, event: &Event) {
        match event {
            Event::CommandStarted { item, .. } => self.note_started(item),
            Event::Edited { status: ItemStatus::Completed, .. } => self.note_edit(),
            _ => {}
        }
    }

    /// A command began, under the agent's own name for it.
    fn note_started(&mut self, item: &str) {
        if self.running.len() == MOST_COMMANDS {
            self.running.remove(0);
        }
        self.running.push((item.to_owned(), self.edits));
    }

    /// A command came to its end, with all that it printed.
    pub(crate) fn note_command(
        &mut self,
        item: &str,
        command: &str,
        exit_code: Option<i64>,
        text: &str,
        at: Timestamp,
    ) {
        let began = self.running.iter().position(|(known, _)| known == item);
        let edits = began.map_or(self.edits, |at| self.running.remove(at).1);
        for mut run in read(command, exit_code, text) {
            run.scope = run.scope.seen_from(&self.directory);
            self.keep(Kept { run, edits, ended_at: at });
        }
    }

    fn note_edit(&mut self) {
        self.edits += 1;
    }

    fn keep(&mut self, new: Kept) {
        let before = self.runs.len();
        self.runs.retain(|old| !new.replaces(old));
        if self.runs.len() == MOST_RUNS {
            self.runs.remove(0);
        }
        self.earlier += (before - self.runs.len()) as u64;
        self.runs.push(new);
    }

    /// What it all came to; `None` where no test ran. `changed_at` is when a file
    /// last changed, whoever changed it.
    pub(crate) fn finish(self, changed_at: Option<Timestamp>) -> Option<TestResults> {
        if self.runs.is_empty() {
            return None;
        }
        let mut results = TestResults {
            passed: 0,
            failed: 0,
            skipped: 0,
            failed_tests: Vec::new(),
            stale: self.runs.iter().any(|kept| kept.is_stale(self.edits, changed_at)),
            complete: self.runs.iter().all(|kept| kept.run.complete),
            earlier_runs: self.earlier,
            runs: self.runs.iter().map(|kept| kept.told(kept.is_stale(self.edits, changed_at))).collect(),
        };
        for (at, kept) in self.runs.iter().enumerate() {
            let part = self.runs[..at].iter().any(|wider| wider.includes(kept));
            results.add(&kept.run, part);
        }
        Some(results)
    }
}

impl Kept {
    fn replaces(&self, old: &Kept) -> bool {
        self.run.framework == old.run.framework && self.run.scope.covers(&old.run.scope)
    }

    /// Whether the tests of `other`, which ran later, are among these.
    fn includes(&self, other: &Kept) -> bool {
        self.replaces(other) && self.run.complete
    }

    fn is_stale(&self, edits: u64, changed_at: Option<Timestamp>) -> bool {
        self.edits < edits || changed_at.is_some_and(|changed| changed > self.ended_at)
    }

    fn told(&self, stale: bool) -> RunResults {
        let run = &self.run;
        RunResults {
            framework: run.framework,
            unit: run.unit,
            passed: run.passed,
            failed: run.failed,
            skipped: run.skipped,
            total: run.total,
            duration_ms: run.duration_ms,
            stale,
            complete: run.complete,
        }
    }
}

impl TestResults {
    /// Adds one run. Of a `part` of another that is counted already, only what
    /// failed anew: its other tests are among those that passed.
    fn add(&mut self, run: &TestRun, part: bool) {
        let known = run.failing.iter().filter(|name| self.failed_tests.contains(name)).count() as u64;
        if part {
            let anew = run.failed.saturating_sub(known);
            self.failed = self.failed.saturating_add(anew);
            self.passed = self.passed.saturating_sub(anew);
        } else {
            self.passed = self.passed.saturating_add(run.passed);
            self.failed = self.failed.saturating_add(run.failed);
            self.skipped = self.skipped.saturating_add(run.skipped);
        }
        for name in &run.failing {
            if self.failed_tests.len() < MOST_NAMES && !self.failed_tests.contains(name) {
                self.failed_tests.push(name.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl TestResults {
        /// Whether tests ran to their end, all that ran passed, and nothing changed since.
        fn all_passed(&self) -> bool {
            self.passed > 0 && self.failed == 0 && self.complete && !self.stale
        }
    }

    fn cargo(passed: u64, failing: &[&str]) -> String {
        let failed = failing.len() as u64;
        let names: String = failing.iter().map(|name| format!("test {name} ... FAILED\n")).collect();
        let verdict = if failed > 0 { "FAILED" } else { "ok" };
        let end = if failed > 0 { "error: test failed, to rerun pass `--lib`\n" } else { "" };
        format!(
            "running {} tests\n{names}\ntest result: {verdict}. {passed} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n{end}",
            passed + failed
        )
    }

    enum Step<'a> {
        Run(&'a str, u64, &'a [&'a str]),
        Edit,
    }
    use Step::{Edit, Run};

    fn results(steps: &[Step<'_>]) -> TestResults {
        let mut tests = Tests::new("/home/dev/shop");
        for step in steps {
            match step {
                Edit => tests.note_edit(),
                Run(command, passed, failing) => {
                    tests.note_started("item");
                    let exit = if failing.is_empty() { 0 } else { 101 };
                    tests.note_command(
                        "item",
                        command,
                        Some(exit),
                        &cargo(*passed, failing),
                        Timestamp::from_millis(0),
                    );
                }
            }
        }
        tests.finish(None).unwrap()
    }

    #[track_caller]
    fn check(steps: &[Step<'_>], expected: (u64, u64, &[&str], bool, u64)) {
        let found = results(steps);
        let names: Vec<&str> = found.failed_tests.iter().map(String::as_str).collect();
        let told = (found.passed, found.failed, names.as_slice(), found.stale, found.earlier_runs);
        assert_eq!(told, expected);
    }

    #[test]
    fn the_last_run_counts_and_the_others_are_history() {
        check(&[Run("cargo test", 3, &["a"]), Edit, Run("cargo test -q", 4, &[])], (4, 0, &[], false, 1));
    }

    #[test]
    fn a_file_that_changed_afterwards_makes_it_stale() {
        check(&[Run("cargo test", 4, &[]), Edit], (4, 0, &[], true, 0));
        assert!(!results(&[Run("cargo test", 4, &[]), Edit]).all_passed());
        assert!(results(&[Edit, Run("cargo test", 4, &[])]).all_passed());
    }

    #[test]
    fn a_file_that_changed_while_tests_ran_makes_them_stale() {
        let mut tests = Tests::new("/home/dev/shop");
        let edited = |status| Event::Edited { item: "item_2".to_owned(), changes: Vec::new(), status };
        tests.note_event(&edited(ItemStatus::Completed));
        tests.note_event(&Event::CommandStarted {
            item: "item_1".to_owned(),
            command: "cargo test".to_owned(),
        });
        tests.note_event(&edited(ItemStatus::Completed));
        tests.note_command("item_1", "cargo test", Some(0), &cargo(1, &[]), Timestamp::from_millis(0));
        assert!(tests.finish(None).unwrap().stale);
    }

    #[test]
    fn parts_add_up_and_a_run_of_all_takes_their_place() {
        let parts = [Run("cargo test -p a", 3, &["x"]), Run("cargo test -p b", 4, &[])];
        check(&parts, (7, 1, &["x"], false, 0));
        let all =
            [Run("cargo test -p a", 3, &["x"]), Run("cargo test -p b", 4, &[]), Run("cargo test", 9, &[])];
        check(&all, (9, 0, &[], false, 2));
        let same = [Run("cargo test", 3, &["x"]), Run("cd /home/dev/shop && cargo test", 4, &[])];
        check(&same, (4, 0, &[], false, 1));
        check(&[Run("cd web && cargo test", 3, &[]), Run("cargo test", 4, &[])], (7, 0, &[], false, 0));
    }

    #[test]
    fn a_part_after_all_hides_no_failure_and_counts_nothing_twice() {
        check(&[Run("cargo test", 9, &[]), Edit, Run("cargo test x", 0, &["x"])], (8, 1, &["x"], true, 0));
        check(&[Run("cargo test", 8, &["x"]), Edit, Run("cargo test x", 1, &[])], (8, 1, &["x"], true, 0));
        check(&[Run("cargo test", 8, &["x"]), Run("cargo test x", 0, &["x"])], (8, 1, &["x"], false, 0));
    }

    #[test]
    fn a_filter_that_matched_nothing_is_no_success() {
        let found = results(&[Run("cargo test nothing", 0, &[])]);
        assert_eq!((found.passed, found.failed, found.runs[0].total), (0, 0, 0));
        assert!(!found.all_passed());
    }

    #[test]
    fn a_run_without_a_summary_takes_the_place_of_the_one_before() {
        let mut tests = Tests::new("/home/dev/shop");
        tests.note_command("1", "cargo test", Some(0), &cargo(4, &[]), Timestamp::from_millis(0));
        tests.note_command(
            "2",
            "cargo test",
            Some(101),
            "error: could not compile `a` (lib test)\n",
            Timestamp::from_millis(0),
        );
        let found = tests.finish(None).unwrap();
        assert_eq!((found.passed, found.complete, found.earlier_runs), (0, false, 1));
    }

    #[test]
    fn no_test_is_no_result() {
        let mut tests = Tests::new("/home/dev/shop");
        tests.note_command("1", "ls", Some(0), "a\n", Timestamp::from_millis(0));
        assert_eq!(tests.finish(None), None);
    }

    #[test]
    fn the_results_have_the_names_that_callers_know() {
        let json = serde_json::to_value(results(&[Run("cargo test", 1, &["a"])])).unwrap();
        for (name, value) in [("passed", 1), ("failed", 1), ("skipped", 0)] {
            assert_eq!(json[name], value);
        }
        assert_eq!(json["failed_tests"], serde_json::json!(["a"]));
        assert_eq!(json["runs"][0]["framework"], "cargo_test");
    }
}
