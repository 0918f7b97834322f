//! A file as lines, and long lines as parts.
//!
//! A *piece* is what is shown at once: a line, or a part of one that is too long for memory. Parts are
//! redacted with their surroundings in view, so that adjacent parts make up the redacted line.
//!
//! A carriage return before a line break belongs to the break. One inside a line, as programs print to
//! overwrite a line, is shown as `^M`, like in `less`: everything that was written stays, and nothing runs
//! together.

use std::io;

use memchr::{memchr, memrchr};

use crate::inspect::file_view::View;
use crate::inspect::private_keys::{ENDS_WITHIN, Keys};
use crate::redact;
use crate::text::plain;

/// A longer line is shown in parts.
pub(super) const LONGEST_LINE: u64 = 256 << 10;
const PART: u64 = 64 << 10;
/// How much is examined around a part: more than the longest private key.
const MARGIN: u64 = 64 << 10;
/// How much is examined before a line that continues others.
const SAME_COMMAND: u64 = 512;
const FIRST_LOOK: u64 = 4 << 10;
/// How a carriage return inside a line is shown.
const RETURN: &str = "^M";

pub(super) struct Lines {
    pub(super) view: View,
    pub(super) keys: Keys,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) start: u64,
    /// Without the line break.
    pub(super) end: u64,
    /// Where the next piece starts.
    pub(super) next: u64,
    /// Whether the line begins with it, and ends with it.
    pub(super) begins: bool,
    pub(super) ends: bool,
}

impl Lines {
    pub(super) fn new(view: View) -> Self {
        Self { view, keys: Keys::default() }
    }

    /// The piece that starts at a position; `None` at the end.
    pub(super) fn piece_at(&mut self, start: u64) -> io::Result<Option<Piece>> {
        let before = start.min(1);
        let (mut looked, mut look) = (0, FIRST_LOOK);
        loop {
            let bytes = self.view.read(start - before, start.saturating_add(look))?;
            let Some((first, bytes)) = bytes.split_at_checked(before as usize) else { return Ok(None) };
            if bytes.is_empty() {
                return Ok(None);
            }
            let begins = matches!(first, [] | [b'\n']);
            let piece = |length: usize, gap: u64, ends| {
                let end = start + length as u64;
                Some(Piece { start, end, next: end + gap, begins, ends })
            };
            if let Some(at) = memchr(b'\n', &bytes[looked..]) {
                return Ok(piece(looked + at, 1, true));
            }
            looked = bytes.len();
            if (looked as u64) < look {
                return Ok(piece(looked, 0, true));
            }
            if look == LONGEST_LINE {
                return Ok(piece(floor(bytes, PART as usize), 0, false));
            }
            look = (look * 4).min(LONGEST_LINE);
        }
    }

    /// The piece that ends at `end`; `None` at the beginning.
    pub(super) fn piece_before(&mut self, end: u64) -> io::Result<Option<Piece>> {
        if end == 0 {
            return Ok(None);
        }
        let is_last = self.view.known_end() == Some(end);
        let mut look = FIRST_LOOK;
        loop {
            let from = end.saturating_sub(look + 1);
            let bytes = self.view.read(from, end)?;
            // The file was truncated meanwhile.
            if (bytes.len() as u64) < end - from {
                return Ok(None);
            }
            let (line, ends) = match bytes {
                [line @ .., b'\n'] => (line, true),
                line => (line, false),
            };
            let stop = from + line.len() as u64;
            let ends = ends || is_last;
            let piece = |start, begins| Some(Piece { start, end: stop, next: end, begins, ends });
            if let Some(at) = memrchr(b'\n', line) {
                return Ok(piece(from + at as u64 + 1, true));
            }
            if from == 0 {
                return Ok(piece(0, true));
            }
            if look == LONGEST_LINE {
                let part = floor(line, line.len().saturating_sub(PART as usize));
                return Ok(piece(from + part as u64, false));
            }
            look = (look * 4).min(LONGEST_LINE);
        }
    }

    /// The position itself if a line starts there, otherwise the start of the next line.
    pub(super) fn line_from(&mut self, at: u64) -> io::Result<u64> {
        let mut at = at;
        if at == 0 || matches!(self.view.read(at - 1, at)?, [] | [b'\n']) {
            return Ok(at);
        }
        loop {
            let bytes = self.view.read(at, at.saturating_add(LONGEST_LINE))?;
            match memchr(b'\n', bytes) {
                Some(end) => return Ok(at + end as u64 + 1),
                None if bytes.is_empty() => return Ok(at),
                None => at += bytes.len() as u64,
            }
        }
    }

    /// The position itself, or the start of the character that contains it.
    pub(super) fn character(&mut self, at: u64) -> io::Result<u64> {
        let from = at.saturating_sub(3);
        let bytes = self.view.read(from, at.saturating_add(1))?;
        Ok(match usize::try_from(at - from) {
            Ok(inside) if inside < bytes.len() => from + floor(bytes, inside) as u64,
            _ => at,
        })
    }

    /// A piece as it may be shown.
    pub(super) fn shown(&mut self, piece: &Piece) -> io::Result<String> {
        let from = piece.start.saturating_sub(if piece.begins { SAME_COMMAND } else { MARGIN });
        let upto = if piece.ends { piece.end } else { piece.end + MARGIN };
        let bytes = self.view.read(from, upto)?;
        let start = bytes.len().min((piece.start - from) as usize);
        let end = bytes.len().min((piece.end - from) as usize);
        let (before, part, after) = (&bytes[..start], &bytes[start..end], &bytes[end..]);
        // Only of the same line.
        let line = if piece.begins { Some(start) } else { memrchr(b'\n', before).map(|at| at + 1) };
        let line = line.or((from == 0).then_some(0));
        let command = line.map(|line| continued(&before[..line])).unwrap_or_default();
        let before = &before[line.unwrap_or(floor(before, 3.min(before.len())))..];
        let after = &after[..memchr(b'\n', after).unwrap_or(after.len())];
        let text = shown_after(&command, before, part, after);
        // An invented cursor may leave too little of a line to judge it, and a line of a key may contain what
        // looks like another secret.
        let is_other = !before.is_empty() || !after.is_empty() || text.contains("[redacted:");
        let whole = if is_other { unredacted(&[before, part, after].concat()) } else { String::new() };
        let is_like = |looks: fn(&str) -> bool| looks(&text) || is_other && looks(&whole);
        let (inside, before_end) = (is_like(redact::may_be_key_line), is_like(redact::may_be_before_key_end));
        let Some(line) = line.map(|line| from + line as u64) else { return Ok(text) };
        let is_short = piece.end - line < ENDS_WITHIN;
        if inside && self.keys.inside(&mut self.view, line)?
            || before_end && is_short && self.keys.before_end(&mut self.view, line)?
        {
            return Ok(redact::key_mark());
        }
        Ok(text)
    }
}

/// The preceding lines that a line continues, as they would be shown without redaction: the last ones given,
/// if they end in a backslash.
fn continued(before: &[u8]) -> String {
    let before = &before[before.len().saturating_sub(SAME_COMMAND as usize)..];
    let Some(before) = before.strip_suffix(b"\n").filter(|before| goes_on(before)) else {
        return String::new();
    };
    let lines = before.rsplit(|c| *c == b'\n').take_while(|line| goes_on(line));
    lines.fold(String::new(), |after, line| format!("{}\n{after}", unredacted(line)))
}

/// Whether a line, without its break, is continued by the next one.
pub(super) fn goes_on(line: &[u8]) -> bool {
    line.strip_suffix(b"\r").unwrap_or(line).ends_with(b"\\")
}

/// A part of a line, redacted with its surroundings in view.
pub(super) fn shown_part(before: &[u8], part: &[u8], after: &[u8]) -> String {
    shown_after("", before, part, after)
}

/// A text after its preceding text, split at some positions.
pub(super) fn shown_parts(before: &[u8], text: &[u8], places: &[usize]) -> Vec<String> {
    let mut whole = String::from_utf8_lossy(before).into_owned();
    let mut ends = vec![whole.len()];
    let mut from = 0;
    for upto in places.iter().copied().chain([text.len()]) {
        whole += &String::from_utf8_lossy(&text[from..upto]);
        ends.push(whole.len());
        from = upto;
    }
    let whole = one_line(plain::line_of_text_placed(&whole, &mut ends));
    let shown = redact::placed(&whole, &mut ends);
    ends.windows(2).map(|ends| with_returns(shown[ends[0]..ends[1]].to_owned())).collect()
}

/// The same for a line that continues others.
fn shown_after(command: &str, before: &[u8], part: &[u8], after: &[u8]) -> String {
    let part = if after.is_empty() { part.strip_suffix(b"\r").unwrap_or(part) } else { part };
    let mut text = String::from_utf8_lossy(before).into_owned();
    if command.is_empty() && text.is_empty() && after.is_empty() {
        let text = plain::line_of_text(&String::from_utf8_lossy(part));
        return with_returns(redact::text(&one_line(text)).into_owned());
    }
    let mut ends = [text.len(), 0];
    text += &String::from_utf8_lossy(part);
    ends[1] = text.len();
    text += &String::from_utf8_lossy(after);
    let text = one_line(plain::line_of_text_placed(&text, &mut ends));
    let [start, end] = ends.map(|end| command.len() + end);
    with_returns(redact::part(&format!("{command}{text}"), start..end))
}

/// A whole line with its break, as it would be shown without redaction.
pub(super) fn unredacted(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    with_returns(one_line(plain::line_of_text(&String::from_utf8_lossy(line))))
}

/// Only redacts: a letter next to a secret would hide where the secret begins.
fn with_returns(text: String) -> String {
    if text.contains('\r') { text.replace('\r', RETURN) } else { text }
}

/// Unicode has other line breaks, which are shown as line feeds; here a line must stay one line.
fn one_line(text: String) -> String {
    if text.contains('\n') { text.replace('\n', " ") } else { text }
}

/// The position itself, or the start of the character that contains it, if any.
pub(super) fn floor(bytes: &[u8], at: usize) -> usize {
    if !bytes.get(at).is_some_and(|byte| is_inner(*byte)) {
        return at;
    }
    let lead = (1..=3).filter_map(|back| at.checked_sub(back)).find(|at| !is_inner(bytes[*at]));
    // Bytes that are not a character may be cut anywhere.
    lead.filter(|lead| bytes[*lead] >= 0xc0).unwrap_or(at)
}

/// Whether a byte can only be a continuation byte of a character.
fn is_inner(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

#[cfg(test)]
mod tests {
    use super::{shown_part, shown_parts};
    use crate::inspect::Mode;
    use crate::inspect::reference_answers::{ask, find};

    #[test]
    fn carriage_returns_inside_of_a_line_are_shown() {
        let content = b"a\r\nprogress 1\rprogress 2\r\rprogress 3\r\r\n\rlast\r";
        let found = ask(content, Mode::Head { lines: 9 }, None, 1000);
        assert_eq!(found.content, "a\nprogress 1^Mprogress 2^M^Mprogress 3^M\n^Mlast");
        for (pattern, line) in [
            ("progress 2", Some(2)),
            ("2.*3", Some(2)),
            ("1progress", None),
            ("^progress 3", None),
            ("last$", Some(3)),
        ] {
            let found = ask(content, find(pattern, 0, 9), None, 1000);
            assert_eq!(found.matches.first().map(|block| block.line_number), line, "{pattern}");
        }
    }

    #[test]
    fn a_title_may_be_cut_by_a_place_in_it() {
        let token = format!("ghp_{}", "aB3x".repeat(9));
        for (hidden, shown) in
            [("\u{1b}]0;a long title\u{7}", ""), ("\u{9b}3100m", ""), ("\u{1b}]0;no end", "0;no end")]
        {
            for (rest, shown_rest) in [("x", "x"), (&format!(" {token} end"), " [redacted:github] end")] {
                let line = format!("ab{hidden}{rest}");
                let expected = format!("ab{shown}{shown_rest}");
                for (at, _) in line.char_indices() {
                    let (before, after) = line.as_bytes().split_at(at);
                    let parts = [shown_part(b"", before, after), shown_part(before, after, b"")];
                    assert_eq!(parts.concat(), expected, "{at} of {line:?}");
                    assert_eq!(
                        shown_parts(b"", line.as_bytes(), &[at]).concat(),
                        expected,
                        "{at} of {line:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_secret_between_carriage_returns_is_none_the_less_redacted() {
        let token = format!("ghp_{}", "aB3x".repeat(9));
        for content in
            [format!("\r{token}\rx"), format!("10%\rtoken: {token}\r"), format!("password=hunter22\r{token}")]
        {
            let found = ask(content.as_bytes(), Mode::Head { lines: 9 }, None, 1000);
            assert!(!found.content.contains("aB3") && !found.content.contains("hunter"), "{}", found.content);
            // Nor can it be asked for, by what a return is shown as.
            assert_eq!(ask(content.as_bytes(), find("aB3", 0, 9), None, 1000).match_count, 0);
        }
        let key = format!(
            "-----BEGIN RSA PRIVATE KEY-----\r{}-----END RSA PRIVATE KEY-----",
            format!("{}\r", "kQz7TsW1fJdLr4Ym".repeat(4)).repeat(9)
        );
        let found = ask(key.as_bytes(), Mode::Head { lines: 9 }, None, 1000);
        assert!(!found.content.contains("kQz7"), "{}", found.content);
    }
}
