//! Nothing that is asked tells a secret.

use proptest::prelude::*;

use super::Mode;
use super::cursor::base36;
use super::reference::{ask, find, gzip, pages};

/// Put together here, lest a scanner take this file for a leak.
fn token(body: &str) -> String {
    format!("ghp_{body}{}", "aB3x".repeat(9))
}

/// A private key of some lines, with text before and after it.
fn with_key(begin: usize) -> String {
    let line = "MIIEpAIBAAKCAQEAx7Vn3k9QzT5sW2fJ8dLrY6mBcHpE4uGvNqXoKtRi1aZyDlSb";
    let before = "a line before the key\n".repeat(begin);
    let (begins, ends) = ("-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----");
    format!("{before}{begins}\n{}abcDEF12==\n{ends}\nafter the key\n", format!("{line}\n").repeat(25))
}

fn stores(content: &str) -> [Vec<u8>; 2] {
    [content.as_bytes().to_vec(), gzip(content.as_bytes())]
}

#[test]
fn a_window_that_begins_inside_a_private_key_does_not_show_it() {
    let content = with_key(3);
    let total = content.lines().count() as u64;
    for stored in stores(&content) {
        for lines in 1..total {
            let start = total - lines + 1;
            for mode in [Mode::Tail { lines }, Mode::Range { start, end: total }] {
                let found = ask(&stored, mode, None, 10_000);
                assert!(
                    !found.content.contains("MIIE") && !found.content.contains("abcDEF"),
                    "{}",
                    found.content
                );
                assert!(found.content.ends_with("after the key"));
                assert_eq!(found.content.lines().count() as u64, lines);
            }
        }
    }
}

#[test]
fn a_cursor_into_a_private_key_does_not_show_it() {
    let content = with_key(0);
    for stored in stores(&content) {
        for offset in (0..content.len()).step_by(7) {
            for (way, mode) in
                [('f', Mode::Head { lines: 3 }), ('b', Mode::Tail { lines: 3 }), ('g', find("E|e", 2, 3))]
            {
                let number = base36(offset as u64);
                let cursor = format!("{way}{number}.1.0").parse().unwrap();
                let found = ask(&stored, mode, Some(cursor), 2000);
                let shown = format!("{found:?}");
                assert!(!shown.contains("QzT5s") && !shown.contains("tRi1a"), "{shown}");
            }
        }
    }
}

#[test]
fn a_key_is_hidden_from_grep_wherever_it_stands() {
    // Also where the chunk that is searched begins inside of it.
    for begin in [0, 23_825] {
        let content = with_key(begin);
        for stored in stores(&content) {
            assert_eq!(ask(&stored, find("QzT5sW2f", 2, 9), None, 5000).match_count, 0);
            let found = ask(&stored, find("after the key", 9, 9), None, 5000);
            assert_eq!(found.match_count, 1);
            assert!(!format!("{found:?}").contains("MIIE"));
        }
    }
}

#[test]
fn a_key_that_never_ends_hides_no_more_than_a_key_is_long() {
    let line = "a path /home/user/projects/delegator\n";
    let content = format!("-----BEGIN PRIVATE KEY-----\n{}", line.repeat(3000));
    let found = ask(content.as_bytes(), Mode::Tail { lines: 1 }, None, 1000);
    assert_eq!(found.content, line.trim_end());
    let found = ask(content.as_bytes(), Mode::Range { start: 2, end: 2 }, None, 1000);
    assert_eq!(found.content, "[redacted:private-key]");
}

#[test]
fn a_secret_is_not_cut_in_two() {
    let secret = token("");
    // In a long line, at every place around where it is taken apart.
    for before in [64 << 10] {
        for shift in [1, 20, 41] {
            let content = format!("{} {secret} {}", "x".repeat(before - shift), "y".repeat(210 << 10));
            for mode in [Mode::Head { lines: 1 }, Mode::Tail { lines: 1 }] {
                let shown: Vec<String> =
                    pages(content.as_bytes(), &mode, 150_000).into_iter().map(|page| page.content).collect();
                assert!(shown.iter().all(|page| !page.contains("aB3x")), "{before} - {shift}");
                assert!(shown.iter().any(|page| page.contains("[redacted:")));
            }
        }
    }
    // And in a short one, by the room.
    let content = format!("pushed with {secret} to the origin");
    for room in 16..60 {
        let pages = pages(content.as_bytes(), &Mode::Head { lines: 1 }, room);
        assert!(pages.iter().all(|page| !page.content.contains("aB3x") && !page.content.contains("ghp")));
    }
}

/// Patterns that match what is shown of a line, and its bytes only if.
const QUESTIONS: [&str; 14] = [
    "^[^q]*$",
    r"=q|=\[redacted",
    "=.{40}$",
    r"=\S{44} ",
    "a",
    "q",
    "d",
    "ghp_",
    "ghp_q|push",
    r"[a-z\[]{3}",
    r"\Apush[^q]*\z",
    "(q|c).*n$",
    "h.*d",
    "[redacted:github]+",
];

/// Patterns that look at what stands beside a match.
const LOOKS: [&str; 20] = [
    r"word=\B",
    r"word=\b",
    r"=\B",
    r"=\b",
    r"\B;x",
    r"\b;x",
    r"\b@",
    r"\B@",
    r"\bx y",
    r"then.*=\B",
    r"(=\b|zzz)",
    r"\B",
    r"=\b{start}",
    r"\b{end};",
    r"=\b{start-half}",
    r"\b{end-half}@",
    r"=$",
    r"^;",
    r#": "\b"#,
    r"(?-u:\B)@host",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn grep_cannot_tell_one_secret_from_another(
        one in "[a-zA-Z0-9]{0,9}", other in "[a-zA-Z0-9]{0,9}", which in 0usize..QUESTIONS.len(), any in "[a-zA-Z0-9=. *\\[\\]^$|-]{0,8}", asks: bool,
    ) {
        let text = if asks { QUESTIONS[which] } else { &any };
        if super::Pattern::new(text, super::Case::Ignored).is_err() {
            return Ok(());
        }
        let found = |body: &str| {
            let content = format!("first\npush x={} then\nlast\n", token(body));
            ask(content.as_bytes(), find(text, 1, 9), None, 1000).matches
        };
        prop_assert_eq!(found(&one), found(&other), "{}", text);
    }

    #[test]
    fn grep_cannot_tell_how_a_secret_begins_or_ends(
        one in "[a-zA-Z0-9*+%!-]{8,12}", other in "[a-zA-Z0-9*+%!-]{8,12}", which in 0usize..LOOKS.len(), form in 0usize..4, long: bool,
    ) {
        let line = |secret: &str| match form {
            0 => format!("then password={secret}"),
            1 => format!("password={secret};x y"),
            2 => format!("{{\"password\": \"{secret}\", \"x\": 1}}"),
            _ => format!("ftp://bob:{secret}@host x"),
        };
        let (one, other) = (format!("x1{one}9"), format!("{other}Q7"));
        let shown = |secret: &str| super::reference::shown(line(secret).as_bytes());
        prop_assume!(shown(&one) == shown(&other) && shown(&one).contains("[redacted"));
        let found = |secret: &str| {
            let before = if long { "- ".repeat(150 << 10) } else { String::new() };
            let content = format!("first\n{before}{}\nlast\n", line(secret));
            let found = ask(content.as_bytes(), find(LOOKS[which], 1, 9), None, 1000).matches;
            found.into_iter().map(|block| (block.line_number, block.match_line)).collect::<Vec<_>>()
        };
        prop_assert_eq!(found(&one), found(&other), "{}", LOOKS[which]);
    }

    #[test]
    fn no_room_and_no_place_shows_a_token(before in "[a-z \n]{0,30}", after in "[a-z \n]{0,30}", room in 0usize..80, lines in 1u64..4) {
        let content = format!("{before} {} {after}", token(""));
        for mode in [Mode::Head { lines }, Mode::Tail { lines }] {
            for page in pages(content.as_bytes(), &mode, room) {
                prop_assert!(!page.content.contains("aB3"), "{}", page.content);
            }
        }
    }
}
