//! Hints for errors about reading the files of a run.

use crate::context::{MissingOutput, TaskError};
use crate::failure::Voice;
use crate::inspect::InspectError;

/// For a file that is no longer as delegator wrote it.
pub(super) const CHANGED: &str =
    "another program changed files in delegator's home; the other files are still there";

pub(super) fn hint(error: &TaskError, voice: Voice) -> Option<String> {
    let text = match error {
        TaskError::Read(_) => "another program changed the run directory; its other files are still there",
        TaskError::OutsideHome(_) | TaskError::NotInspectable(_) => voice.say(
            "name a task and one of its artifacts, or a `full_output_file` from a reply",
            "give `task_id` and `artifact`, or a `full_output_file` from a reply; delegate_results lists artifacts",
        ),
        TaskError::NoOutput(_) => voice.say(
            "captures and recordings are kept for a day; `delegator results` lists the files of a run",
            "captures and recordings are kept for a day; `delegate_results` lists the files of a run",
        ),
        TaskError::NotAPlainFile(_) => CHANGED,
        TaskError::Unreadable { .. } => "`delegator doctor` shows the state of the home",
        TaskError::NoArtifact { there, .. } => return Some(listed("it has", there, "it has none yet")),
        TaskError::NoCommand { there, .. } => {
            return Some(listed("it has run", there, "its agent has reported none so far"));
        }
        TaskError::MissingOutput { task, why } => {
            let (verb, shows) = match why {
                MissingOutput::Queued => ("wait", "waits for its end"),
                MissingOutput::NeverStarted | MissingOutput::Gone => ("results", "shows how it ended"),
            };
            return Some(match voice {
                Voice::Shell => format!("`delegator {verb} {task}` {shows}"),
                Voice::Tools => format!("delegate_{verb} {{\"task_id\": \"{task}\"}} {shows}"),
            });
        }
        TaskError::Inspect(inspect) => inspect_hint(inspect),
        _ => return None,
    };
    Some(text.to_owned())
}

fn listed(has: &str, names: &[String], none: &str) -> String {
    if names.is_empty() { none.to_owned() } else { format!("{has} {}", names.join(", ")) }
}

fn inspect_hint(error: &InspectError) -> &'static str {
    match error {
        InspectError::Read(_) => "another program changed the file; its other parts may still be readable",
        InspectError::Pattern(_) => {
            "patterns are regular expressions without look-around; escape ( [ { . * + ? with \\ to search for them"
        }
        InspectError::Path(_) => "examples of paths: $.items[0].name, $.items[*].id, $..name, [2:5]",
        InspectError::NoCursor(_) => "pass `next_cursor` unchanged, or leave it out to start over",
        InspectError::WrongCursor => "use the same mode as before, or leave out the cursor to start over",
        InspectError::Idle { .. } => "leave it out, or choose another mode",
        InspectError::NoPattern => "give a pattern to search for",
        InspectError::PathAlone => "leave out `mode`",
        InspectError::Backwards => "give the smaller number first",
    }
}
