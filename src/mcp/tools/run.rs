//! `delegate_run`: starts a task.

use crate::submit;
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::mcp::protocol::{Call, Reply, failure};
use crate::mcp::tools::field::{Field, Kind, joined};
use crate::mcp::tools::start::{CWD, GIT, OPTIONS, ROLE, SANDBOX, SKILL_CHOICE, Start, WAIT_MS};
use crate::mcp::tools::{Effect, FORMAT, Tool};
use crate::reply::advertised_report;

pub(crate) const TASK: Field =
    Field::new("task", Kind::Text, "What to do, in full: the agent sees nothing else of this conversation.")
        .required();

pub(crate) const TOOL: Tool = Tool {
    name: "delegate_run",
    title: "Hand a task to an agent",
    about: "Hands a task to a coding agent, which works in the background while you go on. For long or separate work: \
           tests, reviews, refactoring. Returns a task_id (T-local-0123456789ab) at once, like a claim ticket; read \
           on with delegate_wait. Not for one quick command.",
    search_hint: "delegate coding work to a background agent run (codex)",
    at_hand: true,
    internal: false,
    fields: &joined::<13>(&[TASK, CWD, SANDBOX, WAIT_MS, ROLE, GIT, OPTIONS, FORMAT.hidden()], SKILL_CHOICE),
    category: None,
    output: advertised_report,
    effect: Effect::Starts,
    waits: false,
    answer,
};

fn answer(call: &mut Call, given: Map<String, Value>) -> Result<Reply, Failure> {
    let start = Start::of(call, given)?;
    let request = start.request.clone();
    let accepted = submit::start(&mut call.context, request).map_err(|error| failure(&error))?;
    start.answer(call, &accepted)
}
