//! Reads the events of a run again after its supervisor was killed, and writes what is missing from its
//! ledger and transcript.

use std::io;
use std::io::Read;
use std::path::Path;

use crate::agents::{self, AgentEnd, Reader, Verdict};
use crate::evidence::{Printed, judge};
use crate::host::{files, open_beneath};
use crate::ledger::ledger_files::LedgerFiles;
use crate::ledger::read::{self, Replayed};
use crate::ledger::write::EditsAndRefusals;
use crate::model::{Exit, Progress, Request};
use crate::runs::RunDir;
use crate::supervisor::LineSplitter;
use crate::text::plain;

/// How much is read of the end of a stream.
const TAIL: u64 = 64 << 10;

pub(crate) struct RecoveredRun {
    pub(crate) told: EditsAndRefusals,
    /// Where its events end; absent without events.
    pub(crate) progress: Option<Progress>,
    /// What the agent reported about the run. How its process ended is unknown.
    pub(crate) verdict: Verdict,
}

/// Completes the ledger and the transcript of a run whose supervisor died, and returns what else its events
/// say.
pub(crate) fn complete_ledger(dir: &RunDir, request: &Request) -> Option<RecoveredRun> {
    let mut reader = agents::reader(request, &dir.read_prompt())?;
    let tail = |path: &Path| files::tail(path, TAIL).map(|(bytes, _)| bytes).unwrap_or_default();
    let stderr = tail(&dir.stderr());
    let (told, progress) = match dir.events().exists() {
        true => of_events(dir, request, reader.as_mut()),
        false => (of_command(dir, request), None),
    };
    // A stream that cannot be read adds nothing.
    let _ = each_line(&dir.stderr(), request.max_stream_bytes, |line| reader.stderr_line(line));
    let verdict = reader.verdict(&AgentEnd {
        exit: Exit::Signal(9),
        stderr_tail: String::from_utf8_lossy(&stderr).into_owned(),
        last_line: String::new(),
        last_error: plain::last_line(&String::from_utf8_lossy(&stderr)).unwrap_or_default(),
        last_message: None,
    });
    Some(RecoveredRun { told, progress, verdict })
}

/// Has `reader` read all events, also where nothing can be written.
fn of_events(
    dir: &RunDir,
    request: &Request,
    reader: &mut dyn Reader,
) -> (EditsAndRefusals, Option<Progress>) {
    let pages = LedgerFiles::resume(dir, request).unwrap_or_else(LedgerFiles::unwritable);
    match read::replay(dir, request, reader, pages) {
        Ok(Replayed { pages, told, progress }) => {
            pages.finish(dir);
            (told, Some(progress))
        }
        Err(_) => (EditsAndRefusals::default(), None),
    }
}

/// For a run that is a single command, which has not ended by itself.
fn of_command(dir: &RunDir, request: &Request) -> EditsAndRefusals {
    let root = request.cwd.to_string_lossy();
    let (text, span) = read::printed_by_command(dir);
    if !dir.commands().exists() || read::entries(dir).is_empty() {
        let end = read::only_command(&request.task, &root);
        // If writing fails, only the ledger is lost; the run still ends.
        let _ = read::rewrite(dir, &[judge(&end, Printed { text: &text, is_whole: false, span })]);
    }
    EditsAndRefusals::default()
}

/// How far a stream may exceed its limit: unfinished lines and the line that marks left-out bytes.
const BEYOND: u64 = 1 << 20;

/// Calls `each` for every line of a stream that was kept up to `limit`. The agent may have replaced the file,
/// so a pipe is not waited for and an endless file is not read to its end.
pub(crate) fn each_line(path: &Path, limit: u64, mut each: impl FnMut(&[u8])) -> io::Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let file = open_beneath::open(parent, Path::new(name)).map_err(io::Error::other)?;
    let mut file = file.take(limit.saturating_add(BEYOND));
    let mut lines = LineSplitter::default();
    let mut chunk = vec![0; 256 << 10];
    loop {
        match file.read(&mut chunk)? {
            0 => break,
            n => lines.feed(&chunk[..n], &mut each),
        }
    }
    lines.finish(each);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    fn lines_of(path: &Path) -> io::Result<usize> {
        let mut lines = 0;
        each_line(path, 8, |_| lines += 1).map(|()| lines)
    }

    #[test]
    fn what_took_the_place_of_a_stream_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let [events, pipe, link] = ["events.jsonl", "pipe", "link"].map(|name| dir.path().join(name));
        fs::write(&events, "{}\n{}\n[]").unwrap();
        assert_eq!(lines_of(&events).unwrap(), 3);
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RWXU, 0).unwrap();
        std::os::unix::fs::symlink(&events, &link).unwrap();
        assert!(lines_of(&pipe).is_err() && lines_of(&link).is_err());
        assert!(lines_of(&dir.path().join("none")).is_err());
        // A sparse file: costs nothing to make, and must not be read to its end.
        File::options().append(true).open(&events).unwrap().set_len(1 << 42).unwrap();
        assert_eq!(lines_of(&events).unwrap(), 3);
    }
}
