//! Shortens text for display, by characters and without cutting a secret in two, since redaction
//! would miss half a secret. The full text stays on disk.

use crate::redact;

/// The first characters of a text and `…`, at most `most` characters in all.
pub(crate) fn cut(text: &str, most: usize) -> String {
    // Fast path without counting: there are never more characters than bytes.
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
