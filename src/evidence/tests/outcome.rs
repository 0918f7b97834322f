//! What the tests of a run came to, as it is told.

use serde::{Deserialize, Serialize};

use super::{Framework, Unit};

/// What is known about tests at the end. Never from what the agent says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TestResults {
    /// `None` where it is not known.
    pub(crate) passed: Option<u64>,
    pub(crate) failed: Option<u64>,
    pub(crate) skipped: Option<u64>,
    /// The first of those that failed and are not known to have passed since, by
    /// the frameworks' own names.
    pub(crate) failed_tests: Vec<String>,
    /// Whether files changed after tests had begun to run; `None` where that is
    /// not known.
    pub(crate) stale: Option<bool>,
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
    /// `None` where it is not known.
    pub(crate) passed: Option<u64>,
    pub(crate) failed: Option<u64>,
    pub(crate) skipped: Option<u64>,
    pub(crate) total: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) duration_ms: Option<u64>,
    pub(crate) stale: Option<bool>,
    pub(crate) complete: bool,
    /// Where it ran, where that is not the checkout that the run works in: the results
    /// as a whole leave it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) elsewhere: Option<String>,
}
