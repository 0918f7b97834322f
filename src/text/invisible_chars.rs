//! Characters without a shape of their own that change how others are shown or
//! hide text from the reader.

/// Direction marks, and the invisible tag alphabet.
pub(crate) fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}
