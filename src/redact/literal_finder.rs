//! Finds all literals that may indicate a secret in one pass over a text.
//!
//! The table is built at compile time, so redacting a short reply has no set-up cost. The lower
//! five bits of a letter are the same in both cases, so three characters form a case-insensitive
//! index of fifteen bits. What begins a token must then be written as its vendor writes it.

use crate::redact::named_values::{self, ENDINGS};
use crate::redact::rules::RULES;
use crate::redact::unescape::LITERALS as ESCAPES;

/// The index uses this many characters; no literal is shorter.
const PART: usize = 3;
const BITS: usize = 5;
const INDEX: usize = 1 << (PART * BITS);

/// Number of lists of literals with similar beginnings.
const LISTS: usize = 1 << 10;

/// What a literal belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// The rule with this index.
    Rule(usize),
    /// A name of secrets.
    Name,
    /// An escape sequence that may hide part of another literal.
    Escape,
}

/// A literal found in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Anchor {
    pub(super) owner: Owner,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// All literals in the text, in order of position.
pub(super) fn find(bytes: &[u8]) -> impl Iterator<Item = Anchor> {
    let (mut start, mut next) = (0, 0);
    let mut same: Option<u16> = None;
    std::iter::from_fn(move || {
        loop {
            while let Some(literal) = same {
                same = TABLE.next[usize::from(literal)];
                let (literal, owner) = TABLE.literals[usize::from(literal)];
                let end = start + literal.len();
                if bytes.get(start..end).is_some_and(|part| owner.reads(literal, part)) {
                    return Some(Anchor { owner, start, end });
                }
            }
            let Some(ahead) = first_known(&bytes[next..]) else {
                next = bytes.len();
                return None;
            };
            (start, next) = (next + ahead, next + ahead + 1);
            same = TABLE.first[index(&bytes[start..]) % LISTS];
        }
    })
}

/// The first position at which a literal may begin. A separate function so that the loop stays in
/// registers.
#[inline(never)]
fn first_known(bytes: &[u8]) -> Option<usize> {
    let (begin, rest) = bytes.split_at_checked(PART - 1)?;
    let mut index = begin.iter().fold(0, |index, byte| push(index, *byte));
    rest.iter().position(|byte| {
        index = push(index, *byte);
        TABLE.known[index / 64] >> (index % 64) & 1 == 1
    })
}

/// All literals, with the kind of secret that they indicate, if known.
pub(super) fn literals() -> impl Iterator<Item = (&'static str, Option<&'static str>)> {
    TABLE.literals.iter().map(|(literal, owner)| (*literal, owner.kind(literal)))
}

impl Owner {
    /// Whether `part` of a text is the literal, in the cases that its owner accepts.
    fn reads(self, literal: &str, part: &[u8]) -> bool {
        match self {
            Self::Rule(at) if RULES[at].is_exact() => part == literal.as_bytes(),
            Self::Rule(_) | Self::Name | Self::Escape => part.eq_ignore_ascii_case(literal.as_bytes()),
        }
    }

    /// The kind of secret that a literal indicates.
    pub(super) fn kind(self, literal: &str) -> Option<&'static str> {
        match self {
            Self::Rule(at) => Some(RULES[at].kind),
            Self::Name => Some(named_values::kind(literal)),
            Self::Escape => None,
        }
    }
}

/// Shifts a character into the index.
const fn push(index: usize, byte: u8) -> usize {
    ((index << BITS) | (byte as usize % (1 << BITS))) % INDEX
}

/// The index of the first characters of a literal, ignoring case.
const fn index(part: &[u8]) -> usize {
    push(push(push(0, part[0]), part[1]), part[2])
}

const COUNT: usize = {
    let (mut count, mut rule) = (ENDINGS.len() + ESCAPES.len(), 0);
    while rule < RULES.len() {
        count += RULES[rule].anchors.len();
        rule += 1;
    }
    count
};

/// Literals that share the lower index bits form a list.
struct Table {
    /// One bit for every index at which a literal begins.
    known: [u64; INDEX / 64],
    literals: [(&'static str, Owner); COUNT],
    first: [Option<u16>; LISTS],
    next: [Option<u16>; COUNT],
}

static TABLE: Table = {
    let mut table = Table {
        known: [0; INDEX / 64],
        literals: [("", Owner::Name); COUNT],
        first: [None; LISTS],
        next: [None; COUNT],
    };
    let (mut count, mut rule) = (0, 0);
    while rule <= RULES.len() + 1 {
        let (literals, owner) = if rule < RULES.len() {
            (RULES[rule].anchors, Owner::Rule(rule))
        } else if rule == RULES.len() {
            (ENDINGS, Owner::Name)
        } else {
            (ESCAPES, Owner::Escape)
        };
        let mut at = 0;
        while at < literals.len() {
            let literal = literals[at].as_bytes();
            let index = index(literal);
            table.known[index / 64] |= 1 << (index % 64);
            table.literals[count] = (literals[at], owner);
            let list = index % LISTS;
            table.next[count] = table.first[list];
            table.first[list] = Some(count as u16);
            count += 1;
            at += 1;
        }
        rule += 1;
    }
    assert!(count == COUNT && count <= u16::MAX as usize, "more literals than the lists have numbers for");
    table
};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The number of literals, counted the slow way.
    fn count(text: &str) -> usize {
        let stands = |at: usize, literal: &str, owner: Owner| {
            text.as_bytes().get(at..at + literal.len()).is_some_and(|part| owner.reads(literal, part))
        };
        let literals = TABLE.literals.iter();
        literals
            .map(|(literal, owner)| (0..text.len()).filter(|at| stands(*at, literal, *owner)).count())
            .sum()
    }

    proptest! {
        #[test]
        fn every_literal_is_found_wherever_it_stands(
            parts in prop::collection::vec((any::<prop::sample::Index>(), "[ -~é]{0,3}", any::<bool>()), 0..6)
        ) {
            let mut text = String::new();
            for (which, after, shout) in parts {
                let (literal, _) = which.get(&TABLE.literals);
                text += &if shout { literal.to_ascii_uppercase() } else { (*literal).to_owned() };
                text += &after;
            }
            let found: Vec<Anchor> = find(text.as_bytes()).collect();
            prop_assert!(found.is_sorted_by_key(|anchor| anchor.start));
            prop_assert_eq!(found.len(), count(&text));
        }
    }
}
