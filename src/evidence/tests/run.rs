//! One run of one framework, as far as its output tells.

use serde::Serialize;

use super::printed::Told;
use super::{Framework, Scope, Unit, again};

/// One run of one framework.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct TestRun {
    pub(crate) framework: Framework,
    /// `None` where they are not known.
    #[serde(flatten)]
    pub(crate) counts: Option<Counts>,
    pub(crate) unit: Unit,
    pub(crate) duration_ms: Option<u64>,
    /// The first of those that failed, by the framework's own names.
    pub(crate) failing: Vec<String>,
    /// Whether these are the counts of the whole run: its own summary was seen,
    /// nothing cut it short, and the exit code does not say otherwise.
    pub(crate) complete: bool,
    /// Whether they are that too where its command was killed: in a step that follows it.
    #[serde(skip)]
    pub(super) was_over: bool,
    /// Whether it is not known to have begun: its command was cut off, maybe before it.
    #[serde(skip)]
    pub(super) may_not_have_begun: bool,
    #[serde(skip)]
    pub(super) scope: Scope,
    /// What its output tells of single tests that failed in it, or in one before it.
    #[serde(skip)]
    pub(super) told: Vec<Told>,
    /// How many tests its output names as passed.
    #[serde(skip)]
    pub(super) listed: u64,
    /// Whether files may have been changed by what its command did afterwards.
    #[serde(skip)]
    pub(super) goes_on: bool,
    /// Whether it is of a script that says what it runs, and that is not these tests alone, or not here.
    #[serde(skip)]
    pub(super) says_more: bool,
    /// Which step of its command it is.
    #[serde(skip)]
    pub(super) step: usize,
    /// What the turns of a loop came to, as far as they were seen, where each had tests of its own.
    #[serde(skip)]
    pub(super) turns: Option<Counts>,
    /// How many failed at the least, by what was seen of its summaries.
    #[serde(skip)]
    pub(crate) least: u64,
    /// How many failed, where that is known and not how many passed.
    #[serde(skip)]
    pub(super) fails: Option<u64>,
    /// What failed in it that is no test, in words.
    #[serde(skip)]
    pub(crate) said: Option<String>,
    /// Whether it ended before its end.
    #[serde(skip)]
    pub(super) stopped: bool,
    /// Whether a summary of it was seen, and all that was says that it passed.
    #[serde(skip)]
    pub(crate) looks_green: bool,
    /// What its summaries say, whether or not they are all of them.
    #[serde(skip)]
    pub(super) seen: again::Seen,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Counts {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
    pub(crate) total: u64,
}
