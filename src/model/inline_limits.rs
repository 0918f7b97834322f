//! How long a text may be before it is kept as a file of its own.

use serde::{Deserialize, Serialize};

/// How long a text of a reply may be before it is kept as a file instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Inline {
    pub(crate) chars: usize,
    pub(crate) lines: usize,
}

/// As runs had it that were taken in before it could be chosen.
impl Default for Inline {
    fn default() -> Self {
        Self { chars: 5_000, lines: 100 }
    }
}

impl Inline {
    /// Nothing is too long.
    pub(crate) const ALL: Inline = Inline { chars: usize::MAX, lines: usize::MAX };

    /// How many characters of `text` stay, where it is too long.
    pub(crate) fn end(self, text: &str) -> Option<usize> {
        let by_lines = text.match_indices('\n').nth(self.lines.saturating_sub(1)).map(|(at, _)| at + 1);
        // A newline at the very end begins no further line.
        let by_lines = by_lines.filter(|at| *at < text.len()).map(|at| text[..at].chars().count() + 1);
        let by_chars = text.chars().nth(self.chars).map(|_| self.chars);
        match (by_lines, by_chars) {
            (Some(lines), Some(chars)) => Some(lines.min(chars)),
            (either, None) | (None, either) => either,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_limit_that_is_passed_counts() {
        let inline = Inline { chars: 10, lines: 3 };
        let check = |text: &str, expected: Option<usize>| assert_eq!(inline.end(text), expected, "{text:?}");
        check("", None);
        check("0123456789", None);
        check("éééééééééé", None);
        check("0123456789a", Some(10));
        check("a\nb\nc", None);
        check("a\nb\nc\n", None);
        check("a\nb\nc\nd", Some(7));
        check("a\nb\nc\nd and more", Some(7));
        check("0123456789\nb\nc\nd", Some(10));
    }
}
