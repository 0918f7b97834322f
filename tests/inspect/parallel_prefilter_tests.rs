//! Tests of searching long files by several threads, in files of many megabytes.

use memchr::memchr_iter;

use super::*;
use crate::inspect::reference_answers::{ask, file, find, pattern};

fn count(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}

/// Lines of ever other lengths, some of which match.
fn content(bytes: usize, every: usize) -> Vec<u8> {
    let mut content = Vec::new();
    let mut seed = 1_u64;
    for number in 1.. {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let long = if seed >> 40 & 0xfff == 0 { 300_000 } else { (seed >> 33) as usize % 200 };
        content.extend(std::iter::repeat_n(b'.', long));
        content.extend(if number % every == 0 { &b"needle\n"[..] } else { b"\n" });
        if content.len() > bytes {
            break;
        }
    }
    content
}

#[test]
fn all_lines_that_match_are_told_of_and_no_others() {
    for every in [2, 4_000, 1_000_000] {
        let content = content(4 << 20, every);
        let end = content.len() as u64;
        let file = MultiFileReader::whole(file(&content)).unwrap();
        for breaks in [Breaks::All, Breaks::OfMatches] {
            let verdicts: Vec<Verdict> =
                look_ahead(&file, &pattern("needle"), 0..end, breaks, |verdicts| verdicts.collect());
            assert_eq!(verdicts.len() as u64, end.div_ceil(BLOCK));
            // Where there are few of them, only a very long line keeps one from being told.
            let told = verdicts.iter().filter(|verdict| verdict.told.is_some()).count();
            assert!(every == 2 || told * 2 > verdicts.len(), "{told} of {}", verdicts.len());
            for verdict in verdicts {
                check(&content, &verdict, breaks);
            }
        }
    }
}

#[track_caller]
fn check(content: &[u8], Verdict { bytes, breaks, told }: &Verdict, counted: Breaks) {
    let Some(Told { lines, next }) = told else { return };
    let range = bytes.start as usize..bytes.end as usize;
    let is_counted = counted == Breaks::All || !lines.is_empty();
    assert_eq!(*breaks, is_counted.then(|| count(&content[range.clone()])));
    let is_start = |at: usize| at == 0 || content[at - 1] == b'\n';
    let mut at = range.clone().find(|at| is_start(*at)).unwrap();
    assert!(is_start(*next as usize) && *next >= bytes.end);
    for line in lines {
        let (start, end) = (line.bytes.start as usize, line.bytes.end as usize);
        assert!(is_start(start) && content[start..end].ends_with(b"needle\n"));
        assert_eq!(line.breaks, count(&content[range.start..start]));
        assert!(memchr::memmem::find(&content[at..start], b"needle").is_none());
        at = end;
    }
    assert!(memchr::memmem::find(&content[at..*next as usize], b"needle").is_none());
}

#[test]
fn a_long_file_is_searched_as_if_alone() {
    let content = content(20 << 20, 50_000);
    let expected: Vec<u64> = (1..)
        .zip(content.split(|c| *c == b'\n'))
        .filter(|(_, line)| line.ends_with(b"needle"))
        .map(|(number, _)| number)
        .collect();
    let found = ask(&content, find("needle", 1, 1000), None, 1 << 20);
    let numbers: Vec<u64> = found.matches.iter().map(|block| block.line_number).collect();
    assert_eq!(numbers, expected);
    assert_eq!(found.total_lines, Some(memchr_iter(b'\n', &content).count() as u64));
}

#[test]
fn lines_that_others_read_are_shown_as_if_read_alone() {
    // With lines around a match, its bytes are read again.
    let mut content = String::new();
    for number in 0..60_000 {
        let long = ".".repeat(number % 97);
        content += &match number % 2000 {
            3 => format!("{long} needle\n"),
            4 => "curl -X POST \\\n".to_owned(),
            5 => format!("  -u bob:hunter2needle{number} {long}\n"),
            6 => format!("{} needle\r\n", ".".repeat(3000)),
            _ => format!("{number} {long}\n"),
        };
    }
    let shown = |context| {
        let found = ask(content.as_bytes(), find("needle", context, 1000), None, 1 << 20);
        found.matches.into_iter().map(|block| (block.line_number, block.match_line)).collect::<Vec<_>>()
    };
    let alone = shown(1);
    assert_eq!(shown(0), alone);
    assert_eq!(alone.len(), 60);
    assert!(alone.iter().all(|(_, line)| !line.contains("hunter2")), "{alone:?}");
}

#[test]
fn coloured_lines_are_told_apart_by_what_is_shown_of_them() {
    // More blocks than are looked at ahead, each with more lines than are collected at once.
    const LINES: usize = 240_000;
    let line = |number: usize| match number % 1000 {
        7 => "\u{1b}[31mnee\u{1b}[0mdle\u{1b}[0m\n".to_owned(),
        8 => "\u{1b}]0;needle\u{7}title\n".to_owned(),
        _ => format!("\u{1b}[32m{number}\u{1b}[0m ok\n"),
    };
    let content: String = (0..LINES).map(line).collect();
    let found = ask(content.as_bytes(), find("needle", 0, 1000), None, 1 << 20);
    let numbers: Vec<u64> = found.matches.iter().map(|block| block.line_number).collect();
    assert_eq!(numbers, (8..=LINES as u64).step_by(1000).collect::<Vec<u64>>());
    assert!(found.matches.iter().all(|block| block.match_line == "needle"));
}

#[test]
fn what_is_hidden_is_found_as_it_is_shown_wherever_blocks_end() {
    let line = b"................................................................\n";
    let key = [
        "-----BEGIN RSA PRIVATE KEY-----\n".to_owned(),
        format!("{}\n", "MIIEpAIBAAKCAQEAx7Vn3k9QzT5sW2fJ8dLrY6mB".repeat(2)).repeat(20),
        "-----END RSA PRIVATE KEY-----\n".to_owned(),
    ];
    let key = key.concat();
    let (_, rest) = key.split_once('\n').unwrap();
    // With its beginning in one block, and its lines in the next; or with
    // its lines in one, and its end in the next.
    for begins in [1 << 20, 4 << 20, (6 << 20) + 40, (9 << 20) - 100, (9 << 20) - 1640] {
        for (key, hidden) in [(key.as_str(), 21), (rest, 20)] {
            let mut content = line.repeat(begins / line.len());
            content.extend_from_slice(key.as_bytes());
            content.extend(line.repeat((20 << 20) / line.len()));
            let first = begins as u64 / line.len() as u64 + 1;
            let found = ask(&content, find(r"private-key\]$", 0, 1000), None, 1 << 20);
            let numbers: Vec<u64> = found.matches.iter().map(|block| block.line_number).collect();
            assert_eq!(numbers, (first..first + hidden).collect::<Vec<u64>>(), "{begins}");
        }
    }
}
