//! Reads the answer to a list of tasks, and remembers the lists.

use crate::context::{Context, TaskError};
use crate::model::TaskId;
use crate::requests::carry_out::{Ask, verb_name};
use crate::requests::choose;
use crate::requests::memory;
use crate::requests::outcome::{Choice, Done};
use crate::router::{Control, Hints, Intent, Operation, Verb, Which, Work, route};

/// A choice continues the request that offered it. Without one, the chosen task is shown.
pub(super) fn answered(context: &Context, control: Control) -> (Control, &'static str) {
    if control.verb != Verb::Choice {
        let action = verb_name(control.verb);
        return (control, action);
    }
    let offered = memory::offered(context);
    let verb = match offered.as_ref().and_then(|offered| Operation::named(&offered.operation)) {
        Some(Operation::Wait) => Verb::Wait,
        Some(Operation::Cancel) => Verb::Cancel,
        Some(Operation::Results) => Verb::Results,
        Some(Operation::Check | Operation::Run | Operation::Setup | Operation::Cleanup) | None => Verb::Check,
    };
    // Work waits for one task only; of several, it is not what follows.
    let then = offered.filter(|offered| !offered.is_work()).and_then(|offered| offered.then);
    let then = control.then.or(then);
    (Control { verb, then, ..control }, verb_name(verb))
}

/// The work that waits for this choice, with the request that asked for it.
pub(super) fn chosen_work(context: &Context, ask: &Ask, control: &Control) -> Option<(Ask, Work, bool)> {
    let is_one = control.verb == Verb::Choice && control.selector.which != Which::All;
    let offered = memory::offered(context).filter(|offered| is_one && offered.is_work())?;
    let hints = Hints { operation: Some(Operation::Run), ..ask.hints.clone() };
    let ask = Ask { request: offered.then?, hints, ..ask.clone() };
    let routed = route(&ask.request, &ask.hints, &|word| choose::is_alias(context, word));
    let Intent::Work(work) = routed.intent else { return None };
    let chosen = Some(control.selector.clone());
    let work = match offered.operation.as_str() {
        memory::AFTER => Work { after: chosen, ..work },
        _ => Work { resume: chosen, may_start_anew: false, ..work },
    };
    Some((ask, work, routed.in_cloud))
}

/// Makes "#2" mean the list shown last. After an answer to it, a bare number only shows a task.
pub(super) fn renumber(context: &Context, ask: &Ask, done: &Done, is_choice: bool) {
    let listed: Vec<TaskId> = match done {
        Done::Looked(views) | Done::Read(views) | Done::Waited { views, .. } => {
            views.iter().map(|view| view.row.id.clone()).collect()
        }
        Done::Cancelled { all, .. } => all.iter().map(|one| one.view.row.id.clone()).collect(),
        // Their choices are offered already, or still to be answered.
        Done::Which(_) | Done::Would(_) | Done::Nothing(_) => return,
        Done::Confirm(_) | Done::Failed(_) if is_choice => return,
        Done::Started { .. }
        | Done::Cleaned(_)
        | Done::Guide(_)
        | Done::Environments(_)
        | Done::Confirm(_)
        | Done::Failed(_) => Vec::new(),
    };
    let is_over = is_choice || matches!(done, Done::Confirm(_));
    let tasks = match memory::offered(context) {
        _ if listed.len() > 1 => listed,
        Some(offered) if is_over => offered.tasks,
        Some(_) | None => return,
    };
    if !ask.dry_run && memory::offer(context, "check", tasks, None).is_err() {
        memory::forget_offer(context);
    }
}

/// A dry run remembers nothing.
pub(super) fn offer(
    context: &Context,
    ask: &Ask,
    action: &str,
    choices: &[Choice],
    then: Option<String>,
) -> Result<(), TaskError> {
    if ask.dry_run {
        return Ok(());
    }
    memory::offer(context, action, choices.iter().map(|choice| choice.id.clone()).collect(), then)
}
