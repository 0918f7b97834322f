//! One command that failed, and what is told of it.

use super::collect::{ErrorEvidence, LONGEST_COMMAND};
use super::diagnose::{Diagnosis, Found};
use super::earlier::EarlierError;
use super::place::Location;
use super::proven::Proof;
use super::work::Work;
use crate::model::Fault;
use crate::progress::plain;

const MOST_LOCATIONS: usize = 20;

#[derive(Debug)]
pub(super) struct Failure {
    pub(super) works: Vec<Work>,
    /// Those of them that nothing succeeded of since.
    pub(super) left: Vec<Work>,
    /// How many commands there were that some of them succeeded in.
    pub(super) mended_by: usize,
    /// The whole command line.
    pub(super) line: String,
    pub(super) command: String,
    pub(super) found: Found,
    /// Whether it may succeed with more features, and without them fail as before.
    pub(super) may_lack_code: bool,
    /// Whether it was tests that told of it.
    pub(super) by_tests: bool,
    /// Whether no word of failure is in what it printed, so that none says nothing of it.
    pub(super) sounds_fine: bool,
    /// Whether it failed while the run's changes were put aside.
    pub(super) is_bare: bool,
}

impl Failure {
    /// Somewhere in a command line.
    pub(super) fn inside(line: &str, found: Found) -> Self {
        let (line, command) = (line.to_owned(), plain::line(line, LONGEST_COMMAND));
        Self {
            works: Vec::new(),
            left: Vec::new(),
            mended_by: 0,
            line,
            command,
            found,
            may_lack_code: false,
            by_tests: false,
            sounds_fine: false,
            is_bare: false,
        }
    }

    /// All of this has to be done again.
    pub(super) fn of(self, works: Vec<Work>) -> Self {
        Self { left: works.clone(), works, ..self }
    }

    /// A command showed that these succeed.
    pub(super) fn note_proven(&mut self, proven: &[Proof<'_>]) {
        let before = self.left.len();
        let is_like = |work: &Work, failed: &Work| !self.may_lack_code || !work.has_more_features(failed);
        let counts = |proof: &&Proof<'_>| !(proof.by_silence && self.sounds_fine);
        let works = proven.iter().filter(counts).map(|proof| proof.work);
        let is_of_syntax = self.found.errors.first().is_some_and(Diagnosis::is_of_syntax);
        let is_slip = self.found.errors.first().is_some_and(Diagnosis::is_slip);
        let mends = |work: &Work, failed: &Work| {
            work.mends(failed)
                || (is_of_syntax && work.reads(failed))
                || (is_slip && work.is_next_try(failed))
        };
        let is_mended =
            |failed: &Work| works.clone().any(|work| mends(work, failed) && is_like(work, failed));
        self.left.retain(|failed| !is_mended(failed));
        self.mended_by += usize::from(self.left.len() < before);
    }

    /// Whether nothing but tests failed. A script may have compiled, or looked for faults.
    pub(super) fn is_of_tests(&self) -> bool {
        let may_be = self.works.len() == 1 || self.by_tests;
        self.works.iter().all(Work::is_tests)
            || (may_be && !self.found.errors.iter().any(Diagnosis::is_fixed_in_place))
    }

    pub(super) fn earlier(self, by: Option<&str>) -> EarlierError {
        let error_message = self.message();
        let error_type = self.found.errors.into_iter().next().map(|first| first.kind);
        let succeeded_since =
            by.filter(|_| self.mended_by < 2).map(|line| plain::line(line, LONGEST_COMMAND));
        let same_command = by == Some(self.line.as_str());
        let (command, without_changes) = (self.command, false);
        EarlierError { command, error_message, error_type, succeeded_since, same_command, without_changes }
    }

    /// Of a tree that is there no more, since the changes that were put aside are back.
    pub(super) fn without_changes(self) -> EarlierError {
        EarlierError { without_changes: true, ..self.earlier(None) }
    }

    pub(super) fn message(&self) -> String {
        let first = self.found.errors.first();
        // Some errors have a name only.
        let words = first.map(|first| if first.message.is_empty() { &first.kind } else { &first.message });
        words.cloned().unwrap_or_default()
    }

    /// What is told of it, beside the reason of the run where that is another.
    pub(super) fn evidence(&self, fault: Option<&Fault>) -> ErrorEvidence {
        let Some(first) = self.found.errors.first() else {
            return fault.map(told).unwrap_or_default();
        };
        let (mut locations, mut files) = (Vec::new(), self.found.files.clone());
        // Where the first error may be anywhere, those of another tool are not where to look for it.
        let belongs = |error: &&Diagnosis| first.place.is_some() || error.format == first.format;
        for place in self.found.errors.iter().filter(belongs).filter_map(|error| error.place.as_ref()) {
            if locations.len() < MOST_LOCATIONS && !locations.contains(place) {
                locations.push(place.clone());
            }
            if is_of_project(place) && !files.contains(&place.file) {
                files.push(place.file.clone());
            }
        }
        let mut suggestions: Vec<String> = fault.and_then(|fault| fault.hint.clone()).into_iter().collect();
        if let Some(place) = first.place.as_ref().filter(|place| is_of_project(place)) {
            let place = format!("{}:{}", place.file, place.line);
            let what = first.kind.trim_start_matches("compile error").trim_start_matches("lint error").trim();
            let what = [what, &first.message].into_iter().filter(|part| !part.is_empty());
            suggestions.push(match first.is_fixed_in_place() {
                true => format!("fix {place} first: {}", what.collect::<Vec<_>>().join(" ")),
                // An exception comes out at a place; what is wrong may be another.
                false => format!("start at {place}: {}", what.collect::<Vec<_>>().join(": ")),
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
        let message = self.message();
        ErrorEvidence {
            error_message: fault.map_or_else(|| message.clone(), |fault| fault.message.clone()),
            error_type: Some(first.kind.clone()),
            first_error: fault.map(|_| message),
            command: Some(self.command.clone()),
            failed_files: files,
            error_locations: locations,
            suggestions,
            refused: Vec::new(),
        }
    }
}

fn is_of_project(place: &Location) -> bool {
    place.is_own() && !place.file.starts_with('/') && !place.file.starts_with("../")
}

pub(super) fn told(fault: &Fault) -> ErrorEvidence {
    let suggestions = fault.hint.clone().into_iter().collect();
    ErrorEvidence { error_message: fault.message.clone(), suggestions, ..ErrorEvidence::default() }
}
