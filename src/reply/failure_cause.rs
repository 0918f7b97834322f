//! Explains a failed run in a reply: the fault that ended it, its failed commands, and the agent's own
//! events.

use schemars::JsonSchema;
use serde::Serialize;

use crate::evidence::{ErrorEvidence, Location};
use crate::progress::inner_command;
use crate::reading::View;
use crate::reply::report_text::title;
use crate::reply::task_facts::{Facts, Trouble};
use crate::text::plain;

const LONGEST: usize = 400;

/// Empty if only the fault itself is known.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub(crate) struct Cause {
    /// The type of the first error, as the tool reported it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error_type: Option<String>,
    /// The first error of the first command that did not pass later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) first_error: Option<String>,
    /// The command that printed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) failed_command: Option<String>,
    /// The project's own files that contain errors.
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

/// Suggestions from the errors, without the fault's own `hint`, which is shown separately.
pub(super) fn suggestions(errors: &ErrorEvidence, hint: Option<&str>) -> Vec<String> {
    let own = errors.suggestions.iter().filter(|one| Some(one.as_str()) != hint);
    own.map(|one| shown(one)).collect()
}

/// What still failed at the end of a run that did not itself fail.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Unresolved {
    /// The first error of the first command that did not pass later.
    pub(super) error_message: String,
    #[serde(flatten)]
    pub(super) cause: Cause,
    /// Suggestions from the errors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) suggestions: Vec<String>,
}

impl Unresolved {
    /// Only the beginning of the message, for a finished run.
    pub(super) fn line_of(view: &View) -> Option<String> {
        let errors = view.evidence.as_ref()?.errors.as_ref();
        Self::of(errors, Facts::of(view).trouble.as_ref()).map(|unresolved| unresolved.line())
    }

    pub(super) fn line(&self) -> String {
        title(&self.error_message)
    }

    /// `None` if the run has `trouble`: other failures are then shown with it.
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
