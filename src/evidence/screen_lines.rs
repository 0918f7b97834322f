//! The lines of a command's output, as they would look on a screen.
//!
//! Every reader of outputs uses this once, from the first line to the last, and the length of lines is
//! limited. Their work is therefore linear in the text.

use std::borrow::Cow;

use crate::text::plain;

/// No meaningful line is longer; the rest is not read.
const LONGEST: usize = 4096;

/// If an output has more lines, most of them are almost empty.
const MOST: usize = 20_000;
/// A shorter line does not report a failure by itself.
const SHORTEST: usize = 8;

/// The part of an output that is read, if not all of it: of very many lines in the middle, only those long
/// enough to say something.
pub(super) fn bounded(text: &str) -> Option<String> {
    let (head, _) = text.match_indices('\n').nth(MOST / 2)?;
    let (tail, _) = text.rmatch_indices('\n').nth(MOST / 2).filter(|(tail, _)| *tail > head)?;
    let middle = text[head + 1..=tail].split_inclusive('\n').filter(|line| line.len() > SHORTEST);
    let bounded: String = [&text[..=head]].into_iter().chain(middle).chain([&text[tail + 1..]]).collect();
    (bounded.len() < text.len()).then_some(bounded)
}

/// The lines without escapes and invisible characters. If a line was overwritten, its last version.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    text.split('\n').map(shown)
}

#[cfg(test)]
thread_local! {
    /// How many bytes of outputs this thread has handed to readers.
    pub(super) static HANDED_OUT: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

fn shown(line: &str) -> Cow<'_, str> {
    #[cfg(test)]
    HANDED_OUT.set(HANDED_OUT.get() + line.len() + 1);
    let line = line.trim_end_matches('\r');
    let line = line.rsplit_once('\r').map_or(line, |(_, last)| last);
    let line = &line[..line.floor_char_boundary(LONGEST)];
    if line.bytes().all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte)) {
        return Cow::Borrowed(line);
    }
    Cow::Owned(plain::text(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(lines(text).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn colours_are_gone() {
        check("\u{1b}[1m\u{1b}[31mFAIL\u{1b}[0m a\tb\n", &["FAIL a\tb", ""]);
    }

    #[test]
    fn a_line_that_was_written_over_is_its_last_version() {
        check("10 %\r50 %\r100 %\r\ndone", &["100 %", "done"]);
    }

    #[test]
    fn of_very_many_lines_those_are_left_out_that_say_nothing() {
        let some = "x\n".repeat(MOST);
        assert_eq!(bounded(&some), None);
        assert_eq!(bounded(&"main.c:1:2: error: x\n".repeat(2 * MOST)), None);
        let read = bounded(&format!("{some}KeyError: 1\n{some}")).unwrap();
        assert_eq!(read, format!("{}KeyError: 1\n{}", &some[..MOST + 2], &some[..MOST]));
    }

    #[test]
    fn a_line_has_an_end() {
        let long = "é".repeat(LONGEST);
        check(&long, &["é".repeat(LONGEST / 2).as_str()]);
    }
}
