//! The agents we can hand work to, each a dialect behind one trait.
//!
//! An adapter never spawns, never reads the clock, never touches the disk: it
//! writes a command line and reads lines. Everything else is the supervisor's.

mod abilities;
mod codex;
mod command;
#[cfg(test)]
mod corpus;
mod replay;
mod signal_names;
#[cfg(test)]
mod sketches;
#[cfg(test)]
pub(crate) mod testing;

use std::path::PathBuf;

use crate::model::{AgentName, Answer, CommandSpec, Event, Exit, Fault, Request, Usage};

pub(crate) use abilities::{Abilities, Edits, Program, TaskText};
pub(crate) use codex::{
    Mark, NOTHING_SAID, Platform, Ran, Silence, Told, Unreported, answer_schema, is_older_than,
    is_rollout_of, native_candidates, parse_version, rollout_folders,
};
pub(crate) use command::{Cell, LEAKED, LEAKS};

pub(crate) use replay::{BadRecording, check_task, is_shipped, play};
pub(crate) use signal_names::signal_name;

/// The adapter for `name`.
pub(crate) fn agent(name: AgentName) -> &'static dyn Agent {
    match name {
        AgentName::Codex => &codex::Codex,
        AgentName::Command => &command::Command,
        AgentName::Replay => &replay::Replay,
    }
}

pub(crate) trait Agent: Sync {
    /// What the installed program must be asked before its command line can be
    /// written. Asked in the run's directory and environment, each briefly, unless
    /// its answer is known.
    fn probes(&self, request: &Request) -> Vec<Probe>;

    /// Writes the command line for `request`. `findings` answers `probes`, in order.
    fn command(
        &self,
        request: &Request,
        prompt: &str,
        files: &Files,
        findings: &[Finding],
    ) -> Result<Plan, Fault>;

    /// A fresh reader for one run's standard output. `prompt` is for agents that
    /// must be greeted before they can be asked.
    fn reader(&self, request: &Request, prompt: &str) -> Box<dyn Reader>;
}

/// Reads one run's standard output, line by line.
pub(crate) trait Reader {
    /// Reads one line.
    ///
    /// Lines the adapter does not understand yield no event; the raw line is
    /// already on disk, so nothing is lost.
    fn line(&mut self, line: &[u8]) -> Reading;

    /// Reads one line of standard error, for agents that tell some things only there.
    fn stderr_line(&mut self, _line: &[u8]) {}

    /// Judges the run when its process has ended and its output is all read.
    fn verdict(&self, end: &End) -> Verdict;
}

/// What one line meant.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    pub(crate) events: Vec<Event>,
    /// What a command printed that came to its end.
    pub(crate) output: Option<CommandOutput>,
    /// Bytes for the agent's standard input, for agents that converse.
    pub(crate) reply: Vec<u8>,
    /// The conversation is over: standard input may be closed. Agents that
    /// converse do not end by themselves before that.
    pub(crate) done: bool,
    /// The run is not what was asked for and must end now.
    pub(crate) abort: Option<Fault>,
}

impl Reading {
    /// What was printed by the command that ended with `event`.
    pub(crate) fn printed_by(&self, event: &Event) -> Option<&str> {
        let output = self.output.as_ref()?;
        matches!(event, Event::CommandEnded { item, .. } if *item == output.item)
            .then_some(output.text.as_str())
    }
}

/// All that one command printed, under the agent's own name for it.
#[derive(Debug)]
pub(crate) struct CommandOutput {
    pub(crate) item: String,
    pub(crate) text: String,
}

/// A question to the installed program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Probe {
    pub(crate) args: Vec<String>,
    pub(crate) decided_by: DecidedBy,
}

/// What an answer depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DecidedBy {
    /// The program alone: its answer is the same wherever and whenever it is asked.
    Program,
    /// Settings, directories or the environment.
    Configuration,
}

/// What the program answered, `None` when it could not be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) stdout: Option<String>,
}

/// Files of the run directory that a command line may name.
#[derive(Debug, Clone)]
pub(crate) struct Files {
    pub(crate) schema: PathBuf,
    pub(crate) last_message: PathBuf,
}

/// A command line and what there is to say about it.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) spec: CommandSpec,
    pub(crate) warnings: Vec<String>,
    /// The program's own version, where it was asked.
    pub(crate) agent_version: Option<String>,
    /// Directories that the agent may leave behind empty. Those that were not
    /// there before and are empty afterwards are removed.
    pub(crate) litter: Vec<PathBuf>,
}

/// Everything a verdict rests on, beside the lines already read.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) exit: Exit,
    /// The last few kilobytes of standard error, decoded.
    pub(crate) stderr_tail: String,
    /// The last line of standard output, as it may be shown.
    pub(crate) last_line: String,
    /// The same of standard error.
    pub(crate) last_error: String,
    /// What the agent left in the file for its last message.
    pub(crate) last_message: Option<String>,
}

/// What the run came to.
#[derive(Debug, PartialEq)]
pub(crate) struct Verdict {
    /// `Err` is the first cause. Exit code 0 alone is no success.
    pub(crate) result: Result<(), Fault>,
    pub(crate) summary: String,
    pub(crate) answer: Option<Answer>,
    /// The text of an answer that has to fit the caller's own schema, and was not held against it yet.
    pub(crate) unchecked: Option<String>,
    pub(crate) warnings: Vec<String>,
    pub(crate) thread_id: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) usage: Option<Usage>,
    pub(crate) usage_total: Option<Usage>,
}
