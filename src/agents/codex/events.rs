//! Converts Codex's output lines to events. Stateless: the reader interprets sequences of lines.

use serde_json::Value;

use crate::agents::codex::failure_causes;
use crate::agents::codex::stream_line::{Key, Line};
use crate::model::{Change, ChangeKind, Event, ItemStatus, PlanStep, Usage};

/// How Codex's retry notices begin. They are top-level `error` lines but do not end the run.
const RETRY: &str = "Reconnecting";

/// The event of a line; `None` for a line without a type.
pub(super) fn event(line: &mut Line) -> Option<Event> {
    let kind = line.take_text(Key::Type);
    let event = match kind.as_str() {
        "" => return None,
        "thread.started" => Event::Thread { id: line.take_text(Key::ThreadId), model: None },
        "turn.started" => Event::TurnStarted,
        "turn.completed" => Event::TurnCompleted { usage: line.get(Key::Usage).and_then(usage) },
        "turn.failed" => Event::TurnFailed { fault: failure_causes::fault(&error_text(line)) },
        "error" => complaint(line.take_text(Key::Message)),
        "item.started" => item(line, Step::Started),
        "item.updated" => item(line, Step::Updated),
        "item.completed" => item(line, Step::Completed),
        _ => Event::Other { kind },
    };
    Some(event)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Started,
    Updated,
    Completed,
}

fn item(line: &mut Line, step: Step) -> Event {
    let Some(item) = line.item.as_deref_mut() else { return Event::Other { kind: "item".to_owned() } };
    let kind = item.take_text(Key::Type);
    match (kind.as_str(), step) {
        ("agent_message", Step::Completed) => {
            Event::Message { text: item.take_text(Key::Text), delta: false }
        }
        ("reasoning", Step::Completed) => Event::Reasoning { text: item.take_text(Key::Text) },
        ("error", Step::Completed) => {
            Event::Warning { message: failure_causes::reduced(&item.take_text(Key::Message)) }
        }
        ("command_execution", Step::Started) => {
            Event::CommandStarted { item: item.take_text(Key::Id), command: item.take_text(Key::Command) }
        }
        ("command_execution", Step::Completed) => Event::CommandEnded {
            status: status(item, step),
            exit_code: item.get(Key::ExitCode).and_then(Value::as_i64),
            output_bytes: item.output.len() as u64,
            item: item.take_text(Key::Id),
            command: item.take_text(Key::Command),
        },
        ("file_change", Step::Started | Step::Completed) => Event::Edited {
            status: status(item, step),
            changes: item.get(Key::Changes).map(changes).unwrap_or_default(),
            item: item.take_text(Key::Id),
        },
        ("todo_list", Step::Started | Step::Updated | Step::Completed) => {
            Event::Plan { steps: item.get(Key::Items).map(steps).unwrap_or_default() }
        }
        ("mcp_tool_call" | "collab_tool_call" | "web_search", Step::Started) => {
            Event::ToolStarted { tool: tool(item, &kind), item: item.take_text(Key::Id) }
        }
        ("mcp_tool_call" | "collab_tool_call" | "web_search", Step::Completed) => Event::ToolEnded {
            status: status(item, step),
            tool: tool(item, &kind),
            item: item.take_text(Key::Id),
        },
        (_, Step::Started | Step::Updated | Step::Completed) => Event::Other { kind },
    }
}

/// A top-level `error`: a retry, or a message that a `turn.failed` is about to repeat.
fn complaint(message: String) -> Event {
    if message.starts_with(RETRY) {
        Event::Retry { message }
    } else {
        Event::Warning { message: failure_causes::reduced(&message) }
    }
}

fn error_text(line: &Line) -> String {
    let error = line.get(Key::Error);
    let message = error.and_then(|error| error.get("message").unwrap_or(error).as_str());
    message.unwrap_or_default().to_owned()
}

fn status(item: &Line, step: Step) -> ItemStatus {
    match item.str(Key::Status) {
        Some("in_progress") => ItemStatus::Running,
        Some("failed") => ItemStatus::Failed,
        Some("declined") => ItemStatus::Declined,
        // Web searches have no status, and an unknown status must not count as failure.
        Some(_) | None if step == Step::Completed => ItemStatus::Completed,
        Some(_) | None => ItemStatus::Running,
    }
}

fn tool(item: &Line, kind: &str) -> String {
    match (item.str(Key::Server), item.str(Key::Tool)) {
        (Some(server), Some(tool)) => format!("{server}.{tool}"),
        (None, Some(tool)) => tool.to_owned(),
        (_, None) => kind.to_owned(),
    }
}

fn changes(value: &Value) -> Vec<Change> {
    let change = |one: &Value| {
        let kind = match one.get("kind")?.as_str()? {
            "add" => ChangeKind::Add,
            "delete" => ChangeKind::Delete,
            // Any other change leaves a modified file.
            _ => ChangeKind::Update,
        };
        Some(Change { path: one.get("path")?.as_str()?.to_owned(), kind })
    };
    value.as_array().into_iter().flatten().filter_map(change).collect()
}

fn steps(value: &Value) -> Vec<PlanStep> {
    let step = |one: &Value| {
        let done = one.get("completed").and_then(Value::as_bool).unwrap_or(false);
        Some(PlanStep { text: one.get("text")?.as_str()?.to_owned(), done })
    };
    value.as_array().into_iter().flatten().filter_map(step).collect()
}

fn usage(value: &Value) -> Option<Usage> {
    let count = |name: &str| value.get(name).and_then(Value::as_u64);
    let usage = Usage {
        input_tokens: count("input_tokens")?,
        cached_input_tokens: count("cached_input_tokens").unwrap_or(0),
        output_tokens: count("output_tokens")?,
        reasoning_output_tokens: count("reasoning_output_tokens").unwrap_or(0),
    };
    // All zeros means that Codex did not count, as after a review.
    Some(usage).filter(|usage| *usage != Usage::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Option<Event>) {
        assert_eq!(Line::parse(line.as_bytes()).and_then(|mut line| event(&mut line)), expected);
    }

    #[test]
    fn a_web_search_goes_by_its_last_id() {
        check(
            r#"{"type":"item.completed","item":{"id":"item_0","type":"web_search","id":"ws_1","query":"q"}}"#,
            Some(Event::ToolEnded {
                item: "ws_1".to_owned(),
                tool: "web_search".to_owned(),
                status: ItemStatus::Completed,
            }),
        );
    }

    #[test]
    fn a_reconnect_notice_is_a_retry_and_no_end() {
        let message = "Reconnecting... 2/5 (stream closed)".to_owned();
        check(
            r#"{"type":"error","message":"Reconnecting... 2/5 (stream closed)"}"#,
            Some(Event::Retry { message }),
        );
    }

    #[test]
    fn a_refused_command_is_declined() {
        check(
            r#"{"type":"item.completed","item":{"id":"item_1","type":"command_execution","command":"rm -r /","aggregated_output":"no","exit_code":null,"status":"declined"}}"#,
            Some(Event::CommandEnded {
                item: "item_1".to_owned(),
                command: "rm -r /".to_owned(),
                exit_code: None,
                output_bytes: 2,
                status: ItemStatus::Declined,
            }),
        );
    }

    #[test]
    fn types_of_a_newer_codex_are_kept_by_name() {
        let other = |kind: &str| Some(Event::Other { kind: kind.to_owned() });
        check(r#"{"type":"turn.paused"}"#, other("turn.paused"));
        check(r#"{"type":"item.completed","item":{"type":"hologram"}}"#, other("hologram"));
        check(r#"{"type":"item.completed"}"#, other("item"));
        check(r#"{"hello":1}"#, None);
    }

    #[test]
    fn usage_without_its_main_figures_is_no_usage() {
        check(r#"{"type":"turn.completed","usage":{}}"#, Some(Event::TurnCompleted { usage: None }));
        check(r#"{"type":"turn.completed"}"#, Some(Event::TurnCompleted { usage: None }));
        let zeros = r#"{"type":"turn.completed","usage":{"input_tokens":0,"cached_input_tokens":0,"output_tokens":0,"reasoning_output_tokens":0}}"#;
        check(zeros, Some(Event::TurnCompleted { usage: None }));
    }

    #[test]
    fn fields_of_another_type_than_expected_are_passed_over() {
        check(
            r#"{"type":"item.completed","item":{"id":7,"type":"file_change","changes":[{"path":1},{"path":"a","kind":"move"}],"status":{}}}"#,
            Some(Event::Edited {
                item: String::new(),
                changes: vec![Change { path: "a".to_owned(), kind: ChangeKind::Update }],
                status: ItemStatus::Completed,
            }),
        );
    }
}
