//! Lists the captures and terminals by their files. Follows no links and changes nothing.

use std::collections::BTreeMap;
use std::fs::{self, DirEntry, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use crate::host::Home;
use crate::host::files;
use crate::model::Timestamp;
use crate::storage::file_names::{self, FileRole};
use crate::storage::retention::OutputFacts;
use crate::terminals;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputKind {
    Capture,
    Terminal,
}

/// A capture or terminal: its main file and the files beside it.
#[derive(Debug)]
pub(crate) struct StoredOutput {
    pub(crate) kind: OutputKind,
    /// Its id, or the uncompressed file name of a capture.
    pub(crate) name: String,
    pub(crate) kept: OutputFacts,
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    /// The directory and name of the main file.
    pub(crate) dir: PathBuf,
    pub(crate) long: String,
    /// The main file, plain and compressed. Both exist after an interrupted compression or if a
    /// text was stored again; the plain one counts then.
    pub(crate) plain: Option<Metadata>,
    pub(crate) packed: Option<Metadata>,
}

impl StoredOutput {
    /// Whether `text` is its name, its path, or the path of its main file.
    pub(crate) fn is_called(&self, text: &str) -> bool {
        let unpacked = text.strip_suffix(file_names::PACKED).unwrap_or(text);
        let place = self.kind == OutputKind::Terminal && Path::new(text) == self.dir;
        text == self.name
            || (self.kind == OutputKind::Capture && unpacked == self.name)
            || Path::new(unpacked) == self.dir.join(&self.long)
            || place
    }
}

/// All outputs: captures first, each kind sorted by name.
pub(crate) fn survey(home: &Home) -> Vec<StoredOutput> {
    let mut all = captures(&home.captures());
    all.extend(recorded(&home.terminals()));
    all
}

fn captures(dir: &Path) -> Vec<StoredOutput> {
    let mut found: BTreeMap<String, StoredOutput> = BTreeMap::new();
    let mut pinned = Vec::new();
    for (name, metadata) in plain_files(dir) {
        let Some((base, part)) = file_names::capture(&name) else { continue };
        match part {
            FileRole::Plain | FileRole::Packed => {
                let blank = || bare(OutputKind::Capture, base.to_owned(), dir.to_owned(), base.to_owned());
                found.entry(base.to_owned()).or_insert_with(blank).add(metadata, part);
            }
            FileRole::Pin => pinned.push(base.to_owned()),
            FileRole::Unfinished | FileRole::Aside | FileRole::Temporary => {}
        }
    }
    for name in pinned {
        if let Some(output) = found.get_mut(&name) {
            output.kept.pinned = true;
        }
    }
    found.into_values().collect()
}

fn recorded(dir: &Path) -> Vec<StoredOutput> {
    let names = directories(dir).into_iter().filter(|name| file_names::is_terminal(name));
    let mut all: Vec<StoredOutput> = names.filter_map(|name| terminal(dir.join(&name), name).ok()).collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

fn terminal(dir: PathBuf, name: String) -> io::Result<StoredOutput> {
    let mut output = bare(OutputKind::Terminal, name, dir.clone(), terminals::OUTPUT.to_owned());
    output.kept.written_at = files::modified(&fs::symlink_metadata(&dir)?);
    // Checked before its files, so that an end meanwhile is not missed.
    output.kept.live = terminals::is_live(&dir);
    for (name, metadata) in plain_files(&dir) {
        match name.strip_prefix(terminals::OUTPUT) {
            _ if name == terminals::PIN => output.kept.pinned = true,
            Some("") => output.add(metadata, FileRole::Plain),
            Some(file_names::PACKED) => output.add(metadata, FileRole::Packed),
            Some(file_names::UNFINISHED | file_names::ASIDE) => {}
            Some(_) | None => output.count(&metadata),
        }
    }
    Ok(output)
}

fn bare(kind: OutputKind, name: String, dir: PathBuf, long: String) -> StoredOutput {
    let kept =
        OutputFacts { written_at: Timestamp::from_millis(0), plain_bytes: 0, pinned: false, live: false };
    StoredOutput { kind, name, kept, files: 0, bytes: 0, dir, long, plain: None, packed: None }
}

impl StoredOutput {
    fn count(&mut self, file: &Metadata) {
        self.files += 1;
        self.bytes += file.len();
        // For a terminal: its directory is older, and its mark may be newer.
        let first = self.files == 1;
        let written = files::modified(file);
        self.kept.written_at = if first { written } else { self.kept.written_at.max(written) };
    }

    fn add(&mut self, file: Metadata, part: FileRole) {
        self.count(&file);
        if part == FileRole::Packed {
            self.packed = Some(file);
        } else {
            self.kept.plain_bytes = file.len();
            self.plain = Some(file);
        }
    }
}

/// The plain files of a directory with UTF-8 names. Does not follow a link.
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
