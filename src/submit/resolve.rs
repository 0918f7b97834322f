//! Resolves what a caller asked for into a complete request.
//!
//! All limits of the configuration are checked here, before anything is created.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::agents::{self, TaskText};
use crate::config::Config;
use crate::context::{Context, TaskError};
use crate::execution::schema_check;
use crate::host::paths;
use crate::host::{clock, ids};
use crate::model::{AgentName, Limits, Request, RunId, Sandbox, SkillsRequest, WorkKind};
use crate::reading::{enclosing_runs, find};
use crate::submit::caller::Caller;
use crate::submit::hosted::HostedOptions;
use crate::submit::isolation::RunGround;
use crate::submit::program::find_program;
use crate::submit::start_request::{RequestedLimits, StartRequest};
use crate::submit::write_bounds::{self, WriteBounds};
use crate::submit::{input_limits, jail, overrides};

/// Resolves `ask` into a request and the environment values that go with it.
pub(crate) fn resolve(
    context: &Context,
    ask: StartRequest,
) -> Result<(Request, Vec<(String, String)>), TaskError> {
    let Context { config, env, home, .. } = context;
    let agent = match ask.autopilot {
        Some(_) => AgentName::Autopilot,
        None => ask.agent.unwrap_or(config.default_agent),
    };
    let hold = SandboxedBy::of(agent, &ask);
    input_limits::check(&ask, agent)?;
    input_limits::check_supported(agent, &ask)?;
    check_offered(config, agent, &ask)?;
    // Resolve links, unless the directory no longer exists.
    let here = Some(context.place.as_path()).filter(|place| place.is_absolute()).unwrap_or(Path::new("."));
    let cwd = write_bounds::directory(&context.place, ask.cwd.as_deref().unwrap_or(here))?;
    let git_root = paths::git_root(&cwd);
    if (agent.abilities().needs_git || ask.autopilot.is_some())
        && git_root.is_none()
        && !ask.skip_git_repo_check
    {
        return Err(TaskError::OutsideGit(cwd));
    }
    let sandbox = sandbox(config, agent, &ask)?;
    let bounds = WriteBounds::of(env, home);
    let add_dirs = writable(context, hold, sandbox, &bounds, &cwd, &ask)?;
    let temporary = ask.caller.may_use_temporary() && bounds.allow_temporary(env, &cwd);
    let config_overrides = ask
        .config_overrides
        .iter()
        .map(|text| overrides::check_override(config, text))
        .collect::<Result<_, _>>()?;
    if let Some(schema) = &ask.output_schema {
        schema_check::check_schema(schema)?;
    }
    let within = within(context, &ask)?;
    let hosted = HostedOptions::resolve(context, agent, &ask, &cwd, git_root.as_deref())?;
    let mut environment = environment(context, agent, hold, &ask.env_from)?;
    environment.extend(hosted.environment);
    let limits = limits(config, agent, ask.limits)?;
    let program = find_program(context, agent, hold, &ask)?;
    // Last, because it starts a program.
    let jail = match hold {
        SandboxedBy::Jail => {
            Some(jail::find_jail(env, config, home, &jail::JailRequest { cwd: &cwd, sandbox }, &environment)?)
        }
        SandboxedBy::Agent | SandboxedBy::Nobody => None,
    };
    let work = agent.abilities().work;
    let task_id = if work == WorkKind::Hosted { ids::hosted_task_id()? } else { ids::task_id()? };
    let ground = RunGround::resolve(context, &ask, hold == SandboxedBy::Jail, &task_id, cwd, git_root)?;
    let after = ask.after.as_deref().map(|task| find(context, task)).transpose()?;
    // An agent without skills has nothing to choose from.
    let skills = if agent.abilities().reads_skills || ask.autopilot.is_some() {
        ask.skills()
    } else {
        SkillsRequest::default()
    };
    let request = Request {
        version: Request::VERSION,
        task_id,
        run_id: ids::run_id()?,
        created_at: clock::now(),
        home: Some(home.made_in()),
        agent,
        work,
        env_id: hosted.env_id,
        attempts: hosted.attempts,
        branch: hosted.branch,
        starting_diff: hosted.starting_diff,
        job_of: ask.job_of.map(|parent| parent.task_id),
        autopilot: ask.autopilot.map(|asked| Box::new(asked.resolve(context))),
        earlier: ask.earlier,
        after: after.map(|row| row.id),
        worktree: ground.worktree,
        by_client: matches!(ask.caller, Caller::Client(_)),
        skills,
        program,
        task: ask.task,
        role: ask.role.unwrap_or_else(|| "specialist".into()),
        cwd: ground.cwd,
        git_root: ground.git_root,
        sandbox,
        network: ask.network,
        skip_git_repo_check: ask.skip_git_repo_check,
        add_dirs,
        temporary,
        jail,
        model: ask.model,
        reasoning_effort: ask.reasoning_effort,
        config_overrides,
        output_schema: ask.output_schema,
        limits,
        alias: ask.alias,
        idempotency_key: ask.idempotency_key,
        resume: ask.resume,
        env_from: ask.env_from,
        env_names: environment.iter().map(|(name, _)| name.clone()).collect(),
        within,
        kill_level: config.kill_level,
        max_stream_bytes: config.max_stream_bytes,
        inline: config.inline(),
        // Services and cron jobs may have no name.
        user: env.text("USER").map_or_else(|| paths::own_uid().to_string(), str::to_owned),
    };
    Ok((request, environment))
}

/// The runs that the task belongs to, if it may be started inside them.
fn within(context: &Context, ask: &StartRequest) -> Result<Vec<RunId>, TaskError> {
    if let Some(parent) = &ask.job_of {
        return Ok(parent.within.clone());
    }
    let within = enclosing_runs::detect(&context.env);
    let depth = u32::try_from(within.depth.max(ask.caller.depth())).unwrap_or(u32::MAX);
    let max = context.config.max_depth;
    if depth >= max { Err(TaskError::TooDeep { depth, max }) } else { Ok(within.runs) }
}

/// What keeps a run in its sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SandboxedBy {
    /// Nothing: it is the caller's own command, or does nothing.
    Nobody,
    Agent,
    /// A program around it.
    Jail,
}

impl SandboxedBy {
    fn of(agent: AgentName, ask: &StartRequest) -> Self {
        let abilities = agent.abilities();
        match &ask.caller {
            _ if abilities.has_own_sandbox || ask.autopilot.is_some() => SandboxedBy::Agent,
            // Its jobs may do what the plan may do.
            Caller::Client(_) if matches!(abilities.task, TaskText::Plan) => SandboxedBy::Agent,
            Caller::Client(_) if abilities.is_command_line() => SandboxedBy::Jail,
            Caller::Client(_) | Caller::Person => SandboxedBy::Nobody,
        }
    }
}

/// Refuses clients what only a person may have.
fn check_offered(config: &Config, agent: AgentName, ask: &StartRequest) -> Result<(), TaskError> {
    match (&ask.caller, agent.abilities().task) {
        (Caller::Client(_), TaskText::CommandLine) if !config.command_over_mcp => {
            Err(TaskError::CommandOverMcp)
        }
        (Caller::Client(_), TaskText::Recording) if !agents::is_shipped(&ask.task) => {
            Err(TaskError::ForeignRecording)
        }
        (Caller::Client(_), _) if !agent.is_offered() && ask.autopilot.is_none() => {
            Err(TaskError::NotYet(vec!["agent"]))
        }
        (Caller::Client(_) | Caller::Person, _) => Ok(()),
    }
}

fn sandbox(config: &Config, agent: AgentName, ask: &StartRequest) -> Result<Sandbox, TaskError> {
    let (caller, asked) = (&ask.caller, ask.sandbox);
    if agent.abilities().work == WorkKind::Hosted {
        // It accesses nothing on this machine.
        return Ok(Sandbox::ReadOnly);
    }
    let task = agent.abilities().task;
    match (task, caller, asked) {
        (TaskText::Recording, _, _) => return Ok(Sandbox::ReadOnly),
        // A person's command runs as the person would run it.
        (TaskText::CommandLine, Caller::Person, _) => return Ok(Sandbox::DangerFullAccess),
        (TaskText::CommandLine, Caller::Client(_), Some(Sandbox::DangerFullAccess)) => {
            return Err(TaskError::CommandUnconfined);
        }
        (TaskText::CommandLine | TaskText::Prompt | TaskText::Plan, _, _) => {}
    }
    if let Some(asked) = asked {
        caller.check_sandbox(config, asked)?;
    }
    let most = match task {
        TaskText::CommandLine => Sandbox::WorkspaceWrite,
        TaskText::Prompt | TaskText::Recording | TaskText::Plan => Sandbox::DangerFullAccess,
    };
    // A plan is for work that changes something; its jobs that only look get less.
    let default = match ask.autopilot {
        Some(_) => config.default_sandbox.max(Sandbox::WorkspaceWrite).min(config.max_sandbox),
        None => config.default_sandbox,
    };
    Ok(asked.unwrap_or_else(|| default.min(caller.max_sandbox(config)).min(most)))
}

/// Checks everything that a run wants to write to. Returns the additional directories as real paths.
fn writable(
    context: &Context,
    hold: SandboxedBy,
    sandbox: Sandbox,
    bounds: &WriteBounds,
    cwd: &Path,
    ask: &StartRequest,
) -> Result<Vec<PathBuf>, TaskError> {
    let config = &context.config;
    if hold == SandboxedBy::Nobody {
        return Ok(Vec::new());
    }
    ask.caller.check_read()?;
    if ask.network {
        ask.caller.check_network(config)?;
    }
    if sandbox == Sandbox::ReadOnly {
        let asked = [("network", ask.network), ("add_dirs", !ask.add_dirs.is_empty())];
        return match asked.into_iter().find(|(_, asked)| *asked) {
            Some((field, _)) => Err(TaskError::NeedsWrite { field }),
            None => Ok(Vec::new()),
        };
    }
    ask.caller.check_write(config, bounds, cwd)?;
    let mut dirs = Vec::new();
    for dir in &ask.add_dirs {
        // A person's paths are absolute by now; a client's are relative to the run's directory.
        let dir = write_bounds::directory(cwd, &cwd.join(dir))?;
        ask.caller.check_write(config, bounds, &dir)?;
        ask.caller.check_beside(cwd, &dir)?;
        dirs.push(dir);
    }
    Ok(dirs)
}

fn environment(
    context: &Context,
    agent: AgentName,
    hold: SandboxedBy,
    names: &[String],
) -> Result<Vec<(String, String)>, TaskError> {
    let own = agent.abilities().is_command_line() && hold == SandboxedBy::Nobody;
    for name in names {
        if !own && !context.config.env_allow.contains(name) {
            return Err(TaskError::EnvNotAllowed(name.clone()));
        }
        if context.env.get(name).is_none() {
            return Err(TaskError::EnvNotSet(name.clone()));
        }
    }
    Ok(match own {
        true => context.env.everything(),
        false => context.env.allowed_with(agent.abilities().environment, names),
    })
}

fn limits(config: &Config, agent: AgentName, asked: RequestedLimits) -> Result<Limits, TaskError> {
    let seconds = |name, value: Option<f64>| match value {
        None => Ok(None),
        Some(s) if s > 0.0 && s <= 31_536_000.0 => Ok(Some(Duration::from_secs_f64(s))),
        Some(_) => Err(TaskError::BadLimit { name }),
    };
    let mut limits = config.limits();
    if agent.abilities().is_command_line() {
        // Builds are often silent for long: only the hard limit ends a command.
        limits.idle = None;
        limits.command = None;
    }
    if agent.abilities().work == WorkKind::Hosted {
        // The service says nothing between two polls. One call of its program is what counts as a command.
        limits.idle = None;
        limits.command = None;
    }
    limits.idle = seconds("idle", asked.idle_s)?.or(limits.idle);
    limits.hard = seconds("hard", asked.hard_s)?.or(limits.hard);
    limits.command = seconds("command", asked.command_s)?.or(limits.command);
    Ok(limits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_positive_number_of_seconds() {
        let asked = |s| RequestedLimits { idle_s: Some(s), ..RequestedLimits::default() };
        assert!(limits(&Config::default(), AgentName::Codex, asked(0.0)).is_err());
        assert!(limits(&Config::default(), AgentName::Codex, asked(f64::NAN)).is_err());
        assert!(limits(&Config::default(), AgentName::Codex, asked(0.5)).is_ok());
        let command = limits(&Config::default(), AgentName::Command, RequestedLimits::default()).unwrap();
        assert_eq!((command.idle, command.command), (None, None));
    }
}
