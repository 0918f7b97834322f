//! Tests of the summary of a long file.

use super::*;
use crate::inspect::Mode;
use crate::inspect::reference_answers::{ask, gzip};

fn summary(stored: &[u8]) -> Summary {
    *ask(stored, Mode::Summary, None, 1000).summary.unwrap()
}

#[test]
fn a_log_is_told_in_figures() {
    let content = "2026-01-02T03:04:05Z INFO took 5 ms\n2026-01-02T03:04:06Z INFO took 6 ms\n\
        2026-01-02T03:04:07Z ERROR token=ghp_aB3xaB3xaB3xaB3xaB3xaB3xaB3xaB3xaB3x\n2026-01-02T03:04:08Z WARN x\n";
    for stored in [content.as_bytes().to_vec(), gzip(content.as_bytes())] {
        let found = summary(&stored);
        assert_eq!((found.lines, found.bytes), (4, content.len() as u64));
        assert_eq!(found.longest_line, Some(Longest { line: 3, bytes: 73 }));
        assert_eq!((found.error_lines, found.warning_lines), (1, 1));
        assert_eq!(found.first_timestamp.as_deref(), Some("2026-01-02T03:04:05Z"));
        assert_eq!(found.last_timestamp.as_deref(), Some("2026-01-02T03:04:08Z"));
        let line = "2026-01-02T03:04:05Z INFO took 5 ms".to_owned();
        assert_eq!(
            found.repeated,
            [RepeatedLine { line, line_number: 1, is_cut: false, count: 2, is_exact: true }]
        );
        assert_eq!(found.json, None);
    }
}

#[test]
fn json_is_told_by_its_shape() {
    let found = summary(b"{\"a\": [1, 2],\n \"b\": {\"c\": null}}\n").json.unwrap();
    assert_eq!((found.shape.as_str(), found.documents), ("{a: [2 \u{d7} number], b: {c: null}}", 1));
    let lines = b"{\"id\":1}\n{\"id\":2,\"t\":\"x\"}\nspoiled\n\n{\"id\":3";
    let found = summary(lines).json.unwrap();
    assert_eq!(found.shape, "{id: number, t?: string}");
    assert_eq!((found.documents, found.spoiled_lines), (2, 2));
}

#[test]
fn a_repeated_line_is_shown_without_its_secret() {
    let found = summary("login ghp_aB3xaB3xaB3xaB3xaB3xaB3xaB3xaB3xaB3x\n".repeat(2).as_bytes());
    assert_eq!(found.repeated[0].line, "login [redacted:github]");
}

#[test]
fn a_private_key_that_is_printed_twice_is_no_repeated_line() {
    let line =
        |n: u8| format!("{}IEpAIBAAKCAQEAx/Vn+kQzTsWfJdLrYmBcHpEuGvNqXoKtRiaZyDlSb", char::from(b'A' + n));
    let lines: Vec<String> = (0..25).map(line).collect();
    let key = format!(
        "-----BEGIN RSA PRIVATE KEY-----\n{}\nabcDEFabcDEFabcDEF==\n-----END RSA PRIVATE KEY-----\n",
        lines.join("\n")
    );
    let listed = serde_json::json!([key.lines().collect::<Vec<_>>(), key.lines().collect::<Vec<_>>()]);
    for content in [format!("{key}a word\n{key}a word\n"), format!("{listed:#}")] {
        for stored in [content.as_bytes().to_vec(), gzip(content.as_bytes())] {
            let found = summary(&stored);
            let shown = format!("{:?}", found.repeated);
            assert!(!shown.contains("IEpA") && !shown.contains("abcDEF"), "{shown}");
            assert!(!shown.contains("redacted") && !found.repeated.is_empty(), "{shown}");
        }
    }
}

#[test]
fn a_repeated_line_is_redacted_before_it_is_cut() {
    let token = format!("npm_{}", "a7Bq9ZkT3mXw".repeat(3));
    for colours in 0..60 {
        let line =
            format!("{}{} login {token} ends\n", "\u{1b}[31m".repeat(colours), "─".repeat(colours / 2));
        let found = summary(line.repeat(2).as_bytes());
        assert!(!found.repeated[0].line.contains("Bq9"), "{colours}: {}", found.repeated[0].line);
        let line = format!("{} ftp://bob:hunter2x@host\n", "\u{1b}[31mx".repeat(colours));
        let found = summary(line.repeat(2).as_bytes());
        assert!(!found.repeated[0].line.contains("hunt"), "{colours}: {}", found.repeated[0].line);
    }
}

#[test]
fn what_is_cut_is_said_to_be() {
    let line = |length: usize| format!("once\n{0}\n{0}\n", "x".repeat(length));
    for (content, is_cut) in
        [(line(160), false), (line(161), true), (line(300 << 10), true), ("…\n…\n".to_owned(), false)]
    {
        let found = ask(content.as_bytes(), Mode::Summary, None, 1000);
        assert_eq!(found.cut, is_cut, "{} bytes", content.len());
        let summary = found.summary.unwrap();
        assert_eq!(summary.repeated[0].is_cut, is_cut);
        assert_eq!(summary.repeated[0].line_number, if content.starts_with("once") { 2 } else { 1 });
    }
    let members: Vec<String> = (0..400).map(|number| format!("\"a_name_{number}\": 1")).collect();
    let json = summary(format!("{{{}}}", members.join(",")).as_bytes()).json.unwrap();
    assert_eq!(json.is_cut, json.shape.ends_with('…'));
}

/// What is compressed is counted by one processor.
#[test]
fn several_processors_count_as_one_does() {
    for ends in ["\n", "", "no break"] {
        let mut content = Vec::new();
        let mut seed = 1_u64;
        while content.len() < 5 << 20 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let some = seed >> 33;
            let long = if some.is_multiple_of(1_000) { 300_000 } else { some as usize % 90 };
            let level = ["ERROR", "WARN", "0 errors", "INFO", "E1116 05:00:01.123456", ""][some as usize % 6];
            content.extend(format!("2026-01-02T03:04:{:02}Z {level} {some} ", some % 60).bytes());
            content.extend(std::iter::repeat_n(b'.', long));
            content.extend(if some.is_multiple_of(7) { &b"\r\n"[..] } else { b"\n\n" });
        }
        content.extend(ends.bytes());
        let (several, one) = (summary(&content), summary(&gzip(&content)));
        assert_eq!(several, one);
        assert!(several.error_lines > 1_000 && several.longest_line.unwrap().bytes > 300_000);
    }
}

#[test]
fn an_empty_file_has_a_summary() {
    let found = summary(b"");
    assert_eq!((found.lines, found.bytes, found.longest_line), (0, 0, None));
}
