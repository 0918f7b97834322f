//! Takes secrets out of whatever leaves: keys of common vendors, private keys,
//! headers, passwords in addresses, and values whose names say what they are.
//!
//! A guard against accidents, not a boundary: raw files stay as they are for
//! their owner. A secret becomes `[redacted:<kind>]`, which tells nothing of
//! its length. Redact before cutting: half a key is not recognised.

mod additions;
mod anchors;
mod assigned;
mod escaped;
mod judge;
mod pem;
mod rules;
mod suspects;
mod words;

use std::borrow::Cow;
use std::ops::Range;

use serde_json::{Map, Value};

use anchors::{Anchor, Owner};
use escaped::Unescaped;
use judge::MARK;

pub(crate) use pem::{
    KeyMark, first_end as first_key_end, has_marker as has_key_marker, key_lines_before,
    last_mark as last_key_mark, may_be_before_end as may_be_before_key_end, may_be_line as may_be_key_line,
    open_key_at_end,
};
pub(crate) use suspects::Suspects;

/// No secret is shorter together with what tells it.
const SHORTEST: usize = 8;
const LONGEST_MARK: usize = 32;
const MOST_PASSES: usize = 4;
const PRIVATE_KEY: &str = "private-key";

/// The text without its secrets.
pub(crate) fn text(input: &str) -> Cow<'_, str> {
    let mut shown = Cow::Borrowed(input);
    // What stands in place of one secret may make the next one plain.
    for _ in 0..MOST_PASSES {
        match once(&shown) {
            Some(redacted) => shown = Cow::Owned(redacted),
            None => break,
        }
    }
    shown
}

/// The text without the secrets that show at once; nothing where there are none.
fn once(input: &str) -> Option<String> {
    let spans = spans(input);
    (!spans.is_empty()).then(|| marked(input, &spans))
}

fn marked(input: &str, spans: &[Span]) -> String {
    let mut shown = String::with_capacity(input.len());
    let mut done = 0;
    for Span { range, kind } in spans {
        shown.push_str(&input[done..range.start]);
        shown.push_str(&mark(kind));
        done = range.end;
    }
    shown.push_str(&input[done..]);
    shown
}

/// A part of a text without secrets, judged by the whole. What stands for a
/// secret that is cut by an end of the part belongs to where it begins, so that
/// adjoining parts make up the redacted text.
pub(crate) fn part(whole: &str, part: Range<usize>) -> String {
    let mut ends = [part.start, part.end];
    placed(whole, &mut ends)[ends[0]..ends[1]].to_owned()
}

/// The text without its secrets; the places in it are moved to where they are
/// then, so that what is between two of them is that part.
pub(crate) fn placed<'a>(whole: &'a str, places: &mut [usize]) -> Cow<'a, str> {
    let mut shown = Cow::Borrowed(whole);
    for _ in 0..MOST_PASSES {
        let spans = spans(&shown);
        if spans.is_empty() {
            break;
        }
        places.iter_mut().for_each(|place| *place = moved(&spans, *place));
        shown = Cow::Owned(marked(&shown, &spans));
    }
    shown
}

/// Where a position is once marks stand for the spans.
fn moved(spans: &[Span], at: usize) -> usize {
    let (mut before, mut marks) = (0, 0);
    for Span { range, kind } in spans.iter().take_while(|span| span.range.start < at) {
        before += range.end.min(at) - range.start;
        marks += mark(kind).len();
    }
    at - before + marks
}

/// How much must be known beyond a cut to see a secret that it goes through.
pub(crate) const MARGIN: usize = 4 << 10;

/// `part`, the beginning of `more`, without secrets: what only `more` shows to
/// be one is left out, so that no half of it is told.
pub(crate) fn beginning(part: &str, more: &str) -> String {
    let (part, more) = (text(part), text(more));
    let same = part.char_indices().zip(more.chars()).find(|((_, a), b)| a != b);
    let end = same.map_or(part.len().min(more.len()), |((at, _), _)| at);
    part[..end].to_owned()
}

/// As [`beginning`], for a `part` that `more` ends with; and how many bytes of
/// the part may be told only with what stands before it.
pub(crate) fn ending(part: &str, more: &str) -> (String, usize) {
    let (part, more) = (text(part), text(more));
    let alike = part.chars().rev().zip(more.chars().rev()).take_while(|(a, b)| a == b);
    let untold = part.len() - alike.map(|(a, _)| a.len_utf8()).sum::<usize>();
    (part[untold..].to_owned(), untold)
}

/// Takes the secrets out of every string of a value, the names of members
/// included. What has which type, and how many there are of it, stays.
pub(crate) fn value(value: &mut Value) {
    match value {
        Value::String(string) => replace(string),
        Value::Array(items) => {
            let mut inside_key = false;
            for item in items {
                inside_key = match item {
                    Value::String(line) => lines(line, inside_key),
                    _ => inside_key,
                };
                self::value(item);
            }
        }
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                let kind = member.as_str().and_then(|value| assigned::member(name, value));
                match kind {
                    Some(kind) => *member = Value::String(mark(kind)),
                    None => self::value(member),
                }
            }
            names(members);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A part of a text that is a secret.
#[derive(Debug, PartialEq, Eq)]
struct Span {
    range: Range<usize>,
    kind: &'static str,
}

/// The secrets of a text in their order, none over another.
fn spans(text: &str) -> Vec<Span> {
    if text.len() < SHORTEST {
        return Vec::new();
    }
    let mut found = found(text);
    if let Some(unescaped) = Unescaped::of(text) {
        let spans = self::found(&unescaped.text).into_iter();
        let spans = spans.map(|(rank, span)| (rank, Span { range: unescaped.original(&span.range), ..span }));
        // A key goes from its beginning to its end, whatever is between.
        found.extend(spans.filter(|(_, span)| span.kind == PRIVATE_KEY || !reaches_mark(text, &span.range)));
    }
    merge(found)
}

/// The secrets of a text as it is written, with how exactly each is known.
fn found(text: &str) -> Vec<(usize, Span)> {
    let keys = pem::find(text).into_iter().map(|range| (0, Span { range, kind: PRIVATE_KEY }));
    let mut found: Vec<(usize, Span)> = keys.collect();
    // Up to where the text was read, for each rule and for the names.
    let mut read = [0; rules::RULES.len() + 1];
    for anchor in anchors::find(text.as_bytes()) {
        let (rank, secret): (usize, &dyn Fn() -> _) = match anchor.owner {
            Owner::Rule(at) => (at, &move || rules::find(text, at, anchor.start)),
            Owner::Name => (rules::RULES.len(), &|| assigned::find(text, anchor.start..anchor.end)),
            Owner::Escape => continue,
        };
        if anchor.start < read[rank] {
            continue;
        }
        let Some((range, kind)) = secret() else { continue };
        read[rank] = range.end;
        if !reaches_mark(text, &range) {
            found.push((rank + 1, Span { range, kind }));
        }
    }
    found
}

/// Makes one span of those that overlap; the kind is of the most exact.
fn merge(mut found: Vec<(usize, Span)>) -> Vec<Span> {
    found.sort_by_key(|(rank, span)| (span.range.start, *rank));
    let mut merged: Vec<(usize, Span)> = Vec::with_capacity(found.len());
    for (rank, span) in found {
        match merged.last_mut() {
            Some((best, last)) if span.range.start < last.range.end => {
                last.range.end = last.range.end.max(span.range.end);
                if rank < *best {
                    (*best, last.kind) = (rank, span.kind);
                }
            }
            _ => merged.push((rank, span)),
        }
    }
    merged.into_iter().map(|(_, span)| span).collect()
}

/// Where in bytes that may be text a secret may be, private keys apart: every
/// line with a secret of a kind has one of these positions, of that kind or of
/// none: what is escaped may be any.
pub(crate) fn suspects(bytes: &[u8]) -> impl Iterator<Item = (usize, Option<&'static str>)> {
    let kind = |anchor: &Anchor| String::from_utf8_lossy(&bytes[anchor.start..anchor.end]).into_owned();
    anchors::find(bytes).map(move |anchor| (anchor.start, anchor.owner.kind(&kind(&anchor))))
}

/// Every kind of secret.
pub(crate) fn kinds() -> impl Iterator<Item = &'static str> {
    let named = assigned::KINDS.iter().copied().chain([PRIVATE_KEY]);
    rules::RULES.iter().map(|rule| rule.kind).chain(named)
}

/// What is shown for a line of a private key.
pub(crate) fn key_mark() -> String {
    mark(PRIVATE_KEY)
}

/// What stands in place of a secret.
pub(crate) fn mark(kind: &str) -> String {
    format!("{MARK}{kind}]")
}

/// Whether part of a range was redacted before.
fn reaches_mark(text: &str, range: &Range<usize>) -> bool {
    let from = text.floor_char_boundary(range.start.saturating_sub(LONGEST_MARK));
    text[from..range.end].match_indices(MARK).any(|(at, _)| {
        let kind = from + at + MARK.len();
        let end = kind + text[kind..].bytes().take_while(|c| c.is_ascii_lowercase() || *c == b'-').count();
        text[end..].starts_with(']') && end >= range.start
    })
}

fn replace(string: &mut String) {
    if let Cow::Owned(shown) = text(string) {
        *string = shown;
    }
}

/// Redacts one of several lines that may be inside a private key, and says
/// whether the next one is.
fn lines(line: &mut String, inside_key: bool) -> bool {
    let next = pem::ends_inside(line, inside_key);
    if inside_key && pem::is_line(line) {
        *line = mark(PRIVATE_KEY);
    }
    next
}

/// Redacts the names of members. Two that become alike are told apart.
fn names(members: &mut Map<String, Value>) {
    if members.keys().all(|name| matches!(text(name), Cow::Borrowed(_))) {
        return;
    }
    let mut number = 1;
    for (name, member) in std::mem::take(members) {
        let shown = text(&name).into_owned();
        let mut unique = shown.clone();
        while members.contains_key(&unique) {
            number += 1;
            unique = format!("{shown} {number}");
        }
        members.insert(unique, member);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// Keys are put together here, lest a scanner take this file for a leak.
    const RANDOM: &str = "a7Bq9ZkT3mXw5Rc1VnY8dLf2Gs6Hj4Ep0UoKx7iQ2bWz8Nt5MvC1eJ9rFy3hDg6Al4Sp";
    const HEX: &str = "3f9a1c07be52d84e6b1f0a9d2c7e5843af60";

    fn random(length: usize) -> String {
        RANDOM.chars().cycle().take(length).collect()
    }

    fn hex(length: usize) -> String {
        HEX.chars().cycle().take(length).collect()
    }

    #[track_caller]
    fn check(given: &str, expected: &str) {
        assert_eq!(text(given), expected);
        assert_eq!(text(expected), expected, "redacted twice");
    }

    #[track_caller]
    fn check_untouched(given: &str) {
        check(given, given);
    }

    fn vendors_keys() -> Vec<(&'static str, String)> {
        let upper = random(40).to_ascii_uppercase();
        vec![
            ("anthropic", format!("sk-ant-api03-{}-AA", random(90))),
            ("anthropic", format!("sk-ant-oat01-{}", random(40))),
            ("openai", format!("sk-{}", random(48))),
            ("openai", format!("sk-proj-{}_{}", random(60), random(30))),
            ("openai", format!("sk-svcacct-{}", random(60))),
            ("openai", format!("sk-or-v1-{}", hex(64))),
            ("openai", format!("sk-{}", hex(32))),
            ("google", format!("AIza{}", random(35))),
            ("google", format!("ya29.{}", random(60))),
            ("google", format!("GOCSPX-{}", random(28))),
            ("aws", format!("AKIA{}", &upper[..16])),
            ("aws", format!("ASIA{}", &upper[..16])),
            ("github", format!("ghp_{}", random(36))),
            ("github", format!("gho_{}", random(36))),
            ("github", format!("ghu_{}", random(36))),
            ("github", format!("ghs_{}", random(36))),
            ("github", format!("ghr_{}", random(70))),
            ("github", format!("github_pat_{}_{}", random(22), random(59))),
            ("gitlab", format!("glpat-{}", random(20))),
            ("gitlab", format!("glrt-{}", random(24))),
            ("slack", format!("xoxb-{}-{}", "123456789012", random(24))),
            ("slack", format!("xapp-1-A0{}", random(40))),
            ("stripe", format!("sk_live_{}", random(24))),
            ("stripe", format!("rk_test_{}", random(24))),
            ("npm", format!("npm_{}", random(36))),
            ("pypi", format!("pypi-AgEIcHlwaS5vcmc{}", random(80))),
            ("huggingface", format!("hf_{}", random(34))),
            ("azure", format!("{}8Q~{}", "aB3", random(34))),
            ("azure", format!("{}JQQJ99{}", random(52), random(26))),
            ("jwt", format!("eyJ{}.eyJ{}.{}", random(20), random(60), random(43))),
            ("jwt", format!("eyJ{}..{}.{}.{}", random(30), random(16), random(80), random(22))),
            ("api-key", format!("gsk_{}", random(52))),
            ("api-key", format!("SG.{}.{}", random(22), random(43))),
            ("api-key", format!("dop_v1_{}", hex(64))),
            ("api-key", format!("doo_v1_{}", hex(64))),
            ("api-key", format!("hvb.{}", random(100))),
            ("api-key", format!("shpss_{}", hex(32))),
            ("api-key", format!("ATBB{}", random(32))),
            ("api-key", format!("PMAK-{}-{}", hex(24), hex(34))),
            ("api-key", format!("NRAK-{}", &upper[..27])),
            ("api-key", format!("CCIPAT_{}_{}", random(22), hex(40))),
            ("api-key", format!("secret_{}", random(43))),
            ("api-key", format!("key-{}", hex(32))),
            ("api-key", format!("nvapi-{}", random(64))),
            ("api-key", format!("lsv2_pt_{}_{}", hex(32), hex(10))),
            ("api-key", format!("pcsk_{}", random(60))),
            ("api-key", format!("pscale_tkn_{}", random(43))),
            ("api-key", format!("rubygems_{}", hex(48))),
            ("api-key", format!("sntryu_{}", hex(64))),
            ("api-key", format!("{}.atlasv1.{}", random(14), random(67))),
            ("private-key", format!("LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQp{}", random(90))),
        ]
    }

    #[test]
    fn a_mark_tells_of_no_other_secret() {
        for kind in kinds() {
            for found in anchors::find(mark(kind).as_bytes()) {
                // Of names, none stands before the end of a mark and has a value.
                assert_eq!(found.owner, Owner::Name, "{kind}");
            }
            for sign in ["=", ": ", " ", "\": \"", ","] {
                let given = format!("--{}{sign}a7Bq9ZkT3mXw5Rc1VnY8", mark(kind));
                assert_eq!(text(&given), given);
            }
        }
    }

    #[test]
    fn the_ending_of_a_name_tells_the_kind_of_its_value() {
        for ending in assigned::ENDINGS {
            let given = format!("api_{ending} = \"a7Bq9ZkT3mXw5Rc1VnY8dLf2\"");
            let kind = assigned::kind(ending);
            assert_eq!(text(&given), format!("api_{ending} = \"{}\"", mark(kind)));
        }
    }

    #[test]
    fn a_secret_that_shows_only_beside_the_mark_of_another_is_taken_out_too() {
        let given = "npm_a7Bq9ZkT3mXw5Rc1VnY8dLf2Gs6Hj4Ep0UoK auth=a7Bq9ZkT3mXw";
        assert_eq!(text(given), "[redacted:npm] auth=[redacted:secret]");
    }

    #[test]
    fn a_cut_through_a_secret_tells_nothing_of_it() {
        let secret = format!("ghp_{}", "Ab3x".repeat(9));
        let whole = format!("pushed with {secret} to the origin");
        for cut in 0..=whole.len() {
            let (head, tail) = (beginning(&whole[..cut], &whole), ending(&whole[cut..], &whole).0);
            for half in [&head, &tail] {
                let told = half.replace("[redacted:github-token]", "");
                assert!(!told.contains("Ab3") && !told.contains("ghp"), "{cut}: {half}");
            }
        }
        let plain = "nothing to hide here";
        assert_eq!(
            (beginning(&plain[..7], plain), ending(&plain[7..], plain)),
            (plain[..7].into(), (plain[7..].into(), 0))
        );
    }

    #[test]
    fn adjoining_parts_make_up_the_redacted_text() {
        let secret = format!("ghp_{}", "Ab3x".repeat(9));
        let whole = format!("é {secret} auth=a7Bq9ZkT3mXw {secret}; password=hunter2x");
        for cut in (0..=whole.len()).filter(|at| whole.is_char_boundary(*at)) {
            assert_eq!(part(&whole, 0..cut) + &part(&whole, cut..whole.len()), text(&whole), "{cut}");
        }
    }

    #[test]
    fn the_last_mark_of_a_key_tells_whether_it_is_open() {
        let begin = "-----BEGIN RSA PRIVATE KEY-----\n";
        let end = "-----END RSA PRIVATE KEY-----\n";
        assert_eq!(last_key_mark(b"nothing PRIVATE KEY", b""), None);
        assert_eq!(last_key_mark(format!("x\n{begin}MIIE").as_bytes(), b""), Some(KeyMark::Begins { at: 2 }));
        assert_eq!(last_key_mark(format!("{begin}MIIE\n{end}").as_bytes(), b""), Some(KeyMark::Ends));
        // In a list of lines, the line that comes next tells.
        let (listed, line) = ("[\"-----BEGIN PRIVATE KEY-----\",\n".as_bytes(), random(64));
        assert_eq!(last_key_mark(listed, b"\"x\"]"), Some(KeyMark::Ends));
        assert_eq!(last_key_mark(listed, line.as_bytes()), Some(KeyMark::Begins { at: 2 }));
        for line in ["MIIEpAIBAAKCAQEA", "  12| MIIEpAIBAAKCAQEA\"", "INFO MIIEpAIBAAKCAQEA ", "abc=", "x"] {
            assert!(may_be_key_line(line), "{line}");
        }
        for line in ["", "  ", "a sentence of words", "-----END RSA PRIVATE KEY-----"] {
            assert!(!may_be_key_line(line), "{line}");
        }
    }

    #[test]
    fn keys_of_vendors_are_redacted_wherever_they_stand() {
        for (kind, key) in vendors_keys() {
            let mark = format!("[redacted:{kind}]");
            check(&key, &mark);
            for (before, after) in [
                ("key ", " ends"),
                ("\"", "\","),
                ("(", ")."),
                ("X=", ""),
                ("é", "é"),
                (r"out\n", r"\nnext"),
                (r"out\u001b[32m", r"\u001b[0m"),
                ("\u{1b}[01;31m\u{1b}[K", "\u{1b}[m"),
                ("q%3D", ""),
                ("https://", "@host/"),
                // A line of a diff, and of a match's context.
                ("-", "\n"),
                ("\u{1b}[31m-", "\u{1b}[m"),
                ("12-", ""),
                ("[-", "]"),
                ("src/keys.txt-", ""),
                ("old_", ""),
            ] {
                check(&format!("{before}{key}{after}"), &format!("{before}{mark}{after}"));
            }
        }
    }

    #[test]
    fn what_only_begins_like_a_key_stays() {
        for given in [
            "task-notification-with-a-very-long-name-2",
            "sk-fading-circle-with-a-long-name-2 sk-learn",
            "sk-proj-your-own-key-goes-here-please",
            "my_sk_live_mode_enabled_for_production_2 cache-key-node-modules-linux-2024-main my-app-secret_manager_client_v2_configuration",
            "the ghp_ prefix, ghp_short1, ghs_a_name_in_code_that_is_long",
            "github_pat_environment_variable_name",
            "npm_config_registry=https://packages.example.org npm_lifecycle_event_of_a_package_script1",
            "hf_hub_download(repo_id=repo_identifier_of_a_model)",
            "ASIA AKIA Asia akiabcdefghijklmnopqrst AKIASHORT",
            "eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbXX0= and eyJhbGciOiJIUzI1NiJ9",
            "commit 3f9a1c07be52d84e6b1f0a9d2c7e5843af603f9a",
            "sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "thread 01a1de18-e185-7850-bd49-27a1844ec993 of T-local-0a1b2c3d4e5f",
            "/home/u/.local/state/delegator/runs/2026-11-15_113707665_4559a963df74/result.json",
        ] {
            check_untouched(given);
        }
    }

    #[test]
    fn headers_lose_what_follows_their_scheme() {
        check("Authorization: Bearer abc.def-123", "Authorization: Bearer [redacted:bearer]");
        check("AUTHORIZATION: bearer abcDEFghi", "AUTHORIZATION: bearer [redacted:bearer]");
        check("authorization:Basic dXNlcjpwYXNz", "authorization:Basic [redacted:basic]");
        check(
            "Proxy-Authorization: basic dXNlcjpwYXNzd29yZA==\r\nHost: x",
            "Proxy-Authorization: basic [redacted:basic]\r\nHost: x",
        );
        check(r#"-H "authorization: token 0a1b2c""#, r#"-H "authorization: token [redacted:bearer]""#);
        check(
            r#"{\"Authorization\": \"Bearer a1b2c3d4\"}"#,
            r#"{\"Authorization\": \"Bearer [redacted:bearer]\"}"#,
        );
        check(&format!("auth is bearer {}", random(24)), "auth is bearer [redacted:bearer]");
        check(r#""auth":"Bearer abcdefghijklmnop0123456789""#, r#""auth":"Bearer [redacted:bearer]""#);
        check_untouched(
            "Bearer YOUR_TOKEN_GOES_HERE_0123456 Bearer <token-of-20-characters> Bearer {{token_20_characters}}",
        );
        check_untouched(
            "Bearer xxxxxxxxxxxxxxxxxxxxxxxxxx Bearer $GITHUB_TOKEN_0123456789 Bearer TokenAuthenticationProvider",
        );
        check_untouched("Authorization: Bearer authentication is required");
        check_untouched("- Bearer https://tools.ietf.org/html/rfc6750");
        check_untouched("see bearer http://localhost:8080/0123456789abcdef0123456789");
        check_untouched(
            "Authorization: Bearer $TOKEN, Authorization: Bearer <token>, Authorization: Basic ${AUTH}",
        );
        check_untouched("the bearer of-a-very-long-compound-word");
    }

    #[test]
    fn addresses_lose_their_password_alone() {
        check("postgres://app:s3cret@db:5432/x", "postgres://app:[redacted:password]@db:5432/x");
        check("redis://:p@ss@h and a@b", "redis://:[redacted:password]@h and a@b");
        check(
            "'https://x-access-token:letmein@h.org/r.git'",
            "'https://x-access-token:[redacted:password]@h.org/r.git'",
        );
        check_untouched("http://localhost:3000/a@b ssh://git@h:22/r https://u@h http://[::1]:80/x");
        check_untouched("postgres://${USER}:${PASS}@h mysql://u:<password>@h amqp://u:****@h");
        check_untouched("https://h/?q=a:b@c");
    }

    #[test]
    fn what_is_escaped_is_told_as_what_is_not() {
        check(
            r#"{"u":"https:\/\/bob:hunter2x9@host\/x"}"#,
            r#"{"u":"https:\/\/bob:[redacted:password]@host\/x"}"#,
        );
        check(r"x:\\\/\\\/bob:hunter2x9@host", r"x:\\\/\\\/bob:[redacted:password]@host");
        let key = format!(r"{}\u002B{}\u002f{}==", random(30), random(25), random(29));
        for sign in ["=", r"\u003d", r"\\u003D", r"\x3d"] {
            let (before, after) = (format!(r#"{{"c":"a=b;AccountKey{sign}"#), r#";EndpointSuffix=core"}"#);
            check(&format!("{before}{key}{after}"), &format!("{before}[redacted:azure]{after}"));
            check(
                &format!(r"?a\u0026sig{sign}{key}\u0026x=1"),
                &format!(r"?a\u0026sig{sign}[redacted:azure]\u0026x=1"),
            );
            check(
                &format!(r"DB_PASSWORD{sign}hunter2x9 b"),
                &format!(r"DB_PASSWORD{sign}[redacted:password] b"),
            );
        }
        check(
            r"{\u0022password\u0022:\u0022hunter2\u0026x\u0022,\u0022a\u0022:1}",
            r"{\u0022password\u0022:\u0022[redacted:password]\u0022,\u0022a\u0022:1}",
        );
        check(r"password=\u0027hunter2x\u0027 b", r"password=\u0027[redacted:password]\u0027 b");
        check(
            &format!(r#"{{"AWS_SECRET_ACCESS_KEY":"wJalrXUt\/{}"}}"#, random(31)),
            r#"{"AWS_SECRET_ACCESS_KEY":"[redacted:api-key]"}"#,
        );
        check(
            r"Authorization: Basic dXNlcjpwYXNz\u002BdXNlcjpwYXNz\u003D",
            "Authorization: Basic [redacted:basic]",
        );
        check(
            r"Authorization: Bearer a1b2\/c3d4\u002Be5f6\u0022}",
            r"Authorization: Bearer [redacted:bearer]\u0022}",
        );
        let every = format!("ghp_{}", random(36)).bytes().map(|c| format!(r"\u{c:04x}")).collect::<String>();
        check(&every, "[redacted:github]");
        check(
            r"https:\/\/hooks.slack.com\/services\/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",
            r"https:\/\/hooks.slack.com\/services\/[redacted:slack]",
        );
        check("q=password%3Dhunter2x9%26a%3Db", "q=password%3D[redacted:password]%26a%3Db");
        check("to=https%3A%2F%2Fbob%3Ahunter2x9%40h", "to=https%3A%2F%2Fbob%3A[redacted:password]%40h");
        check(
            "{&quot;password&quot;: &quot;hunter2x9&quot;}",
            "{&quot;password&quot;: &quot;[redacted:password]&quot;}",
        );
        check_untouched("a?b=%20c%3D1&amp;d=e%22 100%25 %3A%2F%2Flocalhost%3A3000%2Fx%40y");
        check_untouched(
            r#"{"a":"https:\/\/h.org\/x@y","b":"a \u0026\u0026 b \u003c token \u003e","c":"C:\\Users\\token"}"#,
        );
    }

    #[test]
    fn addresses_of_bots_lose_their_token() {
        let bot = format!("1234567890:AA{}", random(33));
        for (before, after) in [("https://api.telegram.org/bot", "/getMe"), ("BOT=", ""), ("'", "'")] {
            let expected = format!("{before}1234567890:[redacted:telegram]{after}");
            check(&format!("{before}{bot}{after}"), &expected);
        }
        let hook = "https://discord.com/api/webhooks/189963722524278834/";
        check(&format!("{hook}{}", random(68)), &format!("{hook}[redacted:discord]"));
        let bot = format!("MTk4{}.Cl2FMQ.Zn{}", random(20), random(25));
        check(&format!("DISCORD_TOKEN={bot}"), "DISCORD_TOKEN=[redacted:token]");
        check(&format!("token: {bot}"), "token: [redacted:token]");
        check_untouched("11:AA:22:33:44 12345678:AAPL https://h/api/webhooks/12/abc");
    }

    #[test]
    fn cookies_that_are_random_are_secrets() {
        let value = random(40);
        check(
            &format!("< Set-Cookie: sid={value}; Path=/\r\nHost: x"),
            "< Set-Cookie: [redacted:session]\r\nHost: x",
        );
        check(&format!("Cookie: theme=dark; sid={value}"), "Cookie: [redacted:session]");
        check(
            &format!(r#"{{"set-cookie":["sid={value}; Secure"],"a":1}}"#),
            r#"{"set-cookie":["[redacted:session]"],"a":1}"#,
        );
        check_untouched("Cookie: theme=dark; lang=en; Expires=Wed, 21 Oct 2026 07:28:00 GMT");
        check_untouched("const cookie = document.cookie.split('; ').find(row => row.startsWith('test2='));");
    }

    #[test]
    fn passwords_are_told_by_the_program_that_takes_them() {
        check("sshpass -p hunter2x9 ssh h", "sshpass -p [redacted:password] ssh h");
        check("mysql -uroot -phunter2x9 db", "mysql -uroot -p[redacted:password] db");
        check("docker login -u bob -p hunter2x9 r.io", "docker login -u bob -p [redacted:password] r.io");
        check("redis-cli -h h -a hunter2x9 ping", "redis-cli -h h -a [redacted:password] ping");
        check("db.local:5432:app:bob:correcthorse\n", "db.local:5432:app:bob:[redacted:password]\n");
        check("*:5432:*:*:hunter2x9", "*:5432:*:*:[redacted:password]");
        check_untouched(
            "docker run -p 127.0.0.1:5432:5432 -a x; git commit -a fix2; redis-cli -p 6379 -n 2 info",
        );
        check_untouched("listening on 0.0.0.0:5432: ready; at db:5432: connection refused: no route");
        check("openssl rsa -passin pass:hunter2x9", "openssl rsa -passin pass:[redacted:password]");
        check_untouched(
            "gcc -I/usr/include/mysql -pthread -pipe; docker run -p 8080:80 x; tests pass: 12 of 12",
        );
    }

    #[test]
    fn names_and_values_may_be_members_of_their_own() {
        check(
            r#"{"name":"DB_PASSWORD","value":"hunter2x9"}"#,
            r#"{"name":"DB_PASSWORD","value":"[redacted:password]"}"#,
        );
        check(
            r#"{\"name\": \"DB_PASSWORD\", \"value\": \"hunter2x9\"}"#,
            r#"{\"name\": \"DB_PASSWORD\", \"value\": \"[redacted:password]\"}"#,
        );
        check(
            r#"<add key="DbPassword" value="hunter2x9"/>"#,
            r#"<add key="DbPassword" value="[redacted:password]"/>"#,
        );
        check_untouched(r#"{"name":"token_count","value":"12345"} name="password" value="{{ password }}""#);
        check_untouched(
            r#"{"key":"cache_key","value":"a7Bq9ZkT3mXw5Rc1VnY8dLf2"} token, value = parse("x1y2")"#,
        );
    }

    #[test]
    fn files_of_logins_lose_their_passwords() {
        check("machine h login bob password hunter2x9", "machine h login bob password [redacted:password]");
        check(
            "machine h\n  login b\n  password hunter2x9\n",
            "machine h\n  login b\n  password [redacted:password]\n",
        );
        check("  password hunter2x9", "  password [redacted:password]");
        check("export DB_PASSWORD=\"letmein\"", "export DB_PASSWORD=\"[redacted:password]\"");
        check("Pwd=hunter2x9;Uid=bob", "Pwd=[redacted:password];Uid=bob");
        check(&format!("SECRET_KEY_BASE={}", hex(128)), "SECRET_KEY_BASE=[redacted:api-key]");
        check(&format!("APP_KEY=base64:{}=", random(43)), "APP_KEY=base64:[redacted:api-key]");
        let id = "3f2a1b4c-1111-4222-8333-d694c1957f8d";
        check(&format!("//r.org/:_authToken={id}"), "//r.org/:_authToken=[redacted:token]");
        check_untouched("password reset2 was sent\nPASSWORD=\"password\" pwd: /tmp/a1 PWD=C:\\x2");
    }

    #[test]
    fn logins_of_curl_lose_their_password() {
        check("curl -u bob:hunter2 https://h", "curl -u bob:[redacted:password] https://h");
        check("curl -sS --user 'bob:a b' h", "curl -sS --user 'bob:[redacted:password]' h");
        check(r#"["curl","-u","bob:letmein","h"]"#, r#"["curl","-u","bob:[redacted:password]","h"]"#);
        check("curl -X POST \\\n  -u bob:hunter2", "curl -X POST \\\n  -u bob:[redacted:password]");
        check_untouched("docker run -u 1000:1000 curl\nsort -u a:b; curl -u $USER:$PASS h; curl -u bob h");
    }

    #[test]
    fn names_tell_secrets() {
        check("DB_PASSWORD=letmein", "DB_PASSWORD=[redacted:password]");
        check("password: hunter2", "password: [redacted:password]");
        check(r#"{"password":"p4ss\"word","x":1}"#, r#"{"password":"[redacted:password]","x":1}"#);
        check(r#"{\"passwd\": \"hunter2\"}"#, r#"{\"passwd\": \"[redacted:password]\"}"#);
        check("config['db_pass'] = 'S3cr3t!'", "config['db_pass'] = '[redacted:password]'");
        check("--password hunter2 --token=x", "--password [redacted:password] --token=x");
        check("const password: string = \"hunter2\";", "const password: string = \"[redacted:password]\";");
        check("<password>hunter2</password>", "<password>[redacted:password]</password>");
        check("Server=x;Password=hunter2;Database=y", "Server=x;Password=[redacted:password];Database=y");
        let key = random(40);
        for name in [
            "AWS_SECRET_ACCESS_KEY",
            "aws_secret_access_key",
            "OPENAI_API_KEY",
            "apiKey",
            "x-api-key",
            "API key",
        ] {
            check(&format!("{name}={key}"), &format!("{name}=[redacted:api-key]"));
            check(&format!("{name}: {key},"), &format!("{name}: [redacted:api-key],"));
            check(&format!("\"{name}\": \"{key}\""), &format!("\"{name}\": \"[redacted:api-key]\""));
            check(&format!("\"--{name}\", \"{key}\""), &format!("\"--{name}\", \"[redacted:api-key]\""));
        }
        for value in [random(32), hex(32), hex(40), hex(64)] {
            check(&format!("token = {value}"), "token = [redacted:token]");
            check(&format!("access_token={value}&page=2"), "access_token=[redacted:token]&page=2");
            check(&format!("//r.org/:_authToken={value}"), "//r.org/:_authToken=[redacted:token]");
            check(&format!("client_secret: \"{value}\""), "client_secret: \"[redacted:secret]\"");
            check(&format!("API_KEY_2={value}"), "API_KEY_2=[redacted:api-key]");
        }
        check(&format!("GITHUB_TOKEN=ghp_{}", random(36)), "GITHUB_TOKEN=[redacted:github]");
        for (name, kind) in [
            ("DB_PASSWORD_PROD", "password"),
            ("db_password_prod", "password"),
            ("password-staging", "password"),
            ("passwords", "password"),
            ("API_KEY_V2", "api-key"),
            ("api_key_v2", "api-key"),
            ("apiKeyProd", "api-key"),
            ("STRIPE_SECRET_KEY_LIVE", "api-key"),
            ("PRIVATE_KEY_B64", "api-key"),
            ("TOKEN_GITHUB", "token"),
            ("GITHUB_TOKEN_READ_PROD", "token"),
            ("token_v2", "token"),
            ("JWT_SECRET_STAGING_2", "secret"),
            ("AWS_SECRET_ACCESS_KEY_PROD_EU_WEST_1", "api-key"),
            ("AWS_SECRET_ACCESS_KEY_ACCOUNT2", "api-key"),
            ("DB_PASSWORD_USER1", "secret"),
            ("POSTGRES_PASSWORD_CLIENT_EU", "secret"),
            ("JWT_SECRET_USER_SERVICE", "secret"),
            ("STRIPE_SECRET_KEY_FOR_PAYMENTS_SERVICE", "api-key"),
            ("API_KEY_2024", "api-key"),
            ("JWT__SECRET__KEY", "secret"),
            ("API_KEY__PROD", "api-key"),
            ("AUTH_PROD", "secret"),
            ("secrets", "secret"),
        ] {
            check(&format!("{name}={key}"), &format!("{name}=[redacted:{kind}]"));
            check(&format!("{name}: \"{key}\""), &format!("{name}: \"[redacted:{kind}]\""));
            let member = format!("{{\"{name}\":\"[redacted:{kind}]\"}}");
            check(&format!("{{\"{name}\":\"{key}\"}}"), &member);
            let mut value = serde_json::json!({ name: key });
            self::value(&mut value);
            assert_eq!(value.to_string(), member);
        }
        check("DB_PASSWORD_PROD=letmein", "DB_PASSWORD_PROD=[redacted:password]");
        check(&format!("APP_KEY=base64:{}==", random(22)), "APP_KEY=base64:[redacted:api-key]");
        // The first begins like a number with a unit, the second like a checksum, the third like a name.
        for key in ["7kQwhgfJbTzeWUxyRpLm", "md5vc51InS6sh6D6XBaSJyMoACd5RF0g", "qzkvbnwtrplmxcfdhgjs"] {
            check(&format!("API_KEY={key}"), "API_KEY=[redacted:api-key]");
        }
        check(&format!("PRIVATE_KEY=0x{}", hex(64)), "PRIVATE_KEY=[redacted:api-key]");
        check("api_key: 550e8400-e29b-41d4-a716-446655440000", "api_key: [redacted:api-key]");
        check(
            "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "AWS_SECRET_ACCESS_KEY=[redacted:api-key]",
        );
    }

    #[test]
    fn of_keys_with_a_name_hardly_one_looks_like_a_word() {
        let mut seed = 7_u64;
        let mut drawn = |letters: &[u8], length: usize| -> String {
            let mut one = || {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                char::from(letters[(seed >> 33) as usize % letters.len()])
            };
            (0..length).map(|_| one()).collect()
        };
        let all = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
        let hex = &all[..16];
        let (small, letters) = (&all[..36], &all[10..]);
        for (letters, length, most) in [
            (hex, 32, 0),
            (hex, 20, 4),
            (small, 32, 1),
            (small, 20, 8),
            (letters, 32, 1),
            (letters, 20, 8),
            (&all[..], 32, 1),
            (&all[..], 20, 4),
            (&all[..], 16, 8),
        ] {
            let shown = (0..1000).filter(|_| {
                let key = drawn(letters, length);
                ["API_KEY=", "client_secret: ", "token = "].iter().any(|name| {
                    let line = format!("{name}{key}");
                    text(&line) == line
                })
            });
            let shown = shown.count();
            assert!(shown <= most, "{shown} of 1000 of {length} out of {}", letters.len());
        }
    }

    #[test]
    fn what_names_the_beginning_of_a_private_key_hides_nothing_after_it() {
        let code = "import { thing } from 'src/components/widgets/SomeThing10/index';\nreturn handlerOfNumber10();\n";
        for named in [
            "const pem = \"-----BEGIN PRIVATE KEY-----\\n\" + wrap(key) + footer;\n",
            "- pattern: -----BEGIN PRIVATE KEY-----\n  description: a key\n",
            "The file begins with\n\n    -----BEGIN OPENSSH PRIVATE KEY-----\n\nand is never committed.\n",
            "Detect Private Key....Failed: -----BEGIN RSA PRIVATE KEY-----\n",
            "BEGIN = \"-----BEGIN PRIVATE KEY-----\"\n",
        ] {
            check_untouched(&format!("{named}{}", code.repeat(9)));
        }
    }

    #[test]
    fn code_and_prose_about_secrets_stay() {
        for given in [
            "token = parser.next()",
            "let token = self.tokens[3].clone();",
            "token: Token::Ident(name2)",
            "password: required",
            "password: String, password: &'static str, password: Option<String>",
            "'password' => 'required|min:8'",
            "password = getpass.getpass()",
            "password: z.string().min(8)",
            "password: req.body.password2",
            "Password: the one you chose on 2026-01-01",
            "\"password\": \"Enter at least 8 characters\"",
            "PASSWORD=$DB_PASSWORD PASSWORD=${X} password=<password> password: ******** password=changeme",
            "PASSWORD=required PASSWORD=true",
            "PWD=/home/u/project2 OLDPWD=/tmp/x1",
            "password_file: /run/secrets/db1 secret=/run/secrets/api-key-2",
            "type=\"password\" name=\"pw12ab\"",
            "['user.password', 'user.*.name2']",
            "const cacheKey = `user:${id}:v2:0a1b2c3d4e5f6071`;",
            "cache_key = a7Bq9ZkT3mXw5Rc1VnY8dLf2 primary_key: 3f9a1c07be52d84e6b1f0a9d",
            "\"idempotency_key\": \"a7Bq9ZkT3mXw5Rc1VnY8dLf2\"",
            "public_key: a7Bq9ZkT3mXw5Rc1VnY8dLf2Gs6Hj4Ep",
            "apiKey: process.env.OPENAI_API_KEY",
            "api_key = os.environ[\"OPENAI_API_KEY\"]",
            "\"apiKeySource\":\"ANTHROPIC_API_KEY\"",
            "token: ${{ secrets.GITHUB_TOKEN }}",
            "token = getAccessTokenFromStorage",
            "token: handleOAuth2TokenV3Exchange",
            "PASSWORD_ENCRYPTION=scram-sha-256 PASSWORD_HASHERS=django.Argon2 PASSWORD_MIN_LENGTH=12",
            "API_KEY_ID=a7Bq9ZkT3mXw5Rc1VnY8dLf2 TOKEN_FILE_SHA=a7Bq9ZkT3mXw5Rc1VnY8dLf2",
            "token_index: a7Bq9ZkT3mXw5Rc1VnY8dLf2 tokenUrlProd: a7Bq9ZkT3mXw5Rc1VnY8dLf2",
            "AUTH_COMMIT=da39a3ee5e6b4b0d3255bfef95601890afd80709 AUTH_POD=auth-7d9f8b6c5d-x2k4p",
            "TOKEN_ADDRESS=0x742d35Cc6634C0532925a3b844Bc9e7595f0bEb0 TOKEN_ENCODING=o200k_base_v2",
            "address token = 0x742d35Cc6634C0532925a3b844Bc9e7595f0bEb0;",
            "tokens: 128000 secrets: inherit passwords: rotated",
            "source token: \"github_webhook\" | \"trigger_fire\"",
            "secret = SslExpandPreSharedKeyFn api_key: proxy_authentication_realm",
            "token: 0xC000_018A_0000_0001u64 token = 1_201u32 token: 1.5e10",
            "token: 550e8400-e29b-41d4-a716-446655440000",
            "\"progressToken\": \"a7Bq9ZkT3mXw5Rc1VnY8dLf2\"",
            "next_page_token=a7Bq9ZkT3mXw5Rc1VnY8dLf2",
            "confirmation_token: a7Bq9ZkT3mXw5Rc1VnY8dLf2",
            "\"input_tokens\":1200,\"max_tokens\":128000,\"token_count\": 3",
            "token: sha256:9f86d081884c7d659a2feaa0c55ad015",
            "secret: T-local-0a1b2c3d4e5f",
            "secretName: my-app-credentials-v2-production",
            "tokenizer: a7Bq9ZkT3mXw5Rc1VnY8dLf2",
            "the token, if any, and the key: see docs/token-2.md",
            "keyboard=a7Bq9ZkT3mXw5Rc1VnY8dLf2 monkey: 3f9a1c07be52d84e6b1f0a9d",
            "author=a7Bq9ZkT3mXw5Rc1VnY8dLf2",
        ] {
            check_untouched(given);
        }
    }

    #[test]
    fn a_private_key_goes_from_its_beginning_to_its_end() {
        let lines = format!("{}\n{}\nQ==", random(64), random(64));
        for label in ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "] {
            let key =
                format!("-----BEGIN {label}PRIVATE KEY-----\n{lines}\n-----END {label}PRIVATE KEY-----");
            check(&format!("a\n{key}\nb"), "a\n[redacted:private-key]\nb");
            check(&format!("{}\nb", key.replace('\n', r"\n")), "[redacted:private-key]\nb");
        }
        let block = format!(
            "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n{lines}\n-----END PGP PRIVATE KEY BLOCK-----"
        );
        check(&block, "[redacted:private-key]");
        check_untouched(&format!("-----BEGIN CERTIFICATE-----\n{lines}\n-----END CERTIFICATE-----"));
    }

    #[test]
    fn a_private_key_without_its_end_goes_as_far_as_its_lines_do() {
        let (begin, line, mark) = ("-----BEGIN PRIVATE KEY-----", random(64), "[redacted:private-key]");
        check(&format!("a {begin}\n{line}\nwhatever"), &format!("a {mark}"));
        check(begin, mark);
        check(
            &format!("{begin}\n{line}\n\n{line}\nBuilding a\nerror: no way\n"),
            &format!("{mark}\nBuilding a\nerror: no way\n"),
        );
        // Others may speak in between.
        check(
            &format!("{begin}\n{line}\n(1 of 2) done\nweb_1 | {line}\nexit code 1"),
            &format!("{mark}\n(1 of 2) done\n{mark}\nexit code 1"),
        );
        check(
            &format!("web | {begin}\nweb | {line}\nweb | Q7x=\nweb | it is up\ndone"),
            &format!("web | {mark}\nweb | it is up\ndone"),
        );
        check(
            &format!("{begin}\n{line}\nerror at src/components/widgets/button.rs:12\nok\n12: {line}\n3: Q=="),
            &format!("{mark}\nerror at src/components/widgets/button.rs:12\nok\n{mark}"),
        );
        let long = "a line of it\n".repeat(6000);
        check(&format!("{begin}\n{line}\n{long}{line}\n"), &format!("{mark}\n{long}{line}\n"));
    }

    #[test]
    fn a_private_key_without_its_beginning_goes_from_the_start_of_the_text() {
        let lines = format!("{}\n{}\nQ==\n", random(30), random(64));
        let end = "-----END PRIVATE KEY-----";
        check(&format!("{lines}{end} b"), "[redacted:private-key] b");
        check(&format!("{}{end}", lines.replace('\n', r"\n")), "[redacted:private-key]");
        check(&format!("of a file:\n{lines}{end}"), "of a file:\n[redacted:private-key]");
        check_untouched("nothing before\n-----END PRIVATE KEY-----");
    }

    #[test]
    fn colours_hide_no_secret() {
        let key = "a7Bq9ZkT3mXw5Rc1VnY8";
        for escape in ["\u{1b}", r"\u001b", r"\x1B"] {
            let (red, plain) = (format!("{escape}[01;31m"), format!("{escape}[m"));
            check(
                &format!("API_{red}KEY{plain}={key} x"),
                &format!("API_{red}KEY{plain}=[redacted:api-key] x"),
            );
            let given = text(&format!("API_KEY={red}{key}{plain}, {red}password{plain}={red}{key}{plain}"))
                .into_owned();
            assert!(!given.contains(&key[..6]) && given.contains("[redacted:password]"), "{given}");
            let given = text(&format!("ghp_{}{red}{}{plain} x", random(10), random(26))).into_owned();
            assert_eq!(given, format!("[redacted:github]{plain} x"));
            let lines = format!("{}\\n", random(64)).repeat(9);
            let given = format!("\"-----{red}BEGIN{plain} RSA PRIVATE KEY-----\\n{lines}\"");
            assert!(!text(&given).contains(&lines[..20]), "{}", text(&given));
        }
    }

    #[test]
    fn a_private_key_goes_with_the_marks_inside_it() {
        let given = format!("\\/ -----BEGIN PRIVATE KEY-----\n{}\n[redacted:github]\nx", random(64));
        check(&given, "\\/ [redacted:private-key]");
    }

    #[test]
    fn a_private_key_on_one_line_or_after_words_lacks_no_part() {
        let (a, b, end) = (random(64), hex(30) + &random(34), "-----END RSA PRIVATE KEY-----");
        for (before, sign) in
            [("", " "), ("warning: ", " "), ("says `", "\n"), (r#"{"text":"x "#, r"\n"), ("(", r"\n")]
        {
            check(
                &format!("{before}{a}{sign}{b}{sign}Q=={sign}{end}c"),
                &format!("{before}[redacted:private-key]"),
            );
        }
        check_untouched("let privateKeyFooterMarker = \"-----END PRIVATE KEY-----\";");
        check_untouched("it ends with internationalisation and -----END PRIVATE KEY-----");
    }

    #[test]
    fn code_about_private_keys_stays() {
        check_untouched(
            "if line == \"-----BEGIN PRIVATE KEY-----\" { begun = true }\nif line == \"-----END PRIVATE KEY-----\" {}",
        );
        let begin = "key = \"-----BEGIN PRIVATE KEY-----\" +";
        check(&format!("{begin}\n  \"{}\"", random(64)), "key = \"[redacted:private-key]");
    }

    #[track_caller]
    fn check_value(mut given: Value, expected: &Value) {
        for _ in 0..2 {
            value(&mut given);
            assert_eq!(&given, expected);
        }
    }

    #[test]
    fn a_value_keeps_its_shape() {
        let key = format!("ghp_{}", random(36));
        let other = format!("ghp_{}", hex(36));
        check_value(
            json!({ "n": 1, &key: [true, null, &key], "in": { "text": format!("a {key}") }, &other: 2, "z": "" }),
            &json!({
                "n": 1, "[redacted:github]": [true, null, "[redacted:github]"],
                "in": { "text": "a [redacted:github]" }, "[redacted:github] 2": 2, "z": "",
            }),
        );
    }

    #[test]
    fn members_are_told_by_their_names() {
        let (secret, id) = (random(32), "550e8400-e29b-41d4-a716-446655440000");
        check_value(
            json!({ "apiKey": secret, "password": "hunter2", "token": { "value": secret }, "thread_id": id,
                    "request_id": secret, "Authorization": "Bearer a1b2c3d4e5f6a7b8", "token_2": secret, "tokens": 5,
                    "secret": "of success", "progress_token": secret, "sha256": hex(64) }),
            &json!({ "apiKey": "[redacted:api-key]", "password": "[redacted:password]", "token": { "value": secret },
                     "thread_id": id, "request_id": secret, "Authorization": "Bearer [redacted:bearer]",
                     "token_2": "[redacted:token]", "tokens": 5, "secret": "of success", "progress_token": secret,
                     "sha256": hex(64) }),
        );
    }

    #[test]
    fn a_private_key_in_a_list_of_lines_is_one_key() {
        let line = random(64);
        check_value(
            json!([line, "-----BEGIN PRIVATE KEY-----", line, "Q==", "-----END PRIVATE KEY-----", line]),
            &json!([
                line,
                "[redacted:private-key]",
                "[redacted:private-key]",
                "Q==",
                "-----END PRIVATE KEY-----",
                line
            ]),
        );
    }

    #[test]
    fn a_mark_does_not_tell_how_long_the_secret_was() {
        let marked = |length| text(&format!("ghp_{}", random(length))).into_owned();
        assert_eq!(marked(36), marked(60));
    }

    #[test]
    fn every_pattern_compiles() {
        for (at, rule) in rules::RULES.iter().enumerate() {
            assert!(rules::compiled(at).is_some(), "{rule:?}");
        }
        check("x -----END PRIVATE KEY----- token: 1", "x -----END PRIVATE KEY----- token: 1");
    }

    #[test]
    fn nothing_in_the_corpus_looks_like_a_secret() {
        let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
        let mut hits = Vec::new();
        let mut files = 0;
        for agent in ["claude", "codex", "gemini"] {
            for file in std::fs::read_dir(corpus.join(agent)).unwrap() {
                let path = file.unwrap().path();
                let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                let hit = |span: Span| format!("{agent}/{name}: {}: {}", span.kind, &text[span.range]);
                hits.extend(spans(&text).into_iter().map(hit));
                files += 1;
            }
        }
        assert!(files > 100, "only {files} files");
        hits.sort();
        insta::assert_snapshot!(hits.join("\n"), @"");
    }

    /// Text made of what the rules look at, in any order.
    fn fragments() -> impl Strategy<Value = String> {
        let keys: Vec<String> = vendors_keys().into_iter().map(|(_, key)| key).collect();
        let signs: Vec<String> = [
            "password",
            "token",
            "api_key",
            "secret",
            "PASS",
            "auth",
            "Authorization",
            "Bearer ",
            "basic ",
            "=",
            ": ",
            ":",
            "\"",
            "'",
            "\\",
            "\\n",
            "\n",
            " ",
            "-",
            "_",
            ".",
            "/",
            "://",
            "u:",
            "@",
            "curl",
            " -u ",
            "--user ",
            "a:b",
            "sk-",
            "ghp_",
            "AKIA",
            "eyJ",
            "Q~",
            "JQQJ99",
            "hunter2",
            "[redacted:token]",
            "[redacted:password]",
            "]",
            "(",
            ")",
            "é",
            "…",
            "&x=",
            ";",
            ",",
            ">",
            "<",
            "{",
            "}",
            "|",
            "$",
            "%3D",
            "m",
            "\u{1b}[32m",
            "?sig=",
            "--",
            "1//0",
            "-----BEGIN RSA PRIVATE KEY-----",
            "-----END RSA PRIVATE KEY-----",
            "-----",
            "PRIVATE KEY",
            "xoxb-",
            "page",
            "next",
            "2",
            "word",
            "camelCase",
            r"\/",
            r":\/\/",
            r"\u003d",
            r"\\u0022",
            r"\x2b",
        ]
        .map(str::to_owned)
        .to_vec();
        let one = prop_oneof![
            5 => prop::sample::select(signs),
            2 => prop::sample::select(keys),
            1 => (1usize..70).prop_map(random),
            1 => (1usize..70).prop_map(hex),
            1 => "[ -~]{0,12}",
        ];
        prop::collection::vec(one, 0..12).prop_map(|parts| parts.concat())
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i32>().prop_map(Value::from),
            fragments().prop_map(Value::from)
        ];
        leaf.prop_recursive(3, 20, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec((fragments(), inner), 0..5)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    /// A value without its texts.
    fn shape(value: &Value) -> Value {
        match value {
            Value::String(_) => "".into(),
            Value::Array(items) => items.iter().map(shape).collect(),
            Value::Object(members) => members.values().map(|member| json!({ "": shape(member) })).collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        #[test]
        fn redacting_twice_changes_nothing(given in fragments()) {
            let once = text(&given).into_owned();
            prop_assert_eq!(text(&once), once.as_str(), "{:?}", given);
        }

        #[test]
        fn a_vendors_key_never_gets_through(
            before in "[ -~é\n]{0,20}[ \"'=:(\n]",
            after in "[ \"',;)\n][ -~é\n]{0,20}",
            which in any::<prop::sample::Index>(),
        ) {
            let keys = vendors_keys();
            let (_, key) = which.get(&keys);
            let shown = text(&format!("{before}{key}{after}")).into_owned();
            prop_assert!(!shown.contains(key), "{}", shown);
        }

        #[test]
        fn whatever_comes_is_read(given in any::<String>()) {
            let once = text(&given).into_owned();
            prop_assert_eq!(text(&once), once.as_str());
        }

        #[test]
        fn a_value_keeps_its_shape_whatever_it_is(given in values()) {
            let mut once = given.clone();
            value(&mut once);
            prop_assert_eq!(shape(&once), shape(&given));
            let mut twice = once.clone();
            value(&mut twice);
            prop_assert_eq!(twice, once);
        }
    }
}
