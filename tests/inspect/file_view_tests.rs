//! Tests of reading plain, compressed and damaged files at any offset.

use std::fs::File;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

use super::*;
use crate::inspect::reference_answers::{file, gzip};

fn of(file: File) -> View {
    View::new(MultiFileReader::whole(file).unwrap())
}

fn numbers(count: usize) -> Vec<u8> {
    (0..count).flat_map(|n| format!("{n}\n").into_bytes()).collect()
}

#[test]
fn what_is_asked_for_is_read_wherever_it_is() {
    let content = numbers(400_000);
    for stored in [content.clone(), gzip(&content)] {
        let mut view = of(file(&stored));
        for from in [0, 5, 2_000_000, 1_999_000, 1_000_000, 10, content.len() as u64 - 3] {
            for length in [0, 1, 70_000, LONGEST_READ as u64] {
                let upto = (from + length).min(content.len() as u64);
                assert!(view.read(from, from + length).unwrap() == &content[from as usize..upto as usize]);
            }
        }
        assert_eq!(view.find_end().unwrap(), content.len() as u64);
        assert_eq!(view.read(u64::MAX, u64::MAX).unwrap(), b"");
        assert_eq!(view.warning(), None);
    }
}

#[test]
fn a_damaged_file_is_read_as_far_as_it_goes() {
    let content = numbers(100_000);
    let stored = gzip(&content);
    let mut view = of(file(&stored[..stored.len() / 2]));
    let end = view.find_end().unwrap();
    assert!(end > 1000 && end < content.len() as u64);
    assert!(view.read(0, 1000).unwrap() == &content[..1000]);
    assert!(view.warning().unwrap().starts_with("the compressed file is damaged after "));
    let mut view = of(file(&stored[..5]));
    assert_eq!(view.find_end().unwrap(), 0);
    assert!(view.warning().is_some());
}

#[test]
fn a_file_that_is_cut_short_meanwhile_ends_there() {
    let given = file(&numbers(1000));
    let mut view = of(given.try_clone().unwrap());
    given.set_len(3).unwrap();
    assert_eq!(view.read(0, 100).unwrap(), b"0\n1");
    assert_eq!(view.read(50, 100).unwrap(), b"");
    assert_eq!(view.known_end(), Some(3));
}

#[test]
fn what_is_written_meanwhile_is_not_read() {
    let mut given = file(b"one\n");
    let mut view = of(given.try_clone().unwrap());
    given.write_all(b"two\n").unwrap();
    assert_eq!(view.read(0, 100).unwrap(), b"one\n");
}

#[test]
fn several_compressed_parts_are_one_content() {
    let mut parts = GzEncoder::new(gzip(b"one\n"), Compression::fast());
    parts.write_all(b"two\n").unwrap();
    let mut view = of(file(&parts.finish().unwrap()));
    assert_eq!(view.read(0, 100).unwrap(), b"one\ntwo\n");
    assert_eq!((view.find_end().unwrap(), view.all_breaks()), (8, Some(2)));
}

proptest! {
    #[test]
    fn whatever_is_stored_is_read(bytes in prop::collection::vec(any::<u8>(), 0..200), packed: bool, from: u64) {
        let stored = if packed { [&GZIP[..], &bytes].concat() } else { bytes };
        let mut view = of(file(&stored));
        let _ = view.read(from % 300, from % 300 + 50);
        let _ = view.read(from, u64::MAX);
        let _ = view.find_end();
    }
}
