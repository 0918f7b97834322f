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
        self.says(steps, self.good, text).is_some() && self.says(steps, self.bad, text).is_none()
    }

    /// The exit code that it tells where it did not go well, if it tells one.
    pub(super) fn went_wrong(&self, steps: &[Step], text: &str) -> Option<Option<i64>> {
        self.says(steps, self.bad, text)
    }

    /// Whether the words of an arm are printed, with an exit code that is among them.
    fn says(&self, steps: &[Step], arm: Arm, text: &str) -> Option<Option<i64>> {
        let in_arm = speaking(steps).filter(|at| steps[*at].arm == Some(arm));
        let mut words = in_arm.filter_map(|at| Template::of(steps, at));
        words.find_map(|words| {
            let is_told = text.lines().any(|line| words.is_filled_by(line));
            is_told.then(|| words.numbers(text, false).into_iter().find(|number| *number != 0))
        })
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
