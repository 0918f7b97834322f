//! The errors of a whole run, from its commands and events as they come.
//!
//! A command that failed is forgotten once the same program does at least as
//! much without failing: what was mended is no reason. Words about quotas and
//! keys in an output mean nothing here; only the agent's own faults do.

use serde::{Deserialize, Serialize};

use super::diagnose::{Found, diagnose};
use super::place::Location;
use crate::evidence::shell::{Command, Step};
use crate::model::{Event, FailureCode, Fault, ItemStatus};
use crate::progress::plain;

const MOST_FAILURES: usize = 16;
const MOST_LOCATIONS: usize = 20;
const MOST_REFUSALS: usize = 5;
const LONGEST_COMMAND: usize = 200;

/// Collects while a run goes on.
#[derive(Debug)]
pub(crate) struct Errors {
    /// Where the run works; what is below it is told without it.
    directory: String,
    /// Commands that failed and were not mended, oldest first.
    failures: Vec<Failure>,
    refusals: Vec<String>,
}

#[derive(Debug)]
struct Failure {
    work: Work,
    command: String,
    found: Found,
}

/// What a command is for: the program, and how much a success of it shows.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Work {
    program: String,
    shows: Shows,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Shows {
    Nothing,
    Builds,
    Passes,
}

/// Why a run failed, as far as can be observed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ErrorEvidence {
    /// The agent's own reason where it gave one, else the first error.
    pub(crate) error_message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error_type: Option<String>,
    /// The first error of the first command that still failed, where `error_message` is another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) first_error: Option<String>,
    /// The command that it is from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) command: Option<String>,
    pub(crate) failed_files: Vec<String>,
    pub(crate) error_locations: Vec<Location>,
    pub(crate) suggestions: Vec<String>,
    /// Actions that a sandbox or a policy refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) refused: Vec<String>,
}

impl Errors {
    pub(crate) fn new(directory: &str) -> Self {
        let directory = format!("{}/", directory.trim_end_matches('/'));
        Self { directory, failures: Vec::new(), refusals: Vec::new() }
    }

    /// What the agent itself says was refused.
    pub(crate) fn note_event(&mut self, event: &Event) {
        let refused = match event {
            Event::CommandEnded { command, status: ItemStatus::Declined, .. } => {
                format!("the command `{command}`")
            }
            Event::Edited { changes, status: ItemStatus::Declined, .. } => {
                let files: Vec<&str> = changes.iter().map(|change| change.path.as_str()).collect();
                format!("a change of {}", files.join(", "))
            }
            Event::ToolEnded { tool, status: ItemStatus::Declined, .. } => format!("the tool `{tool}`"),
            _ => return,
        };
        let refused = plain::line(&refused, LONGEST_COMMAND);
        if self.refusals.len() < MOST_REFUSALS && !self.refusals.contains(&refused) {
            self.refusals.push(refused);
        }
    }

    /// A command came to its end, with all that it printed.
    pub(crate) fn note_command(&mut self, command: &str, exit_code: Option<i64>, text: &str) {
        let line = Command::parse(command);
        let shows_other_text =
            line.steps.iter().any(|step| step.shows_stored_text() && !step.piped && !step.silent);
        let Some(work) = line.steps.iter().find_map(Work::of).filter(|_| !shows_other_text) else { return };
        let hidden = line.steps.last().is_some_and(|step| step.piped) && !line.pipefail;
        let found = match exit_code {
            Some(0) if hidden => diagnose(text).filter(|found| found.is_of_a_compiler()),
            Some(0) => None,
            Some(_) | None => diagnose(text),
        };
        match found {
            Some(mut found) => {
                found.tell_files_below(&self.directory);
                self.keep(Failure { work, command: plain::line(command, LONGEST_COMMAND), found });
            }
            None if exit_code == Some(0) => self.failures.retain(|failure| !work.mends(&failure.work)),
            None => {}
        }
    }

    fn keep(&mut self, new: Failure) {
        // The newest state of a failing program, in the place of the first one.
        match self.failures.iter().position(|old| old.work == new.work) {
            Some(at) => self.failures[at] = new,
            None if self.failures.len() < MOST_FAILURES => self.failures.push(new),
            None => {}
        }
    }

    /// What it all came to; `None` where nothing is known to have failed.
    pub(crate) fn finish(self, fault: Option<&Fault>) -> Option<ErrorEvidence> {
        let mut evidence = match fault.map(|fault| (fault, type_of(fault.code))) {
            // The account or the sandbox is the reason, whatever else failed.
            Some((fault, Some(kind))) => ErrorEvidence { error_type: Some(kind.to_owned()), ..told(fault) },
            Some((fault, None)) => match self.failures.first() {
                Some(failure) => failure.evidence(Some(fault)),
                None => told(fault),
            },
            None => self.failures.first()?.evidence(None),
        };
        evidence.refused = self.refusals;
        Some(evidence)
    }
}

impl Work {
    fn of(step: &Step) -> Option<Self> {
        let program = step.program();
        if matches!(
            program,
            "cd" | "set"
                | "export"
                | "source"
                | "."
                | "echo"
                | "printf"
                | "true"
                | "test"
                | "["
                | "mkdir"
                | ""
        ) {
            return None;
        }
        let words: Vec<&str> =
            step.args().iter().map(String::as_str).filter(|arg| !arg.starts_with('-')).collect();
        let interpreter =
            matches!(program, "node" | "deno" | "ruby" | "perl" | "java" | "tsx" | "bash" | "sh")
                || program.starts_with("python");
        // Each script is a program of its own.
        let name = match words.first() {
            Some(script) if interpreter => format!("{program} {script}"),
            _ => program.to_owned(),
        };
        let shows = match words.first().copied().unwrap_or_default() {
            "fmt" | "add" | "install" | "i" | "remove" | "update" | "metadata" | "tree" | "search"
            | "clean" | "mod" | "get" | "list" | "version" | "help" | "init" | "new" | "view" | "ls"
            | "audit" | "env" | "fetch" | "status" => Shows::Nothing,
            _ if [program].iter().chain(&words).any(|word| word.contains("test")) => Shows::Passes,
            _ => Shows::Builds,
        };
        Some(Self { program: name, shows })
    }

    fn mends(&self, failed: &Work) -> bool {
        self.program == failed.program && self.shows != Shows::Nothing && self.shows >= failed.shows
    }
}

impl Found {
    fn tell_files_below(&mut self, directory: &str) {
        for place in self.errors.iter_mut().filter_map(|error| error.place.as_mut()) {
            if let Some(below) = place.file.strip_prefix(directory) {
                place.file = below.to_owned();
            }
        }
    }

    fn is_of_a_compiler(&self) -> bool {
        self.errors
            .first()
            .is_some_and(|error| error.place.is_some() && error.kind.starts_with("compile error"))
    }
}

impl Failure {
    fn evidence(&self, fault: Option<&Fault>) -> ErrorEvidence {
        let Some(first) = self.found.errors.first() else {
            return fault.map(told).unwrap_or_default();
        };
        let (mut locations, mut files) = (Vec::new(), Vec::new());
        for place in self.found.errors.iter().filter_map(|error| error.place.as_ref()) {
            if locations.len() < MOST_LOCATIONS && !locations.contains(place) {
                locations.push(place.clone());
            }
            if place.is_own() && !files.contains(&place.file) {
                files.push(place.file.clone());
            }
        }
        let mut suggestions: Vec<String> = fault.and_then(|fault| fault.hint.clone()).into_iter().collect();
        if let Some(place) = &first.place {
            let place = format!("{}:{}", place.file, place.line);
            suggestions.push(match first.kind.strip_prefix("compile error") {
                Some(code) => format!("fix {place} first:{code} {}", first.message),
                // An exception comes out at a place; what is wrong may be another.
                None => format!("start at {place}: {}: {}", first.kind, first.message),
            });
        }
        suggestions.extend(first.advice.clone());
        if let Some(code) = first.kind.strip_prefix("compile error E") {
            suggestions.push(format!("`rustc --explain E{code}` explains it"));
        }
        if self.found.count > 1 {
            let others = self.found.count - 1;
            let plural = if others == 1 { "error follows" } else { "errors follow" };
            suggestions.push(format!("{others} more {plural} it in the output of `{}`", self.command));
        }
        ErrorEvidence {
            error_message: fault.map_or_else(|| first.message.clone(), |fault| fault.message.clone()),
            error_type: Some(first.kind.clone()),
            first_error: fault.map(|_| first.message.clone()),
            command: Some(self.command.clone()),
            failed_files: files,
            error_locations: locations,
            suggestions,
            refused: Vec::new(),
        }
    }
}

fn told(fault: &Fault) -> ErrorEvidence {
    let suggestions = fault.hint.clone().into_iter().collect();
    ErrorEvidence { error_message: fault.message.clone(), suggestions, ..ErrorEvidence::default() }
}

/// What a fault is called that no failed command can explain.
fn type_of(code: FailureCode) -> Option<&'static str> {
    match code {
        FailureCode::Auth => Some("authentication failure"),
        FailureCode::RateLimited => Some("rate limit or quota"),
        FailureCode::Sandbox => Some("sandbox refusal"),
        FailureCode::Spawn => Some("start failure"),
        FailureCode::Budget => Some("budget exceeded"),
        FailureCode::Storage => Some("storage failure"),
        FailureCode::Schema => Some("schema violation"),
        FailureCode::Internal => Some("internal error"),
        FailureCode::ToolError | FailureCode::Lost | FailureCode::Timeout => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Change, ChangeKind};

    const BROKEN: &str = "error[E0308]: mismatched types\n --> src/a.rs:2:5\n  |\nhelp: use a number\n\nerror: could not compile `a` (lib) due to 1 previous error\n";
    const PANIC: &str = "thread 'main' panicked at src/main.rs:4:5:\nno settings\n";

    fn collected(commands: &[(&str, i64, &str)]) -> Errors {
        let mut errors = Errors::new("/home/dev/project");
        for (command, exit_code, text) in commands {
            errors.note_command(command, Some(*exit_code), text);
        }
        errors
    }

    #[track_caller]
    fn check(commands: &[(&str, i64, &str)], expected: Option<(&str, &str)>) {
        let evidence = collected(commands).finish(None);
        let told =
            evidence.as_ref().map(|told| (told.error_type.as_deref().unwrap(), told.error_message.as_str()));
        assert_eq!(told, expected);
    }

    #[test]
    fn the_first_error_of_a_cascade_is_the_cause() {
        let evidence =
            collected(&[("cargo build", 101, BROKEN), ("cargo run", 101, PANIC)]).finish(None).unwrap();
        assert_eq!(evidence.error_message, "no settings");
        let evidence =
            collected(&[("cargo build", 101, BROKEN), ("./app", 101, PANIC)]).finish(None).unwrap();
        assert_eq!(evidence.error_type.as_deref(), Some("compile error E0308"));
        assert_eq!(evidence.failed_files, ["src/a.rs"]);
        assert_eq!(
            evidence.suggestions,
            [
                "fix src/a.rs:2 first: E0308 mismatched types",
                "rustc suggests: use a number",
                "`rustc --explain E0308` explains it"
            ]
        );
    }

    #[test]
    fn what_was_mended_is_no_reason() {
        check(&[("cargo build", 101, BROKEN), ("cargo test", 0, "")], None);
        check(&[("cargo test", 101, PANIC), ("cargo build", 0, "")], Some(("panic", "no settings")));
        check(
            &[("cargo build", 101, BROKEN), ("cargo fmt", 0, "")],
            Some(("compile error E0308", "mismatched types")),
        );
        check(&[("python3 a.py", 1, "Error: no\n"), ("python3 b.py", 0, "")], Some(("error", "no")));
    }

    #[test]
    fn what_is_shown_is_not_what_happened() {
        check(&[("cat build.log; false", 1, BROKEN), ("grep -rn error .", 1, BROKEN)], None);
        check(&[("cargo build", 0, BROKEN)], None);
        check(
            &[("cargo build 2>&1 | tail -50", 0, BROKEN)],
            Some(("compile error E0308", "mismatched types")),
        );
        check(&[("cargo build", 101, ""), ("ls missing", 2, "ls: cannot access 'missing'\n")], None);
    }

    #[test]
    fn words_about_quotas_in_an_output_mean_nothing() {
        let text = "error: 429 Too Many Requests: rate limit, insufficient_quota; 401 unauthorized\n";
        let evidence = collected(&[("./client", 1, text)]).finish(None).unwrap();
        assert_eq!(evidence.error_type.as_deref(), Some("error"));
    }

    #[test]
    fn a_fault_of_the_account_is_the_reason_whatever_else_failed() {
        let fault = Fault::new(FailureCode::RateLimited, "usage limit").hint("wait");
        let evidence = collected(&[("cargo build", 101, BROKEN)]).finish(Some(&fault)).unwrap();
        assert_eq!(evidence.error_type.as_deref(), Some("rate limit or quota"));
        assert_eq!(
            (evidence.error_message.as_str(), evidence.suggestions.as_slice()),
            ("usage limit", &["wait".to_owned()][..])
        );
        assert!(evidence.error_locations.is_empty() && evidence.first_error.is_none());
    }

    #[test]
    fn another_fault_is_told_with_the_error_that_was_left() {
        let fault = Fault::new(FailureCode::ToolError, "stream disconnected");
        let evidence = collected(&[("cargo build", 101, BROKEN)]).finish(Some(&fault)).unwrap();
        assert_eq!(evidence.error_message, "stream disconnected");
        assert_eq!(evidence.first_error.as_deref(), Some("mismatched types"));
        assert_eq!(evidence.error_locations.len(), 1);
        assert_eq!(collected(&[]).finish(Some(&fault)).unwrap().error_type, None);
    }

    #[test]
    fn refused_actions_are_named() {
        let mut errors = Errors::new("/");
        let change = Change { path: "/etc/passwd".to_owned(), kind: ChangeKind::Update };
        let edit = |status| Event::Edited { item: "1".to_owned(), changes: vec![change.clone()], status };
        errors.note_event(&edit(ItemStatus::Declined));
        errors.note_event(&edit(ItemStatus::Completed));
        let fault = Fault::new(FailureCode::Sandbox, "refused");
        assert_eq!(errors.finish(Some(&fault)).unwrap().refused, ["a change of /etc/passwd"]);
    }

    #[test]
    fn files_below_the_directory_are_told_from_there() {
        let text = "Traceback (most recent call last):\n  File \"/home/dev/project/app/main.py\", line 3, in f\n    x\nKeyError: 'a'\n";
        let evidence = collected(&[("python3 app/main.py", 1, text)]).finish(None).unwrap();
        assert_eq!(evidence.failed_files, ["app/main.py"]);
        assert_eq!(evidence.suggestions, ["start at app/main.py:3: KeyError: 'a'"]);
    }
}
