//! One line of `commands.jsonl`.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::evidence::command_line::{CommandLine, Identity, LONGEST};
use crate::evidence::errors::FoundError;
use crate::evidence::tests::TestRun;
use crate::model::Timestamp;

/// A command that ended, as it was observed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct LedgerEntry {
    /// Counted from 1, in the order in which commands ended.
    pub(crate) number: u64,
    /// The agent's own name for it.
    pub(crate) item: String,
    /// As the agent ran it, the first 16 KiB.
    pub(crate) line: String,
    /// Where it was started.
    pub(crate) directory: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) started_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ended_at: Option<Timestamp>,
    pub(crate) exit_code: Option<i64>,
    /// The program whose exit code that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) exit_of: Option<String>,
    /// Programs of the line whose failure that exit code would not show.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) hides: Vec<String>,
    pub(crate) outcome: CommandOutcome,
    /// Where what it printed stands in `transcript.log`. Absent where it printed nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<Span>,
    /// Whether the agent handed over only a part of what it printed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) output_cut: bool,
    /// The summaries of test frameworks in it, of those that the line starts.
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
    /// Its exit code is another program's, or was not seen.
    Unknown,
    /// By a policy, a sandbox, or a person.
    Refused,
    /// It had not ended when the run did.
    Unfinished,
}

/// Where some output stands in the transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Span {
    /// In bytes; `end` is the first that is not part of it.
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Counted from 1; both are part of it.
    pub(crate) first_line: u64,
    pub(crate) last_line: u64,
}

/// How many commands came to what.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CommandCounts {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) unknown: u64,
    pub(crate) refused: u64,
    pub(crate) unfinished: u64,
    /// Programs whose exit code stands in for one that is unknown, such as the `tail` of `pytest | tail`.
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
    /// What a later command must share to take this one's place. A line that was cut is like no other.
    pub(crate) fn identity(&self) -> Option<Identity> {
        let is_known = self.line.len() < LONGEST && !self.directory.is_empty();
        is_known.then(|| Identity::of(&self.line, Path::new(&self.directory)))
    }

    /// Whether git may have put other files in place.
    pub(crate) fn moves_tree(&self) -> bool {
        self.outcome != CommandOutcome::Refused && CommandLine::parse(&self.line).moves_tree()
    }

    /// Whether its tests were seen to pass, whoever the exit code belongs to.
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
