//! Reads a file that may still grow, continuing where the last read ended.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::host::MultiFileReader;

const CHUNK: usize = 64 << 10;

pub(super) struct Source {
    path: PathBuf,
    file: Option<File>,
    /// Where the next read begins.
    at: u64,
    /// How many of the last lines the first read returns; all if absent.
    tail: Option<usize>,
}

impl Source {
    pub(super) fn new(path: PathBuf, tail: Option<usize>) -> Self {
        Self { path, file: None, at: 0, tail }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn is_empty(&self) -> bool {
        crate::ledger::open_joined(&self.path).map_or(true, |found| found.length() == 0)
    }

    /// Writes the whole file as it is now, including a tail that is stored separately from the beginning.
    pub(super) fn once(&mut self, each: &mut dyn FnMut(&[u8])) {
        let now = crate::ledger::open_joined(&self.path);
        let _ = now.and_then(|now| self.read_on(&now, each));
    }

    /// Writes what was added since the last read. A file that does not exist yet counts as empty.
    pub(super) fn read(&mut self, each: &mut dyn FnMut(&[u8])) {
        // An error in one file must not hide the others.
        let _ = self.grown().and_then(|grown| self.read_on(&grown, each));
    }

    /// Hands on the rest of a run that is over. A run of an older version has no transcript file: what it
    /// would hold is rebuilt from other files.
    pub(super) fn rest(&mut self, each: &mut dyn FnMut(&[u8])) {
        match self.file {
            Some(_) => self.read(each),
            None => self.once(each),
        }
    }

    /// The file at its current length.
    fn grown(&mut self) -> io::Result<MultiFileReader> {
        let file = match &self.file {
            Some(file) => file,
            None => self.file.insert(File::open(&self.path)?),
        };
        MultiFileReader::whole(file.try_clone()?)
    }

    fn read_on(&mut self, stream: &MultiFileReader, each: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        if let Some(lines) = self.tail.take() {
            self.at = start_of_last(stream, lines)?;
        }
        copy(stream, &mut self.at, each)
    }
}

fn copy(stream: &MultiFileReader, at: &mut u64, each: &mut dyn FnMut(&[u8])) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK];
    loop {
        match stream.read_at(&mut chunk, *at) {
            Ok(0) => return Ok(()),
            Ok(read) => {
                *at += read as u64;
                each(&chunk[..read]);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Where the last `lines` lines begin, searching backwards from the end.
fn start_of_last(stream: &MultiFileReader, lines: usize) -> io::Result<u64> {
    let length = stream.length();
    let mut end = length;
    let mut found = 0;
    while end > 0 {
        let start = end.saturating_sub(CHUNK as u64);
        let mut chunk = vec![0; (end - start) as usize];
        stream.read_exact_at(&mut chunk, start)?;
        for (at, _) in chunk.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n') {
            let after = start + at as u64 + 1;
            // The newline that ends the last line does not begin another one.
            if after < length {
                found += 1;
                if found == lines {
                    return Ok(after);
                }
            } else if lines == 0 {
                return Ok(length);
            }
        }
        end = start;
    }
    Ok(if lines == 0 { length } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(source: &mut Source) -> String {
        let mut seen = Vec::new();
        source.read(&mut |bytes| seen.extend_from_slice(bytes));
        String::from_utf8(seen).unwrap()
    }

    #[track_caller]
    fn check(content: &str, tail: usize, expected: &str) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("stdout.log");
        std::fs::write(&path, content).unwrap();
        assert_eq!(read(&mut Source::new(path, Some(tail))), expected);
    }

    #[test]
    fn a_tail_is_so_many_lines() {
        check("a\nb\nc\n", 2, "b\nc\n");
        check("a\nb\nc", 2, "b\nc");
        check("a\n", 5, "a\n");
        check("a\nb\n", 0, "");
        check("", 3, "");
        let long = "x".repeat(CHUNK);
        check(&format!("a\n{long}\n{long}\n"), 2, &format!("{long}\n{long}\n"));
    }

    #[test]
    fn what_came_since_is_read_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("stdout.log");
        let mut source = Source::new(path.clone(), None);
        assert_eq!(read(&mut source), "");
        std::fs::write(&path, "one\n").unwrap();
        assert_eq!(read(&mut source), "one\n");
        assert_eq!(read(&mut source), "");
        std::fs::write(&path, "one\ntwo\n").unwrap();
        assert_eq!(read(&mut source), "two\n");
    }
}
