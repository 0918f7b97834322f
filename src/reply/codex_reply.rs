//! The reply of the tool `codex` and of `delegator do`, with the fields of S4.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::context::TaskError;
use crate::failure::{Failure, Voice};
use crate::model::{State, TaskId, Timestamp};
use crate::reading::View;
use crate::registry::RegistryError;
use crate::reply::codex_task::{CodexTask, ResultSummary, how_it_is};
use crate::reply::next_steps::{NextCall, next_line};
use crate::reply::registry_info::Cancellation;
use crate::reply::report_text::count;
use crate::requests::{Choice, Done, Outcome, Then};
use crate::text::plain;

/// The longest error that a message repeats.
const QUOTED: usize = 300;
/// When a thread, or the registry, may be free again.
const BUSY_THREAD_MS: u64 = 15_000;
const BUSY_REGISTRY_MS: u64 = 1_000;

/// What became of a request in plain words.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CodexReply {
    /// The request was understood and carried out, or says what it needs.
    acknowledged: bool,
    /// What was asked for, even if nothing was found or a confirmation is missing.
    #[schemars(extend("enum" = ["run", "check", "wait", "cancel", "setup", "results", "cleanup", "none"]))]
    action: &'static str,
    /// How the request was understood, with `explain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    decision_trace: Option<Vec<String>>,
    /// Present with `explain`, and where other tasks could have been meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<f64>,
    /// Absent if there is none, or several.
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<CodexTask>,
    /// Several tasks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tasks: Vec<CodexTask>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result_summary: Option<ResultSummary>,
    #[schemars(extend("enum" = ["poll", "await", "none"]))]
    next_action: &'static str,
    /// The reply in words.
    user_message: String,
    /// Numbered from 1: "#2" in the next request means the second.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    alternatives: Vec<Alternative>,
    /// Nothing was done: the same request with this token in `safety.confirm` does it.
    #[serde(skip_serializing_if = "Option::is_none")]
    confirmation: Option<Confirm>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<CodexError>,
    /// What the second part of the request gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    continuation: Option<Box<CodexReply>>,
    /// The wait ended before the task did.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    wait_exceeded: bool,
    /// Nothing was done, because only the routing was asked for.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    dry_run: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    /// Other notes, such as finished runs that nobody has read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) notice: Option<String>,
    /// At most three calls worth making now, the most useful first.
    pub(crate) next: Vec<NextCall>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Alternative {
    number: usize,
    id: TaskId,
    label: String,
    status: &'static str,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Confirm {
    /// What would happen.
    would: String,
    /// For `safety.confirm` of the same request, or of `request`.
    confirm: String,
    /// The request to repeat instead: the part that is not done yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<String>,
    expires_at: Timestamp,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CodexError {
    code: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    /// When the same request may succeed.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
}

impl CodexReply {
    pub(crate) fn of(outcome: &Outcome, explain: bool, voice: Voice) -> Self {
        let mut reply = Self {
            acknowledged: true,
            action: outcome.action,
            next_action: "none",
            decision_trace: explain.then(|| outcome.trace.clone()),
            alternatives: numbered(&outcome.others, 2),
            ..Self::default()
        };
        reply.say(&outcome.done, voice);
        if explain || !reply.alternatives.is_empty() {
            reply.confidence = Some(outcome.confidence);
        }
        if let (Some(task), [_, ..]) = (&reply.task, reply.alternatives.as_slice()) {
            reply.user_message = format!(
                "{} Meant another one? Say \"switch to #2\". (This is {}.)",
                reply.user_message, task.id
            );
        }
        match &outcome.then {
            Some(Then::Done(then)) => {
                let then = Self::of(then, explain, voice);
                reply.user_message = format!("{} Then: {}", reply.user_message, then.user_message);
                reply.next.clone_from(&then.next);
                reply.continuation = Some(Box::new(then));
            }
            Some(Then::NotYet(why)) => reply.user_message = format!("{} {why}", reply.user_message),
            None => {}
        }
        reply
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.error.is_some() || self.continuation.as_ref().is_some_and(|then| then.has_failed())
    }

    /// `codex`, then the message, and what to call next.
    pub(crate) fn text(&self, tool: &str) -> String {
        let error = self.error.as_ref().map(|error| {
            let hint = error.hint.as_ref().map(|hint| format!("hint: {hint}\n")).unwrap_or_default();
            format!("error: {} ({})\n{hint}", error.message, error.code)
        });
        let lines = [
            Some(format!("{tool}\nmessage: {}\n", self.user_message.replace('\n', "\n  "))),
            error,
            self.task.as_ref().map(|task| format!("task_id: {}\nstatus: {}\n", task.id, task.status)),
            self.token().map(|token| format!("confirm: {token}\n")),
            self.decision_trace.as_ref().map(|trace| format!("trace: {}\n", trace.join("; "))),
            self.notice.as_ref().map(|notice| format!("notice: {notice}\n")),
            (!self.next.is_empty()).then(|| next_line(&self.next)),
        ];
        lines.into_iter().flatten().collect()
    }

    /// What a person reads at a shell.
    pub(crate) fn message(&self) -> String {
        let trace = self.decision_trace.iter().flatten().map(|line| format!("  {line}\n"));
        format!("{}\n{}", self.user_message, trace.collect::<String>())
    }

    pub(crate) fn hint(&self) -> Option<&str> {
        self.error.as_ref().and_then(|error| error.hint.as_deref())
    }

    pub(crate) fn token(&self) -> Option<&str> {
        let own = self.confirmation.as_ref().map(|confirm| confirm.confirm.as_str());
        own.or_else(|| self.continuation.as_ref().and_then(|then| then.token()))
    }

    fn say(&mut self, done: &Done, voice: Voice) {
        match done {
            Done::Started { accepted, view, resumes } => {
                let id = &accepted.task_id;
                let task = CodexTask::of(view);
                let waits = view
                    .row
                    .waits_for
                    .as_ref()
                    .map(|task| format!("; it waits for {task}"))
                    .unwrap_or_default();
                let how = match (resumes, task.mode, accepted.deduplicated) {
                    (_, _, true) => format!("The same request is already running as task {id}."),
                    (Some(before), _, _) => {
                        format!("Continuing {before} as task {id}, in the background{waits}.")
                    }
                    (None, "cloud", _) => format!("Started in the cloud as task {id}{waits}."),
                    (None, _, _) if view.state() == State::Pending => format!("Queued as task {id}{waits}."),
                    (None, _, _) => format!("Started task {id}. It runs in the background."),
                };
                self.user_message = format!("{how} Ask \"check my task\" to see how it is doing.");
                self.warnings.clone_from(&accepted.warnings);
                self.follow_up(view);
                self.task = Some(task);
            }
            Done::Looked(views) => self.tell(views),
            Done::Waited { views, exceeded } => {
                self.wait_exceeded = *exceeded;
                self.read(views);
            }
            Done::Read(views) => self.read(views),
            Done::Cancelled { all, refused } => {
                let messages = all.iter().map(|one| Cancellation::of(one, None).message);
                let refused = refused.iter().map(|(id, error)| {
                    let why = Failure::of(error, voice).message;
                    format!("Could not cancel {id}: {}.", plain::line(&why, QUOTED))
                });
                self.user_message = messages.chain(refused).collect::<Vec<_>>().join(" ");
                self.show(all.iter().map(|one| CodexTask::of(&one.view)).collect());
            }
            Done::Cleaned(cleaned) => {
                let runs = count(cleaned.removed.len(), "old run");
                self.user_message = if cleaned.busy {
                    "Another cleanup is running, so this one removed nothing.".to_owned()
                } else {
                    format!("Removed {runs}.")
                };
            }
            Done::Guide(guide) => {
                self.user_message =
                    format!("How to connect {} to Codex Cloud:\n\n{}", guide.repository, guide.guide);
                let verify = format!("In the cloud: {}", guide.verification_task);
                self.next = vec![codex(&verify, "shows whether it worked")];
            }
            Done::Environments(known) => {
                let lines = known.rows.iter().map(|one| format!("\n- {}: {}", one.id, one.name));
                let lines = lines.map(|line| plain::text(&line)).collect::<String>();
                let many = count(known.rows.len(), "environment");
                self.user_message = format!("{many} of Codex Cloud known.{lines}");
            }
            Done::Which(choices) => {
                let lines = (1..).zip(choices).map(|(number, choice)| {
                    format!("{number}) {} {} ({})", choice.id, choice.label, choice.status)
                });
                let list = lines.collect::<Vec<_>>().join("\n");
                self.user_message = format!(
                    "{} tasks could be meant:\n{list}\nWhich one? Say \"#1\", \"latest\", \"all\", or an id.",
                    choices.len()
                );
                self.alternatives = numbered(choices, 1);
                self.next = vec![codex("#1", "chooses the first")];
            }
            Done::Confirm(confirm) => {
                let refused = if confirm.refused { "That token does not confirm this request. " } else { "" };
                let it = confirm.request.as_ref().map_or("it".to_owned(), |part| format!("only \"{part}\""));
                let how = match voice {
                    Voice::Tools => "with the token in safety.confirm within 10 minutes",
                    Voice::Shell => "with --confirm and the token, within 10 minutes",
                };
                self.user_message =
                    format!("{refused}This would {}. To do it, repeat {it} {how}.", confirm.would);
                self.confirmation = Some(Confirm {
                    would: confirm.would.clone(),
                    confirm: confirm.token.clone(),
                    request: confirm.request.clone(),
                    expires_at: confirm.until,
                });
            }
            Done::Would(what) => {
                self.dry_run = true;
                self.user_message = what.clone();
            }
            Done::Nothing(guidance) => {
                self.user_message.clone_from(guidance);
                self.next = vec![codex("list my tasks", "lists the known tasks")];
            }
            Done::Failed(error) => {
                let failure = Failure::of(error, voice);
                self.acknowledged = false;
                self.user_message = plain::line(&failure.message, QUOTED);
                self.error = Some(CodexError {
                    code: failure.code.as_str(),
                    message: failure.message,
                    hint: failure.hint,
                    retry_after_ms: retry_after_ms(error),
                });
            }
        }
    }

    /// Suggests what to say next.
    fn follow_up(&mut self, view: &View) {
        let id = &view.row.id;
        let say = |words: &str, why: &str| codex(&format!("{words} {id}"), why);
        if view.state().is_final() {
            let read = self.action != "results" && self.action != "wait";
            let read = read.then(|| say("show results for", "shows its result"));
            let resumes = view.row.agent.abilities().resumes && view.row.thread_id.is_some();
            let resumed = resumes.then(|| say("continue", "continues its thread"));
            self.next = read.into_iter().chain(resumed).collect();
        } else {
            self.next_action = if self.wait_exceeded { "await" } else { "poll" };
            self.next = vec![say("wait for", "waits for its end"), say("cancel", "ends it")];
        }
    }

    fn show(&mut self, mut tasks: Vec<CodexTask>) {
        if tasks.len() == 1 {
            self.task = tasks.pop();
        } else {
            self.tasks = tasks;
        }
    }

    /// How tasks are doing.
    fn tell(&mut self, views: &[View]) {
        self.user_message = views.iter().map(how_it_is).collect::<Vec<_>>().join("\n");
        if let [view] = views {
            self.follow_up(view);
        }
        self.show(views.iter().map(CodexTask::of).collect());
    }

    fn read(&mut self, views: &[View]) {
        self.tell(views);
        if let [one] = views {
            self.result_summary = ResultSummary::of(one);
        }
        if self.wait_exceeded {
            self.user_message = format!("The wait ended first. {}", self.user_message);
        }
    }
}

fn retry_after_ms(error: &TaskError) -> Option<u64> {
    if matches!(error, TaskError::ThreadBusy { .. }) {
        return Some(BUSY_THREAD_MS);
    }
    matches!(error, TaskError::Registry(RegistryError::Busy(_))).then_some(BUSY_REGISTRY_MS)
}

fn codex(request: &str, why: &str) -> NextCall {
    NextCall::new("codex", json!({ "request": request }), why)
}

fn numbered(choices: &[Choice], from: usize) -> Vec<Alternative> {
    let number = |(number, choice): (usize, &Choice)| Alternative {
        number,
        id: choice.id.clone(),
        label: choice.label.clone(),
        status: choice.status,
    };
    (from..).zip(choices).map(number).collect()
}
