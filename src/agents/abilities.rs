//! What each agent can do and what it needs. Other folders decide by these, never by an agent's
//! name.

use crate::model::{AgentName, WorkKind};

/// The abilities of one agent.
#[derive(Debug)]
pub(crate) struct Abilities {
    pub(crate) work: WorkKind,
    pub(crate) task: TaskText,
    pub(crate) program: Program,
    /// Can resume a thread, so an empty task means "continue".
    pub(crate) resumes: bool,
    /// Refuses to work outside a git repository unless told to.
    pub(crate) needs_git: bool,
    /// Runs its commands in the requested sandbox by itself.
    pub(crate) has_own_sandbox: bool,
    /// Environment variables it needs besides those of every run.
    pub(crate) environment: &'static [&'static str],
    pub(crate) edits: Edits,
    /// Keeps a record of each thread below its own home, which tells more than its events.
    pub(crate) keeps_rollouts: bool,
    /// Can be told of skills on this machine.
    pub(crate) reads_skills: bool,
}

/// The meaning of a task's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskText {
    /// A prompt for a model.
    Prompt,
    /// A shell command line. We write its summary, and identical ones are not deduplicated.
    CommandLine,
    /// The name of a recording.
    Recording,
    /// A JSON plan of jobs.
    Plan,
}

/// How the agent's program is found at submit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Program {
    /// Installed by the user; found by configuration or `PATH`.
    Codex,
    Shell,
    /// This program.
    Own,
}

/// What the agent's edit events mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edits {
    Reported,
    /// It edits files without reporting them.
    Unreported,
    /// It edits nothing; reported edits happened in the recording.
    Replayed,
}

impl Abilities {
    pub(crate) fn takes_prompt(&self) -> bool {
        self.task == TaskText::Prompt
    }

    pub(crate) fn is_command_line(&self) -> bool {
        self.task == TaskText::CommandLine
    }

    /// Prints one JSON event per line, stored as `events.jsonl`.
    pub(crate) fn emits_events(&self) -> bool {
        self.work.is_child() && !self.is_command_line()
    }
}

impl AgentName {
    pub(crate) fn abilities(self) -> &'static Abilities {
        match self {
            AgentName::Codex => &crate::agents::codex::ABILITIES,
            AgentName::CodexCloud => &crate::agents::codex_cloud::ABILITIES,
            AgentName::Command => &crate::agents::command::ABILITIES,
            AgentName::Replay => &crate::agents::replay::ABILITIES,
            AgentName::Autopilot => &crate::agents::autopilot::ABILITIES,
        }
    }
}
