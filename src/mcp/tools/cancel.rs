//! `delegate_cancel`: ends a task and answers once it has ended.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::mcp::protocol::{Call, Reply, arguments, failure, refused};
use crate::mcp::tools::field::{Field, Kind};
use crate::mcp::tools::start::Format;
use crate::mcp::tools::{Effect, FORMAT, Tool};
use crate::reply::{Cancellation, Category, Envelope, RegistryMeta, advertised};
use crate::tasks;

/// In bytes. The reason is sent to the supervisor in one message and stored with the run.
const LONGEST_REASON: usize = 1000;

pub(crate) const TOOL: Tool = Tool {
    name: "delegate_cancel",
    title: "End a task",
    about: "Like calling a colleague back: ends a running or queued task and every process it started, and answers \
           once they are gone. Its work so far is kept. A finished task is not changed. Takes task_id \
           (T-local-0123456789ab).",
    search_hint: "cancel a delegated agent run",
    at_hand: false,
    internal: false,
    fields: &[
        Field::new("task_id", Kind::Text, "The task: its id, alias, or the beginning of its id.").required(),
        Field::new("reason", Kind::Text, "The reason, stored with the task."),
        FORMAT,
    ],
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
    let ask: Ask = arguments(call.tool, given)?;
    if ask.reason.as_ref().is_some_and(|reason| reason.len() > LONGEST_REASON) {
        return Err(refused("`reason` is too long", format!("use at most {LONGEST_REASON} bytes")));
    }
    let cancelled = tasks::cancel(&mut call.context, &ask.task_id, ask.reason.as_deref())
        .map_err(|error| failure(&error))?;
    let data = Cancellation::of(&cancelled, ask.reason.as_deref());
    let notice = call.notice(std::slice::from_ref(&cancelled.view.row.id));
    let next = data.next();
    let text = data.text(call.tool.name, notice.as_deref(), &next);
    let meta = RegistryMeta { notice, ..RegistryMeta::default() };
    Ok(call.envelope(meta, data, text)?.suggesting(&next).in_format(ask.format))
}
