//! Serves the tasks of a project and the files of their runs as MCP resources.
//!
//! Reading a resource does not mark a result as read. Only the index of tasks is listed, because some clients
//! give the whole list to the model. Tasks and files are reached by template; a task's id works from any project.

use crate::tasks;
use std::io;

use rmcp::ErrorData;
use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, MetaObject, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};
use serde_json::{Map, Value, json};

use crate::context::TaskError;
use crate::failure::Voice;
use crate::host::clock;
use crate::mcp::protocol::dispatch::{Incoming, protocol_error};
use crate::mcp::protocol::resource_address::{ARTIFACT_TEMPLATE, Address, Subject, TASK_TEMPLATE, TASKS};
use crate::mcp::protocol::resource_text::{self, Shown};
use crate::mcp::protocol::tool_call::{self, Call, Reply};
use crate::mcp::tools::Format;
use crate::mcp::tools::{results, status};
use crate::reading::{self, ResultsRequest};
use crate::registry::Row;
use crate::reply::{Budget, Facts, Next, ResultMeta, TaskResult, words};
use crate::runs::ArtifactName;
use crate::text::plain;

const JSON: &str = "application/json";
const TEXT: &str = "text/plain";

/// The only listed resource, whether or not there are tasks.
pub(crate) fn list() -> ListResourcesResult {
    let index = Resource::new(TASKS, "tasks")
        .with_title("Tasks of this project")
        .with_description(
            "Running, queued and recently finished tasks, as delegate_status lists them. The templates read a task \
             and the files of its run by its id.",
        )
        .with_mime_type(JSON);
    ListResourcesResult::with_all_items(vec![index])
}

pub(crate) fn templates() -> ListResourceTemplatesResult {
    ListResourceTemplatesResult::with_all_items(vec![
        ResourceTemplate::new(TASK_TEMPLATE, "task")
            .with_title("A task")
            .with_description("A task's result or progress, as delegate_results shows it.")
            .with_mime_type(JSON),
        ResourceTemplate::new(ARTIFACT_TEMPLATE, "artifact")
            .with_title("A file of a task's run")
            .with_description(
                "One file of the run directory, such as stdout.log, events.jsonl or result.json. \
                 A long file is cut to its beginning and end.",
            ),
    ])
}

/// The current content of `uri`.
pub(crate) fn read(incoming: Incoming, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let address = Address::parse(uri).ok_or_else(|| unknown(uri))?;
    let tool = match &address.subject {
        Subject::List => &status::TOOL,
        Subject::Task(_) => &results::TOOL,
    };
    incoming.with(tool, |call| read_at(call, address, uri)).map_err(protocol_error)?
}

fn read_at(call: &mut Call, address: Address, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let contents = match (&address.subject, address.artifact) {
        (Subject::List, _) => {
            let reply = (status::TOOL.answer)(call, Map::new()).map_err(protocol_error)?;
            contents(uri, document(reply), JSON, Map::new())
        }
        (Subject::Task(reference), None) => {
            let row = find(call, reference)?.ok_or_else(|| unknown(uri))?;
            let results = tasks::results(&mut call.context, row.id.as_str(), ResultsRequest::default());
            let results = results.map_err(trouble)?;
            let data = TaskResult::of(&results, &Facts::of(&results.view), clock::now(), Voice::Tools)
                .with_events(&results, Voice::Tools);
            let reply = call.envelope(ResultMeta { count: 1, notice: None }, data, String::new());
            let mut meta = Map::new();
            meta.insert("delegator/path".into(), json!(results.view.dir.path()));
            let next = Next::beside(&results).answered().calls();
            let reply = reply.map_err(protocol_error)?.suggesting(&next);
            contents(uri, document(reply), JSON, meta)
        }
        (Subject::Task(reference), Some(name)) => {
            let row = find(call, reference)?.ok_or_else(|| unknown(uri))?;
            artifact(call, &row, &name, uri)?
        }
    };
    Ok(ReadResourceResult::new(vec![contents]))
}

/// The task that `reference` names, if the client may see it.
pub(crate) fn find(call: &Call, reference: &str) -> Result<Option<Row>, ErrorData> {
    match reading::find(&call.context, reference) {
        Ok(row) => Ok(Some(row)),
        Err(TaskError::NotFound(_) | TaskError::Ambiguous { .. }) => Ok(None),
        Err(error) => Err(trouble(error)),
    }
}

/// The error for an unknown resource.
pub(crate) fn unknown(uri: &str) -> ErrorData {
    let uri = words(&plain::line(uri, 200));
    let message = format!(
        "no resource `{uri}`; `delegator://tasks` lists the tasks of this project, and resources/templates/list shows how to read them"
    );
    ErrorData::resource_not_found(message, Some(json!({ "uri": uri })))
}

pub(crate) fn trouble(error: TaskError) -> ErrorData {
    protocol_error(tool_call::failure(&error))
}

fn artifact(call: &Call, row: &Row, name: &ArtifactName, uri: &str) -> Result<ResourceContents, ErrorData> {
    let dir = call.context.dir(&row.run_id);
    let path = dir.file(name.as_str());
    let ends = match reading::read_artifact(&dir, name, resource_text::LOOKED_AT) {
        Ok(ends) => ends,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(unknown(uri)),
        Err(_) => {
            let message = format!("`{name}` of `{}` is not a readable file", row.id);
            return Err(ErrorData::internal_error(message, None));
        }
    };
    let Shown { text, cut } = resource_text::file(&ends, &path);
    let mut meta = Map::new();
    meta.insert("delegator/path".into(), json!(path));
    meta.insert("delegator/size".into(), ends.total_bytes.into());
    if name.is_agents() {
        meta.insert("delegator/written_by".into(), "agent".into());
    }
    if cut {
        meta.insert("delegator/truncated".into(), true.into());
    }
    // A JSON document that was cut is plain text.
    let mime = if cut { TEXT } else { mime(name.as_str()) };
    Ok(contents(uri, text, mime, meta))
}

/// The reply of a tool as a JSON document, redacted and cut to size.
fn document(reply: Reply) -> String {
    reply.within(Budget::MOST).in_format(Format::Json).finish().1
}

fn contents(uri: &str, text: String, mime: &str, meta: Map<String, Value>) -> ResourceContents {
    let contents = ResourceContents::text(text, uri).with_mime_type(mime);
    if meta.is_empty() { contents } else { contents.with_meta(MetaObject(meta)) }
}

fn mime(name: &str) -> &'static str {
    match name.rsplit_once('.') {
        Some((_, "json")) => JSON,
        Some((_, "jsonl")) => "application/x-ndjson",
        _ => TEXT,
    }
}
