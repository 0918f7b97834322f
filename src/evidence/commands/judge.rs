//! Judges one command from its line, its exit code and its output.

use crate::evidence::command_line::{CommandLine, LONGEST};
use crate::evidence::commands::entry::{CommandOutcome, LedgerEntry, Span};
use crate::evidence::errors::{Place, first_error};
use crate::evidence::screen_lines;
use crate::evidence::tests::{self, Output, Ran, TestRun};
use crate::model::{ItemStatus, Timestamp};

/// The exit codes of a shell that could not start a program.
const NOT_EXECUTABLE: i64 = 126;
const NOT_FOUND: i64 = 127;

/// A command that has ended.
#[derive(Debug)]
pub(crate) struct CommandEnd<'a> {
    pub(crate) number: u64,
    pub(crate) item: &'a str,
    pub(crate) line: &'a str,
    /// The directory that it was started in; empty if unknown.
    pub(crate) directory: &'a str,
    /// The run's directory: file paths are shown relative to it.
    pub(crate) root: &'a str,
    pub(crate) started_at: Option<Timestamp>,
    pub(crate) ended_at: Option<Timestamp>,
    pub(crate) exit_code: Option<i64>,
    pub(crate) status: ItemStatus,
}

/// Its output, and where that is in the transcript.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Printed<'a> {
    pub(crate) text: &'a str,
    /// Whether the output is complete.
    pub(crate) is_whole: bool,
    pub(crate) span: Option<Span>,
}

pub(crate) fn judge(end: &CommandEnd<'_>, printed: Printed<'_>) -> LedgerEntry {
    let line = CommandLine::parse(end.line);
    let owner = line.exit_owner();
    let is_refused = end.status == ItemStatus::Declined;
    let bounded = screen_lines::bounded(printed.text);
    let text = if is_refused { "" } else { bounded.as_deref().unwrap_or(printed.text) };
    let is_whole = printed.is_whole && bounded.is_none();
    let mut tests = tests::read(&line, Output { text, is_whole, exit_code: end.exit_code });
    if !is_refused && !tests.iter().any(|run| run.counts.is_some()) {
        let ran = Ran {
            directory: end.directory,
            from: end.started_at,
            to: end.ended_at,
            exit_code: end.exit_code,
        };
        tests = tests::from_report(&line, ran).map_or(tests, |run| vec![run]);
    }
    if matches!(end.exit_code, Some(NOT_EXECUTABLE | NOT_FOUND)) {
        // A test runner that could not be started ran no tests.
        tests.retain(|run| run.counts.is_some());
    }
    let outcome = outcome(end, &line, &owner.hides, &tests);
    let may_tell = matches!(outcome, CommandOutcome::Failed | CommandOutcome::Unknown);
    let place = Place { root: end.root, directory: end.directory };
    let first_error =
        may_tell.then(|| first_error(&line, &tests, text, outcome, end.exit_code, place)).flatten();
    LedgerEntry {
        number: end.number,
        item: end.item.to_owned(),
        line: end.line[..end.line.floor_char_boundary(LONGEST)].to_owned(),
        directory: end.directory.to_owned(),
        started_at: end.started_at,
        ended_at: end.ended_at,
        exit_code: end.exit_code,
        exit_of: owner.program.filter(|program| !program.is_empty() && !is_refused),
        hides: if is_refused { Vec::new() } else { owner.hides },
        outcome,
        output: printed.span,
        output_cut: !printed.is_whole,
        tests,
        first_error,
    }
}

fn outcome(end: &CommandEnd<'_>, line: &CommandLine, hides: &[String], tests: &[TestRun]) -> CommandOutcome {
    let is_red = tests.iter().any(TestRun::is_red);
    match (end.status, end.exit_code) {
        (ItemStatus::Declined, _) => CommandOutcome::Refused,
        (ItemStatus::Running, _) => CommandOutcome::Unfinished,
        _ if is_red => CommandOutcome::Failed,
        (_, Some(0)) | (ItemStatus::Completed, None) if hides.is_empty() => CommandOutcome::Passed,
        (_, Some(0)) | (ItemStatus::Completed, None) => CommandOutcome::Unknown,
        // That is the answer "no".
        (_, Some(1)) if line.ends_with_a_question() && hides.is_empty() => CommandOutcome::Passed,
        (_, Some(1)) if line.ends_with_a_question() => CommandOutcome::Unknown,
        (_, Some(_)) | (ItemStatus::Failed, None) => CommandOutcome::Failed,
    }
}
