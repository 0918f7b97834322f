//! Judges a Codex run by its last turn, exit code and standard error.
//!
//! Success needs exit code 0 and a completed turn: Codex exits with 0 after many failures, and
//! without any event after others.

use crate::agents::codex::answer::{self, Shape};
use crate::agents::codex::reader::{Expected, StreamState};
use crate::agents::codex::stderr;
use crate::agents::{AgentEnd, Verdict, signal_name};
use crate::model::{Exit, FailureCode, Fault};

const NO_SANDBOX: &str = "no command ran: Codex cannot set up its sandbox on this system (user namespaces are disabled); \
                          check with `codex sandbox -- /bin/true`";

pub(super) fn verdict(asked: &Expected, seen: &StreamState, end: &AgentEnd) -> Verdict {
    let message = seen.last_message.as_deref().or(end.last_message.as_deref()).unwrap_or_default();
    let mut warnings = seen.warnings.clone();
    // A refusal may only be at the end of standard error.
    let mut refusals = seen.refusals.clone();
    end.stderr_tail.lines().for_each(|line| refusals.line(line));
    warnings.extend(refusals.into_warnings());
    if seen.commands_ended > 0 && seen.commands_ended == seen.commands_without_sandbox {
        warnings.push(NO_SANDBOX.to_owned());
    }

    let reply = answer::read(message, asked.shape);
    let ended = ending(asked, seen, end);
    let (result, summary) = match ended {
        Ok(()) => {
            warnings.extend(reply.warning);
            (Ok(()), reply.summary)
        }
        Err(fault) => {
            // The failure repeats the last warning; do not report it twice.
            warnings.retain(|warning| *warning != fault.message);
            let summary = if message.trim().is_empty() { fault.message.clone() } else { reply.summary };
            (Err(fault), summary)
        }
    };
    // Codex counts the whole life of a thread; this run used the difference.
    let usage = match (&asked.thread, asked.usage_before) {
        (None, _) => seen.total,
        (Some(_), Some(before)) => seen.total.and_then(|total| total.since(before)),
        (Some(_), None) => None,
    };
    Verdict {
        summary,
        unchecked: (asked.shape == Shape::Callers && result.is_ok()).then(|| message.trim().to_owned()),
        answer: reply.answer,
        result,
        warnings,
        thread_id: seen.thread.clone(),
        model: asked.model.clone(),
        usage,
        usage_total: seen.total,
    }
}

fn ending(asked: &Expected, seen: &StreamState, end: &AgentEnd) -> Result<(), Fault> {
    if let Some(stray) = &seen.stray {
        return Err(stray.clone());
    }
    match (&seen.turn, end.exit) {
        (Some(Err(fault)), Exit::Code(_) | Exit::Signal(_)) => Err(fault.clone()),
        (Some(Ok(())), Exit::Code(0)) => Ok(()),
        (Some(Ok(())), Exit::Code(code)) => {
            let why = stderr::fault(&end.stderr_tail)
                .map(|fault| format!(": {}", fault.message))
                .unwrap_or_default();
            let message = format!("codex finished its turn, then ended with exit code {code}{why}");
            Err(Fault::new(FailureCode::ToolError, message))
        }
        (None, Exit::Code(code)) => {
            Err(stderr::fault(&end.stderr_tail).unwrap_or_else(|| unexplained(seen, code)))
        }
        (_, Exit::Signal(signal)) => Err(signalled(asked, seen, signal)),
    }
}

fn unexplained(seen: &StreamState, code: i32) -> Fault {
    // A warning that no turn repeated is the only reason available.
    match seen.warnings.last().or(seen.retrying.as_ref()) {
        Some(last) => crate::agents::codex::failure_causes::fault(last),
        None => {
            let message =
                format!("codex ended with exit code {code} before it finished its turn and gave no reason");
            Fault::new(FailureCode::ToolError, message).hint("see `stderr.log` of the run")
        }
    }
}

fn signalled(asked: &Expected, seen: &StreamState, signal: i32) -> Fault {
    let while_doing = match &seen.retrying {
        Some(retry) => format!(" while retrying: {retry}"),
        None => String::new(),
    };
    let message = format!("codex was ended by {}{while_doing}", signal_name(signal));
    let fault = Fault::new(FailureCode::ToolError, message);
    // Threads survive a kill and can be resumed.
    match seen.thread.as_ref().or(asked.thread.as_ref()) {
        Some(_) => fault.hint("resume the thread to continue").passing(),
        None => fault,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::testing::{request, resumed};
    use crate::agents::{Agent, codex::Codex};
    use crate::model::{Request, Usage};
    use crate::text::test_rows;

    const STARTED: &str = r#"{"type":"thread.started","thread_id":"01a1de11-e775-7fc2-8102-aec1425b9fd0"}"#;
    const DONE: &str = r#"{"type":"turn.completed","usage":{"input_tokens":100,"cached_input_tokens":10,"output_tokens":5,"reasoning_output_tokens":1}}"#;
    const ANSWER: &str = r#"{"type":"item.completed","item":{"type":"agent_message","text":"{\"summary\":\"s\",\"deliverables\":[],\"open_questions\":[],\"next_actions\":[]}"}}"#;
    const THREAD: &str = "01a1de11-e775-7fc2-8102-aec1425b9fd0";

    fn judged(request: &Request, lines: &[&str], exit: Exit, stderr: &str) -> Verdict {
        let mut reader = Codex.reader(request, "");
        for line in lines {
            reader.line(line.as_bytes());
        }
        reader.verdict(&AgentEnd {
            exit,
            stderr_tail: stderr.to_owned(),
            last_line: String::new(),
            last_error: String::new(),
            last_message: None,
        })
    }

    type Row = (Vec<String>, Option<i32>, String, Option<String>, Option<String>);

    #[test]
    fn a_run_succeeds_only_with_a_completed_turn_and_exit_zero() {
        for row in test_rows::<Row>(include_str!("../../../tests/data/codex_verdicts.jsonl")) {
            let (lines, exit, stderr, code, message) = &row;
            let lines: Vec<&str> = lines
                .iter()
                .map(|line| match line.as_str() {
                    "started" => STARTED,
                    "done" => DONE,
                    line => line,
                })
                .collect();
            let exit = exit.map_or(Exit::Signal(9), Exit::Code);
            let fault = judged(&request(), &lines, exit, stderr).result.err();
            let told = fault.as_ref().map(|fault| (fault.code.as_str(), fault.message.as_str()));
            assert_eq!(told, code.as_deref().zip(message.as_deref()), "{row:?}");
        }
    }

    #[test]
    fn a_refusal_long_ago_is_still_told() {
        let mut reader = Codex.reader(&request(), "");
        let refused = "2026-11-15T07:23:46.9Z ERROR codex_core: error=patch rejected: outside; no";
        reader.stderr_line(refused.as_bytes());
        [STARTED, ANSWER, DONE].iter().for_each(|line| drop(reader.line(line.as_bytes())));
        let (stderr_tail, last_line) = ("WARN x\n".repeat(9000), String::new());
        let last_error = String::new();
        let end = AgentEnd { exit: Exit::Code(0), stderr_tail, last_line, last_error, last_message: None };
        assert_eq!(reader.verdict(&end).warnings, ["the sandbox refused a patch: outside"]);
    }

    #[test]
    fn a_failure_is_not_repeated_as_a_warning() {
        let lines = [
            STARTED,
            r#"{"type":"item.completed","item":{"type":"error","message":"model metadata missing"}}"#,
            r#"{"type":"error","message":"boom"}"#,
            r#"{"type":"turn.failed","error":{"message":"boom"}}"#,
        ];
        let verdict = judged(&request(), &lines, Exit::Code(1), "");
        assert_eq!(verdict.warnings, ["model metadata missing"]);
        assert_eq!(verdict.summary, "boom");
    }

    #[test]
    fn commands_that_all_met_no_sandbox_are_one_warning() {
        let refused = r#"{"type":"item.completed","item":{"id":"item_1","type":"command_execution","command":"ls","aggregated_output":"bwrap: Creating new namespace failed: x","exit_code":1,"status":"failed"}}"#;
        let fine = r#"{"type":"item.completed","item":{"id":"item_1","type":"command_execution","command":"ls","aggregated_output":"a","exit_code":0,"status":"completed"}}"#;
        let warnings = |lines: &[&str]| judged(&request(), lines, Exit::Code(0), "").warnings;
        assert_eq!(warnings(&[STARTED, refused, refused, ANSWER, DONE]), [NO_SANDBOX]);
        assert_eq!(warnings(&[STARTED, refused, fine, ANSWER, DONE]), [""; 0]);
    }

    #[test]
    fn a_resumed_thread_costs_the_difference_where_it_is_known() {
        let used = Usage { input_tokens: 60, ..Usage::default() };
        let usage = |request: &Request| judged(request, &[STARTED, DONE], Exit::Code(0), "").usage;
        assert_eq!(usage(&request()).map(|usage| usage.input_tokens), Some(100));
        assert_eq!(usage(&resumed(THREAD, Some(used))).map(|usage| usage.input_tokens), Some(40));
        assert_eq!(usage(&resumed(THREAD, None)), None);
    }

    #[test]
    fn another_thread_than_the_one_asked_for_ends_the_run() {
        let mut reader = Codex.reader(&resumed("11111111-2222-7333-8444-555555555555", None), "");
        let fault = reader.line(STARTED.as_bytes()).abort.unwrap();
        assert_eq!(fault.code, FailureCode::ToolError);
        assert!(fault.message.starts_with("codex started the thread"), "{}", fault.message);
        assert!(Codex.reader(&resumed(THREAD, None), "").line(STARTED.as_bytes()).abort.is_none());
    }
}
