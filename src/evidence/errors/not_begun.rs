//! Frameworks that came to their end before any test, where nobody was given their exit code: they are not
//! there, or say of what they died.

use super::diagnose::{Found, diagnose};
use super::failing;
use super::said::{Speakers, found_none, not_there, own};
use super::thrown;
use super::work::{Done, Work, runs_tests};
use crate::evidence::lines::lines;
use crate::evidence::shell::Step;

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
        (0..self.works.len()).filter(is_open).find_map(|at| {
            let step = &self.command.steps[at];
            let is_of_node = matches!(&self.works[at], Some(Work::Tests(scope)) if scope.is_of_node());
            let none = |line: &str| found_none(line).filter(|_| is_of_node).map(str::to_owned);
            let says = |line: &str| absent(line, step).map(str::to_owned).or_else(|| none(line));
            let said = lines(text).find_map(|line| says(&line)).map(|words| failing::vague("error", &words));
            let found = said.or_else(|| is_of_node.then(|| self.died_at_once(at, text)).flatten())?;
            // The same look shows whether it begins.
            let found = Found { is_glimpse: true, ..found };
            Some((found, self.works[at].iter().cloned().collect()))
        })
    }

    /// What a program of Node says of its settings, or ends with where no test of its was seen: an exception
    /// with the calls that led to it.
    fn died_at_once(&self, at: usize, text: &str) -> Option<Found> {
        if failing::are_seen(&self.line, text) {
            return None;
        }
        let told = diagnose(text, &Speakers::default()).filter(|found| !found.is_vague)?;
        let is_of_settings = told.errors.first().is_some_and(|first| first.kind == "validation error");
        let is_end = || self.is_last_shown(at) && thrown::ends_with_calls(text);
        (is_of_settings || is_end()).then_some(told)
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
