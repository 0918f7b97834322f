//! How long a text may be before it is stored in a file.

use serde::{Deserialize, Serialize};

/// Limits of a text in a reply; longer ones are stored in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InlineLimits {
    pub(crate) chars: usize,
    pub(crate) lines: usize,
}

/// The limits of runs from before they were configurable.
impl Default for InlineLimits {
    fn default() -> Self {
        Self { chars: 5_000, lines: 100 }
    }
}

impl InlineLimits {
    /// No limit.
    pub(crate) const ALL: InlineLimits = InlineLimits { chars: usize::MAX, lines: usize::MAX };

    /// How many characters of `text` fit; `None` if all of it does.
    pub(crate) fn end(self, text: &str) -> Option<usize> {
        let by_lines = text.match_indices('\n').nth(self.lines.saturating_sub(1)).map(|(at, _)| at + 1);
        // A newline at the very end starts no further line.
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
        let inline = InlineLimits { chars: 10, lines: 3 };
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
