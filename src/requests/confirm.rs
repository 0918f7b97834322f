//! Asks for a confirmation before a request is carried out, and knows which request a token confirms.

use crate::context::{Context, TaskError};
use crate::host::clock;
use crate::model::TaskId;
use crate::requests::carry_out::Ask;
use crate::requests::memory;
use crate::requests::outcome::{Confirmation, Done};
use crate::router::Hints;

pub(super) enum Allowed {
    Yes(Vec<TaskId>),
    No(Done),
}

/// Asks for a confirmation of something that destroys or costs. One holds for the action and the tasks that it named.
pub(super) fn allowed(
    context: &Context,
    ask: &Ask,
    action: &str,
    is_risky: bool,
    would: &str,
    ids: Vec<TaskId>,
) -> Result<Allowed, TaskError> {
    if ask.dry_run {
        return Ok(Allowed::No(Done::Would(format!("Would {would}."))));
    }
    if !is_risky && !ask.require_confirmation {
        return Ok(Allowed::Yes(ids));
    }
    if let Some(token) = &ask.confirm
        && let Some(confirmed) = memory::confirmed(context, token, action, &request_of(ask))
    {
        return Ok(Allowed::Yes(confirmed));
    }
    let token = memory::ask(context, action, &request_of(ask), ids)?;
    let until = clock::now().later(memory::KEPT_MS);
    let refused = ask.confirm.is_some();
    let confirmation = Confirmation { would: would.to_owned(), token, until, refused, request: None };
    Ok(Allowed::No(Done::Confirm(confirmation)))
}

/// The part behind "then" was asked about without the hints about the first part. If `ask` repeats it with them, the
/// request without them.
pub(super) fn without_hints_of_first_part(context: &Context, ask: &Ask) -> Option<Ask> {
    let token = ask.confirm.as_ref()?;
    let hints = Hints { operation: None, task: None, ..ask.hints.clone() };
    let bare = Ask { hints, ..ask.clone() };
    memory::is_asked(context, token, &request_of(&bare)).then_some(bare)
}

/// The request and everything that came with it.
fn request_of(ask: &Ask) -> String {
    format!("{:?}", (&ask.request, &ask.hints, &ask.cwd, ask.require_confirmation, ask.max_cost_usd))
}
