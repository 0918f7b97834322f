//! Locates the parts of a repository and reads its references, without git and without its
//! configuration.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::git::object::Oid;
use crate::git::reftable::{self, References};
use crate::host::files;

/// Larger reference files are not genuine.
pub(super) const LARGEST_REFS: u64 = 32 << 20;
const LARGEST_LINE: u64 = 64 << 10;
/// Maximum number of loose references.
const MOST_LOOSE: usize = 20_000;
/// A symbolic reference may lead to another one.
const MOST_HOPS: usize = 5;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repository {
    /// The directory that contains `.git`.
    pub(crate) root: PathBuf,
    /// The directory of this worktree alone: `HEAD` and the index.
    pub(crate) dir: PathBuf,
    /// The directory that all worktrees share: objects, references, configuration.
    pub(crate) common: PathBuf,
}

/// What `HEAD` points to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Head {
    /// Absent if there is no commit yet.
    pub(crate) commit: Option<Oid>,
    /// Absent if `HEAD` is detached.
    pub(crate) branch: Option<String>,
}

/// What a run left of its repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    Whole,
    /// It exists, but the checkout no longer leads to it.
    Elsewhere,
    Nothing,
}

impl Repository {
    pub(crate) fn at(root: &Path) -> Option<Self> {
        let dot = root.join(".git");
        let dir = match fs::metadata(&dot).ok()? {
            found if found.is_dir() => dot,
            _ => led_to(&dot, root, b"gitdir:")?,
        };
        // Canonical, because a path through the worktree (`../..`) breaks when that is deleted.
        let shared =
            led_to(&dir.join("commondir"), &dir, b"").map(|path| path.canonicalize().unwrap_or(path));
        let common = shared.unwrap_or_else(|| dir.clone());
        dir.join("HEAD").symlink_metadata().ok()?;
        Some(Self { root: root.to_owned(), dir, common })
    }

    /// What is left of it now.
    pub(super) fn left(&self) -> Left {
        match Repository::at(&self.root) {
            Some(_) => Left::Whole,
            None if self.objects().is_dir() => Left::Elsewhere,
            None => Left::Nothing,
        }
    }

    pub(crate) fn index(&self) -> PathBuf {
        self.dir.join("index")
    }

    pub(crate) fn objects(&self) -> PathBuf {
        self.common.join("objects")
    }

    pub(crate) fn head(&self) -> Head {
        let mut name = "HEAD".to_owned();
        let tables = self.has_reftable().then(|| self.tables().unwrap_or_default());
        for _ in 0..MOST_HOPS {
            let branch = || name.strip_prefix("refs/heads/").map(str::to_owned);
            let found = match &tables {
                Some(tables) => tables.iter().find_map(|table| table.get(&name).cloned()),
                None => self.reference(&name),
            };
            match found {
                Some(Reference::To(next)) => name = next,
                Some(Reference::At(commit)) => return Head { commit: Some(commit), branch: branch() },
                None => return Head { commit: None, branch: branch() },
            }
        }
        Head::default()
    }

    fn reference(&self, name: &str) -> Option<Reference> {
        if name.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return None;
        }
        let own = || line(&self.dir.join(name)).ok();
        let shared = || line(&self.common.join(name)).ok();
        let loose = own().or_else(shared);
        loose.and_then(|text| Reference::parse(&text)).or_else(|| self.packed(name).map(Reference::At))
    }

    fn packed(&self, wanted: &str) -> Option<Oid> {
        let mut found = None;
        self.each_packed(|name, oid| found = found.or((name == wanted).then_some(oid)));
        found
    }

    fn each_packed(&self, mut each: impl FnMut(&str, Oid)) {
        let Ok(bytes) = bounded(&self.common.join("packed-refs"), LARGEST_REFS) else { return };
        for line in String::from_utf8_lossy(&bytes).lines() {
            if let Some((oid, name)) = line.split_once(' ')
                && let Some(oid) = Oid::from_hex(oid)
            {
                each(name, oid);
            }
        }
    }

    /// Every reference that names an object, loose or packed.
    pub(crate) fn references(&self) -> Vec<(String, Oid)> {
        if self.has_reftable() {
            let shared = self.tables().and_then(|mut tables| tables.pop()).unwrap_or_default();
            let named = |(name, reference)| match reference {
                Reference::At(oid) => Some((name, oid)),
                Reference::To(_) => None,
            };
            return shared.into_iter().filter_map(named).collect();
        }
        let mut all = Vec::new();
        let mut open = vec![("refs".to_owned(), self.common.join("refs"))];
        let mut looked = 0;
        while let Some((name, path)) = open.pop() {
            let Ok(entries) = fs::read_dir(&path) else { continue };
            for entry in entries.flatten() {
                looked += 1;
                let Some(last) = entry.file_name().to_str().map(str::to_owned) else { continue };
                let name = format!("{name}/{last}");
                match entry.file_type() {
                    _ if looked > MOST_LOOSE => return all,
                    Ok(kind) if kind.is_dir() => open.push((name, entry.path())),
                    Ok(kind) if kind.is_file() => {
                        if let Some(Reference::At(oid)) =
                            line(&entry.path()).ok().and_then(|text| Reference::parse(&text))
                        {
                            all.push((name, oid));
                        }
                    }
                    Ok(_) | Err(_) => {}
                }
            }
        }
        let loose: std::collections::HashSet<String> = all.iter().map(|(name, _)| name.clone()).collect();
        self.each_packed(|name, oid| {
            if !loose.contains(name) {
                all.push((name.to_owned(), oid));
            }
        });
        all
    }

    fn has_reftable(&self) -> bool {
        self.common.join("reftable").is_dir()
    }

    /// The references of this worktree, then the shared ones.
    fn tables(&self) -> Option<Vec<References>> {
        let dirs = if self.dir == self.common { vec![&self.common] } else { vec![&self.dir, &self.common] };
        dirs.into_iter().map(|dir| reftable::read(&dir.join("reftable"))).collect()
    }

    /// Whether references are stored in a form that cannot be read here.
    pub(crate) fn has_unread_references(&self) -> bool {
        self.has_reftable() && self.tables().is_none()
    }
}

#[derive(Debug, Clone)]
pub(super) enum Reference {
    At(Oid),
    To(String),
}

impl Reference {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim_end();
        match text.strip_prefix("ref:") {
            Some(name) => Some(Self::To(name.trim_start().to_owned())),
            None => Oid::from_hex(text).map(Self::At),
        }
    }
}

/// The commit of the repository at `root`, if it is one.
pub(crate) fn head_of(root: &Path) -> Option<Oid> {
    Repository::at(root)?.head().commit
}

/// The directory that a file such as `.git` or `commondir` names.
fn led_to(file: &Path, from: &Path, prefix: &[u8]) -> Option<PathBuf> {
    let bytes = bounded(file, LARGEST_LINE).ok()?;
    let named = bytes.strip_prefix(prefix)?.trim_ascii();
    let dir = from.join(std::ffi::OsStr::from_bytes(named));
    (!named.is_empty() && dir.is_dir()).then_some(dir)
}

fn line(path: &Path) -> io::Result<String> {
    bounded(path, LARGEST_LINE).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads a whole plain file of at most `most` bytes. A pipe does not block.
pub(crate) fn bounded(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let bytes = files::head(path, most.saturating_add(1))?;
    if bytes.len() as u64 > most { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
}
