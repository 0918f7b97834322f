//! A part of a recording's text as it may be shown: without secrets, judged
//! with what stands around it in view.
//!
//! A private key is told line by line, from where it begins: a marker alone
//! hides no more than what may be lines of a key, and a key that is longer than
//! what is shown is known by what came before.

use std::ops::Range;

use crate::redact::{self, KeyMark};

/// A key is over after this many characters, whether its end was seen or not.
pub(super) const REACH: usize = 64 << 10;
/// How much around a part is looked at to see a secret that its edge cuts in two.
pub(super) const AROUND: usize = 2 * redact::MARGIN;

/// What is between `before` and `after`.
pub(super) fn shown(before: &str, part: &str, after: &str) -> String {
    let whole = [before, part, after].concat();
    let part = before.len()..before.len() + part.len();
    let (key, mut shown) = (redact::key_mark(), String::new());
    for Stretch { range, kind } in stretches(&whole) {
        let seen = range.start.max(part.start)..range.end.min(part.end);
        if seen.is_empty() {
            continue;
        }
        let end = if whole[seen.clone()].ends_with('\n') { "\n" } else { "" };
        match kind {
            Kind::Text => shown.push_str(&judged(&whole, &range, seen)),
            // The lines of one key become one.
            Kind::Key if shown.ends_with(&format!("{key}\n")) => {}
            Kind::Key => shown.extend([&key, end]),
            Kind::Marker => {
                let line = range.start..range.end - usize::from(whole[range.clone()].ends_with('\n'));
                let text = judged(&whole, &line, seen.start.min(line.end)..seen.end.min(line.end));
                // Whoever looks at this again must not take it for a beginning.
                let text = if text.contains("BEGIN ") { text.replace("PRIVATE KEY", &key) } else { text };
                shown.extend([&text, end]);
            }
        }
    }
    shown
}

/// A part of a stretch, by as much of the stretch as may matter.
fn judged(whole: &str, stretch: &Range<usize>, part: Range<usize>) -> String {
    let from = whole.floor_char_boundary(part.start.saturating_sub(AROUND).max(stretch.start));
    let upto = whole.ceil_char_boundary((part.end + AROUND).min(stretch.end));
    redact::part(&whole[from..upto], part.start - from..part.end - from)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    /// One line, in which a key begins, ends, or is only named.
    Marker,
    /// Lines that may be of a key that began before them.
    Key,
}

/// Whole lines of one kind.
#[derive(Debug)]
struct Stretch {
    range: Range<usize>,
    kind: Kind,
}

fn stretches(text: &str) -> Vec<Stretch> {
    let mut all: Vec<Stretch> = Vec::new();
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
            _ => all.push(Stretch { range, kind }),
        }
    }
    all
}

/// Takes the lines of a key from the end of what is not known to be one: its
/// beginning was never there.
fn hide_end(text: &str, all: &mut Vec<Stretch>) {
    let Some(last) = all.last_mut().filter(|last| last.kind == Kind::Text) else { return };
    let Some(start) = redact::key_lines_before(&text[last.range.clone()]) else { return };
    let key = last.range.start + start..last.range.end;
    last.range.end = key.start;
    all.push(Stretch { range: key, kind: Kind::Key });
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "MIIEpAIBAAKCAQEA7Bq9ZkT3mXw5Rc1VnY8dLf2Gs6Hj4Ep0UoKx7iQ2bWz8Nt5M\n";

    #[track_caller]
    fn check(before: &str, part: &str, after: &str, expected: &str) {
        assert_eq!(shown(before, part, after), expected);
    }

    /// Markers are put together here, lest a scanner take this file for a leak.
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
        let seen = shown("", &format!("{named}{rest}"), "");
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
