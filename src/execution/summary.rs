//! Writes the one-line summary of how a run ended.
//!
//! An agent's own report is the summary only of a run that completed. A command reports nothing: its summary
//! is made from what was observed.

use std::time::Duration;

use crate::evidence::{Evidence, TestResults, Unit};
use crate::model::{FailureCode, Limit, Outcome, Request};
use crate::progress::inner_command;
use crate::text::{self, plain};

const LONGEST: usize = 200;
/// The maximum length of the last line if something precedes it.
const LAST_LINE: usize = 80;

/// `running` is the command that had been running longest.
pub(crate) fn summary(
    request: &Request,
    outcome: &Outcome,
    reported: String,
    running: Option<&str>,
) -> String {
    let seconds = |limit: Option<Duration>| limit.map_or(0.0, |limit| limit.as_secs_f64());
    match outcome {
        Outcome::Completed => reported,
        Outcome::Failed { fault } if fault.code == FailureCode::Schema => reported,
        // Its exit code and its last line are all that is known.
        Outcome::Failed { .. } if is_of_command(request, outcome) => reported,
        Outcome::Failed { fault } => fault.message.clone(),
        Outcome::Cancelled { reason: Some(reason) } => format!("cancelled: {reason}"),
        Outcome::Cancelled { reason: None } => "cancelled".into(),
        Outcome::TimedOut { limit, .. } => match limit {
            Limit::Idle => {
                format!("ended by the idle limit: no output for {} s", seconds(request.limits.idle))
            }
            Limit::Hard => format!("ended by the hard limit of {} s", seconds(request.limits.hard)),
            Limit::Command => {
                let took = format!("took more than {} s", seconds(request.limits.command));
                match running.map(|command| plain::line(inner_command(command), LAST_LINE)) {
                    Some(command) => format!("ended because the command `{command}` {took}"),
                    None => format!("ended because one command {took}"),
                }
            }
        },
    }
}

/// The summary of a command, with its tests or else its first error before its last line, which is often
/// about something else.
pub(crate) fn observed(request: &Request, outcome: &Outcome, summary: String, evidence: &Evidence) -> String {
    if !is_of_command(request, outcome) {
        return summary;
    }
    let tests = evidence.tests.as_ref().and_then(|tests| counted(tests, outcome));
    let error = evidence.errors.as_ref().and_then(|errors| errors.first_error.as_deref());
    let error = error.filter(|_| *outcome != Outcome::Completed).map(|error| plain::line(error, LONGEST));
    match tests.or(error) {
        Some(what) => {
            let (how, last) = summary.split_once(": ").unwrap_or((&summary, ""));
            let what = text::cut(&what, LONGEST);
            if last.is_empty() || what.ends_with(last) {
                format!("{how}: {what}")
            } else {
                format!("{how}: {what}; last line: {}", text::cut(last, LAST_LINE))
            }
        }
        None => summary,
    }
}

fn is_of_command(request: &Request, outcome: &Outcome) -> bool {
    request.agent.abilities().is_command_line()
        && match outcome {
            Outcome::Completed => true,
            Outcome::Failed { fault } => fault.code == FailureCode::ToolError,
            Outcome::Cancelled { .. } | Outcome::TimedOut { .. } => false,
        }
}

/// `8 passed, 1 failed (cargo test)`, if the counts are complete. A command that failed without a failed test
/// failed for another reason.
fn counted(tests: &TestResults, outcome: &Outcome) -> Option<String> {
    let (passed, failed) = (tests.passed?, tests.failed?);
    if !tests.complete || (*outcome != Outcome::Completed && failed == 0) || passed + failed == 0 {
        return None;
    }
    let mut names: Vec<&str> = tests.runs.iter().map(|run| run.framework.as_str()).collect();
    names.dedup();
    let packages = tests.runs.iter().all(|run| run.unit == Unit::Packages);
    let unit = if packages { "; counted in packages" } else { "" };
    Some(format!("{passed} passed, {failed} failed ({}{unit})", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::agents::testing;
    use crate::model::AgentName;
    use crate::model::Fault;

    fn evidence(tests: Value, errors: Value) -> Evidence {
        let files = serde_json::to_value(crate::evidence::Files::unknown("no git".into())).unwrap();
        let all = json!({ "version": 1, "files": files, "tests": tests, "errors": errors });
        serde_json::from_value(all).unwrap()
    }

    fn tests(passed: u64, failed: u64, complete: bool) -> Value {
        let run = json!({
            "framework": "cargo_test", "unit": "tests", "passed": passed, "failed": failed, "skipped": 0,
            "total": passed + failed, "stale": false, "complete": complete,
        });
        json!({
            "passed": passed, "failed": failed, "skipped": 0, "failed_tests": [], "stale": false,
            "complete": complete, "earlier_runs": 0, "runs": [run],
        })
    }

    #[track_caller]
    fn check(exit: i32, last: &str, tests: Value, expected: &str) {
        let mut request = testing::request();
        request.agent = AgentName::Command;
        let fault = Fault::new(FailureCode::ToolError, "the command failed");
        let outcome = if exit == 0 { Outcome::Completed } else { Outcome::Failed { fault } };
        let told =
            observed(&request, &outcome, format!("exit {exit}: {last}"), &evidence(tests, Value::Null));
        assert_eq!(told, expected);
    }

    #[test]
    fn a_command_that_took_too_long_is_named() {
        let mut request = testing::request();
        request.limits.command = Some(Duration::from_secs(3));
        let outcome = Outcome::TimedOut { limit: Limit::Command, elapsed_ms: 3000 };
        let told = |running| summary(&request, &outcome, String::new(), running);
        assert_eq!(
            told(Some("/bin/bash -lc 'pytest -v'")),
            "ended because the command `pytest -v` took more than 3 s"
        );
        assert_eq!(told(None), "ended because one command took more than 3 s");
    }

    #[test]
    fn tests_that_were_seen_are_counted() {
        let doc = "test result: ok. 0 passed; 0 failed";
        check(
            0,
            doc,
            tests(8, 0, true),
            &format!("exit 0: 8 passed, 0 failed (cargo_test); last line: {doc}"),
        );
        check(
            101,
            "error: test failed",
            tests(7, 1, true),
            "exit 101: 7 passed, 1 failed (cargo_test); last line: error: test failed",
        );
        check(1, "1 failed (cargo_test)", tests(7, 1, true), "exit 1: 7 passed, 1 failed (cargo_test)");
    }

    #[test]
    fn what_was_not_seen_whole_or_is_not_the_reason_is_not_told() {
        check(0, "done", Value::Null, "exit 0: done");
        check(0, "done", tests(8, 0, false), "exit 0: done");
        check(1, "deploy failed", tests(8, 0, true), "exit 1: deploy failed");
    }
}
