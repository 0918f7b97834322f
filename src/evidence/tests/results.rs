//! Determines a run's test results: the last test command, and every other test line whose last result is a
//! failure.

use serde::{Deserialize, Serialize};

use crate::evidence::command_line::CommandLine;
use crate::evidence::commands::{CommandOutcome, Ledger, LedgerEntry};
use crate::evidence::tests::{Framework, TestRun, Unit, goes_on};
use crate::model::Timestamp;
use crate::text::plain;

const LONGEST_COMMAND: usize = 200;
const MOST_RED: usize = 16;
/// File times are those of the clock's last tick, at most 10 ms ago, and a command's end is the time at which
/// it was read.
const CLOCKS_APART_MS: i64 = 20;

/// The test results at the end. Never from what the agent says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TestResults {
    /// The last command that ran tests. Absent in older evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) command: Option<String>,
    /// `None` if unknown.
    pub(crate) passed: Option<u64>,
    pub(crate) failed: Option<u64>,
    pub(crate) skipped: Option<u64>,
    /// The first failed tests, as the frameworks name them.
    pub(crate) failed_tests: Vec<String>,
    /// Whether files changed after the tests ran; `None` if unknown.
    pub(crate) stale: Option<bool>,
    /// Whether every run printed a complete summary.
    pub(crate) complete: bool,
    /// How many test commands ran before it.
    pub(crate) earlier_runs: u64,
    /// The summaries in its output, in order.
    pub(crate) runs: Vec<RunResults>,
    /// Other test lines whose last result is a failure, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) not_run_again: Vec<RedTests>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunResults {
    pub(crate) framework: Framework,
    pub(crate) unit: Unit,
    /// `None` if unknown.
    pub(crate) passed: Option<u64>,
    pub(crate) failed: Option<u64>,
    pub(crate) skipped: Option<u64>,
    pub(crate) total: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) duration_ms: Option<u64>,
    pub(crate) stale: Option<bool>,
    pub(crate) complete: bool,
    /// Where it ran, in older evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) elsewhere: Option<String>,
}

/// A test line whose last run failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RedTests {
    pub(crate) command: String,
    /// `None` if unknown.
    pub(crate) passed: Option<u64>,
    pub(crate) failed: Option<u64>,
    pub(crate) failed_tests: Vec<String>,
    /// The git command that moved the tree before the same line passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tree_moved_by: Option<String>,
}

/// When the run last changed files, as far as known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Changed {
    /// Nothing was compared.
    Unknown,
    /// `at`: when an existing file last changed. `by`: the latest time at which a file may have been removed.
    Known { at: Option<Timestamp>, by: Option<Timestamp> },
}

pub(in crate::evidence) fn results(
    entries: &[LedgerEntry],
    ledger: &Ledger<'_>,
    last_edit: Option<u64>,
    changed: Changed,
) -> Option<TestResults> {
    let ran = |at: usize| ledger.runs_tests(at);
    let last = (0..entries.len()).rfind(|at| ran(*at))?;
    let entry = &entries[last];
    let others = last + 1 < entries.len();
    let stale = stale(entry, others, last_edit, changed);
    let red = (0..entries.len()).filter(|at| *at != last && ran(*at) && ledger.is_still_red(*at));
    let red = red.map(|at| RedTests::of(&entries[at], ledger.moved_by(at)));
    let is_over = entry.outcome != CommandOutcome::Unfinished;
    let complete = is_over && !entry.tests.is_empty() && entry.tests.iter().all(|run| run.complete);
    Some(TestResults {
        command: Some(plain::line(&entry.line, LONGEST_COMMAND)),
        passed: total(&entry.tests, |run| run.counts.map(|counts| counts.passed)),
        failed: total(&entry.tests, |run| run.counts.map(|counts| counts.failed)),
        skipped: total(&entry.tests, |run| run.counts.map(|counts| counts.skipped)),
        failed_tests: entry.tests.iter().flat_map(|run| run.failing.iter().cloned()).collect(),
        stale,
        complete,
        earlier_runs: (0..last).filter(|at| ran(*at)).count() as u64,
        runs: entry.tests.iter().map(|run| run_results(run, stale)).collect(),
        not_run_again: red.take(MOST_RED).collect(),
    })
}

impl RedTests {
    fn of(entry: &LedgerEntry, tree_moved_by: Option<String>) -> Self {
        Self {
            tree_moved_by,
            command: plain::line(&entry.line, LONGEST_COMMAND),
            passed: total(&entry.tests, |run| run.counts.map(|counts| counts.passed)),
            failed: total(&entry.tests, |run| run.counts.map(|counts| counts.failed)),
            failed_tests: entry.tests.iter().flat_map(|run| run.failing.iter().cloned()).collect(),
        }
    }
}

/// The summaries of one output combined; `None` if one has no counts.
fn total(runs: &[TestRun], count: impl Fn(&TestRun) -> Option<u64>) -> Option<u64> {
    let all = runs.iter().map(count).try_fold(0_u64, |sum, one| Some(sum.saturating_add(one?)));
    all.filter(|_| !runs.is_empty())
}

fn run_results(run: &TestRun, stale: Option<bool>) -> RunResults {
    RunResults {
        framework: run.framework,
        unit: run.unit,
        passed: run.counts.map(|counts| counts.passed),
        failed: run.counts.map(|counts| counts.failed),
        skipped: run.counts.map(|counts| counts.skipped),
        total: run.counts.map(|counts| counts.total),
        duration_ms: run.duration_ms,
        stale,
        complete: run.complete,
        elsewhere: None,
    }
}

/// Whether files changed after a command ended. `others` is whether another command ended after it.
fn stale(entry: &LedgerEntry, others: bool, last_edit: Option<u64>, changed: Changed) -> Option<bool> {
    if last_edit.is_some_and(|after| after >= entry.number) {
        return Some(true);
    }
    let Some(ended) = entry.ended_at else {
        return match changed {
            Changed::Known { at: None, by: None } => Some(false),
            Changed::Known { .. } | Changed::Unknown => None,
        };
    };
    // It is unknown whether the tests or the rest of their line came first.
    let followed = goes_on(&CommandLine::parse(&entry.line));
    let within =
        |last: Option<Timestamp>| last.is_some_and(|last| entry.started_at.is_none_or(|began| last >= began));
    let near = Timestamp::from_millis(ended.as_millis().saturating_sub(CLOCKS_APART_MS));
    match changed {
        Changed::Known { at, .. } if at > Some(ended) => Some(true),
        Changed::Known { by, .. } if by > Some(ended) => None,
        Changed::Known { at, by } if followed && within(at.max(by)) => None,
        // The file's time equals the tests' end, as precisely as the clocks can tell.
        Changed::Known { at, by } if others && at.max(by) >= Some(near) => None,
        Changed::Known { .. } => Some(false),
        Changed::Unknown if others || followed => None,
        Changed::Unknown => Some(false),
    }
}
