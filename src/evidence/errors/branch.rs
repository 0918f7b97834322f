//! Commands that go one way or the other by what a step of theirs came to, and say which.

use super::template::{Taken, Template, names, speaking};
use crate::evidence::shell::{Arm, Command, Step};

/// `if make; then echo fine; else echo broken; fi`, or the same by its exit code.
#[derive(Debug)]
pub(super) struct Branch {
    /// What it depends on.
    pub(super) by: Taken,
    good: Arm,
    pub(super) bad: Arm,
}

/// What is printed of one way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Says {
    Nothing,
    /// That it was taken.
    Words,
    /// That, and the exit code that led there.
    Code(i64),
}

impl Branch {
    pub(super) fn of(command: &Command) -> Option<Self> {
        let steps = command.steps.as_slice();
        let is_condition = |at: &usize| steps[*at].arm == Some(Arm::If);
        let at = (0..steps.len()).rfind(is_condition)?;
        let is_test = matches!(steps[at].program(), "[" | "[[" | "test");
        let (by, is_good) = match is_test {
            true => tested(steps, at)?,
            false => (Taken { of: at, is_first: false }, !command.negates),
        };
        let (good, bad) = if is_good { (Arm::Then, Arm::Else) } else { (Arm::Else, Arm::Then) };
        Some(Self { by, good, bad })
    }

    /// Whether what it says is that it went well.
    pub(super) fn went_well(&self, steps: &[Step], text: &str) -> bool {
        let has_words = |arm: Arm| words_of(steps, arm).next().is_some();
        let is_good = says(steps, self.good, text) != Says::Nothing;
        let is_silent = !has_words(self.good) && has_words(self.bad);
        (is_good || is_silent) && says(steps, self.bad, text) == Says::Nothing
    }

    /// What it says of that it did not go well.
    pub(super) fn went_wrong(&self, steps: &[Step], text: &str) -> Says {
        says(steps, self.bad, text)
    }
}

/// What an arm prints by its own words.
fn words_of(steps: &[Step], arm: Arm) -> impl Iterator<Item = Template> {
    let in_arm = speaking(steps).filter(move |at| steps[*at].arm == Some(arm));
    in_arm.filter_map(|at| Template::of(steps, at))
}

/// Whether the words of an arm are printed, with an exit code that is among them.
fn says(steps: &[Step], arm: Arm, text: &str) -> Says {
    let told = words_of(steps, arm).find(|words| words.is_in(text));
    match told.map(|words| words.numbers(text, false).into_iter().find(|number| *number != 0)) {
        None => Says::Nothing,
        Some(None) => Says::Words,
        Some(Some(code)) => Says::Code(code),
    }
}

/// `[ $? -eq 0 ]`: the step whose exit code is looked at, and whether that is to be 0.
pub(super) fn tested(steps: &[Step], at: usize) -> Option<(Taken, bool)> {
    if !matches!(steps[at].program(), "[" | "[[" | "test") {
        return None;
    }
    let args: Vec<&str> = steps[at].args().iter().map(String::as_str).collect();
    let [code, how, "0", ..] = args.as_slice() else { return None };
    let taken = names(steps, at).into_iter().find(|name| name.token == *code)?.taken(steps)?;
    match *how {
        "-ne" | "!=" | "-gt" => Some((taken, false)),
        "-eq" | "==" | "=" => Some((taken, true)),
        _ => None,
    }
}
