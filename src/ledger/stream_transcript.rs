//! Writes the transcript of a `command` run: stdout and stderr in order of arrival, and beside it an index
//! that says which bytes came from which stream.
//!
//! Lines are kept whole: output of one stream never starts in the middle of the other's line.

use std::fs::File;
use std::io;
use std::io::Write;

use crate::host::{clock, files};
use crate::ledger::output_stream::cut_line;
use crate::model::{Request, Stdout};
use crate::runs::RunDir;
use crate::supervisor::{Stream, StreamCapture};
use crate::terminals::OutputTimes;

/// Write an unfinished line once it is longer than this.
const LONGEST_OPEN: usize = 64 << 10;

pub(crate) struct StreamTranscript {
    capture: Option<StreamCapture>,
    streams: Option<File>,
    /// When each byte arrived.
    times: OutputTimes,
    /// The unfinished line of each stream.
    open: [Vec<u8>; 2],
    /// The lengths of `open` at the previous call of `show_open`.
    open_before: [usize; 2],
    bytes: u64,
    /// The stream that was written last.
    last: Option<Stream>,
    /// Whether its last byte is in the middle of a line.
    within: bool,
    trouble: Option<io::Error>,
}

impl StreamTranscript {
    pub(crate) fn create(dir: &RunDir, request: &Request) -> io::Result<Self> {
        Ok(Self {
            capture: Some(StreamCapture::create(dir.transcript(), request.max_stream_bytes)?),
            streams: Some(files::create_log(&dir.transcript_streams())?),
            times: OutputTimes::new(dir.times()),
            open: [Vec::new(), Vec::new()],
            open_before: [0, 0],
            bytes: 0,
            last: None,
            within: false,
            trouble: None,
        })
    }

    pub(crate) fn add(&mut self, stream: Stream, bytes: &[u8]) {
        let mut open = std::mem::take(&mut self.open[index(stream)]);
        let Some(last) = memchr::memrchr(b'\n', bytes) else {
            open.extend_from_slice(bytes);
            if open.len() > LONGEST_OPEN {
                self.write(stream, &open);
                open.clear();
            }
            self.open[index(stream)] = open;
            return;
        };
        let first = if open.is_empty() { 0 } else { memchr::memchr(b'\n', bytes).map_or(0, |at| at + 1) };
        open.extend_from_slice(&bytes[..first]);
        self.write(stream, &open);
        self.write(stream, &bytes[first..=last]);
        open.clear();
        open.extend_from_slice(&bytes[last + 1..]);
        self.open[index(stream)] = open;
    }

    /// Writes unfinished lines that are redrawn (`\r`) or wait for input; called about once a second.
    pub(crate) fn show_open(&mut self) {
        for stream in [Stream::Stdout, Stream::Stderr] {
            let at = index(stream);
            let open = std::mem::take(&mut self.open[at]);
            let waits = !open.is_empty() && open.len() == self.open_before[at];
            let shown = if waits { open.len() } else { memchr::memrchr(b'\r', &open).map_or(0, |at| at + 1) };
            self.write(stream, &open[..shown]);
            self.open[at] = open[shown..].to_vec();
            self.open_before[at] = self.open[at].len();
        }
    }

    fn write(&mut self, stream: Stream, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        if self.within && self.last != Some(stream) {
            self.keep(b"\n");
        }
        if self.last != Some(stream) {
            self.last = Some(stream);
            let begins = self.bytes << 1 | index(stream) as u64;
            let written = self.streams.as_mut().map(|file| file.write_all(&begins.to_le_bytes()));
            self.note(written.unwrap_or(Ok(())));
        }
        self.keep(bytes);
        self.within = !bytes.ends_with(b"\n");
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        let Some(capture) = &mut self.capture else { return };
        self.times.passed(bytes, clock::now());
        let written = capture.write(bytes);
        if !capture.is_whole() {
            self.times.give_up();
        }
        self.note(written);
    }

    /// An error costs the rest of the transcript, never the run: both streams are also kept on their own.
    fn note(&mut self, written: io::Result<()>) {
        if let Err(error) = written {
            self.trouble.get_or_insert(error);
            (self.capture, self.streams) = (None, None);
        }
    }

    /// Closes the transcript and returns the first error.
    pub(crate) fn finish(mut self) -> Option<io::Error> {
        for stream in [Stream::Stdout, Stream::Stderr] {
            let open = std::mem::take(&mut self.open[index(stream)]);
            self.write(stream, &open);
        }
        let joined = self.capture.map(|capture| capture.finish(|dropped| cut_line(Stdout::Text, dropped)).1);
        self.trouble.or(joined.and_then(Result::err))
    }
}

fn index(stream: Stream) -> usize {
    match stream {
        Stream::Stdout => 0,
        Stream::Stderr => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::testing::request;

    fn transcript(chunks: &[(Stream, &str)]) -> (String, Vec<(u64, Stream)>) {
        let home = tempfile::tempdir().unwrap();
        let dir = RunDir::at(home.path().to_owned());
        let mut transcript = StreamTranscript::create(&dir, &request()).unwrap();
        for (stream, text) in chunks {
            match *text {
                "(a second later)" => transcript.show_open(),
                text => transcript.add(*stream, text.as_bytes()),
            }
        }
        assert!(transcript.finish().is_none());
        let streams = std::fs::read(dir.transcript_streams()).unwrap();
        let entries = streams.chunks(8).map(|entry| u64::from_le_bytes(entry.try_into().unwrap()));
        let streams = entries.map(|entry| (entry >> 1, if entry & 1 == 0 { OUT } else { ERR })).collect();
        (std::fs::read_to_string(dir.transcript()).unwrap(), streams)
    }

    const OUT: Stream = Stream::Stdout;
    const ERR: Stream = Stream::Stderr;

    #[test]
    fn streams_do_not_meet_in_the_middle_of_a_line() {
        let (text, streams) =
            transcript(&[(OUT, "test a ... "), (ERR, "warning: x\nerr"), (OUT, "ok\nte"), (ERR, "or\n")]);
        assert_eq!(text, "warning: x\ntest a ... ok\nerror\nte");
        assert_eq!(streams, [(0, ERR), (11, OUT), (25, ERR), (31, OUT)]);
    }

    #[test]
    fn a_line_that_waits_is_shown_before_it_ends() {
        let later = (OUT, "(a second later)");
        let (text, _) = transcript(&[(OUT, "Continue? "), later, later, (ERR, "no\n"), (OUT, "y\n")]);
        assert_eq!(text, "Continue? \nno\ny\n");
        assert_eq!(transcript(&[(ERR, "10%\r20%\r30"), later, (ERR, "%\n")]).0, "10%\r20%\r30%\n");
    }

    #[test]
    fn a_line_without_an_end_does_not_fill_the_memory() {
        let home = tempfile::tempdir().unwrap();
        let mut transcript =
            StreamTranscript::create(&RunDir::at(home.path().to_owned()), &request()).unwrap();
        for _ in 0..1000 {
            transcript.add(ERR, &[b'x'; 4096]);
        }
        assert!(transcript.open[1].capacity() <= 4 * LONGEST_OPEN);
    }
}
