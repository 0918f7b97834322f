//! Carries out one request, and the one behind its "then".

use std::path::PathBuf;
use std::time::Duration;

use crate::context::{Context, TaskError};
use crate::model::{AgentName, Sandbox, State, TaskId};
use crate::reading::{self, View};
use crate::requests::answers::{answered, chosen_work, offer, renumber};
use crate::requests::choose::{self, Chosen};
use crate::requests::confirm::{Allowed, allowed, without_hints_of_first_part};
use crate::requests::memory;
use crate::requests::outcome::{Done, Outcome, Then};
use crate::router::{Control, Hints, Intent, Purpose, Selector, Verb, Which, Work, route};
use crate::submit::{self, Caller, Isolation, ResumeRequest, StartRequest};
use crate::tasks::{self, CleanupRequest, NextObservation, Until, github_setup};

/// The longest wait without a limit of the caller's own.
const USUAL_WAIT: Duration = Duration::from_secs(300);
const HELP: &str = "Say what you want in plain words: \"run the tests\" starts a task; \"check my task\", \"wait for it\", \
    \"show the results\" and \"cancel it\" are about tasks; \"continue\" and \"also ...\" go on with the last one; \"set up \
    GitHub\" explains how to connect Codex Cloud.";

/// A request and what came with it.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) request: String,
    pub(crate) hints: Hints,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) caller: Caller,
    /// The longest wait that the caller can bear.
    pub(crate) patience: Option<Duration>,
    pub(crate) require_confirmation: bool,
    pub(crate) max_cost_usd: Option<f64>,
    /// The token of a confirmation.
    pub(crate) confirm: Option<String>,
    pub(crate) dry_run: bool,
}

type Observe<'a> = &'a mut dyn FnMut(&[View]) -> NextObservation;

/// Routes the request and does what it asks for. An error of a use case is an outcome, too.
pub(crate) fn carry_out(context: &mut Context, ask: &Ask, observe: Observe<'_>) -> Outcome {
    let bare = without_hints_of_first_part(context, ask);
    let ask = bare.as_ref().unwrap_or(ask);
    let routed = route(&ask.request, &ask.hints, &|word| choose::is_alias(context, word));
    let mut outcome = Outcome {
        action: action(&routed.intent),
        done: Done::Nothing(String::new()),
        others: Vec::new(),
        confidence: routed.confidence,
        trace: routed.trace,
        then: None,
    };
    match routed.intent {
        Intent::Help => outcome.done = Done::Nothing(HELP.to_owned()),
        Intent::Nothing => outcome.done = Done::Nothing(format!("Nothing to do. {HELP}")),
        Intent::Yes => {
            let how = "To confirm, repeat the request with the token of the reply in safety.confirm.";
            outcome.done = Done::Nothing(format!("Nothing is confirmed by that. {how}"));
        }
        Intent::Work(work) => {
            let cloud = routed.in_cloud;
            outcome.done = run(context, ask, work, cloud, &mut outcome).unwrap_or_else(Done::Failed);
        }
        Intent::Control(control) => {
            let is_choice = control.verb == Verb::Choice;
            if let Some((ask, work, in_cloud)) = chosen_work(context, ask, &control) {
                outcome.action = "run";
                outcome.done = run(context, &ask, work, in_cloud, &mut outcome).unwrap_or_else(Done::Failed);
                renumber(context, &ask, &outcome.done, is_choice);
                return outcome;
            }
            let (control, action) = answered(context, control);
            outcome.action = action;
            let then = control.then.clone();
            outcome.done =
                control_tasks(context, ask, control, &mut outcome, observe).unwrap_or_else(Done::Failed);
            renumber(context, ask, &outcome.done, is_choice);
            outcome.then = then.map(|then| follow(context, ask, then, &outcome.done, observe));
        }
    }
    outcome
}

fn action(intent: &Intent) -> &'static str {
    match intent {
        Intent::Control(control) => verb_name(control.verb),
        Intent::Work(_) => "run",
        Intent::Help | Intent::Yes | Intent::Nothing => "none",
    }
}

pub(super) fn verb_name(verb: Verb) -> &'static str {
    match verb {
        Verb::Check | Verb::Environments | Verb::Choice => "check",
        Verb::Wait => "wait",
        Verb::Cancel => "cancel",
        Verb::Results => "results",
        Verb::Setup => "setup",
        Verb::Cleanup => "cleanup",
    }
}

/// What is behind "then", once the first part has gone well.
fn follow(context: &mut Context, ask: &Ask, then: String, first: &Done, observe: Observe<'_>) -> Then {
    let not_yet = |why: &str| Then::NotYet(format!("Not done yet, because {why}: \"{then}\""));
    match first {
        Done::Waited { exceeded: true, .. } => return not_yet("the wait ended first"),
        Done::Waited { views, .. } if views.iter().any(|view| view.state() != State::Completed) => {
            return not_yet("the task did not complete");
        }
        Done::Which(_) | Done::Confirm(_) | Done::Nothing(_) | Done::Failed(_) => {
            return not_yet("the first part is open");
        }
        Done::Cancelled { all, .. } if all.iter().any(|one| one.still_ending) => {
            return not_yet("the task is still ending");
        }
        Done::Cancelled { refused, .. } if !refused.is_empty() => {
            return not_yet("not every task could be cancelled");
        }
        Done::Started { .. }
        | Done::Looked(_)
        | Done::Waited { .. }
        | Done::Read(_)
        | Done::Cancelled { .. }
        | Done::Cleaned(_)
        | Done::Guide(_)
        | Done::Environments(_)
        | Done::Would(_) => {}
    }
    // The hints were about the first part.
    let hints = Hints { operation: None, task: None, ..ask.hints.clone() };
    let ask = Ask { request: then, hints, confirm: None, ..ask.clone() };
    let mut outcome = carry_out(context, &ask, observe);
    if let Done::Confirm(confirmation) = &mut outcome.done {
        // The first part is not to be done again.
        confirmation.request = Some(ask.request);
    }
    Then::Done(Box::new(outcome))
}

fn control_tasks(
    context: &mut Context,
    ask: &Ask,
    control: Control,
    outcome: &mut Outcome,
    observe: Observe<'_>,
) -> Result<Done, TaskError> {
    let purpose = match control.verb {
        Verb::Setup => return set_up(context, ask),
        Verb::Environments => return Ok(Done::Environments(tasks::environments::list(context)?)),
        Verb::Cleanup => return clean_up(context, ask),
        Verb::Check | Verb::Choice => Purpose::Look,
        Verb::Wait => Purpose::Wait,
        Verb::Cancel => Purpose::End,
        Verb::Results => Purpose::Read,
    };
    let (ids, confidence, others) = match choose::choose(context, &control.selector, purpose)? {
        Chosen::Tasks { ids, confidence, others } => (ids, confidence, others),
        Chosen::Ambiguous(choices) => {
            outcome.confidence = 0.5;
            offer(context, ask, outcome.action, &choices, control.then)?;
            return Ok(Done::Which(choices));
        }
        Chosen::Nothing(guidance) => {
            outcome.confidence = 0.0;
            return Ok(Done::Nothing(guidance));
        }
    };
    outcome.confidence = outcome.confidence.min(confidence);
    outcome.trace.push(format!("tasks: {}", names(&ids)));
    if let ([id], [_, ..]) = (ids.as_slice(), others.as_slice()) {
        // The chosen one is the first, so that "#2" means the next.
        let mut choices = vec![choose::choice(&reading::find(context, id.as_str())?)];
        choices.extend(others.iter().cloned());
        offer(context, ask, outcome.action, &choices, None)?;
    }
    outcome.others = others;
    if ask.dry_run && control.verb != Verb::Cancel {
        return Ok(Done::Would(format!("Would {} {}.", said(control.verb), names(&ids))));
    }
    match control.verb {
        Verb::Wait => {
            let limit = control.limit.unwrap_or(USUAL_WAIT);
            let limit = ask.patience.map_or(limit, |patience| limit.min(patience));
            let waited = tasks::wait(context, &ids, Until::All, Some(limit), observe)?;
            Ok(Done::Waited { views: waited.views, exceeded: waited.exceeded })
        }
        Verb::Results => Ok(Done::Read(views(context, &ids)?)),
        Verb::Cancel => cancel(context, ask, &control.selector, ids),
        Verb::Check | Verb::Choice | Verb::Setup | Verb::Cleanup | Verb::Environments => {
            Ok(Done::Looked(views(context, &ids)?))
        }
    }
}

fn said(verb: Verb) -> &'static str {
    match verb {
        Verb::Check | Verb::Choice | Verb::Environments => "look at",
        Verb::Wait => "wait for",
        Verb::Cancel => "cancel",
        Verb::Results => "read the results of",
        Verb::Setup => "explain",
        Verb::Cleanup => "remove",
    }
}

fn names(ids: &[TaskId]) -> String {
    ids.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", ")
}

fn views(context: &mut Context, ids: &[TaskId]) -> Result<Vec<View>, TaskError> {
    let mut views = Vec::with_capacity(ids.len());
    for id in ids {
        let row = reading::find(context, id.as_str())?;
        views.push(tasks::view_task(context, row)?);
    }
    Ok(views)
}

fn set_up(context: &mut Context, ask: &Ask) -> Result<Done, TaskError> {
    if let Some(place) = &ask.cwd {
        context.place.clone_from(place);
    }
    Ok(Done::Guide(github_setup::guide(context, None, None)?))
}

fn cancel(
    context: &mut Context,
    ask: &Ask,
    selector: &Selector,
    ids: Vec<TaskId>,
) -> Result<Done, TaskError> {
    let would = format!("cancel {}", names(&ids));
    let is_wide = selector.which == Which::All || ids.len() > 1;
    let ids = match allowed(context, ask, "cancel", is_wide, &would, ids)? {
        Allowed::Yes(ids) => ids,
        Allowed::No(done) => return Ok(done),
    };
    let mut cancel = |id: &TaskId| {
        let hosted = id.as_str().starts_with("T-cloud-");
        // Codex cannot end what the cloud has.
        let cancel = if hosted { tasks::cancel_unless_submitted } else { tasks::cancel };
        cancel(context, id.as_str(), Some("asked for in plain words"))
    };
    if let [id] = ids.as_slice() {
        return Ok(Done::Cancelled { all: vec![cancel(id)?], refused: Vec::new() });
    }
    let (mut all, mut refused) = (Vec::new(), Vec::new());
    for id in ids {
        match cancel(&id) {
            Ok(cancelled) => all.push(cancelled),
            Err(error) => refused.push((id, error)),
        }
    }
    Ok(Done::Cancelled { all, refused })
}

fn clean_up(context: &mut Context, ask: &Ask) -> Result<Done, TaskError> {
    let look = CleanupRequest { dry_run: true, ..CleanupRequest::default() };
    let found = tasks::cleanup(context, look)?.found.len();
    let runs = if found == 1 { "run" } else { "runs" };
    let would = format!(
        "remove {found} old finished {runs} of this project, and captures and terminals that are old"
    );
    match allowed(context, ask, "cleanup", true, &would, Vec::new())? {
        Allowed::Yes(_) => Ok(Done::Cleaned(Box::new(tasks::cleanup(context, CleanupRequest::default())?))),
        Allowed::No(done) => Ok(done),
    }
}

fn run(
    context: &mut Context,
    ask: &Ask,
    work: Work,
    in_cloud: bool,
    outcome: &mut Outcome,
) -> Result<Done, TaskError> {
    if work.task.trim().is_empty() {
        return Err(TaskError::EmptyTask);
    }
    let resumed = match &work.resume {
        Some(selector) => match choose::choose(context, selector, Purpose::Continue)? {
            Chosen::Tasks { mut ids, confidence, .. } => {
                outcome.confidence = outcome.confidence.min(confidence);
                (!ids.is_empty()).then(|| ids.remove(0))
            }
            Chosen::Ambiguous(choices) => {
                outcome.confidence = 0.5;
                offer(context, ask, "run", &choices, Some(ask.request.clone()))?;
                return Ok(Done::Which(choices));
            }
            Chosen::Nothing(_) if work.may_start_anew => None,
            Chosen::Nothing(guidance) => return Ok(Done::Nothing(guidance)),
        },
        None => None,
    };
    let after = match &work.after {
        Some(selector) => match choose::choose(context, selector, Purpose::Wait)? {
            Chosen::Tasks { ids, confidence, .. } => {
                let [id] = ids.as_slice() else {
                    let why = format!("A task can begin after one other task. Name one of {}.", names(&ids));
                    return Ok(Done::Nothing(why));
                };
                outcome.confidence = outcome.confidence.min(confidence);
                Some(id.clone())
            }
            Chosen::Ambiguous(choices) => {
                outcome.confidence = 0.5;
                offer(context, ask, memory::AFTER, &choices, Some(ask.request.clone()))?;
                return Ok(Done::Which(choices));
            }
            Chosen::Nothing(guidance) => return Ok(Done::Nothing(guidance)),
        },
        None => None,
    };
    let start =
        StartRequest { after: after.as_ref().map(TaskId::to_string), ..start_request(ask, &work, in_cloud)? };
    let place = if work.in_worktree { " in a worktree of its own" } else { "" };
    let order = after.as_ref().map(|id| format!(" after {id}")).unwrap_or_default();
    let would = match &resumed {
        Some(id) => format!("continue {id}{order} with: {}", work.task),
        None => {
            let kind = if in_cloud { "cloud" } else { "local" };
            format!("start a {kind} task{place}{order}: {}", work.task)
        }
    };
    if let Some(id) = &resumed {
        outcome.trace.push(format!("continues: {id}"));
    }
    if let Some(id) = &after {
        outcome.trace.push(format!("begins after: {id}"));
    }
    let above_cost = ask.max_cost_usd.is_some_and(|cost| cost > context.config.max_cost_usd);
    let inherited = match &resumed {
        Some(id) => submit::inherited_sandbox(context, id, &start.caller)?,
        None => None,
    };
    let sandbox = start.sandbox.or(inherited);
    let is_risky = sandbox == Some(Sandbox::DangerFullAccess) || above_cost;
    let would = match ask.max_cost_usd {
        // Nothing measures it yet, so nothing stops there.
        Some(cost) => {
            format!("{would} (for up to {cost} US dollars by your estimate; nothing ends the run there)")
        }
        None => would,
    };
    let would = match inherited {
        Some(Sandbox::DangerFullAccess) if start.sandbox.is_none() => {
            format!("{would} (in the sandbox danger-full-access, like before)")
        }
        Some(_) | None => would,
    };
    let resumed = match allowed(context, ask, "run", is_risky, &would, Vec::from_iter(resumed))? {
        Allowed::Yes(ids) => ids.into_iter().next(),
        Allowed::No(done) => return Ok(done),
    };
    let accepted = match &resumed {
        Some(id) => submit::resume(context, ResumeRequest { of: id.to_string(), ask: start })?,
        None => submit::start(context, start)?,
    };
    let row = reading::find(context, accepted.task_id.as_str())?;
    let view = Box::new(tasks::view_task(context, row)?);
    Ok(Done::Started { accepted, view, resumes: resumed })
}

/// The request of the use case. What it does not know yet is refused, not dropped.
fn start_request(ask: &Ask, work: &Work, in_cloud: bool) -> Result<StartRequest, TaskError> {
    let hints = &ask.hints;
    let named = hints.agent.as_deref().or(work.agent);
    let agent = match named.map(str::parse::<AgentName>) {
        _ if in_cloud => Some(AgentName::CodexCloud),
        Some(Ok(agent)) => Some(agent),
        Some(Err(_)) => return Err(TaskError::NotYet(vec!["agent"])),
        None => None,
    };
    let is_no_cloud_agent = in_cloud && named.is_some_and(|agent| !agent.starts_with("codex"));
    if work.on_every_agent || is_no_cloud_agent {
        return Err(TaskError::NotYet(vec!["agent"]));
    }
    let sandbox = hints.sandbox.as_deref().or(work.sandbox).and_then(|name| name.parse().ok());
    Ok(StartRequest {
        agent,
        task: work.task.clone(),
        cwd: ask.cwd.clone(),
        sandbox,
        isolation: if work.in_worktree { Isolation::Worktree } else { Isolation::None },
        env_id: hints.env_id.clone(),
        caller: ask.caller.clone(),
        ..StartRequest::default()
    })
}
