//! Reads a run's ledger and transcript. For runs of older versions, which have neither file, both are rebuilt
//! from the recorded events.

use std::fs::File;
use std::io;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;

use crate::agents::{self, Reader};
use crate::evidence::{CommandEnd, LedgerEntry, Printed, Span, judge};
use crate::host::FilePart;
use crate::host::files;
use crate::host::{LineIndex, line_index};
use crate::ledger::complete_after_crash::each_line;
use crate::ledger::output_stream;
use crate::ledger::output_stream::cut_line;
use crate::ledger::write::{EditsAndRefusals, LedgerSink, LedgerWriter};
use crate::model::{Exit, ItemStatus, Progress, Request, Stdout, Timestamp};
use crate::progress::Reducer;
use crate::runs::RunDir;
use crate::supervisor;

/// The item name of the command in a run that is a single command.
pub(crate) const ONLY_COMMAND: &str = "command";
/// How much is read of the beginning and of the end of what a command printed.
const HEAD: u64 = 64 << 10;
const TAIL: u64 = 192 << 10;
/// At most this much of a ledger is read.
const MOST_BYTES: u64 = 64 << 20;

/// The commands of a run that ended, in order. Skips lines that cannot be parsed.
pub(crate) fn entries(dir: &RunDir) -> Vec<LedgerEntry> {
    match output_stream::open_plain_file(&dir.commands()) {
        Ok(file) => read(file),
        Err(_) => match dir.read_request() {
            Ok(Some(request)) => rebuilt(dir, &request).map(|rebuilt| rebuilt.entries).unwrap_or_default(),
            Ok(None) | Err(_) => Vec::new(),
        },
    }
}

fn read(file: File) -> Vec<LedgerEntry> {
    let mut reader = BufReader::new(file.take(MOST_BYTES));
    let (mut entries, mut line) = (Vec::new(), Vec::new());
    loop {
        line.clear();
        match reader.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return entries,
            Ok(_) => entries.extend(serde_json::from_slice::<LedgerEntry>(&line)),
        }
    }
}

/// Replaces the ledger once more is known about its entries.
pub(crate) fn rewrite(dir: &RunDir, entries: &[LedgerEntry]) -> io::Result<()> {
    let mut bytes = Vec::new();
    for entry in entries {
        serde_json::to_writer(&mut bytes, entry)?;
        bytes.push(b'\n');
    }
    files::write(&dir.commands(), &bytes, files::Durability::Whole)
}

/// Joins the pieces of a transcript that a dead supervisor left behind, and returns whether its middle is
/// left out.
pub(crate) fn close_transcript(dir: &RunDir, entries: Vec<LedgerEntry>) -> bool {
    let path = dir.transcript();
    let apart = supervisor::split_stream(&path);
    // On failure the transcript stays in pieces.
    let _ = supervisor::join_segments(&path, |dropped| cut_line(Stdout::Text, dropped));
    let length = std::fs::metadata(&path).map_or(0, |found| found.len());
    match apart {
        Some(apart) => {
            let _ = shift_spans_after_cut(dir, entries, apart.head, apart.dropped);
            true
        }
        None => entries.iter().filter_map(|entry| entry.output).any(|span| span.end > length),
    }
}

/// Corrects the spans of all entries after the middle of the transcript was left out.
pub(crate) fn shift_spans_after_cut(
    dir: &RunDir,
    mut entries: Vec<LedgerEntry>,
    at: u64,
    dropped: u64,
) -> io::Result<()> {
    if dropped == 0 {
        return Ok(());
    }
    let transcript = output_stream::open_joined(&dir.transcript())?;
    let (mut counted, mut lines) = (0, 0);
    for entry in &mut entries {
        let Some(span) = entry.output else { continue };
        let moved = span_after_cut(span, at, dropped);
        entry.output_cut |= moved.is_none_or(|moved| moved.end - moved.start < span.end - span.start);
        entry.output = moved.map(|moved| {
            lines += output_stream::count_lines(&transcript, counted..moved.start);
            let own = output_stream::count_lines(&transcript, moved.start..moved.end);
            let first_line = lines + 1;
            (counted, lines) = (moved.end, lines + own);
            Span { first_line, last_line: first_line + own.saturating_sub(1), ..moved }
        });
    }
    rewrite(dir, &entries)
}

/// The position of `span` after `dropped` bytes were left out at offset `at`; `None` if nothing of it
/// remains.
pub(crate) fn span_after_cut(span: Span, at: u64, dropped: u64) -> Option<Span> {
    let line = cut_line(Stdout::Text, dropped).len() as u64;
    let after = |byte: u64| byte - dropped + line;
    let (start, end) = match (span.start < at, span.end <= at) {
        (_, true) => (span.start, span.end),
        (true, false) if span.end <= at + dropped => (span.start, at),
        (true, false) => (span.start, after(span.end)),
        (false, _) if span.end <= at + dropped => return None,
        (false, _) => (after(span.start.max(at + dropped)), after(span.end)),
    };
    Some(Span { start, end, ..span })
}

/// Ledger and transcript rebuilt for a run that has none. The transcript is an unnamed temporary file.
pub(crate) struct RebuiltLedger {
    pub(crate) transcript: File,
    pub(crate) entries: Vec<LedgerEntry>,
}

impl LedgerSink for RebuiltLedger {
    fn transcript(&mut self, bytes: &[u8]) {
        // After a failed write, the end is missing.
        let _ = self.transcript.write_all(bytes);
    }

    fn entry(&mut self, entry: &LedgerEntry) {
        self.entries.push(entry.clone());
    }
}

fn rebuilt(dir: &RunDir, request: &Request) -> io::Result<RebuiltLedger> {
    let pages = RebuiltLedger { transcript: files::create_unnamed(dir.path())?, entries: Vec::new() };
    if request.agent.abilities().is_command_line() {
        let entries = dir.read_result().ok().flatten().map(|result| {
            let exit_code = match result.exit {
                Some(Exit::Code(code)) => Some(i64::from(code)),
                Some(Exit::Signal(_)) | None => None,
            };
            let status = exit_code.map_or(ItemStatus::Failed, |_| ItemStatus::Completed);
            let root = request.cwd.to_string_lossy();
            let (started_at, ended_at) = (result.started_at, Some(result.finished_at));
            let end =
                CommandEnd { started_at, ended_at, exit_code, status, ..only_command(&request.task, &root) };
            judge(&end, Printed::default())
        });
        return Ok(RebuiltLedger { entries: entries.into_iter().collect(), ..pages });
    }
    match agents::reader(request, &dir.read_prompt()) {
        Some(mut reader) => replay(dir, request, reader.as_mut(), pages).map(|replayed| replayed.pages),
        None => Ok(pages),
    }
}

/// What the events of a run say when they are read again.
pub(crate) struct Replayed<P> {
    pub(crate) pages: P,
    pub(crate) told: EditsAndRefusals,
    pub(crate) progress: Progress,
}

/// Writes ledger and transcript again from the events of a run that is over, which `reader` reads. Commands
/// without an end are entered as unfinished.
pub(crate) fn replay<P: LedgerSink>(
    dir: &RunDir,
    request: &Request,
    reader: &mut dyn Reader,
    pages: P,
) -> io::Result<Replayed<P>> {
    let mut writer = LedgerWriter::new(request, pages);
    let mut reducer = Reducer::new();
    // Only the time of the last one is known.
    let at = files::modified_at(&dir.events()).unwrap_or(Timestamp::EARLIEST);
    each_line(&dir.events(), request.max_stream_bytes, |line| {
        let reading = reader.line(line);
        for event in &reading.events {
            reducer.apply(event, at);
            writer.event(event, reading.printed_by(event), None);
        }
    })?;
    let (pages, told) = writer.finish(None);
    Ok(Replayed { pages, told, progress: reducer.snapshot() })
}

/// The command of a run that is a single command, which has not ended.
pub(crate) fn only_command<'a>(line: &'a str, root: &'a str) -> CommandEnd<'a> {
    CommandEnd {
        number: 1,
        item: ONLY_COMMAND,
        line,
        directory: root,
        root,
        started_at: None,
        ended_at: None,
        exit_code: None,
        status: ItemStatus::Running,
    }
}

/// What the single command of a `command` run printed (beginning and end if it is long), and its span.
pub(crate) fn printed_by_command(dir: &RunDir) -> (String, Option<Span>) {
    let Ok(all) = output_stream::open_joined(&dir.transcript()) else { return (String::new(), None) };
    let length = all.length();
    let read = |range| all.bytes(range).unwrap_or_default();
    let bytes = match length <= HEAD + TAIL {
        true => read(0..length),
        false => [read(0..HEAD), b"\n".to_vec(), read(length - TAIL..length)].concat(),
    };
    // The index beside the transcript has counted almost all lines.
    let index =
        File::open(line_index::sidecar_path(&dir.transcript())).map(LineIndex::read).unwrap_or_default();
    let counted = index.last(length);
    let lines = counted.breaks + output_stream::count_lines(&all, counted.offset..length);
    let span = Span { start: 0, end: length, first_line: 1, last_line: lines.max(1) };
    (String::from_utf8_lossy(&bytes).into_owned(), Some(span).filter(|_| length > 0))
}

/// The text in a part of the transcript.
pub(crate) fn text_in_span(dir: &RunDir, span: Span) -> String {
    let Ok(all) = output_stream::open_joined(&dir.transcript()) else { return String::new() };
    let end = span.end.min(all.length()).max(span.start);
    String::from_utf8_lossy(&all.bytes(span.start..end).unwrap_or_default()).into_owned()
}

/// The span of a byte range, with its line numbers.
pub(crate) fn span_with_lines(dir: &RunDir, start: u64, end: u64) -> Span {
    let all = output_stream::open_joined(&dir.transcript());
    let lines = |range| all.as_ref().map_or(0, |all| output_stream::count_lines(all, range));
    let first_line = lines(0..start) + 1;
    Span { start, end, first_line, last_line: first_line + lines(start..end).saturating_sub(1) }
}

/// Whether output of this size is read in full.
pub(crate) fn is_read_whole(bytes: u64) -> bool {
    bytes <= HEAD + TAIL
}

/// The transcript of a run that has no transcript file, in pieces.
pub(crate) fn transcript_of_older(path: &Path) -> io::Result<Vec<FilePart>> {
    let dir = RunDir::at(path.parent().unwrap_or(path).to_owned());
    let missing = || io::Error::from(io::ErrorKind::NotFound);
    let request = dir.read_request().map_err(io::Error::other)?.ok_or_else(missing)?;
    if request.agent.abilities().is_command_line() {
        let streams = [dir.stdout(), dir.stderr()];
        let mut all = Vec::new();
        for path in &streams {
            all.extend(output_stream::open_at(path, Stdout::Text)?.stretches);
        }
        return Ok(all);
    }
    Ok(vec![FilePart::File(rebuilt(&dir, &request)?.transcript)])
}
