//! Files as an agent's own events tell of them, and as the disk bears it out.

use std::path::{Path, PathBuf};

use super::edits::Edits;
use super::files::{ChangeOf, FileRecord, Files, Source, Totals};
use crate::git::{Format, Found, WorkTree};
use crate::model::ChangeKind;

/// Larger files are told without their hash.
const LARGEST_HASHED: u64 = 64 << 20;

impl Files {
    /// What the agent reported below `cwd`. Lines are not known, so none are
    /// told; sizes and hashes are those of the files that are there now.
    pub(crate) fn from_events(edits: &Edits, cwd: &Path, reason: String) -> Self {
        let mut tree = WorkTree::open(cwd).ok();
        let changes: Vec<FileRecord> =
            edits.iter().map(|(path, kind)| record(path, kind, cwd, tree.as_mut())).collect();
        let left_out = usize::try_from(edits.left_out()).unwrap_or(usize::MAX);
        Self {
            source: Source::AgentEvents,
            reason: Some(reason),
            root: Some(cwd.to_owned()),
            totals: Totals { files: changes.len() + left_out, ..Totals::default() },
            changes,
            left_out,
            ..Self::default()
        }
    }
}

fn record(named: &str, kind: ChangeKind, cwd: &Path, tree: Option<&mut WorkTree>) -> FileRecord {
    let path = Path::new(named);
    let below = if path.is_absolute() { path.strip_prefix(cwd).ok() } else { Some(path) };
    // What an agent names is only looked at where it was to work.
    let seen = below.zip(tree).and_then(|(below, tree)| seen(below, tree));
    FileRecord {
        path: below.map_or_else(|| named.to_owned(), |below| below.to_string_lossy().into_owned()),
        path_hex: None,
        kind: match kind {
            ChangeKind::Add => ChangeOf::Added,
            ChangeKind::Update => ChangeOf::Modified,
            ChangeKind::Delete => ChangeOf::Deleted,
        },
        old_path: None,
        old_path_hex: None,
        lines_added: None,
        lines_removed: None,
        size: seen.as_ref().map(|(size, _)| *size),
        sha256: seen.and_then(|(_, sha256)| sha256),
        old_mode: None,
        new_mode: None,
        old_commit: None,
        new_commit: None,
    }
}

fn seen(below: &Path, tree: &mut WorkTree) -> Option<(u64, Option<String>)> {
    use std::os::unix::ffi::OsStrExt;
    let clean: PathBuf =
        below.components().filter(|one| !matches!(one, std::path::Component::CurDir)).collect();
    let path = clean.as_os_str().as_bytes();
    let Found::File(stat) = tree.look(path) else { return None };
    let content = if stat.size <= LARGEST_HASHED {
        tree.read(path, Format::Sha1, LARGEST_HASHED, || true).ok()
    } else {
        None
    };
    Some((stat.size, content.and_then(|content| content.sha256())))
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
        let mut edits = Edits::default();
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
        assert_eq!(
            told,
            [("../secret", None), ("./a.txt", Some(3)), ("/etc/passwd", None), ("a.txt", Some(3))]
        );
        assert_eq!(files.totals, Totals { files: 4, lines_added: None, lines_removed: None });
        assert!(files.changes[3].sha256.as_deref().unwrap().starts_with("98ea6e4f"));
    }
}
