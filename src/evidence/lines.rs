//! The lines of a command's output, as a reader of a screen would see them.
//!
//! Every reader of outputs goes through here once, from the first line to the
//! last, and no line is longer than a bound: what they do is linear in the text.

use std::borrow::Cow;

use crate::progress::plain;

/// No line that means something is longer; what is beyond is not read.
const LONGEST: usize = 4096;

/// The lines without escapes and invisible characters. Where a line was written
/// over, its last version.
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
    fn a_line_has_an_end() {
        let long = "é".repeat(LONGEST);
        check(&long, &["é".repeat(LONGEST / 2).as_str()]);
    }
}
