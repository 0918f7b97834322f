//! What the tests came to, for a reply: S2's counts, and how far they can be
//! relied on. Each run of them is in `evidence.json`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::evidence::{Framework, TestResults, Unit};
use crate::progress::plain;

const MOST_NAMED: usize = 20;
const LONGEST_NAME: usize = 200;

/// From the commands that ran, never from what the agent says.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct TestsSeen {
    passed: u64,
    failed: u64,
    skipped: u64,
    /// The first of them, by the frameworks' own names.
    pub(super) failed_tests: Vec<String>,
    /// Files changed after the tests had run.
    stale: bool,
    /// Every run came to its own summary, and that is all of it.
    complete: bool,
    /// What the numbers count: `packages` where `go test` named no test that passed.
    #[schemars(extend("enum" = ["tests", "packages"]))]
    unit: &'static str,
    /// Whose tests they are, in the order in which they ran.
    #[schemars(with = "Vec<String>")]
    frameworks: Vec<Framework>,
}

impl TestsSeen {
    pub(super) fn of(tests: &TestResults) -> Self {
        let mut frameworks: Vec<Framework> = tests.runs.iter().map(|run| run.framework).collect();
        frameworks.dedup();
        let name = |name: &String| plain::line(name, LONGEST_NAME);
        Self {
            passed: tests.passed,
            failed: tests.failed,
            skipped: tests.skipped,
            failed_tests: tests.failed_tests.iter().take(MOST_NAMED).map(name).collect(),
            stale: tests.stale,
            complete: tests.complete,
            unit: if tests.runs.iter().any(|run| run.unit == Unit::Packages) { "packages" } else { "tests" },
            frameworks,
        }
    }

    /// `3 passed, 1 failed, 0 skipped (pytest; stale: files changed afterwards)`.
    pub(super) fn line(&self) -> String {
        let names: Vec<&str> = self.frameworks.iter().map(|one| one.as_str()).collect();
        let unit = if self.unit == "packages" { "; counted in packages" } else { "" };
        let stale = if self.stale { "; stale: files changed afterwards" } else { "" };
        let part = if self.complete { "" } else { "; not the whole run" };
        format!(
            "{} passed, {} failed, {} skipped ({}{unit}{stale}{part})",
            self.passed,
            self.failed,
            self.skipped,
            names.join(", ")
        )
    }
}
