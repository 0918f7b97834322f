//! Reduces events to progress.
//!
//! The percentage comes from the agent's plan or is absent. Memory does not grow with a run's
//! output.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use crate::model::{Counters, Event, ItemStatus, Phase, PlanStep, Progress, Timestamp};
use crate::progress::activity;
use crate::text::plain;

/// Steps of a plan that are kept; all are counted.
const MOST_STEPS: usize = 1_000;
const LONGEST_STEP: usize = 200;
const LONGEST_QUESTION: usize = 2_000;
const MOST_BEFORE_THE_END: u8 = 99;
/// Agents run a few things at once; more need not be told apart.
const MOST_OPEN: usize = 64;

/// The progress of one run.
#[derive(Debug)]
pub(crate) struct Reducer {
    phase: Phase,
    activity: String,
    percent: Option<u8>,
    steps: Vec<PlanStep>,
    counters: Counters,
    last_event_at: Option<Timestamp>,
    /// Items that have begun and not ended, oldest first, with their wording.
    open: Vec<(String, String)>,
    /// Hashes of the paths of changed files.
    files: HashSet<u64>,
    hasher: RandomState,
    question: Option<String>,
    /// Whether the previous event was a message, which a delta continues.
    speaking: bool,
}

impl Reducer {
    pub(crate) fn new() -> Self {
        Self {
            phase: Phase::Starting,
            activity: activity::STARTING.to_owned(),
            percent: None,
            steps: Vec::new(),
            counters: Counters::default(),
            last_event_at: None,
            open: Vec::new(),
            files: HashSet::new(),
            hasher: RandomState::new(),
            question: None,
            speaking: false,
        }
    }

    pub(crate) fn apply(&mut self, event: &Event, at: Timestamp) {
        self.counters.events += 1;
        if event.is_activity() {
            self.last_event_at = Some(at);
        }
        let continued = std::mem::replace(&mut self.speaking, matches!(event, Event::Message { .. }));
        match event {
            Event::Thread { .. } | Event::Warning { .. } | Event::Other { .. } => {}
            Event::TurnStarted | Event::Reasoning { .. } => self.settle(),
            Event::Message { delta, .. } => {
                if !(*delta && continued) {
                    self.counters.messages += 1;
                }
                self.show(Phase::Answering, activity::ANSWERING.to_owned());
            }
            Event::CommandStarted { item, command } => {
                self.counters.commands += 1;
                self.begin(item, activity::running(command));
            }
            Event::CommandEnded { item, status, .. } => {
                // Some agents report a command only when it has ended.
                self.counters.commands += u64::from(!self.end(item));
                self.counters.commands_failed += u64::from(failed(*status));
                self.settle();
            }
            Event::ToolStarted { item, tool } => {
                self.counters.tool_calls += 1;
                self.begin(item, activity::using(tool));
            }
            Event::ToolEnded { item, .. } => {
                self.counters.tool_calls += u64::from(!self.end(item));
                self.settle();
            }
            Event::Edited { item, changes, status } => {
                // Some agents edit through a tool that began under the same item.
                self.end(item);
                self.show(Phase::Editing, activity::editing(changes.len()));
                if *status == ItemStatus::Completed {
                    let paths = changes.iter().map(|change| self.hasher.hash_one(&change.path));
                    self.files.extend(paths);
                    self.counters.files_changed = self.files.len() as u64;
                }
            }
            Event::Plan { steps } => self.follow(steps),
            Event::Retry { message } => {
                self.counters.retries += 1;
                self.activity = activity::retrying(message);
            }
            Event::Question { text } => {
                self.show(Phase::Asking, activity::asking(text));
                self.question = Some(plain::line(text, LONGEST_QUESTION));
            }
            Event::TurnCompleted { .. } => self.show(Phase::Answering, activity::ANSWERING.to_owned()),
            Event::TurnFailed { fault } => self.activity = activity::failed(&fault.message),
        }
    }

    /// The agent's question was answered.
    pub(crate) fn answered(&mut self) {
        self.show(Phase::Thinking, activity::THINKING.to_owned());
    }

    /// Marks the run as finished.
    pub(crate) fn finish(&mut self) {
        self.open.clear();
        self.show(Phase::Finished, activity::FINISHED.to_owned());
    }

    pub(crate) fn snapshot(&self) -> Progress {
        Progress {
            version: Progress::VERSION,
            phase: self.phase,
            activity: self.activity.clone(),
            // A complete plan is not the end: the agent may extend it, or fail.
            percent: match self.phase {
                Phase::Finished => self.percent,
                Phase::Queued
                | Phase::Starting
                | Phase::Thinking
                | Phase::Running
                | Phase::Editing
                | Phase::Answering
                | Phase::Asking => self.percent.map(|percent| percent.min(MOST_BEFORE_THE_END)),
            },
            steps: self.steps.clone(),
            counters: self.counters,
            last_event_at: self.last_event_at,
            // Filled in by others.
            eta: None,
            running: Vec::new(),
            question: self.question.clone().filter(|_| self.phase == Phase::Asking),
        }
    }

    fn show(&mut self, phase: Phase, activity: String) {
        self.phase = phase;
        self.activity = activity;
    }

    fn begin(&mut self, item: &str, what: String) {
        if self.open.len() == MOST_OPEN {
            self.open.remove(0);
        }
        self.open.push((item.to_owned(), what.clone()));
        self.show(Phase::Running, what);
    }

    /// Returns whether `item` had begun.
    fn end(&mut self, item: &str) -> bool {
        let at = self.open.iter().rposition(|(open, _)| open == item);
        at.map(|at| self.open.remove(at)).is_some()
    }

    /// Shows the newest item that is still running, or "thinking".
    fn settle(&mut self) {
        match self.open.last() {
            Some((_, what)) => self.show(Phase::Running, what.clone()),
            None => self.show(Phase::Thinking, activity::THINKING.to_owned()),
        }
    }

    fn follow(&mut self, steps: &[PlanStep]) {
        if steps.is_empty() {
            return;
        }
        let done = steps.iter().filter(|step| step.done).count();
        let percent = u8::try_from(done * 100 / steps.len()).unwrap_or(100);
        // A plan may grow, but the percentage never falls.
        self.percent = self.percent.max(Some(percent));
        let shown =
            |step: &PlanStep| PlanStep { text: plain::line(&step.text, LONGEST_STEP), done: step.done };
        self.steps = steps.iter().take(MOST_STEPS).map(shown).collect();
    }
}

fn failed(status: ItemStatus) -> bool {
    match status {
        ItemStatus::Failed | ItemStatus::Declined => true,
        ItemStatus::Running | ItemStatus::Completed => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Change, ChangeKind};

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    fn after(events: &[Event]) -> Progress {
        let mut reducer = Reducer::new();
        for (i, event) in events.iter().enumerate() {
            reducer.apply(event, at(i as i64));
        }
        reducer.snapshot()
    }

    #[track_caller]
    fn check(events: &[Event], phase: Phase, activity: &str, percent: Option<u8>) {
        let progress = after(events);
        assert_eq!(
            (progress.phase, progress.activity.as_str(), progress.percent),
            (phase, activity, percent)
        );
    }

    fn started(item: &str, command: &str) -> Event {
        Event::CommandStarted { item: item.to_owned(), command: command.to_owned() }
    }

    fn ended(item: &str, status: ItemStatus) -> Event {
        let (item, command) = (item.to_owned(), "x".to_owned());
        Event::CommandEnded { item, command, exit_code: None, output_bytes: 0, status }
    }

    fn plan(done: usize, total: usize) -> Event {
        let step = |i: usize| PlanStep { text: format!("step {i}"), done: i < done };
        Event::Plan { steps: (0..total).map(step).collect() }
    }

    #[test]
    fn a_run_begins_by_starting_and_then_thinks() {
        check(&[], Phase::Starting, "starting", None);
        check(&[Event::TurnStarted], Phase::Thinking, "thinking", None);
    }

    #[test]
    fn a_command_runs_until_it_ends() {
        let (one, two) = (started("1", "cargo build"), started("2", "cargo test"));
        check(&[one.clone(), two.clone()], Phase::Running, "running: cargo test", None);
        let both = [one.clone(), two.clone(), ended("2", ItemStatus::Completed)];
        check(&both, Phase::Running, "running: cargo build", None);
        let none = [one, ended("1", ItemStatus::Failed)];
        check(&none, Phase::Thinking, "thinking", None);
        assert_eq!((after(&none).counters.commands, after(&none).counters.commands_failed), (1, 1));
    }

    #[test]
    fn a_command_known_only_by_its_end_counts_once() {
        assert_eq!(after(&[ended("9", ItemStatus::Completed)]).counters.commands, 1);
    }

    #[test]
    fn percent_comes_from_the_plan_and_never_falls() {
        check(&[plan(0, 4)], Phase::Starting, "starting", Some(0));
        check(&[plan(2, 4), plan(1, 4), plan(2, 8)], Phase::Starting, "starting", Some(50));
        check(&[plan(2, 4), Event::Plan { steps: Vec::new() }], Phase::Starting, "starting", Some(50));
        assert_eq!(after(&[plan(2, 4), plan(2, 8)]).steps.len(), 8);
    }

    #[test]
    fn all_steps_done_are_everything_only_at_the_end() {
        check(&[plan(4, 4)], Phase::Starting, "starting", Some(99));
        check(&[plan(4, 4), plan(4, 8)], Phase::Starting, "starting", Some(99));
        let ended = |done| {
            let mut reducer = Reducer::new();
            reducer.apply(&plan(done, 4), at(0));
            reducer.finish();
            reducer.snapshot().percent
        };
        assert_eq!((ended(4), ended(2)), (Some(100), Some(50)));
    }

    #[test]
    fn a_file_changed_twice_is_one_file() {
        let edit = |status| Event::Edited {
            item: "1".to_owned(),
            changes: vec![
                Change { path: "a".to_owned(), kind: ChangeKind::Add },
                Change { path: "b".to_owned(), kind: ChangeKind::Update },
            ],
            status,
        };
        let events = [edit(ItemStatus::Running), edit(ItemStatus::Completed), edit(ItemStatus::Completed)];
        check(&events, Phase::Editing, "editing 2 files", None);
        assert_eq!(after(&events).counters.files_changed, 2);
        assert_eq!(after(&[edit(ItemStatus::Failed)]).counters.files_changed, 0);
    }

    #[test]
    fn a_retry_is_shown_and_is_no_sign_of_life() {
        let events = [Event::TurnStarted, Event::Retry { message: "Reconnecting... 1/5".to_owned() }];
        check(&events, Phase::Thinking, "retrying: Reconnecting... 1/5", None);
        assert_eq!(after(&events).last_event_at, Some(at(0)));
        assert_eq!(after(&events).counters.retries, 1);
    }

    #[test]
    fn pieces_of_one_message_are_one_message() {
        let said = |delta| Event::Message { text: "a".to_owned(), delta };
        assert_eq!(after(&[said(true), said(true), said(true)]).counters.messages, 1);
        assert_eq!(after(&[said(true), Event::TurnStarted, said(true)]).counters.messages, 2);
        assert_eq!(after(&[said(false), said(false)]).counters.messages, 2);
    }

    #[test]
    fn a_finished_run_does_nothing_more() {
        let mut reducer = Reducer::new();
        reducer.apply(&started("1", "sleep 300"), at(0));
        reducer.finish();
        let progress = reducer.snapshot();
        assert_eq!((progress.phase, progress.activity.as_str()), (Phase::Finished, "finished"));
    }

    #[test]
    fn a_runaway_agent_does_not_fill_the_memory() {
        let mut reducer = Reducer::new();
        for i in 0..10_000 {
            reducer.apply(&started(&i.to_string(), "x"), at(0));
        }
        assert_eq!((reducer.open.len(), reducer.counters.commands), (MOST_OPEN, 10_000));
    }
}
