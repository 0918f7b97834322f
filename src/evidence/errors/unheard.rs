//! A success that nobody heard of, where something was to be heard: pytest ends with a line of counts,
//! unless it was stopped.

use super::behind::Seen;
use super::work::{Done, Work};
use crate::evidence::shell::Step;
use crate::evidence::tests::pytest_came_to_its_end;

impl Done {
    /// Whether pytest ended with 0 and did not say of what, though all that it prints is there to be
    /// seen: a test may have ended it.
    pub(super) fn is_unheard(&self, work: &Option<Work>, seen: &Seen, text: &str) -> bool {
        let is_heard = |step: &Step| !step.piped && !step.silent && step.writes.is_empty();
        let is_pytest = work.as_ref().is_some_and(Work::is_pytest);
        let all_is_there = || self.command.steps.iter().all(is_heard);
        is_pytest && seen.tests == Some(false) && all_is_there() && !pytest_came_to_its_end(text)
    }
}

impl Work {
    fn is_pytest(&self) -> bool {
        matches!(self, Self::Tests(scope) if scope.is_of_pytest())
    }
}
