//! Determines the result of all commands of a run by one rule: the same line in the same directory replaces
//! its own earlier result, unless git moved the tree in between.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::evidence::command_line::Identity;
use crate::evidence::commands::entry::{CommandCounts, CommandOutcome, LedgerEntry};
use crate::evidence::commands::refusals::Refusals;
use crate::evidence::errors::{FoundError, Location};
use crate::evidence::tests::{Changed, TestResults, results};
use crate::model::{FailureCode, Fault};
use crate::text::plain;

const MOST: usize = 16;
pub(super) const LONGEST_COMMAND: usize = 200;
const MOST_SUGGESTED: usize = 3;

/// The result of a run's commands.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Account {
    pub(crate) counts: CommandCounts,
    pub(crate) tests: Option<TestResults>,
    pub(crate) errors: Option<ErrorEvidence>,
    pub(crate) earlier: EarlierErrors,
}

/// Why a run failed, as far as observed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ErrorEvidence {
    /// The run's own reason if it has one, otherwise the first error.
    pub(crate) error_message: String,
    /// The type of the first error, or of a fault such as a login, sandbox or start failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error_type: Option<String>,
    /// The first error of the first command that did not pass later, if it differs from `error_message`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) first_error: Option<String>,
    /// The command that printed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) command: Option<String>,
    pub(crate) failed_files: Vec<String>,
    pub(crate) error_locations: Vec<Location>,
    pub(crate) suggestions: Vec<String>,
    /// Actions that a sandbox or a policy refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) refused: Vec<String>,
}

/// A command that failed, and whether the same line passed later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EarlierError {
    /// The command that failed.
    pub(crate) command: String,
    /// Its first error.
    pub(crate) error_message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error_type: Option<String>,
    /// The same command as it passed later; absent if it was not run again or did not pass.
    pub(crate) succeeded_since: Option<String>,
    /// Whether that command has the same words. Older evidence also names other lines.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) same_command: bool,
    /// The git command that moved the tree before the same line passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tree_moved_by: Option<String>,
    /// Whether the same line ran again with an unknown result.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) unknown_since: bool,
}

/// Failed commands, oldest first, and how many did not fit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EarlierErrors {
    #[serde(rename = "earlier_errors", default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) list: Vec<EarlierError>,
    #[serde(rename = "earlier_errors_left_out", default, skip_serializing_if = "is_zero")]
    pub(crate) left_out: usize,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// How the same line ended after a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Later {
    Passed {
        command: String,
    },
    NotRunAgain,
    /// It passed after git had changed the files.
    TreeMoved {
        by: String,
    },
    /// It ran again, but the exit code belongs to another program.
    Unknown,
    /// It failed again, and that failure is reported instead.
    Failed,
}

/// Entries by identity and by how often git had moved the tree.
pub(in crate::evidence) struct Ledger<'a> {
    entries: &'a [LedgerEntry],
    identities: Vec<Option<Identity>>,
    /// For each entry, how many earlier commands moved the tree.
    eras: Vec<usize>,
    movers: Vec<&'a LedgerEntry>,
    /// The positions of each line, in order.
    runs: HashMap<Identity, Vec<usize>>,
}

impl<'a> Ledger<'a> {
    pub(in crate::evidence) fn new(entries: &'a [LedgerEntry]) -> Self {
        let identities: Vec<_> = entries.iter().map(LedgerEntry::identity).collect();
        let (mut eras, mut movers) = (Vec::new(), Vec::new());
        let mut runs: HashMap<Identity, Vec<usize>> = HashMap::new();
        for (at, entry) in entries.iter().enumerate() {
            // A line that moves the tree itself ran on the other side.
            if entry.moves_tree() {
                movers.push(entry);
            }
            eras.push(movers.len());
            if let Some(identity) = &identities[at] {
                runs.entry(identity.clone()).or_default().push(at);
            }
        }
        Self { entries, identities, eras, movers, runs }
    }

    /// The later runs of the line at `at`.
    fn later(&self, at: usize) -> impl Iterator<Item = usize> {
        let runs = self.identities[at].as_ref().and_then(|identity| self.runs.get(identity));
        runs.into_iter().flatten().copied().filter(move |run| *run > at)
    }

    fn fate(&self, at: usize) -> Later {
        let mut fate = Later::NotRunAgain;
        for run in self.later(at) {
            let entry = &self.entries[run];
            let moved = self.eras[run] > self.eras[at];
            fate = match entry.outcome {
                CommandOutcome::Failed => Later::Failed,
                _ if entry.shows_success() && moved => {
                    Later::TreeMoved { by: shown(&self.movers[self.eras[at]].line) }
                }
                _ if entry.shows_success() => Later::Passed { command: shown(&entry.line) },
                CommandOutcome::Unknown if fate == Later::NotRunAgain => Later::Unknown,
                _ => fate,
            };
            // Runs after the next failure belong to that failure.
            if fate == Later::Failed {
                return fate;
            }
        }
        fate
    }

    /// Whether an entry ran tests: it printed a summary, or another run of the same line did.
    pub(in crate::evidence) fn runs_tests(&self, at: usize) -> bool {
        let told = |at: usize| !self.entries[at].tests.is_empty();
        let ran = self.entries[at].outcome != CommandOutcome::Refused;
        let same = self.identities[at].as_ref().and_then(|identity| self.runs.get(identity));
        ran && (told(at) || same.is_some_and(|same| same.iter().any(|run| told(*run))))
    }

    /// The git command that moved the tree before the same line passed.
    pub(in crate::evidence) fn moved_by(&self, at: usize) -> Option<String> {
        match self.fate(at) {
            Later::TreeMoved { by } => Some(by),
            Later::Passed { .. } | Later::NotRunAgain | Later::Unknown | Later::Failed => None,
        }
    }

    /// Whether the last known result of an entry's own line is a failure.
    pub(in crate::evidence) fn is_still_red(&self, at: usize) -> bool {
        let is_red = self.entries[at].outcome == CommandOutcome::Failed;
        is_red && !matches!(self.fate(at), Later::Passed { .. } | Later::Failed)
    }
}

/// The result of a run's commands. `last_edit` is the number of commands that had ended when the agent last
/// reported an edit; `fault` is why the run failed.
pub(crate) fn settle(
    entries: &[LedgerEntry],
    refusals: Refusals,
    last_edit: Option<u64>,
    changed: Changed,
    fault: Option<&Fault>,
) -> Account {
    let ledger = Ledger::new(entries);
    let mut counts = CommandCounts::default();
    entries.iter().for_each(|entry| counts.add(entry));
    let failed = entries.iter().enumerate().filter(|(_, entry)| entry.outcome == CommandOutcome::Failed);
    let failed: Vec<(&LedgerEntry, Later)> = failed
        .map(|(at, entry)| (entry, ledger.fate(at)))
        .filter(|(_, fate)| *fate != Later::Failed)
        .collect();
    let first =
        failed.iter().find(|(_, fate)| !matches!(fate, Later::Passed { .. })).map(|(entry, _)| *entry);
    let mut earlier = EarlierErrors::default();
    for (entry, fate) in &failed {
        if first.is_some_and(|first| first.number == entry.number) {
            continue;
        }
        if earlier.list.len() == MOST {
            earlier.left_out += 1;
        } else {
            earlier.list.push(EarlierError::of(entry, fate));
        }
    }
    Account {
        counts,
        tests: results(entries, &ledger, last_edit, changed),
        errors: errors(first, refusals, fault),
        earlier,
    }
}

impl EarlierError {
    fn of(entry: &LedgerEntry, later: &Later) -> Self {
        let (message, kind) = message_and_kind(entry);
        let (mut succeeded_since, mut tree_moved_by) = (None, None);
        match later {
            Later::Passed { command } => succeeded_since = Some(command.clone()),
            Later::TreeMoved { by } => tree_moved_by = Some(by.clone()),
            Later::NotRunAgain | Later::Unknown | Later::Failed => {}
        }
        Self {
            command: shown(&entry.line),
            error_message: message,
            error_type: kind,
            same_command: succeeded_since.is_some(),
            succeeded_since,
            tree_moved_by,
            unknown_since: *later == Later::Unknown,
        }
    }
}

/// The message and the type of a failure.
fn message_and_kind(entry: &LedgerEntry) -> (String, Option<String>) {
    match &entry.first_error {
        Some(FoundError { message, kind, .. }) => (message.clone(), kind.clone()),
        None => (exit_words(entry.exit_code), None),
    }
}

fn exit_words(exit_code: Option<i64>) -> String {
    exit_code.map_or_else(|| "failed".to_owned(), |code| format!("exited with code {code}"))
}

fn shown(line: &str) -> String {
    plain::line(line, LONGEST_COMMAND)
}

fn errors(first: Option<&LedgerEntry>, refusals: Refusals, fault: Option<&Fault>) -> Option<ErrorEvidence> {
    let kind = fault.and_then(|fault| kind_of(fault.code));
    // A login or sandbox failure is the reason, whatever else failed.
    let first = first.filter(|entry| kind.is_none() && (fault.is_none() || entry.first_error.is_some()));
    let mut evidence = ErrorEvidence::default();
    if let Some(entry) = first {
        let (message, kind) = message_and_kind(entry);
        evidence.error_message.clone_from(&message);
        evidence.error_type = kind;
        evidence.first_error = fault.map(|_| message);
        evidence.command = Some(shown(&entry.line));
        if let Some(found) = &entry.first_error {
            evidence.error_locations.clone_from(&found.locations);
            evidence.failed_files = found.files();
            evidence.suggestions =
                found.look_at().into_iter().chain(found.advice.clone()).take(MOST_SUGGESTED).collect();
        }
    } else if fault.is_none() {
        if refusals.count == 0 {
            return None;
        }
        evidence.error_message = refusals.count_text();
    } else if fault.is_some_and(|fault| fault.code == FailureCode::Timeout) && refusals.count == 0 {
        // Reaching a limit is not an error.
        return None;
    }
    if let Some(fault) = fault {
        evidence.error_message.clone_from(&fault.message);
        evidence.error_type = kind.map(str::to_owned).or(evidence.error_type);
        if first.is_none() {
            evidence.suggestions = fault.hint.iter().cloned().collect();
        }
    }
    evidence.refused = refusals.list;
    Some(evidence)
}

/// The type of a fault by itself, if no command is the reason.
fn kind_of(code: FailureCode) -> Option<&'static str> {
    match code {
        FailureCode::Auth => Some("authentication failure"),
        FailureCode::RateLimited => Some("rate limit or quota"),
        FailureCode::Sandbox => Some("sandbox refusal"),
        FailureCode::Spawn => Some("start failure"),
        FailureCode::Budget => Some("budget exceeded"),
        FailureCode::Storage => Some("storage failure"),
        FailureCode::Schema => Some("schema violation"),
        FailureCode::Internal => Some("internal error"),
        FailureCode::ToolError | FailureCode::Lost | FailureCode::Timeout => None,
    }
}
