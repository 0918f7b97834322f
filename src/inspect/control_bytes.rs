//! Finds bytes that are shown differently or not at all: escape sequences, carriage returns inside a line,
//! other control characters, and invisible characters.
//!
//! A match may span them and a secret may hide behind them, so lines with any of them are searched as they
//! are shown. A gigabyte may pass through here before an answer does, so blocks without any are skipped many
//! bytes at a time.

use memchr::memchr;

use crate::text::is_invisible;

/// The block size.
const BLOCK: usize = 128;
/// With the two following bytes.
type Block = [u8; BLOCK + 2];
/// The longest character.
const CHARACTER: usize = 4;

/// One position in each line that contains such a byte.
pub(super) fn unlike_shown(chunk: &[u8]) -> impl Iterator<Item = usize> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = first(chunk, from)?;
        from = memchr(b'\n', &chunk[at..]).map_or(chunk.len(), |length| at + length + 1);
        Some(at)
    })
}

fn first(chunk: &[u8], mut from: usize) -> Option<usize> {
    loop {
        from = passed(chunk, from);
        if from == chunk.len() {
            return None;
        }
        let end = chunk.len().min(from + BLOCK);
        if let Some(at) = (from..end).find(|at| is_unlike(chunk, *at)) {
            return Some(at);
        }
        from = end;
    }
}

/// Skips blocks without such bytes.
fn passed(chunk: &[u8], from: usize) -> usize {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[target_feature(enable = "avx2")]
        fn passed(chunk: &[u8], from: usize) -> usize {
            passed_over(chunk, from)
        }
        // SAFETY: the processor has the features that the function is compiled for.
        return unsafe { passed(chunk, from) };
    }
    passed_over(chunk, from)
}

#[inline(always)]
fn passed_over(chunk: &[u8], mut from: usize) -> usize {
    loop {
        while let Some(block) = chunk[from..].first_chunk()
            && is_simple(block)
        {
            from += BLOCK;
        }
        // If lines end in two characters, all of them do.
        while let Some(block) = chunk[from..].first_chunk()
            && is_plain(block)
        {
            from += BLOCK;
        }
        // At the end of the chunk, each byte is checked individually.
        let Some(block) = chunk[from..].first_chunk() else { return from };
        if may_be_unlike(block) {
            return from;
        }
        from += BLOCK;
    }
}

/// Whether a whole block is printable ASCII, tabs and line feeds. Written without branches and on single
/// bytes, so that the compiler vectorizes it.
#[inline(always)]
fn is_simple(block: &Block) -> bool {
    let mut odd = 0;
    for a in &block[..BLOCK] {
        odd |= u8::from((a.wrapping_sub(b' ') >= 0x5f) & (a.wrapping_sub(b'\t') >= 2));
    }
    odd == 0
}

/// Like [`is_simple`], with two-character line breaks.
#[inline(always)]
fn is_plain(block: &Block) -> bool {
    let mut odd = 0;
    for at in 0..BLOCK {
        let (a, b) = (block[at], block[at + 1]);
        let is_printable = a.wrapping_sub(b' ') < 0x5f;
        let is_break = (a == b'\r') & (b == b'\n');
        odd |= u8::from(!is_printable & (a.wrapping_sub(b'\t') >= 2) & !is_break);
    }
    odd == 0
}

/// Whether such a character may begin in a block, by up to three bytes of each. Ordinary text in any language
/// has none of them.
#[inline(always)]
fn may_be_unlike(block: &Block) -> bool {
    let mut odd = 0;
    for at in 0..BLOCK {
        let (a, b, c) = (block[at], block[at + 1], block[at + 2]);
        let control =
            (a < 0x20) & (a.wrapping_sub(b'\t') >= 2) & !((a == b'\r') & (b == b'\n')) | (a == 0x7f);
        let second = (a == 0xc2) & (b < 0xa0) | (a == 0xd8) & (b == 0x9c);
        let mark = (c == 0x8b) | (c.wrapping_sub(0x8e) < 2) | (c.wrapping_sub(0xa8) < 7);
        let third = (a == 0xe2) & ((b == 0x80) & mark | (b == 0x81) & (c >= 0xa0))
            | (a == 0xef) & ((b == 0xbb) & (c == 0xbf) | (b == 0xbf) & (c.wrapping_sub(0xb9) < 3))
            | (a == 0xf3) & (b == 0xa0) & (c < 0x82);
        odd |= u8::from(control | second | third);
    }
    odd != 0
}

fn is_unlike(chunk: &[u8], at: usize) -> bool {
    match chunk[at] {
        b'\t' | b'\n' => false,
        // A carriage return before a line break, or at the end, belongs to the break.
        b'\r' => chunk.get(at + 1).is_some_and(|next| *next != b'\n'),
        byte if byte.is_ascii() => byte.is_ascii_control(),
        _ => {
            let character = &chunk[at..chunk.len().min(at + CHARACTER)];
            let character = character.utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next());
            character
                .is_some_and(|c| c.is_control() || is_invisible(c) || matches!(c, '\u{2028}' | '\u{2029}'))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::line_pieces::unredacted;

    /// Lines that are not shown as they are, found the slow way.
    fn slowly(text: &str) -> Vec<usize> {
        let lines = text.split_inclusive('\n').scan(0, |at, line| {
            *at += line.len();
            Some((*at - line.len(), line))
        });
        let bare = |line: &str| line.trim_end_matches('\n').trim_end_matches('\r').to_owned();
        let unlike = lines.filter(|(_, line)| unredacted(line.as_bytes()) != bare(line));
        unlike.map(|(at, _)| at).collect()
    }

    #[track_caller]
    fn check(text: &str) {
        let line = |at: usize| text[..at].rfind('\n').map_or(0, |end| end + 1);
        let found: Vec<usize> = unlike_shown(text.as_bytes()).map(line).collect();
        assert_eq!(found, slowly(text));
    }

    #[test]
    fn every_character_is_told_by_how_it_is_shown() {
        // A line each, short ones and long ones, so that they stand at any place in a block.
        let mut text = String::new();
        for (at, c) in (0..=0x10_ffff).filter_map(char::from_u32).enumerate() {
            text.extend(["a".repeat(at % 7), c.to_string(), "b\n".to_owned()]);
        }
        check(&text.replace("\r\n", "\n"));
        // At the very end nothing follows.
        for last in ["\u{feff}", "\u{7}", "x\u{2028}", "\r", "é", "\u{200b}"] {
            check(last);
        }
    }

    #[test]
    fn text_of_any_language_is_passed_over_at_once() {
        let text =
            "«Ça va» — “naïve”… 漢字、カナ。한국어 العربية русский ελληνικά עברית 🚀 ✓ ─┐ № ½\r\n".repeat(9);
        let passed = passed(text.as_bytes(), 0);
        assert!(passed + BLOCK + 2 > text.len());
        assert_eq!(passed, passed_over(text.as_bytes(), 0));
        check(&text);
    }
}
