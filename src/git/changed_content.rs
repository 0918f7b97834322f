//! Reads files that may have changed and computes their object ids.
//!
//! Hashes raw bytes and runs no filter. Git is asked for the id only if it may store a file with
//! other line ends or in another encoding.

use std::time::Duration;

use crate::git::conversion::{Conversion, ConversionScope};
use crate::git::file_state::State;
use crate::git::object::{self, Oid, Store};
use crate::git::tree_walk::{self, Content, Stat, WorkTree};
use crate::host::clock;

/// Larger files are compared by size and hash only, without line counts.
pub(crate) const LARGE: u64 = 16 << 20;
/// Total bytes of large files that are hashed.
const MOST_LARGE: u64 = 1 << 30;
/// Git converts files in memory.
const MOST_CONVERTED: u64 = 128 << 20;

/// A path whose content must be read.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(crate) path: Vec<u8>,
    pub(crate) stat: Stat,
    /// Its object id if it did not change.
    pub(crate) expected: Option<Oid>,
    /// There is nothing to compare it with, so its lines are counted and it is not stored.
    pub(crate) alone: bool,
    /// It was added to the index again, so git may store it in another form than before.
    pub(crate) restaged: bool,
}

impl Candidate {
    pub(crate) fn new(path: Vec<u8>, stat: Stat) -> Self {
        Self { path, stat, expected: None, alone: false, restaged: false }
    }
}

/// What is needed of the content, and how much may be read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadBudget {
    pub(crate) bytes: u64,
    pub(crate) files: u32,
    pub(crate) sha256: bool,
}

impl ReadBudget {
    /// For a later comparison: stores what was there before a run and is in no commit, within
    /// limits.
    pub(crate) const KEEP: ReadBudget = ReadBudget { bytes: 64 << 20, files: 20_000, sha256: false };
    /// For a report.
    pub(crate) const TELL: ReadBudget = ReadBudget { bytes: 512 << 20, files: 200_000, sha256: true };
}

/// Reads candidates while time and budget last.
#[derive(Debug)]
pub(crate) struct ContentReader<'a> {
    store: &'a Store,
    need: ReadBudget,
    until: Duration,
    bytes: u64,
    files: u32,
    large: u64,
    reach: ConversionScope,
    /// Candidates whose id git must compute.
    to_convert: Vec<usize>,
    unread: u32,
}

impl<'a> ContentReader<'a> {
    pub(crate) fn new(store: &'a Store, need: ReadBudget, until: Duration) -> Self {
        let (reach, to_convert) = (ConversionScope::Nothing, Vec::new());
        Self { store, need, until, bytes: 0, files: 0, large: 0, reach, to_convert, unread: 0 }
    }

    /// The state of every candidate, in order, and how many were not read.
    pub(crate) fn read(
        mut self,
        tree: &mut WorkTree,
        candidates: &[Candidate],
        conversion: &Conversion<'_>,
    ) -> (Vec<State>, u32) {
        self.reach = conversion.reach;
        let mut states: Vec<State> =
            candidates.iter().enumerate().map(|(at, candidate)| self.state(tree, at, candidate)).collect();
        self.convert(tree, candidates, &mut states, conversion);
        (states, self.unread)
    }

    /// Replaces the ids of files that git would convert by git's own ids.
    fn convert(
        &mut self,
        tree: &mut WorkTree,
        candidates: &[Candidate],
        states: &mut [State],
        conversion: &Conversion<'_>,
    ) {
        let path = |at: &usize| candidates[*at].path.as_slice();
        let paths = |these: &[usize]| these.iter().map(path).collect::<Vec<_>>();
        // If git cannot answer, the raw ids are used.
        let names = conversion.ids(&paths(&self.to_convert));
        // Files without an answer are unknown if anything is converted at all.
        let behind = self.to_convert.split_off(names.len());
        let behind = behind.into_iter().filter(|_| conversion.reach != ConversionScope::Nothing);
        self.unread += behind.map(|at| states[at].forget()).sum::<u32>();
        let named = self.to_convert.iter().zip(names).filter_map(|(at, name)| Some((*at, name?)));
        let others: Vec<(usize, Oid)> = named.filter(|(at, name)| states[*at].oid != Some(*name)).collect();
        let left = conversion.left_alone(&others.iter().map(|(at, _)| path(at)).collect::<Vec<_>>());
        let mut unkept = Vec::new();
        for (at, name) in others.into_iter().filter(|(at, _)| !left.alone.contains(path(at))) {
            let (candidate, state) = (&candidates[at], &mut states[at]);
            if left.unknown.contains(candidate.path.as_slice()) {
                self.unread += state.forget();
                continue;
            }
            state.oid = Some(name);
            let small = candidate.stat.size <= LARGE;
            state.readable =
                small && (candidate.expected == Some(name) || self.keep_converted(tree, candidate, name));
            if small && !state.readable {
                unkept.push(at);
            }
        }
        for (at, name) in unkept.iter().zip(conversion.kept(&paths(&unkept))) {
            states[*at].readable = name.is_some() && states[*at].oid == name;
        }
    }

    fn state(&mut self, tree: &mut WorkTree, at: usize, candidate: &Candidate) -> State {
        let Candidate { path, stat, expected, alone, restaged } = candidate;
        let mut state = State {
            mode: stat.mode,
            oid: None,
            readable: false,
            stat: Some(*stat),
            sha256: None,
            counted: None,
        };
        let in_time = || clock::monotonic() < self.until;
        let room = match stat.size {
            size if size > LARGE => self.large + size <= MOST_LARGE,
            size => self.files < self.need.files && self.bytes + size <= self.need.bytes,
        };
        let read =
            if room && in_time() { tree.read(path, self.store.format(), LARGE, in_time).ok() } else { None };
        let Some(content) = read else {
            self.unread += 1;
            return state;
        };
        if content.bytes.is_none() {
            self.large += content.size;
            state.counted = content.counted;
        }
        state.oid = Some(content.oid);
        state.sha256 = if self.need.sha256 { content.sha256() } else { None };
        // Git has the content of an unchanged file.
        state.readable = *expected == state.oid && content.bytes.is_some();
        if !state.readable && expected.is_some_and(|oid| oid == self.pointer_to(&content)) {
            // Git has only an LFS pointer under that id, which says nothing about lines.
            state.oid = *expected;
            return state;
        }
        let converted = stat.mode != 0o120000
            && match &content.bytes {
                Some(_) if state.readable && !restaged => false,
                Some(bytes) => may_be_converted(bytes) || self.reach == ConversionScope::Anything,
                None => self.may_be_what_it_was(candidate, state.oid),
            };
        if let Some(bytes) = &content.bytes
            && !state.readable
        {
            self.bytes += content.size;
            self.files += 1;
            if *alone && !converted {
                state.counted = Some(tree_walk::counted(bytes));
            } else {
                state.readable = self.store.blob(bytes).is_ok();
            }
        }
        if converted {
            self.to_convert.push(at);
        }
        state
    }

    /// Whether a large file may be unchanged but converted.
    fn may_be_what_it_was(&self, candidate: &Candidate, oid: Option<Oid>) -> bool {
        let small_enough = candidate.stat.size <= MOST_CONVERTED;
        self.reach != ConversionScope::Nothing
            && small_enough
            && candidate.expected.is_some()
            && candidate.expected != oid
    }

    /// The id of the pointer that git stores in place of a Git LFS file.
    fn pointer_to(&self, content: &Content) -> Oid {
        let sha256 = content.sha256().unwrap_or_default();
        let pointer = format!(
            "version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {}\n",
            content.size
        );
        object::blob_name(self.store.format(), pointer.as_bytes())
    }

    /// Stores a file as git would, if git only converts line ends.
    fn keep_converted(&self, tree: &mut WorkTree, candidate: &Candidate, oid: Oid) -> bool {
        let in_time = || clock::monotonic() < self.until;
        let content = tree.read(&candidate.path, self.store.format(), LARGE, in_time);
        let bytes = content.ok().and_then(|content| content.bytes).unwrap_or_default();
        let converted = with_plain_line_ends(&bytes);
        object::blob_name(self.store.format(), &converted) == oid && self.store.blob(&converted).is_ok()
    }
}

/// Whether git may store these bytes in another form: other line ends, another encoding, or with
/// `$Id$` collapsed.
fn may_be_converted(bytes: &[u8]) -> bool {
    let has = |needle: &[u8]| memchr::memmem::find(bytes, needle).is_some();
    has(b"\r\n") || has(b"$Id") || matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..])
}

fn with_plain_line_ends(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = memchr::memmem::find(rest, b"\r\n") {
        plain.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
    }
    plain.extend_from_slice(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::object::Format;
    use crate::git::testing::{conversion, world};
    use crate::git::tree_walk::PathEntry;

    #[test]
    fn only_what_git_might_convert_is_asked_about() {
        assert!(may_be_converted(b"a\r\nb"));
        assert!(may_be_converted(b"$Id: 1 $"));
        assert!(may_be_converted(b"\xff\xfea\0"));
        assert!(!may_be_converted(b"a\nb\rc"));
    }

    #[test]
    fn what_git_had_no_time_to_name_is_not_known() {
        let (dir, git) = world(&["a"]);
        let (root, store) = (dir.path().join("tree"), Store::at(&git.objects(), Format::Sha1));
        let mut tree = WorkTree::open(&root).unwrap();
        let PathEntry::File(stat) = tree.look(b"a") else { panic!("it is a file") };
        let soon = clock::monotonic() + Duration::from_secs(60);
        let mut read = |until: Duration| {
            let contents = ContentReader::new(&store, ReadBudget::TELL, soon);
            let (states, unread) = contents.read(
                &mut tree,
                &[Candidate::new(b"a".to_vec(), stat)],
                &conversion(&git, &root, until),
            );
            (states[0].oid, states[0].readable, unread)
        };
        assert_eq!(read(soon), (Some(object::blob_name(Format::Sha1, b"a\r\n")), true, 0));
        assert_eq!(read(Duration::ZERO), (None, false, 1));
    }

    #[test]
    fn only_whole_line_ends_are_made_plain() {
        assert_eq!(with_plain_line_ends(b"a\r\n\r\nb\rc\r"), b"a\n\nb\rc\r");
        assert_eq!(with_plain_line_ends(b""), b"");
    }
}
