//! Frameworks that came to their end before any test, where nobody was given their exit code: they are not
//! there, or say of what they died.

use super::diagnose::{Found, diagnose};
use super::died::MOST_STEPS;
use super::failing;
use super::said::{Speakers, found_none, not_there, own};
use super::thrown;
use super::work::{Done, Work, runs_tests};
use crate::evidence::lines::lines;
use crate::evidence::shell::Step;
use crate::evidence::tests::Framework;

impl Done {
    /// The first of them, with what it says.
    pub(super) fn not_begun(&self, code: i64, text: &str, succeeded: &[usize]) -> Option<(Found, Vec<Work>)> {
        if self.repeats_itself() || self.may_show_a_log() {
            return None;
        }
        let is_tests = |at: usize| matches!(self.works[at], Some(Work::Tests(_)));
        // Other tests were thought of.
        let has_others = |at: usize| {
            let mut next = self.command.steps.iter().zip(&self.works).skip(at + 1).take(1);
            next.any(|(step, work)| step.or && runs_tests(step, work))
        };
        let is_open = |at: &usize| {
            is_tests(*at) && !has_others(*at) && self.is_unproven(*at, code, succeeded) && self.is_seen(*at)
        };
        // It is the same for every step, and all that was printed is gone through for it.
        let mut died: Option<Option<Found>> = None;
        (0..self.works.len()).filter(is_open).take(MOST_STEPS).find_map(|at| {
            let step = &self.command.steps[at];
            let is_of =
                |of: Framework| matches!(&self.works[at], Some(Work::Tests(scope)) if scope.is_of(of));
            let is_of_node = [Framework::Jest, Framework::Vitest, Framework::Mocha].into_iter().any(is_of);
            let none =
                |line: &str| found_none(line).filter(|(of, _)| is_of(*of)).map(|(_, words)| words.to_owned());
            let says = |line: &str| absent(line, step).map(str::to_owned).or_else(|| none(line));
            let said = lines(text).find_map(|line| says(&line)).map(|words| failing::vague("error", &words));
            let is_its_own = |found: &mut Found| match found.is_of_settings() {
                true => is_of(Framework::Jest),
                false => self.is_last_shown(at) && thrown::ends_with_calls(text),
            };
            let found = match said {
                None if is_of_node => died.get_or_insert_with(|| self.died_at_once(text)).take_if(is_its_own),
                said => said,
            }?;
            // The same look shows whether it begins.
            let found = Found { is_glimpse: true, ..found };
            Some((found, self.works[at].iter().cloned().collect()))
        })
    }

    /// What a program of Node says of its settings, or may have ended with where no test was seen: an
    /// exception with the calls that led to it.
    fn died_at_once(&self, text: &str) -> Option<Found> {
        let told = || diagnose(text, &Speakers::default()).filter(|found| !found.is_vague);
        if failing::are_seen(&self.line, text) { None } else { told() }
    }
}

impl Found {
    /// Whether it is what jest says of its settings.
    fn is_of_settings(&self) -> bool {
        self.errors.first().is_some_and(|first| first.kind == "validation error")
    }
}

/// `/bin/sh: 1: pytest: not found`, `/usr/bin/python3: No module named pytest`
fn absent<'l>(line: &'l str, step: &Step) -> Option<&'l str> {
    let program = not_there(line).filter(|(program, _)| *program == step.program());
    let module = || {
        let words = own(line, &[step.program()])?;
        let name = words.strip_prefix("No module named ")?;
        step.args().iter().any(|arg| arg == name).then_some(words)
    };
    program.map(|(_, words)| words).or_else(module)
}
