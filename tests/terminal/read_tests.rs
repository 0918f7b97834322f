//! Tests of reading a part of a recording.

use std::io::Write;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use super::super::compressed_reader::StoredRecording;
use super::super::time_index::TimeEntry;
use super::*;
use crate::host::Size;

fn reader(file: File, times: Option<File>) -> Reader {
    let bytes = StoredRecording::Plain(file).open(Path::new("/nowhere")).unwrap();
    Reader::new("term-0a1b2c3d4e5f".into(), bytes, times)
}

/// A recording whose pieces arrived one second apart.
fn source(pieces: &[&str]) -> Reader {
    let (mut file, mut times) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
    let (mut offset, mut lines) = (0, 0);
    for (second, piece) in (1..).zip(pieces) {
        let entry = TimeEntry { at: Timestamp::from_millis(second * 1000), offset, lines, size: Size::USUAL };
        times.write_all(&entry.encode()).unwrap();
        file.write_all(piece.as_bytes()).unwrap();
        offset += piece.len() as u64;
        lines += piece.matches('\n').count() as u64;
    }
    file.set_modified(UNIX_EPOCH + Duration::from_secs(pieces.len() as u64)).unwrap();
    reader(file, Some(times))
}

fn ask(part: PartSelector) -> PartRequest {
    PartRequest { part, form: TextForm::Plain, room: LEAST_ROOM }
}

#[track_caller]
fn check(source: &Reader, part: PartSelector, text: &str, lines: (u64, u64), cut: bool) -> RecordingPart {
    let piece = source.read(&ask(part)).unwrap();
    assert_eq!(
        (piece.text.as_str(), (piece.start_line, piece.end_line), piece.cut),
        (text, lines, cut),
        "{part:?}"
    );
    piece
}

#[test]
fn a_part_is_so_many_lines_with_their_numbers() {
    let source = source(&["one\r\n", "\x1b[32mtwo\x1b[0m\r\n", "three\r\n$ "]);
    check(&source, PartSelector::Head(2), "one\ntwo\n", (1, 2), false);
    check(&source, PartSelector::Tail(2), "three\n$ ", (3, 4), false);
    check(&source, PartSelector::Tail(99), "one\ntwo\nthree\n$ ", (1, 4), false);
    check(&source, PartSelector::Tail(0), "", (0, 0), false);
    let all = check(&source, PartSelector::All, "one\ntwo\nthree\n$ ", (1, 4), false);
    assert_eq!((all.total_lines, all.bytes), (4, 0..source.length));
    check(&source, PartSelector::Since(Timestamp::from_millis(2000)), "two\nthree\n$ ", (2, 4), false);
    check(&source, PartSelector::Since(Timestamp::from_millis(9000)), "", (0, 0), false);
    check(&source, PartSelector::From(5), "two\nthree\n$ ", (2, 4), false);
    check(&source, PartSelector::From(999), "", (0, 0), false);
}

#[test]
fn nothing_recorded_is_nothing_to_read() {
    for part in [
        PartSelector::Head(5),
        PartSelector::Tail(5),
        PartSelector::All,
        PartSelector::Since(Timestamp::from_millis(0)),
        PartSelector::From(7),
    ] {
        check(&source(&[]), part, "", (0, 0), false);
    }
}

#[test]
fn the_line_that_was_being_written_then_comes_whole() {
    let source = source(&["$ ", "ls\r\n", "file\r\n"]);
    check(&source, PartSelector::Since(Timestamp::from_millis(2000)), "$ ls\nfile\n", (1, 2), false);
}

/// Reads all parts, each from the cursor of the previous one.
fn parts(source: &Reader, form: TextForm) -> Vec<RecordingPart> {
    let mut parts: Vec<RecordingPart> = Vec::new();
    loop {
        let part = parts.last().map_or(PartSelector::All, |last| PartSelector::From(last.bytes.end));
        let piece = source.read(&PartRequest { form, ..ask(part) }).unwrap();
        assert!(json_length(&piece.text) <= LEAST_ROOM && (!piece.bytes.is_empty() || !piece.cut));
        let cut = piece.cut;
        parts.push(piece);
        if !cut {
            return parts;
        }
    }
}

#[test]
fn what_does_not_fit_is_read_on_from_where_the_last_part_ended() {
    let long: Vec<String> = (0..3000).map(|number| format!("\x1b[1mline {number}\x1b[m\r\n")).collect();
    let endless = format!("{}\r\n", "0123456789é".repeat(5000));
    let whole: String = long.concat() + &endless;
    let source = source(&[&whole]);
    for form in [TextForm::Plain, TextForm::Raw] {
        let parts = parts(&source, form);
        assert!(parts.len() > 5);
        let read: String = parts.iter().map(|part| part.text.as_str()).collect();
        let expected = match form {
            TextForm::Raw => whole.clone(),
            TextForm::Plain => whole.replace("\x1b[1m", "").replace("\x1b[m", "").replace('\r', ""),
        };
        assert_eq!(read, expected);
        assert_eq!(parts.last().unwrap().end_line, 3001);
    }
    let tail = source.read(&ask(PartSelector::Tail(100))).unwrap();
    assert!(tail.cut && tail.text.ends_with("0123456789é\n") && json_length(&tail.text) > 1000);
}

#[test]
fn a_bar_of_many_megabytes_is_one_line() {
    let bar: String =
        (0..200_000).map(|step| format!("step {step:06} of 200000 {}\r", "#".repeat(40))).collect();
    let source = source(&["begin\r\n", &bar, "\x1b[Kdone\r\n"]);
    assert!(source.length > WORK);
    let tail = source.read(&ask(PartSelector::Tail(1))).unwrap();
    assert_eq!(tail.text, "done\n");
    let parts = parts(&source, TextForm::Plain);
    let text: String = parts.iter().map(|part| part.text.as_str()).collect();
    assert!(text.len() < 500 && text.starts_with("begin\nstep") && text.ends_with("done\n"), "{text}");
}

#[test]
fn a_sequence_that_never_ends_does_not_stop_the_reader() {
    let hidden = format!("a\x1b]0;{}", "x".repeat((8 << 20) + 100));
    let source = source(&[&hidden, "\x07b\r\n"]);
    let parts = parts(&source, TextForm::Plain);
    // Only so much of a sequence is skipped; the rest of it counts as text.
    assert_eq!((parts.len(), parts[0].text.as_str(), parts[1].text.as_str()), (3, "a", ""));
    assert!(parts[2].text.ends_with("xb\n") && parts[2].text.len() < 200, "{}", parts[2].text);
}

#[test]
fn a_secret_that_an_edge_cuts_in_two_is_told_by_neither_half() {
    let key: String = "MIIEpAIBAAKCAQEA7Bq9ZkT3mXw5Rc1VnY8dLf2Gs6Hj4Ep0UoKx7iQ2bWz8Nt5M\r\n".repeat(20);
    let armoured = format!("-----BEGIN RSA PRIVATE KEY-----\r\n{key}-----END RSA PRIVATE KEY-----\r\n");
    let source = source(&["before\r\n", &armoured, "after\r\n"]);
    for lines in 1..24 {
        for part in [PartSelector::Head(lines), PartSelector::Tail(lines)] {
            let text = source.read(&ask(part)).unwrap().text;
            assert!(!text.contains("MIIEpAIBAAKC"), "{part:?}: {text}");
        }
    }
    for offset in (0..source.length - 8).step_by(5) {
        let text = source.read(&ask(PartSelector::From(offset))).unwrap().text;
        assert!(!text.contains("MIIEpAIBAAKC") && text.ends_with("after\n"), "{offset}: {text}");
    }
}

#[test]
fn a_key_marker_alone_hides_nothing_else_and_a_long_key_is_hidden_all_through() {
    let begin = "-----BEGIN RSA PRIVATE KEY-----\r\n";
    let lone = source(&[begin, "$ cargo test\r\n", "12 passed\r\n"]);
    check(&lone, PartSelector::All, "[redacted:private-key]\n$ cargo test\n12 passed\n", (1, 3), false);
    check(&lone, PartSelector::Tail(2), "$ cargo test\n12 passed\n", (2, 3), false);
    let key: String = "MIIEpAIBAAKCAQEA7Bq9ZkT3mXw5Rc1VnY8dLf2Gs6Hj4Ep0UoKx7iQ2bWz8Nt5M\r\n".repeat(700);
    let long = source(&["before\r\n", begin, &key, "-----END RSA PRIVATE KEY-----\r\n", "after\r\n"]);
    assert!(long.length > 40_000);
    for offset in (0..long.length).step_by(997) {
        let text = long.read(&ask(PartSelector::From(offset))).unwrap().text;
        assert!(!text.contains("MIIEpAIBAAKC"), "{offset}: {text}");
    }
}

#[test]
fn without_an_index_everything_but_moments_is_known() {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(b"one\ntwo\n").unwrap();
    let bare = reader(file, None);
    check(&bare, PartSelector::Tail(1), "two\n", (2, 2), false);
    check(&bare, PartSelector::Since(Timestamp::from_millis(9000)), "one\ntwo\n", (1, 2), false);
    check(&bare, PartSelector::Since(Timestamp::from_millis(1 << 50)), "", (0, 0), false);
}
