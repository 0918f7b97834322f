//! The form of a rule for secrets and its matching.
//!
//! A rule is tried only where one of its anchors occurs, so other text costs one pass over its
//! bytes, and unused patterns are never compiled. Patterns match at the anchor.

use std::ops::Range;
use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};

use crate::redact::context_rules::CONTEXT_RULES;
use crate::redact::plausibility;
use crate::redact::vendors::VENDORS;

/// Memory limit of a compiled pattern; the largest needs a third.
const MOST_MEMORY: usize = 1 << 15;
/// How far before a secret its required word is searched for.
const SAME_COMMAND: usize = 512;

/// A kind of secret and its form.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    pub(super) kind: &'static str,
    pub(super) anchors: &'static [&'static str],
    /// Matches from the anchor on. Bytes, because Unicode classes would need tables.
    pattern: &'static str,
    secret: SecretPart,
    /// Number of characters before the anchor that the pattern includes.
    before: usize,
    /// A word that must precede it in the same command.
    after: &'static str,
    /// The final check of a match.
    accept: fn(&str) -> bool,
}

/// Which part of a match is the secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SecretPart {
    /// All of it. The anchor is case-sensitive and begins a word.
    Whole,
    /// The pattern's group that matched. The anchor ignores case.
    Group,
    /// The anchor and at least this many of these characters.
    Token(Chars, usize),
}

/// The characters of a token after its prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chars {
    Hex,
    Capital,
    Alnum,
    /// `Alnum` and `_`
    Word,
    /// `Word` and `-`
    Url,
    /// `Url` and `.`
    Dotted,
    /// `Url` and `+/=`
    Base64,
    Uuid,
}

/// All rules. If two find the same secret, the first determines its kind.
pub(super) const RULES: &[Rule] = &{
    let (mut rules, mut at) = ([VENDORS[0]; VENDORS.len() + CONTEXT_RULES.len()], 0);
    while at < rules.len() {
        rules[at] = if at < VENDORS.len() { VENDORS[at] } else { CONTEXT_RULES[at - VENDORS.len()] };
        at += 1;
    }
    rules
};

impl Rule {
    pub(super) const fn whole(
        kind: &'static str,
        anchors: &'static [&'static str],
        pattern: &'static str,
    ) -> Self {
        Self { kind, anchors, pattern, secret: SecretPart::Whole, before: 0, after: "", accept: |_| true }
    }

    pub(super) const fn group(
        kind: &'static str,
        anchors: &'static [&'static str],
        pattern: &'static str,
    ) -> Self {
        Self { secret: SecretPart::Group, ..Self::whole(kind, anchors, pattern) }
    }

    /// A prefix followed by random characters.
    pub(super) const fn token(
        kind: &'static str,
        prefixes: &'static [&'static str],
        chars: Chars,
        least: usize,
    ) -> Self {
        Self { secret: SecretPart::Token(chars, least), ..Self::whole(kind, prefixes, "") }
    }

    pub(super) const fn before(self, before: usize) -> Self {
        Self { before, ..self }
    }

    pub(super) const fn after(self, after: &'static str) -> Self {
        Self { after, ..self }
    }

    pub(super) const fn when(self, accept: fn(&str) -> bool) -> Self {
        Self { accept, ..self }
    }

    /// Whether the anchor must be written as it is here; otherwise in any case.
    pub(super) fn is_exact(&self) -> bool {
        self.secret != SecretPart::Group
    }
}

/// The secret of the rule `index` for an anchor at `at`.
pub(super) fn find(text: &str, index: usize, at: usize) -> Option<(Range<usize>, &'static str)> {
    let rule = RULES.get(index)?;
    let start = at.checked_sub(rule.before)?;
    let before = &text.as_bytes()[..start];
    let prefix = || rule.anchors.iter().find(|anchor| text[at..].starts_with(**anchor));
    let range = match rule.secret {
        SecretPart::Token(chars, least) => {
            let prefix = prefix().filter(|_| begins_word(before))?;
            start..start + prefix.len() + chars.run(&text[start + prefix.len()..], least)?
        }
        SecretPart::Whole => {
            prefix().filter(|_| begins_word(before))?;
            let found = compiled(index)?.find(&text.as_bytes()[start..])?;
            start..start + found.end()
        }
        SecretPart::Group => {
            let found = compiled(index)?.captures(&text.as_bytes()[start..])?;
            let secret = found.iter().skip(1).flatten().next()?;
            start + secret.start()..start + secret.end()
        }
    };
    let is_secret = (rule.accept)(text.get(range.clone())?) && follows(before, rule.after);
    is_secret.then_some((range, rule.kind))
}

impl Chars {
    /// The length of the random characters at the start of `text`.
    fn run(self, text: &str, least: usize) -> Option<usize> {
        /// Checked before the rest is read, so that a long text is not read repeatedly.
        const JUDGED: usize = 256;
        if self == Self::Uuid {
            return text.get(..least).filter(|uuid| plausibility::is_uuid(uuid)).map(str::len);
        }
        let run = |text: &str| text.bytes().take_while(|c| self.has(*c)).count();
        let judged = &text[..run(&text[..text.floor_char_boundary(JUDGED)])];
        let judged = judged.trim_end_matches('.');
        let is_secret = match self {
            Self::Hex | Self::Capital | Self::Alnum => plausibility::has_mixed_sorts(judged),
            Self::Word | Self::Url | Self::Dotted | Self::Base64 | Self::Uuid => plausibility::is_key(judged),
        };
        let rest = || if judged.len() == JUDGED { run(&text[JUDGED..]) } else { 0 };
        (judged.len() >= least && is_secret).then(|| judged.len() + rest())
    }

    fn has(self, c: u8) -> bool {
        match self {
            Self::Hex | Self::Uuid => c.is_ascii_hexdigit(),
            Self::Capital => c.is_ascii_uppercase() || c.is_ascii_digit(),
            Self::Alnum => c.is_ascii_alphanumeric(),
            Self::Word => c.is_ascii_alphanumeric() || c == b'_',
            Self::Url => c.is_ascii_alphanumeric() || b"_-".contains(&c),
            Self::Dotted => c.is_ascii_alphanumeric() || b"_-.".contains(&c),
            Self::Base64 => c.is_ascii_alphanumeric() || b"_-+/=".contains(&c),
        }
    }
}

/// Whether `word` occurs in the same command, which may span several lines.
fn follows(before: &[u8], word: &str) -> bool {
    let near = &before[before.len().saturating_sub(SAME_COMMAND)..];
    let goes_on = |line: &[u8]| line.strip_suffix(b"\r").unwrap_or(line).ends_with(b"\\");
    let is_end = |at: &usize| near[*at] == b'\n' && !goes_on(&near[..*at]);
    let start = (0..near.len()).rev().find(is_end).unwrap_or(0);
    memchr::memmem::find(&near[start..], word.as_bytes()).is_some()
}

pub(super) fn compiled(index: usize) -> Option<&'static Regex> {
    static COMPILED: [OnceLock<Option<Regex>>; RULES.len()] = [const { OnceLock::new() }; RULES.len()];
    COMPILED.get(index)?.get_or_init(|| compile(RULES.get(index)?.pattern)).as_ref()
}

/// Compiles a pattern that matches at the start. A test makes sure that all compile.
pub(super) fn compile(pattern: &str) -> Option<Regex> {
    let anchored = format!(r"\A(?:{pattern})");
    RegexBuilder::new(&anchored)
        .unicode(false)
        .size_limit(MOST_MEMORY)
        .dfa_size_limit(MOST_MEMORY)
        .build()
        .ok()
}

/// Whether a word may begin after `before`. Escapes such as `\n`, `\u001b`, `%3D` and terminal
/// colours end in letters but are not words.
fn begins_word(before: &[u8]) -> bool {
    let hex = |digits: &[&u8]| digits.iter().all(|digit| digit.is_ascii_hexdigit());
    match before {
        [] | [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f' | b'v'] => true,
        [.., last] if !last.is_ascii_alphanumeric() => true,
        [.., b'%', a, b] | [.., b'\\', b'x', a, b] if hex(&[a, b]) => true,
        [.., b'\\', b'u', a, b, c, d] if hex(&[a, b, c, d]) => true,
        [colour @ .., b'm' | b'K'] => {
            let tail = &colour[colour.len().saturating_sub(12)..];
            let digits = tail.iter().rev().take_while(|c| c.is_ascii_digit() || **c == b';').count();
            tail[..tail.len() - digits].ends_with(b"[")
        }
        _ => false,
    }
}
