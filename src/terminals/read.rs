//! Reads a part of a recording: as text or as it is, as much as there is room
//! for, and from where to go on.
//!
//! Lines are counted by line feeds, so that their numbers are those of the
//! file. No more than a window of the file is ever in memory, and no part takes
//! reading more than a few MiB of it, but where there is no index or it had to
//! be unpacked.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::ops::{ControlFlow, Range};

use crate::host::FilePart;
use crate::model::Timestamp;
use crate::terminals::TerminalError;
use crate::terminals::compressed_reader::Bytes;
use crate::terminals::part_request::Part;
use crate::terminals::redact_escapes::shown_as_sent;
use crate::terminals::redact_text::{self, shown};
use crate::terminals::segments::{Cutter, Form, Segment};
use crate::terminals::time_index::Index;

const CHUNK: usize = 64 << 10;
/// Most of a recording that one call goes through.
pub(super) const WORK: u64 = 8 << 20;
/// How far a line is followed back to where it begins.
const LINE: u64 = 64 << 10;
/// How much before a part, and on both sides of it, tells what of it is a secret.
const BEFORE: u64 = redact_text::REACH as u64;
const AROUND: u64 = redact_text::AROUND as u64;

/// What is read at a time fits, so that nothing is passed over.
const LEAST_ROOM: usize = 8_400;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Ask {
    pub(crate) part: Part,
    pub(crate) form: Form,
    /// Most characters, as JSON writes them.
    pub(crate) room: usize,
}

/// A part of a recording, without secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) text: String,
    /// Of the first and the last line; both 0 when there is none.
    pub(crate) start_line: u64,
    pub(crate) end_line: u64,
    pub(crate) total_lines: u64,
    pub(crate) total_bytes: u64,
    /// Which bytes it is made of.
    pub(crate) bytes: Range<u64>,
    /// There is more of what was asked for: before a tail, after anything else.
    pub(crate) cut: bool,
    /// Something to show follows. A sequence or a character that is not complete
    /// is nothing yet.
    pub(crate) more: bool,
    /// Why the later bytes cannot be had.
    pub(crate) damage: Option<String>,
}

/// A recording as long as it is when it is opened; it may grow meanwhile.
#[derive(Debug)]
pub(crate) struct Reader {
    /// What it is called where it cannot be read.
    id: String,
    pub(super) bytes: Bytes,
    index: Index,
    pub(super) length: u64,
}

/// A part that was read forward.
pub(super) struct Forward {
    pub(super) text: String,
    pub(super) bytes: Range<u64>,
    /// Lines that ended in it.
    pub(super) ended: u64,
    /// There is more of what was asked for.
    pub(super) cut: bool,
    /// Something to show follows.
    pub(super) more: bool,
}

impl Reader {
    pub(super) fn new(id: String, bytes: Bytes, times: Option<File>) -> Self {
        let length = bytes.length;
        Self { id, index: Index::open(times, length, bytes.written), bytes, length }
    }

    /// Reads what is no recording as if it were one: without an index, only the
    /// moment of the last byte is known.
    pub(crate) fn over(
        id: String,
        stretches: Vec<FilePart>,
        written: Timestamp,
        times: Option<File>,
    ) -> io::Result<Self> {
        Ok(Self::new(id, Bytes::joined(stretches, written)?, times))
    }

    pub(crate) fn read(&self, ask: &Ask) -> Result<Piece, TerminalError> {
        let ask = Ask { room: ask.room.max(LEAST_ROOM), ..*ask };
        self.part(&ask).map_err(|source| self.failed(source))
    }

    /// Hands over bytes of the recording as they are.
    pub(crate) fn copy(&self, bytes: Range<u64>, each: &mut dyn FnMut(&[u8])) -> Result<(), TerminalError> {
        let mut chunk = vec![0; CHUNK];
        let mut at = bytes.start;
        while at < bytes.end {
            let wanted = usize::try_from(bytes.end - at).map_or(CHUNK, |left| left.min(CHUNK));
            match self.bytes.read_at(&mut chunk[..wanted], at).map_err(|source| self.failed(source))? {
                0 => break,
                read => {
                    each(&chunk[..read]);
                    at += read as u64;
                }
            }
        }
        Ok(())
    }

    pub(super) fn failed(&self, source: io::Error) -> TerminalError {
        TerminalError::Read { id: self.id.clone(), source }
    }

    /// Where a part begins, as far as that is known before it is read.
    fn begin(&self, part: Part) -> u64 {
        match part {
            Part::Tail(_) => self.length.saturating_sub(WORK),
            Part::Head(_) | Part::All => 0,
            Part::Since(moment) => self.index.since(moment).saturating_sub(LINE),
            Part::From(offset) => offset.min(self.length),
        }
    }

    fn part(&self, ask: &Ask) -> io::Result<Piece> {
        self.will_begin(self.begin(ask.part))?;
        let read = match ask.part {
            Part::Tail(lines) => self.tail(lines, ask)?,
            Part::Head(lines) => self.forward(0, lines, ask)?,
            Part::All => self.forward(0, u64::MAX, ask)?,
            Part::Since(moment) => self.forward(self.since(moment)?, u64::MAX, ask)?,
            Part::From(offset) => self.forward(offset.min(self.length), u64::MAX, ask)?,
        };
        let Forward { text, bytes, cut, more, .. } = read;
        Ok(Piece {
            text: self.shown(&text, &bytes, ask.form)?,
            start_line: if bytes.is_empty() { 0 } else { self.lines(bytes.start)? + 1 },
            end_line: if bytes.is_empty() { 0 } else { self.last_line(bytes.end)? },
            total_lines: self.bytes.lines.map_or_else(|| self.last_line(self.length), Ok)?,
            total_bytes: self.length,
            bytes,
            cut,
            more,
            damage: self.bytes.damage.clone(),
        })
    }

    /// Nothing before this, and what tells of its secrets, will be asked for.
    pub(super) fn will_begin(&self, at: u64) -> io::Result<()> {
        let begin = self.index.before(at.saturating_sub(BEFORE));
        self.bytes.begin(begin.map_or(0, |entry| entry.offset))
    }

    /// Where that begins which came since then, with the line it was in.
    pub(super) fn since(&self, moment: Timestamp) -> io::Result<u64> {
        let since = self.index.since(moment);
        if since < self.length { self.start_of_line(since) } else { Ok(since) }
    }

    /// The text of these bytes without secrets.
    pub(super) fn shown(&self, text: &str, bytes: &Range<u64>, form: Form) -> io::Result<String> {
        let before = self.text(self.matters(bytes.start)?..bytes.start, form)?;
        let after = self.text(bytes.end..self.length.min(bytes.end + AROUND), form)?;
        let columns = self.index.before(bytes.start).map_or(0, |entry| entry.size.columns);
        Ok(match form {
            Form::Plain => shown(&before, text, &after),
            Form::Raw => shown_as_sent(&before, text, &after, columns),
        })
    }

    /// At most `lines` from `from` on.
    pub(super) fn forward(&self, from: u64, lines: u64, ask: &Ask) -> io::Result<Forward> {
        let end = self.length.min(from.saturating_add(WORK));
        let (mut text, mut left, mut to, mut seen) = (String::new(), ask.room, from, 0);
        let mut more = end < self.length;
        self.segments(from..end, ask.form, &mut |segment| {
            let price = price(&segment.text);
            if seen >= lines || (price > left && !text.is_empty()) {
                more = true;
                return ControlFlow::Break(());
            }
            text.push_str(first(&segment.text, left));
            left = left.saturating_sub(price);
            to = segment.bytes.end;
            seen += u64::from(segment.ends_line);
            ControlFlow::Continue(())
        })?;
        // Megabytes of one sequence: nothing will come of it.
        if to == from && end < self.length {
            to = end;
        }
        Ok(Forward { text, bytes: from..to, ended: seen, cut: more && seen < lines, more })
    }

    /// The last `lines`, as many of them as there is room for.
    fn tail(&self, lines: u64, ask: &Ask) -> io::Result<Forward> {
        if lines == 0 {
            let bytes = self.length..self.length;
            return Ok(Forward { text: String::new(), bytes, ended: 0, cut: false, more: false });
        }
        let from = self.start_of_last(lines, self.length.saturating_sub(WORK))?;
        let mut kept: VecDeque<(Segment, usize)> = VecDeque::new();
        let (mut used, mut ended) = (0, 0);
        let shown = |ended: u64, kept: &VecDeque<(Segment, usize)>| {
            ended + u64::from(kept.back().is_some_and(|(last, _)| !last.ends_line))
        };
        self.segments(from..self.length, ask.form, &mut |segment| {
            let price = price(&segment.text);
            used += price;
            ended += u64::from(segment.ends_line);
            kept.push_back((segment, price));
            while kept.len() > 1 && (used > ask.room || shown(ended, &kept) > lines) {
                let Some((gone, price)) = kept.pop_front() else { break };
                used -= price;
                ended -= u64::from(gone.ends_line);
            }
            ControlFlow::Continue(())
        })?;
        let bytes = match (kept.front(), kept.back()) {
            (Some((first, _)), Some((last, _))) => first.bytes.start..last.bytes.end,
            _ => from..from,
        };
        let text: String = kept.iter().map(|(segment, _)| segment.text.as_str()).collect();
        // A line of which nothing is complete is one as well.
        let begun = kept.back().is_none_or(|(last, _)| last.ends_line) && bytes.end < self.length;
        // Fewer than asked for, for want of room or because it is too far back.
        let cut = bytes.start > 0 && shown(ended, &kept) + u64::from(begun) < lines;
        Ok(Forward { text: first(&text, ask.room).to_owned(), bytes, ended, cut, more: false })
    }

    /// Hands over the text of `bytes` piece by piece, until told to stop.
    pub(super) fn segments(
        &self,
        bytes: Range<u64>,
        form: Form,
        each: &mut dyn FnMut(Segment) -> ControlFlow<()>,
    ) -> io::Result<()> {
        let mut cutter = Cutter::new(form, bytes.start);
        let mut chunk = vec![0; CHUNK];
        let mut at = bytes.start;
        while at < bytes.end {
            let wanted = usize::try_from(bytes.end - at).map_or(CHUNK, |left| left.min(CHUNK));
            let read = self.bytes.read_at(&mut chunk[..wanted], at)?;
            if read == 0 {
                break;
            }
            if let Some(entry) = self.index.before(at) {
                cutter.set_width(entry.size.columns);
            }
            if cutter.feed(&chunk[..read], each).is_break() {
                return Ok(());
            }
            at += read as u64;
        }
        if let Some(rest) = cutter.finish() {
            let _ = each(rest);
        }
        Ok(())
    }

    /// From where on the bytes before `offset` tell what after it is a secret:
    /// far back only where a key is named.
    fn matters(&self, offset: u64) -> io::Result<u64> {
        let far = offset.saturating_sub(BEFORE);
        let mut bytes = vec![0; usize::try_from(offset - far).unwrap_or(0)];
        self.bytes.read_exact_at(&mut bytes, far)?;
        // A colour may be inside one word of the two.
        let named = [&b"PRIVATE"[..], b"KEY"].iter().any(|word| memchr::memmem::find(&bytes, word).is_some());
        Ok(if named { far } else { offset.saturating_sub(AROUND) })
    }

    /// The whole text of a few bytes.
    fn text(&self, bytes: Range<u64>, form: Form) -> io::Result<String> {
        let mut text = String::new();
        self.segments(bytes, form, &mut |segment| {
            text.push_str(&segment.text);
            ControlFlow::Continue(())
        })?;
        Ok(text)
    }

    /// Where the last `lines` lines begin, looked for from the end; `stop`
    /// where that is before it.
    pub(super) fn start_of_last(&self, lines: u64, stop: u64) -> io::Result<u64> {
        // A line feed at the very end ends the last line.
        let mut found = 0;
        self.backwards(self.length, stop, |at| {
            if at + 1 < self.length {
                found += 1;
            }
            found >= lines
        })
    }

    fn start_of_line(&self, offset: u64) -> io::Result<u64> {
        self.backwards(offset, offset.saturating_sub(LINE), |_| true)
    }

    /// Goes back from line feed to line feed until one is `wanted`: the byte
    /// after it, or `stop` when none was.
    fn backwards(&self, from: u64, stop: u64, mut wanted: impl FnMut(u64) -> bool) -> io::Result<u64> {
        let mut end = from;
        let mut chunk = vec![0; CHUNK];
        while end > stop {
            let start = end.saturating_sub(CHUNK as u64).max(stop);
            let part = &mut chunk[..usize::try_from(end - start).unwrap_or(CHUNK)];
            self.bytes.read_exact_at(part, start)?;
            for at in memchr::memrchr_iter(b'\n', part) {
                if wanted(start + at as u64) {
                    return Ok(start + at as u64 + 1);
                }
            }
            end = start;
        }
        Ok(stop)
    }

    /// How many line feeds there are before `offset`.
    fn lines(&self, offset: u64) -> io::Result<u64> {
        let (mut at, mut lines) =
            self.index.before(offset).map_or((0, 0), |entry| (entry.offset, entry.lines));
        let mut chunk = vec![0; CHUNK];
        while at < offset {
            let wanted = usize::try_from(offset - at).map_or(CHUNK, |left| left.min(CHUNK));
            let read = self.bytes.read_at(&mut chunk[..wanted], at)?;
            if read == 0 {
                break;
            }
            lines += memchr::memchr_iter(b'\n', &chunk[..read]).count() as u64;
            at += read as u64;
        }
        Ok(lines)
    }

    /// The number of the line that the byte before `end` is on.
    fn last_line(&self, end: u64) -> io::Result<u64> {
        let mut last = [0];
        match end.checked_sub(1) {
            None => Ok(0),
            Some(at) => {
                self.bytes.read_exact_at(&mut last, at)?;
                Ok(self.lines(end)? + u64::from(last != *b"\n"))
            }
        }
    }
}

/// How many characters a text has where JSON writes it.
fn price(text: &str) -> usize {
    text.chars().map(written).sum()
}

fn written(character: char) -> usize {
    match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..'\u{20}' => 6,
        _ => 1,
    }
}

/// As much of a text as there is room for.
fn first(text: &str, room: usize) -> &str {
    let mut left = room;
    let end = text.char_indices().find(|(_, character)| {
        let price = written(*character);
        let fits = price <= left;
        left = left.saturating_sub(price);
        !fits
    });
    end.map_or(text, |(at, _)| &text[..at])
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::path::Path;
    use std::time::{Duration, UNIX_EPOCH};

    use super::super::compressed_reader::Stored;
    use super::super::time_index::Entry;
    use super::*;
    use crate::host::Size;

    fn reader(file: File, times: Option<File>) -> Reader {
        let bytes = Stored::Plain(file).open(Path::new("/nowhere")).unwrap();
        Reader::new("term-0a1b2c3d4e5f".into(), bytes, times)
    }

    /// A recording whose pieces came a second after one another.
    fn source(pieces: &[&str]) -> Reader {
        let (mut file, mut times) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        let (mut offset, mut lines) = (0, 0);
        for (second, piece) in (1..).zip(pieces) {
            let entry = Entry { at: Timestamp::from_millis(second * 1000), offset, lines, size: Size::USUAL };
            times.write_all(&entry.encode()).unwrap();
            file.write_all(piece.as_bytes()).unwrap();
            offset += piece.len() as u64;
            lines += piece.matches('\n').count() as u64;
        }
        file.set_modified(UNIX_EPOCH + Duration::from_secs(pieces.len() as u64)).unwrap();
        reader(file, Some(times))
    }

    fn ask(part: Part) -> Ask {
        Ask { part, form: Form::Plain, room: LEAST_ROOM }
    }

    #[track_caller]
    fn check(source: &Reader, part: Part, text: &str, lines: (u64, u64), cut: bool) -> Piece {
        let piece = source.read(&ask(part)).unwrap();
        assert_eq!(
            (piece.text.as_str(), (piece.start_line, piece.end_line), piece.cut),
            (text, lines, cut),
            "{part:?}"
        );
        piece
    }

    #[test]
    fn a_part_is_so_many_lines_with_their_numbers() {
        let source = source(&["one\r\n", "\x1b[32mtwo\x1b[0m\r\n", "three\r\n$ "]);
        check(&source, Part::Head(2), "one\ntwo\n", (1, 2), false);
        check(&source, Part::Tail(2), "three\n$ ", (3, 4), false);
        check(&source, Part::Tail(99), "one\ntwo\nthree\n$ ", (1, 4), false);
        check(&source, Part::Tail(0), "", (0, 0), false);
        let all = check(&source, Part::All, "one\ntwo\nthree\n$ ", (1, 4), false);
        assert_eq!((all.total_lines, all.bytes), (4, 0..source.length));
        check(&source, Part::Since(Timestamp::from_millis(2000)), "two\nthree\n$ ", (2, 4), false);
        check(&source, Part::Since(Timestamp::from_millis(9000)), "", (0, 0), false);
        check(&source, Part::From(5), "two\nthree\n$ ", (2, 4), false);
        check(&source, Part::From(999), "", (0, 0), false);
    }

    #[test]
    fn nothing_recorded_is_nothing_to_read() {
        for part in
            [Part::Head(5), Part::Tail(5), Part::All, Part::Since(Timestamp::from_millis(0)), Part::From(7)]
        {
            check(&source(&[]), part, "", (0, 0), false);
        }
    }

    #[test]
    fn the_line_that_was_being_written_then_comes_whole() {
        let source = source(&["$ ", "ls\r\n", "file\r\n"]);
        check(&source, Part::Since(Timestamp::from_millis(2000)), "$ ls\nfile\n", (1, 2), false);
    }

    /// Reads on from part to part, and returns all of them.
    fn parts(source: &Reader, form: Form) -> Vec<Piece> {
        let mut parts: Vec<Piece> = Vec::new();
        loop {
            let part = parts.last().map_or(Part::All, |last| Part::From(last.bytes.end));
            let piece = source.read(&Ask { form, ..ask(part) }).unwrap();
            assert!(price(&piece.text) <= LEAST_ROOM && (!piece.bytes.is_empty() || !piece.cut));
            let cut = piece.cut;
            parts.push(piece);
            if !cut {
                return parts;
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_read_on_from_where_the_last_part_ended() {
        let long: Vec<String> = (0..3000).map(|number| format!("\x1b[1mline {number}\x1b[m\r\n")).collect();
        let endless = format!("{}\r\n", "0123456789é".repeat(5000));
        let whole: String = long.concat() + &endless;
        let source = source(&[&whole]);
        for form in [Form::Plain, Form::Raw] {
            let parts = parts(&source, form);
            assert!(parts.len() > 5);
            let read: String = parts.iter().map(|part| part.text.as_str()).collect();
            let expected = match form {
                Form::Raw => whole.clone(),
                Form::Plain => whole.replace("\x1b[1m", "").replace("\x1b[m", "").replace('\r', ""),
            };
            assert_eq!(read, expected);
            assert_eq!(parts.last().unwrap().end_line, 3001);
        }
        let tail = source.read(&ask(Part::Tail(100))).unwrap();
        assert!(tail.cut && tail.text.ends_with("0123456789é\n") && price(&tail.text) > 1000);
    }

    #[test]
    fn a_bar_of_many_megabytes_is_one_line() {
        let bar: String =
            (0..200_000).map(|step| format!("step {step:06} of 200000 {}\r", "#".repeat(40))).collect();
        let source = source(&["begin\r\n", &bar, "\x1b[Kdone\r\n"]);
        assert!(source.length > WORK);
        let tail = source.read(&ask(Part::Tail(1))).unwrap();
        assert_eq!(tail.text, "done\n");
        let parts = parts(&source, Form::Plain);
        let text: String = parts.iter().map(|part| part.text.as_str()).collect();
        assert!(text.len() < 500 && text.starts_with("begin\nstep") && text.ends_with("done\n"), "{text}");
    }

    #[test]
    fn a_sequence_that_never_ends_does_not_stop_the_reader() {
        let hidden = format!("a\x1b]0;{}", "x".repeat((8 << 20) + 100));
        let source = source(&[&hidden, "\x07b\r\n"]);
        let parts = parts(&source, Form::Plain);
        // It is given up after so much of it, and what is left of it is text.
        assert_eq!((parts.len(), parts[0].text.as_str(), parts[1].text.as_str()), (3, "a", ""));
        assert!(parts[2].text.ends_with("xb\n") && parts[2].text.len() < 200, "{}", parts[2].text);
    }

    #[test]
    fn a_secret_that_an_edge_cuts_in_two_is_told_by_neither_half() {
        let key: String = "MIIEpAIBAAKCAQEA7Bq9ZkT3mXw5Rc1VnY8dLf2Gs6Hj4Ep0UoKx7iQ2bWz8Nt5M\r\n".repeat(20);
        let armoured = format!("-----BEGIN RSA PRIVATE KEY-----\r\n{key}-----END RSA PRIVATE KEY-----\r\n");
        let source = source(&["before\r\n", &armoured, "after\r\n"]);
        for lines in 1..24 {
            for part in [Part::Head(lines), Part::Tail(lines)] {
                let text = source.read(&ask(part)).unwrap().text;
                assert!(!text.contains("MIIEpAIBAAKC"), "{part:?}: {text}");
            }
        }
        for offset in (0..source.length - 8).step_by(5) {
            let text = source.read(&ask(Part::From(offset))).unwrap().text;
            assert!(!text.contains("MIIEpAIBAAKC") && text.ends_with("after\n"), "{offset}: {text}");
        }
    }

    #[test]
    fn a_key_marker_alone_hides_nothing_else_and_a_long_key_is_hidden_all_through() {
        let begin = "-----BEGIN RSA PRIVATE KEY-----\r\n";
        let lone = source(&[begin, "$ cargo test\r\n", "12 passed\r\n"]);
        check(&lone, Part::All, "[redacted:private-key]\n$ cargo test\n12 passed\n", (1, 3), false);
        check(&lone, Part::Tail(2), "$ cargo test\n12 passed\n", (2, 3), false);
        let key: String = "MIIEpAIBAAKCAQEA7Bq9ZkT3mXw5Rc1VnY8dLf2Gs6Hj4Ep0UoKx7iQ2bWz8Nt5M\r\n".repeat(700);
        let long = source(&["before\r\n", begin, &key, "-----END RSA PRIVATE KEY-----\r\n", "after\r\n"]);
        assert!(long.length > 40_000);
        for offset in (0..long.length).step_by(997) {
            let text = long.read(&ask(Part::From(offset))).unwrap().text;
            assert!(!text.contains("MIIEpAIBAAKC"), "{offset}: {text}");
        }
    }

    #[test]
    fn without_an_index_everything_but_moments_is_known() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"one\ntwo\n").unwrap();
        let bare = reader(file, None);
        check(&bare, Part::Tail(1), "two\n", (2, 2), false);
        check(&bare, Part::Since(Timestamp::from_millis(9000)), "one\ntwo\n", (1, 2), false);
        check(&bare, Part::Since(Timestamp::from_millis(1 << 50)), "", (0, 0), false);
    }
}
