//! `delegate_cancel`: ends a task and answers once it has ended.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::context::{Context, TaskError};
use crate::failure::Failure;
use crate::mcp::protocol::{Call, Reply, arguments, failure, refused};
use crate::mcp::tools::field::{Field, Kind};
use crate::mcp::tools::start::Format;
use crate::mcp::tools::{Effect, FORMAT, TASK_ID, Tool};
use crate::model::State;
use crate::reply::{Cancellation, Category, Envelope, RegistryMeta, advertised};
use crate::tasks::{self, Cancelled};

/// In bytes. The reason is sent to the supervisor in one message and stored with the run.
const LONGEST_REASON: usize = 1000;

pub(crate) const REASON: Field = Field::new("reason", Kind::Text, "The reason, stored with the task.");

pub(crate) const TOOL: Tool = Tool {
    name: "delegate_cancel",
    title: "End a task",
    about: "Ends a running or queued task and every process it started, when it is stuck or no longer needed. Answers \
           once they are gone, like calling a colleague back; its work is kept. Of a cloud task it only stops the \
           following. Takes task_id (T-local-0123456789ab).",
    search_hint: "cancel a delegated agent run",
    at_hand: false,
    internal: false,
    fields: &[TASK_ID.required(), REASON, FORMAT.hidden()],
    category: Some(Category::RegistryInfo),
    output: advertised::<Envelope<RegistryMeta, Cancellation>>,
    effect: Effect::Ends,
    waits: false,
    answer,
};

#[derive(Debug, Deserialize)]
struct Ask {
    task_id: String,
    reason: Option<String>,
    #[serde(default)]
    format: Format,
}

fn answer(call: &mut Call, given: Map<String, Value>) -> Result<Reply, Failure> {
    cancelled(call, given, tasks::cancel)
}

/// Like [`TOOL`], but leaves what a service already has.
pub(crate) fn unless_submitted(call: &mut Call, given: Map<String, Value>) -> Result<Reply, Failure> {
    cancelled(call, given, tasks::cancel_unless_submitted)
}

type Cancel = fn(&mut Context, &str, Option<&str>) -> Result<Cancelled, TaskError>;

fn cancelled(call: &mut Call, given: Map<String, Value>, cancel: Cancel) -> Result<Reply, Failure> {
    let ask: Ask = arguments(call.tool, given)?;
    if ask.reason.as_ref().is_some_and(|reason| reason.len() > LONGEST_REASON) {
        return Err(refused("`reason` is too long", format!("use at most {LONGEST_REASON} bytes")));
    }
    let cancelled =
        cancel(&mut call.context, &ask.task_id, ask.reason.as_deref()).map_err(|error| failure(&error))?;
    // Whoever cancelled it knows how it ended.
    let ended_here = !cancelled.was_final && cancelled.view.state() == State::Cancelled;
    call.read(std::iter::once(&cancelled.view).filter(|_| ended_here));
    let data = Cancellation::of(&cancelled, ask.reason.as_deref());
    let notice = call.notice(std::slice::from_ref(&cancelled.view.row.id));
    let next = data.next();
    let text = data.text(call.tool.name, notice.as_deref(), &next);
    let meta = RegistryMeta { notice, ..RegistryMeta::default() };
    Ok(call.envelope(meta, data, text)?.suggesting(&next).in_format(ask.format))
}
