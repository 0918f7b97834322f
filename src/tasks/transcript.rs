//! A run's events as lines for people: what happened, in order, without the
//! bytes that commands printed. The raw stream stays on disk beside it.

use crate::agents::{self, Reader};
use crate::model::{Answer, ChangeKind, Event, ItemStatus, PlanStep, Request, Timestamp, Usage};
use crate::progress::{Reducer, plain};
use crate::supervisor::Lines;

const LONGEST_LINE: usize = 400;
const MOST_FILES: usize = 5;

/// Reads one run's stream, in whatever pieces it comes.
pub(crate) struct Transcript {
    lines: Lines,
    reader: Box<dyn Reader>,
    /// Knows the wording of what goes on, and which commands are still open.
    reducer: Reducer,
    /// Of a thread that goes on, what it had used before; codex tells its sum.
    before: Option<Option<Usage>>,
}

impl Transcript {
    pub(crate) fn of(request: &Request) -> Self {
        Self {
            lines: Lines::default(),
            reader: agents::agent(request.agent).reader(request, ""),
            reducer: Reducer::new(),
            before: request.resume.as_ref().map(|resumed| resumed.usage_before),
        }
    }

    /// Hands the lines that `bytes` complete to `each`, without a newline.
    pub(crate) fn feed(&mut self, bytes: &[u8], mut each: impl FnMut(&str)) {
        let Self { lines, reader, reducer, before } = self;
        lines.feed(bytes, |raw| tell(reader.as_mut(), reducer, *before, raw, &mut each));
    }

    /// Hands over what a stream without a last newline still held.
    pub(crate) fn finish(&mut self, mut each: impl FnMut(&str)) {
        let Self { lines, reader, reducer, before } = self;
        lines.finish(|raw| tell(reader.as_mut(), reducer, *before, raw, &mut each));
    }
}

fn tell(
    reader: &mut dyn Reader,
    reducer: &mut Reducer,
    before: Option<Option<Usage>>,
    raw: &[u8],
    each: &mut dyn FnMut(&str),
) {
    for mut event in reader.line(raw).events {
        if let (Event::TurnCompleted { usage }, Some(before)) = (&mut event, before) {
            *usage = usage.zip(before).and_then(|(total, before)| total.since(before));
        }
        reducer.apply(&event, Timestamp::from_millis(0));
        if let Some(line) = line(&event, reducer) {
            each(&line);
        }
    }
}

/// One line for `event`, `None` for what says nothing to a person.
fn line(event: &Event, reducer: &Reducer) -> Option<String> {
    let labelled = |label: &str, text: &str| Some(format!("{label}: {}", plain::line(text, LONGEST_LINE)));
    match event {
        Event::TurnStarted | Event::Other { .. } => None,
        Event::Thread { id, .. } => labelled("thread", id),
        Event::Reasoning { text } => labelled("thinking", text),
        Event::Message { text, .. } => match serde_json::from_str::<Answer>(text) {
            Ok(answer) => labelled("answer", &answer.summary),
            Err(_) => labelled("says", text),
        },
        Event::Warning { message } => labelled("warning", message),
        Event::CommandStarted { .. }
        | Event::ToolStarted { .. }
        | Event::Retry { .. }
        | Event::Question { .. }
        | Event::TurnFailed { .. } => Some(reducer.snapshot().activity),
        Event::CommandEnded { exit_code, output_bytes, status, .. } => {
            let exit = exit_code.map(|code| format!(", exit {code}")).unwrap_or_default();
            Some(format!("  {}{exit}, {output_bytes} bytes of output", outcome(*status)))
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::testing::{request, resumed};

    fn check(raw: &str, expected: &[&str]) {
        let mut transcript = Transcript::of(&request());
        let mut lines = Vec::new();
        // In two pieces, as a file that grows would come.
        let (first, second) = raw.as_bytes().split_at(raw.len() / 2);
        transcript.feed(first, |line| lines.push(line.to_owned()));
        transcript.feed(second, |line| lines.push(line.to_owned()));
        transcript.finish(|line| lines.push(line.to_owned()));
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_command_is_told_with_its_end() {
        let started = r#"{"type":"item.started","item":{"id":"i","type":"command_execution","command":"bash -lc 'make test'"}}"#;
        let ended = r#"{"type":"item.completed","item":{"id":"i","type":"command_execution","command":"bash -lc 'make test'","aggregated_output":"no\n","exit_code":2,"status":"failed"}}"#;
        check(&format!("{started}\n{ended}"), &["running: make test", "  failed, exit 2, 3 bytes of output"]);
    }

    #[test]
    fn an_answer_is_told_by_its_summary_and_prose_as_it_is() {
        let message = |text: &str| {
            let item = serde_json::json!({ "type": "agent_message", "text": text });
            serde_json::json!({ "type": "item.completed", "item": item }).to_string()
        };
        check(&message(r#"{"summary":"All good."}"#), &["answer: All good."]);
        check(&message("two\nlines \u{1b}[31mred"), &["says: two lines red"]);
    }

    #[test]
    fn a_resumed_run_is_told_by_what_it_used_itself() {
        let usage = |input_tokens| Usage { input_tokens, ..Usage::default() };
        let line = r#"{"type":"turn.completed","usage":{"input_tokens":4800,"cached_input_tokens":0,"output_tokens":7}}"#;
        for (before, told) in
            [(Some(usage(2400)), "turn done: 2400 tokens in (0 of them cached), 7 out"), (None, "turn done")]
        {
            let mut lines = Vec::new();
            let mut transcript = Transcript::of(&resumed("01a1de11-e775-7fc2-8102-aec1425b9fd0", before));
            transcript.feed(format!("{line}\n").as_bytes(), |line| lines.push(line.to_owned()));
            assert_eq!(lines, [told]);
        }
    }

    #[test]
    fn lines_that_mean_nothing_are_passed_over() {
        check("not json\n{\"type\":\"turn.started\"}\n{\"type\":\"turn.completed\"}\n", &["turn done"]);
    }
}
