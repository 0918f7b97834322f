//! How far a run is that works, for a text: what the structure beside it says.

use crate::model::{PlanStep, Progress};
use crate::tasks::View;

#[derive(Debug)]
pub(crate) struct SoFar(Progress);

impl SoFar {
    /// `None` of a run that is over, and before its agent has said anything.
    pub(super) fn of(view: &View) -> Option<Self> {
        view.progress.clone().filter(|_| !view.state().is_final()).map(Self)
    }

    /// `50%, 1 of 4 steps, 3 commands (1 failed), 2 changed files`: the plan, and what was done.
    pub(super) fn line(&self) -> Option<String> {
        let Progress { percent, steps, counters, .. } = &self.0;
        let percent = percent.map(|percent| format!("{percent}%"));
        let done = steps.iter().filter(|step| step.done).count();
        let plan = (!steps.is_empty()).then(|| format!("{done} of {} steps", steps.len()));
        let counted = |number: u64, one: &str, many: &str| {
            (number > 0).then(|| format!("{number} {}", if number == 1 { one } else { many }))
        };
        let commands = counted(counters.commands, "command", "commands").map(|commands| {
            if counters.commands_failed > 0 {
                format!("{commands} ({} failed)", counters.commands_failed)
            } else {
                commands
            }
        });
        let parts = [
            percent,
            plan,
            commands,
            counted(counters.files_changed, "changed file", "changed files"),
            counted(counters.tool_calls, "tool call", "tool calls"),
            counted(counters.messages, "message", "messages"),
            counted(counters.retries, "retry", "retries"),
        ];
        let known: Vec<String> = parts.into_iter().flatten().collect();
        (!known.is_empty()).then(|| known.join(", "))
    }

    /// The steps of the plan, each marked where it is done.
    pub(super) fn steps(&self) -> Vec<String> {
        let shown = |step: &PlanStep| format!("[{}] {}", if step.done { "x" } else { " " }, step.text);
        self.0.steps.iter().map(shown).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Counters, Phase};

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
        };
        assert_eq!(SoFar(progress.clone()).line(), None);
        progress.percent = Some(50);
        progress.steps = vec![step("one", true), step("two", false)];
        progress.counters = Counters { commands: 3, commands_failed: 1, retries: 1, ..Counters::default() };
        let so_far = SoFar(progress);
        assert_eq!(so_far.line().unwrap(), "50%, 1 of 2 steps, 3 commands (1 failed), 1 retry");
        assert_eq!(so_far.steps(), ["[x] one", "[ ] two"]);
    }
}
