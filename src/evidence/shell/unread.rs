//! What a shell says of a line that it does not understand: it begins nothing of it.

use super::base_name;

/// What a shell ends with that did not understand what it was given.
const NOT_UNDERSTOOD: i64 = 2;
/// bash shows the line once more.
const LAST_LINES: usize = 2;

/// Whether a shell ended because of that, after all that there was to say of what it began.
pub(crate) fn is_unread(exit_code: i64, text: &str) -> bool {
    let mut told = text.lines().rev().filter(|line| !line.trim().is_empty()).take(LAST_LINES);
    exit_code == NOT_UNDERSTOOD && told.any(|line| unread(line).is_some())
}

/// `/bin/sh: 1: Syntax error: ")" unexpected`, ``bash: -c: line 1: syntax error near unexpected token `)'``
pub(crate) fn unread(line: &str) -> Option<&str> {
    const WORDS: [&str; 3] = ["Syntax error: ", "syntax error", "unexpected EOF while looking for "];
    let (name, said) = line.split_once(": ")?;
    let said = said.strip_prefix("-c: ").unwrap_or(said);
    let (row, words) = said.strip_prefix("line ").unwrap_or(said).split_once(": ")?;
    let is_shell = matches!(base_name(name), "bash" | "sh" | "dash");
    let is_row = !row.is_empty() && row.bytes().all(|byte| byte.is_ascii_digit());
    (is_shell && is_row && WORDS.iter().any(|head| words.starts_with(head))).then_some(words)
}
