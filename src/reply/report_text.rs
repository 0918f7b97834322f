//! A report as plain text, with S0's sections in S0's order, for people and for models that see only text.
//! States what the object states, in few lines.

use std::fmt::Write;

use crate::config::TextLimits;
use crate::failure::Voice;
use crate::reply::agent_answer::{self, Deliverable};
use crate::reply::autopilot_text::subruns;
use crate::reply::failure_cause::{Place, Unresolved};
use crate::reply::file_operations::FileOperations;
use crate::reply::next_steps::next_line;
use crate::reply::progress_text::SoFar;
use crate::reply::report::{Advice, Report, Skill};
use crate::reply::text_layout::{Page, Section};
use crate::reply::worktree_seen::WorktreeSeen;
use crate::text::plain;

const LONGEST_TITLE: usize = 80;
pub(super) const BY_AGENT: &str = " (reported by the agent)";

/// The whole text, ending in a newline.
pub(crate) fn report(tool: &str, report: &Report, events: Option<Section>, cuts: TextLimits) -> String {
    page(tool, report, events, cuts).to_string()
}

/// The text in its parts. The report contains what the run printed; `events` are shown if asked for.
pub(crate) fn page(tool: &str, report: &Report, events: Option<Section>, cuts: TextLimits) -> Page {
    let shown = |text: &str| plain::line(text, cuts.line);
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name}: {value}");
    };
    line("status", &status(report));
    line("task_id", report.task_id.as_str());
    line("run_dir", &report.run_dir.display().to_string());
    line("subagent_thread_id", report.subagent_thread_id.as_deref().unwrap_or("(none)"));
    if let Some(parent) = &report.parent_task_id {
        line("parent_task_id", parent);
    }
    let by_agent = if report.report_by.is_some() { BY_AGENT } else { "" };
    line(&format!("summary{by_agent}"), &shown(&report.summary));
    if let Some(page) = report.cloud.as_ref().and_then(|cloud| cloud.page.as_ref()) {
        line("page", page);
    }
    if let Some(progress) = report.so_far.as_ref().and_then(SoFar::line) {
        line("progress", &progress);
    }
    if let Some(eta) = &report.eta {
        line("eta", &eta.line());
    }
    if let Some(error) = &report.error {
        line("error", &trouble(report, error, cuts));
    }
    if let Some(hint) = report.advice.as_ref().and_then(|advice| advice.hint.as_ref()) {
        line("hint", &shown(hint));
    }
    if !report.jobs.is_empty() {
        subruns(&mut text, &report.jobs, cuts);
    } else if let Some(so_far) = &report.so_far {
        list_any(&mut text, "steps", &so_far.steps(), cuts);
    }
    if let Some(advice) = &report.advice {
        causes(&mut text, advice, cuts);
    }
    if let Some(unresolved) = &report.unresolved {
        left(&mut text, unresolved, cuts);
    }
    list_any(&mut text, "earlier_errors", &report.earlier, cuts);
    if let Some(files) = &report.files {
        changed(&mut text, files, cuts);
    }
    branch(&mut text, report.worktree.as_ref());
    if let Some(commands) = &report.commands {
        let _ = writeln!(text, "commands: {}", commands.line());
    }
    if let Some(tests) = &report.tests {
        let _ = writeln!(text, "tests: {}", tests.line());
        list_some(&mut text, "failed_tests", &tests.failed_tests, tests.left_out(), cuts);
    }
    if let Some(tokens) = &report.tokens {
        let _ = writeln!(text, "tokens: {}", tokens.line());
    }
    if !report.selected_skills.is_empty() {
        let names: Vec<String> = report.selected_skills.iter().map(Skill::line).collect();
        let _ = writeln!(text, "skills: {}", plain::line(&names.join(", "), cuts.line));
    }
    let deliverables = report.deliverables.iter().map(Deliverable::line).collect();
    list(&mut text, "deliverables", BY_AGENT, deliverables, cuts);
    list(&mut text, "open_questions", BY_AGENT, report.open_questions.clone(), cuts);
    list(&mut text, "next_actions", BY_AGENT, report.next_actions.clone(), cuts);
    list_whole(&mut text, "pointers", pointers(report));
    list_any(&mut text, "warnings", &report.warnings, cuts);
    let notice = report.notice.as_ref().map(|notice| format!("notice: {notice}\n")).unwrap_or_default();
    let next = match report.voice {
        Voice::Shell => format!("next: {}\n", report.next.actions(Voice::Shell).join("; ")),
        Voice::Tools => next_line(&report.calls),
    };
    Page {
        before: format!("{tool}\n{text}"),
        sections: answered(report).into_iter().chain(printed(report)).chain(events).collect(),
        after: format!("{notice}{next}"),
    }
}

/// The agent's whole answer, if the summary is not all of it.
fn answered(report: &Report) -> Option<Section> {
    let body = agent_answer::body(report.answer.as_ref()?);
    Some(Section { title: "answer", body })
}

/// The run's output in the report.
fn printed(report: &Report) -> Vec<Section> {
    let Some(output) = &report.output else { return Vec::new() };
    let streams = [("stdout", &output.stdout), ("stderr", &output.stderr)].into_iter();
    let section = |(title, text): (&'static str, &Option<String>)| {
        let body = text.clone().filter(|text| !text.is_empty())?;
        Some(Section { title, body })
    };
    streams.filter_map(section).collect()
}

fn status(report: &Report) -> String {
    let took = report.timing.duration_ms.map(duration);
    let late = report.wait_exceeded.then(|| "the wait timed out".to_owned());
    let known = report.deduplicated.then(|| "the same request as before".to_owned());
    let notes: Vec<String> = [took, late, known].into_iter().flatten().collect();
    if notes.is_empty() {
        report.state.to_owned()
    } else {
        format!("{} ({})", report.state, notes.join(", "))
    }
}

/// The error and its code; the message is left out if the summary already says it.
fn trouble(report: &Report, error: &str, cuts: TextLimits) -> String {
    let message = if error == report.summary { String::new() } else { plain::line(error, cuts.line) };
    let code = report.advice.as_ref().map(|advice| {
        let again = if advice.retryable { ", may succeed if repeated" } else { "" };
        let code = format!("{}{again}", advice.code);
        if message.is_empty() { code } else { format!("({code})") }
    });
    [Some(message), code].into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// What the errors show, if anything.
fn causes(text: &mut String, advice: &Advice, cuts: TextLimits) {
    let cause = &advice.cause;
    for (name, value) in [
        ("first_error", &cause.first_error),
        ("error_type", &cause.error_type),
        ("failed_command", &cause.failed_command),
    ] {
        if let Some(value) = value {
            let _ = writeln!(text, "{name}: {}", plain::line(value, cuts.line));
        }
    }
    let places: Vec<String> = cause.error_locations.iter().map(Place::line).collect();
    list_any(text, "error_locations", &places, cuts);
    list_any(text, "refused", &cause.refused, cuts);
    list_any(text, "suggestions", &advice.suggestions, cuts);
}

/// The branch with the work, and what brings it into the checkout.
pub(super) fn branch(text: &mut String, worktree: Option<&WorktreeSeen>) {
    let Some(worktree) = worktree else { return };
    let _ = writeln!(text, "branch: {}", worktree.branch);
    if let Some(apply) = &worktree.apply {
        let _ = writeln!(text, "apply: {apply}");
    }
}

/// The changed files, and the changes of the checkout.
fn changed(text: &mut String, files: &FileOperations, cuts: TextLimits) {
    let _ = writeln!(text, "files: {}", files.line());
    items(text, &files.names(), files.left_out(), cuts);
    if let Some(head) = files.head_line() {
        let _ = writeln!(text, "head: {}", plain::line(&head, cuts.line));
    }
    for (name, (list, left_out)) in [("commits", files.commit_lines()), ("ignored", files.ignored_lines())] {
        list_some(text, name, &list, left_out, cuts);
    }
    list_any(text, "not_known", &files.incomplete, cuts);
}

/// What still failed in a run that did not itself fail.
fn left(text: &mut String, unresolved: &Unresolved, cuts: TextLimits) {
    let Unresolved { error_message, cause, suggestions } = unresolved;
    for (name, value) in [
        ("unresolved_error", Some(error_message)),
        ("unresolved_type", cause.error_type.as_ref()),
        ("unresolved_command", cause.failed_command.as_ref()),
    ] {
        if let Some(value) = value {
            let _ = writeln!(text, "{name}: {}", plain::line(value, cuts.line));
        }
    }
    let places: Vec<String> = cause.error_locations.iter().map(Place::line).collect();
    list_any(text, "unresolved_locations", &places, cuts);
    list_any(text, "unresolved_refused", &cause.refused, cuts);
    list_any(text, "unresolved_suggestions", suggestions, cuts);
}

/// Like [`list`], but writes nothing for an empty list.
pub(super) fn list_any(text: &mut String, name: &str, list: &[String], cuts: TextLimits) {
    list_some(text, name, list, 0, cuts);
}

/// Like [`list_any`], with `left_out` more items that are not in the list.
fn list_some(text: &mut String, name: &str, list: &[String], left_out: usize, cuts: TextLimits) {
    if !list.is_empty() {
        let _ = writeln!(text, "{name}:");
        items(text, list, left_out, cuts);
    }
}

/// The first `items`, and how many more there are: those cut here and those `left_out` before.
fn items(text: &mut String, items: &[String], left_out: usize, cuts: TextLimits) {
    for item in items.iter().take(cuts.items) {
        let _ = writeln!(text, "- {}", plain::line(item, cuts.line));
    }
    let more = items.len().saturating_sub(cuts.items) + left_out;
    if more > 0 {
        let _ = writeln!(text, "... (+{more} more)");
    }
}

pub(super) fn list(text: &mut String, name: &str, label: &str, items: Vec<String>, cuts: TextLimits) {
    if items.is_empty() {
        let _ = writeln!(text, "{name}: (none)");
        return;
    }
    let _ = writeln!(text, "{name}{label}:");
    self::items(text, &items, 0, cuts);
}

/// Like [`list_any`], for lines that are useless when cut.
fn list_whole(text: &mut String, name: &str, items: Vec<String>) {
    if !items.is_empty() {
        let _ = writeln!(text, "{name}:");
    }
    for item in items {
        let _ = writeln!(text, "- {}", plain::line(&item, usize::MAX));
    }
}

/// The files to open, one per line.
fn pointers(report: &Report) -> Vec<String> {
    report.artifacts.iter().map(|one| format!("{}: {}", one.name, one.path.display())).collect()
}

/// The beginning of a text as one short line.
pub(crate) fn title(text: &str) -> String {
    plain::line(text, LONGEST_TITLE)
}

/// `1 old run`, `2 old runs`.
pub(super) fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// `0.4 s`, `42 s`, `2m05s`, `1h02m`.
pub(crate) fn duration(millis: u64) -> String {
    let tenths = (millis + 50) / 100;
    if tenths < 100 {
        return format!("{}.{} s", tenths / 10, tenths % 10);
    }
    let seconds = (millis + 500) / 1000;
    match seconds {
        ..60 => format!("{seconds} s"),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{RunId, TaskId, Timestamp};
    use crate::reply::next_steps::Next;
    use crate::reply::report::{Pointer, Timing};

    const CUTS: TextLimits = TextLimits { items: 5, line: 200 };

    fn sample() -> Report {
        let task_id = TaskId::from_random([0; 8]);
        let pointer = |name: &'static str| {
            let (name, path) = (name.into(), format!("/r/{name}").into());
            Pointer { name, path }
        };
        Report {
            next: Next::started(&task_id),
            calls: Next::started(&task_id).calls(),
            progress: None,
            answer: None,
            answer_bytes: None,
            task_id,
            run_id: RunId::from_parts("2026-11-15_093000123", [0; 6]),
            run_dir: "/r".into(),
            subagent_thread_id: None,
            parent_task_id: None,
            worktree: None,
            selected_skills: Vec::new(),
            summary: "Fixed \u{1b}[1mit\u{1b}[0m.\nTwice.".into(),
            deliverables: vec![Deliverable {
                path: "a.rs".into(),
                description: "the fix".into(),
                missing: true,
            }],
            open_questions: (1..=7).map(|n| format!("question {n}")).collect(),
            next_actions: Vec::new(),
            artifacts: vec![pointer("last_message.json"), pointer("transcript.log")],
            timing: Timing {
                started_at: Timestamp::from_millis(0),
                finished_at: None,
                duration_ms: Some(6012),
            },
            status: "completed",
            error: None,
            warnings: vec!["aaaa ".repeat(60)],
            report_by: Some("agent"),
            deduplicated: false,
            state: "completed",
            advice: None,
            unresolved: None,
            earlier: Vec::new(),
            eta: None,
            jobs: Vec::new(),
            commands: None,
            so_far: None,
            files: None,
            cloud: None,
            tests: None,
            tokens: None,
            output: None,
            notice: None,
            voice: Voice::Shell,
            wait_exceeded: false,
        }
    }

    #[test]
    fn a_time_is_rounded_and_not_cut() {
        let shown = [597, 967, 9_949, 9_950, 59_499, 59_500, 125_000, 3_720_000].map(duration);
        assert_eq!(shown, ["0.6 s", "1.0 s", "9.9 s", "10 s", "59 s", "1m00s", "2m05s", "1h02m"]);
    }

    #[test]
    fn sections_stand_in_their_order_and_are_cut() {
        insta::assert_snapshot!(report("delegate_run", &sample(), None, CUTS), @r"
        delegate_run
        status: completed (6.0 s)
        task_id: T-local-000000000000
        run_dir: /r
        subagent_thread_id: (none)
        summary (reported by the agent): Fixed it. Twice.
        deliverables (reported by the agent):
        - a.rs: the fix (not on disk)
        open_questions (reported by the agent):
        - question 1
        - question 2
        - question 3
        - question 4
        - question 5
        ... (+2 more)
        next_actions: (none)
        pointers:
        - last_message.json: /r/last_message.json
        - transcript.log: /r/transcript.log
        warnings:
        - aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa…
        next: `delegator wait T-local-000000000000` waits for its end; `delegator logs -f T-local-000000000000` shows its output; `delegator cancel T-local-000000000000` ends it
        ");
    }

    #[test]
    fn a_failed_run_shows_its_error_and_where_to_look() {
        let pointer = |name: &str| Pointer { name: name.into(), path: format!("/r/{name}").into() };
        let failed = Report {
            artifacts: vec![pointer("stderr.log"), pointer("result.json")],
            status: "failed",
            state: "failed",
            error: Some("exit code 2".into()),
            report_by: None,
            ..sample()
        };
        let text = report("delegate_resume", &failed, None, CUTS);
        assert!(text.starts_with("delegate_resume\nstatus: failed (6.0 s)\n"), "{text}");
        for line in [
            "\nsummary: Fixed it. Twice.\nerror: exit code 2\n",
            "\n- stderr.log: /r/stderr.log\n",
            "\n- result.json: /r/result.json\n",
        ] {
            assert!(text.contains(line), "{text}");
        }
    }
}
