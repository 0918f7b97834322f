//! Redacts and shortens a file for a reply.

use std::path::Path;

use crate::reading::HeadAndTail;
use crate::reply::words;

/// The longest text, in characters. With the rest of the reply it stays below the 20,000 that every client
/// accepts.
const MOST: usize = 18_000;
/// How much of a file is read: more than is shown, so that a secret at the cut is seen whole.
pub(crate) const LOOKED_AT: u64 = 256 << 10;

/// A text for a reply, and whether part of it was left out.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) text: String,
    pub(crate) cut: bool,
}

/// The beginning and the end of a file, as far as they fit.
pub(crate) fn file(ends: &HeadAndTail, path: &Path) -> Shown {
    let head = words(&ends.head);
    if ends.tail.is_none() && head.chars().count() <= MOST {
        return Shown { text: head, cut: false };
    }
    let tail = ends.tail.as_deref().map(words);
    let mark = format!(
        "… (the middle is left out: {} bytes in total, in `{}`; inspect_output reads it in parts)",
        ends.total_bytes,
        path.display()
    );
    let text = format!(
        "{}\n{mark}\n{}",
        beginning(&head, MOST / 2).trim_end_matches('\n'),
        ending(tail.as_deref().unwrap_or(&head), MOST / 2)
    );
    Shown { text, cut: true }
}

/// At most the first `most` characters, ending at a line end if one is near.
fn beginning(text: &str, most: usize) -> &str {
    let Some((end, _)) = text.char_indices().nth(most) else { return text };
    let part = &text[..end];
    let line = part.rfind('\n').map_or(0, |at| at + 1);
    if line > end / 2 { &part[..line] } else { part }
}

/// At most the last `most` characters, starting at a line start if one is near.
fn ending(text: &str, most: usize) -> &str {
    let Some((start, _)) = text.char_indices().nth_back(most.saturating_sub(1)) else { return text };
    let part = &text[start..];
    let line = part.find('\n').map_or(part.len(), |at| at + 1);
    if line < part.len() / 2 { &part[line..] } else { part }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(head: &str, tail: Option<&str>) -> HeadAndTail {
        HeadAndTail { head: head.into(), tail: tail.map(Into::into), total_bytes: 999_999 }
    }

    #[test]
    fn what_fits_is_untouched() {
        let whole = file(&ends("one\ntwo\n", None), Path::new("/run/stdout.log"));
        assert_eq!(whole, Shown { text: "one\ntwo\n".into(), cut: false });
    }

    #[test]
    fn of_a_long_file_whole_lines_of_both_ends_are_shown() {
        let numbered: String = (0..20_000).map(|number| format!("line {number}\n")).collect();
        for given in [ends(&numbered, None), ends(&numbered[..100_000], Some(&numbered[100_000..]))] {
            let Shown { text, cut } = file(&given, Path::new("/run/stdout.log"));
            assert!(cut);
            assert!(text.starts_with("line 0\nline 1\n"), "{}", &text[..40]);
            assert!(text.ends_with("\nline 19999\n"));
            assert!(text.contains("999999 bytes in total, in `/run/stdout.log`"));
            assert!(text.lines().all(|line| line.starts_with("line ") || line.starts_with('…')));
            assert!(text.chars().count() < 20_000);
        }
    }

    #[test]
    fn one_endless_line_is_cut_between_characters() {
        let Shown { text, .. } = file(&ends(&"é".repeat(50_000), None), Path::new("/x"));
        assert_eq!(text.matches('é').count(), MOST);
    }

    #[test]
    fn a_secret_is_seen_whole_before_the_text_is_cut() {
        let token = format!("ghp_{}", "Ab3".repeat(12));
        let around = "some words ".repeat(MOST / 22);
        let Shown { text, cut } = file(&ends(&format!("{around}{token}\n{around}"), None), Path::new("/x"));
        assert!(cut && !text.contains("Ab3"), "{text}");
    }
}
