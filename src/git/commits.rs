//! The commits that came about during a run: reachable now, from a branch or
//! from where the tree stands, from no reference before, and not older than the
//! run. What came from elsewhere, with a fetch or a merge, is not among them, nor
//! what is on the branch of another working tree or was committed in one: somebody
//! else works there, unless the run itself made it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::git::object::Oid;
use crate::git::other_worktrees;
use crate::git::other_worktrees::{Other, Step};
use crate::git::repository::{Head, Repository, bounded};
use crate::git::snapshot::{Before, Trouble};
use crate::host::files;

/// More are counted and not listed.
const MOST: usize = 200;
/// Of more than that some are not even counted.
const MOST_COUNTED: usize = 20_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Commit {
    pub(crate) id: String,
    /// The first line of what its author wrote.
    pub(crate) subject: String,
}

#[derive(Debug, Default)]
pub(crate) struct History {
    pub(crate) head: Head,
    /// The youngest first.
    pub(crate) commits: Vec<Commit>,
    /// How many more there are.
    pub(crate) left_out: usize,
    /// How many are new here and older than the run.
    pub(crate) older: usize,
    /// There are more of both.
    pub(crate) uncounted: bool,
    /// The commit that the tree stands on is new and cannot be read.
    pub(crate) unread: bool,
    /// The working trees that were made during the run; their files were not looked at.
    pub(crate) made: Vec<PathBuf>,
}

impl Before {
    /// Where the tree stands now, and what was committed since. `is_others` says
    /// of a working tree that is new whether somebody else works there.
    pub(crate) fn history(
        &self,
        until: Duration,
        is_others: impl Fn(&Path) -> bool,
    ) -> Result<History, (Head, Trouble)> {
        let head = self.repository.head();
        let is_made = |other: &Other| {
            !self.trees.contains(&other.name(&self.repository))
                && !other.root().is_some_and(|root| is_others(&root))
        };
        let (made, others) = self.repository.other_trees().into_iter().partition::<Vec<_>, _>(is_made);
        match self.commits(&head, &made, &others, until) {
            Ok(history) => {
                Ok(History { head, made: made.iter().filter_map(Other::root).collect(), ..history })
            }
            Err(trouble) => Err((head, trouble)),
        }
    }

    fn commits(
        &self,
        head: &Head,
        made: &[Other],
        others: &[Other],
        until: Duration,
    ) -> Result<History, Trouble> {
        let known = String::from_utf8_lossy(&files::read(&self.git.file("references"))?).into_owned();
        let before: HashSet<Oid> =
            known.lines().filter_map(|line| Oid::from_hex(line.strip_prefix('^')?)).collect();
        // Git dates what it does by the second, and by the clock that files have.
        let since = self.since().0;
        let elsewhere = other_worktrees::branches(others, head);
        let mut references = self.repository.references();
        // One that was left there in the meantime is still theirs.
        references.retain(|(name, _)| !elsewhere.contains(name) && !self.elsewhere.contains(name));
        let at = |prefix: &'static str| {
            references.iter().filter(move |(name, _)| name.starts_with(prefix)).map(|(_, oid)| *oid)
        };
        let own: Vec<Step> = made
            .iter()
            .flat_map(Other::journal)
            .chain(other_worktrees::journal(&self.repository.dir))
            .filter(|step| step.at >= since)
            .collect();
        let heads = made.iter().filter_map(|other| other.head.commit).chain(head.commit);
        let tips = at("refs/heads/").chain(heads).chain(own.iter().filter_map(left));
        let new: HashSet<Oid> = tips.filter(|oid| !before.contains(oid)).collect();
        if new.is_empty() {
            return Ok(History::default());
        }
        // Whoever goes on from commits of others has them in their journal as well.
        let ours: HashSet<Oid> = own.iter().filter(|step| step.makes()).map(|step| step.to).collect();
        let theirs: HashSet<Oid> = others
            .iter()
            .flat_map(Other::journal)
            .filter(|step| step.at >= since && step.makes() && !ours.contains(&step.to))
            .map(|step| step.to)
            .collect();
        // Where the history was cut off, git has to know.
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
            // Before what it is about: the names are read where they are asked for.
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
        let said = self.git.ask_objects(&args, input.into_bytes(), until)?;
        let said = String::from_utf8_lossy(&said);
        let all: Vec<(i64, Commit)> = said.split('\0').filter_map(parsed).collect();
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

    /// Whether an object is there to be read.
    fn has(&self, oid: Oid, until: Duration) -> bool {
        self.git.ask_objects(&["cat-file", "-e", &oid.to_string()], Vec::new(), until).is_ok()
    }

    /// What was last brought here from another repository.
    fn fetched(&self) -> Vec<Oid> {
        let bytes = bounded(&self.repository.dir.join("FETCH_HEAD"), 1 << 20).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        // From here to here nothing was brought.
        let lines = text.lines().filter(|line| !line.trim_end().ends_with(" of ."));
        lines.filter_map(|line| Oid::from_hex(line.split('\t').next()?)).collect()
    }
}

/// What commits are not new after the run, one `^name` per line.
pub(super) fn known(repository: &Repository) -> String {
    let head = repository.head().commit;
    let mut known: Vec<Oid> = repository.references().into_iter().map(|(_, oid)| oid).chain(head).collect();
    known.sort_by_key(|oid| oid.to_string());
    known.dedup();
    known.iter().map(|oid| format!("^{oid}\n")).collect()
}

/// What a step went away from, where that was on no branch.
fn left(step: &Step) -> Option<Oid> {
    let from = step.what.strip_prefix("checkout: moving from ")?.split(' ').next()?;
    Oid::from_hex(from).map(|_| step.from)
}

/// `<commit> <seconds> <subject>`
fn parsed(record: &str) -> Option<(i64, Commit)> {
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
        let step = |what: &str| Step { from: oid("0a"), to: oid("0b"), at: 5, what: what.to_owned() };
        assert_eq!(
            left(&step(&format!("checkout: moving from {} to main", "0a".repeat(20)))),
            Some(oid("0a"))
        );
        assert_eq!(left(&step("checkout: moving from other to main")), None);
        assert_eq!(left(&step("commit: moving")), None);
    }
}
