//! The primitives of tasks on this machine.

use crate::mcp::tools::cancel::REASON;
use crate::mcp::tools::field::{Field, joined};
use crate::mcp::tools::primitives::{WAITING, acknowledge, primitive, starting};
use crate::mcp::tools::results::{INCLUDE_EVENTS, INCLUDE_OUTPUT, MAX_OUTPUT_BYTES};
use crate::mcp::tools::resume::{NEXT_TASK, PARENT, THREAD};
use crate::mcp::tools::run::TASK;
use crate::mcp::tools::start::{GIT, MODE, OPTIONS, ROLE, SKILL_CHOICE, WAIT_MS, WORKING_DIR};
use crate::mcp::tools::status::{LIMIT, ONE_TASK, VERBOSE};
use crate::mcp::tools::{FORMAT, TASK_ID, Tool, cancel, results, resume, run, status, wait};

/// The fields of both new and continued tasks.
const START: &[Field] =
    &joined::<12>(&[MODE, WORKING_DIR, WAIT_MS, OPTIONS, FORMAT, ROLE, GIT], SKILL_CHOICE);
const NEW: &[Field] = &joined::<13>(&[TASK], START);
const NEXT: &[Field] = &joined::<15>(&[PARENT, THREAD, NEXT_TASK], START);

pub(crate) const RUN: Tool = starting(
    "_codex_local_run",
    "Starts a Codex task on this machine: tests, reviews, edits. Returns data.task_id (T-local-0123456789ab) at once, \
     like pressing run; go on with _codex_local_wait. Follow-up: _codex_local_resume.",
    NEW,
    acknowledge::run,
    run::TOOL,
);
pub(crate) const EXEC: Tool = starting(
    "_codex_local_exec",
    "Starts a Codex task on a thread to follow up later, like opening a conversation. Same as _codex_local_run. \
     Returns data.task_id (T-local-0123456789ab) for _codex_local_wait.",
    NEW,
    acknowledge::run,
    run::TOOL,
);
pub(crate) const RESUME: Tool = starting(
    "_codex_local_resume",
    "Continues a local task's thread with a correction or a next step, like replying to a message. Takes task_id \
     (T-local-0123456789ab) or thread_id; returns a new data.task_id.",
    NEXT,
    acknowledge::resume,
    resume::TOOL,
);
pub(crate) const STATUS: Tool = primitive(
    "_codex_local_status",
    "Shows whether tasks are done yet: states, progress, queue, like checking a timer. No output: that is \
     _codex_local_results; to wait, _codex_local_wait. task_id: T-local-0123456789ab.",
    &[ONE_TASK, LIMIT, VERBOSE, FORMAT],
    status::TOOL,
);
pub(crate) const WAIT: Tool = primitive(
    "_codex_local_wait",
    "Waits until a local task ends and returns its result, or its progress at the time limit. Use it instead of asking \
     _codex_local_status, like watching a bar. T-local-0123456789ab.",
    WAITING,
    wait::TOOL,
);
pub(crate) const RESULTS: Tool = primitive(
    "_codex_local_results",
    "Reads a finished local task: summary, files, tests, errors; output and events on request. Like opening the \
     report; not done yet? _codex_local_wait. task_id: T-local-0123456789ab.",
    &[TASK_ID.required(), INCLUDE_OUTPUT, INCLUDE_EVENTS, MAX_OUTPUT_BYTES, FORMAT],
    results::TOOL,
);
pub(crate) const CANCEL: Tool = primitive(
    "_codex_local_cancel",
    "Ends a local task that is stuck or not needed, with its processes, like Ctrl+C; its work is kept. Returns its \
     state. To look first: _codex_local_status. task_id: T-local-0123456789ab.",
    &[TASK_ID.required(), REASON, FORMAT],
    cancel::TOOL,
);
