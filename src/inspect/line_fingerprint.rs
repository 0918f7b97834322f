//! Identifies lines by their content without numbers: a hash of each line in which every number is one digit.
//!
//! Processing byte by byte takes several times as long, so 64 bytes are examined at once: which are digits
//! and which are line breaks are bits of a word, and what remains of each line is packed together and hashed
//! eight bytes at a time. Someone who constructs colliding lines only gets a wrong count of their own lines.

use std::ops::Range;

/// How much of a line is compared, not counting blanks.
const COMPARED: usize = 1 << 10;
const LOOKED_AT: usize = 2 << 10;
const BLOCK: usize = 64;
/// The block size.
const WORD: usize = 8;
/// Two odd numbers without a pattern in their bits.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
const MIX_LAST: u64 = 0xf135_7aea_2e62_a9c5;

/// A chunk without its numbers.
#[derive(Debug, Default)]
pub(super) struct Alike {
    /// For each block: its line breaks, the bytes that remain, and where those are in the text.
    blocks: Vec<(u64, u64, usize)>,
    /// The remaining bytes, with padding.
    text: Vec<u8>,
    length: usize,
}

impl Alike {
    /// Calls back for each line that ends in `chunk`, with the line without its break and its hash; `None`
    /// for a blank line.
    pub(super) fn lines(&mut self, chunk: &[u8], mut each: impl FnMut(Range<usize>, Option<u64>)) {
        self.read(chunk);
        let (mut from, mut begins) = (0, 0);
        for (number, &(mut breaks, left, start)) in self.blocks.iter().enumerate() {
            while breaks != 0 {
                let bit = breaks.trailing_zeros();
                breaks &= breaks - 1;
                let end = number * BLOCK + bit as usize;
                let ends = start + (left & !(u64::MAX << bit)).count_ones() as usize;
                let line = from..end;
                let hash = match line.len() {
                    ..=COMPARED => hash(&self.text, begins..ends),
                    _ => of_line(&chunk[line.clone()]),
                };
                each(line, hash);
                (from, begins) = (end + 1, ends + 1);
            }
        }
    }

    fn read(&mut self, chunk: &[u8]) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("popcnt") {
            // SAFETY: the processor has the features that the function is compiled for.
            return unsafe { self.read_wide(chunk) };
        }
        self.read_with(chunk, packed);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,popcnt")]
    fn read_wide(&mut self, chunk: &[u8]) {
        use std::arch::x86_64::{_mm_cvtsi64_si128, _mm_cvtsi128_si64, _mm_shuffle_epi8};
        self.read_with(chunk, |word, left| {
            let places = PLACES[usize::from(left)];
            let (word, places) =
                (_mm_cvtsi64_si128(word.cast_signed()), _mm_cvtsi64_si128(places.cast_signed()));
            _mm_cvtsi128_si64(_mm_shuffle_epi8(word, places)).cast_unsigned()
        });
    }

    /// `pack` moves the marked bytes of a word together.
    #[inline(always)]
    fn read_with(&mut self, chunk: &[u8], pack: impl Fn(u64, u8) -> u64) {
        self.blocks.clear();
        self.text.resize(chunk.len() + BLOCK + WORD, 0);
        let (mut length, mut goes_on) = (0, 0);
        let (whole, rest) = chunk.as_chunks::<BLOCK>();
        let mut last = [0; BLOCK];
        last[..rest.len()].copy_from_slice(rest);
        for block in whole.iter().chain((!rest.is_empty()).then_some(&last)) {
            let digits = bits(&block.map(|byte| u8::from(byte.is_ascii_digit())));
            let breaks = bits(&block.map(|byte| u8::from(byte == b'\n')));
            let left = !(digits & (digits << 1 | goes_on));
            goes_on = digits >> 63;
            self.blocks.push((breaks, left, length));
            let plain = block.map(|byte| if byte.is_ascii_digit() { b'0' } else { byte });
            let text = &mut self.text[length..length + BLOCK];
            let mut at = 0;
            for (number, word) in plain.as_chunks::<WORD>().0.iter().enumerate() {
                let left = (left >> (WORD * number)) as u8;
                text[at..at + WORD].copy_from_slice(&pack(u64::from_le_bytes(*word), left).to_le_bytes());
                at += left.count_ones() as usize;
            }
            length += at;
        }
        self.length = length - (BLOCK - rest.len()) % BLOCK;
    }
}

/// The hash of one line, or of its beginning.
pub(super) fn of_line(line: &[u8]) -> Option<u64> {
    let line = line[..line.len().min(LOOKED_AT)].trim_ascii();
    let mut alone = Alike::default();
    alone.read(&line[..line.len().min(COMPARED)]);
    hash(&alone.text, 0..alone.length)
}

/// Hashes a part of a text that is followed by at least one more word.
fn hash(text: &[u8], part: Range<usize>) -> Option<u64> {
    let line = text[part.clone()].trim_ascii_start();
    let from = part.end - line.len();
    let end = from + line.trim_ascii_end().len();
    let word = |at: usize| text[at..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
    let (mut hash, mut at) = (0_u64, from);
    while at + WORD <= end {
        hash = (hash.rotate_left(23) ^ word(at)).wrapping_mul(MIX);
        at += WORD;
    }
    let left = end - at;
    let last = word(at) & !(u64::MAX << (8 * left)) | (left as u64) << 56;
    hash = (hash.rotate_left(23) ^ last).wrapping_mul(MIX_LAST);
    (from < end).then_some(hash ^ hash >> 32)
}

/// The remaining bytes of a word, packed into the lowest positions.
fn packed(word: u64, left: u8) -> u64 {
    let (mut packed, mut length) = (0, 0);
    for at in 0..WORD {
        let is_left = u64::from(left >> at & 1);
        packed |= ((word >> (8 * at) & 0xff) * is_left) << ((8 * length) & 63);
        length += is_left;
    }
    packed
}

/// One bit per byte, each of which is 0 or 1.
#[inline(always)]
fn bits(bytes: &[u8; BLOCK]) -> u64 {
    let eight = |word: &[u8; WORD]| u64::from_le_bytes(*word).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    let words = bytes.as_chunks::<WORD>().0.iter().enumerate();
    words.fold(0, |bits, (number, word)| bits | eight(word) << (WORD * number))
}

/// For each mask of eight bytes, where to take the marked ones from; 0x80 takes none.
#[cfg(target_arch = "x86_64")]
static PLACES: [u64; 256] = {
    let mut all = [u64::MAX; 256];
    let mut left = 0;
    while left < all.len() {
        let (mut at, mut length) = (0, 0);
        while at < WORD {
            if left >> at & 1 == 1 {
                all[left] = all[left] & !(0xff << (8 * length)) | (at as u64) << (8 * length);
                length += 1;
            }
            at += 1;
        }
        left += 1;
    }
    all
};

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    /// A line without its numbers, byte by byte.
    fn plain(line: &[u8]) -> Vec<u8> {
        let line = line[..line.len().min(LOOKED_AT)].trim_ascii();
        let mut plain: Vec<u8> = line[..line.len().min(COMPARED)].to_vec();
        plain.iter_mut().filter(|byte| byte.is_ascii_digit()).for_each(|byte| *byte = b'0');
        plain.dedup_by(|byte, before| *byte == b'0' && *before == b'0');
        plain
    }

    fn check(chunk: &[u8]) {
        let mut alike = Alike::default();
        let (mut known, mut from) = (HashMap::new(), 0);
        alike.lines(chunk, |line, hash| {
            assert_eq!(line.start, from);
            from = line.end + 1;
            assert_eq!(chunk[line.end], b'\n');
            let text = &chunk[line];
            assert_eq!(of_line(text), hash, "{text:?}");
            assert_eq!(hash.is_none(), plain(text).is_empty(), "{text:?}");
            assert_eq!(*known.entry(plain(text)).or_insert(hash), hash, "{text:?}");
        });
        assert!(!chunk[from..].contains(&b'\n'));
        let hashes: std::collections::HashSet<_> = known.values().collect();
        assert_eq!(hashes.len(), known.len(), "lines that are not alike have the same hash");
    }

    proptest! {
        #[test]
        fn lines_are_alike_where_they_differ_in_numbers_alone(
            chunk in "([a-c]{1,9}|[0-9]{1,12}|[ \t\r.]|\n|\u{0}|é){0,120}",
        ) {
            check(chunk.as_bytes());
        }
    }

    #[test]
    fn of_a_long_line_the_beginning_is_compared() {
        let line = |beginning: usize, end: &str| format!("{}{end}\n", "x1".repeat(beginning));
        check(
            [line(511, "a"), line(511, "abc"), line(512, "a"), line(512, "b"), line(600, "")]
                .concat()
                .as_bytes(),
        );
        check([" ".repeat(2000), line(512, "a"), " 7".repeat(700), line(512, "b")].concat().as_bytes());
    }

    #[test]
    fn bytes_are_put_together_alike_on_all_processors() {
        let chunk: Vec<u8> = (0..100_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let (mut one, mut other) = (Alike::default(), Alike::default());
        one.read(&chunk);
        other.read_with(&chunk, packed);
        assert_eq!((&one.blocks, one.length), (&other.blocks, other.length));
        assert_eq!(one.text[..one.length], other.text[..one.length]);
    }
}
