//! Splits a stream of bytes into lines.
//!
//! A line may arrive in any number of pieces. A line above the limit is skipped as a whole and
//! counted.

use memchr::memchr;

/// Codex puts the whole output of a command into one line: up to 1 MiB before JSON escaping.
const LONGEST: usize = 16 << 20;

const KEPT: usize = 2 << 20;

#[derive(Debug, Default)]
pub(crate) struct LineSplitter {
    /// The beginning of an incomplete line.
    partial: Vec<u8>,
    /// Inside a line that is too long.
    skipping: bool,
    skipped: u64,
}

impl LineSplitter {
    /// Calls `each` with every line that `bytes` completes, without its newline.
    pub(crate) fn feed(&mut self, mut bytes: &[u8], mut each: impl FnMut(&[u8])) {
        while let Some(end) = memchr(b'\n', bytes) {
            let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
            bytes = rest;
            if std::mem::take(&mut self.skipping) {
                continue;
            }
            if self.partial.is_empty() {
                each(line);
            } else {
                self.partial.extend_from_slice(line);
                each(&self.partial);
                self.forget();
            }
        }
        self.hold(bytes);
    }

    /// Calls `each` with a last line that has no newline.
    pub(crate) fn finish(&mut self, mut each: impl FnMut(&[u8])) {
        if !self.partial.is_empty() {
            each(&self.partial);
            self.partial.clear();
        }
    }

    /// The number of lines that were too long.
    pub(crate) fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Frees the memory of a huge line instead of keeping it for the rest of the run.
    fn forget(&mut self) {
        if self.partial.capacity() > KEPT {
            self.partial = Vec::new();
        } else {
            self.partial.clear();
        }
    }

    fn hold(&mut self, piece: &[u8]) {
        if self.skipping || piece.is_empty() {
            return;
        }
        if self.partial.len() + piece.len() > LONGEST {
            self.partial = Vec::new();
            self.skipping = true;
            self.skipped += 1;
        } else {
            self.partial.extend_from_slice(piece);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines_of(pieces: &[&[u8]]) -> (Vec<Vec<u8>>, u64) {
        let mut lines = LineSplitter::default();
        let mut seen = Vec::new();
        for piece in pieces {
            lines.feed(piece, |line| seen.push(line.to_vec()));
        }
        lines.finish(|line| seen.push(line.to_vec()));
        (seen, lines.skipped())
    }

    #[test]
    fn a_last_line_without_newline_is_a_line() {
        assert_eq!(lines_of(&[b"a\nb"]).0, [b"a".to_vec(), b"b".to_vec()]);
        assert_eq!(lines_of(&[b"a\n"]).0, [b"a".to_vec()]);
    }

    #[test]
    fn a_line_beyond_reason_is_skipped_and_the_next_is_read() {
        let piece = vec![b'x'; 1 << 20];
        let mut pieces: Vec<&[u8]> = vec![&piece; 20];
        pieces.push(b"tail\nnext\n");
        assert_eq!(lines_of(&pieces), (vec![b"next".to_vec()], 1));
    }

    proptest! {
        #[test]
        fn however_the_bytes_come_the_lines_are_the_same(bytes: Vec<u8>, cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8)) {
            let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            at.sort_unstable();
            let mut pieces = Vec::new();
            let mut from = 0;
            for cut in at { pieces.push(&bytes[from..cut]); from = cut; }
            pieces.push(&bytes[from..]);
            prop_assert_eq!(lines_of(&pieces), lines_of(&[&bytes]));
        }
    }
}
