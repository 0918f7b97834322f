//! What a run directory holds, by name.

use std::path::{Path, PathBuf};

use crate::model::RunId;

/// One run's directory.
#[derive(Debug, Clone)]
pub(crate) struct RunDir {
    path: PathBuf,
}

/// The files a caller may be shown, in the order they are listed. Secrets and
/// bookkeeping (`env.json`, locks, sockets) are not among them.
const ARTIFACTS: &[&str] = &[
    "result.json",
    "last_message.json",
    "events.jsonl",
    "stdout.log",
    "stderr.log",
    "progress.json",
    "request.json",
    "subagent_prompt.txt",
    "subagent_output.schema.json",
    "command.json",
    "thread.json",
    "started.json",
    "supervisor.log",
];

impl RunDir {
    pub(crate) fn at(path: PathBuf) -> Self {
        Self { path }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    pub(crate) fn lock(&self) -> PathBuf {
        self.file("run.lock")
    }

    pub(crate) fn request(&self) -> PathBuf {
        self.file("request.json")
    }

    pub(crate) fn env(&self) -> PathBuf {
        self.file("env.json")
    }

    pub(crate) fn started(&self) -> PathBuf {
        self.file("started.json")
    }

    pub(crate) fn progress(&self) -> PathBuf {
        self.file("progress.json")
    }

    pub(crate) fn result(&self) -> PathBuf {
        self.file("result.json")
    }

    pub(crate) fn events(&self) -> PathBuf {
        self.file("events.jsonl")
    }

    pub(crate) fn stdout(&self) -> PathBuf {
        self.file("stdout.log")
    }

    pub(crate) fn stderr(&self) -> PathBuf {
        self.file("stderr.log")
    }

    pub(crate) fn last_message(&self) -> PathBuf {
        self.file("last_message.json")
    }

    pub(crate) fn schema(&self) -> PathBuf {
        self.file("subagent_output.schema.json")
    }

    pub(crate) fn prompt(&self) -> PathBuf {
        self.file("subagent_prompt.txt")
    }

    pub(crate) fn supervisor_log(&self) -> PathBuf {
        self.file("supervisor.log")
    }

    /// Asks the supervisor to stop, when its socket cannot be reached.
    pub(crate) fn cancel(&self) -> PathBuf {
        self.file("cancel")
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.file("ctl.sock")
    }

    /// Holds an empty file for every run inside this one, named after it.
    pub(crate) fn inner(&self) -> PathBuf {
        self.file("inner")
    }

    /// The directory of another run in the same home.
    pub(crate) fn of(&self, run: &RunId) -> RunDir {
        Self::at(self.path.with_file_name(run.as_str()))
    }

    /// Room on the disk that is given back when the disk is full, so that the
    /// end of the run can still be written down.
    pub(crate) fn reserve(&self) -> PathBuf {
        self.file("reserve")
    }

    /// What artifacts are called, there or not. Whoever asks for one by name is
    /// held to these: no path is ever made of what a caller wrote.
    pub(crate) fn artifact_names() -> impl Iterator<Item = &'static str> {
        ARTIFACTS.iter().copied()
    }

    /// The artifacts that are there now.
    pub(crate) fn artifacts(&self) -> Vec<(&'static str, PathBuf)> {
        let there = |name: &&str| self.file(name).is_file();
        ARTIFACTS.iter().filter(|name| there(name)).map(|name| (*name, self.file(name))).collect()
    }
}
