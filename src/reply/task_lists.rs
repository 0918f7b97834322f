//! Several tasks as plain text: a snapshot, and the result of a wait for several tasks.

use std::fmt::Write;

use crate::model::TaskId;
use crate::reading::Results;
use crate::reply::event_digest;
use crate::reply::next_steps::{NextCall, next_line};
use crate::reply::progress::Progress;
use crate::reply::report::Report;
use crate::reply::report_text::{duration, title};
use crate::reply::snapshot::{SnapshotMeta, StatusSnapshot};
use crate::reply::text_layout::Section;

/// A snapshot as text, for readers without the structured content.
pub(crate) fn snapshot(tool: &str, meta: &SnapshotMeta, data: &StatusSnapshot, next: &[NextCall]) -> String {
    let counts = &data.summary;
    let mut text = format!(
        "{tool}\nstatus: {} running, {} queued, {} recently finished\n",
        counts.running, counts.queued, counts.recently_completed
    );
    let mut section = |name: &str, all: usize, lines: Vec<String>| {
        if !lines.is_empty() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{name}:\n{}", lines.join("\n"));
        }
        if let more @ 1.. = all.saturating_sub(lines.len()) {
            let _ = writeln!(text, "... (+{more} more)");
        }
    };
    section(
        "running",
        counts.running,
        data.tasks
            .iter()
            .map(|one| {
                let activity =
                    one.progress.as_ref().map_or("starting", |progress| progress.current_activity.as_str());
                let so_far = one.progress.as_ref().map_or(String::new(), so_far);
                format!(
                    "- {} {} for {:.0} s: {} ({}{so_far}){}{}",
                    who(&one.task_id, one.parent_task_id.as_deref()),
                    one.state,
                    one.elapsed_seconds,
                    one.title,
                    title(activity),
                    page(one.page.as_deref()),
                    last_lines(one.last_lines.as_deref())
                )
            })
            .collect(),
    );
    section(
        "queued",
        counts.queued,
        data.queue
            .iter()
            .map(|one| {
                let who = who(&one.task_id, one.parent_task_id.as_deref());
                let starts = one.estimated_start_ms.map(|ms| format!(", starts in about {}", duration(ms)));
                format!(
                    "- {who} {}{}: {}",
                    one.waits(|position| format!("at position {position}")),
                    starts.unwrap_or_default(),
                    one.title
                )
            })
            .collect(),
    );
    section(
        "finished",
        counts.recently_completed,
        data.recently_completed
            .iter()
            .map(|one| {
                let unread = if one.unread { ", unread" } else { "" };
                let pinned = if one.pinned { ", pinned" } else { "" };
                let by = if one.report_by.is_some() { " (reported by the agent)" } else { "" };
                let files = one.files.as_ref().map(|files| format!("; files: {files}")).unwrap_or_default();
                let tests = one.tests.as_ref().map(|tests| format!("; tests: {tests}")).unwrap_or_default();
                let unresolved = one.unresolved_error.as_ref();
                let unresolved =
                    unresolved.map(|error| format!("; unresolved_error: {error}")).unwrap_or_default();
                format!(
                    "- {} {} after {}{unread}{pinned}: {} -> {}{}{by}{files}{tests}{unresolved}{}",
                    who(&one.task_id, one.parent_task_id.as_deref()),
                    one.state,
                    duration(millis(one.duration_seconds)),
                    one.title,
                    one.summary,
                    page(one.page.as_deref()),
                    last_lines(one.last_lines.as_deref())
                )
            })
            .collect(),
    );
    for warning in &data.warnings {
        let _ = writeln!(text, "warning: {warning}");
    }
    if let Some(notice) = &meta.notice {
        let _ = writeln!(text, "notice: {notice}");
    }
    text + &next_line(next)
}

/// A task's id, and the task that it continues.
fn who(id: &TaskId, parent: Option<&str>) -> String {
    parent.map_or_else(|| id.to_string(), |parent| format!("{id} (parent {parent})"))
}

/// The page of a task in the cloud, in full.
fn page(page: Option<&str>) -> String {
    page.map(|page| format!("; {page}")).unwrap_or_default()
}

/// Indented, so that no line of it looks like a line of the reply.
fn last_lines(lines: Option<&[String]>) -> String {
    lines.unwrap_or_default().iter().map(|line| format!("\n    | {line}")).collect()
}

/// The progress: the plan, or else what was done; and the remaining time.
fn so_far(progress: &Progress) -> String {
    let mut text = String::new();
    let counted = &progress.counters;
    if let Some((done, all)) = progress.completed_steps.zip(progress.total_steps) {
        let percent = progress.percent.map(|percent| format!("{percent}%, ")).unwrap_or_default();
        let _ = write!(text, ", {percent}{done}/{all} steps");
    } else {
        for (number, what) in [(counted.commands, "command"), (counted.files_changed, "changed file")] {
            if number > 0 {
                let plural = if number == 1 { "" } else { "s" };
                let _ = write!(text, ", {number} {what}{plural}");
            }
        }
    }
    if let Some(eta) = &progress.eta {
        let _ = write!(text, ", {}", eta.line());
    }
    text
}

fn millis(seconds: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a duration of ours")]
    let millis = (seconds * 1000.0).round() as u64;
    millis
}

/// The tasks of one wait.
pub(crate) fn reports(tool: &str, reports: &[Report], notice: Option<&str>, next: &[NextCall]) -> String {
    let done = reports.iter().filter(|one| !matches!(one.state, "working" | "pending" | "unknown")).count();
    let mut text = format!("{tool}\nstatus: {done} of {} done\ntasks:\n", reports.len());
    for one in reports {
        let took = one.timing.duration_ms.map(|ms| format!(" ({})", duration(ms))).unwrap_or_default();
        let by = if one.report_by.is_some() { " (reported by the agent)" } else { "" };
        let (summary, facts) = (title(&one.summary), one.facts_line());
        let _ = writeln!(text, "- {} {}{took}: {summary}{by}{facts}", one.task_id, one.state);
    }
    if let Some(notice) = notice {
        let _ = writeln!(text, "notice: {notice}");
    }
    text + &next_line(next)
}

/// The events of the structured reply, one line each.
pub(crate) fn events(results: &Results) -> Option<Section> {
    let body = event_digest::lines(results.events.as_ref()?);
    Some(Section { title: "events", body })
}
