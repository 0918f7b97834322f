//! Tests that no query reveals a secret.

use proptest::prelude::*;

use crate::inspect::Mode;
use crate::inspect::cursor::base36;
use crate::inspect::reference_answers::{ask, find, gzip, pages};

/// Assembled here, so that a secret scanner does not report this file.
fn token(body: &str) -> String {
    format!("ghp_{body}{}", "aB3x".repeat(9))
}

/// A private key of several lines, with text before and after it.
fn with_key(begin: usize) -> String {
    let line = "MIIEpAIBAAKCAQEAx7Vn3k9QzT5sW2fJ8dLrY6mBcHpE4uGvNqXoKtRi1aZyDlSb";
    let before = "a line before the key\n".repeat(begin);
    let (begins, ends) = ("-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----");
    format!("{before}{begins}\n{}abcDEF12==\n{ends}\nafter the key\n", format!("{line}\n").repeat(25))
}

/// The same key without its first line.
fn without_begin(content: &str) -> String {
    content.split_inclusive('\n').filter(|line| !line.contains("-----BEGIN")).collect()
}

fn stores(content: &str) -> [Vec<u8>; 2] {
    [content.as_bytes().to_vec(), gzip(content.as_bytes())]
}

#[test]
fn a_window_that_begins_inside_a_private_key_does_not_show_it() {
    for content in [with_key(3), without_begin(&with_key(3))] {
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
}

#[test]
fn a_cursor_into_a_private_key_does_not_show_it() {
    for content in [with_key(0), without_begin(&with_key(0))] {
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
}

#[test]
fn a_key_is_hidden_from_grep_wherever_it_stands() {
    // Also where the chunk that is searched begins inside of it.
    for content in
        [with_key(0), with_key(23_825)].iter().flat_map(|content| [content.clone(), without_begin(content)])
    {
        for stored in stores(&content) {
            assert_eq!(ask(&stored, find("QzT5sW2f", 2, 9), None, 5000).match_count, 0);
            let found = ask(&stored, find("after the key", 9, 9), None, 5000);
            assert_eq!(found.match_count, 1);
            assert!(!format!("{found:?}").contains("MIIE"));
        }
    }
}

#[test]
fn a_marker_that_is_coloured_begins_and_ends_a_key_none_the_less() {
    let content = with_key(3).replace("KEY-", "\u{1b}[01;31m\u{1b}[KKEY\u{1b}[m\u{1b}[K-");
    for content in [without_begin(&content), content.replace("BEGIN", "BE\u{200b}GIN"), content] {
        for stored in stores(&content) {
            for mode in [
                Mode::Head { lines: 6 },
                Mode::Tail { lines: 6 },
                Mode::Range { start: 9, end: 9 },
                find("key", 3, 9),
                find("MIIE|redacted", 0, 99),
            ] {
                let shown = format!("{:?}", ask(&stored, mode, None, 10_000));
                assert!(shown.contains("[redacted:") && !shown.contains("QzT5s"), "{shown}");
            }
            assert_eq!(ask(&stored, find("QzT5sW2f", 2, 9), None, 5000).match_count, 0);
        }
    }
}

#[test]
fn a_key_that_never_ends_hides_no_more_than_a_key_is_long() {
    let line = "a path /home/user/projects/delegator\n";
    let key = "kQz7TsW1fJdLr4Ym".repeat(4);
    let content = format!("-----BEGIN PRIVATE KEY-----\n{key}\n{}", line.repeat(3000));
    let found = ask(content.as_bytes(), Mode::Tail { lines: 1 }, None, 1000);
    assert_eq!(found.content, line.trim_end());
    let found = ask(content.as_bytes(), Mode::Range { start: 2, end: 3 }, None, 1000);
    assert_eq!(found.content, "[redacted:private-key]\n[redacted:private-key]");
    // Nor does it hide anything where none begins.
    let named = format!("-----BEGIN PRIVATE KEY-----\n{}", line.repeat(9));
    let found = ask(named.as_bytes(), Mode::Range { start: 2, end: 2 }, None, 1000);
    assert_eq!(found.content, line.trim_end());
}

#[test]
fn a_secret_is_not_cut_in_two() {
    let secret = token("");
    // In a long line, at every place around where it is taken apart.
    for (before, shift) in [(64, 1), (64, 20), (64, 41), (128, 20), (192, 41), (256, 1), (256, 20), (320, 41)]
    {
        let content = format!("{} {secret} {}", "x".repeat((before << 10) - shift), "y".repeat(80 << 10));
        for mode in [Mode::Head { lines: 1 }, Mode::Tail { lines: 1 }] {
            let shown: Vec<String> =
                pages(content.as_bytes(), &mode, 150_000).into_iter().map(|page| page.content).collect();
            assert!(shown.iter().all(|page| !page.contains("aB3x")), "{before} - {shift}");
            assert!(shown.iter().any(|page| page.contains("[redacted:")));
        }
    }
    // And in a short one, by the room.
    let content = format!("pushed with {secret} to the origin");
    for room in 16..60 {
        let pages = pages(content.as_bytes(), &Mode::Head { lines: 1 }, room);
        assert!(pages.iter().all(|page| !page.content.contains("aB3x") && !page.content.contains("ghp")));
    }
}

#[test]
fn a_list_of_the_lines_of_a_key_that_lacks_its_first_is_hidden() {
    let lines = without_begin(&with_key(0));
    let lines: Vec<&str> = lines.lines().take(27).collect();
    let content = serde_json::to_string_pretty(&serde_json::json!({ "a": "of a file", "k": lines })).unwrap();
    for stored in stores(&content) {
        for mode in [
            Mode::Head { lines: 9 },
            Mode::Range { start: 7, end: 7 },
            find("MIIE", 2, 99),
            Mode::Select { path: "$.k[3]".parse().unwrap(), max_values: 9 },
            Mode::Select { path: "$.k[*]".parse().unwrap(), max_values: 9 },
        ] {
            let shown = format!("{:?}", ask(&stored, mode, None, 5000));
            assert!(!shown.contains("QzT5s"), "{shown}");
        }
        let path = "$.a".parse().unwrap();
        assert_eq!(ask(&stored, Mode::Select { path, max_values: 9 }, None, 99).content, "\"of a file\"");
    }
}

#[test]
fn escapes_of_json_hide_no_secret_from_any_mode() {
    let body = "Zq9x".repeat(9);
    let lines = [
        format!(r#"{{"a":"https:\/\/bob:{body}@host\/x"}}"#),
        format!(r#"{{"a":"x;AccountKey={body}\u002B{body}\u002B{body}==;y"}}"#),
        format!(r#"{{"a":"DB_PASSWORD\u003d{body}"}}"#),
        format!(r#"{{"a":"{{\u0022password\u0022:\u0022{body}\u0022}}"}}"#),
        format!(r#"{{"a":"{{\"u\":\"x:\\\/\\\/bob:{body}@h\"}}"}}"#),
    ];
    for line in &lines {
        let content = format!("{{}}\n{line}\n{{}}\n");
        for stored in stores(&content) {
            for mode in [
                Mode::Head { lines: 9 },
                Mode::Tail { lines: 2 },
                Mode::Range { start: 2, end: 2 },
                Mode::Select { path: "$.a".parse().unwrap(), max_values: 9 },
                find("redacted", 0, 9),
                find("a", 1, 9),
            ] {
                let shown = format!("{:?}", ask(&stored, mode, None, 2000));
                assert!(shown.contains("[redacted:") && !shown.contains("Zq9"), "{shown}");
            }
            for pattern in ["Zq9", "9x.*Zq", "x@h"] {
                assert_eq!(ask(&stored, find(pattern, 0, 9), None, 2000).match_count, 0, "{pattern}");
            }
        }
    }
}

/// Patterns that match what is shown of a line, and its bytes only if.
const QUESTIONS: [&str; 17] = [
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
    "token|q",
    "key|q.*then",
    "github|p_q",
];

/// What nobody sees, mostly nothing at all.
fn unseen() -> impl Strategy<Value = &'static str> {
    let characters = vec![
        "\u{7}",
        "\0",
        "\u{7f}",
        "\u{85}",
        "\u{200b}",
        "\u{2060}",
        "\u{202e}",
        "\u{feff}",
        "\u{9b}31m",
        "\u{1b}[1m",
        "\u{e0041}",
        "\u{61c}",
        "\u{fff9}",
    ];
    prop_oneof![Just(""), prop::sample::select(characters)]
}

/// Patterns that look at what stands beside a match.
const LOOKS: [&str; 22] = [
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
    r"token|=\B",
    r"(npm|=\b|zzz)",
];

#[test]
fn what_nobody_sees_neither_hides_a_line_nor_tells_of_a_secret() {
    for unseen in ["\u{7}", "\0", "\u{200b}", "\u{2060}", "\u{9b}31m", "\u{feff}"] {
        let line = |letter: &str| format!("x={} then", token(letter).replace("gh", &format!("gh{unseen}")));
        let content = format!("{unseen}error one\n{}\n{}\ntwo{unseen}\n", line("q"), line("w"));
        for (pattern, lines) in [
            ("^[^q]*$", &[1, 2, 3, 4][..]),
            ("redacted", &[2, 3]),
            ("^error", &[1]),
            ("two$", &[4]),
            ("p_q", &[]),
        ] {
            let found = ask(content.as_bytes(), find(pattern, 0, 9), None, 1000).matches;
            let found: Vec<u64> = found.iter().map(|block| block.line_number).collect();
            assert_eq!(found, lines, "{pattern} {unseen:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn grep_cannot_tell_one_secret_from_another(
        one in "q?[a-zA-Z0-9]{0,9}", other in "[a-zA-Z0-9]{0,9}", which in 0usize..QUESTIONS.len(), any in "[a-zA-Z0-9=. *\\[\\]^$|-]{0,8}", asks: bool,
        unseen in unseen(), at in 6usize..12,
    ) {
        let text = if asks { QUESTIONS[which] } else { &any };
        if crate::inspect::pattern::Pattern::new(text, crate::inspect::pattern::Case::Ignored).is_err() {
            return Ok(());
        }
        let found = |body: &str| {
            let mut line = format!("push x={} then", token(body));
            line.insert_str(at, unseen);
            let content = format!("first\n{line}\nlast\n");
            ask(content.as_bytes(), find(text, 1, 9), None, 1000).matches
        };
        prop_assert_eq!(found(&one), found(&other), "{}", text);
    }

    #[test]
    fn grep_cannot_tell_how_a_secret_begins_or_ends(
        one in "[a-zA-Z0-9*+%!-]{8,12}", other in "[a-zA-Z0-9*+%!-]{8,12}", which in 0usize..LOOKS.len(), form in 0usize..4, long: bool,
        unseen in unseen(),
    ) {
        let line = |secret: &str| match form {
            0 => format!("then password={secret}"),
            1 => format!("password={secret};x y"),
            2 => format!("{{\"password\": \"{secret}\", \"x\": 1}}"),
            _ => format!("ftp://bob:{secret}@host x"),
        };
        let (one, other) = (format!("x1{unseen}{one}9"), format!("{other}{unseen}Q7"));
        let shown = |secret: &str| crate::inspect::reference_answers::shown(line(secret).as_bytes());
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
