//! The structured answer that an agent gives at its end.

use serde::{Deserialize, Serialize};

/// The answer. It is the agent's own report, not evidence.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Answer {
    pub(crate) summary: String,
    #[serde(default)]
    pub(crate) deliverables: Vec<Deliverable>,
    #[serde(default)]
    pub(crate) open_questions: Vec<String>,
    #[serde(default)]
    pub(crate) next_actions: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub(crate) struct Deliverable {
    /// Where it is, as the agent wrote it.
    pub(crate) path: String,
    /// What it is.
    pub(crate) description: String,
}
