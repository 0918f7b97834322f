//! Test results for a reply: S2's counts, and how reliable they are. `evidence.json` has each test run.

use schemars::JsonSchema;
use serde::Serialize;

use crate::evidence::{Framework, RedTests, TestResults, Unit};
use crate::progress::inner_command;
use crate::text::plain;

const MOST_NAMED: usize = 20;
const MOST_RED: usize = 5;
const LONGEST_COMMAND: usize = 60;
const LONGEST_NAME: usize = 200;

/// From the commands that ran; the agent's own account is not used.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct TestsSeen {
    /// Null if unknown: a run printed no summary, or several runs may share tests.
    passed: Option<u64>,
    /// Null if unknown.
    failed: Option<u64>,
    /// Null if unknown.
    skipped: Option<u64>,
    /// The first tests that failed and did not pass later, as the framework names them.
    pub(super) failed_tests: Vec<String>,
    /// How many more failed than are named; `evidence.json` may name them.
    #[serde(skip_serializing_if = "is_zero")]
    failed_tests_left_out: u64,
    /// Files changed after the tests ran. Null if unknown.
    stale: Option<bool>,
    /// Every test run printed a complete summary.
    complete: bool,
    /// What the counts count: `packages` if `go test` named no test that passed.
    #[schemars(extend("enum" = ["tests", "packages"]))]
    unit: &'static str,
    /// The test frameworks, in the order in which they ran.
    #[schemars(with = "Vec<String>")]
    frameworks: Vec<Framework>,
    /// Other test commands whose last run failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_run_again: Vec<RedCommand>,
}

/// A test command whose last run failed, or passed only after git changed the files.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct RedCommand {
    command: String,
    /// Null if unknown.
    passed: Option<u64>,
    /// Null if unknown.
    failed: Option<u64>,
    /// The first tests that failed.
    failed_tests: Vec<String>,
    /// The git command that changed the files before the same command passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    tree_moved_by: Option<String>,
}

impl RedCommand {
    fn of(red: &RedTests) -> Self {
        let name = |name: &String| plain::line(name, LONGEST_NAME);
        Self {
            command: plain::line(inner_command(&red.command), LONGEST_NAME),
            passed: red.passed,
            failed: red.failed,
            failed_tests: red.failed_tests.iter().take(MOST_RED).map(name).collect(),
            tree_moved_by: red
                .tree_moved_by
                .as_deref()
                .map(|by| plain::line(inner_command(by), LONGEST_NAME)),
        }
    }

    /// `` `npm test`: 2 failed when last run ``, or
    /// `` `npm test`: 2 failed; passed only after `git stash` changed the files ``
    fn line(&self) -> String {
        let failed = self.failed.map_or("failed".to_owned(), |failed| format!("{failed} failed"));
        let command = plain::line(&self.command, LONGEST_COMMAND);
        match &self.tree_moved_by {
            None => format!("`{command}`: {failed} when last run"),
            Some(by) => format!("`{command}`: {failed}; passed only after `{by}` changed the files"),
        }
    }
}

impl TestsSeen {
    pub(super) fn of(tests: &TestResults) -> Self {
        let mut frameworks: Vec<Framework> = Vec::new();
        for run in &tests.runs {
            if !frameworks.contains(&run.framework) {
                frameworks.push(run.framework);
            }
        }
        let name = |name: &String| plain::line(name, LONGEST_NAME);
        let packages = !tests.runs.is_empty() && tests.runs.iter().all(|run| run.unit == Unit::Packages);
        let named = tests.failed_tests.len().min(MOST_NAMED) as u64;
        let failed = tests.failed.unwrap_or(0).max(tests.failed_tests.len() as u64);
        Self {
            passed: tests.passed,
            failed: tests.failed,
            skipped: tests.skipped,
            failed_tests: tests.failed_tests.iter().take(MOST_NAMED).map(name).collect(),
            failed_tests_left_out: failed - named,
            stale: tests.stale,
            complete: tests.complete,
            unit: if packages { "packages" } else { "tests" },
            frameworks,
            not_run_again: tests.not_run_again.iter().take(MOST_RED).map(RedCommand::of).collect(),
        }
    }

    /// How many failed tests are not named, if any is named.
    pub(super) fn left_out(&self) -> usize {
        usize::try_from(self.failed_tests_left_out).unwrap_or(usize::MAX)
    }

    /// `3 passed, 1 failed, 0 skipped (pytest; stale: files changed afterwards)`.
    pub(super) fn line(&self) -> String {
        let names = match self.frameworks.as_slice() {
            // A script that was stopped before it printed a test result.
            [] => "a script".to_owned(),
            frameworks => frameworks.iter().map(|one| one.as_str()).collect::<Vec<_>>().join(", "),
        };
        let unit = if self.unit == "packages" { "; counted in packages" } else { "" };
        let stale = match self.stale {
            Some(true) => "; stale: files changed afterwards",
            Some(false) => "",
            None => "; possibly stale: unknown whether files changed afterwards",
        };
        let part = if self.complete { "" } else { "; incomplete: a part of the test run was not seen" };
        let counts = counts(self.passed, self.failed, self.skipped);
        let red: String = self.not_run_again.iter().map(|red| format!("; {}", red.line())).collect();
        format!("{counts} ({names}{unit}{stale}{part}{red})")
    }
}

fn counts(passed: Option<u64>, failed: Option<u64>, skipped: Option<u64>) -> String {
    match (passed, failed, skipped) {
        (None, None, None) => "counts unknown".to_owned(),
        (None, Some(failed), None) => format!("{failed} failed, passed unknown"),
        _ => {
            let told = |count: Option<u64>| count.map_or("?".to_owned(), |count| count.to_string());
            format!("{} passed, {} failed, {} skipped", told(passed), told(failed), told(skipped))
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over like this")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::RunResults;

    fn run(framework: Framework, counts: Option<(u64, u64)>) -> RunResults {
        let (passed, failed) = counts.unzip();
        RunResults {
            framework,
            unit: Unit::Tests,
            passed,
            failed,
            skipped: passed.map(|_| 0),
            total: passed.zip(failed).map(|(passed, failed)| passed + failed),
            duration_ms: None,
            stale: Some(false),
            complete: counts.is_some(),
            elsewhere: None,
        }
    }

    fn tests(
        passed: Option<u64>,
        failed: Option<u64>,
        stale: Option<bool>,
        runs: Vec<RunResults>,
    ) -> TestResults {
        TestResults {
            command: Some("pytest".into()),
            passed,
            failed,
            skipped: passed.map(|_| 0),
            failed_tests: Vec::new(),
            stale,
            complete: !runs.is_empty() && runs.iter().all(|run| run.complete),
            earlier_runs: 0,
            runs,
            not_run_again: Vec::new(),
        }
    }

    #[track_caller]
    fn check(
        passed: Option<u64>,
        failed: Option<u64>,
        stale: Option<bool>,
        runs: Vec<RunResults>,
        expected: &str,
    ) {
        assert_eq!(TestsSeen::of(&tests(passed, failed, stale, runs)).line(), expected);
    }

    #[test]
    fn what_is_not_known_is_said_not_to_be() {
        let pytest = |counts| run(Framework::Pytest, counts);
        check(
            Some(3),
            Some(1),
            Some(false),
            vec![pytest(Some((3, 1)))],
            "3 passed, 1 failed, 0 skipped (pytest)",
        );
        check(
            None,
            None,
            Some(false),
            vec![pytest(None)],
            "counts unknown (pytest; incomplete: a part of the test run was not seen)",
        );
        check(
            None,
            None,
            Some(false),
            Vec::new(),
            "counts unknown (a script; incomplete: a part of the test run was not seen)",
        );
        let red = RedTests {
            command: "bash -lc 'npm test'".into(),
            passed: None,
            failed: Some(2),
            failed_tests: Vec::new(),
            tree_moved_by: None,
        };
        let mut tests = tests(Some(3), Some(0), Some(false), vec![pytest(Some((3, 0)))]);
        tests.not_run_again.push(red);
        assert_eq!(
            TestsSeen::of(&tests).line(),
            "3 passed, 0 failed, 0 skipped (pytest; `npm test`: 2 failed when last run)"
        );
    }
}
