//! The primitives of tasks in Codex Cloud.

use crate::mcp::tools::cancel::REASON;
use crate::mcp::tools::field::{Field, Kind};
use crate::mcp::tools::primitives::{WAITING, acknowledge, primitive, starting};
use crate::mcp::tools::results::{INCLUDE_EVENTS, INCLUDE_OUTPUT, MAX_OUTPUT_BYTES};
use crate::mcp::tools::run::TASK;
use crate::mcp::tools::start::{
    ATTEMPTS, BRANCH, CLOUD_OPTIONS, ENV_ID, STARTING_DIFF, WAIT_MS, WORKING_DIR,
};
use crate::mcp::tools::status::{LIMIT, ONE_TASK, VERBOSE};
use crate::mcp::tools::{Effect, FORMAT, TASK_ID, Tool, cancel, results, run, status, wait};

pub(crate) const SUBMIT: Tool = Tool {
    title: "Hand a task to Codex Cloud",
    search_hint: "submit a task to codex cloud",
    effect: Effect::StartsElsewhere,
    ..starting(
        "_codex_cloud_submit",
        "Sends a task to Codex Cloud, for hours of work or a pull request: it goes on while this machine sleeps, like \
         mail. Returns data.task_id (T-cloud-0123456789ab) for _codex_cloud_wait.",
        &[
            TASK,
            ENV_ID,
            ATTEMPTS,
            BRANCH,
            STARTING_DIFF,
            // The service takes none, and says so.
            Field::new("model", Kind::Text, "Refused: the environment decides."),
            WORKING_DIR,
            WAIT_MS,
            CLOUD_OPTIONS,
            FORMAT,
        ],
        acknowledge::submit,
        run::TOOL,
    )
};
pub(crate) const STATUS: Tool = primitive(
    "_codex_cloud_status",
    "Shows whether cloud tasks are done yet, like peeking at a tracking number: states, progress, queue. No output: \
     that is _codex_cloud_results; to wait, _codex_cloud_wait. T-cloud-0123456789ab.",
    &[ONE_TASK, LIMIT, VERBOSE, FORMAT],
    status::TOOL,
);
pub(crate) const WAIT: Tool = primitive(
    "_codex_cloud_wait",
    "Waits until a cloud task ends and returns its result, or its progress at the time limit. Use it instead of asking \
     _codex_cloud_status, like awaiting a parcel. T-cloud-0123456789ab.",
    WAITING,
    wait::TOOL,
);
pub(crate) const RESULTS: Tool = primitive(
    "_codex_cloud_results",
    "Reads a finished cloud task: summary, changed files, its diff as a file; like opening the parcel. Not done yet? \
     _codex_cloud_wait. The page has the pull request. task_id: T-cloud-0123456789ab.",
    &[TASK_ID.required(), INCLUDE_OUTPUT, INCLUDE_EVENTS, MAX_OUTPUT_BYTES, FORMAT],
    results::TOOL,
);
pub(crate) const CANCEL: Tool = Tool {
    answer: cancel::unless_submitted,
    ..primitive(
        "_codex_cloud_cancel",
        "Takes a cloud task back before it is sent, when it is not needed. Codex cannot cancel a sent one: the error \
         names its page to stop it there, like a posted letter. task_id: T-cloud-0123456789ab.",
        &[TASK_ID.required(), REASON, FORMAT],
        cancel::TOOL,
    )
};
