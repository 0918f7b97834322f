//! Redacts a part of a recording's text, considering the text around it.
//!
//! Private keys are recognised line by line from their start. A marker alone hides only lines that
//! may belong to a key, and a key longer than the part is known from the text before it.

use std::ops::Range;

use crate::redact::{self, KeyMark};

/// A key ends after this many characters, whether or not its end was seen.
pub(super) const REACH: usize = 64 << 10;
/// How much text around a part is examined, to find secrets that its edges cut in two.
pub(super) const AROUND: usize = 2 * redact::MARGIN;

/// Redacts `part`, which stands between `before` and `after`.
pub(super) fn redact_part(before: &str, part: &str, after: &str) -> String {
    let whole = [before, part, after].concat();
    let part = before.len()..before.len() + part.len();
    let (key, mut redact_part) = (redact::key_mark(), String::new());
    for Block { range, kind } in blocks(&whole) {
        let seen = range.start.max(part.start)..range.end.min(part.end);
        if seen.is_empty() {
            continue;
        }
        let end = if whole[seen.clone()].ends_with('\n') { "\n" } else { "" };
        match kind {
            Kind::Text => redact_part.push_str(&judged(&whole, &range, seen)),
            // The lines of one key are shown as one mark.
            Kind::Key if redact_part.ends_with(&format!("{key}\n")) => {}
            Kind::Key => redact_part.extend([&key, end]),
            Kind::Marker => {
                let line = range.start..range.end - usize::from(whole[range.clone()].ends_with('\n'));
                let text = judged(&whole, &line, seen.start.min(line.end)..seen.end.min(line.end));
                // A later redaction must not take this for the start of a key.
                let text = if text.contains("BEGIN ") { text.replace("PRIVATE KEY", &key) } else { text };
                redact_part.extend([&text, end]);
            }
        }
    }
    redact_part
}

/// Redacts a part of a block with as much of the block as matters.
fn judged(whole: &str, stretch: &Range<usize>, part: Range<usize>) -> String {
    let from = whole.floor_char_boundary(part.start.saturating_sub(AROUND).max(stretch.start));
    let upto = whole.ceil_char_boundary((part.end + AROUND).min(stretch.end));
    redact::part(&whole[from..upto], part.start - from..part.end - from)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    /// One line in which a key begins, ends or is mentioned.
    Marker,
    /// Lines that may belong to a key that began before them.
    Key,
}

/// Consecutive lines of one kind.
#[derive(Debug)]
struct Block {
    range: Range<usize>,
    kind: Kind,
}

fn blocks(text: &str) -> Vec<Block> {
    let mut all: Vec<Block> = Vec::new();
    let (mut begun, mut at) = (None, 0);
    for line in text.split_inclusive('\n') {
        let range = at..at + line.len();
        at = range.end;
        let inside = begun.is_some_and(|begun| range.start - begun <= REACH);
        let after = &text.as_bytes()[at..(at + redact::MARGIN).min(text.len())];
        let mark = redact::last_key_mark(line.as_bytes(), after);
        let kind = match mark {
            _ if inside && redact::may_be_key_line(line) => Kind::Key,
            Some(_) => Kind::Marker,
            None => Kind::Text,
        };
        match mark {
            Some(KeyMark::Begins { .. }) => begun = Some(range.start),
            Some(KeyMark::Ends) => {
                if !inside && line.contains("END ") {
                    hide_end(text, &mut all);
                }
                begun = None;
            }
            None => {}
        }
        match all.last_mut() {
            Some(last) if last.kind == kind && kind != Kind::Marker => last.range.end = range.end,
            _ => all.push(Block { range, kind }),
        }
    }
    all
}

/// Removes key lines from the end of the preceding text, if the start of the key was never seen.
fn hide_end(text: &str, all: &mut Vec<Block>) {
    let Some(last) = all.last_mut().filter(|last| last.kind == Kind::Text) else { return };
    let Some(start) = redact::key_lines_before(&text[last.range.clone()]) else { return };
    let key = last.range.start + start..last.range.end;
    last.range.end = key.start;
    all.push(Block { range: key, kind: Kind::Key });
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "MIIEpAIBAAKCAQEA7Bq9ZkT3mXw5Rc1VnY8dLf2Gs6Hj4Ep0UoKx7iQ2bWz8Nt5M\n";

    #[track_caller]
    fn check(before: &str, part: &str, after: &str, expected: &str) {
        assert_eq!(redact_part(before, part, after), expected);
    }

    /// Markers are assembled here, so that secret scanners do not report this file.
    fn marker(word: &str) -> String {
        format!("-----{word} RSA PRIVATE KEY-----\n")
    }

    #[test]
    fn a_key_is_hidden_wherever_the_part_begins() {
        let (begin, end, lines) = (marker("BEGIN"), marker("END"), LINE.repeat(3));
        let hidden = "[redacted:private-key]\n";
        check("", &format!("a b\n{begin}{lines}{end}c d\n"), "", &format!("a b\n{hidden}{end}c d\n"));
        check(&format!("{begin}{LINE}"), &lines, &format!("{LINE}{end}"), hidden);
        check("", &format!("a b\n{lines}"), &format!("{LINE}{end}"), &format!("a b\n{hidden}"));
        check(
            &begin[..9],
            &format!("{}{lines}{end}c d\n", &begin[9..]),
            "",
            &format!("\n{hidden}{end}c d\n"),
        );
        check("", &lines, "", &lines);
    }

    #[test]
    fn a_marker_alone_hides_nothing_but_itself() {
        let begin = marker("BEGIN");
        let rest = "$ cargo test\n   ok. 12 passed\n$ echo done now\n".repeat(50);
        let hidden = "[redacted:private-key]\n";
        check("", &format!("{begin}{rest}"), "", &format!("{hidden}{rest}"));
        check(&begin, &rest, "", &rest);
        let named = format!("key.rs: \"{}\" is it\n", begin.trim());
        let seen = redact_part("", &format!("{named}{rest}"), "");
        assert!(seen.starts_with("key.rs: \"") && seen.ends_with(&rest), "{seen}");
        assert_eq!(redact::text(&seen), seen, "judged again, it is the same");
    }

    #[test]
    fn a_secret_that_an_edge_cuts_in_two_is_told_by_neither_half() {
        let token = ["ghp_", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"].concat();
        for at in 1..token.len() {
            let (first, second) = token.split_at(at);
            check("pushed ", first, second, "[redacted:github]");
            check(&format!("pushed {first}"), &format!("{second} well\n"), "", " well\n");
        }
    }
}
