//! `wait_result`: the tasks somebody waited for, finished or not.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Voice;
use crate::model::Timestamp;
use crate::reading::Results;
use crate::reply::result_set::{Brief, TaskResult};
use crate::reply::task_facts::Facts;

/// The first four fields are of the one task that was waited for.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WaitMeta {
    /// Absent when the run never started.
    #[serde(skip_serializing_if = "Option::is_none")]
    started_ts: Option<Timestamp>,
    /// Absent until the run is finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    completed_ts: Option<Timestamp>,
    /// What the run took, or has taken so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u64>,
    /// Of the agent's process, where it ended by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    /// How long the wait could have taken; absent when it had no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    waited_limit_ms: Option<u64>,
    /// How many tasks are in this reply.
    count: usize,
    /// Finished runs of this project that nobody has read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) notice: Option<String>,
}

/// The one task that was waited for, or all of them.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum WaitData {
    One(Box<TaskResult>),
    Several { tasks: Vec<Brief> },
}

impl WaitMeta {
    pub(crate) fn with_notice(self, notice: Option<String>) -> Self {
        Self { notice, ..self }
    }
}

impl WaitData {
    pub(crate) fn of(
        waited: &[Results],
        limit: Option<Duration>,
        now: Timestamp,
        voice: Voice,
    ) -> (WaitMeta, Self) {
        let waited_limit_ms = limit.map(|limit| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX));
        let bare = WaitMeta {
            started_ts: None,
            completed_ts: None,
            duration_ms: None,
            exit_code: None,
            waited_limit_ms,
            count: waited.len(),
            notice: None,
        };
        match waited {
            [one] => {
                let facts = Facts::of(&one.view);
                let meta = WaitMeta {
                    started_ts: facts.started_at,
                    completed_ts: facts.finished_at,
                    duration_ms: Some(facts.elapsed_ms(now)),
                    exit_code: facts.exit_code,
                    ..bare
                };
                (meta, WaitData::One(Box::new(TaskResult::of(one, now, voice))))
            }
            several => {
                (bare, WaitData::Several { tasks: several.iter().map(|one| Brief::of(one, now)).collect() })
            }
        }
    }
}
