//! The state of a file at one moment and its form on disk. States are kept on disk during a run, so
//! that a supervisor's memory does not grow with the tree.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use crate::git::object::Oid;
use crate::git::tree_walk::{Stat, Time};
use crate::host::files;

pub(crate) const GITLINK: u32 = 0o160000;

/// The state of one path; `None` in its place means that it did not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) mode: u32,
    /// Absent if the content was not read.
    pub(crate) oid: Option<Oid>,
    /// Whether git can read the content under `oid`.
    pub(crate) readable: bool,
    /// Absent for nested repositories and for tracked files that are not checked out.
    pub(crate) stat: Option<Stat>,
    pub(crate) sha256: Option<String>,
    /// Line count of a file that is not shown to git: too large, or with nothing to compare it to.
    pub(crate) counted: Option<Counted>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counted {
    Binary,
    Text { lines: u64 },
}

impl State {
    /// A nested repository on `commit`.
    pub(crate) fn nested(commit: Oid) -> Self {
        Self { mode: GITLINK, oid: Some(commit), readable: false, stat: None, sha256: None, counted: None }
    }

    /// The index entry of a path that is not checked out.
    pub(super) fn outside(mode: u32, oid: Oid) -> Self {
        Self { mode, oid: Some(oid), readable: mode != GITLINK, stat: None, sha256: None, counted: None }
    }

    pub(crate) fn is_nested(&self) -> bool {
        self.mode == GITLINK
    }

    /// Marks the content as unknown. Returns 1, the number of states changed.
    pub(super) fn forget(&mut self) -> u32 {
        (self.oid, self.readable) = (None, false);
        1
    }

    pub(crate) fn is_same(&self, other: &State) -> bool {
        self.mode == other.mode && self.oid.is_some() && self.oid == other.oid
    }
}

/// The paths that differ from the index; deleted files are `None`.
pub(crate) type States = HashMap<Vec<u8>, Option<State>>;

pub(crate) fn write(path: &Path, states: &States) -> io::Result<()> {
    let mut bytes = Vec::new();
    for (name, state) in states {
        bytes.extend(state.as_ref().map_or_else(|| "-".to_owned(), serialize).into_bytes());
        bytes.push(b'\t');
        bytes.extend(name);
        bytes.push(0);
    }
    files::write(path, &bytes, files::Durability::Whole)
}

pub(crate) fn read(path: &Path) -> io::Result<States> {
    let bytes = files::read(path)?;
    let damaged = || io::Error::from(io::ErrorKind::InvalidData);
    let records = bytes.split(|&byte| byte == 0).filter(|record| !record.is_empty());
    records
        .map(|record| {
            let tab = memchr::memchr(b'\t', record).ok_or_else(damaged)?;
            let text = std::str::from_utf8(&record[..tab]).map_err(|_| damaged())?;
            let state = if text == "-" { None } else { Some(parse(text).ok_or_else(damaged)?) };
            Ok((record[tab + 1..].to_owned(), state))
        })
        .collect()
}

fn serialize(state: &State) -> String {
    let oid = state.oid.map_or_else(|| "-".to_owned(), |oid| oid.to_string());
    let mut text = format!("{:o} {oid} {}", state.mode, u8::from(state.readable));
    if let Some(Stat { mode, size, mtime, ctime, ino }) = state.stat {
        text += &format!(" {mode:o} {size} {} {} {} {} {ino}", mtime.0, mtime.1, ctime.0, ctime.1);
    }
    text
}

fn parse(text: &str) -> Option<State> {
    let words: Vec<&str> = text.split(' ').collect();
    let octal = |word: &str| u32::from_str_radix(word, 8).ok();
    let oid = match *words.get(1)? {
        "-" => None,
        hex => Some(Oid::from_hex(hex)?),
    };
    let time = |at: usize| -> Option<Time> { Some((words[at].parse().ok()?, words[at + 1].parse().ok()?)) };
    let stat = match words.len() {
        3 => None,
        10 => Some(Stat {
            mode: octal(words[3])?,
            size: words[4].parse().ok()?,
            mtime: time(5)?,
            ctime: time(7)?,
            ino: words[9].parse().ok()?,
        }),
        _ => return None,
    };
    Some(State { mode: octal(words[0])?, oid, readable: words[2] == "1", stat, sha256: None, counted: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_read_as_they_were_written() {
        let dir = tempfile::tempdir().unwrap();
        let oid = Oid::from_hex(&"0a".repeat(20)).unwrap();
        let stat = Stat { mode: 0o100755, size: 7, mtime: (5, 6), ctime: (-7, 8), ino: u64::MAX };
        let file = State {
            mode: 0o100755,
            oid: None,
            readable: false,
            stat: Some(stat),
            sha256: None,
            counted: None,
        };
        let states: States = [
            (b"a\nb\t\xff".to_vec(), Some(file)),
            (b"gone".to_vec(), None),
            (b"nested".to_vec(), Some(State::nested(oid))),
        ]
        .into();
        write(&dir.path().join("s"), &states).unwrap();
        assert_eq!(read(&dir.path().join("s")).unwrap(), states);
        std::fs::write(dir.path().join("s"), "1 2\tx\0").unwrap();
        assert!(read(&dir.path().join("s")).is_err());
    }
}
