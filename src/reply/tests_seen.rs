//! What the tests came to, for a reply: S2's counts, and how far they can be
//! relied on. Each run of them is in `evidence.json`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::evidence::{Framework, RunResults, TestResults, Unit};
use crate::progress::plain;

const MOST_NAMED: usize = 20;
const MOST_RUNS: usize = 5;
const LONGEST_NAME: usize = 200;

/// From the commands that ran, never from what the agent says.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct TestsSeen {
    /// Null where it is not known: a run without a summary, or runs that may have tests in common.
    passed: Option<u64>,
    /// Null where it is not known.
    failed: Option<u64>,
    /// Null where it is not known.
    skipped: Option<u64>,
    /// The first of those not known to have passed since, by the frameworks' own names.
    pub(super) failed_tests: Vec<String>,
    /// How many more are known to have failed than are named; `evidence.json` may name them.
    #[serde(skip_serializing_if = "is_zero")]
    failed_tests_left_out: u64,
    /// Files changed after the tests had run. Null where that is not known.
    stale: Option<bool>,
    /// Every run came to its own summary, and that is all of it.
    complete: bool,
    /// What the numbers count: `packages` where `go test` named no test that passed.
    #[schemars(extend("enum" = ["tests", "packages"]))]
    unit: &'static str,
    /// Whose tests they are, in the order in which they ran.
    #[schemars(with = "Vec<String>")]
    frameworks: Vec<Framework>,
    /// The last runs that cannot be added up: with tests in common, or of another checkout.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    apart: Vec<String>,
}

impl TestsSeen {
    pub(super) fn of(tests: &TestResults) -> Self {
        let mut frameworks: Vec<Framework> = Vec::new();
        let here: Vec<&RunResults> = tests.runs.iter().filter(|run| run.elsewhere.is_none()).collect();
        let counted = if here.is_empty() { tests.runs.iter().collect() } else { here };
        for run in &counted {
            if !frameworks.contains(&run.framework) {
                frameworks.push(run.framework);
            }
        }
        let name = |name: &String| plain::line(name, LONGEST_NAME);
        let packages = !counted.is_empty() && counted.iter().all(|run| run.unit == Unit::Packages);
        let several = counted.len() > 1 && tests.passed.is_none();
        let apart = tests.runs.iter().filter(|run| several || run.elsewhere.is_some());
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
            apart: apart.rev().take(MOST_RUNS).map(told).collect::<Vec<_>>().into_iter().rev().collect(),
        }
    }

    /// Those that are not named, where any is.
    pub(super) fn left_out(&self) -> usize {
        usize::try_from(self.failed_tests_left_out).unwrap_or(usize::MAX)
    }

    /// `3 passed, 1 failed, 0 skipped (pytest; stale: files changed afterwards)`.
    pub(super) fn line(&self) -> String {
        let names = match self.frameworks.as_slice() {
            // A script that was cut off before it told of any test.
            [] => "a script".to_owned(),
            frameworks => frameworks.iter().map(|one| one.as_str()).collect::<Vec<_>>().join(", "),
        };
        let unit = if self.unit == "packages" { "; counted in packages" } else { "" };
        let stale = match self.stale {
            Some(true) => "; stale: files changed afterwards",
            Some(false) => "",
            None => "; maybe stale: whether files changed afterwards is not known",
        };
        let part = if self.complete { "" } else { "; not the whole test run was seen" };
        let counts = counts(self.passed, self.failed, self.skipped);
        let apart = match self.apart.as_slice() {
            [] => String::new(),
            // Of several here, none is left out.
            [one] => format!("; a run elsewhere: {one}"),
            several => format!("; runs that may not be added up: {}", several.join("; ")),
        };
        format!("{counts} ({names}{unit}{stale}{part}{apart})")
    }
}

fn counts(passed: Option<u64>, failed: Option<u64>, skipped: Option<u64>) -> String {
    match (passed, failed, skipped) {
        (None, None, None) => "counts are not known".to_owned(),
        (None, Some(failed), None) => format!("{failed} failed, how many passed is not known"),
        _ => {
            let told = |count: Option<u64>| count.map_or("?".to_owned(), |count| count.to_string());
            format!("{} passed, {} failed, {} skipped", told(passed), told(failed), told(skipped))
        }
    }
}

fn told(run: &RunResults) -> String {
    let unit = if run.unit == Unit::Packages { " packages" } else { "" };
    let place = run.elsewhere.as_ref().map(|place| format!(" in {}", plain::line(place, LONGEST_NAME)));
    let counts = counts(run.passed, run.failed, run.skipped);
    format!("{}{unit} {counts}{}", run.framework.as_str(), place.unwrap_or_default())
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over like this")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[track_caller]
    fn check(
        passed: Option<u64>,
        failed: Option<u64>,
        stale: Option<bool>,
        runs: Vec<RunResults>,
        expected: &str,
    ) {
        let complete = !runs.is_empty() && runs.iter().all(|run| run.complete);
        let skipped = passed.map(|_| 0);
        let failed_tests = Vec::new();
        let tests =
            TestResults { passed, failed, skipped, failed_tests, stale, complete, earlier_runs: 0, runs };
        assert_eq!(TestsSeen::of(&tests).line(), expected);
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
            "counts are not known (pytest; not the whole test run was seen)",
        );
        check(
            None,
            None,
            Some(false),
            Vec::new(),
            "counts are not known (a script; not the whole test run was seen)",
        );
        let base = RunResults { elsewhere: Some("/tmp/base".to_owned()), ..pytest(Some((1, 1))) };
        check(
            Some(3),
            Some(0),
            Some(false),
            vec![pytest(Some((3, 0))), base],
            "3 passed, 0 failed, 0 skipped (pytest; a run elsewhere: pytest 1 passed, 1 failed, 0 skipped in /tmp/base)",
        );
        check(
            None,
            Some(0),
            None,
            vec![pytest(Some((3, 0))), pytest(Some((4, 0)))],
            "0 failed, how many passed is not known (pytest; maybe stale: whether files changed afterwards is not known; runs that may not be added up: pytest 3 passed, 0 failed, 0 skipped; pytest 4 passed, 0 failed, 0 skipped)",
        );
    }
}
