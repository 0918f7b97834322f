//! Agent adapters behind one trait.
//!
//! An adapter never spawns, reads the clock or touches the disk: it writes a command line and
//! parses output lines.

mod abilities;
mod autopilot;
mod codex;
mod codex_cloud;
mod command;
// Beside the recordings that it reads.
#[cfg(test)]
#[path = "../../tests/corpus/streams.rs"]
mod corpus;
mod replay;
mod signal_names;
#[cfg(test)]
pub(crate) mod testing;

use std::path::PathBuf;

use crate::environments::Label;
use crate::model::{AgentName, Answer, CommandSpec, Event, Exit, Fault, RemoteJob, Request, Usage};

pub(crate) use abilities::{Abilities, Edits, Program, TaskText};
pub(crate) use codex::{
    CommandFingerprint, NOTHING_SAID, Platform, RolloutCommand, RolloutLine, Unreported, UnreportedFinder,
    answer_schema, is_older_than, is_rollout_of, native_candidates, parse_version, rollout_folders,
};
pub(crate) use command::{JailedCommand, SANDBOX_LEAK_EXIT, SANDBOX_LEAK_PREFIX};

pub(crate) use replay::{BadRecording, check_task, is_shipped, play};
pub(crate) use signal_names::signal_name;

/// The adapter of an agent, by how its work is executed.
pub(crate) enum Adapter {
    Child(&'static dyn Agent),
    Hosted(&'static dyn HostedAgent),
    Coordinator,
}

pub(crate) fn adapter(name: AgentName) -> Adapter {
    match name {
        AgentName::Codex => Adapter::Child(&codex::Codex),
        AgentName::CodexCloud => Adapter::Hosted(&codex_cloud::CodexCloud),
        AgentName::Command => Adapter::Child(&command::Command),
        AgentName::Replay => Adapter::Child(&replay::Replay),
        AgentName::Autopilot => Adapter::Coordinator,
    }
}

/// Whether a run's warning says that a sandbox or a policy refused something.
pub(crate) fn tells_of_refusal(warning: &str) -> bool {
    codex::tells_of_refusal(warning) || command::tells_of_refusal(warning)
}

/// A reader for the output of `request`'s agent; `None` if it is no process of ours.
pub(crate) fn reader(request: &Request, prompt: &str) -> Option<Box<dyn Reader>> {
    match adapter(request.agent) {
        Adapter::Child(agent) => Some(agent.reader(request, prompt)),
        Adapter::Hosted(_) | Adapter::Coordinator => None,
    }
}

pub(crate) trait Agent: Sync {
    /// Questions to the installed program before its command line can be written. Asked briefly in
    /// the run's directory and environment, unless the answers are cached.
    fn probes(&self, request: &Request) -> Vec<Probe>;

    /// Builds the command line. `findings` are the answers to `probes`, in order.
    fn command(
        &self,
        request: &Request,
        prompt: &str,
        files: &AgentFiles,
        findings: &[ProbeAnswer],
    ) -> Result<AgentPlan, Fault>;

    /// A reader for the standard output of one run. `prompt` is for agents that need a handshake
    /// first.
    fn reader(&self, request: &Request, prompt: &str) -> Box<dyn Reader>;
}

/// Reads the output of a run line by line.
pub(crate) trait Reader {
    /// Reads a line of standard output. Lines that the adapter does not understand yield no event;
    /// the raw line is already on disk.
    fn line(&mut self, line: &[u8]) -> ParsedLine;

    /// Reads a line of standard error, for agents that report some things only there.
    fn stderr_line(&mut self, _line: &[u8]) {}

    /// Bytes for the agent's standard input that answer its question.
    fn answer(&mut self, _text: &str) -> Vec<u8> {
        Vec::new()
    }

    /// Bytes for the standard input of an agent that is asked to stop over its own protocol. An
    /// agent that gets none, or no longer reads them, is signalled.
    fn on_stop(&mut self) -> Vec<u8> {
        Vec::new()
    }

    /// Judges the run after its process has ended and all output is read.
    fn verdict(&self, end: &AgentEnd) -> Verdict;
}

/// A service that does the work elsewhere, driven through a local program that is called briefly.
pub(crate) trait HostedAgent: Sync {
    /// The call that submits the work. It is never repeated.
    fn submit(&self, request: &Request, prompt: &str) -> HostedCall;

    fn submitted(&self, answer: &HostedAnswer) -> Submitted;

    /// Lists recent jobs, to find one whose submission was cut off before its id was recorded. `after` is the
    /// `next` of the page before.
    fn list(&self, request: &Request, after: Option<&str>) -> HostedCall;

    fn find(&self, request: &Request, answer: &HostedAnswer) -> Result<Listed, Fault>;

    fn poll(&self, job: &RemoteJob) -> HostedCall;

    fn polled(&self, answer: &HostedAnswer) -> Result<RemoteState, Fault>;

    /// Fetches the changes of an attempt of a job that succeeded. The first has number 1.
    fn fetch(&self, job: &RemoteJob, attempt: u32) -> HostedCall;

    /// The changes as a diff; `None` if there are none.
    fn fetched(&self, answer: &HostedAnswer) -> Result<Option<String>, Fault>;
}

/// One call of the local program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostedCall {
    pub(crate) args: Vec<String>,
    pub(crate) stdin: String,
}

/// What the program printed, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostedAnswer {
    pub(crate) exit: Exit,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// What came of a submission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Submitted {
    Job(RemoteJob),
    /// The service does not have the job.
    Refused(Fault),
    /// The service may have the job in spite of the fault.
    Unknown(Fault),
}

/// What a list shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    /// The job of the request, if it is there.
    pub(crate) job: Option<RemoteJob>,
    /// The environments of all jobs.
    pub(crate) environments: Vec<Label>,
    /// Where the next page begins, if there is one.
    pub(crate) next: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RemoteState {
    /// In one line.
    Working(String),
    Ended {
        result: Result<(), Fault>,
        summary: String,
    },
}

/// The meaning of a line.
#[derive(Debug, Default)]
pub(crate) struct ParsedLine {
    pub(crate) events: Vec<Event>,
    /// The output of a command that ended.
    pub(crate) output: Option<CommandOutput>,
    /// Bytes for the agent's standard input, for interactive agents.
    pub(crate) reply: Vec<u8>,
    /// Standard input may be closed. Interactive agents do not exit before that.
    pub(crate) done: bool,
    /// The run is not the requested one and must end.
    pub(crate) abort: Option<Fault>,
}

impl ParsedLine {
    /// The output of the command that ended with `event`.
    pub(crate) fn printed_by(&self, event: &Event) -> Option<&str> {
        let output = self.output.as_ref()?;
        matches!(event, Event::CommandEnded { item, .. } if *item == output.item)
            .then_some(output.text.as_str())
    }
}

/// All output of a command, with the agent's id for it.
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
    /// The program alone, so the answer can be cached.
    Program,
    /// Settings, directories or the environment.
    Configuration,
}

/// The answer; `None` if the program could not be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProbeAnswer {
    pub(crate) stdout: Option<String>,
}

/// Files in the run directory that a command line may use.
#[derive(Debug, Clone)]
pub(crate) struct AgentFiles {
    pub(crate) schema: PathBuf,
    pub(crate) last_message: PathBuf,
}

/// A command line with warnings.
#[derive(Debug)]
pub(crate) struct AgentPlan {
    pub(crate) spec: CommandSpec,
    pub(crate) warnings: Vec<String>,
    /// The program's version, if known.
    pub(crate) agent_version: Option<String>,
    /// Directories that the agent may leave behind empty. Removed if they are new and empty.
    pub(crate) leftover_dirs: Vec<PathBuf>,
}

/// What a verdict needs besides the lines.
#[derive(Debug)]
pub(crate) struct AgentEnd {
    pub(crate) exit: Exit,
    /// The last few kilobytes of standard error, decoded.
    pub(crate) stderr_tail: String,
    /// The last line of standard output, redacted.
    pub(crate) last_line: String,
    /// The last line of standard error, redacted.
    pub(crate) last_error: String,
    /// The content of the agent's last-message file.
    pub(crate) last_message: Option<String>,
}

/// The result of a run.
#[derive(Debug, PartialEq)]
pub(crate) struct Verdict {
    /// `Err` is the first cause. Exit code 0 alone is no success.
    pub(crate) result: Result<(), Fault>,
    pub(crate) summary: String,
    pub(crate) answer: Option<Answer>,
    /// The text of an answer that must still be checked against the caller's schema.
    pub(crate) unchecked: Option<String>,
    pub(crate) warnings: Vec<String>,
    pub(crate) thread_id: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) usage: Option<Usage>,
    pub(crate) usage_total: Option<Usage>,
}
