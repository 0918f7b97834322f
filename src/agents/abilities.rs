//! What each agent can do and what it needs. Everything outside this folder
//! decides by these, never by an agent's name.

use crate::model::AgentName;

/// One agent's row.
#[derive(Debug)]
pub(crate) struct Abilities {
    pub(crate) task: TaskText,
    pub(crate) program: Program,
    /// Continues an earlier thread, so an empty task means "continue".
    pub(crate) resumes: bool,
    /// Refuses to work outside a git repository unless told to.
    pub(crate) needs_git: bool,
    /// Keeps its own commands in the sandbox that was asked for.
    pub(crate) has_own_sandbox: bool,
    /// Environment variables it needs beside those every run gets.
    pub(crate) environment: &'static [&'static str],
    pub(crate) edits: Edits,
    /// Keeps a record of each thread below its own home, which tells more than its events.
    pub(crate) keeps_rollouts: bool,
}

/// What the text of a task is to the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskText {
    /// Words for a model; the agent answers them.
    Prompt,
    /// A shell command line. Its summary is ours, and it may be meant to run twice.
    CommandLine,
    /// The name of a recording.
    Recording,
}

/// How the agent's program is found at submit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Program {
    /// Installed by the user, found by configuration or `PATH`.
    Codex,
    Shell,
    /// This program itself.
    Own,
}

/// What a report of an edit means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edits {
    Reported,
    /// It edits files and does not say which.
    Unreported,
    /// It edits nothing; what it reports happened elsewhere.
    Replayed,
}

impl Abilities {
    pub(crate) fn takes_prompt(&self) -> bool {
        self.task == TaskText::Prompt
    }

    pub(crate) fn is_command_line(&self) -> bool {
        self.task == TaskText::CommandLine
    }

    /// Prints one JSON event a line, kept as `events.jsonl`.
    pub(crate) fn emits_events(&self) -> bool {
        !self.is_command_line()
    }
}

impl AgentName {
    pub(crate) fn abilities(self) -> &'static Abilities {
        match self {
            AgentName::Codex => &crate::agents::codex::ABILITIES,
            AgentName::Command => &crate::agents::command::ABILITIES,
            AgentName::Replay => &crate::agents::replay::ABILITIES,
        }
    }
}
