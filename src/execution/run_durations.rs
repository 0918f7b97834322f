//! The durations of a project's runs, in a file of the home: a supervisor needs them at its start, when it
//! opens no database.
//!
//! For commands, it has those of the line that last completed. They are copied from the registry at the end of every completed run, when the registry is open anyway and
//! nobody waits.

use std::path::PathBuf;
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::context::Context;
use crate::host::{Durability, files};
use crate::model::Request;
use crate::reading::{DURATION_SAMPLES, same_line};
use crate::runs::RunDir;

/// We never write a longer file.
const LONGEST: u64 = 16 << 10;

/// The durations known when the run in `dir` starts; empty without the file.
pub(crate) fn read(dir: &RunDir, request: &Request) -> Vec<Duration> {
    let bytes = files::tail(&file(dir, request), LONGEST).map(|(bytes, _)| bytes).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let mut lines = text.lines();
    let known = same_line(request.agent, &request.task);
    if known.is_some_and(|line| lines.next() != Some(&checksum(line.as_bytes()))) {
        return Vec::new();
    }
    lines
        .take(DURATION_SAMPLES as usize)
        .filter_map(|line| line.parse().ok())
        .map(Duration::from_millis)
        .collect()
}

/// Saves what the registry knows now. Errors only cost estimates.
pub(crate) fn write(context: &Context, dir: &RunDir, request: &Request) {
    let project = request.project().to_string_lossy();
    let line = same_line(request.agent, &request.task);
    let took = context.registry.run_durations(&project, request.agent, line, DURATION_SAMPLES);
    let Ok(took) = took else { return };
    let head = line.map(|line| checksum(line.as_bytes()));
    let took = took.iter().map(|took| took.as_millis().to_string());
    let lines: String = head.into_iter().chain(took).map(|line| line + "\n").collect();
    let _ = files::create_dir(&dir.history());
    let _ = files::write(&file(dir, request), lines.as_bytes(), Durability::Whole);
}

fn file(dir: &RunDir, request: &Request) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    let name = checksum(request.project().as_os_str().as_bytes());
    dir.history().join(format!("{name}-{}", request.agent))
}

fn checksum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(10).map(|byte| format!("{byte:02x}")).collect()
}
