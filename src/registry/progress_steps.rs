//! The column `progress_steps`: how far a task was when its row was last written.

use serde_json::json;

use crate::model::{Progress, State};

/// Of a task that has no progress yet.
pub(super) fn before_progress(state: State) -> String {
    let description = if state == State::Pending { "waiting in the queue" } else { "starting" };
    json!({ "current": null, "total": null, "description": description, "percentage": null }).to_string()
}

pub(super) fn of(progress: &Progress) -> String {
    let Progress { activity, percent, steps, .. } = progress;
    let planned = |count: usize| (!steps.is_empty()).then_some(count);
    json!({
        "current": planned(steps.iter().filter(|step| step.done).count()),
        "total": planned(steps.len()),
        "description": activity,
        "percentage": percent,
        "steps": steps,
    })
    .to_string()
}
