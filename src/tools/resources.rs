//! The tasks of a project and the files of their runs, as resources.
//!
//! Reading one is no fetching of a result: what is unread stays so. Lists
//! cover the client's project; a task's own id works from anywhere.

use std::io;

use rmcp::ErrorData;
use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, MetaObject, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};
use serde_json::{Map, Value, json};

use super::address::{ARTIFACT_TEMPLATE, Address, Subject, TASK_TEMPLATE};
use super::call::{self, Call, Reply};
use super::dispatch::{Incoming, told};
use super::shown::{self, Shown};
use super::start::Format;
use super::{results, status};
use crate::failure::Voice;
use crate::host::clock;
use crate::progress::plain;
use crate::registry::Row;
use crate::reply::{Budget, ResultMeta, TaskResult, title, words};
use crate::runs::ArtifactName;
use crate::tasks::{self, ResultAsk, TaskError};

/// Tasks on one page, and in all.
const PAGE: usize = 5;
const RECENT: u32 = 50;
const JSON: &str = "application/json";
const TEXT: &str = "text/plain";

/// What somebody sees who asks before there was any task.
pub(super) fn nothing_yet() -> ListResourcesResult {
    ListResourcesResult::with_all_items(vec![tasks_of_the_project()])
}

/// A page of the resources of the client's project, the newest task first.
pub(super) fn list(incoming: Incoming, cursor: Option<&str>) -> Result<ListResourcesResult, ErrorData> {
    let before: i64 = match cursor {
        None => i64::MAX,
        Some(cursor) => {
            cursor.parse().map_err(|_| ErrorData::invalid_params("no such page: `cursor`", None))?
        }
    };
    incoming.with(&status::TOOL, |call| page(call, cursor.is_none(), before)).map_err(told)?
}

fn page(call: &mut Call, is_first: bool, before: i64) -> Result<ListResourcesResult, ErrorData> {
    let project = call.context.project();
    let found = tasks::status(&mut call.context, Some(project), RECENT).map_err(trouble)?;
    let mut rows: Vec<Row> = found.running.into_iter().map(|view| view.row).collect();
    rows.extend(found.queued.into_iter().map(|(_, row)| row));
    rows.extend(found.finished);
    rows.sort_by_key(|row| std::cmp::Reverse(row.seq));
    rows.truncate(RECENT as usize);
    let mut rest = rows.into_iter().filter(|row| row.seq < before);
    let page: Vec<Row> = rest.by_ref().take(PAGE).collect();
    let next_cursor = rest.next().and(page.last()).map(|last| last.seq.to_string());
    let first = is_first.then(tasks_of_the_project);
    let resources = first.into_iter().chain(page.iter().flat_map(|row| of_task(call, row))).collect();
    Ok(ListResourcesResult { next_cursor, ..ListResourcesResult::with_all_items(resources) })
}

pub(super) fn templates() -> ListResourceTemplatesResult {
    ListResourceTemplatesResult::with_all_items(vec![
        ResourceTemplate::new(TASK_TEMPLATE, "task")
            .with_title("A task")
            .with_description("What came of a task, or how far it is: what delegate_results answers.")
            .with_mime_type(JSON),
        ResourceTemplate::new(ARTIFACT_TEMPLATE, "artifact")
            .with_title("A file of a task's run")
            .with_description(
                "One file of the run directory, such as stdout.log, events.jsonl or result.json. \
                 Of a long one its beginning and its end.",
            ),
    ])
}

/// What `uri` names, as it is now.
pub(super) fn read(incoming: Incoming, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let address = Address::parse(uri).ok_or_else(|| unknown(uri))?;
    let tool = match &address.subject {
        Subject::List => &status::TOOL,
        Subject::Task(_) => &results::TOOL,
    };
    incoming.with(tool, |call| read_at(call, address, uri)).map_err(told)?
}

fn read_at(call: &mut Call, address: Address, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let contents = match (&address.subject, address.artifact) {
        (Subject::List, _) => {
            let reply = (status::TOOL.answer)(call, Map::new()).map_err(told)?;
            contents(uri, document(reply), JSON, Map::new())
        }
        (Subject::Task(reference), None) => {
            let row = find(call, reference)?.ok_or_else(|| unknown(uri))?;
            let results = tasks::results(&mut call.context, row.id.as_str(), ResultAsk::default());
            let results = results.map_err(trouble)?;
            let data = TaskResult::of(&results, clock::now(), Voice::Tools);
            let reply = call.envelope(ResultMeta { count: 1, notice: None }, data, String::new());
            let mut meta = Map::new();
            meta.insert("delegator/path".into(), json!(results.view.dir.path()));
            contents(uri, document(reply.map_err(told)?), JSON, meta)
        }
        (Subject::Task(reference), Some(name)) => {
            let row = find(call, reference)?.ok_or_else(|| unknown(uri))?;
            artifact(call, &row, &name, uri)?
        }
    };
    Ok(ReadResourceResult::new(vec![contents]))
}

/// The task that `reference` means, if the client may know of it.
pub(super) fn find(call: &Call, reference: &str) -> Result<Option<Row>, ErrorData> {
    match tasks::find(&call.context, reference) {
        Ok(row) => Ok(Some(row)),
        Err(TaskError::NotFound(_) | TaskError::Ambiguous { .. }) => Ok(None),
        Err(error) => Err(trouble(error)),
    }
}

/// There is nothing of that name.
pub(super) fn unknown(uri: &str) -> ErrorData {
    let uri = words(&plain::line(uri, 200));
    let message = format!("no resource `{uri}`; resources/list shows those of this project");
    ErrorData::resource_not_found(message, Some(json!({ "uri": uri })))
}

pub(super) fn trouble(error: TaskError) -> ErrorData {
    told(call::failure(&error))
}

fn tasks_of_the_project() -> Resource {
    Resource::new(Address::LIST.to_string(), "tasks")
        .with_title("Tasks of this project")
        .with_description(format!(
            "What runs, what waits and what ended lately: what delegate_status answers. Of the tasks themselves the \
             newest {RECENT} are listed; any other is read by its id."
        ))
        .with_mime_type(JSON)
}

/// A task and the files that its run has by now.
fn of_task(call: &Call, row: &Row) -> Vec<Resource> {
    let asked = words(&title(&row.instruction));
    let dir = call.context.dir(&row.run_id);
    let task = Resource::new(Address::task(&row.id).to_string(), row.id.to_string())
        .with_title(format!("{}: {asked}", row.state.in_envelope()))
        .with_mime_type(JSON);
    let files = dir.artifacts().into_iter().map(|(name, path)| {
        let size = std::fs::symlink_metadata(path).map_or(0, |found| found.len());
        let address = Address::artifact(&row.id, name.clone()).to_string();
        Resource::new(address, format!("{}/{name}", row.id))
            .with_title(format!("{name}: {asked}"))
            .with_mime_type(mime(name.as_str()))
            .with_size(size)
    });
    std::iter::once(task).chain(files).collect()
}

fn artifact(call: &Call, row: &Row, name: &ArtifactName, uri: &str) -> Result<ResourceContents, ErrorData> {
    let dir = call.context.dir(&row.run_id);
    let path = dir.file(name.as_str());
    let ends = match tasks::artifact(&dir, name, shown::LOOKED_AT) {
        Ok(ends) => ends,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(unknown(uri)),
        Err(_) => {
            let message = format!("`{name}` of `{}` is not a file that can be read", row.id);
            return Err(ErrorData::internal_error(message, None));
        }
    };
    let Shown { text, cut } = shown::file(&ends, &path);
    let mut meta = Map::new();
    meta.insert("delegator/path".into(), json!(path));
    meta.insert("delegator/size".into(), ends.total_bytes.into());
    if name.is_agents() {
        meta.insert("delegator/written_by".into(), "agent".into());
    }
    if cut {
        meta.insert("delegator/truncated".into(), true.into());
    }
    // Half a document is none.
    let mime = if cut { TEXT } else { mime(name.as_str()) };
    Ok(contents(uri, text, mime, meta))
}

/// The reply of a tool as a document, fit to leave.
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
