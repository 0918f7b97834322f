//! Why a run failed, for a reply: what the failed commands and the agent's own
//! events show, beside the fault that ended the run.

use schemars::JsonSchema;
use serde::Serialize;

use crate::evidence::{ErrorEvidence, Location};
use crate::progress::inner_command;
use crate::reading::View;
use crate::reply::report_text::title;
use crate::reply::task_facts::{Facts, Trouble};
use crate::text::plain;

const LONGEST: usize = 400;

/// Empty where nothing is known but the fault itself.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub(crate) struct Cause {
    /// What kind of error the first one is, in the words of the tool that reported it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error_type: Option<String>,
    /// The first error of the first command that still failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) first_error: Option<String>,
    /// The command that it is from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) failed_command: Option<String>,
    /// The project's own files that errors are in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failed_files: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) error_locations: Vec<Place>,
    /// Actions that a sandbox or a policy refused.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) refused: Vec<String>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Place {
    file: String,
    line: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u64>,
}

impl Cause {
    pub(super) fn of(errors: &ErrorEvidence) -> Self {
        let all = |texts: &[String]| texts.iter().map(|text| shown(text)).collect();
        Self {
            error_type: errors.error_type.as_deref().map(shown),
            first_error: errors.first_error.as_deref().map(shown),
            failed_command: errors.command.as_deref().map(|command| shown(inner_command(command))),
            failed_files: all(&errors.failed_files),
            error_locations: errors.error_locations.iter().map(Place::of).collect(),
            refused: all(&errors.refused),
        }
    }
}

/// What follows from the errors alone; a `hint` of the fault is told by itself.
pub(super) fn suggestions(errors: &ErrorEvidence, hint: Option<&str>) -> Vec<String> {
    let own = errors.suggestions.iter().filter(|one| Some(one.as_str()) != hint);
    own.map(|one| shown(one)).collect()
}

/// What still failed when a run ended that did not fail itself.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Unresolved {
    /// The first error of the first command that still failed.
    pub(super) error_message: String,
    #[serde(flatten)]
    pub(super) cause: Cause,
    /// What follows from the errors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) suggestions: Vec<String>,
}

impl Unresolved {
    /// The beginning of the message alone, of a run that is over.
    pub(super) fn line_of(view: &View) -> Option<String> {
        let errors = view.evidence.as_ref()?.errors.as_ref();
        Self::of(errors, Facts::of(view).trouble.as_ref()).map(|unresolved| unresolved.line())
    }

    pub(super) fn line(&self) -> String {
        title(&self.error_message)
    }

    /// Of a run without `trouble`: what else failed is told with that.
    pub(super) fn of(errors: Option<&ErrorEvidence>, trouble: Option<&Trouble>) -> Option<Self> {
        let errors = errors.filter(|_| trouble.is_none())?;
        Some(Self {
            error_message: shown(&errors.error_message),
            cause: Cause::of(errors),
            suggestions: suggestions(errors, None),
        })
    }
}

impl Place {
    fn of(place: &Location) -> Self {
        Self { file: shown(&place.file), line: place.line, column: place.column }
    }

    /// `src/a.rs:12:5`.
    pub(super) fn line(&self) -> String {
        let column = self.column.map_or(String::new(), |column| format!(":{column}"));
        format!("{}:{}{column}", self.file, self.line)
    }
}

fn shown(text: &str) -> String {
    plain::line(text, LONGEST)
}
