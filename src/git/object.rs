//! Computes ids of git objects and stores objects, without git: raw bytes, no filter, no
//! attributes, no configuration.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use sha1::Sha1;
use sha2::{Digest, Sha256};

use crate::git::pack::Pack;

/// The hash that a repository uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Sha1,
    Sha256,
}

impl Format {
    pub(crate) fn bytes(self) -> usize {
        match self {
            Format::Sha1 => 20,
            Format::Sha256 => 32,
        }
    }
}

/// The id of an object.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Oid {
    bytes: [u8; 32],
    length: u8,
}

impl Oid {
    /// From the binary form in an index or a tree.
    pub(crate) fn from_bytes(raw: &[u8]) -> Option<Self> {
        let length = u8::try_from(raw.len()).ok().filter(|length| [20, 32].contains(length))?;
        let mut bytes = [0; 32];
        bytes[..raw.len()].copy_from_slice(raw);
        Some(Self { bytes, length })
    }

    pub(crate) fn from_hex(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        let value = |pair: &[u8]| {
            let digit = |byte: u8| char::from(byte).to_digit(16);
            u8::try_from(digit(pair[0])? * 16 + digit(pair[1])?).ok()
        };
        if !matches!(digits.len(), 40 | 64) {
            return None;
        }
        Self::from_bytes(&digits.chunks(2).map(value).collect::<Option<Vec<u8>>>()?)
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Computes the id of a blob incrementally.
#[derive(Clone)]
pub(crate) enum BlobHasher {
    Sha1(Sha1),
    Sha256(Sha256),
}

impl BlobHasher {
    pub(crate) fn new(format: Format, length: u64) -> Self {
        Self::of("blob", format, length)
    }

    fn of(kind: &str, format: Format, length: u64) -> Self {
        let header = format!("{kind} {length}\0");
        match format {
            Format::Sha1 => Self::Sha1(Sha1::new().chain_update(header)),
            Format::Sha256 => Self::Sha256(Sha256::new().chain_update(header)),
        }
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha1(hasher) => hasher.update(bytes),
            Self::Sha256(hasher) => hasher.update(bytes),
        }
    }

    pub(crate) fn finish(self) -> Oid {
        let (mut bytes, length) = ([0; 32], if matches!(self, Self::Sha1(_)) { 20 } else { 32 });
        match self {
            Self::Sha1(hasher) => bytes[..20].copy_from_slice(&hasher.finalize()),
            Self::Sha256(hasher) => bytes.copy_from_slice(&hasher.finalize()),
        }
        Oid { bytes, length }
    }
}

/// The id of `bytes` as a blob.
pub(crate) fn blob_name(format: Format, bytes: &[u8]) -> Oid {
    name("blob", format, bytes)
}

fn name(kind: &str, format: Format, bytes: &[u8]) -> Oid {
    let mut hasher = BlobHasher::of(kind, format, bytes.len() as u64);
    hasher.update(bytes);
    hasher.finish()
}

/// The checksum at the end of git's files.
pub(crate) fn sum(format: Format, bytes: &[u8]) -> Vec<u8> {
    match format {
        Format::Sha1 => Sha1::digest(bytes).to_vec(),
        Format::Sha256 => Sha256::digest(bytes).to_vec(),
    }
}

/// The SHA-256 of content, independent of git.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ObjectKind {
    Blob,
    Tree,
}

impl ObjectKind {
    fn as_str(self) -> &'static str {
        match self {
            ObjectKind::Blob => "blob",
            ObjectKind::Tree => "tree",
        }
    }
}

/// Our own object directory. Git sees new objects after [`show`](Store::show).
#[derive(Debug)]
pub(crate) struct Store {
    dir: PathBuf,
    format: Format,
    pack: Mutex<Option<Pack>>,
}

impl Store {
    pub(crate) fn at(dir: &Path, format: Format) -> Self {
        Self { dir: dir.to_owned(), format, pack: Mutex::new(None) }
    }

    pub(crate) fn format(&self) -> Format {
        self.format
    }

    pub(crate) fn blob(&self, bytes: &[u8]) -> io::Result<Oid> {
        self.write(ObjectKind::Blob, bytes)
    }

    /// Writes the tree of `files` and its subtrees. A path that ends in a slash is an existing
    /// tree.
    pub(crate) fn tree<'a>(
        &'a self,
        files: impl IntoIterator<Item = (&'a [u8], u32, Oid)>,
    ) -> io::Result<Oid> {
        // Whole paths in this order match git's order, in which directory names end in a slash.
        let files: BTreeMap<&[u8], (u32, Oid)> =
            files.into_iter().map(|(path, mode, oid)| (path, (mode, oid))).collect();
        let mut trees = Trees::new(self);
        let mut whole: Option<&[u8]> = None;
        for (path, (mode, oid)) in files {
            // Entries below an existing tree are ignored.
            if whole.is_some_and(|tree| path.starts_with(tree)) {
                continue;
            }
            whole = Some(path).filter(|path| path.ends_with(b"/")).or(whole);
            trees.add(path, mode, oid)?;
        }
        trees.finish()
    }

    fn write(&self, kind: ObjectKind, bytes: &[u8]) -> io::Result<Oid> {
        let oid = name(kind.as_str(), self.format, bytes);
        let mut pack = self.pack.lock().unwrap_or_else(PoisonError::into_inner);
        if pack.is_none() {
            *pack = Some(Pack::begin(&self.dir)?);
        }
        if let Some(pack) = pack.as_mut() {
            pack.add(oid, kind, bytes)?;
        }
        Ok(oid)
    }

    /// Makes everything written so far visible to git.
    pub(crate) fn show(&self) -> io::Result<()> {
        let pack = self.pack.lock().unwrap_or_else(PoisonError::into_inner).take();
        pack.map_or(Ok(()), |pack| pack.end(self.format))
    }
}

/// A zlib stream without compression: it lives only during the run, so time matters more than
/// space.
pub(super) fn stored(bytes: &[u8]) -> Vec<u8> {
    const BLOCK: usize = 0xffff;
    let mut stream = Vec::with_capacity(bytes.len() + bytes.len() / BLOCK * 5 + 16);
    stream.extend([0x78, 0x01]);
    let blocks = bytes.len().div_ceil(BLOCK);
    if blocks == 0 {
        stream.extend([1, 0, 0, 0xff, 0xff]);
    }
    for (at, block) in bytes.chunks(BLOCK).enumerate() {
        let length = u16::try_from(block.len()).unwrap_or(u16::MAX);
        stream.push(u8::from(at + 1 == blocks));
        stream.extend(length.to_le_bytes());
        stream.extend((!length).to_le_bytes());
        stream.extend(block);
    }
    stream.extend(adler32(bytes).to_be_bytes());
    stream
}

fn adler32(bytes: &[u8]) -> u32 {
    let (mut a, mut b) = (1_u32, 0_u32);
    // The largest number of additions before a 32-bit sum overflows.
    for part in bytes.chunks(5552) {
        for byte in part {
            a += u32::from(*byte);
            b += a;
        }
        a %= 65_521;
        b %= 65_521;
    }
    (b << 16) | a
}

/// The open trees from the root to the last path. Not recursive, because an agent can make paths
/// arbitrarily deep.
struct Trees<'a> {
    store: &'a Store,
    root: Vec<u8>,
    open: Vec<(&'a [u8], Vec<u8>)>,
}

impl<'a> Trees<'a> {
    fn new(store: &'a Store) -> Self {
        Self { store, root: Vec::new(), open: Vec::new() }
    }

    /// Adds the entry at `path`, which must sort after all earlier ones.
    fn add(&mut self, path: &'a [u8], mode: u32, oid: Oid) -> io::Result<()> {
        let (path, mode) = path.strip_suffix(b"/").map_or((path, mode), |dir| (dir, 0o40000));
        let mut dirs: Vec<&[u8]> = path.split(|&byte| byte == b'/').collect();
        let name = dirs.pop().unwrap_or_default();
        let shared = self.open.iter().zip(&dirs).take_while(|((open, _), dir)| open == *dir).count();
        self.close(shared)?;
        self.open.extend(dirs[shared..].iter().map(|dir| (*dir, Vec::new())));
        self.entry(mode, name, oid);
        Ok(())
    }

    /// Writes all open trees below `depth`.
    fn close(&mut self, depth: usize) -> io::Result<()> {
        while self.open.len() > depth
            && let Some((name, bytes)) = self.open.pop()
        {
            let oid = self.store.write(ObjectKind::Tree, &bytes)?;
            self.entry(0o40000, name, oid);
        }
        Ok(())
    }

    fn entry(&mut self, mode: u32, name: &[u8], oid: Oid) {
        let bytes = self.open.last_mut().map_or(&mut self.root, |(_, bytes)| bytes);
        bytes.extend(format!("{mode:o} ").into_bytes());
        bytes.extend(name);
        bytes.push(0);
        bytes.extend(oid.as_bytes());
    }

    fn finish(mut self) -> io::Result<Oid> {
        self.close(0)?;
        self.store.write(ObjectKind::Tree, &self.root)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_have_the_names_that_git_gives_them() {
        let blob = blob_name(Format::Sha1, b"hi\n");
        assert_eq!(blob.to_string(), "45b983be36b73c0788dc9cbcb76cbb80fc7bb057");
        assert_eq!(Oid::from_hex(&blob.to_string()), Some(blob));
        let empty = name("tree", Format::Sha1, b"");
        assert_eq!(empty.to_string(), "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
        let empty = name("tree", Format::Sha256, b"");
        assert!(empty.to_string().starts_with("6ef19b41225c5369f1c104d45d8d85ef"));
        assert_eq!(Oid::from_hex("45b9"), None);
        assert_eq!(Oid::from_hex(&"zz".repeat(20)), None);
    }

    #[test]
    fn trees_are_written_however_deep_they_are() {
        let write = || {
            let dir = tempfile::tempdir().unwrap();
            let path = [b"a/".repeat(20_000), b"b".to_vec()].concat();
            let oid = blob_name(Format::Sha1, b"hi\n");
            Store::at(dir.path(), Format::Sha1).tree([(path.as_slice(), 0o100644, oid)]).unwrap();
        };
        std::thread::Builder::new().stack_size(2 << 20).spawn(write).unwrap().join().unwrap();
    }

    #[test]
    fn a_tree_has_the_name_that_git_gives_it() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::at(dir.path(), Format::Sha1);
        let blob = blob_name(Format::Sha1, b"hi\n");
        let tree = |paths: &[&str]| {
            let files = paths.iter().map(|path| (path.as_bytes(), 0o100644, blob));
            store.tree(files).unwrap().to_string()
        };
        assert_eq!(tree(&[]), "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
        let expected = "edaa1eac4889f399d81e5eddcf41ce1db99c0ba9";
        assert_eq!(tree(&["a.b", "a/x", "a/y/z", "a0", "b/c/d", "b/e"]), expected);
        assert_eq!(tree(&["b/e", "a0", "a/y/z", "b/c/d", "a/x", "a.b"]), expected);
        let below = store.tree([(&b"x"[..], 0o100644, blob)]).unwrap();
        let whole = store.tree([(&b"a/b/"[..], 0o40000, below), (b"a/c", 0o100644, blob)]).unwrap();
        assert_eq!(whole.to_string(), tree(&["a/b/x", "a/c"]));
    }

    #[test]
    fn a_stored_stream_has_the_right_sum() {
        assert_eq!(adler32(b"Wikipedia"), 0x11E6_0398);
        assert_eq!(stored(b"ab")[..7], [0x78, 1, 1, 2, 0, 0xfd, 0xff]);
        assert_eq!(stored(b""), [0x78, 1, 1, 0, 0, 0xff, 0xff, 0, 0, 0, 1]);
        assert_eq!(stored(&[7; 70_000]).len(), 70_000 + 2 + 10 + 4);
    }
}
