//! What was sent to a terminal with all its escape sequences, as it may be
//! shown: a secret is one on the screen, whatever stands inside it.
//!
//! What the screen shows is judged, with the place of every character in what
//! was sent. Where it is not shown as it is, the bytes from the first to the
//! last of what is left out go, and the sequences between them.

use std::ops::Range;

use crate::redact;
use crate::terminals::redact_text::shown;
use crate::text::{End, Strip};

/// What is between `before` and `after`, in a window of so many columns.
pub(super) fn shown_as_sent(before: &str, part: &str, after: &str, columns: u16) -> String {
    let sent = [before, part, after].concat();
    let drawn = Drawn::of(&sent, columns);
    let seen = shown("", &drawn.text, "");
    if seen == drawn.text {
        return shown(before, part, after);
    }
    let range = before.len()..before.len() + part.len();
    // It always is; and this much may be shown.
    let Some(gaps) = gaps(&drawn.text, &seen) else { return seen };
    let cuts = gaps.into_iter().map(|gap| Cut { range: drawn.sent(&sent, gap.range), mark: gap.mark });
    let cuts = merged(cuts.collect());
    let [before, part, after] =
        [0..range.start, range.clone(), range.end..sent.len()].map(|range| without(&sent, &range, &cuts));
    // What no screen ever showed, such as a title, may tell a secret as well.
    shown(&before, &part, &after)
}

/// The text of a screen.
struct Drawn {
    text: String,
    /// For every character, where it is in the text and in what was sent.
    places: Vec<(usize, Range<usize>)>,
}

impl Drawn {
    fn of(sent: &str, columns: u16) -> Self {
        let mut strip = Strip::default();
        strip.set_width(columns);
        let mut drawn = Self { text: String::new(), places: Vec::new() };
        for (at, byte) in sent.bytes().enumerate() {
            let end = strip.step(byte);
            if end.is_some() {
                drawn.add(&mut strip);
            }
            if matches!(end, Some(End::Line | End::Moved)) {
                drawn.push('\n', at..at + 1);
            }
        }
        drawn.add(&mut strip);
        drawn
    }

    fn add(&mut self, strip: &mut Strip) {
        for cell in strip.take_cells() {
            let length = cell.character.len_utf8();
            self.push(cell.character, cell.end.saturating_sub(length)..cell.end);
        }
    }

    fn push(&mut self, character: char, sent: Range<usize>) {
        self.places.push((self.text.len(), sent));
        self.text.push(character);
    }

    /// From the first to the last byte of what was sent for a part of the text.
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

/// A part of a text, and what stands in its place.
#[derive(Debug, PartialEq, Eq)]
struct Cut<'a> {
    range: Range<usize>,
    mark: &'a str,
}

/// What of `text` is not in `seen`, which is `text` with marks in the place of
/// parts of it. Where there are several ways to see it, what is left is the same.
fn gaps<'a>(text: &str, seen: &'a str) -> Option<Vec<Cut<'a>>> {
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
            gaps.push(Cut { range: at..start, mark });
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

/// In their order, and none over another: what a screen shows in one place may
/// have been sent in several.
fn merged(mut cuts: Vec<Cut>) -> Vec<Cut> {
    cuts.sort_by_key(|cut| (cut.range.start, cut.range.end));
    let mut all: Vec<Cut> = Vec::with_capacity(cuts.len());
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

/// A part of `sent` without the cuts. The mark of one belongs to where it
/// begins; but of a key that is longer than a part, each part tells.
fn without(sent: &str, part: &Range<usize>, cuts: &[Cut]) -> String {
    let (mut text, mut at) = (String::new(), part.start);
    for Cut { range, mark } in cuts {
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
        assert_eq!(shown_as_sent("", sent, "", 80), expected);
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
        // A shell that edits a long line writes a blank and a return at its end.
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
            let shown = shown_as_sent(&before, &part, &after, 80);
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
            let shown = [shown_as_sent("", first, second, 80), shown_as_sent(first, second, "", 80)];
            prop_assert_eq!(Drawn::of(&shown.concat(), 80).text, "T=[redacted:github] c\n", "{:?}", shown);
        }

        #[test]
        fn what_tells_nothing_stays_as_it_was_sent(sent in "([a-z \x1b\\[m\r\n\x08é\u{9b}]|\x1b\\[1m|\x1b\\[5C){0,60}") {
            prop_assert_eq!(shown_as_sent("", &sent, "", 20), sent);
        }
    }
}
