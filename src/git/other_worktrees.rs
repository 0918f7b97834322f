//! The other worktrees of a repository: their branches, and the commits made there. A worktree
//! created during a run belongs to the run.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::git::object::Oid;
use crate::git::repository::{Head, Repository, bounded};
use crate::host::files;

/// Further worktrees are ignored.
const MOST: usize = 1_000;
/// How much of the end of a reflog is read.
const JOURNAL: u64 = 1 << 20;

/// A worktree other than the current one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OtherWorktree {
    /// Its own git directory, with its `HEAD`.
    dir: PathBuf,
    pub(super) head: Head,
}

impl OtherWorktree {
    /// Its name among the worktrees; empty for the main one.
    pub(super) fn name(&self, repository: &Repository) -> Vec<u8> {
        let below = self.dir.strip_prefix(&repository.common).unwrap_or(&self.dir);
        below.file_name().map(|name| name.as_bytes().to_owned()).unwrap_or_default()
    }

    /// The directory of its files.
    pub(super) fn root(&self) -> Option<PathBuf> {
        let bytes = bounded(&self.dir.join("gitdir"), 64 << 10).ok()?;
        let dot = self.dir.join(OsStr::from_bytes(bytes.trim_ascii()));
        dot.parent().map(Path::to_owned)
    }

    pub(super) fn journal(&self) -> Vec<HeadMove> {
        journal(&self.dir)
    }
}

impl Repository {
    pub(super) fn other_trees(&self) -> Vec<OtherWorktree> {
        let linked = fs::read_dir(self.common.join("worktrees")).into_iter().flatten().flatten();
        let dirs = linked.take(MOST).map(|entry| entry.path()).chain([self.common.clone()]);
        let own = fs::canonicalize(&self.dir).ok();
        let others = dirs.filter(|dir| fs::canonicalize(dir).ok() != own);
        others
            .map(|dir| OtherWorktree { head: Self { dir: dir.clone(), ..self.clone() }.head(), dir })
            .collect()
    }
}

/// The branches checked out in `others`, if this worktree is at `head`.
pub(super) fn branches<'a>(
    others: impl IntoIterator<Item = &'a OtherWorktree>,
    head: &Head,
) -> HashSet<String> {
    let branches = others.into_iter().filter_map(|other| other.head.branch.as_ref());
    let elsewhere = branches.filter(|branch| head.branch.as_ref() != Some(branch));
    elsewhere.map(|branch| format!("refs/heads/{branch}")).collect()
}

/// One entry of the reflog of `HEAD`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HeadMove {
    pub(super) from: Oid,
    pub(super) to: Oid,
    pub(super) at: i64,
    pub(super) what: String,
}

impl HeadMove {
    /// Whether it created a commit rather than moving to an existing one.
    pub(super) fn makes(&self) -> bool {
        let goes = ["checkout:", "reset:", "clone:", "rebase (start)", "rebase (finish)", "rebase (abort)"];
        !goes.iter().any(|word| self.what.starts_with(word)) && !self.what.ends_with(": Fast-forward")
    }
}

/// The recent reflog of the `HEAD` in `dir`.
pub(super) fn journal(dir: &Path) -> Vec<HeadMove> {
    let (bytes, _) = files::tail(&dir.join("logs/HEAD"), JOURNAL).unwrap_or_default();
    String::from_utf8_lossy(&bytes).lines().filter_map(step).collect()
}

/// `<old> <new> <name> <<mail>> <seconds> <zone>\t<what>`
fn step(line: &str) -> Option<HeadMove> {
    let (who, what) = line.split_once('\t').unwrap_or((line, ""));
    let mut words = who.split(' ');
    let (from, to) = (Oid::from_hex(words.next()?)?, Oid::from_hex(words.next()?)?);
    let at = who.rsplit(' ').nth(1)?.parse().ok()?;
    Some(HeadMove { from, to, at, what: what.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_only_goes_to_a_commit_did_not_make_it() {
        let oid = Oid::from_hex(&"0a".repeat(20)).unwrap();
        let makes = |what: &str| HeadMove { from: oid, to: oid, at: 0, what: what.to_owned() }.makes();
        for what in
            ["commit: x", "commit (amend): x", "merge side: Merge made", "rebase (pick): x", "revert: x", ""]
        {
            assert!(makes(what), "{what}");
        }
        for what in [
            "checkout: moving from a to b",
            "merge side: Fast-forward",
            "pull: Fast-forward",
            "reset: moving to x",
        ] {
            assert!(!makes(what), "{what}");
        }
    }

    #[test]
    fn a_journal_tells_what_was_done_when() {
        let (one, two) = ("0a".repeat(20), "0b".repeat(20));
        let line = format!("{one} {two} A U Thor <a@b> 1700000000 +0100\tcommit: x y");
        let expected = HeadMove {
            from: Oid::from_hex(&one).unwrap(),
            to: Oid::from_hex(&two).unwrap(),
            at: 1_700_000_000,
            what: "commit: x y".into(),
        };
        assert_eq!(step(&line), Some(expected));
        for nonsense in ["", "nonsense", "0a 0b x", &format!("{one} {two}")] {
            assert_eq!(step(nonsense), None, "{nonsense}");
        }
    }
}
