//! The commits that came about during a run: reachable now, from a branch or
//! from where the tree stands, from no reference before, and not older than the
//! run. What came from elsewhere, with a fetch or a merge, is not among them,
//! nor what is on the branch of another working tree: somebody else works there.

use std::collections::HashSet;
use std::fs;
use std::time::Duration;

use super::object::Oid;
use super::repository::{Head, bounded};
use super::snapshot::{Before, Trouble};
use crate::host::files;

/// More are counted and not listed.
const MOST: usize = 200;

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
    /// There are more.
    pub(crate) cut: bool,
    /// How many are new here and older than the run.
    pub(crate) older: usize,
}

impl Before {
    /// Where the tree stands now, and what was committed since.
    pub(crate) fn history(&self, until: Duration) -> Result<History, (Head, Trouble)> {
        let head = self.repository.head();
        match self.commits(&head, until) {
            Ok(history) => Ok(History { head, ..history }),
            Err(trouble) => Err((head, trouble)),
        }
    }

    fn commits(&self, head: &Head, until: Duration) -> Result<History, Trouble> {
        let known = String::from_utf8_lossy(&files::read(&self.git.file("references"))?).into_owned();
        let before: HashSet<Oid> =
            known.lines().filter_map(|line| Oid::from_hex(line.strip_prefix('^')?)).collect();
        let elsewhere = self.repository.branches_elsewhere(head);
        let mut references = self.repository.references();
        references.retain(|(name, _)| !elsewhere.contains(name));
        let at = |prefix: &'static str| {
            references.iter().filter(move |(name, _)| name.starts_with(prefix)).map(|(_, oid)| *oid)
        };
        let tips = at("refs/heads/").chain(head.commit).chain(self.left_behind());
        let new: HashSet<Oid> = tips.filter(|oid| !before.contains(oid)).collect();
        if new.is_empty() {
            return Ok(History::default());
        }
        // Where the history was cut off, git has to know.
        if let Ok(bytes) = bounded(&self.repository.common.join("shallow"), 16 << 20) {
            fs::write(self.git.file("shallow"), bytes)?;
        }
        let mut input = known;
        at("refs/remotes/").for_each(|oid| input += &format!("^{oid}\n"));
        self.fetched().iter().for_each(|oid| input += &format!("^{oid}\n"));
        new.iter().for_each(|oid| input += &format!("{oid}\n"));
        let most = (MOST + 1).to_string();
        let args = [
            "log",
            "--stdin",
            "--ignore-missing",
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
        let (cut, found) = (all.len() > MOST, all.len());
        let mut commits: Vec<Commit> =
            all.into_iter().filter(|(at, _)| *at >= self.taken_at.0).map(|(_, commit)| commit).collect();
        let older = found - commits.len();
        commits.truncate(MOST);
        Ok(History { commits, cut, older, ..History::default() })
    }

    /// Where the tree stood on no branch and was moved away from, since.
    fn left_behind(&self) -> Vec<Oid> {
        let (bytes, _) = files::tail(&self.repository.dir.join("logs/HEAD"), 1 << 20).unwrap_or_default();
        String::from_utf8_lossy(&bytes).lines().filter_map(|line| left(line, self.taken_at.0)).collect()
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

/// `<old> <new> <name> <<mail>> <seconds> <zone>\tcheckout: moving from <commit> to …`: the old
/// one, where it is not older than `since`.
fn left(line: &str, since: i64) -> Option<Oid> {
    let (who, what) = line.split_once('\t')?;
    Oid::from_hex(what.strip_prefix("checkout: moving from ")?.split(' ').next()?)?;
    let at: i64 = who.rsplit(' ').nth(1)?.parse().ok()?;
    Oid::from_hex(who.split(' ').next()?).filter(|_| at >= since)
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
        let (one, two) = ("0a".repeat(20), "0b".repeat(20));
        let line =
            |what: &str| format!("{one} {two} A U Thor <a@b> 1700000000 +0100\tcheckout: moving from {what}");
        assert_eq!(left(&line(&format!("{one} to main")), 1_700_000_000), Oid::from_hex(&one));
        assert_eq!(left(&line(&format!("{one} to main")), 1_700_000_001), None);
        assert_eq!(left(&line("other to main"), 0), None);
        assert_eq!(left("nonsense", 0), None);
    }
}
