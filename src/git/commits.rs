//! The commits that came about during a run: reachable now, from a branch or
//! from where the tree stands, and from no reference before. What came from
//! elsewhere, with a fetch or a merge, is not among them.

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
}

impl Before {
    /// Where the tree stands now, and what was committed since.
    pub(crate) fn history(&self, until: Duration) -> Result<History, (Head, Trouble)> {
        let head = self.repository.head();
        match self.commits(&head, until) {
            Ok((commits, cut)) => Ok(History { head, commits, cut }),
            Err(trouble) => Err((head, trouble)),
        }
    }

    fn commits(&self, head: &Head, until: Duration) -> Result<(Vec<Commit>, bool), Trouble> {
        let known = String::from_utf8_lossy(&files::read(&self.git.file("references"))?).into_owned();
        let before: HashSet<Oid> =
            known.lines().filter_map(|line| Oid::from_hex(line.strip_prefix('^')?)).collect();
        let references = self.repository.references();
        let at = |prefix: &'static str| {
            references.iter().filter(move |(name, _)| name.starts_with(prefix)).map(|(_, oid)| *oid)
        };
        let new: HashSet<Oid> =
            at("refs/heads/").chain(head.commit).filter(|oid| !before.contains(oid)).collect();
        if new.is_empty() {
            return Ok((Vec::new(), false));
        }
        // Where the history was cut off, git has to know.
        if let Ok(bytes) = bounded(&self.repository.common.join("shallow"), 16 << 20) {
            fs::write(self.git.file("shallow"), bytes)?;
        }
        let mut input = known;
        at("refs/remotes/").for_each(|oid| input += &format!("^{oid}\n"));
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
            "--format=tformat:%H %s",
            "-n",
            &most,
        ];
        let said = self.git.ask_objects(&args, input.into_bytes(), until)?;
        let mut commits: Vec<Commit> = String::from_utf8_lossy(&said)
            .split('\0')
            .filter_map(|record| record.split_once(' '))
            .map(|(id, subject)| Commit { id: id.trim().to_owned(), subject: subject.to_owned() })
            .collect();
        let cut = commits.len() > MOST;
        commits.truncate(MOST);
        Ok((commits, cut))
    }
}
