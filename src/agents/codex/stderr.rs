//! Interprets Codex's standard error, for failures that produce no events: runs that never start a
//! turn, and actions that the sandbox refused.

use crate::agents::codex::failure_causes::{self, LOG_IN_HINT};
use crate::model::{FailureCode, Fault};
use crate::text::cut;

const LONGEST_REASON: usize = 500;
const MOST_REFUSALS: usize = 5;

/// Lines that never explain a failure.
const NOISE: &[&str] = &[
    "Reading additional input from stdin",
    "Reading prompt from stdin",
    "WARNING: proceeding, even though",
    "Warning: no last agent message",
    "failed to record rollout items",
];

/// The thread cannot be resumed.
const THREAD_GONE: &str = "no rollout found for thread id";
/// It can be resumed later.
const THREAD_BUSY: &str = "already has an active writer";

/// A text in the reason, its meaning, and what to try next.
const REASONS: &[(&str, FailureCode, &str)] = &[
    (
        THREAD_GONE,
        FailureCode::ToolError,
        "the thread is gone or belongs to another CODEX_HOME: start a new run instead of resuming",
    ),
    (
        THREAD_BUSY,
        FailureCode::ToolError,
        "another process is working on this thread: wait for it or cancel it, then resume again",
    ),
    (
        "Not inside a trusted directory",
        FailureCode::ToolError,
        "run inside a git repository, or pass `skip_git_repo_check`",
    ),
    (
        "Input exceeds the maximum length",
        FailureCode::ToolError,
        "shorten the task, or put its details into a file",
    ),
    ("Not logged in", FailureCode::Auth, LOG_IN_HINT),
    (
        "unexpected argument",
        FailureCode::Spawn,
        "this Codex does not support an option that we use: update Codex",
    ),
    (
        "unrecognized subcommand",
        FailureCode::Spawn,
        "this Codex does not support a command that we use: update Codex",
    ),
    ("invalid value", FailureCode::Spawn, "this Codex does not support a value that we use: update Codex"),
    (
        "invalid transport in",
        FailureCode::Spawn,
        "`codex mcp list` must work in this directory: check Codex's config.toml",
    ),
    (
        "config.toml",
        FailureCode::Spawn,
        "fix Codex's config.toml; `codex mcp list` shows whether it can be read",
    ),
    ("failed to load bootstrap configuration", FailureCode::Spawn, "fix Codex's config.toml"),
    ("CODEX_HOME", FailureCode::Spawn, "set CODEX_HOME to an existing directory, or unset it"),
    ("No such file or directory", FailureCode::Spawn, "check that the working directory still exists"),
];

/// The failure explained by standard error, if any.
pub(super) fn fault(stderr: &str) -> Option<Fault> {
    let reason = reason(stderr)?;
    let known = REASONS.iter().find(|(mark, _, _)| reason.contains(mark));
    Some(match known {
        Some((mark, code, hint)) => {
            let (thread_gone, passes) = (*mark == THREAD_GONE, *mark == THREAD_BUSY);
            Fault { thread_gone, passes, ..Fault::new(*code, reason).hint(*hint) }
        }
        None => failure_causes::fault(&reason),
    })
}

/// The line with the reason: an error line, else the error above or below a stack, else any plain
/// line, else the first log entry. The first of each kind is the cause.
fn reason(stderr: &str) -> Option<String> {
    let lines = || stderr.lines().map(str::trim).filter(|line| !is_noise(line));
    let error = lines().find_map(|line| line.strip_prefix("Error: ").or(line.strip_prefix("error: ")));
    let raised = || lines().find(|line| is_raised(line)).filter(|_| has_stack(stderr));
    let plain = || lines().find(|line| log_text(line).is_none());
    let logged = || lines().find_map(log_text);
    let found = unwrapped(error.or_else(raised).or_else(plain).or_else(logged)?);
    let whole = match stderr.split_once("Caused by:").and_then(|(_, rest)| causes(rest)) {
        Some(causes) => format!("{found}: {causes}"),
        None => found.to_owned(),
    };
    Some(cut(&whole, LONGEST_REASON))
}

/// A reason without the call and code that Codex adds.
fn unwrapped(reason: &str) -> &str {
    let inner = reason.rsplit_once(" failed: ").filter(|(call, _)| call.starts_with("thread/"));
    let inner = inner.map_or(reason, |(_, inner)| inner);
    inner.rsplit_once(" (code ").map_or(inner, |(inner, _)| inner)
}

/// Matches `RuntimeError: no backend`.
fn is_raised(line: &str) -> bool {
    let name = line.split_once(": ").map_or("", |(name, _)| name);
    let word = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_'));
    word && (name.ends_with("Error") || name.ends_with("Exception"))
}

/// Whether a program that wraps Codex crashed.
fn has_stack(stderr: &str) -> bool {
    stderr.contains("Traceback (most recent call last):") || stderr.contains("\n    at ")
}

fn is_noise(line: &str) -> bool {
    line.is_empty() || NOISE.iter().any(|noise| line.contains(noise))
}

/// The causes after an error in one line, outermost first.
fn causes(text: &str) -> Option<String> {
    let lines =
        text.lines().map(str::trim).skip_while(|line| line.is_empty()).take_while(|line| !line.is_empty());
    let bare = |line: &str| match line.split_once(": ") {
        Some((number, cause)) if number.parse::<u32>().is_ok() => cause.to_owned(),
        Some(_) | None => line.to_owned(),
    };
    let causes: Vec<String> = lines.map(bare).collect();
    (!causes.is_empty()).then(|| causes.join(": "))
}

/// The text of a log entry: `2026-11-15T07:23:44.562092Z ERROR module: text`.
fn log_text(line: &str) -> Option<&str> {
    let (stamp, rest) = line.split_once(' ')?;
    if !(stamp.ends_with('Z') && stamp.contains('T') && stamp.starts_with(|c: char| c.is_ascii_digit())) {
        return None;
    }
    let (_level, rest) = rest.trim_start().split_once(' ')?;
    Some(rest.split_once(": ").map_or(rest, |(_, text)| text))
}

/// The text before the reason of a refusal, and its description.
const REFUSED: &[(&str, &str)] = &[
    ("error=apply_patch verification failed: ", "a patch did not apply and changed nothing"),
    ("error=patch rejected: ", "the sandbox refused a patch"),
    ("error=approval policy is Never; reject command — ", "the approval policy refused a command"),
];

/// Whether a warning says that a sandbox or a policy refused something.
pub(crate) fn tells_of_refusal(warning: &str) -> bool {
    REFUSED.iter().any(|(_, what)| what.contains(" refused ") && warning.starts_with(what))
}

/// Refused actions and patches that did not apply, as warnings. No event reports them.
#[derive(Debug, Clone, Default)]
pub(super) struct Refusals(Vec<String>);

impl Refusals {
    /// Reads a line of standard error.
    pub(super) fn line(&mut self, line: &str) {
        let text = log_text(line.trim()).unwrap_or(line.trim());
        let refused = REFUSED.iter().find_map(|(mark, what)| Some((text.split_once(mark)?.1, what)));
        let Some((why, what)) = refused else { return };
        let why = why.split(';').next().unwrap_or(why).trim_end_matches(':');
        let warning = format!("{what}: {}", cut(why, LONGEST_REASON));
        if !self.0.contains(&warning) && self.0.len() < MOST_REFUSALS {
            self.0.push(warning);
        }
    }

    pub(super) fn into_warnings(self) -> Vec<String> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::test_rows;

    #[track_caller]
    fn check(stderr: &str, expected: Option<(FailureCode, &str)>) {
        let fault = fault(stderr);
        assert_eq!(fault.as_ref().map(|fault| (fault.code, fault.message.as_str())), expected);
    }

    #[test]
    fn the_end_of_standard_error_tells_the_fault_of_its_row() {
        let rows = include_str!("../../../tests/agents/codex_stderr.jsonl");
        for (stderr, code, message) in test_rows::<(String, Option<FailureCode>, Option<String>)>(rows) {
            check(&stderr, code.zip(message.as_deref()));
        }
    }

    #[test]
    fn a_thread_that_is_not_there_is_a_fact_of_the_fault() {
        let gone = |stderr: &str| fault(stderr).unwrap().thread_gone;
        assert!(gone("Error: thread/resume failed: no rollout found for thread id 01a1e20f (code -32600)\n"));
        assert!(!gone("Error: thread/resume failed: thread x already has an active writer\n"));
        assert!(!gone("Error: no idea\n"));
    }

    #[test]
    fn a_fault_of_the_account_is_known_by_its_message_here_too() {
        for (reason, code) in [
            ("unexpected status 401 Unauthorized: no key", FailureCode::Auth),
            ("exceeded retry limit, last status: 429 Too Many Requests", FailureCode::RateLimited),
            ("You've hit your usage limit. Try again later.", FailureCode::RateLimited),
            ("Quota exceeded. Check your plan and billing details.", FailureCode::RateLimited),
            ("the model said \"401 Unauthorized\"", FailureCode::ToolError),
        ] {
            check(&format!("Error: {reason}\n"), Some((code, reason)));
            let logged = format!("2026-11-15T07:26:05.476053Z ERROR codex_core: {reason}\n");
            check(&logged, Some((code, reason)));
        }
        let hint = fault("Error: unexpected status 401 Unauthorized\n").unwrap().hint;
        assert!(hint.is_some_and(|hint| hint.contains("codex login")));
    }

    #[test]
    fn a_refused_command_is_a_warning() {
        let line = "2026-11-16T15:36:50.751012Z ERROR codex_core::tools::router: error=approval policy is Never; reject command — you cannot ask for escalated permissions if the approval policy is Never\n";
        let mut refusals = Refusals::default();
        refusals.line(line);
        let why = "you cannot ask for escalated permissions if the approval policy is Never";
        assert_eq!(refusals.into_warnings(), [format!("the approval policy refused a command: {why}")]);
    }

    #[test]
    fn a_patch_that_does_not_fit_is_a_warning() {
        let line = "2026-11-18T13:37:02.647297Z ERROR codex_core::tools::router: error=apply_patch verification failed: Failed to find expected lines in /home/dev/shop/a.txt:\n";
        let mut refusals = Refusals::default();
        refusals.line(line);
        let why = "Failed to find expected lines in /home/dev/shop/a.txt";
        assert_eq!(refusals.into_warnings(), [format!("a patch did not apply and changed nothing: {why}")]);
    }

    #[test]
    fn a_patch_refused_twice_is_one_warning() {
        let line = "2026-11-15T07:23:46.929761Z ERROR codex_core::tools::router: error=patch rejected: writing outside of the project; rejected by user approval settings\n";
        let mut refusals = Refusals::default();
        [line, line, "nothing"].iter().for_each(|line| refusals.line(line));
        assert_eq!(refusals.into_warnings(), ["the sandbox refused a patch: writing outside of the project"]);
    }
}
