//! A command line that is run once more: where it would tell of what failed and does not, that is mended.

use super::asks::asks;
use super::behind::{keeps_errors, keeps_some};
use super::codes;
use super::complaints::{complains, would_complain};
use super::diagnose::diagnose;
use super::proven::Proof;
use super::thrown::may_throw;
use super::work::{Done, Work, runs_tests};
use crate::evidence::shell::Step;

impl Done {
    /// Whether an exit of 0 and `text` leave nothing of it that may have failed unseen: what nothing
    /// waited for ran all the same, and would have said so.
    pub(super) fn shows_all_that_failed(&self, proven: &[Proof<'_>], text: &str) -> bool {
        let turns = self.command.only_turns();
        let is_idle = self.command.steps.iter().any(|step| self.found_nothing_to_do(step, text));
        if (!turns && (!self.command.is_clear() || self.forgives())) || is_idle {
            return false;
        }
        let loud = self.loud(text.lines().count());
        let has_no_silent_part = || self.has_no_silent_part(proven, &loud);
        let is_known = match self.command.branches && !turns {
            true => {
                self.tries_until_one_succeeds(&loud)
                    || (self.only_passes_over_failures() && has_no_silent_part())
            }
            false => has_no_silent_part(),
        };
        is_known && diagnose(text, &self.speakers(Some(1))).is_none()
    }

    /// `./build; grep -q x log`: whether nothing but a question was answered with no.
    pub(super) fn ends_with_an_answer(&self) -> bool {
        let blamed = self.command.blamed_at_end().unwrap_or_default();
        !blamed.is_empty()
            && blamed.iter().all(|at| self.works[*at].is_none() && !self.command.steps[*at].piped)
    }

    /// `make || true`: what waits for a failure does nothing but show it.
    fn only_passes_over_failures(&self) -> bool {
        let shows = |step: &Step| matches!(step.program(), "true" | ":" | "echo" | "printf" | "cat" | "tail");
        let mut both = self.command.steps.iter().zip(&self.works);
        !self.command.chooses
            && both.all(|(step, work)| work.is_some() || step.only_prepares() || shows(step))
            && !self.command.steps.iter().zip(&self.works).any(|(step, work)| step.or && work.is_some())
    }

    fn has_no_silent_part(&self, proven: &[Proof<'_>], loud: &[bool]) -> bool {
        // Whether the step before began, does something, and would have said that it failed.
        let mut went_well = false;
        let is_known = |(at, (step, work)): (usize, (&Step, &Option<Work>))| {
            let is_proven = work.as_ref().is_none_or(|work| proven.iter().any(|proof| proof.work == work));
            let is_proven = is_proven || !step.may_write();
            let is_heard = (!step.and || went_well) && loud[at];
            went_well = is_heard && self.does(at);
            is_proven || is_heard
        };
        self.command.steps.iter().zip(&self.works).enumerate().all(is_known)
    }

    /// `./build || ./build -j1`: the same but for its options, until one succeeds; each would say that
    /// it failed.
    fn tries_until_one_succeeds(&self, loud: &[bool]) -> bool {
        let steps = &self.command.steps;
        let does = |at: usize| self.works[at].is_some();
        let asks = |at: usize| {
            let words = steps[at].words.iter().filter(|word| !word.starts_with('-'));
            words.chain(&steps[at].input).collect::<Vec<_>>()
        };
        let mut tries = (0..steps.len()).filter(|at| does(*at)).map(asks);
        let first = tries.next();
        if !tries.all(|other| Some(other) == first) {
            return false;
        }
        let is_try = |at: usize| {
            let before = at.checked_sub(1).map(|before| &steps[before]);
            let waits = steps[at].and && !before.is_some_and(Step::only_prepares);
            if does(at) { !waits && loud[at] } else { steps[at].only_prepares() }
        };
        (0..steps.len()).all(is_try) && self.command.needs(does)
    }

    /// Of each step, whether a failure of it would be among what is seen. Tests have their own words.
    fn loud(&self, lines: usize) -> Vec<bool> {
        let spoken_of = codes::spoken_of(&self.command);
        let is_loud = |at: usize| {
            (!self.command.steps[at].background || self.gives_time(at))
                && (self.says_so(at, lines)
                    || spoken_of.contains(&at)
                    || self.hands_on_only_errors(at, lines))
        };
        (0..self.command.steps.len()).map(is_loud).collect()
    }

    /// `python3 app.py 2>&1 >/dev/null | tail -3`
    fn hands_on_only_errors(&self, at: usize, lines: usize) -> bool {
        let (step, readers) = (&self.command.steps[at], self.readers_of(at));
        let is_only = step.silent && step.writes == ["/dev/null"] && may_throw(step);
        is_only && !readers.is_empty() && self.lets_failures_through(&readers, lines)
    }

    /// Whether what runs in the background has time to say what it dies of.
    fn gives_time(&self, at: usize) -> bool {
        self.command.steps[at + 1..].iter().any(|step| matches!(step.program(), "sleep" | "wait"))
    }

    /// Whether the words of the step at `at` for a failure would be among what is seen.
    fn says_so(&self, at: usize, lines: usize) -> bool {
        let (step, work) = (&self.command.steps[at], &self.works[at]);
        let is_seen = (!step.silent || !step.writes.is_empty()) && self.shows_all_that_is_written_by(at);
        is_seen && !runs_tests(step, work) && self.lets_failures_through(&self.readers_of(at), lines)
    }

    /// Whether the step at `at` surely ran, and its words for a failure would be among what is seen.
    pub(super) fn would_be_heard(&self, at: usize, text: &str) -> bool {
        let prepares = |at: usize| self.command.steps[at].only_prepares();
        let is_plain = !self.command.loops && !self.command.steps[at].background;
        is_plain && self.says_so(at, text.lines().count()) && self.command.begins(at, prepares)
    }

    /// Of each step, whether it ran whatever else came to nothing, and would be heard to fail in `text`, which has
    /// no word of failure. What cargo does well it says: it `finished`.
    pub(super) fn heard_to_succeed(&self, text: &str, finished: bool) -> Vec<bool> {
        let steps = &self.command.steps;
        let has_turns = self.command.turns_surely || !self.command.loops;
        let is_told =
            codes::lacks_words(&self.command, text) || !codes::failed(&self.command, text).is_empty();
        if is_told || !has_turns {
            return vec![false; steps.len()];
        }
        let lines = text.lines().count();
        let is_aloud = |at: usize| {
            let step = &steps[at];
            !(step.background || step.limited || step.forgives) && self.says_so(at, lines)
        };
        let aloud: Vec<bool> = (0..steps.len()).map(is_aloud).collect();
        let went_well = |at: usize| {
            let step = &steps[at];
            let moves_unheard = matches!(step.program(), "cd" | "pushd") && !step.writes.is_empty();
            let looks =
                (step.only_prepares() && !moves_unheard) || (would_complain(step) && !complains(step, text));
            looks || (self.does(at) && aloud[at])
        };
        let went_well: Vec<bool> = (0..steps.len()).map(went_well).collect();
        let may_be = |work: &Option<Work>| match work {
            Some(Work::Program { .. }) => true,
            Some(work @ Work::Cargo { .. }) => finished && work.is_program(),
            Some(
                Work::Tests(_) | Work::HalfDone(_) | Work::Elsewhere(_) | Work::Writes(_) | Work::Reads(_),
            )
            | None => false,
        };
        let is_heard =
            |at: usize| aloud[at] && may_be(&self.works[at]) && self.command.begins(at, |at| went_well[at]);
        (0..steps.len()).map(is_heard).collect()
    }

    /// Whether it does nothing but build, and shows the errors of that only.
    pub(super) fn looks_for_errors(&self) -> bool {
        let both = || self.command.steps.iter().zip(&self.works);
        let builds = both().filter(|(_, work)| work.is_some()).all(|(step, work)| {
            let says_so = |work: &Work| work.says_that_it_finished() || matches!(work, Work::Program { .. });
            work.as_ref().is_some_and(says_so) && step.writes.is_empty() && !asks(step)
        });
        let mut behind = both().skip_while(|(_, work)| work.is_none()).skip(1).map(|(step, _)| step);
        builds && behind.next().is_some_and(|step| step.piped && keeps_errors(step)) && behind.all(keeps_some)
    }
}
