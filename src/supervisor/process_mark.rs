//! Marks that identify the processes of a run: its id and home, in their environment and in the
//! name of their control group.

use crate::host::env;
use crate::host::{Process, processes};
use crate::model::{HomeId, RunId};
use crate::supervisor::process_tree::Scope;

#[derive(Debug, Clone)]
pub(crate) struct RunMark {
    pub(super) run: RunId,
    /// Distinguishes the runs of a home from those of a copy, which have the same ids.
    home: Option<HomeId>,
}

impl RunMark {
    pub(crate) fn of(run: &RunId, home: Option<HomeId>) -> Self {
        Self { run: run.clone(), home }
    }

    /// The name of the run's control group.
    pub(super) fn group(&self) -> String {
        self.home.map_or(self.run.to_string(), |home| format!("{}.{home}", self.run))
    }

    /// The processes that carry the mark.
    pub(super) fn processes(&self, scope: Scope) -> Vec<Process> {
        let is_meant = |&process: &Process| {
            processes::variable(process, env::RUNS).is_some_and(|runs| {
                let is_inside = self.position(&runs, scope);
                is_inside.is_some_and(|at| {
                    self.is_home(at, &processes::variable(process, env::RUN_HOMES).unwrap_or_default())
                })
            })
        };
        processes::all().into_iter().filter(is_meant).collect()
    }

    /// The position of our run among those that a process belongs to, if the process is in `scope`.
    /// Runs are listed outermost first.
    fn position(&self, runs: &str, scope: Scope) -> Option<usize> {
        let at = runs.split(':').position(|part| part == self.run.as_str())?;
        let is_innermost = runs.split(':').count() == at + 1;
        (scope == Scope::Everything || is_innermost).then_some(at)
    }

    /// Older versions did not record homes: their runs count as ours.
    fn is_home(&self, at: usize, homes: &str) -> bool {
        let named = homes.split(':').nth(at).filter(|home| !matches!(*home, "" | "-"));
        named.zip(self.home).is_none_or(|(named, own)| named == own.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(number: u8) -> RunId {
        RunId::from_parts("2026-11-15_093000123", [number; 6])
    }

    fn mark() -> RunMark {
        RunMark::of(&run(2), Some(HomeId { device: 0x1f, inode: 0x2a }))
    }

    #[track_caller]
    fn check(runs: &[u8], own: bool, everything: bool) {
        let runs: Vec<String> = runs.iter().map(|&number| run(number).to_string()).collect();
        let runs = runs.join(":");
        assert_eq!(mark().position(&runs, Scope::Own).is_some(), own, "{runs}");
        assert_eq!(mark().position(&runs, Scope::Everything).is_some(), everything, "{runs}");
    }

    #[test]
    fn a_mark_tells_what_is_inside_a_run_and_what_is_around_it() {
        check(&[2], true, true);
        check(&[1, 2], true, true);
        check(&[2, 3], false, true);
        check(&[1, 2, 3], false, true);
        check(&[1], false, false);
        check(&[], false, false);
    }

    #[test]
    fn a_run_of_the_same_id_in_another_home_is_not_meant() {
        assert!(mark().is_home(0, "1f-2a") && mark().is_home(1, "-:1f-2a:3-4"));
        assert!(!mark().is_home(0, "3-4") && !mark().is_home(1, "1f-2a:3-4"));
        assert!(mark().is_home(0, "") && mark().is_home(1, "1f-2a:-"), "of an older version");
        assert_eq!(mark().group(), format!("{}.1f-2a", run(2)));
    }
}
