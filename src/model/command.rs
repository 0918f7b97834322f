//! What to start and how to stop it, as an adapter decides.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A command line. `env` is added to the allow-listed environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandSpec {
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<String>,
    pub(crate) cwd: PathBuf,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) stdin: Stdin,
    pub(crate) stdout: Stdout,
    pub(crate) stop: Stop,
    /// Sent by the kernel if the supervisor is killed.
    pub(crate) on_orphaned: Signal,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stdin {
    /// Written completely, then closed.
    Text(String),
    /// Written first, then kept open for replies of the adapter's reader.
    Open(Vec<u8>),
}

/// The format of the agent's standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stdout {
    /// One JSON object per line: stored as `events.jsonl` and parsed.
    Events,
    /// Plain bytes: stored as `stdout.log`, not parsed.
    Text,
}

/// How to ask the agent to stop before it is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stop {
    pub(crate) signal: Signal,
    pub(crate) reach: SignalTarget,
    pub(crate) grace: Duration,
}

/// Who receives the stop signal. A later kill reaches all processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignalTarget {
    /// The agent only: it stops its own children.
    Process,
    /// The agent's process group: a shell does not forward signals.
    Group,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    Interrupt,
    Terminate,
    Kill,
}

/// How reliably a run's processes can be found and killed, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum KillLevel {
    /// A control group, which processes cannot leave.
    Cgroup,
    /// The supervisor adopts orphans and walks its descendants.
    Subreaper,
    /// Processes are found by the run's mark in their environment.
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
