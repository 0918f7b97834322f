//! Tests of reading whole recordings: long ones, and any bytes that a program may send.

use proptest::prelude::*;

use super::super::read::RecordingPart;
use super::*;
use crate::host::FilePart;
use crate::model::Timestamp;

fn reader(text: &str) -> Reader {
    of_bytes(text.as_bytes())
}

fn of_bytes(bytes: &[u8]) -> Reader {
    let stretch = FilePart::Text(bytes.to_vec());
    Reader::over("t".into(), vec![stretch], Timestamp::from_millis(0), None).unwrap()
}

const MANY: usize = 1000;

fn all_pages(reader: &Reader, part: PartSelector, form: TextForm) -> Vec<u8> {
    let (mut bytes, mut pages) = (Vec::new(), 0);
    let mut each = |page: &[u8]| {
        pages += 1;
        assert!(pages < MANY, "{part:?} {form:?} does not end");
        bytes.extend_from_slice(page);
    };
    reader.pages(part, form, &mut each).unwrap();
    bytes
}

/// Reads from cursor to cursor while there is more.
fn followed(reader: &Reader, part: PartSelector, form: TextForm) -> (String, RecordingPart) {
    let (mut text, mut part) = (String::new(), part);
    for _ in 0..MANY {
        let piece = reader.read(&PartRequest { part, form, room: 0 }).unwrap();
        text.push_str(&piece.text);
        if !piece.cut {
            return (text, piece);
        }
        part = PartSelector::From(piece.bytes.end);
    }
    panic!("{part:?} {form:?} leads on for ever");
}

fn read(reader: &Reader, part: PartSelector, form: TextForm) -> String {
    let mut bytes = Vec::new();
    reader.pages(part, form, &mut |page| bytes.extend_from_slice(page)).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_part_longer_than_a_page_is_whole() {
    let line = |number: u64| format!("line {number} of an output of usual length, 0123456789\n");
    let text: String = (1..=9000).map(line).collect();
    let reader = reader(&text);
    for form in [TextForm::Plain, TextForm::Raw] {
        for lines in [0, 1, 2000, 8999, 9000, 20_000] {
            let head: String = (1..=lines.min(9000)).map(line).collect();
            let tail: String = (9001 - lines.min(9000)..=9000).map(line).collect();
            assert!(read(&reader, PartSelector::Head(lines), form) == head, "{form:?} {lines}");
            assert!(read(&reader, PartSelector::Tail(lines), form) == tail, "{form:?} {lines}");
        }
        assert!(read(&reader, PartSelector::All, form) == text);
        let from = text.find("line 5000 ").unwrap();
        assert!(read(&reader, PartSelector::From(from as u64), form) == text[from..]);
    }
}

#[test]
fn a_tail_is_counted_as_it_is_shown() {
    // Moving up ends a line without a line feed.
    let reader = reader("a\r\nb\x1b[Ac\x1b[Ad\r\ne");
    assert_eq!(read(&reader, PartSelector::All, TextForm::Plain).lines().count(), 5);
    for (lines, text) in [(1, "e"), (2, "d\ne"), (3, "c\nd\ne")] {
        assert_eq!(read(&reader, PartSelector::Tail(lines), TextForm::Plain).replace(' ', ""), text);
    }
}

#[test]
fn a_tail_may_begin_far_from_the_end() {
    let text = "0123456789abcde\n".repeat((WORK as usize + (1 << 20)) / 16);
    let lines = text.len() as u64 / 16;
    let reader = reader(&text);
    for less in [1, 1000] {
        let tail = read(&reader, PartSelector::Tail(lines - less), TextForm::Raw);
        assert_eq!(tail.len() as u64, (lines - less) * 16);
    }
}

/// The bytes that this thread has read from files.
#[cfg(target_os = "linux")]
fn bytes_read() -> u64 {
    let told = std::fs::read_to_string("/proc/thread-self/io").unwrap();
    told.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap().parse().unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn no_page_costs_more_than_the_one_before() {
    let text = "0123456789abcde\n".repeat(1 << 18);
    let mut file = tempfile::tempfile().unwrap();
    io::Write::write_all(&mut file, text.as_bytes()).unwrap();
    let written = Timestamp::from_millis(0);
    let reader = Reader::over("t".into(), vec![FilePart::File(file)], written, None).unwrap();
    for part in [PartSelector::All, PartSelector::Head(u64::MAX), PartSelector::Tail(u64::MAX)] {
        let before = bytes_read();
        assert!(read(&reader, part, TextForm::Plain) == text);
        let read = bytes_read() - before;
        assert!(read < 6 * text.len() as u64, "{part:?}: {read}");
    }
}

#[test]
fn what_ends_inside_of_a_sequence_or_a_character_ends() {
    for rest in [&b"\xc3"[..], b"\x1b", b"\x1b[31", b"\x1b]0;make", b"\x1b(", b"\xf0\x9f\xa6", b"\xc2\x9b3"] {
        let sent = [b"one\r\nabc", rest].concat();
        let reader = of_bytes(&sent);
        for (part, text) in [
            (PartSelector::All, "one\nabc"),
            (PartSelector::Head(5), "one\nabc"),
            (PartSelector::Head(1), "one\n"),
            (PartSelector::Tail(1), "abc"),
            (PartSelector::Tail(9), "one\nabc"),
            (PartSelector::From(5), "abc"),
            (PartSelector::From(8), ""),
        ] {
            assert_eq!(all_pages(&reader, part, TextForm::Plain), text.as_bytes(), "{part:?} {rest:?}");
            let (read, last) = followed(&reader, part, TextForm::Plain);
            assert_eq!(
                (read.as_str(), last.more),
                (text, part == PartSelector::Head(1)),
                "{part:?} {rest:?}"
            );
        }
        assert_eq!(all_pages(&reader, PartSelector::All, TextForm::Raw), sent);
        assert_eq!(all_pages(&reader, PartSelector::Head(1), TextForm::Raw), b"one\r\n");
    }
}

#[test]
fn a_line_of_which_nothing_is_complete_is_the_last() {
    let piece = |lines| {
        of_bytes(b"one\ntwo\n\x1b[3")
            .read(&PartRequest { part: PartSelector::Tail(lines), form: TextForm::Plain, room: 0 })
            .unwrap()
    };
    for (lines, text) in [(1, ""), (2, "two\n"), (3, "one\ntwo\n"), (4, "one\ntwo\n")] {
        assert_eq!((piece(lines).text.as_str(), piece(lines).cut), (text, false), "{lines}");
    }
}

#[test]
fn a_live_terminal_goes_on_with_the_whole_of_what_was_not_complete() {
    let sent = "a\x1b[1mb\u{e9}c\x1b]0;t\x07d\u{1f980}e".as_bytes();
    for edge in 0..=sent.len() {
        let (before, piece) = followed(&of_bytes(&sent[..edge]), PartSelector::All, TextForm::Plain);
        let (after, _) = followed(&of_bytes(sent), PartSelector::From(piece.bytes.end), TextForm::Plain);
        assert_eq!(before + &after, "ab\u{e9}cd\u{1f980}e", "{edge}");
    }
    // A sequence that an escape interrupted is reported once.
    let (before, piece) = followed(&of_bytes(b"a\xc3\x1b"), PartSelector::All, TextForm::Plain);
    assert_eq!((before.as_str(), piece.bytes), ("a\u{fffd}", 0..2));
}

/// Anything a program may send, mostly beginnings of sequences.
fn sent() -> impl Strategy<Value = Vec<u8>> {
    let pieces = [
        "\x1b",
        "\x1b[",
        "\x1b[3",
        "1m",
        "\x1b]0;",
        "\x07",
        "\x1b\\",
        "\x1bP",
        "\x1b(",
        "\u{9b}",
        "\u{9d}",
        "\u{9c}",
        "\r",
        "\n",
        "\r\n",
        "\t",
        "\x08",
        "\x18",
        "a",
        "word ",
        "\u{e9}",
        "\u{1f980}",
        "\u{200b}",
        "\x1b[A",
        "\x1b[2K",
    ];
    let piece = prop_oneof![
        4 => prop::sample::select(pieces.to_vec()).prop_map(|piece| piece.as_bytes().to_vec()),
        1 => any::<u8>().prop_map(|byte| vec![byte]),
        1 => (0..1000usize).prop_map(|length| b"0123456789".repeat(length)),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Cut at any byte, and complete.
    #[test]
    fn whatever_was_sent_reading_it_ends(sent in sent(), edge in any::<prop::sample::Index>(), lines in 0..5u64) {
        let edge = edge.index(sent.len() + 1);
        let (live, ended) = (of_bytes(&sent[..edge]), of_bytes(&sent));
        for form in [TextForm::Plain, TextForm::Raw] {
            for reader in [&live, &ended] {
                let moment = Timestamp::from_millis(0);
                let parts = [PartSelector::All, PartSelector::Head(lines), PartSelector::Tail(lines), PartSelector::Since(moment), PartSelector::From(edge as u64)];
                for part in parts {
                    all_pages(reader, part, form);
                    followed(reader, part, form);
                }
                let pages = all_pages(reader, PartSelector::All, form);
                let (text, last) = followed(reader, PartSelector::All, form);
                prop_assert!(!last.more);
                match form {
                    TextForm::Plain => prop_assert_eq!(String::from_utf8(pages).unwrap(), text),
                    TextForm::Raw => prop_assert_eq!(pages, &sent[..reader.length as usize]),
                }
            }
            let (_, piece) = followed(&live, PartSelector::All, form);
            followed(&ended, PartSelector::From(piece.bytes.end), form);
        }
    }
}
