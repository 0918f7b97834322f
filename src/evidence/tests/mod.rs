//! Finds the tests that a command ran, and their results.
//!
//! A summary counts only if the line starts that framework, or a script that may have started any.

mod formats;
mod live;
mod read;
mod recognise;
mod reports;
pub(crate) mod results;
mod tally;

use serde::{Deserialize, Serialize};

pub(crate) use live::LiveCount;
pub(super) use read::{Output, goes_on, read};
pub(super) use reports::{Ran, from_report};
#[cfg(test)]
pub(crate) use results::RunResults;
pub(super) use results::results;
pub(crate) use results::{Changed, RedTests, TestResults};

use tally::Tally;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Framework {
    CargoTest,
    Nextest,
    Pytest,
    Unittest,
    Jest,
    Vitest,
    Mocha,
    Node,
    Go,
    Junit,
    Tap,
}

impl Framework {
    /// As it is written in JSON.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::CargoTest => "cargo_test",
            Self::Nextest => "nextest",
            Self::Pytest => "pytest",
            Self::Unittest => "unittest",
            Self::Jest => "jest",
            Self::Vitest => "vitest",
            Self::Mocha => "mocha",
            Self::Node => "node",
            Self::Go => "go",
            Self::Junit => "junit",
            Self::Tap => "tap",
        }
    }

    /// Whether its summaries are those of parts, which make up the whole.
    fn has_many_blocks(self) -> bool {
        matches!(self, Self::CargoTest | Self::Go)
    }
}

/// What the numbers count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Unit {
    #[default]
    Tests,
    /// `go test` without `-v` names no test that passed.
    Packages,
}

/// One run of one framework, as far as its output tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TestRun {
    pub(crate) framework: Framework,
    /// `None` where they are not known.
    #[serde(flatten)]
    pub(crate) counts: Option<Counts>,
    pub(crate) unit: Unit,
    pub(crate) duration_ms: Option<u64>,
    /// The first of those that failed, by the framework's own names.
    pub(crate) failing: Vec<String>,
    /// Whether these are the counts of the whole run: its own summary was seen, nothing cut it short, and the
    /// exit code does not say otherwise.
    pub(crate) complete: bool,
    /// What failed in it that is no test, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) said: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counts {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
    pub(crate) total: u64,
}

impl TestRun {
    /// Whether its summary says that something failed.
    pub(crate) fn is_red(&self) -> bool {
        self.counts.is_some_and(|counts| counts.failed > 0) || !self.failing.is_empty() || self.said.is_some()
    }

    /// Whether its summary is all there and says that nothing failed.
    pub(crate) fn is_green(&self) -> bool {
        self.counts.is_some_and(|counts| counts.passed > 0) && !self.is_red()
    }
}

/// Reads the lines of one output for one framework.
trait Parser {
    fn line(&mut self, line: &str);

    /// What was found: one for each summary, in their order.
    fn end(self: Box<Self>) -> Vec<Tally>;
}
