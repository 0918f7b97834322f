//! The reply of the tool `codex` and of `delegator do`, with the fields of S4.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::context::TaskError;
use crate::failure::{Failure, Voice};
use crate::host::clock;
use crate::model::{Progress, State, TaskId, Timestamp, WorkKind};
use crate::reading::View;
use crate::registry::RegistryError;
use crate::reply::next_steps::{NextCall, next_line};
use crate::reply::registry_info::Cancellation;
use crate::reply::report_text::{count, duration};
use crate::reply::task_facts::Facts;
use crate::requests::{Choice, Done, Outcome, Then, status};
use crate::text::plain;

/// The longest sentence of an agent that a message repeats.
const QUOTED: usize = 300;
const MOST_FILES: usize = 20;
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
#[serde(rename_all = "camelCase")]
struct CodexTask {
    id: TaskId,
    #[schemars(extend("enum" = ["local", "cloud"]))]
    mode: &'static str,
    #[schemars(extend("enum" = ["pending", "working", "completed", "failed", "canceled", "unknown"]))]
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    progress: Option<CodexProgress>,
    created_at: Timestamp,
    updated_at: Timestamp,
    /// How long the result is kept from now on.
    ttl_ms: u64,
    /// Only while the task is not over.
    #[serde(skip_serializing_if = "Option::is_none")]
    recommended_poll_ms: Option<u32>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CodexProgress {
    /// Only with a plan of the agent's.
    #[serde(skip_serializing_if = "Option::is_none")]
    percent: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    current_step: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_steps: Option<usize>,
    step_description: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    steps: Vec<CodexStep>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct CodexStep {
    key: String,
    label: String,
    done: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ResultSummary {
    /// Tests that passed, if tests were seen to run.
    #[serde(skip_serializing_if = "Option::is_none")]
    passed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u64>,
    summary: String,
    /// `agent` if the agent wrote the summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["agent"]))]
    report_by: Option<&'static str>,
    /// Files that the run changed; `inspect_output` and `delegate_results` have the rest.
    artifacts: Vec<String>,
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
    token: String,
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
            reply.user_message =
                format!("{} Meant another one? Say \"switch to #2\". (This is {}.)", reply.user_message, task.id);
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
            self.confirmation.as_ref().map(|confirm| format!("confirm: {}\n", confirm.token)),
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
        self.confirmation.as_ref().map(|confirm| confirm.token.as_str())
    }

    fn say(&mut self, done: &Done, voice: Voice) {
        match done {
            Done::Started { accepted, view, resumes } => {
                let id = &accepted.task_id;
                let task = CodexTask::of(view);
                let how = match (resumes, task.mode, accepted.deduplicated) {
                    (_, _, true) => format!("The same request is already running as task {id}."),
                    (Some(before), _, _) => format!("Continuing {before} as task {id}, in the background."),
                    (None, "cloud", _) => format!("Started in the cloud as task {id}."),
                    (None, _, _) if view.state() == State::Pending => format!("Queued as task {id}."),
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
            Done::Cancelled(all) => {
                let messages = all.iter().map(|one| Cancellation::of(one, None).message);
                self.user_message = messages.collect::<Vec<_>>().join(" ");
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
                self.user_message = format!("How to connect {} to Codex Cloud:\n\n{}", guide.repository, guide.guide);
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
                self.user_message =
                    format!("{} tasks could be meant:\n{list}\nWhich one? Say \"#1\", \"latest\", \"all\", or an id.", choices.len());
                self.alternatives = numbered(choices, 1);
                self.next = vec![codex("#1", "chooses the first")];
            }
            Done::Confirm(confirm) => {
                let refused = if confirm.refused { "That token does not confirm this request. " } else { "" };
                let how = match voice {
                    Voice::Tools => "repeat it with the token in safety.confirm within 10 minutes",
                    Voice::Shell => "repeat it with --confirm and the token, within 10 minutes",
                };
                self.user_message = format!("{refused}This would {}. To do it, {how}.", confirm.would);
                let (would, token) = (confirm.would.clone(), confirm.token.clone());
                self.confirmation = Some(Confirm { would, token, expires_at: confirm.until });
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

fn how_it_is(view: &View) -> String {
    let facts = Facts::of(view);
    let id = &view.row.id;
    let said = plain::line(&facts.summary, QUOTED);
    let by = if facts.reported { " The agent reports: " } else { " " };
    let took = duration(facts.elapsed_ms(clock::now()));
    match view.state() {
        State::Pending => format!("Task {id} is queued."),
        State::Working => format!("Task {id} is running for {took}: {said}."),
        State::Unconfirmed => format!("Task {id} was submitted, but the cloud has not confirmed it yet."),
        State::InputRequired => {
            format!("Task {id} asks: {}", plain::line(view.question().unwrap_or(&said), QUOTED))
        }
        State::Completed => format!("Task {id} completed in {took}.{by}{said}"),
        State::Failed => format!("Task {id} failed after {took}.{by}{said}"),
        State::TimedOut => format!("Task {id} was stopped by a limit after {took}.{by}{said}"),
        State::Cancelled => format!("Task {id} was canceled.{by}{said}"),
    }
    .trim_end()
    .to_owned()
}

impl CodexTask {
    fn of(view: &View) -> Self {
        let row = &view.row;
        let is_final = view.state().is_final();
        let progress = view.progress.as_ref().filter(|_| !is_final).map(CodexProgress::of);
        let last_event = view.progress.as_ref().and_then(|progress| progress.last_event_at);
        let updated_at = row.completed_at.or(last_event).or(row.started_at).unwrap_or(row.created_at);
        let hosted = row.agent.abilities().work == WorkKind::Hosted;
        let kept = u64::try_from(view.kept_for.as_millis()).unwrap_or(u64::MAX);
        let age = if is_final { clock::now().millis_since(updated_at) } else { 0 };
        Self {
            id: row.id.clone(),
            mode: if hosted { "cloud" } else { "local" },
            status: status(view.state()),
            progress,
            created_at: row.created_at,
            updated_at,
            ttl_ms: kept.saturating_sub(age),
            recommended_poll_ms: (!is_final).then_some(row.poll_frequency_ms),
        }
    }
}

impl CodexProgress {
    fn of(progress: &Progress) -> Self {
        let done = progress.steps.iter().filter(|step| step.done).count();
        let planned = !progress.steps.is_empty();
        Self {
            percent: progress.percent,
            current_step: planned.then_some((done + 1).min(progress.steps.len())),
            total_steps: planned.then_some(progress.steps.len()),
            step_description: plain::text(&progress.activity),
            steps: (1..)
                .zip(&progress.steps)
                .map(|(number, step)| CodexStep {
                    key: format!("step-{number}"),
                    label: plain::text(&step.text),
                    done: step.done,
                })
                .collect(),
        }
    }
}

impl ResultSummary {
    fn of(view: &View) -> Option<Self> {
        let facts = Facts::of(view);
        let evidence = view.evidence.as_ref().filter(|_| view.state().is_final());
        let tests = evidence.and_then(|evidence| evidence.tests.as_ref());
        let files = evidence.map(|evidence| evidence.files.changes.as_slice()).unwrap_or_default();
        view.state().is_final().then(|| Self {
            passed: tests.and_then(|tests| tests.passed),
            failed: tests.and_then(|tests| tests.failed),
            duration_ms: facts.duration_ms,
            report_by: facts.reported.then_some("agent"),
            summary: facts.summary,
            artifacts: files.iter().take(MOST_FILES).map(|file| plain::text(&file.path)).collect(),
        })
    }
}
