//! The MCP tools: one table, and one file per tool.
//!
//! A tool parses, calls a use case, and renders; it decides nothing. The protocol itself is in `mcp/protocol`.

pub(crate) mod apply;
pub(crate) mod autopilot;
pub(crate) mod cancel;
pub(crate) mod codex;
pub(crate) mod field;
pub(crate) mod inspect;
pub(crate) mod primitives;
pub(crate) mod results;
pub(crate) mod resume;
#[cfg(test)]
mod rules;
pub(crate) mod run;
pub(crate) mod start;
pub(crate) mod status;
pub(crate) mod terminal;
pub(crate) mod wait;

use serde_json::{Map, Value};

use crate::config::ToolProfile;
use crate::failure::Failure;
use crate::mcp::protocol::{Call, Reply};
use crate::reply::Category;
use field::Field;

/// One tool: what clients are told of it, and what it does.
#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// For the model: when to use it, when not, what comes back.
    pub(crate) about: &'static str,
    /// How a client that searches for tools finds it.
    pub(crate) search_hint: &'static str,
    /// Whether a client that hides tools should show it at once.
    pub(crate) at_hand: bool,
    /// Only in the profile that has everything.
    pub(crate) internal: bool,
    pub(crate) fields: &'static [Field],
    /// Of its envelope; absent where it answers with a run's own report.
    pub(crate) category: Option<Category>,
    pub(crate) output: fn() -> Map<String, Value>,
    pub(crate) effect: Effect,
    /// Whether it may be answered later, where the client can poll.
    pub(crate) waits: bool,
    pub(crate) answer: Answer,
}

pub(crate) type Answer = fn(&mut Call, Map<String, Value>) -> Result<Reply, Failure>;

/// What a tool does to the world; its hints follow from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    Reads,
    /// Starts an agent: what that may do is up to the configuration.
    Starts,
    /// Hands work to a service, which may do whatever its own settings allow.
    StartsElsewhere,
    Ends,
}

/// In the order that clients see them.
pub(crate) const TOOLS: &[Tool] = &[
    run::TOOL,
    resume::TOOL,
    autopilot::TOOL,
    status::TOOL,
    wait::TOOL,
    results::TOOL,
    cancel::TOOL,
    inspect::TOOL,
    apply::TOOL,
    codex::TOOL,
    terminal::TOOL,
    primitives::LOCAL_RUN,
    primitives::LOCAL_EXEC,
    primitives::LOCAL_RESUME,
    primitives::LOCAL_STATUS,
    primitives::LOCAL_WAIT,
    primitives::LOCAL_RESULTS,
    primitives::LOCAL_CANCEL,
    primitives::CLOUD_SUBMIT,
    primitives::CLOUD_STATUS,
    primitives::CLOUD_WAIT,
    primitives::CLOUD_RESULTS,
    primitives::CLOUD_CANCEL,
    primitives::CLOUD_LIST_ENVIRONMENTS,
    primitives::CLOUD_GITHUB_SETUP,
    primitives::CLEANUP,
];

pub(crate) const TASK_ID: Field =
    Field::new("task_id", field::Kind::Text, "The task: its id, alias, or the beginning of its id.");

/// Every tool takes this one. Only the primitives list it, because most clients never show what it changes.
pub(crate) const FORMAT: Field = Field::new(
    "format",
    field::Kind::Choice(&["markdown", "json"]),
    "What the text holds: a readable account (default) or the structured content as JSON.",
);

/// The tools that a server with this profile lists.
pub(crate) fn listed(profile: ToolProfile) -> impl Iterator<Item = &'static Tool> {
    TOOLS.iter().filter(move |tool| match profile {
        ToolProfile::All => true,
        ToolProfile::Default => !tool.internal,
        ToolProfile::Codex => tool.name == codex::TOOL.name,
    })
}

/// The input schema of a tool with everything it takes, for people.
pub(crate) fn input_schema(name: &str) -> Option<Value> {
    let tool = find(name)?;
    let mut schema = Map::new();
    schema.insert("$schema".into(), "https://json-schema.org/draft/2020-12/schema".into());
    schema.insert("$id".into(), format!("delegator/{name}/input/v1").into());
    schema.insert("title".into(), format!("{name}.input").into());
    schema.insert("description".into(), tool.about.into());
    schema.extend(field::schema(tool.fields, field::Detail::Whole));
    Some(Value::Object(schema))
}

pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    TOOLS.iter().map(|tool| tool.name)
}

pub(crate) fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

pub(crate) use start::Format;
pub(crate) use wait::Wait;
