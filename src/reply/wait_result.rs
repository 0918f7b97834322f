//! `wait_result`: the tasks that a call waited for, finished or not.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Voice;
use crate::model::Timestamp;
use crate::reading::Results;
use crate::reply::result_set::{Brief, TaskResult};
use crate::reply::task_facts::Facts;

/// The first four fields describe the task if only one was waited for.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WaitMeta {
    /// Absent if the run never started.
    #[serde(skip_serializing_if = "Option::is_none")]
    started_ts: Option<Timestamp>,
    /// Absent until the run is finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    completed_ts: Option<Timestamp>,
    /// How long the run took, or has taken so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u64>,
    /// The exit code of the agent's process, if it exited by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    /// The time limit of the wait; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    waited_limit_ms: Option<u64>,
    /// How many tasks are in this reply, if several were waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<usize>,
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
    /// `facts` are those of the tasks, in the same order.
    pub(crate) fn of(
        waited: &[Results],
        facts: &[Facts],
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
            count: (waited.len() != 1).then_some(waited.len()),
            notice: None,
        };
        match (waited, facts) {
            ([one], [facts]) => {
                let meta = WaitMeta {
                    started_ts: facts.started_at,
                    completed_ts: facts.finished_at,
                    duration_ms: Some(facts.elapsed_ms(now)),
                    exit_code: facts.exit_code,
                    ..bare
                };
                (
                    meta,
                    WaitData::One(Box::new(
                        TaskResult::of(one, facts, now, voice).waited(one).beside_wait_meta(),
                    )),
                )
            }
            _ => {
                let tasks = waited.iter().zip(facts).map(|(one, facts)| Brief::of(one, facts, now));
                (bare, WaitData::Several { tasks: tasks.collect() })
            }
        }
    }
}
