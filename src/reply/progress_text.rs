//! The progress of a working run as text. States the same as the structure beside it.

use crate::model::{Counters, PlanStep, Progress};
use crate::reading::View;

#[derive(Debug)]
pub(crate) struct SoFar(Progress);

impl SoFar {
    /// `None` for a finished run, and before the agent's first event.
    pub(super) fn of(view: &View) -> Option<Self> {
        view.progress.clone().filter(|_| !view.state().is_final()).map(Self)
    }

    /// `50%, 1 of 4 steps, 3 commands (1 failed), 2 changed files`: the plan, and what was done.
    pub(super) fn line(&self) -> Option<String> {
        joined([plan(&self.0), counted(&self.0.counters)].concat())
    }

    /// The steps of the plan, with a mark on those that are done.
    pub(super) fn steps(&self) -> Vec<String> {
        let shown = |step: &PlanStep| format!("[{}] {}", if step.done { "x" } else { " " }, step.text);
        self.0.steps.iter().map(shown).collect()
    }
}

/// `50%, 1 of 4 steps`, or without a plan `3 commands (1 failed)`: the progress in one line.
pub(crate) fn brief(progress: &Progress) -> Option<String> {
    joined(plan(progress)).or_else(|| joined(counted(&progress.counters)))
}

fn joined(parts: Vec<String>) -> Option<String> {
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn plan(Progress { percent, steps, .. }: &Progress) -> Vec<String> {
    let percent = percent.map(|percent| format!("{percent}%"));
    let done = steps.iter().filter(|step| step.done).count();
    let steps = (!steps.is_empty()).then(|| format!("{done} of {} steps", steps.len()));
    percent.into_iter().chain(steps).collect()
}

fn counted(counters: &Counters) -> Vec<String> {
    let counted = |number: u64, one: &str, many: &str| {
        (number > 0).then(|| format!("{number} {}", if number == 1 { one } else { many }))
    };
    let failed = |commands: String| match counters.commands_failed {
        0 => commands,
        failed => format!("{commands} ({failed} failed)"),
    };
    let parts = [
        counted(counters.commands, "command", "commands").map(failed),
        counted(counters.files_changed, "changed file", "changed files"),
        counted(counters.tool_calls, "tool call", "tool calls"),
        counted(counters.messages, "message", "messages"),
        counted(counters.retries, "retry", "retries"),
    ];
    parts.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Phase;

    #[test]
    fn what_is_known_is_told_and_nothing_else() {
        let step = |text: &str, done| PlanStep { text: text.to_owned(), done };
        let mut progress = Progress {
            version: Progress::VERSION,
            phase: Phase::Thinking,
            activity: String::new(),
            percent: None,
            steps: Vec::new(),
            counters: Counters::default(),
            last_event_at: None,
            eta: None,
            running: Vec::new(),
            question: None,
        };
        assert_eq!((SoFar(progress.clone()).line(), brief(&progress)), (None, None));
        progress.percent = Some(50);
        progress.steps = vec![step("one", true), step("two", false)];
        progress.counters = Counters { commands: 3, commands_failed: 1, retries: 1, ..Counters::default() };
        assert_eq!(brief(&progress).unwrap(), "50%, 1 of 2 steps");
        let bare = Progress { percent: None, steps: Vec::new(), ..progress.clone() };
        assert_eq!(brief(&bare).unwrap(), "3 commands (1 failed), 1 retry");
        let so_far = SoFar(progress);
        assert_eq!(so_far.line().unwrap(), "50%, 1 of 2 steps, 3 commands (1 failed), 1 retry");
        assert_eq!(so_far.steps(), ["[x] one", "[ ] two"]);
    }
}
