//! Counts an agent's commands by outcome, for a reply.

use schemars::JsonSchema;
use serde::Serialize;

use crate::evidence::CommandCounts;
use crate::reading::View;
use crate::text::plain;

const LONGEST_PROGRAM: usize = 40;

/// Observed from how the commands ended; the agent's own account is not used.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct CommandsSeen {
    passed: u64,
    failed: u64,
    /// The exit code belongs to another program, as with `pytest | tail`, or was not seen.
    unknown: u64,
    /// Refused by a sandbox or a policy.
    refused: u64,
    /// Still running when the run ended.
    unfinished: u64,
    /// Programs whose exit codes hide those that are unknown, such as `tail` in `pytest | tail`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hidden_by: Vec<String>,
}

impl CommandsSeen {
    /// `None` for an unfinished run, and for a run that is a single command: its own result says enough.
    pub(super) fn of(view: &View) -> Option<Self> {
        let counts = view.evidence.as_ref()?.commands.clone()?;
        let CommandCounts { passed, failed, unknown, refused, unfinished, hidden_by } = counts.clone();
        let any = !view.row.agent.abilities().is_command_line() && counts != CommandCounts::default();
        let hidden_by = hidden_by.iter().map(|program| plain::line(program, LONGEST_PROGRAM)).collect();
        any.then_some(Self { passed, failed, unknown, refused, unfinished, hidden_by })
    }

    /// `3 passed, 1 failed, 1 unknown (exit code hidden by tail)`
    pub(super) fn line(&self) -> String {
        let Self { passed, failed, unknown, refused, unfinished, hidden_by } = self;
        let all = [
            (passed, "passed"),
            (failed, "failed"),
            (unknown, "unknown"),
            (refused, "refused"),
            (unfinished, "unfinished"),
        ];
        let told = all.iter().filter(|(count, _)| **count > 0).map(|(count, word)| format!("{count} {word}"));
        let told = told.collect::<Vec<_>>().join(", ");
        match hidden_by.as_slice() {
            [] => told,
            programs => format!("{told} (exit code hidden by {})", programs.join(", ")),
        }
    }
}
