//! How many of an agent's commands came to what, for a reply.

use schemars::JsonSchema;
use serde::Serialize;

use crate::evidence::CommandCounts;
use crate::reading::View;

/// From how they ended, never from what the agent says.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct CommandsSeen {
    passed: u64,
    failed: u64,
    /// The exit code was another program's, as with `pytest | tail`, or was not seen.
    unknown: u64,
    /// By a sandbox or a policy.
    refused: u64,
    /// Still running when the run ended.
    unfinished: u64,
}

impl CommandsSeen {
    /// Of a run that is over; of one that is a single command, its own end says it.
    pub(super) fn of(view: &View) -> Option<Self> {
        let counts = view.evidence.as_ref()?.commands?;
        let CommandCounts { passed, failed, unknown, refused, unfinished } = counts;
        let any = !view.row.agent.abilities().is_command_line() && counts != CommandCounts::default();
        any.then_some(Self { passed, failed, unknown, refused, unfinished })
    }

    /// `3 passed, 1 failed, 1 unknown`
    pub(super) fn line(&self) -> String {
        let Self { passed, failed, unknown, refused, unfinished } = self;
        let all = [
            (passed, "passed"),
            (failed, "failed"),
            (unknown, "unknown"),
            (refused, "refused"),
            (unfinished, "unfinished"),
        ];
        let told = all.iter().filter(|(count, _)| **count > 0).map(|(count, word)| format!("{count} {word}"));
        told.collect::<Vec<_>>().join(", ")
    }
}
