//! What of a command is shown to have succeeded, by its exit code and by what it printed.

use super::behind::Seen;
use super::codes;
use super::marked::mark;
use super::work::{Done, Work, runs_tests};
use crate::evidence::shell::{End, Step};
use crate::evidence::tests::keeps_the_end;

/// Something that succeeded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Proof<'a> {
    pub(super) work: &'a Work,
    /// Whether that is known by nothing but that no word of failure came through a pipe.
    pub(super) by_silence: bool,
}

impl Done {
    /// What an exit of 0 shows to have succeeded, and what `text`, which was printed, shows to have.
    pub(super) fn proven(&self, line: &str, text: &str) -> Vec<Proof<'_>> {
        let seen = Seen::new(line, text);
        let finished = self.all_finished(&seen);
        // A number that another shell filled in is printed beside the failure.
        let told = if seen.is_clean { codes::printed(&self.command, text) } else { Vec::new() };
        let both = self.command.steps.iter().zip(&self.works).enumerate();
        let is_built =
            |work: &Option<Work>| finished && work.as_ref().is_some_and(Work::says_that_it_finished);
        let heard = if seen.is_clean { self.heard_to_succeed(text, finished) } else { Vec::new() };
        let is_heard = |at: usize| heard.get(at).copied().unwrap_or_default();
        let is_shown = |(at, (step, work)): (usize, (&Step, &Option<Work>))| {
            let passes = runs_tests(step, work) && seen.tests == Some(true);
            match self.end_of(at, &told) {
                _ if step.background || self.found_nothing_to_do(step, text) => false,
                _ if is_built(work) => seen.built,
                End::Unknown => is_heard(at),
                End::Perhaps => passes || is_heard(at),
                End::Behind(_) if runs_tests(step, work) && seen.tests.is_some() => passes,
                End::Behind(readers) => {
                    self.lets_failures_through(&readers, seen.lines)
                        && step.writes.is_empty()
                        && seen.is_clean
                }
                End::Succeeded => !self.is_unheard(step, work, &seen, text),
            }
        };
        let is_by_silence = |(at, (step, work)): (usize, (&Step, &Option<Work>))| {
            self.end_of(at, &told) != End::Succeeded && !runs_tests(step, work) && !is_built(work)
        };
        let proofs = |row: (usize, (&Step, &Option<Work>))| {
            let by_silence = is_by_silence(row);
            let all = self.works[row.0].iter().chain(&self.turns[row.0]);
            all.map(move |work| Proof { work, by_silence })
        };
        both.filter(|row| is_shown(*row)).flat_map(proofs).collect()
    }

    /// What an exit of 0 says of a step.
    fn end_of(&self, at: usize, told: &[usize]) -> End {
        // It says so itself.
        if told.contains(&at) {
            return End::Succeeded;
        }
        if !self.command.chooses && !self.forgives() {
            return self.command.end_of(at, told);
        }
        // What a condition or a loop passed over did not run.
        let is_last = self.command.steps[at + 1..].iter().all(|step| step.piped || step.and);
        if is_last && !self.command.steps[at].or { End::Perhaps } else { End::Unknown }
    }

    /// Whether what a program dies of would be among what these steps print.
    pub(super) fn lets_failures_through(&self, readers: &[usize], lines: usize) -> bool {
        let lets_through = |step: &Step| keeps_the_end(step, lines) || mark(step).is_some();
        readers.iter().all(|at| lets_through(&self.command.steps[*at]))
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
    pub(super) fn unproven_builds(&self, proven: &[Proof<'_>]) -> Vec<Work> {
        let is_left = |work: &&Work| work.is_build() && !proven.iter().any(|proof| proof.work.mends(work));
        self.works.iter().flatten().filter(is_left).cloned().collect()
    }
}
