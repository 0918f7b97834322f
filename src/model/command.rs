//! What to start and how to end it: an adapter's whole answer to a request.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A command line, ready to run. Environment values are additions to the
/// allow-listed environment that was resolved at submit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandSpec {
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<String>,
    pub(crate) cwd: PathBuf,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) stdin: Stdin,
    pub(crate) stdout: Stdout,
    pub(crate) stop: Stop,
    /// Sent by the kernel when the supervisor itself is killed.
    pub(crate) on_orphaned: Signal,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stdin {
    /// Written whole, then end of file.
    Text(String),
    /// Written first, then kept open for what the adapter's reader replies.
    #[cfg_attr(not(test), expect(dead_code, reason = "for agents that converse; the ACP sketch shows it"))]
    Open(Vec<u8>),
}

/// What the agent's standard output is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stdout {
    /// One JSON object a line: kept as `events.jsonl` and read.
    Events,
    /// Plain bytes: kept as `stdout.log`, not read.
    Text,
}

/// How to ask the agent to end, before it is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stop {
    pub(crate) signal: Signal,
    pub(crate) reach: SignalTarget,
    pub(crate) grace: Duration,
}

/// Whom the asking signal goes to. The kill that follows reaches everyone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignalTarget {
    /// The agent alone: it ends its own children.
    Process,
    /// The agent's process group: a shell does not pass signals on.
    Group,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    Interrupt,
    Terminate,
    Kill,
}

/// How surely a run's processes can be found and ended, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum KillLevel {
    /// A control group of its own: nothing leaves it.
    Cgroup,
    /// Orphans come to the supervisor, which walks its descendants.
    Subreaper,
    /// Processes that carry the run's mark in their environment.
    Marker,
}

impl KillLevel {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            KillLevel::Cgroup => "cgroup",
            KillLevel::Subreaper => "subreaper",
            KillLevel::Marker => "marker",
        }
    }
}
