//! `delegate_status`: lists running, queued and recently finished tasks.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::failure::{Failure, Voice};
use crate::mcp::protocol::{Call, Reply, arguments, failure};
use crate::mcp::tools::field::{Field, Kind};
use crate::mcp::tools::start::Format;
use crate::mcp::tools::{Effect, FORMAT, Tool};
use crate::reading::InCloud;
use crate::reply::{Budget, Category, Envelope, SnapshotMeta, StatusSnapshot, advertised, snapshot};
use crate::tasks;

/// The most finished tasks, unless asked otherwise.
const RECENT: u32 = 5;
/// Characters for the rest of a reply.
const AROUND: usize = 800;

pub(crate) const ONE_TASK: Field =
    Field::new("task_id", Kind::Text, "Only this task: its id, alias, or the beginning of its id.");
pub(crate) const LIMIT: Field = Field::new(
    "limit",
    Kind::Integer { least: 1, most: 50 },
    "Maximum number of finished tasks, most recent first. Default: 5.",
);
pub(crate) const VERBOSE: Field =
    Field::new("verbose", Kind::Flag, "Add the last 5 lines of each run as last_lines. Default: false.");

pub(crate) const TOOL: Tool = Tool {
    name: "delegate_status",
    title: "List tasks",
    about: "Lists this project's running, queued and recent tasks, or one of them, with progress. Use it when you lose \
           track, like a look at the notice board. Answers at once, without output; to wait use delegate_wait, to \
           read delegate_results. Takes task_id (T-local-0123456789ab).",
    search_hint: "list delegated agent runs and their progress",
    at_hand: false,
    internal: false,
    fields: &[ONE_TASK, LIMIT, VERBOSE, FORMAT.hidden()],
    category: Some(Category::StatusSnapshot),
    output: advertised::<Envelope<SnapshotMeta, StatusSnapshot>>,
    effect: Effect::Reads,
    waits: false,
    answer,
};

#[derive(Debug, Deserialize)]
struct Status {
    task_id: Option<String>,
    limit: Option<u32>,
    #[serde(default)]
    verbose: bool,
    #[serde(default)]
    format: Format,
}

fn answer(call: &mut Call, given: Map<String, Value>) -> Result<Reply, Failure> {
    let status: Status = arguments(call.tool, given)?;
    let found = match &status.task_id {
        Some(id) => tasks::status_of(&mut call.context, id),
        None => {
            let project = call.context.project();
            tasks::status(&mut call.context, Some(project), status.limit.unwrap_or(RECENT))
        }
    };
    let found = found.map_err(|error| failure(&error))?;
    let found = match (only_in(call.tool.name), &status.task_id) {
        (Some(kind), None) => found.of_kind(kind),
        (Some(_), Some(_)) | (None, _) => found,
    };
    let found = if status.verbose { found.with_last_lines(&call.context) } else { found };
    let kept = call.context.config.retention_age();
    let (meta, mut data) = StatusSnapshot::of(&found, kept, Voice::Tools);
    let mut meta = meta.with_notice(call.notice(&[]));
    let budget = if status.limit.is_some() || status.verbose { Budget::MOST } else { Budget::USUAL };
    let next = data.next();
    let text = loop {
        meta = meta.of(&data);
        let text = snapshot(call.tool.name, &meta, &data, &next);
        // Leave tasks out here, from both the text and the structure.
        let length = length(&text).max(length(&json(&meta)) + length(&json(&data)) + length(&json(&next)));
        if length + AROUND <= budget.chars || !data.give_way() {
            break text;
        }
    };
    Ok(call.envelope(meta, data, text)?.suggesting(&next).in_format(status.format).within(budget))
}

/// A primitive lists the tasks of its own kind; one that is named is shown whatever its kind.
fn only_in(tool: &str) -> Option<InCloud> {
    match tool {
        "_codex_local_status" => Some(InCloud::No),
        "_codex_cloud_status" => Some(InCloud::Yes),
        _ => None,
    }
}

fn json(part: &impl Serialize) -> String {
    serde_json::to_string(part).unwrap_or_default()
}

fn length(text: &str) -> usize {
    text.chars().count()
}
