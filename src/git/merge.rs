//! Merges trees and commits with our own git, and tells what a merge changes.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use crate::git::all_added::named;
use crate::git::object::Oid;
use crate::git::snapshot::{SnapshotError, TreeBefore};
use crate::host::BoundedRunError;

/// The result of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Merged {
    Clean(Oid),
    /// The files that both sides changed differently.
    Conflicts(Vec<Vec<u8>>),
}

/// One path that differs between two trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TreeChange {
    pub(crate) path: Vec<u8>,
    /// 0 where it does not exist.
    pub(crate) old_mode: u32,
    pub(crate) new_mode: u32,
}

/// A commit to be written.
#[derive(Debug)]
pub(crate) struct NewCommit<'a> {
    pub(crate) tree: Oid,
    pub(crate) parents: &'a [Oid],
    pub(crate) message: &'a str,
    /// Seconds since the epoch.
    pub(crate) at: i64,
}

impl TreeBefore {
    /// Applies what `theirs` has over `base` to `ours`. All are commits.
    pub(crate) fn merge(
        &self,
        base: Oid,
        ours: Oid,
        theirs: Oid,
        until: Duration,
    ) -> Result<Merged, SnapshotError> {
        let (base, ours, theirs) = (format!("--merge-base={base}"), ours.to_string(), theirs.to_string());
        let args =
            ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", &base, &ours, &theirs];
        let asked =
            self.git().begin(&args.map(OsStr::new), self.root(), &self.all_added(), Vec::new(), until)?;
        let (output, ended) = asked.finish_anyhow();
        let mut fields = output.split(|&byte| byte == 0).filter(|field| !field.is_empty());
        let tree = named(fields.next().unwrap_or_default());
        match ended {
            Ok(()) => Ok(Merged::Clean(tree?)),
            Err(BoundedRunError::Failed { status, .. }) if status.code() == Some(1) && tree.is_ok() => {
                Ok(Merged::Conflicts(fields.map(<[u8]>::to_owned).collect()))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Applies a patch to the working tree as a tree of git's.
    pub(crate) fn apply_patch(&self, patch: Vec<u8>, until: Duration) -> Result<Merged, SnapshotError> {
        let args = ["apply", "--cached", "--whitespace=nowarn", "-"];
        match self.ask_all(&args, patch, until) {
            Ok(_) => Ok(Merged::Clean(self.write_tree(until)?)),
            Err(SnapshotError::Git(BoundedRunError::Failed { complaint, .. })) => {
                Ok(Merged::Conflicts(refused_files(&complaint)))
            }
            Err(error) => Err(error),
        }
    }

    /// Writes a commit among our own objects.
    pub(crate) fn commit(&self, commit: &NewCommit<'_>, until: Duration) -> Result<Oid, SnapshotError> {
        let parents: String = commit.parents.iter().map(|parent| format!("parent {parent}\n")).collect();
        let by = format!("delegator <delegator@localhost> {} +0000", commit.at);
        let NewCommit { tree, message, .. } = commit;
        let text = format!("tree {tree}\n{parents}author {by}\ncommitter {by}\n\n{message}");
        self.write_commit(text.into_bytes(), until)
    }

    pub(crate) fn tree_of(&self, commit: Oid, until: Duration) -> Result<Oid, SnapshotError> {
        named(&self.ask_all(&["rev-parse", "--verify", &format!("{commit}^{{tree}}")], Vec::new(), until)?)
    }

    pub(crate) fn merge_base(&self, one: Oid, other: Oid, until: Duration) -> Result<Oid, SnapshotError> {
        named(&self.ask_all(&["merge-base", &one.to_string(), &other.to_string()], Vec::new(), until)?)
    }

    pub(crate) fn is_ancestor(&self, old: Oid, new: Oid, until: Duration) -> bool {
        let args = ["merge-base", "--is-ancestor", &old.to_string(), &new.to_string()];
        self.ask_all(&args, Vec::new(), until).is_ok()
    }

    /// The paths that differ between two trees or commits.
    pub(crate) fn tree_changes(
        &self,
        old: Oid,
        new: Oid,
        until: Duration,
    ) -> Result<Vec<TreeChange>, SnapshotError> {
        let (old, new) = (old.to_string(), new.to_string());
        let args = ["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", &old, &new];
        let output = self.ask_all(&args, Vec::new(), until)?;
        let fields: Vec<&[u8]> = output.split(|&byte| byte == 0).filter(|field| !field.is_empty()).collect();
        let change = |pair: &[&[u8]]| {
            let head = std::str::from_utf8(pair[0]).ok()?.strip_prefix(':')?;
            let mut modes = head.split(' ').map(|word| u32::from_str_radix(word, 8));
            let (old_mode, new_mode) = (modes.next()?.ok()?, modes.next()?.ok()?);
            Some(TreeChange { path: pair[1].to_owned(), old_mode, new_mode })
        };
        let changes: Option<Vec<TreeChange>> = fields.chunks_exact(2).map(change).collect();
        changes.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData).into())
    }

    /// Writes the files of `tree` at `paths` below `into`, in the form of the working tree.
    pub(crate) fn stage(
        &self,
        tree: Oid,
        paths: &[&[u8]],
        into: &Path,
        until: Duration,
    ) -> Result<(), SnapshotError> {
        if paths.is_empty() {
            return Ok(());
        }
        let index = self.git().file("to-stage");
        let links = format!("core.symlinks={}", self.links);
        let mut prefix = OsStr::new("--prefix=").to_owned();
        prefix.push(into);
        prefix.push("/");
        let ask = |args: &[&OsStr], input| self.git().ask(args, self.root(), &index, input, until);
        ask(&["read-tree", &tree.to_string()].map(OsStr::new), Vec::new())?;
        let args = ["-c", &links, "checkout-index", "--quiet", "-z", "--stdin"].map(OsStr::new);
        let args: Vec<&OsStr> = args.into_iter().chain([prefix.as_os_str()]).collect();
        let mut input = paths.join(&0);
        input.push(0);
        ask(&args, input)?;
        Ok(fs::remove_file(index)?)
    }

    /// Packs what `new` has over `old` into `<dir>/pack-….pack` and its index.
    pub(crate) fn pack(
        &self,
        new: Oid,
        old: &[Oid],
        dir: &Path,
        until: Duration,
    ) -> Result<(), SnapshotError> {
        let not: String = old.iter().map(|oid| format!("^{oid}\n")).collect();
        let (args, name) =
            (["pack-objects", "--quiet", "--no-reuse-object", "--revs"].map(OsStr::new), dir.join("pack"));
        let args: Vec<&OsStr> = args.into_iter().chain([name.as_os_str()]).collect();
        let input = format!("{new}\n{not}").into_bytes();
        self.git().ask(&args, self.root(), &self.all_added(), input, until)?;
        Ok(())
    }
}

/// The files that `git apply` complains about: `error: patch failed: a/b:12` and `error: a/b: patch does not apply`.
fn refused_files(complaint: &str) -> Vec<Vec<u8>> {
    let named = complaint.lines().filter_map(|line| {
        let text = line.strip_prefix("error: ")?;
        match text.strip_prefix("patch failed: ") {
            Some(place) => place.rsplit_once(':').map(|(path, _)| path),
            None => text.split_once(": ").map(|(path, _)| path),
        }
    });
    let named: BTreeSet<Vec<u8>> = named.map(|path| path.as_bytes().to_owned()).collect();
    if named.is_empty() { vec![b"(the diff itself)".to_vec()] } else { named.into_iter().collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_that_a_patch_does_not_fit_are_named_once() {
        let complaint = "error: patch failed: a/b.txt:12\nerror: a/b.txt: patch does not apply\n\
                         error: c: already exists in index\nwarning: x\n";
        assert_eq!(refused_files(complaint), [b"a/b.txt".to_vec(), b"c".to_vec()]);
        assert_eq!(refused_files("error: corrupt patch at line 3"), [b"(the diff itself)".to_vec()]);
    }
}
