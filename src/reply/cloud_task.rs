//! Where a task in Codex Cloud is, and how often it was tried.

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::WorkKind;
use crate::reading::{Results, View};
use crate::text::plain;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CloudTask {
    /// Its page; absent until the cloud has confirmed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) page: Option<String>,
    /// How many attempts were asked for.
    attempts: u32,
    /// The diffs that came back, one for each attempt with changes: `inspect_output` reads them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) changes: Vec<String>,
}

impl CloudTask {
    /// `None` for a task of this machine.
    pub(super) fn of(results: &Results) -> Option<Self> {
        let view = &results.view;
        let is_hosted = view.row.agent.abilities().work == WorkKind::Hosted;
        is_hosted.then(|| Self {
            page: page(view),
            attempts: view.request.as_ref().and_then(|request| request.attempts).unwrap_or(1),
            changes: results.changes().map(|file| file.name.to_string()).collect(),
        })
    }
}

/// The page of a task in the cloud. It is useless when cut.
pub(super) fn page(view: &View) -> Option<String> {
    Some(plain::line(view.remote.as_ref()?.job()?.page(), usize::MAX))
}
