//! The options that `run` and `resume` share.

use std::fs;
use std::io;
use std::io::Read;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::cli::skill_args::SkillArgs;
use crate::cli::usage_errors;
use crate::context::TaskError;
use crate::failure::Failure;
use crate::model::{AgentName, Sandbox};
use crate::submit::{Isolation, RequestedLimits, StartRequest};

/// The most that is read from standard input. The limit of a task is far lower.
const LONGEST_INPUT: u64 = 64 << 20;

#[derive(Debug, Args)]
pub(super) struct TaskArgs {
    /// What to do; several words are joined by spaces, `-` reads standard input
    #[arg(value_name = "TASK")]
    task: Vec<String>,
    /// Agent to use: `codex`, `codex_cloud` (runs in Codex Cloud), `command` (the task is a shell command line), or
    /// `replay` (a recording)
    #[arg(long, value_parser = agent(), hide_possible_values = true)]
    agent: Option<AgentName>,
    /// Directory to work in [default: the current one]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// What the agent may access: `read-only`, `workspace-write`, or `danger-full-access`
    #[arg(long, value_parser = sandbox(), hide_possible_values = true)]
    sandbox: Option<Sandbox>,
    /// Work in a git worktree on a branch of its own; `delegator apply` brings the changes back
    #[arg(long)]
    worktree: bool,
    /// Start when this task has completed, and never if it ends otherwise
    #[arg(long, value_name = "ID")]
    after: Option<String>,
    /// Let the agent's commands use the network
    #[arg(long)]
    network: bool,
    /// Model, as the agent names it
    #[arg(long)]
    model: Option<String>,
    /// Reasoning effort, as the agent names it
    #[arg(long, value_name = "LEVEL")]
    effort: Option<String>,
    /// Set a key of the agent's configuration; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    config: Vec<String>,
    /// Let the agent also write to this directory; may be repeated
    #[arg(long, value_name = "DIR")]
    add_dir: Vec<PathBuf>,
    /// Role to give the agent, in a few words
    #[arg(long)]
    role: Option<String>,
    #[command(flatten)]
    skills: SkillArgs,
    /// Pass this environment variable to the agent; may be repeated
    #[arg(long, value_name = "NAME")]
    env: Vec<String>,
    /// Stop the run after this many seconds without output
    #[arg(long, value_name = "SECONDS")]
    idle: Option<f64>,
    /// Stop the run after this many seconds
    #[arg(long, value_name = "SECONDS")]
    hard: Option<f64>,
    /// Stop the run if one of the agent's commands takes longer than this
    #[arg(long, value_name = "SECONDS")]
    command_limit: Option<f64>,
    /// JSON Schema that the answer must match
    #[arg(long, value_name = "FILE")]
    output_schema: Option<PathBuf>,
    /// Allow running outside a git repository
    #[arg(long)]
    skip_git_repo_check: bool,
    /// Environment in which `codex_cloud` runs the task: its id or label [default: the only known one]
    #[arg(long, value_name = "ID")]
    env_id: Option<String>,
    /// How many times `codex_cloud` tries the task: 1 to 4
    #[arg(long, value_name = "N")]
    attempts: Option<u32>,
    /// Branch that `codex_cloud` starts from [default: the current one]
    #[arg(long)]
    branch: Option<String>,
    /// Send uncommitted changes with the task, for `codex_cloud`
    #[arg(long)]
    starting_diff: bool,
    /// Short name for the task
    #[arg(long)]
    alias: Option<String>,
    /// Make the request safe to repeat: the same key and request return the same task
    #[arg(long)]
    key: Option<String>,
    /// Wait for the task to end and show its result
    #[arg(long)]
    wait: bool,
    /// Stop waiting after this long; the run goes on
    #[arg(long, value_name = "SECONDS", requires = "wait", value_parser = seconds)]
    timeout: Option<Duration>,
}

/// Whether to wait, and for how long.
#[derive(Debug, Clone, Copy)]
pub(super) enum Patience {
    None,
    Until(Option<Duration>),
}

impl TaskArgs {
    pub(super) fn patience(&self) -> Patience {
        if self.wait { Patience::Until(self.timeout) } else { Patience::None }
    }

    pub(super) fn into_ask(self) -> Result<StartRequest, Failure> {
        let add_dirs = self.add_dir.into_iter().map(|dir| std::path::absolute(&dir).unwrap_or(dir)).collect();
        let ask = StartRequest {
            agent: self.agent,
            task: task(self.task)?,
            role: self.role,
            isolation: if self.worktree { Isolation::Worktree } else { Isolation::None },
            after: self.after,
            cwd: self.cwd,
            sandbox: self.sandbox,
            network: self.network,
            skip_git_repo_check: self.skip_git_repo_check,
            add_dirs,
            model: self.model,
            reasoning_effort: self.effort,
            config_overrides: self.config,
            output_schema: self.output_schema.map(read_schema).transpose()?,
            limits: RequestedLimits { idle_s: self.idle, hard_s: self.hard, command_s: self.command_limit },
            alias: self.alias,
            idempotency_key: self.key,
            env_from: self.env,
            env_id: self.env_id,
            attempts: self.attempts,
            branch: self.branch,
            starting_diff: self.starting_diff,
            ..StartRequest::default()
        };
        Ok(self.skills.apply(ask))
    }
}

/// The task as given, or standard input for `-`.
pub(super) fn task(words: Vec<String>) -> Result<String, Failure> {
    if words != ["-"] {
        return Ok(words.join(" "));
    }
    let mut bytes = Vec::new();
    let read = io::stdin().take(LONGEST_INPUT).read_to_end(&mut bytes);
    read.map_err(|error| {
        usage_errors::bad(format!("failed to read the task: {error}"), "give the task as an argument")
    })?;
    String::from_utf8(bytes)
        .map_err(|_| usage_errors::bad("the task on standard input is not UTF-8", "convert it first"))
}

fn read_schema(path: PathBuf) -> Result<serde_json::Value, TaskError> {
    let bad = |error: &dyn std::fmt::Display| TaskError::BadSchema(format!("`{}`: {error}", path.display()));
    let text = fs::read(&path).map_err(|error| bad(&error))?;
    serde_json::from_slice(&text).map_err(|error| bad(&error))
}

fn agent() -> impl TypedValueParser<Value = AgentName> {
    let is_hidden = |agent: AgentName| !agent.is_offered();
    PossibleValuesParser::new(
        AgentName::ALL.map(|agent| PossibleValue::new(agent.as_str()).hide(is_hidden(agent))),
    )
    .try_map(|name| name.parse::<AgentName>())
}

pub(super) fn sandbox() -> impl TypedValueParser<Value = Sandbox> {
    PossibleValuesParser::new(Sandbox::NAMES).try_map(|name| name.parse::<Sandbox>())
}

/// Parses a number of seconds, with fractions.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let expected = || "expected a number of seconds such as 300 or 0.5".to_owned();
    let number: f64 = text.parse().map_err(|_| expected())?;
    Duration::try_from_secs_f64(number).map_err(|_| expected())
}
