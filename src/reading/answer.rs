//! Reads what an agent answered, and which of the files that it names exist.

use serde_json::Value;

use crate::model::{AgentName, State};
use crate::reading::artifact::{HeadAndTail, read_artifact};
use crate::reading::view::View;
use crate::runs::ArtifactName;

/// A longer answer is left to `inspect_output`.
const MOST: u64 = 4_000;

/// The answer to a caller's own schema.
#[derive(Debug)]
pub(crate) enum AgentAnswer {
    Fits(Value),
    TooLong { bytes: u64 },
}

/// The parsed answer, if the caller gave a schema and the run completed.
pub(super) fn parsed(view: &View) -> Option<AgentAnswer> {
    let request = view.request.as_ref()?;
    if request.output_schema.is_none() || view.state() != State::Completed {
        return None;
    }
    let name = ArtifactName::parse("last_message.json")?;
    let HeadAndTail { head, tail, total_bytes: bytes } = read_artifact(&view.dir, &name, MOST).ok()?;
    // A part that is kept as a file would add fields to the caller's object.
    let line_breaks = head.matches("\\n").count();
    if tail.is_some() || head.len() > request.inline.chars || line_breaks >= request.inline.lines {
        return Some(AgentAnswer::TooLong { bytes });
    }
    serde_json::from_str(&head).ok().map(AgentAnswer::Fits)
}

/// Whether each deliverable of a finished run is missing now. Relative paths start at the run's directory.
pub(super) fn missing(view: &View) -> Vec<bool> {
    let deliverables = view.result.as_ref().and_then(|result| result.answer.as_ref());
    let Some((answer, request)) = deliverables.zip(view.request.as_ref()) else { return Vec::new() };
    // A recording made nothing here.
    if view.row.agent == AgentName::Replay {
        return Vec::new();
    }
    let is_missing = |path: &str| request.cwd.join(path).symlink_metadata().is_err();
    answer.deliverables.iter().map(|one| is_missing(&one.path)).collect()
}
