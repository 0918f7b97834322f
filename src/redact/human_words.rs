//! Tells names that people give from characters drawn at random.
//!
//! Every two neighbours speak for the one or for the other: in names one letter
//! follows another as in words, capitals begin them, and digits stay together.

/// How much more often a letter follows another in names of programs than at
/// random: a row for the first, a column for the second, in bits, and five added.
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
/// What a name loses where a hump, a number, or a word after a number begins.
const HUMP: i32 = -3;
const CAPITAL: i32 = -1;
const NUMBER: i32 = -5;
const AFTER_NUMBER: i32 = -3;
/// What it wins where the sort stays the same and others are there.
const STAYS: i32 = 1;
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Capital,
    Small,
    Digit,
}

/// Whether a value reads as a name rather than as drawn at random. What is
/// between letters and digits parts them and says nothing.
pub(super) fn reads(value: &str) -> bool {
    let mut sorts = value.bytes().filter_map(sort);
    let first = sorts.next();
    let stays = if sorts.all(|sort| Some(sort) == first) { 0 } else { STAYS };
    let neighbours = value.bytes().zip(value.bytes().skip(1));
    neighbours.map(|(one, next)| speaks(one, next, stays)).sum::<i32>() >= 0
}

/// How much two neighbours speak for a name.
fn speaks(one: u8, next: u8, stays: i32) -> i32 {
    let (Some(before), Some(now)) = (sort(one), sort(next)) else { return 0 };
    match (before, now) {
        (Sort::Small, Sort::Small) | (Sort::Capital, Sort::Capital) => stays + usual(one, next),
        (Sort::Capital, Sort::Small) => CAPITAL + usual(one, next),
        (Sort::Small, Sort::Capital) => HUMP,
        (Sort::Digit, Sort::Digit) => stays,
        (_, Sort::Digit) => NUMBER,
        (Sort::Digit, _) => AFTER_NUMBER,
    }
}

fn usual(one: u8, next: u8) -> i32 {
    let place = |letter: u8| usize::from(letter.to_ascii_lowercase() - b'a');
    i32::from(PAIRS[place(one)][place(next)] - b'0') - ADDED
}

fn sort(c: u8) -> Option<Sort> {
    match c {
        b'A'..=b'Z' => Some(Sort::Capital),
        b'a'..=b'z' => Some(Sort::Small),
        b'0'..=b'9' => Some(Sort::Digit),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_programs_read() {
        for name in [
            "GOOGLE_API_KEY",
            "proxy_auth_realm",
            "SslExpandPreSharedKeyFn",
            "handleOAuth2TokenV3Exchange",
            "getAccessTokenFromStorage",
            "sparkpost-prod-token",
            "rust_openssl.hpke.MLKEM768X25519PrivateKey",
            "my-app-credentials-v2-production",
            "AUTHENTICATION_BACKEND",
        ] {
            assert!(reads(name), "{name}");
        }
    }

    #[test]
    fn what_was_drawn_does_not() {
        for drawn in [
            "t0KmvQhgfJbTzeWUxyRp",
            "qzkvbnwtrplmxcfdhgjs",
            "KJQWZVXBHGTRPLMNFDSC",
            "lsdkfol23w54jlksdef",
            "ab1cd2ef3gh4ij5kl6mn",
        ] {
            assert!(!reads(drawn), "{drawn}");
        }
    }
}
