//! Commands whose tests failed, and whether some of these still do.

use super::detect::{Runs, detect};
use super::relation::Relation;
use super::results::{MOST_COMMANDS, MOST_NAMES};
use super::sum::Sum;
use super::{Framework, TestRun, read};

/// The runs of one command that failed, and that no later one of it can have mended. An exit code
/// of 0 is the word of the last.
pub(crate) fn still_failing(command: &str, exit_code: Option<i64>, text: &str) -> Vec<TestRun> {
    let runs = read(command, exit_code, text);
    let last = detect(command).filter(|found| found.owns_exit && exit_code == Some(0));
    let last = last.and_then(|found| found.starts.into_iter().next_back());
    let last = last.filter(|start| start.turns.is_none()).map(|start| start.runs);
    let passed = |at: usize| match last {
        Some(Runs::Framework(framework)) => {
            runs.iter().rposition(|run| run.framework == framework) == Some(at)
        }
        Some(Runs::Any | Runs::Perhaps) => true,
        None => false,
    };
    let fails = |(at, run): &(usize, &TestRun)| {
        let is_apart = |later: &TestRun| later.scope.relation(&run.scope) == Relation::Apart;
        run.failed() && !passed(*at) && runs[at + 1..].iter().all(is_apart)
    };
    runs.iter().enumerate().filter(fails).map(|(_, run)| run.clone()).collect()
}

/// Whether a framework that was started by its name ended with an exit code of failure, of its own.
pub(crate) fn ended_badly(command: &str, exit_code: i64, text: &str) -> bool {
    let Some(found) = detect(command).filter(|found| found.owns_exit && found.pipes.is_empty()) else {
        return false;
    };
    let is_bad = match found.starts.last().map(|start| start.runs) {
        // Somebody ended it.
        _ if matches!(exit_code, 124 | 130 | 137 | 143) => false,
        // It was asked for tests that are not there.
        Some(Runs::Framework(Framework::Pytest)) => !matches!(exit_code, 0 | 5),
        Some(Runs::Framework(_)) => exit_code != 0,
        Some(Runs::Any | Runs::Perhaps) | None => false,
    };
    is_bad && !read(command, Some(exit_code), text).is_empty()
}

impl TestRun {
    /// Whether it says so in any way. Where a pipe let only some of it through, a part of a summary or
    /// names may be all that there is.
    pub(crate) fn failed(&self) -> bool {
        let seen = || self.least > 0 || !self.failing.is_empty();
        self.said.is_some() || self.failures().map_or_else(seen, |failed| failed > 0)
    }

    /// Whether its counts are known, and nothing of it failed or was left out.
    pub(crate) fn passed(&self) -> bool {
        let counted = self.all_failures() == Some(0);
        counted && !self.stopped && !self.failed() && self.failing.is_empty()
    }

    /// How many failed, by summaries that no later one can take back.
    pub(crate) fn failures(&self) -> Option<u64> {
        self.counts.or(self.turns).map(|counts| counts.failed).or(self.fails)
    }

    /// How many failed, where all of it was seen.
    pub(super) fn all_failures(&self) -> Option<u64> {
        self.counts.map(|counts| counts.failed).or(self.fails)
    }

    /// Whether nothing failed, by how it ended, however many passed. One that was asked for some shows
    /// nothing where none is seen to have run.
    pub(crate) fn ended_green(&self) -> bool {
        let ran = !self.scope.is_filtered() || self.seen.has_passed();
        self.fails == Some(0) && ran && self.failing.is_empty() && self.said.is_none()
    }
}

#[derive(Debug, Default)]
pub(super) struct FailedCommands {
    list: Vec<Failed>,
}

/// What failed in a command, as it ran last.
#[derive(Debug)]
struct Failed {
    command: String,
    /// Each from the root, and as its framework says it.
    names: Vec<(String, String)>,
    /// Whether these are all of them.
    are_all: bool,
}

/// The tests that failed in a command, by their framework's own names, and those of them that still do.
#[derive(Debug)]
pub(crate) struct Fates {
    pub(crate) command: String,
    pub(crate) failed: Vec<String>,
    pub(crate) still: Vec<String>,
    /// The first later command in which all of the latter failed once more.
    pub(crate) again_in: Option<String>,
}

impl FailedCommands {
    /// `command` ran anew.
    pub(super) fn forget(&mut self, command: &str) {
        self.list.retain(|failed| failed.command != command);
    }

    /// One of the runs that `command` made.
    pub(super) fn note(&mut self, command: &str, run: &TestRun) {
        if !run.failed() {
            return;
        }
        let all_named = run.failures() == Some(run.failing.len() as u64) && run.said.is_none();
        // What failed in another checkout is not among what is looked at in the end.
        let is_here = run.scope.elsewhere().is_none();
        let are_all = all_named && is_here;
        let here = run.failing.iter().filter(|_| is_here);
        let own = here.map(|name| (run.scope.full_name(name), name.clone()));
        if let Some(failed) = self.list.iter_mut().find(|failed| failed.command == command) {
            failed.names.extend(own);
            failed.are_all &= are_all;
        } else if self.list.len() < MOST_COMMANDS {
            self.list.push(Failed { command: command.to_owned(), names: own.collect(), are_all });
        }
    }

    /// Those of which nothing is left that fails.
    pub(super) fn mended(&self, sum: &Sum) -> Vec<String> {
        let all_pass = sum.failing.is_empty() && sum.failed == Some(0) && !sum.says_more;
        let is_mended = |failed: &&Failed| match failed.are_all {
            // Beyond the most that are listed, one that is missing may fail as well.
            true => sum.failing.len() < MOST_NAMES && !failed.names.iter().any(|(full, _)| sum.has(full)),
            false => all_pass,
        };
        self.list.iter().filter(is_mended).map(|failed| failed.command.clone()).collect()
    }

    /// What became of those tests that have names.
    pub(super) fn fates(&self, sum: &Sum) -> Vec<Fates> {
        if sum.failing.len() >= MOST_NAMES {
            return Vec::new();
        }
        let fate = |(at, failed): (usize, &Failed)| {
            let printed = |(_, name): &(String, String)| name.clone();
            let still: Vec<&(String, String)> =
                failed.names.iter().filter(|(full, _)| sum.has(full)).collect();
            let has_all = |later: &&Failed| {
                still.iter().all(|(full, _)| later.names.iter().any(|(name, _)| name == full))
            };
            let again = self.list[at + 1..].iter().find(has_all).filter(|_| !still.is_empty());
            Fates {
                command: failed.command.clone(),
                failed: failed.names.iter().map(printed).collect(),
                again_in: again.map(|later| later.command.clone()),
                still: still.into_iter().map(printed).collect(),
            }
        };
        self.list.iter().enumerate().map(fate).collect()
    }
}
