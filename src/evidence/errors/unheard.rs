//! A success that nobody heard of, where something was to be heard: pytest ends with a line of counts,
//! unless it was stopped.

use super::behind::Seen;
use super::work::{Done, Work, runs_tests};
use crate::evidence::shell::Step;
use crate::evidence::tests::{pytest_came_to_its_end, pytest_was_stopped};

impl Done {
    /// Whether pytest ended with 0 and did not say of what, though all that it prints is there to be
    /// seen: a test may have ended it.
    pub(super) fn is_unheard(&self, step: &Step, work: &Option<Work>, seen: &Seen, text: &str) -> bool {
        let is_heard = |step: &Step| !step.piped && !step.silent && step.writes.is_empty();
        let all_is_there = || self.command.steps.iter().all(is_heard);
        let is_silent = match work {
            Some(Work::Tests(scope)) if scope.is_of_pytest() => !pytest_came_to_its_end(text),
            // It may be any framework's.
            Some(Work::Program { .. }) if runs_tests(step, work) => pytest_was_stopped(text),
            _ => false,
        };
        is_silent && seen.tests != Some(true) && all_is_there()
    }
}
