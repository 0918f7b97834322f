//! Whatever the file and whatever is asked, the answers are those of the
//! [reference](super::reference).

use proptest::prelude::*;
use serde_json::json;

use super::cursor::base36;
use super::reference::{added, ask, find, grep, grep_as_shown, gzip, lines, pages, shown};
use super::{Case, Found, Mode, Pattern};

/// Content of every sort: text, breaks, escapes, bytes that are no text.
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

/// A content with lines around the lengths at which they are taken apart.
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

fn store(content: &[u8], packed: bool) -> Vec<u8> {
    if packed { gzip(content) } else { content.to_vec() }
}

fn all_shown(content: &[u8]) -> Vec<String> {
    lines(content).into_iter().map(shown).collect()
}

/// Puts pages together, in the order of the file.
fn joined<'a>(pages: impl Iterator<Item = &'a Found>) -> String {
    let mut whole = String::new();
    for (content, ends) in pages.filter(|page| page.start_line.is_some()).map(added) {
        whole += &content;
        whole += if ends { "\n" } else { "" };
    }
    whole
}

fn with_breaks(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn check_pages(content: &[u8], packed: bool, most: u64, room: usize) -> Result<(), TestCaseError> {
    let stored = store(content, packed);
    let whole = with_breaks(&all_shown(content));
    let forward = pages(&stored, &Mode::Head { lines: most }, room);
    prop_assert_eq!(joined(forward.iter()), whole.clone());
    let back = pages(&stored, &Mode::Tail { lines: most }, room);
    prop_assert_eq!(joined(back.iter().rev()), whole);
    let mut line = 1;
    for page in &forward {
        prop_assert!(page.content.chars().count() <= room.max(16));
        if page.start_line.is_some() {
            prop_assert_eq!(page.start_line, Some(line));
            let goes_on = page.partial_line.is_some_and(|line| line.goes_on);
            line = page.end_line.unwrap() + u64::from(!goes_on);
        }
    }
    for page in back.iter().filter(|page| page.start_line.is_some()) {
        prop_assert!(page.content.chars().count() <= room.max(16));
        let lines = page.content.matches('\n').count() as u64;
        prop_assert_eq!(page.end_line.unwrap() - page.start_line.unwrap(), lines);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn following_the_cursor_shows_everything_once(
        content in contents(), packed: bool, most in 1u64..9, room in 0usize..70,
    ) {
        check_pages(&content, packed, most, room)?;
    }

    #[test]
    fn head_and_tail_are_the_ends(content in contents(), packed: bool, most in 0u64..9) {
        let stored = store(&content, packed);
        let all = all_shown(&content);
        let most_lines = (most as usize).min(all.len());
        let head = ask(&stored, Mode::Head { lines: most }, None, 1 << 20);
        prop_assert_eq!(&head.content, &all[..most_lines].join("\n"));
        let tail = ask(&stored, Mode::Tail { lines: most }, None, 1 << 20);
        prop_assert_eq!(&tail.content, &all[all.len() - most_lines..].join("\n"));
        prop_assert_eq!(tail.total_lines, Some(all.len() as u64));
        prop_assert_eq!(tail.total_bytes, Some(content.len() as u64));
        prop_assert_eq!(tail.stored_bytes, stored.len() as u64);
        if most_lines > 0 {
            prop_assert_eq!(tail.start_line, Some((all.len() - most_lines) as u64 + 1));
            prop_assert_eq!((tail.end_line, head.start_line), (Some(all.len() as u64), Some(1)));
        }
    }

    #[test]
    fn a_range_is_those_lines(content in contents(), packed: bool, start in 0u64..50, length in 0u64..50, room in 16usize..90) {
        let end = start + length;
        let all = all_shown(&content);
        let (from, upto) = ((start.max(1) as usize - 1).min(all.len()), (end as usize).min(all.len()));
        let pages = pages(&store(&content, packed), &Mode::Range { start, end }, room);
        let expected = if from < upto { with_breaks(&all[from..upto]) } else { String::new() };
        prop_assert_eq!(joined(pages.iter()), expected);
    }

    #[test]
    fn grep_finds_what_the_reference_finds(
        content in contents(), packed: bool, text in patterns(), max in 1usize..5, context in 0usize..3,
    ) {
        prop_assume!(Pattern::new(&text, Case::Ignored).is_ok());
        // Where words end beside what is no text is seen in several ways.
        let is_text = !text.contains(r"\b") && !text.contains(r"\B");
        let content = if is_text { content } else { String::from_utf8_lossy(&content).into_owned().into_bytes() };
        let expected = grep(&content, &text);
        let pages = pages(&store(&content, packed), &find(&text, context, max), 500);
        let blocks: Vec<_> = pages.iter().flat_map(|page| &page.matches).collect();
        let numbers: Vec<u64> = blocks.iter().map(|block| block.line_number).collect();
        if pages.len() == 1 {
            prop_assert_eq!(&numbers, &expected, "{}", text);
        }
        // Who begins in the middle may be near a private key and looks at more lines as they are shown.
        let most = grep_as_shown(&content, &text);
        prop_assert!(numbers.is_sorted_by(|a, b| a < b), "{}: {:?}", text, numbers);
        prop_assert!(expected.iter().all(|number| numbers.contains(number)), "{}: {:?} {:?}", text, numbers, expected);
        prop_assert!(numbers.iter().all(|number| most.contains(number)), "{}: {:?} {:?}", text, numbers, most);
        let all = all_shown(&content);
        for block in blocks {
            let at = block.line_number as usize - 1;
            if block.line_bytes.is_none() {
                prop_assert_eq!(&block.match_line, &all[at]);
            }
            let before = at - block.context_before.len();
            let after = at + 1 + block.context_after.len();
            prop_assert!(after <= all.len() && block.context_before.len() <= context);
            let same = |shown: &String, line: &String| is_line(shown, line);
            prop_assert!(block.context_before.iter().zip(&all[before..at]).all(|(a, b)| same(a, b)));
            prop_assert!(block.context_after.iter().zip(&all[at + 1..after]).all(|(a, b)| same(a, b)));
        }
        prop_assert!(pages.iter().all(|page| page.matches.len() <= max));
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
        let found = ask(&store(&content, packed), mode, Some(cursor.parse().unwrap()), 40);
        let all = all_shown(&content);
        if way == "g" {
            prop_assert!(found.total_lines.is_none_or(|total| total == all.len() as u64));
        }
        let whole = all.join("\n");
        // Values are not shown as their lines are.
        let is_shown = if way == "s" { !found.content.contains("aB3") } else { whole.contains(&added(&found).0) };
        prop_assert!(is_shown, "{:?} of {:?}", found.content, whole);
        for block in &found.matches {
            let shown = block.context_before.iter().chain([&block.match_line]).chain(&block.context_after);
            for shown in shown {
                prop_assert!(all.iter().any(|line| is_line(shown, line)), "{:?} of {:?}", shown, all);
            }
        }
    }

    #[test]
    fn no_cursor_shows_a_part_of_a_secret(
        before in contents(), after in contents(), which in 0usize..PLANTED, alone: bool, packed: bool,
        at: prop::sample::Index, line: u64, skip in skips(), way in "[fbgs]", text in patterns(), path in 0usize..6, most in 1usize..30,
    ) {
        prop_assume!(Pattern::new(&text, Case::Ignored).is_ok());
        let planted = planted(which).into_bytes();
        let content = if alone { planted.clone() } else { [before, planted.clone(), after].join(&b'\n') };
        // Into the secret, as a rule.
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

/// What was shown of a line, with `…` where it was cut.
fn is_line(shown: &str, line: &str) -> bool {
    let part = shown.strip_prefix('…').unwrap_or(shown);
    let part = part.strip_suffix('…').unwrap_or(part);
    shown == line || shown != part && line.contains(part)
}

fn skips() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), 0u64..40, any::<u64>()]
}

const PLANTED: usize = 7;

/// Secrets with what tells them, all of the same few letters.
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

/// Patterns of every sort, as far as it is the same for them whether a carriage
/// return is in a line or not.
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
        check_pages(&content, packed, 1000, room)?;
    }

    #[test]
    fn grep_sees_all_of_a_long_line(content in long_contents(), packed: bool, which in 0usize..PATTERNS.len()) {
        let text = PATTERNS[which];
        let expected = grep(&content, text);
        let pages = pages(&store(&content, packed), &find(text, 1, 2), 5000);
        let numbers: Vec<u64> = pages.iter().flat_map(|page| &page.matches).map(|block| block.line_number).collect();
        prop_assert_eq!(numbers, expected, "{}", text);
    }
}
