//! Tests that an index, or a file in pieces, changes no answer.

use std::fs::File;
use std::io::Write;

use super::*;
use crate::host::FilePart;
use crate::host::line_index::{LineIndexWriter, sidecar_path};
use crate::inspect::reference_answers::{self, find};

/// Numbered lines, and their index as it is written while they come.
fn indexed(lines: usize) -> (tempfile::TempDir, File, LineIndex) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("stdout.log");
    let mut writer = LineIndexWriter::new(&path);
    let mut content = Vec::new();
    for number in 1..=lines {
        let line = format!("line {number} {}\n", "x".repeat(number % 90));
        writer.add(line.len() as u64, 1);
        content.extend_from_slice(line.as_bytes());
    }
    File::create(&path).unwrap().write_all(&content).unwrap();
    let index = LineIndex::read(File::open(sidecar_path(&path)).unwrap());
    (dir, File::open(path).unwrap(), index)
}

fn answer(file: &File, index: Option<&LineIndex>, mode: &Mode) -> Found {
    let ask = Ask { mode: mode.clone(), cursor: None, room: 1 << 20 };
    let file = MultiFileReader::whole(file.try_clone().unwrap()).unwrap();
    Source::new(file, index, Wanted::always()).unwrap().answer(&ask).unwrap()
}

#[test]
fn an_index_changes_no_answer() {
    const LINES: u64 = 300_000;
    let (_dir, file, index) = indexed(LINES as usize);
    for mode in [
        Mode::Tail { lines: 3 },
        Mode::Range { start: 149_990, end: 149_995 },
        Mode::Range { start: LINES + 1, end: LINES + 2 },
        find("line 299999 ", 1, 3),
        find("00 ", 1, 900),
        find("000 x*$", 0, 900),
    ] {
        let (with, without) = (answer(&file, Some(&index), &mode), answer(&file, None, &mode));
        assert_eq!(with.total_lines, Some(LINES), "{mode:?}");
        assert_eq!((&with.content, &with.matches), (&without.content, &without.matches), "{mode:?}");
        let offset = |found: &Found| found.next.map(|next| next.offset);
        assert_eq!(offset(&with), offset(&without), "{mode:?}");
    }
    let found = answer(&file, Some(&index), &find("000 x*$", 0, 900));
    let numbers: Vec<u64> = found.matches.iter().map(|block| block.line_number).collect();
    assert_eq!(numbers, (1000..=LINES).step_by(1000).collect::<Vec<u64>>());
}

#[test]
fn a_cursor_of_another_question_is_refused() {
    for (mode, cursor) in [
        (Mode::Summary, "f0.1.0"),
        (Mode::Head { lines: 1 }, "b0.1.0"),
        (Mode::Range { start: 2, end: 2 }, "f0.1.0"),
        (Mode::Range { start: 1, end: 1 }, "f2.2.0"),
    ] {
        let ask = Ask { mode, cursor: Some(cursor.parse().unwrap()), room: 100 };
        let file = MultiFileReader::whole(reference_answers::file(b"a\nb\n")).unwrap();
        let answer = Source::new(file, None, Wanted::always()).unwrap().answer(&ask);
        assert!(matches!(answer, Err(InspectError::WrongCursor)), "{ask:?}");
    }
}

#[test]
fn a_file_in_pieces_is_one_file() {
    let (dir, file, index) = indexed(300_000);
    let bytes = std::fs::read(dir.path().join("stdout.log")).unwrap();
    let head = 9_000_001;
    let pieces = || {
        let file = file.try_clone().unwrap();
        let mut end = tempfile::tempfile().unwrap();
        end.write_all(&bytes[head + 5..]).unwrap();
        let between = FilePart::Text(bytes[head..head + 5].to_vec());
        MultiFileReader::of(vec![
            FilePart::Beginning { file, length: head as u64 },
            between,
            FilePart::File(end),
        ])
    };
    let known = index.clone().within(head as u64);
    for mode in [
        Mode::Head { lines: 3 },
        Mode::Tail { lines: 3 },
        Mode::Range { start: 299_990, end: 300_000 },
        Mode::Summary,
        find("line 299999 ", 1, 3),
        find("000 x*$", 0, 900),
    ] {
        let ask = Ask { mode, cursor: None, room: 1 << 20 };
        let source = Source::new(pieces().unwrap(), Some(&known), Wanted::always()).unwrap();
        assert_eq!(source.answer(&ask).unwrap(), answer(&file, Some(&index), &ask.mode));
    }
}

#[test]
fn an_index_that_lies_costs_numbers_and_nothing_else() {
    let (_dir, file, _) = indexed(100_000);
    let lie: Vec<u8> = (1..200_u64)
        .flat_map(|entry| [entry * 40_000, entry * 39_999].map(u64::to_le_bytes).concat())
        .collect();
    let index = LineIndex::read(&lie[..]);
    for mode in [Mode::Tail { lines: 3 }, Mode::Range { start: 99_999, end: 100_000 }, find("00 ", 1, 900)] {
        answer(&file, Some(&index), &mode);
    }
}
