//! `progress` in a reply: how far an unfinished run is, from its agent's events.

use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Voice;
use crate::model::{self, Phase, State, Timestamp};
use crate::reading::View;
use crate::reply::eta::Eta;
use crate::reply::next_steps::Next;
use crate::reply::snapshot::later;
use crate::reply::task_facts::Facts;

/// The progress of a run, from its agent's events.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Progress {
    /// From the agent's own plan; null without one. Never decreases.
    #[schemars(range(max = 100))]
    pub(crate) percent: Option<u8>,
    /// Null without a plan.
    pub(crate) completed_steps: Option<usize>,
    /// Null without a plan.
    pub(crate) total_steps: Option<usize>,
    /// What the agent is doing now, in one line.
    pub(crate) current_activity: String,
    /// The agent's question. It waits for the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) question: Option<String>,
    #[schemars(with = "String")]
    phase: Phase,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) steps: Vec<Step>,
    pub(crate) counters: Counted,
    /// Absent if too few earlier runs took longer than this one has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) eta: Option<Eta>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_event_at: Option<Timestamp>,
    /// How long to wait before asking again.
    poll_frequency_ms: u64,
    /// The result is kept at least until then, even if the run ends now.
    keep_alive_until: Timestamp,
    /// What can be done with the task now.
    next_actions: Vec<String>,
}

/// What the run has done so far.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Counted {
    pub(crate) commands: u64,
    commands_failed: u64,
    /// From the agent's own events; a `command` has none. The result has the changes in the tree.
    pub(crate) files_changed: u64,
    tool_calls: u64,
    messages: u64,
    retries: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Step {
    pub(crate) text: String,
    pub(crate) done: bool,
}

impl Progress {
    /// `None` before the agent's first event.
    pub(super) fn of(view: &View, now: Timestamp, voice: Voice) -> Option<Self> {
        let model::Progress { phase, activity, percent, steps, counters, last_event_at, question, .. } =
            view.progress.as_ref()?;
        let planned = |count: usize| (!steps.is_empty()).then_some(count);
        Some(Self {
            percent: *percent,
            completed_steps: planned(steps.iter().filter(|step| step.done).count()),
            total_steps: planned(steps.len()),
            current_activity: activity.clone(),
            question: question.clone(),
            phase: *phase,
            steps: steps.iter().map(|step| Step { text: step.text.clone(), done: step.done }).collect(),
            counters: Counted::of(*counters),
            eta: Eta::of(view, now),
            last_event_at: *last_event_at,
            poll_frequency_ms: view.row.poll_frequency_ms.into(),
            keep_alive_until: later(now, view.kept_for),
            next_actions: Next::of(view).actions(voice),
        })
    }

    /// The progress of an unfinished task. A queued one also has some fields.
    pub(super) fn so_far(view: &View, facts: &Facts, now: Timestamp, voice: Voice) -> Option<Self> {
        if facts.state.is_final() {
            return None;
        }
        Self::of(view, now, voice).or_else(|| {
            Some(Self {
                percent: None,
                completed_steps: None,
                total_steps: None,
                current_activity: facts.summary.clone(),
                question: None,
                phase: if facts.state == State::Pending { Phase::Queued } else { Phase::Starting },
                steps: Vec::new(),
                counters: Counted::default(),
                eta: Eta::of(view, now),
                last_event_at: None,
                poll_frequency_ms: view.row.poll_frequency_ms.into(),
                keep_alive_until: later(now, view.kept_for),
                next_actions: Next::of(view).actions(voice),
            })
        })
    }
}

impl Counted {
    fn of(counters: model::Counters) -> Self {
        let model::Counters {
            commands, commands_failed, files_changed, tool_calls, messages, retries, ..
        } = counters;
        Self { commands, commands_failed, files_changed, tool_calls, messages, retries }
    }
}
