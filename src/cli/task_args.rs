//! The options that `run` and `resume` share: what to do, where, by whom, and
//! how long to wait for it.

use std::fs;
use std::io;
use std::io::Read;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::cli::usage_errors;
use crate::context::TaskError;
use crate::failure::Failure;
use crate::model::{AgentName, Sandbox};
use crate::submit::{Caller, RequestedLimits, StartRequest};

/// More of a task than this is not read from standard input; far less is taken.
const LONGEST_INPUT: u64 = 64 << 20;

#[derive(Debug, Args)]
pub(super) struct TaskArgs {
    /// What is to be done: several words are joined by spaces, `-` reads it from standard input
    #[arg(value_name = "TASK")]
    task: Vec<String>,
    /// Who does it: `codex`, `command` (the task is a shell command line), or `replay` (a recording)
    #[arg(long, value_parser = agent(), hide_possible_values = true)]
    agent: Option<AgentName>,
    /// Where: a directory [default: this one]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// What the agent may touch: `read-only`, `workspace-write`, or `danger-full-access`
    #[arg(long, value_parser = sandbox(), hide_possible_values = true)]
    sandbox: Option<Sandbox>,
    /// Let the agent's commands use the network
    #[arg(long)]
    network: bool,
    /// The model, in the agent's own spelling
    #[arg(long)]
    model: Option<String>,
    /// How hard the model is to think, in the agent's own spelling
    #[arg(long, value_name = "LEVEL")]
    effort: Option<String>,
    /// Set a key of the agent's own configuration; may be given more than once
    #[arg(long, value_name = "KEY=VALUE")]
    config: Vec<String>,
    /// A further directory the agent may write to; may be given more than once
    #[arg(long, value_name = "DIR")]
    add_dir: Vec<PathBuf>,
    /// What the agent is to be, in a few words
    #[arg(long)]
    role: Option<String>,
    /// Hand this variable of the environment to the agent; may be given more than once
    #[arg(long, value_name = "NAME")]
    env: Vec<String>,
    /// Seconds without a sign of life that end the run
    #[arg(long, value_name = "SECONDS")]
    idle: Option<f64>,
    /// Seconds after which the run is ended in any case
    #[arg(long, value_name = "SECONDS")]
    hard: Option<f64>,
    /// Seconds that one command of the agent may take
    #[arg(long, value_name = "SECONDS")]
    command_limit: Option<f64>,
    /// A JSON Schema that the answer has to fit
    #[arg(long, value_name = "FILE")]
    output_schema: Option<PathBuf>,
    /// Run outside a git repository too
    #[arg(long)]
    skip_git_repo_check: bool,
    /// For `codex_cloud`: the environment in which the service runs the task
    #[arg(long, value_name = "ID", hide = true)]
    env_id: Option<String>,
    /// A name to find the task by
    #[arg(long)]
    alias: Option<String>,
    /// The same key with the same request gives the same task, however often it is sent
    #[arg(long)]
    key: Option<String>,
    /// Wait for the end and show what came of it
    #[arg(long)]
    wait: bool,
    /// Wait no longer than this; the run goes on
    #[arg(long, value_name = "SECONDS", requires = "wait", value_parser = seconds)]
    timeout: Option<Duration>,
}

/// Whether to wait, and for how long at most.
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
        Ok(StartRequest {
            agent: self.agent,
            task: task(self.task)?,
            role: self.role,
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
            resume: None,
            env_id: self.env_id,
            job_of: None,
            caller: Caller::Person,
            dedupe: false,
        })
    }
}

fn task(words: Vec<String>) -> Result<String, Failure> {
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
    let is_hidden = |agent: AgentName| !agent.abilities().is_offered;
    PossibleValuesParser::new(
        AgentName::ALL.map(|agent| PossibleValue::new(agent.as_str()).hide(is_hidden(agent))),
    )
    .try_map(|name| name.parse::<AgentName>())
}

fn sandbox() -> impl TypedValueParser<Value = Sandbox> {
    PossibleValuesParser::new(Sandbox::ALL.map(Sandbox::as_str)).try_map(|name| name.parse::<Sandbox>())
}

/// A number of seconds, with fractions.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(number).map_err(|_| "not a number of seconds".to_owned())
}
