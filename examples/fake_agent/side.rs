//! The record that the fake agent keeps without delegator's knowledge.
//!
//! It consists of files in the directory `FAKE_SIDE`: `questions` with a line per probe,
//! `RUN.starts` with a line per start of a run's agent, `RUN.stdout` with every byte it was about
//! to print, and `spans` with a timed line for each start and end of any agent.

use std::env;
use std::path::PathBuf;

use super::append;

pub(crate) struct Side {
    dir: Option<PathBuf>,
    run: String,
}

impl Side {
    pub(crate) fn open() -> Side {
        let runs = env::var("DELEGATOR_RUNS").unwrap_or_default();
        // Outermost first, so the last one is ours.
        let run = runs.rsplit(':').next().filter(|run| !run.is_empty()).unwrap_or("none").to_owned();
        Side { dir: env::var_os("FAKE_SIDE").map(PathBuf::from), run }
    }

    pub(crate) fn started(&self) {
        self.append(&format!("{}.starts", self.run), format!("{}\n", std::process::id()).as_bytes());
        self.append("spans", format!("+ {} {}\n", now(), self.run).as_bytes());
    }

    /// Records a probe and waits while a file `hold` exists.
    pub(crate) fn asked(&self, question: &[&str]) {
        self.append("questions", format!("{}\n", question.join(" ")).as_bytes());
        if let Some(hold) = self.dir.as_ref().map(|dir| dir.join("hold")) {
            super::until(|| !hold.exists());
        }
    }

    pub(crate) fn will_print(&self, bytes: &[u8]) {
        self.append(&format!("{}.stdout", self.run), bytes);
    }

    pub(crate) fn ended(&self) {
        self.append("spans", format!("- {} {}\n", now(), self.run).as_bytes());
    }

    fn append(&self, name: &str, bytes: &[u8]) {
        if let Some(dir) = &self.dir {
            append(&dir.join(name), bytes);
        }
    }
}

/// Nanoseconds of a clock that all processes share and nobody sets.
fn now() -> u128 {
    // SAFETY: the structure is a valid place for the kernel to write to.
    let time = unsafe {
        let mut time: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time);
        time
    };
    time.tv_sec as u128 * 1_000_000_000 + time.tv_nsec as u128
}
