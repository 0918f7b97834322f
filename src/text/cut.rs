//! Shortens a text for people.
//!
//! Knows characters, and that no secret may be cut in two: the half of one is
//! not recognised later. What was cut stays on disk in full.

use crate::redact;

/// The text, or its first characters and `…`, `most` characters in all.
pub(crate) fn cut(text: &str, most: usize) -> String {
    // The common case needs no count: bytes are never fewer than characters.
    if text.len() <= most || text.chars().nth(most).is_none() {
        return text.to_owned();
    }
    let end = text.char_indices().nth(most.saturating_sub(1)).map_or(text.len(), |(at, _)| at);
    let beyond = text[end..].char_indices().nth(redact::MARGIN).map_or(text.len(), |(at, _)| end + at);
    format!("{}…", redact::beginning(&text[..end], &text[..beyond]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, most: usize, expected: &str) {
        assert_eq!(cut(text, most), expected);
    }

    #[test]
    fn what_fits_is_left_alone() {
        check("", 3, "");
        check("abc", 3, "abc");
        check("éàü", 3, "éàü");
    }

    #[test]
    fn what_does_not_fit_ends_in_an_ellipsis() {
        check("abcd", 3, "ab…");
        check("éàüö", 3, "éà…");
        check("abcd", 1, "…");
    }
}
