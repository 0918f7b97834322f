//! Reads the record of a run once more, for one whose supervisor was killed:
//! what it had gathered went with it, and what that came from is on disk.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::agents::{self, End, Reader, Verdict};
use crate::evidence::Gathered;
use crate::host::files;
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
        let _ = events(&dir.events(), reader.as_mut(), &mut gathered);
        let _ = each_line(&dir.stderr(), |line| reader.stderr_line(line));
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

fn events(path: &Path, reader: &mut dyn Reader, gathered: &mut Gathered) -> io::Result<()> {
    each_line(path, |line| {
        let reading = reader.line(line);
        let printed = reading.output.as_ref().map(|output| output.text.as_str());
        reading.events.iter().for_each(|event| gathered.note(event, printed, ENDED));
    })
}

pub(super) fn each_line(path: &Path, mut each: impl FnMut(&[u8])) -> io::Result<()> {
    let mut file = File::open(path)?;
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
