//! `delegate_resume`: continues the thread of an earlier task.

use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::mcp::protocol::{Call, Reply, failure};
use crate::mcp::tools::field::{Field, Kind, joined};
use crate::mcp::tools::start::{CWD, GIT, OPTIONS, ROLE, SANDBOX, SKILL_CHOICE, Start, WAIT_MS};
use crate::mcp::tools::{Effect, FORMAT, Tool};
use crate::reply::advertised_report;
use crate::submit::{self, ResumeRequest};

pub(crate) const PARENT: Field =
    Field::new("task_id", Kind::Text, "The task to continue: its id, alias, or the beginning of its id.");
pub(crate) const THREAD: Field =
    Field::new("thread_id", Kind::Text, "The id of the agent's thread, instead of task_id.");
pub(crate) const NEXT_TASK: Field = Field::new("task", Kind::Text, "What to do next. Default: continue.");

pub(crate) const TOOL: Tool = Tool {
    name: "delegate_resume",
    title: "Continue a task",
    about: "Continues the thread of an earlier task: the same agent, which remembers everything. For corrections, answers \
           and next steps, like a follow-up to a colleague. Takes task_id (T-local-0123456789ab) or thread_id; \
           returns a new task_id at once. For other work use delegate_run.",
    search_hint: "continue an earlier delegated agent run with a follow-up",
    at_hand: false,
    internal: false,
    fields: &joined::<15>(
        &[PARENT, THREAD, NEXT_TASK, CWD, SANDBOX, WAIT_MS, ROLE, GIT, OPTIONS, FORMAT.hidden()],
        SKILL_CHOICE,
    ),
    category: None,
    output: advertised_report,
    effect: Effect::Starts,
    waits: false,
    answer,
};

fn answer(call: &mut Call, given: Map<String, Value>) -> Result<Reply, Failure> {
    let start = Start::of(call, given)?;
    let resume = ResumeRequest { of: start.resumed()?, ask: start.request.clone() };
    let accepted = submit::resume(&mut call.context, resume).map_err(|error| failure(&error))?;
    start.answer(call, &accepted)
}
