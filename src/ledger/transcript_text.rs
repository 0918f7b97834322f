//! Words each event of a run as a line of the transcript, as a person would have seen it.

use crate::model::{Answer, ChangeKind, Event, ItemStatus, PlanStep, Usage};
use crate::progress::{Reducer, inner_command};
use crate::text::plain;

const LONGEST_LINE: usize = 400;
const MOST_FILES: usize = 5;

/// The line at the start of a command.
pub(crate) fn command(command: &str) -> String {
    format!("$ {}", plain::line(inner_command(command), LONGEST_LINE))
}

/// The line at the end of a command.
pub(crate) fn ended(status: ItemStatus, exit_code: Option<i64>) -> String {
    match (status, exit_code) {
        (ItemStatus::Declined, _) => "[refused]".to_owned(),
        (_, Some(code)) => format!("[exit {code}]"),
        (status, None) => format!("[{}]", outcome(status)),
    }
}

/// The line of any other event; `None` if there is nothing to show.
pub(crate) fn line(event: &Event, reducer: &Reducer) -> Option<String> {
    let labelled = |label: &str, text: &str| Some(format!("{label}: {}", plain::line(text, LONGEST_LINE)));
    match event {
        Event::TurnStarted
        | Event::Other { .. }
        | Event::CommandStarted { .. }
        | Event::CommandEnded { .. } => None,
        Event::Thread { id, .. } => labelled("thread", id),
        Event::Reasoning { text } => labelled("thinking", text),
        Event::Message { text, .. } => match serde_json::from_str::<Answer>(text) {
            Ok(answer) => labelled("answer", &answer.summary),
            Err(_) => labelled("says", text),
        },
        Event::Warning { message } => labelled("warning", message),
        Event::ToolStarted { .. }
        | Event::Retry { .. }
        | Event::Question { .. }
        | Event::TurnFailed { .. } => Some(reducer.snapshot().activity),
        Event::ToolEnded { status, .. } => Some(format!("  {}", outcome(*status))),
        Event::Edited { status: ItemStatus::Running, .. } => None,
        Event::Edited { changes, status, .. } => {
            let shown = changes.iter().take(MOST_FILES).map(|change| {
                let what = match change.kind {
                    ChangeKind::Add => "new",
                    ChangeKind::Update => "changed",
                    ChangeKind::Delete => "deleted",
                };
                format!("{} ({what})", change.path)
            });
            let more = changes.len().saturating_sub(MOST_FILES);
            let more = if more == 0 { String::new() } else { format!(", ... (+{more} more)") };
            let files = shown.collect::<Vec<_>>().join(", ");
            labelled(&format!("edit {}", outcome(*status)), &format!("{files}{more}"))
        }
        Event::Plan { steps } => Some(plan(steps)),
        Event::TurnCompleted { usage } => Some(match usage {
            None => "turn done".to_owned(),
            Some(usage) => format!("turn done: {}", tokens(usage)),
        }),
    }
}

fn outcome(status: ItemStatus) -> &'static str {
    match status {
        ItemStatus::Running => "running",
        ItemStatus::Completed => "done",
        ItemStatus::Failed => "failed",
        ItemStatus::Declined => "refused",
    }
}

fn plan(steps: &[PlanStep]) -> String {
    let done = steps.iter().filter(|step| step.done).count();
    let next = steps.iter().find(|step| !step.done);
    let next =
        next.map(|step| format!("; next: {}", plain::line(&step.text, LONGEST_LINE))).unwrap_or_default();
    format!("plan: {done} of {} steps done{next}", steps.len())
}

fn tokens(usage: &Usage) -> String {
    let Usage { input_tokens, cached_input_tokens, output_tokens, .. } = usage;
    format!("{input_tokens} tokens in ({cached_input_tokens} of them cached), {output_tokens} out")
}
