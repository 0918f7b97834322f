//! The end of what a command printed, on both streams in the order in which it
//! came. Lines are kept whole: two streams do not meet in the middle of one.

use std::borrow::Cow;

use crate::supervisor::Stream;

/// At least so much of the end is there.
const KEPT: usize = 64 << 10;

#[derive(Debug, Default)]
pub(super) struct Printed {
    lines: Vec<u8>,
    /// The lines that have not ended, of each stream.
    open: [Vec<u8>; 2],
    /// How much of the lines was asked for as new.
    told: usize,
    whole: bool,
}

impl Printed {
    pub(super) fn new() -> Self {
        Self { whole: true, ..Self::default() }
    }

    pub(super) fn add(&mut self, stream: Stream, bytes: &[u8]) {
        let open = match stream {
            Stream::Stdout => &mut self.open[0],
            Stream::Stderr => &mut self.open[1],
        };
        let ended = bytes.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
        // A line without an end cannot be waited for.
        let ended = ended.or((open.len() + bytes.len() > KEPT).then_some(bytes.len()));
        let Some(ended) = ended else {
            open.extend_from_slice(bytes);
            return;
        };
        self.lines.append(open);
        open.extend_from_slice(&bytes[ended..]);
        self.keep(&bytes[..ended]);
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.lines.extend_from_slice(bytes);
        if self.lines.len() > 2 * KEPT {
            self.whole = false;
            // A line that is cut at its beginning would say something else.
            let from = self.lines.len() - KEPT;
            let ended = self.lines[from..].iter().position(|byte| *byte == b'\n');
            let gone = ended.map_or(from, |at| from + at + 1);
            self.lines.drain(..gone);
            self.told = self.told.saturating_sub(gone);
        }
    }

    /// The lines that have come since the last time, as far as they are kept.
    pub(super) fn since_last(&mut self) -> String {
        let from = std::mem::replace(&mut self.told, self.lines.len());
        String::from_utf8_lossy(&self.lines[from..]).into_owned()
    }

    /// The lines that have come so far, and of those that are written over
    /// again and again the states that were.
    pub(super) fn so_far(&self) -> Cow<'_, str> {
        let over = self.open.each_ref().map(|open| {
            let end = open.iter().rposition(|byte| *byte == b'\r').unwrap_or(0);
            &open[..end]
        });
        match over {
            [[], []] => String::from_utf8_lossy(&self.lines),
            [out, err] => {
                let between: &[u8] = if out.is_empty() { b"" } else { b"\n" };
                let all = [&self.lines, out, between, err].concat();
                Cow::Owned(String::from_utf8_lossy(&all).into_owned())
            }
        }
    }

    /// The text, and whether it is all that was printed.
    pub(super) fn finish(mut self) -> (String, bool) {
        for mut open in std::mem::take(&mut self.open) {
            if !open.is_empty() {
                open.push(b'\n');
                self.keep(&open);
            }
        }
        (String::from_utf8_lossy(&self.lines).into_owned(), self.whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_do_not_meet_in_the_middle_of_a_line() {
        let mut printed = Printed::new();
        printed.add(Stream::Stdout, b"test a ... ");
        printed.add(Stream::Stderr, b"warning: x\nerr");
        printed.add(Stream::Stdout, b"ok\nte");
        printed.add(Stream::Stderr, b"or\n");
        assert_eq!(printed.finish(), ("warning: x\ntest a ... ok\nerror\nte\n".to_owned(), true));
    }

    #[test]
    fn a_line_that_is_written_over_is_there_before_it_ends() {
        let mut printed = Printed::new();
        printed.add(Stream::Stdout, b"begin\nhalf of a l");
        assert_eq!(printed.so_far(), "begin\n");
        printed.add(Stream::Stderr, b"\r10%\r20%\r30");
        assert_eq!(printed.so_far(), "begin\n\r10%\r20%");
        printed.add(Stream::Stdout, b"ine\rx");
        assert_eq!(printed.so_far(), "begin\nhalf of a line\n\r10%\r20%");
    }

    #[test]
    fn the_end_is_kept_and_what_is_missing_is_known() {
        let mut printed = Printed::new();
        for number in 0..100_000 {
            printed.add(Stream::Stdout, format!("{number}\n").as_bytes());
        }
        let (text, whole) = printed.finish();
        assert!(!whole && text.ends_with("99998\n99999\n") && (KEPT - 8..=2 * KEPT).contains(&text.len()));
        // The first of them is a whole one.
        let numbers: Vec<u32> = text.lines().take(2).map(|line| line.parse().unwrap()).collect();
        assert_eq!(numbers[0] + 1, numbers[1]);
    }

    #[test]
    fn lines_are_new_once() {
        let mut printed = Printed::new();
        printed.add(Stream::Stdout, b"a\nb\nhalf");
        assert_eq!((printed.since_last(), printed.since_last()), ("a\nb\n".to_owned(), String::new()));
        printed.add(Stream::Stdout, b" of it\n");
        assert_eq!(printed.since_last(), "half of it\n");
        let mut told = 0;
        for number in 0..100_000 {
            printed.add(Stream::Stdout, format!("{number}\n").as_bytes());
            if number % 1000 == 999 {
                told += printed.since_last().lines().count();
            }
        }
        assert_eq!(told, 100_000);
    }

    #[test]
    fn a_line_without_an_end_does_not_fill_the_memory() {
        let mut printed = Printed::new();
        for _ in 0..1_000 {
            printed.add(Stream::Stderr, &[b'x'; 4096]);
        }
        assert!(printed.open[1].capacity() <= 2 * KEPT && printed.lines.capacity() <= 8 * KEPT);
        assert!(!printed.finish().1);
    }
}
