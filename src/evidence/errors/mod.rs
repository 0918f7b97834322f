//! Explains why a command failed: the first error in its output, and its place.

mod diagnose;
mod formats;
mod place;
mod program_message;
mod test_verdict;

use serde::{Deserialize, Serialize};

use crate::evidence::command_line::{CommandLine, Joined, Step};
use crate::evidence::commands::CommandOutcome;
use crate::evidence::tests::TestRun;
use diagnose::{Diagnosis, diagnose};
use program_message::Speakers;

pub(crate) use place::Location;
pub(super) use place::Place;

const MOST_LOCATIONS: usize = 10;

/// The first error of one command, and the places of similar ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FoundError {
    /// As the tool names it: `compile error E0308`, `TypeError`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<String>,
    pub(crate) message: String,
    /// Relative to the run's directory, the first error's place first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) locations: Vec<Location>,
    /// What the tool itself suggests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) advice: Option<String>,
}

impl FoundError {
    fn of_tests(message: String) -> Self {
        Self { kind: Some("test failure".to_owned()), message, locations: Vec::new(), advice: None }
    }

    /// The project's own files that contain errors.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut files: Vec<String> = Vec::new();
        for place in &self.locations {
            if !files.contains(&place.file) {
                files.push(place.file.clone());
            }
        }
        files
    }

    /// What to do about it, if its place is known.
    pub(crate) fn look_at(&self) -> Option<String> {
        let Location { file, line, .. } = self.locations.first()?;
        let kind = self.kind.as_deref().unwrap_or_default();
        let points = kind.starts_with("compile error") || kind.starts_with("lint error");
        let what = kind.trim_start_matches("compile error").trim_start_matches("lint error").trim();
        let what: Vec<&str> = [what, &self.message].into_iter().filter(|part| !part.is_empty()).collect();
        Some(match points {
            true => format!("fix {file}:{line} first: {}", what.join(" ")),
            // An exception surfaces at this place; the bug may be elsewhere.
            false => format!("start at {file}:{line}: {}", what.join(": ")),
        })
    }
}

/// The first error of a command that failed or may have failed.
pub(super) fn first_error(
    line: &CommandLine,
    tests: &[TestRun],
    text: &str,
    outcome: CommandOutcome,
    exit_code: Option<i64>,
    place: Place<'_>,
) -> Option<FoundError> {
    let is_red = tests.iter().any(TestRun::is_red);
    // Errors in a file that was only printed are not the command's.
    let is_file = |step: &&Step| !matches!(step.program(), "echo" | "printf") && step.joined != Joined::Pipe;
    let shows = line.steps.iter().filter(is_file).any(|step| step.shows_text() && step.writes.is_none());
    let is_known = outcome == CommandOutcome::Failed && (!shows || is_red);
    if !is_known && (shows || line.exit_owner().hides.is_empty()) {
        return failed(tests, outcome);
    }
    let programs = line.steps.iter().map(|step| step.program()).collect();
    let found = diagnose(text, &Speakers { programs, lack_one: exit_code == Some(127) });
    let Some(found) = found else { return failed(tests, outcome) };
    let mut errors = found.errors.into_iter();
    let first = errors.next()?;
    let mut locations: Vec<Location> = Vec::new();
    let told = seen(&first, place);
    // If the first error may be anywhere, the places of others do not help.
    let others = told.is_some().then(|| errors.filter_map(|error| seen(&error, place))).into_iter().flatten();
    for location in told.clone().into_iter().chain(others) {
        if locations.len() < MOST_LOCATIONS && !locations.contains(&location) {
            locations.push(location);
        }
    }
    // Some errors have only a name.
    let message = if first.message.is_empty() { first.kind.clone() } else { first.message };
    Some(FoundError { kind: Some(first.kind), message, locations, advice: first.advice })
}

/// What to report if no error explains the failure.
fn failed(tests: &[TestRun], outcome: CommandOutcome) -> Option<FoundError> {
    if outcome != CommandOutcome::Failed {
        return None;
    }
    let of_tests = FoundError::of_tests;
    if let Some(name) = tests.iter().find_map(|run| run.failing.first()) {
        return Some(of_tests(format!("{name} failed")));
    }
    if let Some(said) = tests.iter().find_map(|run| run.said.clone()) {
        return Some(of_tests(said));
    }
    if let Some(counts) = tests.iter().filter_map(|run| run.counts).find(|counts| counts.failed > 0) {
        let plural = if counts.failed == 1 { "" } else { "s" };
        return Some(of_tests(format!("{} test{plural} failed", counts.failed)));
    }
    None
}

/// The place of an error, relative to the run's directory.
fn seen(error: &Diagnosis, place: Place<'_>) -> Option<Location> {
    let points = error.is_fixed_in_place() || error.kind == "link error";
    let own = |location: &Location| points || location.is_own();
    let told = error.place.iter().chain(&error.frames).filter(|location| own(location));
    told.into_iter().find_map(|location| {
        let file = place.seen(&location.file).or_else(|| {
            // A Go package's path begins with its module's name.
            let parts = location.file.match_indices('/').map(|(at, _)| &location.file[at + 1..]);
            let of_go =
                error.is_of_go_test().then(|| parts.into_iter().find_map(|part| place.seen(part))).flatten();
            // Compilers name exact places.
            of_go.or_else(|| points.then(|| place.named(&location.file)).flatten())
        })?;
        Some(Location { file, ..location.clone() })
    })
}
