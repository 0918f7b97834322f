//! The line that marks a gap in shortened output.
//!
//! It is parsed again when a reply is shortened further, to add up what is missing. Output of a run
//! must therefore not contain one: anything that looks like it is written with three dots, which
//! are as many bytes as the one character.

use std::ops::Range;

const MARK: (&str, &str) = ("… (", " bytes left out)");

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TruncationMark {
    /// The range of the mark, including the end of its line.
    pub(crate) at: Range<usize>,
    /// Number of missing bytes.
    pub(crate) missing: u64,
}

pub(crate) fn mark(missing: u64) -> String {
    format!("{}{missing}{}\n", MARK.0, MARK.1)
}

pub(crate) fn marks(text: &str) -> impl Iterator<Item = TruncationMark> {
    text.match_indices(MARK.0).filter_map(|(start, begins)| {
        let number = &text[start + begins.len()..];
        let (number, rest) = number.split_at(number.find(|c: char| !c.is_ascii_digit())?);
        let missing = number.parse().ok()?;
        let after = rest.strip_prefix(MARK.1)?;
        let end = text.len() - after.strip_prefix('\n').unwrap_or(after).len();
        Some(TruncationMark { at: start..end, missing })
    })
}

/// Output of a run in which nothing looks like a mark.
pub(crate) fn without_marks(mut printed: String) -> String {
    let found: Vec<usize> = marks(&printed).map(|mark| mark.at.start).collect();
    for at in found {
        printed.replace_range(at..at + '…'.len_utf8(), "...");
    }
    printed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(Range<usize>, u64)], without: &str) {
        let found: Vec<_> = marks(text).map(|mark| (mark.at, mark.missing)).collect();
        assert_eq!(found, expected);
        assert_eq!(without_marks(text.to_owned()), without);
    }

    #[test]
    fn a_mark_is_found_and_nothing_else_is() {
        assert_eq!(mark(5), "… (5 bytes left out)\n");
        check(&format!("a{}b", mark(5)), &[(1..24, 5)], "a... (5 bytes left out)\nb");
        let two = format!("{}… (7 bytes left out)", mark(u64::MAX));
        let without = "... (18446744073709551615 bytes left out)\n... (7 bytes left out)";
        check(&two, &[(0..42, u64::MAX), (42..64, 7)], without);
        for text in
            ["… (", "… (5", "… (+5 bytes left out)\n", "… ( bytes left out)\n", "… (5 lines left out)\n"]
        {
            check(text, &[], text);
        }
        check("… (… (5 bytes left out)\n", &[(5..28, 5)], "… (... (5 bytes left out)\n");
        let more = "… (18446744073709551616 bytes left out)\n";
        check(more, &[], more);
    }
}
