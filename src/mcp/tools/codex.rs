//! `codex`: takes a request in plain words and does what it asks for.

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::failure::{Failure, Voice};
use crate::mcp::protocol::{Call, Reply, arguments, refused};
use crate::mcp::tools::field::{Field, Kind};
use crate::mcp::tools::start::Format;
use crate::mcp::tools::{Effect, FORMAT, Tool};
use crate::model::Sandbox;
use crate::reply::{Budget, CodexReply, advertised_codex};
use crate::requests::{self, Ask};
use crate::router::{Hints, Operation};

const HINTS: &[Field] = &[
    Field::new(
        "operation",
        Kind::Choice(&Operation::NAMES),
        "What to do, instead of reading it off the words.",
    ),
    Field::new("mode", Kind::Choice(&["auto", "local", "cloud"]), "Where work runs."),
    Field::new("task_id", Kind::Text, "The task that is meant."),
    Field::new("timeout_ms", Kind::Integer { least: 0, most: 86_400_000 }, "How long to wait.")
        .also(&["timeout"]),
    Field::new("sandbox", Kind::Choice(&Sandbox::NAMES), "What the agent may access."),
    Field::new("agent", Kind::Text, "The agent to use."),
    Field::new("env_id", Kind::Text, "The environment in Codex Cloud."),
    Field::new("poll_frequency_ms", Kind::Ignored, "Has no effect: nothing is polled here.").hidden(),
    // Every run is asynchronous.
    Field::new("sync", Kind::Choice(&["async", "auto"]), "Has no effect.").hidden(),
];
const CONTEXT: &[Field] = &[
    Field::new("working_dir", Kind::Text, "Directory to work in.").also(&["cwd"]),
    Field::new("repo_root", Kind::Text, "The repository, where `working_dir` is not given."),
];
const SAFETY: &[Field] = &[
    Field::new(
        "require_confirmation",
        Kind::Flag,
        "Ask for confirmation before anything is started or ended.",
    ),
    Field::new(
        "max_cost_usd",
        Kind::Number,
        "What it may cost; above the configured amount, a confirmation is needed.",
    ),
    Field::new("confirm", Kind::Text, "The token of the reply that asked for confirmation."),
];

pub(crate) const TOOL: Tool = Tool {
    name: "codex",
    title: "Say it in plain words",
    about: "Takes plain words: \"run the tests\", \"check my task\", \"wait for it\", \"show the results\", \"cancel \
            T-local-0123456789ab\", \"continue\". Starts work in the background and returns its id, like asking a \
            colleague. Exact control: delegate_run and the other delegate_* tools.",
    search_hint: "run, check, wait for, cancel a codex task in natural language",
    at_hand: false,
    internal: false,
    fields: &[
        Field::new("request", Kind::Text, "What you want, in the user's words.").required().also(&["instruction"]),
        Field::new(
            "hints",
            Kind::Rare(HINTS),
            "Overrides the words: operation (run, check, wait, cancel, setup, results), mode (local, cloud), taskId, timeoutMs, sandbox, agent, envId.",
        )
        .also(&["preference"]),
        Field::new("context", Kind::Rare(CONTEXT), "working_dir, repo_root."),
        Field::new("safety", Kind::Rare(SAFETY), "require_confirmation, max_cost_usd, confirm (the token of a reply)."),
        Field::new("dry_run", Kind::Flag, "Only say what would happen."),
        Field::new("explain", Kind::Flag, "Add how the request was understood."),
        FORMAT.hidden(),
    ],
    category: None,
    output: advertised_codex,
    effect: Effect::StartsElsewhere,
    waits: false,
    answer,
};

#[derive(Debug, Deserialize)]
struct Given {
    request: String,
    #[serde(default)]
    hints: GivenHints,
    #[serde(default)]
    context: Place,
    #[serde(default)]
    safety: Safety,
    #[serde(default)]
    dry_run: bool,
    #[serde(default)]
    explain: bool,
    #[serde(default)]
    format: Format,
}

#[derive(Debug, Default, Deserialize)]
struct GivenHints {
    operation: Option<String>,
    mode: Option<String>,
    task_id: Option<String>,
    timeout_ms: Option<u64>,
    sandbox: Option<String>,
    agent: Option<String>,
    env_id: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct Place {
    working_dir: Option<PathBuf>,
    repo_root: Option<PathBuf>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Safety {
    require_confirmation: bool,
    max_cost_usd: Option<f64>,
    confirm: Option<String>,
}

fn answer(call: &mut Call, given: Map<String, Value>) -> Result<Reply, Failure> {
    let given: Given = arguments(call.tool, given)?;
    if given.request.trim().is_empty() {
        return Err(refused("`request` is empty", "say what you want, such as \"run the tests\""));
    }
    let ask = Ask {
        request: given.request,
        hints: Hints {
            operation: given.hints.operation.as_deref().and_then(Operation::named),
            in_cloud: given.hints.mode.as_deref().filter(|mode| *mode != "auto").map(|mode| mode == "cloud"),
            task: given.hints.task_id,
            limit: given.hints.timeout_ms.map(Duration::from_millis),
            agent: given.hints.agent,
            env_id: given.hints.env_id,
            sandbox: given.hints.sandbox,
        },
        cwd: given.context.working_dir.or(given.context.repo_root),
        caller: call.caller(),
        patience: Some(call.safe_wait),
        require_confirmation: given.safety.require_confirmation,
        max_cost_usd: given.safety.max_cost_usd,
        confirm: given.safety.confirm,
        dry_run: given.dry_run,
    };
    let outcome = requests::carry_out(&mut call.context, &ask, &mut call.observe);
    call.read(outcome.read().iter());
    let shown: Vec<_> = outcome.read().iter().map(|view| view.row.id.clone()).collect();
    let mut reply = CodexReply::of(&outcome, given.explain, Voice::Tools);
    reply.notice = call.notice(&shown);
    let text = reply.text(call.tool.name);
    let failed = reply.has_failed();
    Ok(call.reply(&reply, text)?.in_format(given.format).within(Budget::MOST).failed(failed))
}
