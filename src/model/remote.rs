//! Hosted work as far as the service is known to have it.

use serde::{Deserialize, Serialize};

use crate::model::Fault;

/// A job as the service knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RemoteJob {
    pub(crate) id: String,
    /// Its page.
    pub(crate) url: Option<String>,
}

impl RemoteJob {
    /// Where a person finds it.
    pub(crate) fn page(&self) -> &str {
        self.url.as_deref().unwrap_or(&self.id)
    }
}

/// How far a submission came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(crate) enum Remote {
    /// It has begun. Whether the service has the job is unknown.
    Submitting {
        /// The service's answer, if it does not say whether it took the job.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<Fault>,
    },
    Submitted {
        job: RemoteJob,
    },
}

impl Remote {
    /// The job, if the service is known to have it.
    pub(crate) fn job(&self) -> Option<&RemoteJob> {
        match self {
            Remote::Submitted { job } => Some(job),
            Remote::Submitting { .. } => None,
        }
    }
}

/// The content of `remote.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RemoteRecord {
    pub(crate) version: u32,
    #[serde(flatten)]
    pub(crate) remote: Remote,
}

impl RemoteRecord {
    pub(crate) const VERSION: u32 = 1;
}
