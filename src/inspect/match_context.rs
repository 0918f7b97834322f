//! Decides how much of a matching line and of its context is shown.

use crate::inspect::Block;
use crate::inspect::page::{MARK, byte_of};

/// A matching line.
pub(super) struct Hit {
    pub(super) start: u64,
    /// Where the line ends without its break, and where the next one starts.
    pub(super) end: u64,
    pub(super) next: u64,
    /// The line, or for a long one the window that matched.
    pub(super) text: String,
    /// Whether the line continues before and after the text.
    pub(super) cut: (bool, bool),
    /// Where the match begins in the text.
    pub(super) at: usize,
}

/// The space that a block takes: its lines, and a break after each.
pub(super) fn cost(block: &Block) -> usize {
    let around = block.context_before.iter().chain(&block.context_after);
    around.chain([&block.match_line]).map(|line| line.chars().count() + 1).sum()
}

/// The matching line, or as much of it as may be shown, from shortly before its match; and whether it was
/// cut.
pub(super) fn around(hit: &Hit, longest: usize) -> (String, bool) {
    let length = hit.text.chars().count();
    if length <= longest && hit.cut == (false, false) {
        return (hit.text.clone(), false);
    }
    let room = longest.saturating_sub(2);
    // A byte pattern may match inside a character.
    let before = hit.text[..hit.text.floor_char_boundary(hit.at)].chars().count();
    let from = if before + room / 2 <= room && !hit.cut.0 { 0 } else { before.saturating_sub(room / 4) };
    let upto = length.min(from + room);
    let part = &hit.text[byte_of(&hit.text, from)..byte_of(&hit.text, upto)];
    let mut line = String::new();
    line.extend((from > 0 || hit.cut.0).then_some(MARK));
    line.push_str(part);
    line.extend((upto < length || hit.cut.1).then_some(MARK));
    (line, true)
}

pub(super) fn beginning(text: &str, longest: usize, goes_on: bool) -> String {
    if text.chars().count() + usize::from(goes_on) <= longest && !goes_on {
        return text.to_owned();
    }
    format!("{}{MARK}", &text[..byte_of(text, longest - 1)])
}

pub(super) fn ending(text: &str, longest: usize) -> String {
    let length = text.chars().count();
    format!("{MARK}{}", &text[byte_of(text, length.saturating_sub(longest - 1))..])
}

#[cfg(test)]
mod tests {
    use crate::inspect::reference_answers::{ask, find};

    #[test]
    fn a_match_may_begin_inside_of_a_character() {
        let content = format!("{}{}", "x".repeat(300), "é".repeat(300));
        let found = ask(content.as_bytes(), find(r"(?-u:\xa9)", 0, 9), None, 400);
        assert!(found.matches[0].match_line.contains("xé"), "{found:?}");
    }
}
