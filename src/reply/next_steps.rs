//! Suggests what to do next: as tool calls, which are also part of the structure, or as commands.

use std::fmt::{self, Display, Formatter};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::agents::tells_of_refusal;
use crate::failure::Voice;
use crate::model::{FailureCode, InlineLimits, Outcome, Request, Sandbox, State, TaskId};
use crate::reading::{AgentAnswer, Results, View};
use crate::reply::task_facts::Trouble;

/// No reply suggests more.
const MOST: usize = 3;
/// The most tasks that one suggested wait names.
const MOST_WAITED: usize = 10;
/// The default length at which lines are cut.
const LINE: usize = 200;
/// The file with an agent's answer.
const ANSWER: &str = "last_message.json";
/// A longer task is not repeated.
const LONGEST_TASK: usize = 300;
/// Stands for what the caller has to write.
const WORDS: &str = "...";

/// A tool call worth making now.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct NextCall {
    tool: &'static str,
    /// `...` stands for words of your own.
    arguments: Map<String, Value>,
    /// What the call does.
    why: String,
}

impl NextCall {
    pub(crate) fn new(tool: &'static str, arguments: Value, why: impl Into<String>) -> Self {
        let arguments = if let Value::Object(arguments) = arguments { arguments } else { Map::new() };
        Self { tool, arguments, why: why.into() }
    }
}

/// `delegate_wait {"task_id": "T-local-…"} waits for its end`.
impl Display for NextCall {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let arguments = self.arguments.iter().map(|(name, value)| format!("\"{name}\": {value}"));
        let arguments: Vec<String> = arguments.collect();
        write!(f, "{} {{{}}} {}", self.tool, arguments.join(", "), self.why)
    }
}

/// The end of a text: the same calls as in the structure, a line each.
pub(crate) fn next_line(calls: &[NextCall]) -> String {
    if calls.is_empty() {
        return "next: (none)\n".to_owned();
    }
    calls.iter().map(|call| format!("next: {call}\n")).collect()
}

/// Waits for the first of several tasks.
pub(crate) fn wait_for(open: &[&TaskId]) -> Option<NextCall> {
    let arguments = match open {
        [] => return None,
        [one] => json!({ "task_id": one }),
        several => json!({ "task_ids": several.iter().take(MOST_WAITED).collect::<Vec<_>>() }),
    };
    let why = if open.len() == 1 { "waits for its end" } else { "waits for the first to end" };
    Some(NextCall::new("delegate_wait", arguments, why))
}

/// For a reply about several tasks.
pub(crate) fn next_of_several(all: &[Results]) -> Vec<NextCall> {
    let of = |is_final: bool| all.iter().filter(move |one| one.view.state().is_final() == is_final);
    let shown = of(true).next().map(|one| {
        NextCall::new("delegate_results", json!({ "task_id": one.view.row.id }), "shows it in full")
    });
    let open: Vec<&TaskId> = of(false).map(|one| &one.view.row.id).collect();
    shown.into_iter().chain(wait_for(&open)).collect()
}

/// A task and what can be done with it.
#[derive(Debug, Clone)]
pub(crate) struct Next {
    id: TaskId,
    state: State,
    can_resume: bool,
    /// Its worktree has changes that were not applied.
    applies: bool,
    /// The first diff that came back from the cloud.
    changes: Option<String>,
    /// It has output.
    printed: bool,
    /// Its output is in the same reply, as far as it fits.
    shown: bool,
    /// A part of that output was left out.
    cut: bool,
    /// Its answer does not fit into a line of text.
    long: bool,
    /// Its answer does not fit into a reply.
    too_long: bool,
    /// The file with the answer has nothing else.
    kept_alone: bool,
    /// The answer is in the same reply, as far as it fits.
    answered: bool,
    /// The caller only wants to know that the task was accepted.
    brief: bool,
    /// The sandbox that allows what the run was refused, if the configuration permits it.
    allowing: Option<Sandbox>,
    /// What trying again does, if that may help.
    retry: Option<&'static str>,
    /// The arguments that start the same work again.
    again: Option<Map<String, Value>>,
}

impl Next {
    pub(crate) fn of(view: &View) -> Self {
        let thread = view.result.as_ref().is_some_and(|result| result.thread_id.is_some())
            || view.row.thread_id.is_some();
        let gone = view.result.as_ref().is_some_and(|result| match &result.outcome {
            Outcome::Failed { fault } => fault.thread_gone,
            Outcome::Completed | Outcome::Cancelled { .. } | Outcome::TimedOut { .. } => false,
        });
        let can_resume = view.row.agent.abilities().resumes && thread && !gone;
        let said = view.result.as_ref().map_or("", |result| result.summary.as_str());
        Self {
            id: view.row.id.clone(),
            state: view.state(),
            can_resume,
            applies: applies(view),
            changes: None,
            printed: view.missing_output().is_none(),
            shown: false,
            cut: false,
            long: said.chars().nth(LINE).is_some(),
            too_long: false,
            kept_alone: false,
            answered: false,
            brief: false,
            allowing: allowing(view),
            retry: view.result.as_ref().and_then(|result| Trouble::of(result)?.retry()),
            again: view.request.as_ref().and_then(again),
        }
    }

    /// For a task that was just accepted.
    pub(crate) fn started(id: &TaskId) -> Self {
        Self {
            id: id.clone(),
            state: State::Working,
            can_resume: false,
            applies: false,
            changes: None,
            printed: true,
            shown: false,
            cut: false,
            long: false,
            too_long: false,
            kept_alone: false,
            answered: false,
            brief: false,
            allowing: None,
            retry: None,
            again: None,
        }
    }

    /// For a reply with these results.
    pub(crate) fn beside(results: &Results) -> Self {
        let view = &results.view;
        let said = view.result.as_ref().map_or("", |result| result.summary.as_str());
        let inline = view.request.as_ref().map_or_else(InlineLimits::default, |request| request.inline);
        let too_long = match &results.answer {
            Some(answer) => matches!(answer, AgentAnswer::TooLong { .. }),
            None => inline.end(said).is_some(),
        };
        let kept_alone = results.artifacts.iter().any(|file| file.name.as_str() == ANSWER);
        let changes = results.changes().next().map(|file| file.name.to_string());
        let cut = results.output.as_ref().is_some_and(|output| output.stdout.cut || output.stderr.cut);
        let shown = results.output.is_some();
        Self { shown, cut, too_long, kept_alone, changes, ..Self::of(view) }
    }

    /// For a reply that also has the agent's whole answer.
    pub(crate) fn answered(self) -> Self {
        Self { answered: true, ..self }
    }

    /// For an acknowledgement, which is as short as possible.
    pub(crate) fn acknowledging(self) -> Self {
        Self { brief: true, ..self }
    }

    /// One action per line, the most useful first.
    pub(crate) fn actions(&self, voice: Voice) -> Vec<String> {
        match voice {
            Voice::Shell => self.commands(),
            Voice::Tools => self.calls().iter().map(ToString::to_string).collect(),
        }
    }

    /// The most useful first.
    pub(crate) fn calls(&self) -> Vec<NextCall> {
        let id = self.id.as_str();
        let of = |tool, why| NextCall::new(tool, json!({ "task_id": id }), why);
        let resume = |why| NextCall::new("delegate_resume", json!({ "task_id": id, "task": WORDS }), why);
        match self.state {
            State::InputRequired => {
                vec![resume("answers its question"), of("delegate_cancel", "ends it")]
            }
            State::Pending | State::Working | State::Unconfirmed if self.brief => {
                vec![of("delegate_wait", "waits for its end")]
            }
            State::Pending | State::Working | State::Unconfirmed => vec![
                of("delegate_wait", "waits for its end; the run continues meanwhile"),
                of("delegate_cancel", self.cancelling()),
            ],
            State::Completed | State::Failed | State::TimedOut | State::Cancelled => {
                let allowed = self.allowing.and_then(|sandbox| {
                    let (tool, mut arguments, why) = if self.can_resume {
                        let arguments = Map::from_iter([("task_id".to_owned(), id.into())]);
                        ("delegate_resume", arguments, "continues with what it was refused allowed")
                    } else {
                        (
                            "delegate_run",
                            self.again.clone()?,
                            "runs it again with what it was refused allowed",
                        )
                    };
                    arguments.insert("sandbox".into(), sandbox.as_str().into());
                    Some(NextCall::new(tool, arguments.into(), why))
                });
                let retry = self.retry.filter(|_| allowed.is_none()).and_then(|why| match self.can_resume {
                    true => Some(of("delegate_resume", why)),
                    false => Some(NextCall::new("delegate_run", self.again.clone()?.into(), why)),
                });
                let whole = match (self.answered, self.long, self.too_long) {
                    (false, true, _) => Some(of("delegate_results", "shows its whole answer")),
                    (true, _, true) => {
                        let arguments = if self.kept_alone {
                            json!({ "task_id": id, "artifact": ANSWER })
                        } else {
                            json!({ "task_id": id, "artifact": "result.json", "json_path": "$.summary" })
                        };
                        Some(NextCall::new("inspect_output", arguments, "reads its whole answer"))
                    }
                    (false, false, _) | (true, _, false) => None,
                };
                let look = match (self.printed, self.shown, self.cut) {
                    (false, ..) => Some(NextCall::new("delegate_status", json!({}), "lists the other tasks")),
                    (true, false, _) => {
                        let arguments = json!({ "task_id": id, "include_output": true });
                        Some(NextCall::new("delegate_results", arguments, "shows what it printed"))
                    }
                    (true, true, true) => Some(of("inspect_output", "reads its output in pieces")),
                    (true, true, false) => None,
                };
                let resume = (self.can_resume && retry.is_none()).then(|| resume("continues its thread"));
                let changes = self.changes.as_ref().map(|name| {
                    let arguments = json!({ "task_id": id, "artifact": name });
                    NextCall::new("inspect_output", arguments, "reads its changes")
                });
                let apply =
                    self.applies.then(|| of("delegate_apply", "brings its changes into the checkout"));
                let calls = [apply, changes, allowed, retry, whole, look, resume];
                calls.into_iter().flatten().take(MOST).collect()
            }
        }
    }

    /// What cancelling does.
    fn cancelling(&self) -> &'static str {
        // Codex Cloud has no cancel.
        let is_sent = self.id.is_hosted() && self.state != State::Pending;
        if is_sent { "stops following it; the cloud goes on with it" } else { "ends it" }
    }

    fn commands(&self) -> Vec<String> {
        let Self { id, .. } = self;
        match self.state {
            State::Pending => vec![
                format!("`delegator wait {id}` waits for its end"),
                format!("`delegator cancel {id}` takes it out of the queue"),
            ],
            State::InputRequired => vec![
                format!("`delegator resume {id} \"...\"` answers its question"),
                format!("`delegator cancel {id}` ends it"),
            ],
            State::Working | State::Unconfirmed => vec![
                format!("`delegator wait {id}` waits for its end"),
                format!("`delegator logs -f {id}` shows its output"),
                format!("`delegator cancel {id}` {}", self.cancelling()),
            ],
            State::Completed | State::Failed | State::TimedOut | State::Cancelled => {
                let look = if self.printed {
                    format!("`delegator logs {id}` shows what it did")
                } else {
                    "`delegator status` lists the other tasks".to_owned()
                };
                let resume = format!("`delegator resume {id} \"...\"` continues its thread");
                let whole = format!(
                    "`delegator inspect {id} result.json --json-path '$.summary'` reads the whole summary"
                );
                let allowed = self.allowing.filter(|_| self.can_resume).map(|sandbox| {
                    format!("`delegator resume {id} --sandbox {sandbox}` continues with what it was refused allowed")
                });
                let hidden = if self.answered { self.too_long } else { self.long };
                let more = [hidden.then_some(whole), self.can_resume.then_some(resume)];
                let changes = self
                    .changes
                    .as_ref()
                    .map(|name| format!("`delegator inspect {id} {name}` shows its changes"));
                changes.into_iter().chain(allowed).chain([look]).chain(more.into_iter().flatten()).collect()
            }
        }
    }
}

/// The arguments of `delegate_run` that start the same work again, if a client may start it.
fn again(request: &Request) -> Option<Map<String, Value>> {
    let is_own = request.work.is_child() && request.resume.is_none() && request.job_of.is_none();
    let is_command = request.agent.abilities().is_command_line();
    if !is_own || is_command && request.jail.is_none() {
        return None;
    }
    let task = if request.task.chars().nth(LONGEST_TASK).is_some() { WORDS } else { request.task.as_str() };
    let settings: Vec<String> =
        request.config_overrides.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let mut options = json!({
        "agent": request.agent.as_str(), "model": request.model, "reasoning_effort": request.reasoning_effort,
        "network": request.network, "add_dirs": request.add_dirs, "env_from": request.env_from,
        "config_overrides": settings, "output_schema": request.output_schema,
    });
    let is_default = |value: &Value| value.is_null() || value == false || value == &json!([]);
    if let Some(options) = options.as_object_mut() {
        options.retain(|name, value| !is_default(value) && (name != "agent" || value != "codex"));
    }
    let arguments = json!({
        "task": task, "cwd": request.cwd, "sandbox": request.sandbox.as_str(),
        "skip_git_repo_check": request.skip_git_repo_check, "options": options,
    });
    let Value::Object(mut arguments) = arguments else { return None };
    arguments.retain(|_, value| !is_default(value) && value != &json!({}));
    Some(arguments)
}

/// Whether a completed run has changes in a worktree, or on a branch, that were not applied.
fn applies(view: &View) -> bool {
    let end = view.result.as_ref().and_then(|result| result.worktree.as_ref());
    let is_changed = end.is_some_and(|end| end.is_changed());
    view.state() == State::Completed && is_changed && !view.dir.applied().exists()
}

/// The next wider sandbox, if a run was refused something and the configuration permits that sandbox.
fn allowing(view: &View) -> Option<Sandbox> {
    let evidence = view.evidence.as_ref();
    let refused = evidence.and_then(|evidence| evidence.commands.as_ref()).is_some_and(|one| one.refused > 0)
        || evidence
            .and_then(|evidence| evidence.errors.as_ref())
            .is_some_and(|errors| !errors.refused.is_empty())
        || view.row.code.as_deref() == Some(FailureCode::Sandbox.as_str())
        || view
            .result
            .as_ref()
            .is_some_and(|result| result.warnings.iter().any(|warning| tells_of_refusal(warning)));
    let wider = match view.request.as_ref().filter(|_| refused)?.sandbox {
        Sandbox::ReadOnly => Sandbox::WorkspaceWrite,
        Sandbox::WorkspaceWrite => Sandbox::DangerFullAccess,
        Sandbox::DangerFullAccess => return None,
    };
    (wider <= view.max_sandbox).then_some(wider)
}
