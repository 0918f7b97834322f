//! File changes from an agent's own events, checked against the disk.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::evidence::files::edits::Edits;
use crate::evidence::files::{ChangeOf, FileRecord, Files, Source, Totals};
use crate::git::{Format, PathEntry, Stat, WorkTree};
use crate::model::ChangeKind;
use crate::text::plain;

/// Larger files are reported without a hash.
const LARGEST_HASHED: u64 = 64 << 20;
const LONGEST_LIST: usize = 400;

const ONLY_REPORTED: &str =
    "unknown what the agent's commands and tools changed: only the edits that it reported are listed";

impl Files {
    /// The edits that the agent reported below `cwd`, unless the disk contradicts them. Lines are unknown;
    /// sizes and hashes are those of the current files.
    pub(crate) fn from_events(edits: &Edits, cwd: &Path, reason: String) -> Self {
        let mut tree = WorkTree::open(cwd).ok();
        let (mut changes, mut missing, mut there) = (Vec::new(), Vec::new(), Vec::new());
        for (named, kind) in edits.iter() {
            let below = Path::new(named).strip_prefix(cwd).ok().filter(|below| !below.as_os_str().is_empty());
            // Paths outside the run's directory are not read.
            let found = below.zip(tree.as_mut()).map(|(below, tree)| tree.look(below.as_os_str().as_bytes()));
            let shown = below.map_or_else(|| named.to_owned(), |below| below.to_string_lossy().into_owned());
            match (kind, found) {
                (ChangeKind::Add | ChangeKind::Update, Some(PathEntry::Nothing)) => missing.push(shown),
                (ChangeKind::Delete, Some(PathEntry::File(_))) => there.push(shown),
                (_, Some(PathEntry::File(stat))) => {
                    let sha256 = below.zip(tree.as_mut()).and_then(|(below, tree)| sum(below, &stat, tree));
                    changes.push(FileRecord { size: Some(stat.size), sha256, ..record(shown, kind) });
                }
                (_, Some(PathEntry::Nothing | PathEntry::Directory | PathEntry::Unseen) | None) => {
                    changes.push(record(shown, kind));
                }
            }
        }
        let list = |names: Vec<String>| plain::line(&names.join(", "), LONGEST_LIST);
        let gaps = [
            (!missing.is_empty())
                .then(|| format!("the agent reports changes to files that do not exist: {}", list(missing))),
            (!there.is_empty())
                .then(|| format!("the agent reports deleting files that still exist: {}", list(there))),
            edits.did_more().then(|| ONLY_REPORTED.to_owned()),
        ];
        let left_out = usize::try_from(edits.left_out()).unwrap_or(usize::MAX);
        Self {
            source: Source::AgentEvents,
            reason: Some(reason),
            root: Some(cwd.to_owned()),
            incomplete: gaps.into_iter().flatten().collect(),
            totals: Totals { files: changes.len() + left_out, ..Totals::default() },
            changes,
            left_out,
            ..Self::default()
        }
    }
}

impl FileRecord {
    /// Nothing else is known of it.
    pub(crate) fn bare(path: String, kind: ChangeOf) -> Self {
        Self {
            path,
            path_hex: None,
            kind,
            old_path: None,
            old_path_hex: None,
            lines_added: None,
            lines_removed: None,
            size: None,
            sha256: None,
            old_mode: None,
            new_mode: None,
            old_commit: None,
            new_commit: None,
        }
    }
}

fn record(path: String, kind: ChangeKind) -> FileRecord {
    let kind = match kind {
        ChangeKind::Add => ChangeOf::Added,
        ChangeKind::Update => ChangeOf::Modified,
        ChangeKind::Delete => ChangeOf::Deleted,
    };
    FileRecord::bare(path, kind)
}

fn sum(below: &Path, stat: &Stat, tree: &mut WorkTree) -> Option<String> {
    let path = below.as_os_str().as_bytes();
    let small = stat.size <= LARGEST_HASHED;
    small.then(|| tree.read(path, Format::Sha1, LARGEST_HASHED, || true).ok()?.sha256()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Change, Event, ItemStatus};

    #[test]
    fn only_what_is_below_the_directory_is_looked_at() {
        let dir = tempfile::tempdir().unwrap();
        let cwd = dir.path().join("work");
        std::fs::create_dir(&cwd).unwrap();
        std::fs::write(dir.path().join("secret"), "x").unwrap();
        std::fs::write(cwd.join("a.txt"), "hi\n").unwrap();
        let mut edits = Edits::new(cwd.to_str().unwrap());
        let names = [
            cwd.join("a.txt").to_str().unwrap().to_owned(),
            "../secret".into(),
            "/etc/passwd".into(),
            "./a.txt".into(),
        ];
        for path in names {
            let changes = vec![Change { path, kind: ChangeKind::Add }];
            edits.note(&Event::Edited { item: "1".into(), changes, status: ItemStatus::Completed });
        }
        let files = Files::from_events(&edits, &cwd, "no repository".into());
        let told: Vec<_> = files.changes.iter().map(|one| (one.path.as_str(), one.size)).collect();
        let secret = dir.path().join("secret");
        assert_eq!(told, [("/etc/passwd", None), (secret.to_str().unwrap(), None), ("a.txt", Some(3))]);
        assert_eq!(files.totals, Totals { files: 3, lines_added: None, lines_removed: None });
        assert!(files.changes[2].sha256.as_deref().unwrap().starts_with("98ea6e4f"));
        assert_eq!(files.incomplete, [""; 0]);
    }

    #[test]
    fn what_the_disk_does_not_bear_out_is_not_told_as_a_change() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("there"), "").unwrap();
        let mut edits = Edits::new(dir.path().to_str().unwrap());
        let change = |path: &str, kind| Change { path: path.to_owned(), kind };
        let changes = vec![
            change("never", ChangeKind::Add),
            change("there", ChangeKind::Delete),
            change("gone", ChangeKind::Delete),
        ];
        edits.note(&Event::Edited { item: "1".into(), changes, status: ItemStatus::Completed });
        let (item, command, exit_code) = ("2".to_owned(), "rm -f a".to_owned(), Some(0));
        let status = ItemStatus::Completed;
        edits.note(&Event::CommandEnded { item, command, exit_code, output_bytes: 0, status });
        let files = Files::from_events(&edits, dir.path(), "no repository".into());
        let told: Vec<_> = files.changes.iter().map(|one| (one.path.as_str(), one.kind)).collect();
        assert_eq!(told, [("gone", ChangeOf::Deleted)]);
        let gaps = [
            "the agent reports changes to files that do not exist: never",
            "the agent reports deleting files that still exist: there",
            ONLY_REPORTED,
        ];
        assert_eq!(files.incomplete, gaps);
    }
}
