//! `status_snapshot`: running, queued and recently finished tasks, without output.

use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::failure::Voice;
use crate::model::{AgentName, TaskId, Timestamp};
use crate::reading::{QueuedTask, Snapshot, View};
use crate::registry::Row;
use crate::reply::cloud_task::page;
use crate::reply::failure_cause::Unresolved;
use crate::reply::file_operations::FileOperations;
use crate::reply::metadata::seconds;
use crate::reply::next_steps::{NextCall, wait_for};
use crate::reply::progress::Progress;
use crate::reply::report_text::title;
use crate::reply::task_facts::is_reported;
use crate::reply::test_results::TestsSeen;
use crate::text::plain;

/// The shortest that a long list becomes while other lists can still be shortened.
const FEW: usize = 5;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SnapshotMeta {
    snapshot_ts: Timestamp,
    /// How many tasks run, wait or have recently ended, shown or not.
    total: usize,
    /// How many of them are missing, because the reply would be too long.
    #[serde(skip_serializing_if = "is_zero")]
    left_out: usize,
    /// Finished runs of this project that nobody has read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) notice: Option<String>,
}

/// A list is absent if it is empty.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StatusSnapshot {
    pub(crate) summary: Counts,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tasks: Vec<Running>,
    /// In the order in which they will start.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) queue: Vec<Queued>,
    /// The tasks that ended last, newest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) recently_completed: Vec<Ended>,
    /// What the caller should know although it did not end any run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<String>,
    /// How many more have ended, up to a thousand; shown on the command line only.
    #[serde(skip)]
    pub(crate) more_ended: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Counts {
    pub(crate) running: usize,
    pub(crate) queued: usize,
    pub(crate) recently_completed: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Running {
    pub(crate) task_id: TaskId,
    #[schemars(extend("enum" = ["working", "unknown"]))]
    pub(crate) state: &'static str,
    pub(crate) agent: AgentName,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) alias: Option<String>,
    /// For a resumed task: the task that it continues. For a job: the task that planned it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parent_task_id: Option<String>,
    /// The beginning of the request.
    pub(crate) title: String,
    /// Absent until its agent has started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) started_ts: Option<Timestamp>,
    pub(crate) elapsed_seconds: f64,
    /// Null before the agent's first event.
    pub(crate) progress: Option<Progress>,
    /// The page of a task in the cloud, once the cloud has confirmed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) page: Option<String>,
    /// The last lines that it or its agent's commands printed; only with `verbose`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_lines: Option<Vec<String>>,
    /// The task's project; only if all projects were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) project: Option<PathBuf>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Queued {
    pub(crate) task_id: TaskId,
    /// From 1, which starts next. Counts the tasks of all projects that wait for the same: for this machine, or for the
    /// cloud. Absent if it waits for another task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) position: Option<usize>,
    /// The task that has to end before it starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) waits_for: Option<TaskId>,
    /// The time until it starts, estimated from how long earlier runs took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) estimated_start_ms: Option<u64>,
    pub(crate) agent: AgentName,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) alias: Option<String>,
    /// For a resumed task: the task that it continues. For a job: the task that planned it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parent_task_id: Option<String>,
    /// The beginning of the request.
    pub(crate) title: String,
    pub(crate) created_ts: Timestamp,
    /// The task's project; only if all projects were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) project: Option<PathBuf>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Ended {
    pub(crate) task_id: TaskId,
    #[schemars(extend("enum" = ["completed", "failed", "cancelled", "timeout"]))]
    pub(crate) state: &'static str,
    pub(crate) agent: AgentName,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) alias: Option<String>,
    /// For a resumed task: the task that it continues. For a job: the task that planned it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parent_task_id: Option<String>,
    /// The beginning of the request.
    pub(crate) title: String,
    /// The beginning of the result.
    pub(crate) summary: String,
    /// `agent` if the agent wrote the summary; otherwise `delegator` did.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["agent"]))]
    pub(crate) report_by: Option<&'static str>,
    pub(crate) duration_seconds: f64,
    pub(crate) completed_ts: Timestamp,
    /// File changes in one line; only if one task was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) files: Option<String>,
    /// Test results in one line; only if one task was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tests: Option<String>,
    /// What failed and did not pass later, although the run itself did not fail; only if one task was asked
    /// for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unresolved_error: Option<String>,
    /// The last lines that it or its agent's commands printed; only with `verbose`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_lines: Option<Vec<String>>,
    /// The page of a task in the cloud; only if one task was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) page: Option<String>,
    /// Nobody has fetched its result yet.
    pub(crate) unread: bool,
    /// A cleanup may remove it from then on, unless it is pinned.
    pub(crate) keep_alive_until: Timestamp,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) pinned: bool,
    /// The task's project; only if all projects were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) project: Option<PathBuf>,
}

impl SnapshotMeta {
    pub(crate) fn with_notice(self, notice: Option<String>) -> Self {
        Self { notice, ..self }
    }

    /// Counts what was left out of `data`.
    pub(crate) fn of(self, data: &StatusSnapshot) -> Self {
        Self { left_out: self.total - data.listed(), ..self }
    }
}

impl StatusSnapshot {
    /// The most useful call first.
    pub(crate) fn next(&self) -> Vec<NextCall> {
        let asks = |one: &&Running| one.progress.as_ref().is_some_and(|now| now.question.is_some());
        let answer = self.tasks.iter().find(asks).map(|one| {
            let arguments = json!({ "task_id": one.task_id, "task": "..." });
            NextCall::new("delegate_resume", arguments, "answers its question")
        });
        let running = self.tasks.iter().map(|one| &one.task_id);
        let open: Vec<&TaskId> = running.chain(self.queue.iter().map(|one| &one.task_id)).collect();
        let ended = self.recently_completed.iter();
        let result =
            ended.clone().find(|one| one.unread).or(ended.clone().next().filter(|_| open.is_empty()));
        let result = result.map(|one| {
            NextCall::new("delegate_results", json!({ "task_id": one.task_id }), "shows its result")
        });
        let calls = [answer, wait_for(&open), result];
        let calls: Vec<NextCall> = calls.into_iter().flatten().collect();
        if calls.is_empty() {
            return vec![NextCall::new("delegate_run", json!({ "task": "..." }), "starts a task")];
        }
        calls
    }

    /// Removes one more task, or returns `false` if too few are left. Queued tasks are removed first.
    pub(crate) fn give_way(&mut self) -> bool {
        let Self { tasks, queue, recently_completed, .. } = self;
        for least in [FEW, 1] {
            if queue.len() > least {
                return queue.pop().is_some();
            }
            if recently_completed.len() > least {
                return recently_completed.pop().is_some();
            }
            if tasks.len() > least {
                return tasks.pop().is_some();
            }
        }
        false
    }

    fn listed(&self) -> usize {
        self.tasks.len() + self.queue.len() + self.recently_completed.len()
    }

    /// `kept_for` is how long a finished run is kept.
    pub(crate) fn of(snapshot: &Snapshot, kept_for: Duration, voice: Voice) -> (SnapshotMeta, Self) {
        let summary = Counts {
            running: snapshot.running.len(),
            queued: snapshot.queued.len(),
            recently_completed: snapshot.finished.len(),
        };
        let damaged = snapshot.running.iter().flat_map(|view| &view.damaged).chain(&snapshot.damaged);
        let project = |row: &Row| snapshot.everywhere.then(|| row.project.clone());
        let running = |view: &View| Running {
            project: project(&view.row),
            last_lines: snapshot.last_lines_of(&view.row.id),
            ..Running::of(view, snapshot.at, voice)
        };
        let ended = |row: &Row| Ended {
            project: project(row),
            last_lines: snapshot.last_lines_of(&row.id),
            ..Ended::of(row, snapshot.only.as_deref(), kept_for)
        };
        let queued = |task: &QueuedTask| Queued { project: project(&task.row), ..Queued::of(task) };
        let data = Self {
            summary,
            tasks: snapshot.running.iter().map(running).collect(),
            queue: snapshot.queued.iter().map(queued).collect(),
            recently_completed: snapshot.finished.iter().map(ended).collect(),
            more_ended: snapshot.more_finished,
            warnings: damaged.map(|warning| plain::text(warning)).collect(),
        };
        (SnapshotMeta { snapshot_ts: snapshot.at, total: data.listed(), left_out: 0, notice: None }, data)
    }
}

impl Running {
    pub(crate) fn of(view: &View, now: Timestamp, voice: Voice) -> Self {
        Self {
            task_id: view.row.id.clone(),
            state: view.state().in_envelope(),
            agent: view.row.agent,
            alias: alias(&view.row),
            parent_task_id: view.row.parent_task_id.clone(),
            title: title(&view.row.instruction),
            started_ts: view.row.started_at,
            elapsed_seconds: seconds(view.row.started_at.map_or(0, |started| now.millis_since(started))),
            progress: Progress::of(view, now, voice),
            page: page(view),
            last_lines: None,
            project: None,
        }
    }
}

impl Queued {
    /// What it waits for; `place` words its position.
    pub(crate) fn waits(&self, place: impl Fn(usize) -> String) -> String {
        match (&self.waits_for, self.position) {
            (Some(task), _) => format!("waits for {task}"),
            (None, Some(position)) => place(position),
            (None, None) => "queued".to_owned(),
        }
    }

    fn of(task: &QueuedTask) -> Self {
        let QueuedTask { position, starts_in, row } = task;
        Self {
            task_id: row.id.clone(),
            position: *position,
            waits_for: row.waits_for.clone(),
            estimated_start_ms: starts_in.map(whole_millis),
            agent: row.agent,
            alias: alias(row),
            parent_task_id: row.parent_task_id.clone(),
            title: title(&row.instruction),
            created_ts: row.created_at,
            project: None,
        }
    }
}

impl Ended {
    fn of(row: &Row, view: Option<&View>, kept_for: Duration) -> Self {
        let tests = view.and_then(|view| view.evidence.as_ref()?.tests.as_ref());
        let completed = row.completed_at.unwrap_or(row.created_at);
        Self {
            task_id: row.id.clone(),
            state: row.state.in_envelope(),
            agent: row.agent,
            alias: alias(row),
            parent_task_id: row.parent_task_id.clone(),
            title: title(&row.instruction),
            summary: title(row.summary.as_deref().unwrap_or_default()),
            report_by: is_reported(row).then_some("agent"),
            duration_seconds: seconds(row.started_at.map_or(0, |started| completed.millis_since(started))),
            completed_ts: completed,
            files: view.and_then(FileOperations::seen).map(|files| files.line()),
            tests: tests.map(|tests| TestsSeen::of(tests).line()),
            unresolved_error: view.and_then(Unresolved::line_of),
            last_lines: None,
            page: view.and_then(page),
            unread: row.unread,
            keep_alive_until: later(completed, kept_for),
            pinned: row.pinned,
            project: None,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

pub(super) fn whole_millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

pub(super) fn later(moment: Timestamp, by: Duration) -> Timestamp {
    let millis = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
    Timestamp::from_millis(moment.as_millis().saturating_add(millis))
}

/// Someone else chose it, so it is shown as one plain line.
fn alias(row: &Row) -> Option<String> {
    row.alias.as_deref().map(title)
}
