//! Reads what an agent answered, and which of the files that it names exist.

use serde_json::Value;

use crate::model::State;
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
    let (text, bytes) = match read_artifact(&view.dir, &name, MOST) {
        Ok(HeadAndTail { head, tail, total_bytes }) => (tail.is_none().then_some(head), total_bytes),
        // The agent did not write the file; its last message is the summary.
        Err(_) => {
            let said = view.result.as_ref()?.summary.clone();
            let bytes = said.len() as u64;
            (Some(said).filter(|_| bytes <= MOST), bytes)
        }
    };
    // A part that is kept as a file would add fields to the caller's object.
    let fits = |text: &String| {
        text.len() <= request.inline.chars && text.matches("\\n").count() < request.inline.lines
    };
    match text.filter(fits) {
        Some(text) => serde_json::from_str(&text).ok().map(AgentAnswer::Fits),
        None => Some(AgentAnswer::TooLong { bytes }),
    }
}

/// Whether each deliverable of a finished run is missing now. Relative paths start at the run's directory.
pub(super) fn missing(view: &View) -> Vec<bool> {
    let deliverables = view.result.as_ref().and_then(|result| result.answer.as_ref());
    let Some((answer, request)) = deliverables.zip(view.request.as_ref()) else { return Vec::new() };
    let is_missing = |path: &str| request.cwd.join(path).symlink_metadata().is_err();
    answer.deliverables.iter().map(|one| is_missing(&one.path)).collect()
}
