//! Detects renames and counts changed lines. Git compares two trees that we write, which hold only
//! the changed files. Renames are searched among added and deleted files, so unchanged files are
//! not needed.

use std::collections::{HashMap, HashSet};
use std::io;
use std::time::Duration;

use crate::git::changed_content::LARGE;
use crate::git::differences::Changed;
use crate::git::file_state::{Counted, State};
use crate::git::object::Oid;
use crate::git::snapshot::{SnapshotError, TreeBefore};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChangeKind {
    Added,
    Modified,
    Deleted,
    Renamed,
    ModeChanged,
    TypeChanged,
    /// A nested repository was added, removed or moved.
    Nested,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileChange {
    pub(crate) path: Vec<u8>,
    pub(crate) old_path: Option<Vec<u8>>,
    pub(crate) kind: ChangeKind,
    pub(crate) lines: LineCounts,
    pub(crate) old: Option<State>,
    pub(crate) new: Option<State>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineCounts {
    Known {
        added: u64,
        removed: u64,
    },
    /// No lines: a binary file or a repository.
    Without,
    /// The content was not compared.
    Unknown,
}

impl LineCounts {
    pub(crate) fn known(self) -> Option<(u64, u64)> {
        match self {
            LineCounts::Known { added, removed } => Some((added, removed)),
            LineCounts::Without | LineCounts::Unknown => None,
        }
    }

    /// The counts if git gave none: either there are no lines, or one side could not be shown to
    /// git.
    fn untold(old: Option<&State>, new: Option<&State>) -> Self {
        let unshown = |state: Option<&State>| state.is_some_and(|state| !state.readable);
        match (old, new.and_then(|state| state.counted)) {
            (_, Some(Counted::Binary)) => LineCounts::Without,
            (None, Some(Counted::Text { lines })) => LineCounts::Known { added: lines, removed: 0 },
            _ if unshown(old) || unshown(new) => LineCounts::Unknown,
            _ => LineCounts::Without,
        }
    }
}

impl TreeBefore {
    /// Finds renames and line counts. On `Err`, use [`without_content`].
    pub(crate) fn explain(
        &self,
        changed: &[Changed],
        until: Duration,
    ) -> Result<Vec<FileChange>, SnapshotError> {
        self.between(changed, until).or_else(|_| {
            // An object that git lacks, as in a partial clone, would fail the whole comparison.
            let changed = self.without_missing(changed, until)?;
            self.between(&changed, until)
        })
    }

    /// Marks content that git does not have as unreadable.
    fn without_missing(&self, changed: &[Changed], until: Duration) -> Result<Vec<Changed>, SnapshotError> {
        // Content in the working tree was just stored; other content may be missing.
        let borrowed = |one: &Changed| {
            let new = one.new.clone().filter(|state| state.stat.is_none());
            [one.old.clone(), new].into_iter().flatten().filter(|state| state.readable && !state.is_nested())
        };
        let named = changed.iter().flat_map(borrowed).filter_map(|state| state.oid);
        let input: String = named.map(|oid| format!("{oid}\n")).collect();
        let args = ["cat-file", "--batch-check=%(objectname)"];
        let output = self.git.ask_objects(&args, input.into_bytes(), until)?;
        // Git prints the ids of existing objects and reports the others as missing.
        let there: HashSet<Oid> =
            String::from_utf8_lossy(&output).lines().filter_map(Oid::from_hex).collect();
        let mut changed = changed.to_vec();
        let sides = changed.iter_mut().flat_map(|one| {
            let new = one.new.as_mut().filter(|state| state.stat.is_none());
            [one.old.as_mut(), new].into_iter().flatten()
        });
        for state in sides {
            state.readable &= state.oid.is_some_and(|oid| there.contains(&oid));
        }
        Ok(changed)
    }

    fn between(&self, changed: &[Changed], until: Duration) -> Result<Vec<FileChange>, SnapshotError> {
        let any_gone = changed.iter().any(|one| one.new.is_none());
        let (told, files): (Vec<&Changed>, Vec<&Changed>) =
            changed.iter().partition(|one| is_nested(one) || is_counted(one, any_gone));
        let mut all: Vec<FileChange> = told.into_iter().map(plain).collect();
        if !files.is_empty() {
            let old = self.tree(&files, Side::Old)?.to_string();
            let new = self.tree(&files, Side::New)?.to_string();
            let args = [
                "diff-tree",
                "-r",
                "-z",
                "--raw",
                "--numstat",
                "--no-abbrev",
                "-M",
                "--no-ext-diff",
                "--no-textconv",
                "--no-color",
                "--ignore-submodules=all",
                &old,
                &new,
            ];
            self.store.show()?;
            // Run in the working tree, where attributes define which files are text.
            let args = args.map(std::ffi::OsStr::new);
            let output = self.git.ask(&args, &self.repository.root, &self.index(), Vec::new(), until)?;
            let rows = parse(&output).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
            let by_path: HashMap<&[u8], &Changed> =
                files.iter().map(|one| (one.path.as_slice(), *one)).collect();
            all.extend(rows.into_iter().map(|row| row.explained(&by_path)));
        }
        all.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(all)
    }

    /// Writes the tree of one side.
    fn tree(&self, files: &[&Changed], side: Side) -> io::Result<Oid> {
        let mut entries = Vec::new();
        for one in files {
            let state = match side {
                Side::Old => &one.old,
                Side::New => &one.new,
            };
            if let Some(state) = state.as_ref().filter(|state| !state.is_nested()) {
                entries.push((one.path.as_slice(), state.mode, self.named(one, state, side)?));
            }
        }
        self.store.tree(entries)
    }

    /// The object id of a state. If git cannot or should not read the content, the id of a binary
    /// placeholder that is unique to that content.
    fn named(&self, one: &Changed, state: &State, side: Side) -> io::Result<Oid> {
        match state.oid {
            Some(oid) if state.readable => Ok(oid),
            Some(oid) => self.store.blob(format!("\0{oid}\0").as_bytes()),
            None => self.store.blob(&[format!("\0{side:?}\0").as_bytes(), &one.path].concat()),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Old,
    New,
}

fn is_nested(one: &Changed) -> bool {
    [&one.old, &one.new].into_iter().flatten().any(State::is_nested)
}

/// A new file whose lines are counted and that cannot be a rename.
fn is_counted(one: &Changed, any_gone: bool) -> bool {
    let of_no_other = |new: &State| {
        let large = new.stat.is_some_and(|stat| stat.size > LARGE);
        new.counted.is_some() && !new.readable && !(large && any_gone)
    };
    one.old.is_none() && one.new.as_ref().is_some_and(of_no_other)
}

/// Describes changes without looking at content.
pub(crate) fn without_content(changed: &[Changed]) -> Vec<FileChange> {
    changed.iter().map(plain).collect()
}

fn plain(one: &Changed) -> FileChange {
    let kind = match (&one.old, &one.new) {
        (Some(old), Some(new)) if old.is_nested() != new.is_nested() => ChangeKind::TypeChanged,
        _ if is_nested(one) => ChangeKind::Nested,
        (None, _) => ChangeKind::Added,
        (_, None) => ChangeKind::Deleted,
        (Some(old), Some(new)) => between(old.mode, new.mode, old.oid.is_some() && old.oid == new.oid),
    };
    let Changed { path, old, new } = one.clone();
    let lines = match kind {
        _ if is_nested(one) => LineCounts::Without,
        ChangeKind::Added if one.new.as_ref().is_some_and(|new| new.counted.is_some()) => {
            LineCounts::untold(None, one.new.as_ref())
        }
        ChangeKind::ModeChanged => LineCounts::Known { added: 0, removed: 0 },
        ChangeKind::Added
        | ChangeKind::Modified
        | ChangeKind::Deleted
        | ChangeKind::Renamed
        | ChangeKind::TypeChanged
        | ChangeKind::Nested => LineCounts::Unknown,
    };
    FileChange { path, old_path: None, kind, lines, old, new }
}

fn between(old: u32, new: u32, same_content: bool) -> ChangeKind {
    match () {
        () if old & 0o170000 != new & 0o170000 => ChangeKind::TypeChanged,
        () if same_content => ChangeKind::ModeChanged,
        () => ChangeKind::Modified,
    }
}

/// One change in git's output.
#[derive(Debug, PartialEq, Eq)]
struct Row<'a> {
    status: u8,
    same_content: bool,
    modes: (u32, u32),
    path: &'a [u8],
    old_path: Option<&'a [u8]>,
    lines: Option<(u64, u64)>,
}

impl Row<'_> {
    fn explained(self, by_path: &HashMap<&[u8], &Changed>) -> FileChange {
        let at = |path: &[u8]| by_path.get(path).copied();
        let old = at(self.old_path.unwrap_or(self.path)).and_then(|one| one.old.clone());
        let new = at(self.path).and_then(|one| one.new.clone());
        let kind = match self.status {
            b'A' => ChangeKind::Added,
            b'D' => ChangeKind::Deleted,
            b'R' => ChangeKind::Renamed,
            _ => between(self.modes.0, self.modes.1, self.same_content),
        };
        FileChange {
            path: self.path.to_owned(),
            old_path: self.old_path.map(<[u8]>::to_owned),
            kind,
            lines: match self.lines {
                Some((added, removed)) => LineCounts::Known { added, removed },
                // Same content, so no changed lines.
                None if self.same_content => LineCounts::Known { added: 0, removed: 0 },
                None => LineCounts::untold(old.as_ref(), new.as_ref()),
            },
            old,
            new,
        }
    }
}

/// Parses `--raw --numstat -z`: all raw records, then all counts.
fn parse(output: &[u8]) -> Option<Vec<Row<'_>>> {
    let mut fields = output.strip_suffix(b"\0").unwrap_or(output).split(|&byte| byte == 0).peekable();
    let mut rows: Vec<Row<'_>> = Vec::new();
    let mut by_path = HashMap::new();
    while let Some(field) = fields.next() {
        if let Some(raw) = field.strip_prefix(b":") {
            let text = std::str::from_utf8(raw).ok()?;
            let [old, new, old_oid, new_oid, status] = text.split(' ').collect::<Vec<_>>()[..] else {
                return None;
            };
            let status = *status.as_bytes().first()?;
            let first = fields.next()?;
            let (path, old_path) =
                if matches!(status, b'R' | b'C') { (fields.next()?, Some(first)) } else { (first, None) };
            let octal = |word| u32::from_str_radix(word, 8).ok();
            by_path.insert(path, rows.len());
            rows.push(Row {
                status,
                same_content: old_oid == new_oid,
                modes: (octal(old)?, octal(new)?),
                path,
                old_path,
                lines: None,
            });
        } else if !field.is_empty() {
            let mut parts = field.splitn(3, |&byte| byte == b'\t');
            let (added, removed, path) = (parts.next()?, parts.next()?, parts.next()?);
            let path = if path.is_empty() { fields.nth(1)? } else { path };
            let number = |bytes| std::str::from_utf8(bytes).ok()?.parse::<u64>().ok();
            let row = by_path.get(path).and_then(|at| rows.get_mut(*at))?;
            row.lines = number(added).zip(number(removed));
        }
    }
    Some(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_and_numbers_are_put_together_whatever_the_names() {
        let output = b":100644 100755 aa bb M\0-a\tb\0:100644 100644 cc cc R100\0old\nname\0new\0\
                     :100644 120000 aa dd T\0t\0:100644 100755 ee ee M\0m\0\
                     1\t2\t-a\tb\0-\t-\t\0old\nname\0new\x003\t0\tt\0";
        let rows = parse(output).unwrap();
        let told: Vec<_> = rows.iter().map(|row| (row.path, row.old_path, row.lines)).collect();
        assert_eq!(
            told,
            [
                (&b"-a\tb"[..], None, Some((1, 2))),
                (b"new", Some(&b"old\nname"[..]), None),
                (b"t", None, Some((3, 0))),
                (b"m", None, None),
            ]
        );
        let kinds: Vec<_> = rows.into_iter().map(|row| row.explained(&HashMap::new()).kind).collect();
        assert_eq!(
            kinds,
            [ChangeKind::Modified, ChangeKind::Renamed, ChangeKind::TypeChanged, ChangeKind::ModeChanged]
        );
        assert_eq!(parse(b"nonsense"), None);
        assert_eq!(parse(b""), Some(Vec::new()));
    }
}
