//! What a failed call of `codex cloud` means, as a table of what the program and the service say.

use crate::agents::HostedAnswer;
use crate::model::{Exit, FailureCode, Fault};
use crate::text::plain;

const LONGEST_MESSAGE: usize = 300;

/// Whether a submission that failed so can have reached the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Certainty {
    Refused,
    Unknown,
}

#[derive(Debug, Clone, Copy)]
struct Cause {
    /// Any of these is part of what was said, in lower case.
    said: &'static [&'static str],
    code: FailureCode,
    /// Distinguishes causes with the same code.
    reason: Option<&'static str>,
    /// What to do after a submission that failed so.
    hint: &'static str,
    /// What to do while a task that the service has is followed; `None` if that is nothing.
    cure: Option<&'static str>,
    /// Whether the same submission may succeed later.
    passes: bool,
    certainty: Certainty,
}

const OTHER: Cause = Cause {
    said: &[],
    code: FailureCode::ToolError,
    reason: None,
    hint: "chatgpt.com/codex may tell more",
    cure: None,
    passes: false,
    certainty: Certainty::Unknown,
};
const REFUSED: Cause = Cause { certainty: Certainty::Refused, ..OTHER };
const SILENT: Cause = Cause {
    reason: Some("no_answer"),
    hint: "check the network; `options.timeout.command_s` or `--command-limit` sets how long a call may take",
    ..OTHER
};
const UPDATE: &str = "this Codex does not know the call: update it (`npm install -g @openai/codex`)";
const ACCOUNT: &str = "check on chatgpt.com/codex that this account may use the environment";

const TABLE: &[Cause] = &[
    Cause {
        said: &["not signed in", "401", "unauthorized", "token_expired", "sign in again"],
        code: FailureCode::Auth,
        hint: "run `codex login` and sign in with ChatGPT (Codex Cloud takes no API key), then start the task again",
        cure: Some("run `codex login` and sign in with ChatGPT (Codex Cloud takes no API key)"),
        ..REFUSED
    },
    Cause {
        said: &["environment '"],
        reason: Some("unknown_environment"),
        hint: "`delegator environments` lists those that are known, chatgpt.com/codex/settings/environments all of them",
        ..REFUSED
    },
    Cause {
        said: &["429", "rate limit", "usage limit", "too many requests"],
        code: FailureCode::RateLimited,
        hint: "start the task again later, or with fewer tasks in the cloud",
        passes: true,
        ..REFUSED
    },
    Cause { said: &["--attempts"], hint: "`attempts` is 1, 2, 3 or 4", ..REFUSED },
    Cause {
        said: &["unrecognized subcommand", "unexpected argument", "invalid value"],
        hint: UPDATE,
        cure: Some(UPDATE),
        ..REFUSED
    },
    Cause { said: &["403", "forbidden", "404"], hint: ACCOUNT, cure: Some(ACCOUNT), ..REFUSED },
    Cause {
        said: &["500", "502", "503", "504", "internal server error", "bad gateway", "unavailable"],
        reason: Some("service_trouble"),
        hint: "the service has trouble (status.openai.com): start the task again later",
        passes: true,
        ..OTHER
    },
    Cause {
        said: &["dns error", "connection refused", "failed to lookup", "network is unreachable"],
        reason: Some("no_network"),
        hint: "check the network, then start the task again",
        cure: Some("check the network"),
        passes: true,
        ..REFUSED
    },
];

/// The fault of a submission, and whether it can have arrived all the same.
pub(super) fn refusal(answer: &HostedAnswer) -> (Fault, Certainty) {
    let (message, cause) = explained("submit the cloud task", answer);
    let fault = Fault {
        reason: cause.reason.map(str::to_owned),
        passes: cause.passes,
        ..Fault::new(cause.code, message)
    };
    (fault.hint(cause.hint), cause.certainty)
}

/// The fault of a call to `what` about a task that the service may have. Starting it again would double the work.
pub(super) fn interruption(what: &str, answer: &HostedAnswer) -> Fault {
    let (message, cause) = explained(what, answer);
    Fault {
        reason: cause.reason.map(str::to_owned),
        hint: cause.cure.map(str::to_owned),
        lasts: true,
        ..Fault::new(cause.code, message)
    }
}

/// What went wrong in words, and the cause.
fn explained(what: &str, answer: &HostedAnswer) -> (String, &'static Cause) {
    if let Exit::Signal(_) = answer.exit {
        return (format!("Codex could not {what}: it did not answer in time"), &SILENT);
    }
    let said = [&answer.stderr, &answer.stdout].into_iter().find_map(|text| telling_line(text));
    let said = said.unwrap_or_else(|| "it said nothing".to_owned());
    let message = format!("Codex could not {what}: {}", plain::line(&said, LONGEST_MESSAGE));
    let all = format!("{}\n{}", answer.stderr, answer.stdout).to_lowercase();
    let cause = TABLE.iter().find(|cause| cause.said.iter().any(|part| has(&all, part)));
    (message, cause.unwrap_or(&OTHER))
}

/// The line that says why: the first that begins with `error`, or else the last.
fn telling_line(text: &str) -> Option<String> {
    let is_error = |line: &&str| line.trim_start().to_lowercase().starts_with("error");
    text.lines().find(is_error).map(str::to_owned).or_else(|| plain::last_line(text))
}

/// Whether `text` has `part`; a number only as a word of its own.
fn has(text: &str, part: &str) -> bool {
    let is_number = part.bytes().all(|b| b.is_ascii_digit());
    text.match_indices(part).any(|(at, _)| {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (before, after) = (text[..at].chars().next_back(), text[at + part.len()..].chars().next());
        !is_number || (!before.is_some_and(word) && !after.is_some_and(word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(stderr: &str, code: FailureCode, certainty: Certainty, hint: &str) {
        let answer = HostedAnswer { exit: Exit::Code(1), stdout: String::new(), stderr: stderr.into() };
        let (fault, found) = refusal(&answer);
        assert_eq!((fault.code, found), (code, certainty), "{stderr}");
        assert!(fault.hint.as_ref().is_some_and(|told| told.contains(hint)), "{stderr}: {:?}", fault.hint);
    }

    #[test]
    fn what_is_said_tells_the_cause() {
        use Certainty::{Refused, Unknown};
        use FailureCode::{Auth, RateLimited, ToolError};
        let signed_out =
            "Not signed in. Please run 'codex login' to sign in with ChatGPT, then re-run 'codex cloud'.";
        check(signed_out, Auth, Refused, "`codex login`");
        check(
            "Error: POST https://chatgpt.com/backend-api/wham/tasks failed: 401 Unauthorized; body={}",
            Auth,
            Refused,
            "ChatGPT",
        );
        check(
            "Error: environment 'nope' not found; run codex cloud to list",
            ToolError,
            Refused,
            "`delegator environments`",
        );
        check("Error: GET … failed: 429 Too Many Requests", RateLimited, Refused, "later");
        check(
            "Error: POST … failed: 500 Internal Server Error; body=oops",
            ToolError,
            Unknown,
            "status.openai.com",
        );
        check(
            "error: invalid value '9' for '--attempts <ATTEMPTS>': attempts must be between 1 and 4",
            ToolError,
            Refused,
            "1, 2, 3 or 4",
        );
        check("error: unexpected argument '--nope' found", ToolError, Refused, "update it");
        check("thread 'main' panicked", ToolError, Unknown, "chatgpt.com/codex");
        check("Error: task task_e_45002 has no id1429", ToolError, Unknown, "");
    }

    #[test]
    fn a_call_that_was_ended_may_have_arrived() {
        let answer = HostedAnswer { exit: Exit::Signal(9), stdout: String::new(), stderr: String::new() };
        let (fault, certainty) = refusal(&answer);
        assert_eq!(certainty, Certainty::Unknown);
        assert!(fault.message.ends_with("it did not answer in time"), "{}", fault.message);
    }

    #[test]
    fn only_a_submission_is_ever_started_again() {
        for cause in TABLE.iter().chain([&OTHER, &SILENT]) {
            let stderr = cause.said.first().copied().unwrap_or_default().to_owned();
            let answer = HostedAnswer { exit: Exit::Code(1), stdout: String::new(), stderr };
            let (submission, _) = refusal(&answer);
            let hint = submission.hint.unwrap_or_default();
            let again = hint.contains("start the task again");
            assert_eq!(again && submission.code != FailureCode::Auth, submission.passes, "{hint}");
            let followed = interruption("poll the cloud task", &answer);
            assert!(followed.lasts && !followed.passes, "{followed:?}");
            assert!(!followed.hint.unwrap_or_default().contains("again"));
        }
    }

    #[test]
    fn the_line_with_the_error_is_quoted() {
        let text = "warning: x\nError: environment 'e' not found; run\n  codex cloud\n";
        assert_eq!(telling_line(text).unwrap(), "Error: environment 'e' not found; run");
    }
}
