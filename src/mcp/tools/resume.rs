//! `delegate_resume`: continues the thread of an earlier task.

use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::mcp::protocol::{Call, Reply, failure};
use crate::mcp::tools::field::{Field, Kind};
use crate::mcp::tools::start::{
    CWD, GIT, GLOBAL_SKILLS, MAX_SKILLS, OPTIONS, REPO_SKILLS, ROLE, SANDBOX, SKILLS, SKILLS_MODE, Start,
    WAIT_MS,
};
use crate::mcp::tools::{Effect, FORMAT, Tool};
use crate::reply::advertised_report;
use crate::submit::{self, ResumeRequest};

pub(crate) const TOOL: Tool = Tool {
    name: "delegate_resume",
    title: "Continue a task",
    about: "Like asking the same colleague a follow-up: a new task on the thread of an earlier one, which remembers \
           everything. For corrections and next steps; for other work use delegate_run. Takes task_id \
           (T-local-0123456789ab) or thread_id. Returns a new task_id at once.",
    search_hint: "continue an earlier delegated agent run with a follow-up",
    at_hand: false,
    internal: false,
    fields: &[
        Field::new("task_id", Kind::Text, "The task to continue: its id, alias, or the beginning of its id."),
        Field::new("thread_id", Kind::Text, "The id of the agent's thread, instead of task_id."),
        Field::new("task", Kind::Text, "What to do next. Default: continue."),
        CWD,
        SANDBOX,
        WAIT_MS,
        ROLE,
        GIT,
        OPTIONS,
        FORMAT,
        SKILLS_MODE,
        SKILLS,
        MAX_SKILLS,
        REPO_SKILLS,
        GLOBAL_SKILLS,
    ],
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
