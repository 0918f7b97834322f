//! Shortens a stream: keeps its beginning and end, and marks what is missing.
//!
//! An agent's readable log may end with the output of the command that failed. That output takes precedence
//! over the log, and the heading that names the command stays.

use crate::reading::LAST_FAILED;
use crate::reply::fit::size_caps::{cost_of, pay, price};
use crate::reply::fit::tail_fields::{Keep, shares};
use crate::text::{TruncationMark, mark, marks};

/// The longest mark, in characters of JSON.
const MARKED: usize = 42;
/// Less of a command's output than this is not worth shortening the log.
const TELLING: usize = 2 * MARKED;

/// What is kept of `text` in `most` characters of JSON: whole lines where possible, and marks with the number
/// of missing bytes.
pub(crate) fn ends_of(text: &str, keep: Keep, most: usize) -> String {
    let with_heading = match keep {
        Keep::Both => heading(text).and_then(|at| around(text, at, most)),
        Keep::Last => None,
    };
    with_heading.unwrap_or_else(|| cut(text, keep, most))
}

/// Where the heading of the failed command's output begins.
fn heading(text: &str) -> Option<usize> {
    let is_line = |at: &usize| *at == 0 || text[..*at].ends_with('\n');
    let lines = || text.match_indices(LAST_FAILED).map(|(at, _)| at).filter(is_line);
    // Other output may contain such a line, but no mark after it.
    let after = |at: usize| text[at..].find('\n').map(|end| at + end + 1);
    let cut: Vec<usize> = marks(text).map(|mark| mark.at.start).collect();
    lines().find(|at| after(*at).is_some_and(|end| cut.contains(&end))).or_else(|| lines().next())
}

/// The log, the heading and the command's output, if there is space for them.
fn around(text: &str, heading: usize, most: usize) -> Option<String> {
    let (account, rest) = text.split_at(heading);
    let (heading, words) = rest.split_at(rest.find('\n')? + 1);
    let room = most.checked_sub(cost_of(heading))?;
    let left =
        room.checked_sub(cost_of(account).min(MARKED)).filter(|left| *left >= TELLING.min(cost_of(words)))?;
    let words = fitted(words, Keep::Last, left);
    let left = room - cost_of(&words);
    // Slightly more than the mark would be a fragment of a line.
    let left = if left < TELLING.min(cost_of(account)) { MARKED } else { left };
    let account = fitted(account, Keep::Both, left);
    Some(format!("{account}{heading}{words}"))
}

fn fitted(text: &str, keep: Keep, most: usize) -> String {
    if cost_of(text) <= most { text.to_owned() } else { cut(text, keep, most) }
}

/// Both ends, with one mark between them.
fn cut(text: &str, keep: Keep, most: usize) -> String {
    let Some(room) = most.checked_sub(MARKED) else {
        return "…".chars().take(most).collect();
    };
    let (head, missing, tail) = parts(text, keep);
    let rooms = shares(&[cost_of(head), cost_of(tail)], room);
    let (first, last) = (beginning(head, rooms[0]), ending(tail, rooms[1]));
    let cut = (head.len() - first.len()) + (tail.len() - last.len());
    format!("{first}{}{last}", mark(missing.saturating_add(cut as u64)))
}

/// The text before existing marks, or before the place for one; the number of bytes missing there; and the
/// text after.
fn parts(text: &str, keep: Keep) -> (&str, u64, &str) {
    let place = match keep {
        Keep::Both => text.ceil_char_boundary(text.len() / 2),
        Keep::Last => 0,
    };
    let marks: Vec<TruncationMark> = marks(text).collect();
    let (Some(first), Some(last)) = (marks.first(), marks.last()) else {
        return (&text[..place], 0, &text[place..]);
    };
    let head = if keep == Keep::Both { first.at.start } else { 0 };
    // Everything in between is missing now, except the marks.
    let between = last.at.end - head - marks.iter().map(|mark| mark.at.len()).sum::<usize>();
    let missing = marks.iter().fold(between as u64, |sum, mark| sum.saturating_add(mark.missing));
    (&text[..head], missing, &text[last.at.end..])
}

/// The longest beginning that fits `room`, up to the end of a line if it contains one.
fn beginning(text: &str, mut room: usize) -> &str {
    let end = text.char_indices().find(|(_, c)| !pay(price(*c), &mut room)).map_or(text.len(), |(at, _)| at);
    if end == text.len() {
        return text;
    }
    &text[..text[..end].rfind('\n').map_or(end, |at| at + 1)]
}

/// The longest end that fits `room`, from the beginning of a line if it contains one.
fn ending(text: &str, mut room: usize) -> &str {
    let taken = text.chars().rev().take_while(|c| pay(price(*c), &mut room));
    let from = text.len() - taken.map(char::len_utf8).sum::<usize>();
    if from == 0 || text[..from].ends_with('\n') {
        return &text[from..];
    }
    let line = text[from..].find('\n').map(|at| from + at + 1);
    &text[line.filter(|line| *line < text.len()).unwrap_or(from)..]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How long it was before anything was cut.
    fn whole(shown: &str) -> u64 {
        marks(shown).fold(shown.len() as u64, |sum, mark| sum + mark.missing - mark.at.len() as u64)
    }

    #[test]
    fn a_stream_keeps_both_ends_and_a_tail_its_own() {
        let numbered: String = (100..200).map(|number| format!("line {number}\n")).collect();
        assert_eq!(
            ends_of(&numbered, Keep::Both, 100),
            "line 100\nline 101\n… (864 bytes left out)\nline 198\nline 199\n"
        );
        assert_eq!(
            ends_of(&numbered, Keep::Last, 100),
            "… (855 bytes left out)\nline 195\nline 196\nline 197\nline 198\nline 199\n"
        );
    }

    #[test]
    fn what_was_missing_before_is_counted() {
        let text = format!("a\n{}… (1000 bytes left out)\n{}z\n", "b\n".repeat(50), "y\n".repeat(50));
        assert_eq!(ends_of(&text, Keep::Both, 54), "a\nb\n… (1196 bytes left out)\ny\nz\n");
        let text = format!("… (1000 bytes left out)\n{}… (5 bytes left out)\nz\n", "y\n".repeat(50));
        for keep in [Keep::Both, Keep::Last] {
            assert_eq!(ends_of(&text, keep, 45), "… (1105 bytes left out)\nz\n");
        }
    }

    #[test]
    fn no_number_is_too_large() {
        let text = format!("{}a\n{}z\n", mark(u64::MAX), mark(u64::MAX));
        assert_eq!(ends_of(&text, Keep::Both, 45), format!("{}z\n", mark(u64::MAX)));
    }

    #[test]
    fn one_endless_line_is_cut_between_characters() {
        assert_eq!(ends_of(&"é".repeat(100), Keep::Both, 50), "éééé… (184 bytes left out)\néééé");
        assert_eq!(ends_of(&"é".repeat(100), Keep::Last, 10), "…");
    }

    #[test]
    fn the_account_gives_way_to_the_words_of_the_command_that_failed() {
        let account = "did this\n".repeat(50);
        let heading = "last failed command, exit 2: make\n";
        let words = "no rule\n".repeat(50);
        // Whether or not something was missing in either before.
        for (before, after) in [(0, 0), (70, 0), (0, 900), (70, 900)] {
            let marked = |missing: u64| if missing == 0 { String::new() } else { mark(missing) };
            let text = format!("{}{account}{heading}{}{words}", marked(before), marked(after));
            for most in [300, 650] {
                let shown = ends_of(&text, Keep::Both, most);
                assert!(cost_of(&shown) <= most && shown.ends_with("\nno rule\nno rule\n"), "{shown}");
                let (told, last) = shown.split_once(heading).unwrap();
                assert_eq!(whole(told), before + 450, "{shown}");
                assert_eq!(whole(last), after + 400, "{shown}");
                // What the words leave over is for the account, if it is of any use.
                assert!(most > 300 || told == mark(before + 450), "{shown}");
                assert!(last.len() > 150 && told.len() < 300, "{shown}");
                assert!(most < 650 || told.ends_with("\ndid this\n"), "{shown}");
            }
            // With little, there are the last words and one number.
            let shown = ends_of(&text, Keep::Both, 60);
            assert_eq!(whole(&shown), before + after + 450 + heading.len() as u64 + 400, "{shown}");
            assert!(shown.ends_with("\nno rule\n") && marks(&shown).count() == 1, "{shown}");
        }
    }

    #[test]
    fn few_words_of_a_command_are_few_and_still_its_own() {
        let text = format!("{}last failed command: make\nno\n", "did this\n".repeat(50));
        assert_eq!(ends_of(&text, Keep::Both, 80), format!("{}last failed command: make\nno\n", mark(450)));
    }

    #[test]
    fn the_line_before_a_mark_is_the_heading() {
        let quoted = "last failed command: somebody else's\n";
        let (account, words) = (format!("{quoted}{}", "did\n".repeat(99)), "no\n".repeat(99));
        let text = format!("{account}last failed command: make\n{}{quoted}{words}", mark(7));
        let shown = ends_of(&text, Keep::Both, 250);
        assert!(shown.contains("\nlast failed command: make\n… ("), "{shown}");
    }
}
