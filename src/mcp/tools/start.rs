//! The fields that `delegate_run` and `delegate_resume` share, and the answer once the task is accepted.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::context::TaskError;
use crate::failure::{Code, Exit, Failure, Voice};
use crate::host::clock;
use crate::mcp::protocol::{Call, Reply, failure, parsed, refused};
use crate::mcp::tools::field::{self, Field, Kind};
use crate::model::{AgentName, Sandbox, SkillsMode, Timestamp};
use crate::reading::{self, Results, ResultsRequest};
use crate::reply as replies;
use crate::reply::{Facts, Report};
use crate::submit::{Accepted, AutopilotRequest, StartRequest};
use crate::tasks::{self, Until};

/// The largest `wait_ms`; the client's own limit may be shorter.
const MOST_WAIT_MS: i64 = 24 * 60 * 60 * 1000;
/// The only named set of limits.
const QUICK: &str = "quick";

pub(crate) const CWD: Field =
    Field::new("cwd", Kind::Text, "Directory to work in. Default: the client's project.")
        .also(&["working_dir", "workingDir"]);
pub(crate) const SANDBOX: Field = Field::new(
    "sandbox",
    Kind::Choice(&Sandbox::NAMES),
    "What the agent may access. Default: read-only. Use workspace-write if it should change files.",
);
/// The primitives' name for `SANDBOX`.
pub(crate) const MODE: Field = SANDBOX.called("mode").also(&["sandbox"]);
/// The primitives' name for `CWD`.
pub(crate) const WORKING_DIR: Field = CWD.called("working_dir").also(&["cwd"]);
pub(crate) const WAIT_MS: Field = Field::new(
    "wait_ms",
    Kind::Integer { least: 0, most: MOST_WAIT_MS },
    "Milliseconds to wait for the result before answering. Default 0: answers at once.",
);
pub(crate) const ROLE: Field =
    Field::new("role", Kind::Text, "Role to give the agent, in a few words. Default: specialist.");
pub(crate) const GIT: Field =
    Field::new("skip_git_repo_check", Kind::Flag, "Allow running outside a git repository. Default: false.");
pub(crate) const ENV_ID: Field = Field::new(
    "env_id",
    Kind::Text,
    "Environment in Codex Cloud: its id or label. Default: the only known one; _codex_cloud_list_environments lists them.",
);
pub(crate) const ATTEMPTS: Field = Field::new(
    "attempts",
    Kind::Integer { least: 1, most: 4 },
    "How often the cloud tries it; the best attempt counts. Default: 1.",
);
pub(crate) const BRANCH: Field =
    Field::new("branch", Kind::Text, "Branch that the cloud starts from. Default: the current one.");
pub(crate) const STARTING_DIFF: Field =
    Field::new("starting_diff", Kind::Flag, "Send uncommitted changes along. Default: false.");
const SKILLS_MODE: Field = Field::new(
    "skills_mode",
    Kind::Choice(&SkillsMode::NAMES),
    "How skills are chosen: by relevance to the task (auto), by name (explicit) or none. Default: auto.",
)
.hidden();
const SKILLS: Field =
    Field::new("skills", Kind::Texts, "Names of the skills to use instead of those that fit best.").hidden();
const MAX_SKILLS: Field = Field::new(
    "max_skills",
    Kind::Integer { least: 0, most: 100 },
    "The most skills to choose automatically. Default: 6.",
)
.hidden();
const REPO_SKILLS: Field =
    Field::new("include_repo_skills", Kind::Flag, "Consider the skills of the repository. Default: true.")
        .hidden();
const GLOBAL_SKILLS: Field =
    Field::new("include_global_skills", Kind::Flag, "Consider the user's own skills. Default: true.")
        .hidden();
/// How skills are chosen.
pub(crate) const SKILL_CHOICE: &[Field] = &[SKILLS_MODE, SKILLS, MAX_SKILLS, REPO_SKILLS, GLOBAL_SKILLS];

const TIMEOUT: &[Field] = &[
    Field::new("idle_s", Kind::Number, "Seconds without output before the run is stopped. Default: 900."),
    Field::new("hard_s", Kind::Number, "Seconds in total. Default: 7200."),
    Field::new("command_s", Kind::Number, "Seconds for one of the agent's commands. Default: 3600."),
];

pub(crate) const LIMITS: Field = Field::new(
    "timeout",
    Kind::ObjectOr(TIMEOUT, &[QUICK]),
    "Limits of the run, or the word `quick` (300 s idle, 1200 s in total).",
);
pub(crate) const IDEMPOTENCY_KEY: Field = Field::new(
    "idempotency_key",
    Kind::Text,
    "Makes the request safe to repeat: the same key and request return the same task.",
);
pub(crate) const DEDUPE: Field = Field::new(
    "dedupe",
    Kind::Flag,
    "Return the task of an identical request from the last minute if it is still running; never for commands. Default: true.",
);
pub(crate) const MODEL: Field = Field::new("model", Kind::Text, "Model, as the agent names it.");
pub(crate) const EFFORT: Field =
    Field::new("reasoning_effort", Kind::Text, "Reasoning effort, as the agent names it.");
pub(crate) const CONFIG: Field = Field::new(
    "config_overrides",
    Kind::Texts,
    "`key=value` settings of the agent's configuration; the operator lists the allowed keys.",
);
pub(crate) const ENV_FROM: Field = Field::new(
    "env_from",
    Kind::Texts,
    "Names of environment variables to pass to the agent; the operator lists the allowed names.",
);
pub(crate) const NETWORK: Field =
    Field::new("network", Kind::Flag, "Let the agent's commands use the network, if the operator allows it.");
pub(crate) const ADD_DIRS: Field =
    Field::new("add_dirs", Kind::Texts, "More directories that the agent may write to, relative to cwd.");
pub(crate) const ALIAS: Field = Field::new("alias", Kind::Text, "Short name for the task.");

/// What applies to a task in the cloud, too.
pub(crate) const CLOUD_OPTIONS: Field = Field::new(
    "options",
    Kind::Rare(&[LIMITS, IDEMPOTENCY_KEY, DEDUPE, ALIAS]),
    "Rarely needed: alias, idempotency_key, dedupe, timeout ({hard_s} in seconds).",
);
pub(crate) const OPTIONS: Field = Field::new(
    "options",
    Kind::Rare(&[
        Field::new("agent", Kind::Choice(&AgentName::NAMES), "Agent to use. Default: codex."),
        MODEL,
        EFFORT,
        CONFIG,
        LIMITS,
        Field::new("max_tokens_total", Kind::Integer { least: 1, most: i64::MAX }, "Not supported yet."),
        IDEMPOTENCY_KEY,
        DEDUPE,
        ALIAS,
        ENV_FROM,
        Field::new(
            "isolation",
            Kind::Choice(&["none", "worktree"]),
            "`worktree`: work in a git worktree on a branch of its own, which delegate_apply brings back. Default: none.",
        ),
        Field::new(
            "after",
            Kind::Text,
            "Start when this task has completed; if it ends otherwise, this one is cancelled.",
        ),
        NETWORK,
        Field::new("output_schema", Kind::Object, "JSON Schema that the answer must match."),
        ADD_DIRS,
        ENV_ID,
        ATTEMPTS,
        BRANCH,
        STARTING_DIFF,
    ]),
    "Rarely needed: model, reasoning_effort, timeout ({idle_s, hard_s, command_s} in seconds, or \"quick\"), network, add_dirs[], \
     isolation (worktree), after (a task), \
     alias, idempotency_key, dedupe (false: run again even if an identical request of the last minute is still running), output_schema, env_from[], \
     config_overrides[], agent (codex); for agent codex_cloud: env_id, attempts, branch, starting_diff.",
);

/// The parsed arguments of the tools that start a task.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Start {
    #[serde(flatten)]
    pub(crate) request: StartRequest,
    /// Only for `delegate_autopilot`.
    #[serde(flatten)]
    pub(crate) autopilot: AutopilotRequest,
    wait_ms: u64,
    format: Format,
    /// Only for `delegate_resume`.
    task_id: Option<String>,
    thread_id: Option<String>,
}

/// The format of a reply's text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    #[default]
    Markdown,
    Json,
}

impl Format {
    /// What a call asks for, even if its other arguments are refused.
    pub(crate) fn asked_for(given: &Map<String, Value>) -> Self {
        let format = given.get("format").cloned().unwrap_or_default();
        serde_json::from_value(format).unwrap_or_default()
    }
}

impl Start {
    /// Parses the arguments. The error for an unknown sandbox lists those that the configuration allows.
    pub(crate) fn of(call: &Call, given: Map<String, Value>) -> Result<Self, Failure> {
        let max = call.context.config.max_sandbox;
        for name in [SANDBOX.name, MODE.name] {
            let sandbox = given.get(name).and_then(Value::as_str);
            if let Some(word) = sandbox.filter(|word| !Sandbox::NAMES.contains(word)) {
                let allowed: Vec<&str> =
                    Sandbox::ALL.into_iter().filter(|one| *one <= max).map(Sandbox::as_str).collect();
                return Err(field::unknown_word(name, word, &allowed));
            }
        }
        let mut read = field::read(call.tool.fields, given)?;
        for (of_primitives, own) in [(MODE.name, SANDBOX.name), (WORKING_DIR.name, CWD.name)] {
            if let Some(value) = read.remove(of_primitives) {
                read.insert(own.to_owned(), value);
            }
        }
        if let Some(Value::Object(options)) = read.remove(OPTIONS.name) {
            read.extend(options);
        }
        let unsupported = unsupported(&read);
        if !unsupported.is_empty() {
            return Err(failure(&TaskError::NotYet(unsupported)));
        }
        if read.get("timeout").is_some_and(|timeout| timeout == QUICK) {
            read.insert("timeout".into(), json!({ "idle_s": 300, "hard_s": 1200 }));
        }
        let start: Self = parsed(read)?;
        Ok(Self { request: StartRequest { caller: call.caller(), ..start.request }, ..start })
    }

    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// Whether the call waits for the result.
    pub(crate) fn waits(&self) -> bool {
        self.wait_ms > 0
    }

    /// The task or thread to resume.
    pub(crate) fn resumed(&self) -> Result<String, Failure> {
        let hint = "give one of them: the task to continue, or the agent's thread";
        match (&self.task_id, &self.thread_id) {
            (Some(one), None) | (None, Some(one)) => Ok(one.clone()),
            (None, None) => Err(refused("neither `task_id` nor `thread_id` is given", hint)),
            (Some(_), Some(_)) => Err(refused("both `task_id` and `thread_id` are given", hint)),
        }
    }

    /// The task as it is now or, if the call waits, at the end of the wait; and whether the wait timed out.
    pub(crate) fn watch(&self, call: &mut Call, accepted: &Accepted) -> Result<(Results, bool), Failure> {
        // The task is accepted: a caller that does not get its id would start it again.
        let told = |error: TaskError| {
            let id = &accepted.task_id;
            let message = failure(&error).message;
            let message = format!(
                "task `{id}` was accepted and is running, but its state could not be read: {message}"
            );
            let hint = format!("do not start it again: delegate_wait {{\"task_id\": \"{id}\"}} waits for it");
            Failure::new(Code::Lasting, Exit::Machine, message, Some(hint)).about("task_id", id.as_str())
        };
        if !self.waits() {
            let row = reading::find(&call.context, accepted.task_id.as_str()).map_err(told)?;
            let view = tasks::view_task(&mut call.context, row).map_err(told)?;
            return Ok((reading::gather(view, ResultsRequest::default()), false));
        }
        let limit = Duration::from_millis(self.wait_ms).min(call.safe_wait);
        let id = std::slice::from_ref(&accepted.task_id);
        let waited =
            tasks::wait(&mut call.context, id, Until::All, Some(limit), &mut call.observe).map_err(told)?;
        let view = waited.views.into_iter().next();
        let view = view.ok_or_else(|| told(TaskError::NotFound(accepted.task_id.to_string())))?;
        call.read(std::iter::once(&view));
        Ok((reading::gather(view, ResultsRequest::default()), waited.exceeded))
    }

    /// What the reply says: an acknowledgement or, after a wait, the result.
    pub(crate) fn outcome(&self, call: &mut Call, accepted: &Accepted) -> Result<(Report, Results), Failure> {
        let (results, wait_exceeded) = self.watch(call, accepted)?;
        let now = clock::now();
        let report = self.report(call, accepted, &results, wait_exceeded, now);
        let report = if self.waits() {
            report.waited(&results, &Facts::of(&results.view), now)
        } else {
            report.acknowledging(results.view.state())
        };
        Ok((report, results))
    }

    /// The reply that says so.
    pub(crate) fn answer(&self, call: &mut Call, accepted: &Accepted) -> Result<Reply, Failure> {
        let (report, _) = self.outcome(call, accepted)?;
        let text = replies::page(call.tool.name, &report, None, call.context.config.cuts());
        Ok(call.reply(&report, text)?.in_format(self.format))
    }

    /// The report of a task that was just accepted, with what only its caller needs.
    pub(crate) fn report(
        &self,
        call: &mut Call,
        accepted: &Accepted,
        results: &Results,
        wait_exceeded: bool,
        now: Timestamp,
    ) -> Report {
        let report = Report::of(results, &Facts::of(&results.view), now, Voice::Tools);
        let warnings = accepted.warnings.iter().cloned().chain(report.warnings).collect();
        let own = std::slice::from_ref(&accepted.task_id);
        let notice = if self.waits() { call.notice(own) } else { call.brief_notice(own) };
        Report { warnings, notice, deduplicated: accepted.deduplicated, wait_exceeded, ..report }
    }
}

/// The fields that ask for what is not supported yet. They are refused rather than ignored.
fn unsupported(read: &Map<String, Value>) -> Vec<&'static str> {
    let others = [("max_tokens_total", read.contains_key("max_tokens_total"))];
    others.into_iter().filter(|(_, asked)| *asked).map(|(field, _)| field).collect()
}
