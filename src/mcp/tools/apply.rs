//! `delegate_apply`: brings a task's changes into the user's checkout.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::failure::{Failure, Voice};
use crate::mcp::protocol::{Call, Reply, arguments, failure};
use crate::mcp::tools::field::{Field, Kind};
use crate::mcp::tools::start::Format;
use crate::mcp::tools::{Effect, FORMAT, TASK_ID, Tool};
use crate::reply::{Application, ApplyStep, Category, Envelope, RegistryMeta, advertised};
use crate::tasks;
use crate::worktrees::Mode;

const DRY_RUN: Field = Field::new("dry_run", Kind::Flag, "Only tell what would change. Default: false.");

pub(crate) const TOOL: Tool = Tool {
    name: "delegate_apply",
    title: "Apply a task's changes",
    about: "Brings the changes of a task's worktree, or of a cloud task, into the checkout, next to uncommitted work: \
           all or, with a conflict, none. Lists files and conflicts, like merging a colleague's branch. Takes task_id \
           (T-local-0123456789ab).",
    search_hint: "apply merge the changes of a delegated agent run",
    at_hand: false,
    internal: false,
    fields: &[TASK_ID.required(), DRY_RUN, FORMAT.hidden()],
    category: Some(Category::RegistryInfo),
    output: advertised::<Envelope<RegistryMeta, Application>>,
    effect: Effect::Ends,
    waits: false,
    answer,
};

#[derive(Debug, Deserialize)]
struct Ask {
    task_id: String,
    #[serde(default)]
    dry_run: bool,
    #[serde(default)]
    format: Format,
}

fn answer(call: &mut Call, given: Map<String, Value>) -> Result<Reply, Failure> {
    let ask: Ask = arguments(call.tool, given)?;
    let (mode, step) = match ask.dry_run {
        true => (Mode::DryRun, ApplyStep::WouldApply),
        false => (Mode::Write, ApplyStep::Applied),
    };
    let caller = call.caller();
    let done =
        tasks::apply(&mut call.context, &ask.task_id, &caller, mode).map_err(|error| failure(&error))?;
    let data = Application::of(done, step);
    let next = data.next();
    let text = data.text(Voice::Tools, call.tool.name, &next, call.context.config.cuts());
    Ok(call.envelope(RegistryMeta::default(), data, text)?.suggesting(&next).in_format(ask.format))
}
