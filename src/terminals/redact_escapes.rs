//! Redacts raw terminal output including its escape sequences. A secret counts as one if it appears
//! on the screen, whatever sequences it contains.
//!
//! The screen text is redacted, with the position of every character in the raw output. Where it
//! changes, the raw bytes from the first to the last removed character are removed, including the
//! sequences between them.

use std::ops::Range;

use crate::redact;
use crate::terminals::redact_text::redact_part;
use crate::text::{EscapeStripper, PieceEnd};

/// Redacts `part`, which stands between `before` and `after`, in a window of `columns`.
pub(super) fn redact_raw(before: &str, part: &str, after: &str, columns: u16) -> String {
    let sent = [before, part, after].concat();
    let drawn = ScreenText::of(&sent, columns);
    let seen = redact_part("", &drawn.text, "");
    if seen == drawn.text {
        return redact_part(before, part, after);
    }
    let range = before.len()..before.len() + part.len();
    // Does not happen; the screen text is safe to show.
    let Some(gaps) = gaps(&drawn.text, &seen) else { return seen };
    let cuts =
        gaps.into_iter().map(|gap| Replacement { range: drawn.sent(&sent, gap.range), mark: gap.mark });
    let cuts = merged(cuts.collect());
    let [before, part, after] =
        [0..range.start, range.clone(), range.end..sent.len()].map(|range| without(&sent, &range, &cuts));
    // Text that no screen showed, such as a title, may contain a secret too.
    redact_part(&before, &part, &after)
}

/// The text on the screen.
struct ScreenText {
    text: String,
    /// For every character, its position in the text and in the raw output.
    places: Vec<(usize, Range<usize>)>,
}

impl ScreenText {
    fn of(sent: &str, columns: u16) -> Self {
        let mut strip = EscapeStripper::default();
        strip.set_width(columns);
        let mut drawn = Self { text: String::new(), places: Vec::new() };
        for (at, byte) in sent.bytes().enumerate() {
            let end = strip.step(byte);
            if end.is_some() {
                drawn.add(&mut strip);
            }
            if matches!(end, Some(PieceEnd::Line | PieceEnd::Moved)) {
                drawn.push('\n', at..at + 1);
            }
        }
        drawn.add(&mut strip);
        drawn
    }

    fn add(&mut self, strip: &mut EscapeStripper) {
        for cell in strip.take_cells() {
            let length = cell.character.len_utf8();
            self.push(cell.character, cell.end.saturating_sub(length)..cell.end);
        }
    }

    fn push(&mut self, character: char, sent: Range<usize>) {
        self.places.push((self.text.len(), sent));
        self.text.push(character);
    }

    /// The range of raw output that produced a part of the text.
    fn sent(&self, sent: &str, part: Range<usize>) -> Range<usize> {
        let first = self.places.partition_point(|(at, _)| *at < part.start);
        let end = self.places.partition_point(|(at, _)| *at < part.end);
        let places = &self.places[first..end];
        let start = places.iter().map(|(_, sent)| sent.start).min();
        let end = places.iter().map(|(_, sent)| sent.end).max();
        match start.zip(end) {
            Some((start, end)) => sent.floor_char_boundary(start)..sent.ceil_char_boundary(end),
            None => {
                let at = self.places.get(first).map_or(sent.len(), |(_, sent)| sent.start);
                let at = sent.floor_char_boundary(at);
                at..at
            }
        }
    }
}

/// A range of text and its replacement.
#[derive(Debug, PartialEq, Eq)]
struct Replacement<'a> {
    range: Range<usize>,
    mark: &'a str,
}

/// The parts of `text` that `seen` replaces by marks. If several alignments are possible, the
/// remaining text is the same.
fn gaps<'a>(text: &str, seen: &'a str) -> Option<Vec<Replacement<'a>>> {
    let mut gaps = Vec::new();
    let (mut at, mut rest, mut mark) = (0, seen, "");
    loop {
        let next = next_mark(rest);
        let same = &rest[..next.as_ref().map_or(rest.len(), |next| next.start)];
        let start = match next {
            Some(_) => at + text[at..].find(same)?,
            None => text[at..].ends_with(same).then(|| text.len() - same.len())?,
        };
        if !mark.is_empty() || start > at {
            gaps.push(Replacement { range: at..start, mark });
        }
        at = start + same.len();
        let Some(next) = next else { return Some(gaps) };
        (mark, rest) = (&rest[next.clone()], &rest[next.end..]);
    }
}

fn next_mark(text: &str) -> Option<Range<usize>> {
    let empty = redact::mark("");
    let begin = empty.trim_end_matches(']');
    text.match_indices(begin).find_map(|(at, _)| {
        let kind = at + begin.len();
        let end = kind + text[kind..].bytes().take_while(|c| c.is_ascii_lowercase() || *c == b'-').count();
        text[end..].starts_with(']').then(|| at..end + 1)
    })
}

/// Sorts the cuts and merges overlapping ones: what appears in one place may have been sent in
/// several.
fn merged(mut cuts: Vec<Replacement>) -> Vec<Replacement> {
    cuts.sort_by_key(|cut| (cut.range.start, cut.range.end));
    let mut all: Vec<Replacement> = Vec::with_capacity(cuts.len());
    for cut in cuts {
        match all.last_mut() {
            Some(last) if cut.range.start < last.range.end => {
                last.range.end = last.range.end.max(cut.range.end);
            }
            _ => all.push(cut),
        }
    }
    all
}

/// A part of `sent` without the cuts. A mark goes where its cut begins; a key that spans several
/// parts is marked in each.
fn without(sent: &str, part: &Range<usize>, cuts: &[Replacement]) -> String {
    let (mut text, mut at) = (String::new(), part.start);
    for Replacement { range, mark } in cuts {
        if range.end < part.start || range.start >= part.end {
            continue;
        }
        text.push_str(sent.get(at..range.start).unwrap_or_default());
        if range.start >= part.start || (*mark == redact::key_mark() && range.end > part.start) {
            text.push_str(mark);
        }
        at = range.end.max(at);
    }
    text + sent.get(at..part.end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const REST: &str = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8";

    #[track_caller]
    fn check(sent: &str, expected: &str) {
        assert_eq!(redact_raw("", sent, "", 80), expected);
    }

    #[test]
    fn a_secret_goes_with_the_sequences_inside_it() {
        check(
            &format!("T=\x1b[31mghp_\x1b[m{REST}\x1b[1m b\r\n"),
            "T=\x1b[31m[redacted:github]\x1b[1m b\r\n",
        );
        check("pass\x1b[1mword\x1b[m=hunter2\u{feff}xyz c", "pass\x1b[1mword\x1b[m=[redacted:password] c");
        check(
            "a \x1b[1mb\x1b[m [redacted:x] [redacted: c\r\n",
            "a \x1b[1mb\x1b[m [redacted:x] [redacted: c\r\n",
        );
    }

    #[test]
    fn what_was_drawn_in_another_order_is_judged_as_it_stands() {
        // A shell that edits a long line writes a blank and a carriage return at its end.
        let (first, second) = REST.split_at(10);
        let line = format!("{}ghp_{first} \r{second}\r\n", "x ".repeat(33));
        check(&line, &format!("{}[redacted:github]\r\n", "x ".repeat(33)));
        check(&format!("ghq\x08p_{REST}\r\nb"), "[redacted:github]\r\nb");
    }

    #[test]
    fn what_no_screen_shows_is_judged_as_it_was_sent() {
        check(&format!("\x1b]0;ghp_{REST}\x07a"), "\x1b]0;[redacted:github]\x07a");
        let both = format!("\x1b]0;ghp_{REST}\x07a gh\x1b[mp_{REST}\r\n");
        check(&both, "\x1b]0;[redacted:github]\x07a [redacted:github]\r\n");
    }

    #[test]
    fn a_key_in_colours_is_a_key_in_every_part() {
        let line = "\x1b[32mMIIEpAIBAAKCAQEA7Bq9ZkT3mXw5\x1b[mRc1VnY8dLf2Gs6Hj4Ep0UoKx7iQ2bWz8Nt5M\r\n";
        let key = |word: &str| format!("-----{word} RSA \x1b[1mPRIVATE\x1b[m KEY-----\r\n");
        let (begin, end) = (key("BEGIN"), key("END"));
        for (before, part, after) in [
            (String::new(), format!("{begin}{line}{line}"), format!("{line}{end}")),
            (format!("{begin}{line}"), line.repeat(3), format!("{line}{end}")),
            (format!("{begin}{line}"), format!("{line}{end}done\r\n"), String::new()),
            (String::new(), line.repeat(3), format!("{line}{end}")),
        ] {
            let shown = redact_raw(&before, &part, &after, 80);
            assert!(!shown.contains("MIIE") && !shown.contains("Rc1V"), "{shown:?}");
            assert!(shown.contains("[redacted:private-key]"), "{shown:?}");
            assert_eq!(shown.contains("done\r\n"), part.contains("done"), "{shown:?}");
        }
    }

    proptest! {
        /// Wherever colours are, and wherever a part ends.
        #[test]
        fn no_part_tells_a_coloured_token(colours in proptest::collection::btree_set(0..40usize, 0..5), edge in 0..80usize) {
            let mut token = format!("ghp_{REST}");
            colours.iter().rev().for_each(|at| token.insert_str(*at, "\x1b[1m"));
            let sent = format!("T={token} c\r\n");
            let (first, second) = sent.split_at(edge.min(sent.len()));
            let shown = [redact_raw("", first, second, 80), redact_raw(first, second, "", 80)];
            prop_assert_eq!(ScreenText::of(&shown.concat(), 80).text, "T=[redacted:github] c\n", "{:?}", shown);
        }

        #[test]
        fn what_tells_nothing_stays_as_it_was_sent(sent in "([a-z \x1b\\[m\r\n\x08é\u{9b}]|\x1b\\[1m|\x1b\\[5C){0,60}") {
            prop_assert_eq!(redact_raw("", &sent, "", 20), sent);
        }
    }
}
