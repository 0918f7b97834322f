//! Decides whether a value is plausible as a secret.
//!
//! Words, code, paths and placeholders are recognised by their form. Random strings switch between
//! upper case, lower case and digits far more often than human-made names.
//! than names that people give.

use crate::redact::human_words;

/// The start of a mark.
pub(super) const MARK: &str = "[redacted:";
/// How much of a value is examined.
const LONGEST_LOOK: usize = 256;

/// How a value is written beside its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueForm {
    Quoted,
    Bare,
    /// `NAME=value`, as in a file of environment variables.
    Variable,
    /// `NAME="value"`
    QuotedVariable,
}

/// A vendor's prefix may also begin a name in code, but keys contain a digit or capital.
pub(super) fn has_digit_or_capital(secret: &str) -> bool {
    secret.bytes().any(|c| c.is_ascii_digit() || c.is_ascii_uppercase())
}

/// `sk-` begins keys of several vendors, but also CSS class names.
pub(super) fn is_openai(secret: &str) -> bool {
    let body = secret.strip_prefix("sk-").unwrap_or(secret);
    if ["proj-", "svcacct-", "admin-", "or-v1-"].iter().any(|known| body.starts_with(known)) {
        return has_digit_or_capital(body);
    }
    let is_key = |part: &str| {
        part.len() >= 20 && has_digit_or_capital(part) && part.bytes().any(|c| c.is_ascii_alphabetic())
    };
    body.split(['-', '_']).any(is_key)
}

/// The credentials of an `Authorization` header.
pub(super) fn is_header(secret: &str) -> bool {
    is_given(secret) && !(is_word(secret) && secret.len() < 20)
}

/// The token after `Bearer`: random, or too long for a name. Not a URL.
pub(super) fn is_bearer(secret: &str) -> bool {
    if secret.contains("://") {
        return false;
    }
    let has_digit = secret.bytes().any(|c| c.is_ascii_digit());
    let is_one = !secret.contains(['-', '_', '.', '/', ':']);
    let is_long = secret.len() >= 20 && has_digit || secret.len() >= 32 && is_one;
    is_given(secret) && (is_random(look(secret), 16) || is_long)
}

/// A token of a vendor whose keys are all random.
pub(super) fn is_key(secret: &str) -> bool {
    is_random(look(secret), 16)
}

/// Random after leading `A`s. Encoded data may also begin with `A`s, but contains many more of
/// them.
pub(super) fn is_dense(secret: &str) -> bool {
    let body = look(secret.trim_start_matches(['E', 'A']));
    is_shuffled(body) && body.bytes().filter(|c| *c == b'A').count() * 10 <= body.len()
}

/// Digits and letters, or both cases, as in every key of some length.
pub(super) fn has_mixed_sorts(secret: &str) -> bool {
    let has = |sort: fn(&u8) -> bool| secret.as_bytes().iter().any(sort);
    let sorts = [u8::is_ascii_digit, u8::is_ascii_uppercase, u8::is_ascii_lowercase];
    sorts.into_iter().filter(|sort| has(*sort)).count() > 1
}

/// The value of `?key=`, which may also be a name or placeholder.
pub(super) fn is_parameter(secret: &str) -> bool {
    is_given(secret) && is_random(look(secret), 20)
}

/// A cookie header with at least one random value.
pub(super) fn is_cookie(cookies: &str) -> bool {
    let values = look(cookies).split(';').filter_map(|cookie| cookie.split_once('='));
    let is_one = |value: &str| is_given(value) && is_random(value, 16);
    values.take(8).any(|(_, value)| is_one(value.trim()))
}

/// A password argument of a known program.
pub(super) fn is_argument(secret: &str) -> bool {
    is_password(secret, ValueForm::Bare)
}

/// The password in `-u user:password`, which may also be `-u 1000:1000`.
pub(super) fn is_login(secret: &str) -> bool {
    is_given(secret) && !secret.bytes().all(|c| c.is_ascii_digit())
}

/// Not a variable or placeholder, and not redacted already.
pub(super) fn is_given(value: &str) -> bool {
    let first = value.chars().next();
    let wrapped = |open: char, close: char| first == Some(open) && value.ends_with(close);
    let variable = || {
        value
            .strip_prefix('$')
            .is_some_and(|name| name.starts_with(|c: char| c.is_alphanumeric() || "_({".contains(c)))
    };
    let lower = || look(value).to_ascii_lowercase();
    !(value.contains(MARK)
        || first.is_none_or(|first| value.chars().all(|c| c == first))
        || variable()
        || wrapped('<', '>')
        || wrapped('{', '}')
        || wrapped('%', '%')
        || value.contains('…')
        || ["your-", "your_", "changeme", "change-me", "placeholder"]
            .iter()
            .any(|word| lower().contains(word)))
}

/// A password need not be random, but a plain word is not one, to spare prose.
pub(super) fn is_password(value: &str, writing: ValueForm) -> bool {
    let length = value.chars().take(LONGEST_LOOK).count();
    let letters = value.bytes().any(|c| c.is_ascii_alphabetic()) || !value.is_ascii();
    let digits = value.bytes().any(|c| c.is_ascii_digit());
    let signs = value.bytes().any(|c| b"!@#$%^&*+=~?".contains(&c));
    let odd = match writing {
        ValueForm::Quoted => digits || (letters && signs),
        ValueForm::Bare => letters && (digits || signs),
        ValueForm::Variable | ValueForm::QuotedVariable => !is_setting(value),
    };
    let is_variable = matches!(writing, ValueForm::Variable | ValueForm::QuotedVariable);
    let least = if is_variable { 4 } else { 6 };
    length >= least && odd && is_given(value) && !is_code(value, writing) && !is_path_or_url(value)
}

/// A named key or token: at least `least` characters and random.
pub(super) fn is_secret(value: &str, writing: ValueForm, least: usize) -> bool {
    is_given(value)
        && !is_code(value, writing)
        && !is_path_or_url(value)
        && !is_checksum(value)
        && is_random(look(value), least)
}

/// An AWS key, which may look less random than others.
pub(super) fn is_aws(value: &str) -> bool {
    let changes = KindChanges::of(look(value));
    let all = value.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'+' | b'/'));
    value.len() == 40 && all && changes.capitals > 0 && changes.smalls > 0 && changes.digits > 0
}

/// `550e8400-e29b-41d4-a716-446655440000`
pub(super) fn is_uuid(value: &str) -> bool {
    let parts: Vec<usize> = value.split('-').map(str::len).take(6).collect();
    parts == [8, 4, 4, 4, 12] && value.bytes().all(|c| c.is_ascii_hexdigit() || c == b'-')
}

fn is_word(value: &str) -> bool {
    let letters = || value.bytes().filter(u8::is_ascii_alphabetic);
    let tail_is_small = letters().skip(1).all(|c| c.is_ascii_lowercase());
    value.bytes().all(|c| c.is_ascii_alphabetic() || b"_-.".contains(&c))
        && (tail_is_small || letters().all(|c| c.is_ascii_uppercase()))
}

fn is_setting(value: &str) -> bool {
    ["true", "false", "null", "none", "undefined", "required", "optional", "string", "password"]
        .iter()
        .any(|word| value.eq_ignore_ascii_case(word))
}

/// Calls, paths of names and expressions; if quoted, patterns and rules.
fn is_code(value: &str, writing: ValueForm) -> bool {
    if value.contains(char::is_whitespace) || value.contains('|') && !is_app(value) {
        return true;
    }
    match writing {
        ValueForm::Quoted | ValueForm::QuotedVariable => {
            value.starts_with('^') || (value.contains('(') && value.ends_with(')'))
        }
        ValueForm::Bare | ValueForm::Variable => {
            let is_name = |part: &str| part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            let names = || value.bytes().all(|c| c.is_ascii_alphanumeric() || b"_.".contains(&c));
            let is_path =
                || value.split('.').all(|part| is_name(part) && !is_random(part, 20)) && value.len() < 64;
            value.contains(['(', ')', '[', ']', '{', '}'])
                || value.contains("::")
                || value.contains("->")
                || value.starts_with([':', '!', '&', '*', '='])
                || is_number(value)
                || (value.contains('.') && names() && is_path())
        }
    }
}

/// A Facebook app access token: app id and secret.
fn is_app(value: &str) -> bool {
    let parts = value.split_once('|');
    parts.is_some_and(|(app, secret)| app.bytes().all(|c| c.is_ascii_digit()) && is_random(look(secret), 20))
}

/// `1_201u32`, `0xC000_018A`, `1.5`, and public wallet addresses. Keys may begin with a digit too,
/// and wallet keys with `0x`.
fn is_number(value: &str) -> bool {
    const LONGEST: usize = 24;
    const ADDRESS: usize = 42;
    const LONGEST_UNIT: usize = 5;
    let digits = value.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let is_decimal = !digits.is_empty() && digits.bytes().all(|c| c.is_ascii_digit() || b"_.".contains(&c));
    let has_unit = value.len() - digits.len() <= LONGEST_UNIT;
    let is_hex = value.strip_prefix("0x").is_some_and(|digits| {
        digits.bytes().all(|c| c.is_ascii_hexdigit() || b"_uULn".contains(&c))
            && (value.len() <= LONGEST || value.len() == ADDRESS)
    });
    is_hex || (is_decimal && has_unit)
}

/// A path or URL. One key in a hundred also begins with a slash.
fn is_path_or_url(value: &str) -> bool {
    let begins = ["/", "./", "../", "~/"].iter().any(|root| value.starts_with(root));
    let drive = matches!(value.as_bytes(), [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic());
    value.contains("://") || drive || (begins && !(value.len() >= 32 && KindChanges::of(value).is_mixed()))
}

/// Labelled checksums and encodings, and our own ids.
fn is_checksum(value: &str) -> bool {
    let is_named =
        |name: &str| value.strip_prefix(name).is_some_and(|sum| sum.starts_with([':', '-', '=', '_']));
    ["sha1", "sha256", "sha384", "sha512", "md5", "base64", "T-local", "T-cloud"].into_iter().any(is_named)
}

fn is_random(value: &str, least: usize) -> bool {
    let long = value.len() >= least && value.bytes().all(|c| c.is_ascii_graphic());
    let changes = KindChanges::of(value);
    long && (changes.is_mixed() || changes.is_lettered_number() || is_no_name(value, &changes))
}

/// Letters, digits and usual key characters that do not read like words.
fn is_no_name(value: &str, changes: &KindChanges) -> bool {
    let is_plain = value.bytes().all(|c| c.is_ascii_alphanumeric() || b"_-+/=.~".contains(&c));
    let is_hex = || changes.numbers >= 2 && value.bytes().all(|c| c.is_ascii_hexdigit());
    let is_number = changes.capitals + changes.smalls == 0;
    // A few letters without a digit prove too little.
    let is_little = value.len() < 16 && changes.digits == 0;
    is_plain && !is_number && !is_little && (is_hex() || !human_words::reads_like_name(value))
}

/// The beginning of a value, enough to judge it.
pub(super) fn look(value: &str) -> &str {
    &value[..value.floor_char_boundary(LONGEST_LOOK)]
}

/// Whether characters follow each other randomly. Long strings may contain few digits.
pub(super) fn is_shuffled(value: &str) -> bool {
    let changes = KindChanges::of(value);
    let often = changes.capitals > 0 && changes.smalls > 0 && changes.changed * 100 >= changes.pairs * 42;
    often || changes.is_mixed()
}

/// How often neighbouring characters are of different kinds.
#[derive(Debug, Default)]
struct KindChanges {
    capitals: usize,
    smalls: usize,
    digits: usize,
    /// Runs of digits.
    numbers: usize,
    pairs: usize,
    changed: usize,
}

impl KindChanges {
    fn of(value: &str) -> Self {
        let mut changes = Self::default();
        let sort = |c: u8| match c {
            b'A'..=b'Z' => Some(0),
            b'a'..=b'z' => Some(1),
            b'0'..=b'9' => Some(2),
            _ => None,
        };
        let mut last = None;
        for now in value.bytes().map(sort) {
            match now {
                Some(0) => changes.capitals += 1,
                Some(1) => changes.smalls += 1,
                Some(_) => {
                    changes.digits += 1;
                    changes.numbers += usize::from(last != now);
                }
                None => {}
            }
            if let (Some(last), Some(now)) = (last, now) {
                changes.pairs += 1;
                changes.changed += usize::from(last != now);
            }
            last = now;
        }
        changes
    }

    /// Random alphanumerics change kind at 62 of 100 positions, camelCase at 30.
    fn is_mixed(&self) -> bool {
        let mixed = self.capitals > 0 && self.smalls > 0;
        let often = self.changed * 100 >= self.pairs * 42;
        let numbers = self.digits >= 5 && self.changed * 100 >= self.pairs * 30;
        mixed && self.digits > 0 && self.pairs >= 8 && (often || numbers)
    }

    /// Random hexadecimal changes kind at 47 of 100 positions, names with a number at 20.
    fn is_lettered_number(&self) -> bool {
        let one_case = (self.capitals == 0) != (self.smalls == 0);
        one_case && self.digits >= 3 && self.pairs >= 8 && self.changed * 100 >= self.pairs * 25
    }
}
