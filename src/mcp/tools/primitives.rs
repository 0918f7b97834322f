//! The primitives: older names of the same tools, for clients that were written for them. Starting a task answers
//! with an `execution_ack`.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::context::TaskError;
use crate::failure::{Failure, Voice};
use crate::host::clock;
use crate::mcp::protocol::{Call, Reply, arguments, failure, refused};
use crate::mcp::tools::field::{Field, Kind};
use crate::mcp::tools::start::{self, Format, Start};
use crate::mcp::tools::{Effect, FORMAT, Tool, cancel, results, resume, run, status, wait};
use crate::model::State;
use crate::reply::{
    self, Ack, AckMeta, Category, Cleanup, Envelope, Facts, RegistryMeta, TaskResult, advertised,
};
use crate::submit::{self, Accepted, ResumeRequest};
use crate::tasks::{self, CleanupRequest};

/// A start tool under its older name.
const fn started(name: &'static str, about: &'static str, like: Tool, answer: super::Answer) -> Tool {
    Tool {
        name,
        about,
        internal: true,
        at_hand: false,
        category: Some(Category::ExecutionAck),
        output: advertised::<Envelope<AckMeta, Ack>>,
        answer,
        ..like
    }
}

/// Any other tool under its older name.
const fn same(name: &'static str, about: &'static str, like: Tool) -> Tool {
    Tool { name, about, internal: true, at_hand: false, ..like }
}

pub(crate) const LOCAL_RUN: Tool = started(
    "_codex_local_run",
    "Starts a local task in the background and acknowledges it at once: delegate_run with an execution_ack. Returns \
     data.task_id (T-local-0123456789ab) for _codex_local_wait.",
    run::TOOL,
    run_acknowledged,
);
pub(crate) const LOCAL_EXEC: Tool = started(
    "_codex_local_exec",
    "The same as _codex_local_run; kept for callers of the older name. Returns data.task_id \
     (T-local-0123456789ab).",
    run::TOOL,
    run_acknowledged,
);
pub(crate) const LOCAL_RESUME: Tool = started(
    "_codex_local_resume",
    "Continues the thread of a local task and acknowledges it at once: delegate_resume with an execution_ack. Takes \
     task_id (T-local-0123456789ab) or thread_id.",
    resume::TOOL,
    resume_acknowledged,
);
pub(crate) const LOCAL_STATUS: Tool = same(
    "_codex_local_status",
    "Running, queued and recent tasks, without output; the same as delegate_status.",
    status::TOOL,
);
pub(crate) const LOCAL_WAIT: Tool =
    same("_codex_local_wait", "Waits until a local task is done; the same as delegate_wait.", wait::TOOL);
pub(crate) const LOCAL_RESULTS: Tool =
    same("_codex_local_results", "Reads a local task's result; the same as delegate_results.", results::TOOL);
pub(crate) const LOCAL_CANCEL: Tool = same(
    "_codex_local_cancel",
    "Ends a local task and its processes; the same as delegate_cancel.",
    cancel::TOOL,
);

pub(crate) const CLEANUP: Tool = Tool {
    name: "_codex_cleanup_registry",
    title: "Remove old runs",
    about: "Removes this project's finished runs older than a threshold, ends those whose supervisor died, and \
           removes old captures and terminals. Never touches what is live or pinned. dry_run only reports.",
    search_hint: "clean up old delegated runs",
    at_hand: false,
    internal: true,
    fields: &[
        Field::new("dry_run", Kind::Flag, "Only report what would be removed. Default: false."),
        Field::new(
            "old_threshold_hours",
            Kind::Number,
            "Age in hours from which finished runs are removed; the configuration sets it for the rest. Default: 720.",
        ),
        // Accepted without effect: age does not decide whether a run is alive.
        Field::new("stuck_threshold_seconds", Kind::Ignored, "").hidden(),
        FORMAT,
    ],
    category: Some(Category::RegistryInfo),
    output: advertised::<Envelope<RegistryMeta, Cleanup>>,
    effect: Effect::Ends,
    waits: false,
    answer: clean_up,
};

fn run_acknowledged(call: &mut Call, given: Map<String, Value>) -> Result<Reply, Failure> {
    let start = Start::of(call, given)?;
    let request = start.request.clone();
    let accepted = submit::start(&mut call.context, request).map_err(|error| failure(&error))?;
    acknowledged(call, &start, &accepted)
}

fn resume_acknowledged(call: &mut Call, given: Map<String, Value>) -> Result<Reply, Failure> {
    let start = Start::of(call, given)?;
    let resume = ResumeRequest { of: start.resumed()?, ask: start.request.clone() };
    let accepted = submit::resume(&mut call.context, resume).map_err(|error| failure(&error))?;
    acknowledged(call, &start, &accepted)
}

fn acknowledged(call: &mut Call, asked: &Start, accepted: &Accepted) -> Result<Reply, Failure> {
    let (results, exceeded) = asked.watch(call, accepted)?;
    let position = position(call, accepted, results.view.state()).map_err(|error| failure(&error))?;
    let now = clock::now();
    let report = start::report(call, accepted, &results, exceeded, now).in_envelope(&results);
    let row = results.view.row.clone();
    let cuts = call.context.config.cuts();
    let report = if asked.waits() { report } else { report.acknowledging(results.view.state()) };
    let told = asked.waits().then(|| reply::page(call.tool.name, &report, None, cuts));
    let result = asked
        .waits()
        .then(|| TaskResult::of(&results, &Facts::of(&results.view), now, Voice::Tools).waited(&results));
    let (meta, ack) = Ack::of(accepted, &row, position, result);
    let meta = AckMeta { notice: report.notice, ..meta };
    let next = report.calls;
    let text = told.unwrap_or_else(|| ack.text(call.tool.name, &meta, &next, cuts).into());
    Ok(call.envelope(meta, ack, text)?.suggesting(&next).in_format(asked.format()))
}

/// The task's position in the queue: 0 while it runs.
fn position(call: &Call, accepted: &Accepted, state: State) -> Result<Option<usize>, TaskError> {
    Ok(match state {
        State::Pending => {
            let queue = call.context.registry.pending(u32::MAX)?;
            queue.iter().position(|row| row.id == accepted.task_id).map(|before| before + 1)
        }
        State::Working | State::InputRequired => Some(0),
        State::Completed | State::Failed | State::Cancelled | State::TimedOut => None,
    })
}

#[derive(Debug, Deserialize)]
struct CleanUp {
    #[serde(default)]
    dry_run: bool,
    old_threshold_hours: Option<f64>,
    #[serde(default)]
    format: Format,
}

fn clean_up(call: &mut Call, given: Map<String, Value>) -> Result<Reply, Failure> {
    let asked: CleanUp = arguments(call.tool, given)?;
    let older_than = match asked.old_threshold_hours.map(|hours| Duration::try_from_secs_f64(hours * 3600.0))
    {
        None => None,
        Some(Ok(age)) => Some(age),
        Some(Err(_)) => {
            return Err(refused("`old_threshold_hours` is too large", "leave it out for 720 hours"));
        }
    };
    let ask = CleanupRequest { older_than, dry_run: asked.dry_run };
    let cleaned = tasks::cleanup(&mut call.context, ask).map_err(|error| failure(&error))?;
    let (meta, data) = Cleanup::of(&cleaned, ask, &call.context.config, clock::now());
    let text =
        format!("{}\nstatus: done\nsummary: {}\n{}", call.tool.name, data.summary, data.storage.text());
    let notice = call.notice(&[]);
    let text = notice.iter().fold(text, |text, notice| format!("{text}notice: {notice}\n"));
    let meta = RegistryMeta { notice, ..meta };
    Ok(call.envelope(meta, data, text)?.in_format(asked.format))
}
