//! The report of an autopilot task as plain text, with S0's sections in S0's order.

use std::fmt::{Display, Write};

use crate::config::TextLimits;
use crate::failure::Voice;
use crate::model::{SkillsMode, ThinkingLevel};
use crate::reply::agent_answer::Deliverable;
use crate::reply::autopilot::{Aggregate, AutopilotReport, JobReply, SubrunReply};
use crate::reply::next_steps::next_line;
use crate::reply::report_text::{BY_AGENT, branch, duration, list, list_any};
use crate::text::plain;

/// The whole text, ending in a newline.
pub(crate) fn autopilot(tool: &str, report: &AutopilotReport, cuts: TextLimits) -> String {
    let shown = |text: &str| plain::line(text, cuts.line);
    let took = report.timing.duration_ms.map(|ms| format!(" ({})", duration(ms))).unwrap_or_default();
    let notes =
        [(report.wait_exceeded, "the wait timed out"), (report.deduplicated, "the same request as before")];
    let notes: String =
        notes.iter().filter(|(applies, _)| *applies).map(|(_, note)| format!(" ({note})")).collect();
    let mut text = format!(
        "{tool}\nstatus: {}{took}{notes}\ntask_id: {}\nrun_dir: {}\n",
        report.status,
        report.task_id,
        report.run_dir.display()
    );
    // Writing to a string cannot fail.
    let _ = match &report.decision {
        Some(decision) => {
            let (should, reason) = (decision.should_delegate, shown(&decision.reason));
            writeln!(text, "decision.should_delegate: {should}\ndecision.reason: {reason}")
        }
        None => writeln!(text, "decision: (not made yet)"),
    };
    if let Some(error) = &report.error {
        let _ = writeln!(text, "error: {}", shown(error));
    }
    section(&mut text, "Autopilot plan", report.plan.jobs.iter().map(JobReply::line));
    subruns(&mut text, &report.jobs, cuts);
    aggregate(&mut text, report.aggregate.as_ref(), cuts);
    branch(&mut text, report.worktree.as_ref());
    let pointers = report.artifacts.iter().map(|one| format!("- {}: {}", one.name, one.path.display()));
    let pointers: Vec<String> = pointers.collect();
    if !pointers.is_empty() {
        let _ = writeln!(text, "pointers:\n{}", pointers.join("\n"));
    }
    list_any(&mut text, "warnings", &report.warnings, cuts);
    if let Some(notice) = &report.notice {
        let _ = writeln!(text, "notice: {notice}");
    }
    match report.voice {
        Voice::Shell => text + &format!("next: {}\n", report.next.actions(Voice::Shell).join("; ")),
        Voice::Tools => text + &next_line(&report.calls),
    }
}

/// What became of each job.
pub(super) fn subruns(text: &mut String, subruns: &[SubrunReply], cuts: TextLimits) {
    section(text, "Subruns", subruns.iter().map(|subrun| subrun.lines(cuts)));
}

fn section(text: &mut String, title: &str, items: impl ExactSizeIterator<Item = String>) {
    if items.len() == 0 {
        let _ = writeln!(text, "{title}: (none)");
        return;
    }
    let _ = writeln!(text, "{title}:");
    for item in items {
        let _ = writeln!(text, "- {item}");
    }
}

fn aggregate(text: &mut String, aggregate: Option<&Aggregate>, cuts: TextLimits) {
    let Some(Aggregate { summary, deliverables, open_questions, next_actions }) = aggregate else {
        let _ = writeln!(text, "Aggregate: (not finished)");
        return;
    };
    let _ = writeln!(text, "Aggregate:\nsummary: {}", plain::line(summary, cuts.line));
    let deliverables = deliverables.iter().map(Deliverable::line).collect();
    list(text, "deliverables", BY_AGENT, deliverables, cuts);
    list(text, "open_questions", BY_AGENT, open_questions.clone(), cuts);
    list(text, "next_actions", BY_AGENT, next_actions.clone(), cuts);
}

impl JobReply {
    /// `scan: Repo scan + approach (thinking_level=low, sandbox=read-only, skills_mode=auto, max_skills=6)`.
    fn line(&self) -> String {
        let after = (!self.after.is_empty()).then(|| self.after.join("+"));
        let settings = [
            setting("thinking_level", self.thinking_level.map(ThinkingLevel::as_str)),
            setting("sandbox", self.sandbox),
            setting("skills_mode", self.skills_mode.map(SkillsMode::as_str)),
            setting("max_skills", self.max_skills),
            setting("after", after),
        ];
        let settings: Vec<String> = settings.into_iter().flatten().collect();
        let title = plain::line(&self.title, usize::MAX);
        let title = if title.is_empty() { title } else { format!(": {title}") };
        let settings =
            if settings.is_empty() { String::new() } else { format!(" ({})", settings.join(", ")) };
        format!("{}{title}{settings}", self.id)
    }
}

fn setting(name: &str, value: Option<impl Display>) -> Option<String> {
    value.map(|value| format!("{name}={value}"))
}

impl SubrunReply {
    fn lines(&self, cuts: TextLimits) -> String {
        let took = self.duration_ms.map(|ms| format!(" ({})", duration(ms))).unwrap_or_default();
        let by_agent = if self.report_by.is_some() { BY_AGENT } else { "" };
        let summary = plain::line(&self.summary, cuts.line);
        let mut text = format!("{}: {}{took}\n  summary{by_agent}: {summary}", self.job_id, self.status);
        let facts = [
            ("task_id", self.task_id.as_ref().map(ToString::to_string)),
            ("subagent_thread_id", self.subagent_thread_id.clone()),
            ("run_dir", self.run_dir.as_ref().map(|dir| dir.display().to_string())),
        ];
        let facts = facts.into_iter().filter_map(|(name, fact)| Some((name.to_owned(), fact?)));
        let files = self.artifacts.iter().map(|file| (file.name.clone(), file.path.display().to_string()));
        for (name, fact) in facts.chain(files) {
            let _ = write!(text, "\n  {name}: {fact}");
        }
        text
    }
}
