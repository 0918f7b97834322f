//! What the agent tells behind delegator's back.
//!
//! Four files in the directory `FAKE_SIDE`: `questions` has a line for each question about itself, `RUN.starts` has a line for each
//! start of the run's agent, `RUN.stdout` every byte it was about to print,
//! and `spans` a line for each start and end of any agent, with the time.

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
        // Outermost first: the last one is ours.
        let run = runs.rsplit(':').next().filter(|run| !run.is_empty()).unwrap_or("none").to_owned();
        Side { dir: env::var_os("FAKE_SIDE").map(PathBuf::from), run }
    }

    pub(crate) fn started(&self) {
        self.append(&format!("{}.starts", self.run), format!("{}\n", std::process::id()).as_bytes());
        self.append("spans", format!("+ {} {}\n", now(), self.run).as_bytes());
    }

    /// A question about itself. It waits as long as there is a file `hold`.
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
