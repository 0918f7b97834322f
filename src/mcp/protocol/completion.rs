//! Completes task ids, artifact names and prompt arguments for clients.

use crate::reading;
use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};

use crate::mcp::protocol::dispatch::{Incoming, protocol_error};
use crate::mcp::protocol::prompts;
use crate::mcp::protocol::resource_address::{ARTIFACT_TEMPLATE, TASK_TEMPLATE};
use crate::mcp::protocol::resources::{find, trouble};
use crate::mcp::protocol::tool_call::Call;
use crate::mcp::tools::status;
use crate::reply::words;
use crate::runs::ArtifactName;

/// What to complete.
#[derive(Debug)]
pub(crate) enum Gap {
    /// A completion that needs no tasks.
    Known(Vec<String>),
    Task {
        typed: String,
    },
    Artifact {
        task: String,
        typed: String,
    },
}

impl Gap {
    pub(crate) fn of(request: CompleteRequestParams) -> Result<Self, ErrorData> {
        let (name, typed) = (request.argument.name, request.argument.value);
        let task = request.context.as_ref().and_then(|known| known.get_argument("task_id")).cloned();
        let template = match &request.r#ref {
            Reference::Prompt(prompt) => {
                return Ok(Gap::Known(prompts::offers(&prompt.name, &name, &typed)?));
            }
            Reference::Resource(template) => template.uri.as_str(),
            _ => "",
        };
        match (template, name.as_str()) {
            (TASK_TEMPLATE | ARTIFACT_TEMPLATE, "task_id") => Ok(Gap::Task { typed }),
            (ARTIFACT_TEMPLATE, "artifact") => Ok(match task {
                Some(task) => Gap::Artifact { task, typed },
                None => Gap::Known(beginning(ArtifactName::fixed(), &typed)),
            }),
            (TASK_TEMPLATE | ARTIFACT_TEMPLATE, _) => {
                Err(ErrorData::invalid_params("unknown argument; expected `task_id` or `artifact`", None))
            }
            _ => {
                Err(ErrorData::invalid_params("unknown template; resources/templates/list lists them", None))
            }
        }
    }

    /// The possible values, given the tasks.
    pub(crate) fn fill(self, incoming: Incoming) -> Result<CompleteResult, ErrorData> {
        if let Gap::Known(values) = self {
            return Ok(offered(values));
        }
        incoming.with(&status::TOOL, |call| self.fill_with(call)).map_err(protocol_error)?
    }

    fn fill_with(self, call: &Call) -> Result<CompleteResult, ErrorData> {
        match self {
            Gap::Known(values) => Ok(offered(values)),
            Gap::Task { typed } => {
                let most = CompletionInfo::MAX_VALUES as u32;
                let (names, total) = reading::names(&call.context, &typed, most).map_err(trouble)?;
                Ok(result(names, total))
            }
            Gap::Artifact { task, typed } => {
                let Some(row) = find(call, &task)? else { return Ok(offered(Vec::new())) };
                let names = call.context.dir(&row.run_id).artifacts().into_iter().map(|(name, _)| name);
                Ok(offered(beginning(names, &typed)))
            }
        }
    }
}

/// A complete list of values.
pub(crate) fn offered(values: Vec<String>) -> CompleteResult {
    let total = u32::try_from(values.len()).unwrap_or(u32::MAX);
    result(values, total)
}

/// The first of `total` values.
fn result(mut values: Vec<String>, total: u32) -> CompleteResult {
    values.truncate(CompletionInfo::MAX_VALUES);
    let more = (values.len() as u64) < u64::from(total);
    let values = values.iter().map(String::as_str).map(words).collect();
    // There are never more than the protocol's limit.
    CompleteResult::new(CompletionInfo::with_pagination(values, Some(total), more).unwrap_or_default())
}

fn beginning(names: impl Iterator<Item = ArtifactName>, typed: &str) -> Vec<String> {
    let typed = typed.to_lowercase();
    names.map(|name| name.to_string()).filter(|name| name.starts_with(&typed)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_hundred_are_offered_and_all_are_counted() {
        let info = result((0..100).map(|n| n.to_string()).collect(), 250).completion;
        assert_eq!((info.values.len(), info.total, info.has_more), (100, Some(250), Some(true)));
        let info = offered(vec!["a".into()]).completion;
        assert_eq!((info.values.len(), info.total, info.has_more), (1, Some(1), Some(false)));
    }
}
