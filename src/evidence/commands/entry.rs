//! One line of `commands.jsonl`.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::evidence::command_line::{CommandLine, Identity, LONGEST};
use crate::evidence::errors::FoundError;
use crate::evidence::tests::TestRun;
use crate::model::Timestamp;

/// A command that ended, as observed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct LedgerEntry {
    /// Counted from 1, in the order in which commands ended.
    pub(crate) number: u64,
    /// The agent's own id for it.
    pub(crate) item: String,
    /// As the agent ran it; the first 16 KiB.
    pub(crate) line: String,
    /// The directory that it was started in.
    pub(crate) directory: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) started_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ended_at: Option<Timestamp>,
    pub(crate) exit_code: Option<i64>,
    /// The program that the exit code belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) exit_of: Option<String>,
    /// Programs of the line whose failure the exit code would not show.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) hides: Vec<String>,
    pub(crate) outcome: CommandOutcome,
    /// Where its output is in `transcript.log`. Absent if it printed nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<Span>,
    /// Whether the agent passed on only a part of its output.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) output_cut: bool,
    /// The summaries in its output of test frameworks that the line starts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) tests: Vec<TestRun>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) first_error: Option<FoundError>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CommandOutcome {
    Passed,
    Failed,
    /// The exit code belongs to another program, or was not seen.
    Unknown,
    /// Refused by a policy, a sandbox or a person.
    Refused,
    /// Still running when the run ended.
    Unfinished,
}

/// Where some output is in the transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Span {
    /// Byte positions; `end` is exclusive.
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Line numbers from 1; both are inclusive.
    pub(crate) first_line: u64,
    pub(crate) last_line: u64,
}

/// How many commands had each outcome.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CommandCounts {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) unknown: u64,
    pub(crate) refused: u64,
    pub(crate) unfinished: u64,
    /// Programs whose exit code replaced an unknown one, such as `tail` in `pytest | tail`.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) hidden_by: BTreeSet<String>,
}

impl CommandCounts {
    pub(crate) fn add(&mut self, entry: &LedgerEntry) {
        if entry.outcome == CommandOutcome::Unknown {
            self.hidden_by.extend(entry.exit_of.clone());
        }
        *match entry.outcome {
            CommandOutcome::Passed => &mut self.passed,
            CommandOutcome::Failed => &mut self.failed,
            CommandOutcome::Unknown => &mut self.unknown,
            CommandOutcome::Refused => &mut self.refused,
            CommandOutcome::Unfinished => &mut self.unfinished,
        } += 1;
    }
}

impl LedgerEntry {
    /// What a later command must have in common to replace this one. A line that was cut equals no other.
    pub(crate) fn identity(&self) -> Option<Identity> {
        let is_known = self.line.len() < LONGEST && !self.directory.is_empty();
        is_known.then(|| Identity::of(&self.line, Path::new(&self.directory)))
    }

    /// Whether git may have replaced files.
    pub(crate) fn moves_tree(&self) -> bool {
        self.outcome != CommandOutcome::Refused && CommandLine::parse(&self.line).moves_tree()
    }

    /// Whether its tests were seen to pass, whichever program the exit code belongs to.
    pub(crate) fn shows_success(&self) -> bool {
        let tests_pass =
            || !self.tests.is_empty() && self.tests.iter().all(|run| run.is_green() && run.complete);
        match self.outcome {
            CommandOutcome::Passed => true,
            CommandOutcome::Unknown => tests_pass(),
            CommandOutcome::Failed | CommandOutcome::Refused | CommandOutcome::Unfinished => false,
        }
    }
}
