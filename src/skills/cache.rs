//! What was found in directories of skills, so that unchanged ones need not be read again.
//!
//! One private file, replaced as a whole. A file that is damaged or of another version is ignored.

use std::collections::HashMap;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::host::{Durability, files};
use crate::model::Timestamp;
use crate::skills::terms::{FIELDS, TermCount, Terms};

const MAGIC: &[u8] = b"delegator skills 1\n";
const LARGEST: u64 = 128 << 20;
/// No more directories of other projects are kept than fill up to this number.
const MOST: usize = 30_000;
/// A file that changed this recently could change once more without its times telling.
const UNSETTLED_MS: u64 = 1_000;

/// Changes whenever a file or directory does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp(u64);

impl Stamp {
    /// `None` if the change is so recent that the next one might not be seen.
    pub(super) fn settled(found: &Metadata, now: Timestamp) -> Option<Self> {
        let changed = found.ctime().saturating_mul(1000).saturating_add(found.ctime_nsec() / 1_000_000);
        let settled = now.millis_since(Timestamp::from_millis(changed)) > UNSETTLED_MS;
        let facts =
            [found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec()].map(|part| part as u64);
        let all = facts.into_iter().chain([found.dev(), found.ino(), found.size()]);
        settled.then(|| Stamp(all.fold(0, mix)))
    }
}

/// A directory as it was when its stamp was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CachedDir {
    pub(super) stamp: Stamp,
    /// Its directories and links, by name.
    pub(super) children: Vec<String>,
    pub(super) has_skill: bool,
}

/// What a `SKILL.md` said when its stamp was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CachedFile {
    pub(super) stamp: Stamp,
    pub(super) said: Said,
}

/// What a `SKILL.md` says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) is_excluded: bool,
    pub(super) error: Option<String>,
    pub(super) terms: Terms,
}

/// By path.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Cache {
    pub(super) dirs: HashMap<String, CachedDir>,
    pub(super) files: HashMap<String, CachedFile>,
}

impl Cache {
    /// Empty if there is none that can be read.
    pub(super) fn load(path: &Path) -> Self {
        let bytes = files::head(path, LARGEST).unwrap_or_default();
        Self::parse(&bytes).unwrap_or_default()
    }

    /// Adds what `other` knows of paths that are not below `roots`, as far as there is room.
    pub(super) fn keep_elsewhere(&mut self, other: &Self, roots: &[&str]) {
        let is_elsewhere = |path: &str| !roots.iter().any(|root| Path::new(path).starts_with(root));
        let dirs = other.dirs.iter().filter(|(path, _)| is_elsewhere(path));
        let files = other.files.iter().filter(|(path, _)| is_elsewhere(path));
        let room = |held: usize| MOST.saturating_sub(held);
        self.dirs.extend(dirs.take(room(self.dirs.len())).map(|(path, dir)| (path.clone(), dir.clone())));
        self.files
            .extend(files.take(room(self.files.len())).map(|(path, file)| (path.clone(), file.clone())));
    }

    pub(super) fn store(&self, path: &Path) -> io::Result<()> {
        files::write(path, &self.bytes(), Durability::Whole)
    }

    fn bytes(&self) -> Vec<u8> {
        let mut out = Output(Vec::new());
        out.number(self.dirs.len());
        for (path, dir) in &self.dirs {
            out.text(path);
            out.0.extend(dir.stamp.0.to_le_bytes());
            out.0.push(u8::from(dir.has_skill));
            out.number(dir.children.len());
            dir.children.iter().for_each(|child| out.text(child));
        }
        out.number(self.files.len());
        for (path, CachedFile { stamp, said }) in &self.files {
            out.text(path);
            out.0.extend(stamp.0.to_le_bytes());
            out.0.push(u8::from(said.is_excluded));
            for text in [Some(&said.name), said.description.as_ref(), said.error.as_ref()] {
                out.maybe(text);
            }
            for length in said.terms.lengths {
                out.0.extend(length.to_le_bytes());
            }
            out.number(said.terms.counts.len());
            for count in &said.terms.counts {
                out.0.extend(count.term.to_le_bytes());
                out.0.extend(count.fields);
            }
        }
        let sum = checksum(&out.0).to_le_bytes();
        [MAGIC, &sum, &out.0].concat()
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let (sum, content) = bytes.strip_prefix(MAGIC)?.split_first_chunk()?;
        if checksum(content) != u64::from_le_bytes(*sum) {
            return None;
        }
        let mut input = Input(content);
        let mut cache = Self::default();
        for _ in 0..input.number()? {
            let path = input.text()?;
            let stamp = Stamp(u64::from_le_bytes(input.array()?));
            let has_skill = input.flag()?;
            let children = (0..input.number()?).map(|_| input.text()).collect::<Option<_>>()?;
            cache.dirs.insert(path, CachedDir { stamp, children, has_skill });
        }
        for _ in 0..input.number()? {
            let path = input.text()?;
            let stamp = Stamp(u64::from_le_bytes(input.array()?));
            let is_excluded = input.flag()?;
            let (name, description, error) = (input.maybe()??, input.maybe()?, input.maybe()?);
            let mut lengths = [0; FIELDS];
            for length in &mut lengths {
                *length = u32::from_le_bytes(input.array()?);
            }
            let count = |input: &mut Input<'_>| {
                Some(TermCount { term: u32::from_le_bytes(input.array()?), fields: input.array()? })
            };
            let counts = (0..input.number()?).map(|_| count(&mut input)).collect::<Option<_>>()?;
            let said = Said { name, description, is_excluded, error, terms: Terms { counts, lengths } };
            cache.files.insert(path, CachedFile { stamp, said });
        }
        Some(cache)
    }
}

struct Output(Vec<u8>);

impl Output {
    fn number(&mut self, number: usize) {
        self.0.extend(u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len());
        self.0.extend(text.as_bytes());
    }

    fn maybe(&mut self, text: Option<&String>) {
        self.0.push(u8::from(text.is_some()));
        text.into_iter().for_each(|text| self.text(text));
    }
}

struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (found, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*found)
    }

    fn number(&mut self) -> Option<usize> {
        usize::try_from(u32::from_le_bytes(self.array()?)).ok()
    }

    fn flag(&mut self) -> Option<bool> {
        self.array().map(|[flag]| flag == 1)
    }

    fn text(&mut self) -> Option<String> {
        let length = self.number()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        String::from_utf8(text.to_vec()).ok()
    }

    fn maybe(&mut self) -> Option<Option<String>> {
        if self.flag()? { self.text().map(Some) } else { Some(None) }
    }
}

fn checksum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks();
    let sum = words.iter().fold(bytes.len() as u64, |sum, word| mix(sum, u64::from_le_bytes(*word)));
    rest.iter().fold(sum, |sum, byte| mix(sum, u64::from(*byte)))
}

fn mix(sum: u64, word: u64) -> u64 {
    (sum.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache() -> Cache {
        let said = Said {
            name: "a".into(),
            description: Some("reads ä files".into()),
            is_excluded: true,
            error: None,
            terms: Terms::of("a-name", "reads files", "some body text"),
        };
        let dir = CachedDir { stamp: Stamp(7), children: vec!["x".into(), "y".into()], has_skill: true };
        Cache {
            dirs: [("/a".into(), dir)].into(),
            files: [("/a/SKILL.md".into(), CachedFile { stamp: Stamp(9), said })].into(),
        }
    }

    #[test]
    fn what_is_stored_is_loaded() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("skills.cache");
        assert_eq!(Cache::load(&path), Cache::default());
        cache().store(&path).unwrap();
        assert_eq!(Cache::load(&path), cache());
    }

    #[test]
    fn a_damaged_cache_is_ignored() {
        let bytes = cache().bytes();
        for end in 0..bytes.len() {
            assert_eq!(Cache::parse(&bytes[..end]), None);
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            assert_eq!(Cache::parse(&damaged), None, "byte {at}");
        }
    }
}
