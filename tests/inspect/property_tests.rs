//! Tests the [checks](crate::inspect::invariants) with random files and queries.

use proptest::prelude::*;
use serde_json::json;

use crate::inspect::cursor::base36;
use crate::inspect::invariants::{self, store};
use crate::inspect::reference_answers::{ask, find, grep, pages, pattern};
use crate::inspect::{Case, Mode, Pattern};

/// Content of every kind: text, breaks, escapes, bytes that are not text.
fn contents() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        4 => "[a-c ]{0,12}".prop_map(String::into_bytes),
        3 => Just(b"\n".to_vec()),
        1 => Just(b"\r\n".to_vec()),
        1 => Just("é…\u{202e}\u{2028}".as_bytes().to_vec()),
        1 => prop::sample::select(vec!["\u{feff}", "\u{200b}", "\u{7}", "\u{7f}", "\u{9b}1m", "\u{85}", "—"])
            .prop_map(|unseen| unseen.as_bytes().to_vec()),
        1 => Just(b"\x1b[31ma\x1b[0mb".to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..6),
        1 => Just(b"\0".to_vec()),
        1 => Just(b"\rb".to_vec()),
        1 => Just(format!("ghp_{}", "aB3x".repeat(9)).into_bytes()),
        1 => "[a-z]{30,90}".prop_map(String::into_bytes),
    ];
    prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

/// Content with lines around the lengths at which they are split.
fn long_contents() -> impl Strategy<Value = Vec<u8>> {
    let length = prop_oneof![
        0usize..100,
        (64usize << 10) - 3..(64 << 10) + 3,
        (256usize << 10) - 3..(256 << 10) + 3,
        (320usize << 10) - 3..(320 << 10) + 3,
        500_000usize..600_000,
    ];
    let unit = prop_oneof![Just("abc é "), Just("x"), Just("€"), Just("a\u{1b}[1mb ")];
    let line = (length, unit, "[a-c]{0,4}").prop_map(|(length, unit, end)| {
        let mut line: Vec<u8> = unit.bytes().cycle().take(length).collect();
        line.extend(end.bytes());
        line
    });
    (prop::collection::vec(line, 1..3), any::<bool>()).prop_map(|(lines, ends)| {
        [lines.join(&b'\n'), if ends { b"\n".to_vec() } else { Vec::new() }].concat()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn following_the_cursor_shows_everything_once(
        content in contents(), packed: bool, most in 1u64..9, room in 0usize..70,
    ) {
        invariants::all_pages(&content, packed, most, room);
    }

    #[test]
    fn head_and_tail_are_the_ends(content in contents(), packed: bool, most in 0u64..9) {
        invariants::ends(&content, packed, most);
    }

    #[test]
    fn a_range_is_those_lines(content in contents(), packed: bool, start in 0u64..50, length in 0u64..50, room in 16usize..90) {
        invariants::range(&content, packed, start, start + length, room);
    }

    #[test]
    fn a_summary_counts_what_is_there(content in contents(), packed: bool) {
        invariants::summary(&content, packed);
    }

    #[test]
    fn grep_finds_what_the_reference_finds(
        content in contents(), packed: bool, text in patterns(), case in cases(), max in 1usize..5, context in 0usize..3,
    ) {
        let Ok(pattern) = Pattern::new(&text, case) else { return Err(TestCaseError::reject("no pattern")) };
        invariants::grep(&invariants::as_text_for(&text, content), packed, &pattern, case, context, max);
    }

    #[test]
    fn any_cursor_is_safe(content in contents(), packed: bool, offset: u64, line: u64, skip in skips(), way in "[fbgs]", near: bool, text in patterns()) {
        prop_assume!(Pattern::new(&text, Case::Ignored).is_ok());
        let offset = if near { offset % (content.len() as u64 + 2) } else { offset };
        let cursor = format!("{way}{}.{}.{}", base36(offset), base36(line), base36(skip));
        let mode = match way.as_str() {
            "f" => Mode::Head { lines: 3 },
            "b" => Mode::Tail { lines: 3 },
            "g" => find(&text, 1, 2),
            _ => Mode::Select { path: "$".parse().unwrap(), max_values: 3 },
        };
        invariants::cursor(&content, packed, &mode, cursor.parse().unwrap());
    }

    #[test]
    fn no_cursor_shows_a_part_of_a_secret(
        before in contents(), after in contents(), which in 0usize..PLANTED, alone: bool, packed: bool,
        at: prop::sample::Index, line: u64, skip in skips(), way in "[fbgs]", text in patterns(), path in 0usize..6, most in 1usize..30,
    ) {
        prop_assume!(Pattern::new(&text, Case::Ignored).is_ok());
        let planted = planted(which).into_bytes();
        let content = if alone { planted.clone() } else { [before, planted.clone(), after].join(&b'\n') };
        // Usually inside the secret.
        let from = content.windows(planted.len()).position(|part| part == planted).unwrap_or(0);
        let offset = (from + at.index(planted.len() + 1)) as u64;
        let cursor = format!("{way}{}.{}.{}", base36(offset), base36(line), base36(skip));
        let mode = match way.as_str() {
            "f" => Mode::Head { lines: most as u64 },
            "b" => Mode::Tail { lines: most as u64 },
            "g" => find(&text, 2, most),
            _ => {
                let path = ["$", "$.*", "$[*]", "$.*.*", "$..password", "$..b"][path];
                Mode::Select { path: path.parse().unwrap(), max_values: most }
            }
        };
        let found = ask(&store(&content, packed), mode, Some(cursor.parse().unwrap()), 400);
        let shown = format!("{found:?}");
        prop_assert!(!shown.contains("Zq") && !shown.contains("q9"), "{}", shown);
    }
}

fn cases() -> impl Strategy<Value = Case> {
    prop::sample::select(vec![Case::Kept, Case::Ignored])
}

fn skips() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), 0u64..40, any::<u64>()]
}

const PLANTED: usize = 7;

/// Secrets with the text that identifies them, all of the same few letters.
fn planted(which: usize) -> String {
    let (token, line) = (format!("ghp_{}", "Zq9x".repeat(9)), "Zq9x".repeat(16));
    let key = [
        vec!["-----BEGIN RSA PRIVATE KEY-----"],
        vec![line.as_str(); 9],
        vec!["-----END RSA PRIVATE KEY-----"],
    ]
    .concat();
    match which {
        0 => format!("x={token} ends"),
        1 => "password=Zq9Zq9Zq9".to_owned(),
        2 => "see ftp://bob:Zq9xZq9x@host/a".to_owned(),
        3 => key.join("\n"),
        4 => json!({ "password": "Zq9xZq9x", "b": [token, 1] }).to_string(),
        5 => json!({ "b": key, "c": { "b": key.join("\n") } }).to_string(),
        _ => key.iter().map(|line| json!({ "b": line }).to_string()).collect::<Vec<_>>().join("\n"),
    }
}

/// Patterns of every kind that do not depend on carriage returns inside a line.
fn patterns() -> impl Strategy<Value = String> {
    let parts = vec![
        "a",
        "b",
        "c",
        " ",
        "é",
        "ab",
        "x",
        "q9",
        "-",
        "=",
        r"\.",
        ".",
        "[a-c]",
        r"[^a\r]",
        r"\w",
        r"\S",
        r"\b",
        r"\B",
        "^",
        "$",
        "ghp_",
        "red",
        r"\[",
        r"\b{start}",
        r"\x00",
        ".*",
        "(?-u:\\b)",
    ];
    let part = prop::sample::select(parts).prop_map(str::to_owned);
    let made = part.prop_recursive(3, 12, 4, |inner| {
        let times = prop::sample::select(vec!["*", "+", "?", "{1,2}", "*?", "{0}"]);
        prop_oneof![
            3 => prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(?:{a}|{b})")),
            1 => (inner, times).prop_map(|(part, times)| format!("({part}){times}")),
        ]
    });
    prop_oneof![1 => prop::sample::select(PATTERNS.to_vec()).prop_map(str::to_owned), 3 => made]
}

const PATTERNS: [&str; 14] = [
    "a", "ab", "^a", "c$", "^$", "a.*b", r"\bab\b", "[b-c]+ a", "é", "ghp_", "redacted", "zzz", "a|^b",
    r"\x00",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3))]

    #[test]
    fn long_lines_are_shown_in_parts_that_make_them_up(content in long_contents(), packed: bool, room in 150_000usize..300_000) {
        invariants::all_pages(&content, packed, 1000, room);
    }

    #[test]
    fn grep_sees_all_of_a_long_line(content in long_contents(), packed: bool, which in 0usize..PATTERNS.len()) {
        let text = PATTERNS[which];
        let expected = grep(&content, &pattern(text), Case::Ignored);
        let pages = pages(&store(&content, packed), &find(text, 1, 2), 5000);
        let numbers: Vec<u64> = pages.iter().flat_map(|page| &page.matches).map(|block| block.line_number).collect();
        prop_assert_eq!(numbers, expected, "{}", text);
    }
}
