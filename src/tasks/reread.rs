//! Reads the record of a run once more, for one whose supervisor was killed:
//! what it had gathered went with it, and what that came from is on disk.

use std::io::{self, Read};
use std::path::Path;

use crate::agents::{self, End, Reader, Verdict};
use crate::evidence::Gathered;
use crate::host::{beneath, files};
use crate::model::{Exit, Request, Timestamp};
use crate::progress::plain;
use crate::prompts;
use crate::runs::RunDir;
use crate::supervisor::{Lines, Stream};
use crate::tasks::printed::Printed;

/// What is read of the end of a command's output, of each stream.
const TAIL: u64 = 64 << 10;

pub(super) struct Reread {
    pub(super) gathered: Gathered,
    /// How it ended is not known; what else the agent told of the run is here.
    pub(super) verdict: Verdict,
}

/// When a command ended is not on disk: each is taken to have ended before
/// everything, so that no tests are told to be newer than a change. Nor are they
/// told to be older: whoever looks later says of no change when it was.
const ENDED: Timestamp = Timestamp::from_millis(0);

pub(super) fn reread(dir: &RunDir, request: &Request) -> Reread {
    let mut reader = agents::agent(request.agent).reader(request, &prompts::render(request));
    let mut gathered = Gathered::new(&request.cwd, request.project());
    let tail = |path: &Path| files::tail(path, TAIL).map(|(bytes, _)| bytes).unwrap_or_default();
    let stderr = tail(&dir.stderr());
    if dir.events().exists() {
        // What cannot be read any more tells nothing more.
        let most = request.max_stream_bytes;
        let _ = each_line(&dir.events(), most, |line| note(line, reader.as_mut(), &mut gathered));
        let _ = each_line(&dir.stderr(), most, |line| reader.stderr_line(line));
    } else {
        let mut printed = Printed::new();
        printed.add(Stream::Stdout, &tail(&dir.stdout()));
        printed.add(Stream::Stderr, &stderr);
        gathered.note_only_command(&request.task, None, &printed.finish().0, false, ENDED);
    }
    let verdict = reader.verdict(&End {
        exit: Exit::Signal(9),
        stderr_tail: String::from_utf8_lossy(&stderr).into_owned(),
        last_line: String::new(),
        last_error: plain::last_line(&String::from_utf8_lossy(&stderr)).unwrap_or_default(),
        last_message: None,
    });
    Reread { gathered, verdict }
}

fn note(line: &[u8], reader: &mut dyn Reader, gathered: &mut Gathered) {
    let reading = reader.line(line);
    let printed = reading.output.as_ref().map(|output| output.text.as_str());
    reading.events.iter().for_each(|event| gathered.note(event, printed, ENDED));
}

/// How much longer a stream may be than its limit, for the rests of lines and a word on what is left out.
const BEYOND: u64 = 1 << 20;

/// Hands over the lines of a stream that was kept up to `limit`. An agent that may write everywhere may have
/// put something else in its place: no pipe is waited at, and no file read that has no end.
pub(super) fn each_line(path: &Path, limit: u64, mut each: impl FnMut(&[u8])) -> io::Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let file = beneath::open(parent, Path::new(name)).map_err(io::Error::other)?;
    let mut file = file.take(limit.saturating_add(BEYOND));
    let mut lines = Lines::default();
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
        // A length that costs nothing, and is never read to its end.
        File::options().append(true).open(&events).unwrap().set_len(1 << 42).unwrap();
        assert_eq!(lines_of(&events).unwrap(), 3);
    }
}
