//! What of a command is shown to have succeeded, by its exit code and by what it printed.

use super::behind::{Behind, Seen};
use super::codes;
use super::work::{Done, Work, runs_tests};
use crate::evidence::shell::Step;

impl Done {
    /// What an exit of 0 shows to have succeeded: the last step, and those that had
    /// to succeed before it; and those that `text`, which was printed, shows to have.
    pub(super) fn proven(&self, line: &str, text: &str) -> Vec<&Work> {
        let seen = Seen::new(line, text);
        let finished = self.all_finished(&seen);
        let is_told = codes::printed(&self.command, text);
        // What a condition or a loop passed over did not run.
        let chooses = self.command.chooses || self.loops();
        let mut proven = Vec::new();
        let mut behind: Option<Behind> = None;
        let mut ended_well = true;
        for (at, (step, work)) in self.command.steps.iter().zip(&self.works).enumerate().rev() {
            // A number that another shell filled in is printed beside the failure.
            if is_told.contains(&at) && seen.is_clean {
                (ended_well, behind) = (true, None);
            }
            let is_built = finished && work.as_ref().is_some_and(Work::says_that_it_finished);
            let shown = match behind {
                // Nobody waited for it.
                _ if step.background => false,
                _ if is_built => seen.built,
                // It may not have run at all.
                _ if !ended_well || step.or => false,
                Some(_) if runs_tests(step, work) && seen.tests.is_some() => seen.tests == Some(true),
                _ if chooses => runs_tests(step, work) && seen.tests == Some(true),
                Some(behind) => behind.lets_failures_through && step.writes.is_empty() && seen.is_clean,
                None => !self.is_unheard(step, work, &seen, text),
            };
            proven.extend(work.as_ref().filter(|_| shown));
            behind = match step.piped && !self.command.pipefail {
                true => Some(behind.unwrap_or_default().and(step, seen.lines)),
                false => None,
            };
            ended_well &= step.piped || step.and;
        }
        proven
    }

    /// Whether cargo says of each time that it was started that it came to a good end.
    fn all_finished(&self, seen: &Seen) -> bool {
        const BUILDS_NOTHING: [&str; 10] =
            ["fmt", "add", "clean", "fetch", "metadata", "remove", "tree", "update", "--version", "-V"];
        let builds = |step: &&Step| {
            let verb = step.args().iter().find(|arg| !arg.starts_with('+')).map_or("", String::as_str);
            step.program() == "cargo" && !BUILDS_NOTHING.contains(&verb)
        };
        seen.finished >= self.command.steps.iter().filter(builds).count()
            && !self.loops()
            && !self.runs_a_script()
    }

    /// What cargo built, looked at or ran that an exit of 0 does not show to have succeeded.
    pub(super) fn unproven_builds(&self, line: &str, text: &str) -> Vec<Work> {
        let proven = self.proven(line, text);
        let is_left = |work: &&Work| work.is_build() && !proven.iter().any(|other| other.mends(work));
        self.works.iter().flatten().filter(is_left).cloned().collect()
    }
}
