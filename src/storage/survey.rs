//! Which captures and terminals there are, told from their files. No link is
//! followed, and nothing is changed.

use std::collections::BTreeMap;
use std::fs;
use std::fs::{DirEntry, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use crate::host::Home;
use crate::host::files;
use crate::model::Timestamp;
use crate::storage::file_names::{self, Part};
use crate::storage::retention::Kept;
use crate::terminals;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Capture,
    Terminal,
}

/// One capture or one terminal: a long file, and what stands beside it.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) kind: Kind,
    /// Its id; of a capture, the name of its file while that is not compressed.
    pub(crate) name: String,
    pub(crate) kept: Kept,
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    /// Where the long file is, and how it is called there.
    pub(crate) dir: PathBuf,
    pub(crate) long: String,
    /// The long file as it was written, and compressed. Both are there after
    /// somebody died in between, or when a text was said again; then the plain
    /// one counts.
    pub(crate) plain: Option<Metadata>,
    pub(crate) packed: Option<Metadata>,
}

impl Output {
    /// Whether somebody means it by `text`: its name, or the path of it or of
    /// its long file.
    pub(crate) fn is_called(&self, text: &str) -> bool {
        let unpacked = text.strip_suffix(file_names::PACKED).unwrap_or(text);
        let place = self.kind == Kind::Terminal && Path::new(text) == self.dir;
        text == self.name
            || (self.kind == Kind::Capture && unpacked == self.name)
            || Path::new(unpacked) == self.dir.join(&self.long)
            || place
    }
}

/// All of them, captures first, each kind by name.
pub(crate) fn survey(home: &Home) -> Vec<Output> {
    let mut all = captures(&home.captures());
    all.extend(recorded(&home.terminals()));
    all
}

fn captures(dir: &Path) -> Vec<Output> {
    let mut found: BTreeMap<String, Output> = BTreeMap::new();
    let mut pinned = Vec::new();
    for (name, metadata) in plain_files(dir) {
        let Some((base, part)) = file_names::capture(&name) else { continue };
        match part {
            Part::Plain | Part::Packed => {
                let blank = || bare(Kind::Capture, base.to_owned(), dir.to_owned(), base.to_owned());
                found.entry(base.to_owned()).or_insert_with(blank).add(metadata, part);
            }
            Part::Pin => pinned.push(base.to_owned()),
            Part::Unfinished | Part::Aside | Part::Temporary => {}
        }
    }
    for name in pinned {
        if let Some(output) = found.get_mut(&name) {
            output.kept.pinned = true;
        }
    }
    found.into_values().collect()
}

fn recorded(dir: &Path) -> Vec<Output> {
    let names = directories(dir).into_iter().filter(|name| file_names::is_terminal(name));
    let mut all: Vec<Output> = names.filter_map(|name| terminal(dir.join(&name), name).ok()).collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

fn terminal(dir: PathBuf, name: String) -> io::Result<Output> {
    let mut output = bare(Kind::Terminal, name, dir.clone(), terminals::OUTPUT.to_owned());
    output.kept.written_at = files::modified(&fs::symlink_metadata(&dir)?);
    // Before its files are looked at: what ends in between is not to be missed.
    output.kept.live = terminals::is_live(&dir);
    for (name, metadata) in plain_files(&dir) {
        match name.strip_prefix(terminals::OUTPUT) {
            _ if name == terminals::PIN => output.kept.pinned = true,
            Some("") => output.add(metadata, Part::Plain),
            Some(file_names::PACKED) => output.add(metadata, Part::Packed),
            Some(file_names::UNFINISHED | file_names::ASIDE) => {}
            Some(_) | None => output.count(&metadata),
        }
    }
    Ok(output)
}

fn bare(kind: Kind, name: String, dir: PathBuf, long: String) -> Output {
    let kept = Kept { written_at: Timestamp::from_millis(0), plain_bytes: 0, pinned: false, live: false };
    Output { kind, name, kept, files: 0, bytes: 0, dir, long, plain: None, packed: None }
}

impl Output {
    fn count(&mut self, file: &Metadata) {
        self.files += 1;
        self.bytes += file.len();
        // Of a terminal, its directory was there first, and its mark came later.
        let first = self.files == 1;
        let written = files::modified(file);
        self.kept.written_at = if first { written } else { self.kept.written_at.max(written) };
    }

    fn add(&mut self, file: Metadata, part: Part) {
        self.count(&file);
        if part == Part::Packed {
            self.packed = Some(file);
        } else {
            self.kept.plain_bytes = file.len();
            self.plain = Some(file);
        }
    }
}

/// The plain files of a directory that is no link, with names that are text.
pub(crate) fn plain_files(dir: &Path) -> Vec<(String, Metadata)> {
    let file = |entry: DirEntry| {
        let metadata = entry.metadata().ok().filter(Metadata::is_file)?;
        Some((entry.file_name().into_string().ok()?, metadata))
    };
    entries(dir).into_iter().filter_map(file).collect()
}

pub(crate) fn directories(dir: &Path) -> Vec<String> {
    let is_dir = |entry: &DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    entries(dir).into_iter().filter(is_dir).filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

fn entries(dir: &Path) -> Vec<DirEntry> {
    if !fs::symlink_metadata(dir).is_ok_and(|found| found.is_dir()) {
        return Vec::new();
    }
    fs::read_dir(dir).into_iter().flatten().flatten().collect()
}
