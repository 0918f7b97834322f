//! A command line that is run once more: where it would tell of what failed and does not, that is mended.

use super::behind::{Behind, keeps_errors, keeps_some};
use super::diagnose::diagnose;
use super::work::{Done, Work, runs_tests};

impl Done {
    /// Whether an exit of 0 and `text` leave nothing of it that may have failed unseen: what nothing
    /// waited for ran all the same, and would have said so.
    pub(super) fn shows_all_that_failed(&self, line: &str, text: &str) -> bool {
        let proven = self.proven(line, text);
        let lines = text.lines().count();
        let mut behind = Behind::default();
        let mut all = !self.loops() && !self.command.branches && !self.command.defines;
        for (step, work) in self.command.steps.iter().zip(&self.works).rev() {
            let is_seen = behind.lets_failures_through && step.writes.is_empty() && !step.silent;
            let speaks = is_seen && !step.and && !step.background && !runs_tests(step, work);
            all &= work.as_ref().is_none_or(|work| proven.contains(&work) || speaks);
            behind = if step.piped { behind.and(step, lines) } else { Behind::default() };
        }
        all && diagnose(text, &self.speakers(Some(1))).is_none()
    }

    /// Whether it does nothing but build, and shows the errors of that only.
    pub(super) fn looks_for_errors(&self) -> bool {
        let both = || self.command.steps.iter().zip(&self.works);
        let builds = both().filter(|(_, work)| work.is_some()).all(|(step, work)| {
            work.as_ref().is_some_and(Work::says_that_it_finished) && step.writes.is_empty()
        });
        let mut behind = both().skip_while(|(_, work)| work.is_none()).skip(1).map(|(step, _)| step);
        builds && behind.next().is_some_and(|step| step.piped && keeps_errors(step)) && behind.all(keeps_some)
    }
}
