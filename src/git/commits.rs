//! Finds the commits made during a run: reachable now from a branch or `HEAD`, not reachable
//! before, and not older than the run.
//!
//! Fetched commits do not count, nor do commits on the branch of another worktree or made in one,
//! unless the run created that worktree.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::git::object::Oid;
use crate::git::other_worktrees;
use crate::git::other_worktrees::{HeadMove, OtherWorktree};
use crate::git::repository::{Head, Repository, bounded};
use crate::git::snapshot::{SnapshotError, TreeBefore};
use crate::host::files;

/// Further commits are counted but not listed.
const MOST: usize = 200;
/// Beyond this number commits are not even counted.
const MOST_COUNTED: usize = 20_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Commit {
    pub(crate) id: String,
    /// The first line of the message.
    pub(crate) subject: String,
}

#[derive(Debug, Default)]
pub(crate) struct History {
    pub(crate) head: Head,
    /// Newest first.
    pub(crate) commits: Vec<Commit>,
    /// Number of further commits.
    pub(crate) left_out: usize,
    /// Number of commits that are new here but older than the run.
    pub(crate) older: usize,
    /// There are more of both.
    pub(crate) uncounted: bool,
    /// `HEAD` is new and cannot be read.
    pub(crate) unread: bool,
    /// Worktrees that the run created; their files were not examined.
    pub(crate) made: Vec<PathBuf>,
}

impl TreeBefore {
    /// The current `HEAD` and the commits since. `is_others` says whether a new worktree belongs to
    /// another run.
    pub(crate) fn history(
        &self,
        until: Duration,
        is_others: impl Fn(&Path) -> bool,
    ) -> Result<History, (Head, SnapshotError)> {
        let head = self.repository.head();
        let is_made = |other: &OtherWorktree| {
            !self.trees.contains(&other.name(&self.repository))
                && !other.root().is_some_and(|root| is_others(&root))
        };
        let (made, others) = self.repository.other_trees().into_iter().partition::<Vec<_>, _>(is_made);
        match self.commits(&head, &made, &others, until) {
            Ok(history) => {
                Ok(History { head, made: made.iter().filter_map(OtherWorktree::root).collect(), ..history })
            }
            Err(trouble) => Err((head, trouble)),
        }
    }

    fn commits(
        &self,
        head: &Head,
        made: &[OtherWorktree],
        others: &[OtherWorktree],
        until: Duration,
    ) -> Result<History, SnapshotError> {
        let known = String::from_utf8_lossy(&files::read(&self.git.file("references"))?).into_owned();
        let before: HashSet<Oid> =
            known.lines().filter_map(|line| Oid::from_hex(line.strip_prefix('^')?)).collect();
        // Git records times in seconds, by the same clock as file times.
        let since = self.since().0;
        let elsewhere = other_worktrees::branches(others, head);
        let mut references = self.repository.references();
        // A branch that another worktree left meanwhile still belongs to it.
        references.retain(|(name, _)| !elsewhere.contains(name) && !self.elsewhere.contains(name));
        let at = |prefix: &'static str| {
            references.iter().filter(move |(name, _)| name.starts_with(prefix)).map(|(_, oid)| *oid)
        };
        let own: Vec<HeadMove> = made
            .iter()
            .flat_map(OtherWorktree::journal)
            .chain(other_worktrees::journal(&self.repository.dir))
            .filter(|step| step.at >= since)
            .collect();
        let heads = made.iter().filter_map(|other| other.head.commit).chain(head.commit);
        let tips = at("refs/heads/").chain(heads).chain(own.iter().filter_map(left_commit));
        let new: HashSet<Oid> = tips.filter(|oid| !before.contains(oid)).collect();
        if new.is_empty() {
            return Ok(History::default());
        }
        // A worktree that continues from the run's commits has them in its reflog too.
        let ours: HashSet<Oid> = own.iter().filter(|step| step.makes()).map(|step| step.to).collect();
        let theirs: HashSet<Oid> = others
            .iter()
            .flat_map(OtherWorktree::journal)
            .filter(|step| step.at >= since && step.makes() && !ours.contains(&step.to))
            .map(|step| step.to)
            .collect();
        // Git must know where a shallow history ends.
        if let Ok(bytes) = bounded(&self.repository.common.join("shallow"), 16 << 20) {
            files::write_in_place(self.git.file("shallow"), bytes)?;
        }
        let mut input = known;
        at("refs/remotes/").for_each(|oid| input += &format!("^{oid}\n"));
        self.fetched().iter().for_each(|oid| input += &format!("^{oid}\n"));
        new.iter().for_each(|oid| input += &format!("{oid}\n"));
        let most = (MOST_COUNTED + 1).to_string();
        let args = [
            "log",
            // Must come before `--stdin`, because git resolves the names as it reads them.
            "--ignore-missing",
            "--stdin",
            "-z",
            "--no-show-signature",
            "--no-notes",
            "--no-color",
            "--topo-order",
            "--format=tformat:%H %ct %s",
            "-n",
            &most,
        ];
        let output = self.git.ask_objects(&args, input.into_bytes(), until)?;
        let output = String::from_utf8_lossy(&output);
        let all: Vec<(i64, Commit)> = output.split('\0').filter_map(parse).collect();
        let uncounted = all.len() > MOST_COUNTED;
        let is_told = |oid: Oid| all.iter().any(|(_, commit)| commit.id == oid.to_string());
        let untold = head.commit.filter(|oid| new.contains(oid) && !uncounted && !is_told(*oid));
        let unread = untold.is_some_and(|oid| !self.has(oid, until));
        let is_theirs = |commit: &Commit| Oid::from_hex(&commit.id).is_some_and(|id| theirs.contains(&id));
        let all = all.into_iter().take(MOST_COUNTED).filter(|(_, commit)| !is_theirs(commit));
        let (young, old): (Vec<_>, Vec<_>) = all.partition(|(at, _)| *at >= since);
        let left_out = young.len().saturating_sub(MOST);
        let commits = young.into_iter().take(MOST).map(|(_, commit)| commit).collect();
        Ok(History { commits, left_out, older: old.len(), uncounted, unread, ..History::default() })
    }

    /// Whether an object can be read.
    fn has(&self, oid: Oid, until: Duration) -> bool {
        self.git.ask_objects(&["cat-file", "-e", &oid.to_string()], Vec::new(), until).is_ok()
    }

    /// The commits of the last fetch.
    fn fetched(&self) -> Vec<Oid> {
        let bytes = bounded(&self.repository.dir.join("FETCH_HEAD"), 1 << 20).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        // A fetch from this repository itself brings nothing.
        let lines = text.lines().filter(|line| !line.trim_end().ends_with(" of ."));
        lines.filter_map(|line| Oid::from_hex(line.split('\t').next()?)).collect()
    }
}

/// The commits that are not new after the run, one `^id` per line.
pub(super) fn known(repository: &Repository) -> String {
    let head = repository.head().commit;
    let mut known: Vec<Oid> = repository.references().into_iter().map(|(_, oid)| oid).chain(head).collect();
    known.sort_by_key(|oid| oid.to_string());
    known.dedup();
    known.iter().map(|oid| format!("^{oid}\n")).collect()
}

/// The commit that a checkout moved away from, if it was on no branch.
fn left_commit(step: &HeadMove) -> Option<Oid> {
    let from = step.what.strip_prefix("checkout: moving from ")?.split(' ').next()?;
    Oid::from_hex(from).map(|_| step.from)
}

/// `<commit> <seconds> <subject>`
fn parse(record: &str) -> Option<(i64, Commit)> {
    let (id, rest) = record.trim_start().split_once(' ')?;
    let (at, subject) = rest.split_once(' ').unwrap_or((rest, ""));
    Some((at.parse().ok()?, Commit { id: id.to_owned(), subject: subject.to_owned() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_commit_on_no_branch_is_left_behind() {
        let oid = |text: &str| Oid::from_hex(&text.repeat(20)).unwrap();
        let step = |what: &str| HeadMove { from: oid("0a"), to: oid("0b"), at: 5, what: what.to_owned() };
        assert_eq!(
            left_commit(&step(&format!("checkout: moving from {} to main", "0a".repeat(20)))),
            Some(oid("0a"))
        );
        assert_eq!(left_commit(&step("checkout: moving from other to main")), None);
        assert_eq!(left_commit(&step("commit: moving")), None);
    }
}
