//! Suffixes after the secret word in a name: `API_KEY_PROD`.

use crate::redact::named_values::ENDINGS;

/// Suffixes that say where or how a secret is used.
const ADDITIONS: &str = "\
    prod production staging stage dev development test testing qa uat ci live sandbox local v b64 \
    base64 hex old new read write ro rw readonly primary secondary default backup admin root public \
    private";
/// Suffixes of names that describe a secret but do not contain it.
const ABOUT: &str = "\
    file path dir id ids name names len length size count limit ttl url uri host port endpoint type \
    kind class format algorithm alg hash hasher hashers digest fingerprint checksum version prefix \
    suffix header field label hint pattern regex ref arn expiry expires expiration lifetime date \
    time at in username email owner scope scopes issuer audience status state mode policy provider \
    store manager cache index address contract mint image tag commit revision rev sha uuid domain \
    subnet pool region encoding keyid pubkey template";

/// Longest word considered.
const LONGEST: usize = 24;

/// The length of the suffix of a name whose value is still secret (`API_KEY_2`, `apiKeyProd`,
/// `passwords`), and whether all of it is known. Names in capitals, like variables, may have most
/// other words.
pub(super) fn addition(ending: &str, rest: &str) -> (usize, bool) {
    const MOST_WORDS: usize = 8;
    let plural = usize::from(
        rest.starts_with(['s', 'S']) && !rest[1..].starts_with(|c: char| c.is_ascii_alphanumeric()),
    );
    let (mut length, mut is_usual) = (plural, true);
    for _ in 0..MOST_WORDS {
        let Some((more, is_known)) = added_word(ending, &rest[length..]) else { break };
        (length, is_usual) = (length + more, is_usual && is_known);
    }
    (length, is_usual)
}

/// One word of the suffix, or a number.
fn added_word(ending: &str, rest: &str) -> Option<(usize, bool)> {
    let sign = if rest.starts_with("__") { 2 } else { usize::from(rest.starts_with(['_', '-'])) };
    let run = &rest[sign..];
    let digits = run.bytes().take_while(u8::is_ascii_digit).count();
    if matches!(digits, 1..=4) && !run[digits..].starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return Some((sign + digits, true));
    }
    let first = run.bytes().next().filter(u8::is_ascii_alphabetic)?;
    let is_all_caps = first.is_ascii_uppercase() && !run[1..].starts_with(|c: char| c.is_ascii_lowercase());
    let goes_on =
        |c: &u8| c.is_ascii_digit() || c.is_ascii_uppercase() == is_all_caps && c.is_ascii_alphabetic();
    let length = 1 + run.bytes().take(LONGEST).skip(1).take_while(goes_on).count();
    let word = run[..length].to_ascii_lowercase();
    let bare = word.trim_end_matches(|c: char| c.is_ascii_digit());
    let is = |words: &str| words.split(' ').any(|one| one == word || one == bare);
    let is_last = !run[length..].starts_with(['_', '-']);
    let is_known = (sign > 0 || first.is_ascii_uppercase()) && is(ADDITIONS);
    // `auth` is the name of many services.
    let may_be_free = sign > 0 && is_all_caps && !ending.eq_ignore_ascii_case("auth");
    // `SECRET_KEY` is a name of its own.
    let is_own = sign == 1 && ENDINGS.contains(&word.as_str());
    let is_free = may_be_free && !(is_last && is(ABOUT)) && !is_own;
    (is_known || is_free).then_some((sign + length, is_known))
}
