//! `delegate_autopilot`: plans a task as several jobs and runs them.

use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::mcp::protocol::{Call, Reply, failure};
use crate::mcp::tools::field::{Field, Kind, joined};
use crate::mcp::tools::run::TASK;
use crate::mcp::tools::start::{
    ADD_DIRS, ALIAS, CONFIG, CWD, DEDUPE, EFFORT, ENV_FROM, GIT, IDEMPOTENCY_KEY, LIMITS, MODEL, NETWORK,
    ROLE, SANDBOX, SKILL_CHOICE, Start, WAIT_MS,
};
use crate::mcp::tools::{Effect, FORMAT, Tool};
use crate::model::Planner;
use crate::reply::{self, AutopilotReport, Page, advertised_autopilot};
use crate::submit::{self, AutopilotRequest, StartRequest};

const MOST: i64 = AutopilotRequest::MOST as i64;
const PLANNER: Field = Field::new(
    "planner",
    Kind::Choice(&Planner::NAMES),
    "rules (default): scan, implement, verify. agent: an agent plans first.",
);
const MAX_AGENTS: Field =
    Field::new("max_agents", Kind::Integer { least: 1, most: MOST }, "Most jobs. Default: 3.");
const MAX_PARALLEL: Field =
    Field::new("max_parallel", Kind::Integer { least: 1, most: MOST }, "Most jobs at once. Default: 2.");
const PLAN_ONLY: Field =
    Field::new("plan_only", Kind::Flag, "Show the plan and start no job. Default: false.");

const OPTIONS: Field = Field::new(
    "options",
    Kind::Rare(&[
        MAX_AGENTS,
        MAX_PARALLEL,
        MODEL,
        EFFORT,
        CONFIG,
        LIMITS,
        IDEMPOTENCY_KEY,
        DEDUPE,
        ALIAS,
        ENV_FROM,
        NETWORK,
        ADD_DIRS,
        ROLE,
        GIT,
    ]),
    "Rarely needed: max_agents (3), max_parallel (2), alias, idempotency_key, dedupe; for all jobs: model, \
     reasoning_effort, timeout, network, add_dirs[], env_from[], config_overrides[], role, skip_git_repo_check.",
);

pub(crate) const TOOL: Tool = Tool {
    name: "delegate_autopilot",
    title: "Plan and run a larger task",
    about: "Splits a larger task into jobs and runs each with an agent of its own: scan, implement, verify, or a plan \
           of an agent's. Independent jobs run side by side, like a small team. Returns a task_id (T-local-0123456789ab) \
           at once; read on with delegate_wait. For one piece of work use delegate_run.",
    search_hint: "plan a large coding task as several agent jobs and run them",
    at_hand: false,
    internal: false,
    fields: &joined::<17>(
        &[
            TASK,
            CWD,
            SANDBOX,
            WAIT_MS,
            PLANNER,
            PLAN_ONLY,
            OPTIONS,
            MAX_AGENTS.hidden(),
            MAX_PARALLEL.hidden(),
            ROLE.hidden(),
            GIT.hidden(),
            FORMAT.hidden(),
        ],
        SKILL_CHOICE,
    ),
    category: None,
    output: advertised_autopilot,
    effect: Effect::Starts,
    waits: false,
    answer,
};

fn answer(call: &mut Call, given: Map<String, Value>) -> Result<Reply, Failure> {
    let start = Start::of(call, given)?;
    let request = StartRequest { autopilot: Some(start.autopilot), ..start.request.clone() };
    let accepted = submit::start(&mut call.context, request).map_err(|error| failure(&error))?;
    let (report, results) = start.outcome(call, &accepted)?;
    let report = AutopilotReport::of(report, &results);
    let text = reply::autopilot(call.tool.name, &report, call.context.config.cuts());
    Ok(call.reply(&report, Page::from(text))?.in_format(start.format()))
}
