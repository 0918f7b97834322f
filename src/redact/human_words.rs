//! Distinguishes human-made names from random strings.
//!
//! Each pair of neighbouring characters votes for one or the other: in names, letters follow each
//! other as in words, capitals begin words, and digits stay together.

/// How much more often a letter follows another in program names than at random, in bits plus five.
/// Rows are the first letter, columns the second.
const PAIRS: [&[u8; 26]; 26] = [
    b"15652350503756050767434340",
    b"72526120752723620554710050",
    b"73437206506533730647520030",
    b"73358333710532630554523040",
    b"52664440201557244776143540",
    b"62336620800623720655504040",
    b"52348245601536520665500110",
    b"81228110602242720536403031",
    b"43665550101558750466240304",
    b"51228211503131750172624000",
    b"53549331700325330364523020",
    b"73458330721622730155530040",
    b"85338220600453660153500020",
    b"61666562503424630267440020",
    b"34551430414668460755645220",
    b"71437214503632650756521030",
    b"21322020100732320332922000",
    b"61448340603454730566441050",
    b"51527225604433553268512043",
    b"61438206700421640655502260",
    b"45446430600667260767000200",
    b"81429211701232450233012200",
    b"61346115802346650673001101",
    b"52636202600352371238120350",
    b"34435331400557480376104122",
    b"61239111500321720152213144",
];
const ADDED: i32 = 5;
/// Penalties for the start of a capitalised word, a number, or a word after a number.
const HUMP: i32 = -3;
const CAPITAL: i32 = -1;
const NUMBER: i32 = -5;
const AFTER_NUMBER: i32 = -3;
/// Bonus for a pair of the same kind in a value with several kinds.
const STAYS: i32 = 1;
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CharKind {
    Capital,
    Small,
    Digit,
}

/// Whether a value reads like a name rather than a random string. Other characters separate words
/// and do not count.
pub(super) fn reads_like_name(value: &str) -> bool {
    let mut sorts = value.bytes().filter_map(char_kind);
    let first = sorts.next();
    let stays = if sorts.all(|char_kind| Some(char_kind) == first) { 0 } else { STAYS };
    let neighbours = value.bytes().zip(value.bytes().skip(1));
    neighbours.map(|(one, next)| speaks(one, next, stays)).sum::<i32>() >= 0
}

/// How much a pair of neighbours votes for a name.
fn speaks(one: u8, next: u8, stays: i32) -> i32 {
    let (Some(before), Some(now)) = (char_kind(one), char_kind(next)) else { return 0 };
    match (before, now) {
        (CharKind::Small, CharKind::Small) | (CharKind::Capital, CharKind::Capital) => {
            stays + usual(one, next)
        }
        (CharKind::Capital, CharKind::Small) => CAPITAL + usual(one, next),
        (CharKind::Small, CharKind::Capital) => HUMP,
        (CharKind::Digit, CharKind::Digit) => stays,
        (_, CharKind::Digit) => NUMBER,
        (CharKind::Digit, _) => AFTER_NUMBER,
    }
}

fn usual(one: u8, next: u8) -> i32 {
    let place = |letter: u8| usize::from(letter.to_ascii_lowercase() - b'a');
    i32::from(PAIRS[place(one)][place(next)] - b'0') - ADDED
}

fn char_kind(c: u8) -> Option<CharKind> {
    match c {
        b'A'..=b'Z' => Some(CharKind::Capital),
        b'a'..=b'z' => Some(CharKind::Small),
        b'0'..=b'9' => Some(CharKind::Digit),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::test_rows;

    #[test]
    fn names_of_programs_read_and_what_was_drawn_does_not() {
        let rows = include_str!("../../tests/data/names_and_drawn.jsonl");
        for (word, is_name) in test_rows::<(String, bool)>(rows) {
            assert_eq!(reads_like_name(&word), is_name, "{word}");
        }
    }
}
