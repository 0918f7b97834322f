//! From what was asked to a request with everything resolved.
//!
//! All limits of the configuration are held here, before anything exists.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::agents::{self, Platform};
use crate::config::Config;
use crate::host::env::{self, Env};
use crate::host::paths::{self, Home};
use crate::host::{clock, ids};
use crate::model::{AgentName, Limits, Request, Resumed, RunId, Sandbox, TaskId, ThreadId};
use crate::progress::plain;
use crate::tasks::{Context, TaskError, nested};

const LONGEST_TASK: usize = 1 << 20;
/// What Linux takes as one argument, with the byte that ends it.
const LONGEST_ARGUMENT: usize = (128 << 10) - 1;
const LONGEST_NAME: usize = 200;

/// Keys that start programs or raise access even in a read-only sandbox. No
/// configuration can allow them.
const FORBIDDEN_KEYS: &[&str] =
    &["notify", "mcp_servers", "model_provider", "sandbox", "projects", "hooks", "shell_environment_policy"];

/// What a caller wants. Absent fields take the configuration's defaults.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ask {
    pub(crate) agent: Option<AgentName>,
    pub(crate) task: String,
    pub(crate) role: Option<String>,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) sandbox: Option<Sandbox>,
    pub(crate) network: bool,
    pub(crate) skip_git_repo_check: bool,
    pub(crate) add_dirs: Vec<PathBuf>,
    pub(crate) model: Option<String>,
    pub(crate) reasoning_effort: Option<String>,
    pub(crate) config_overrides: Vec<String>,
    pub(crate) output_schema: Option<Value>,
    pub(crate) limits: LimitAsk,
    pub(crate) alias: Option<String>,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) env_from: Vec<String>,
    pub(crate) resume: Option<Resumed>,
}

/// Limits in seconds, as a caller writes them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LimitAsk {
    pub(crate) idle_s: Option<f64>,
    pub(crate) hard_s: Option<f64>,
    pub(crate) command_s: Option<f64>,
}

/// Resolves `ask`, and the environment values that go with it.
pub(super) fn resolve(context: &Context, ask: Ask) -> Result<(Request, Vec<(String, String)>), TaskError> {
    let Context { config, env, home, .. } = context;
    let agent = ask.agent.unwrap_or(config.default_agent);
    check_text(&ask, agent)?;
    check_supported(agent, &ask)?;
    let cwd = directory(ask.cwd.as_deref())?;
    let git_root = paths::git_root(&cwd);
    if agent == AgentName::Codex && git_root.is_none() && !ask.skip_git_repo_check {
        return Err(TaskError::OutsideGit(cwd));
    }
    let sandbox = sandbox(config, agent, ask.sandbox)?;
    if agent == AgentName::Codex && sandbox > Sandbox::ReadOnly {
        for root in std::iter::once(&cwd).chain(&ask.add_dirs) {
            check_writable_root(root, home, env.path("HOME").as_deref())?;
        }
    }
    if ask.network && !config.allow_network {
        return Err(TaskError::NetworkOff);
    }
    if agent == AgentName::Codex && sandbox == Sandbox::ReadOnly {
        let asked = [("network", ask.network), ("add_dirs", !ask.add_dirs.is_empty())];
        if let Some((field, _)) = asked.into_iter().find(|(_, asked)| *asked) {
            return Err(TaskError::NeedsWrite { field });
        }
    }
    let config_overrides =
        ask.config_overrides.iter().map(|text| checked_override(config, text)).collect::<Result<_, _>>()?;
    if let Some(schema) = &ask.output_schema {
        jsonschema::validator_for(schema).map_err(|error| TaskError::BadSchema(error.to_string()))?;
    }
    let program = program(context, agent, &ask.task)?;
    let within = nested::within(env);
    let depth = u32::try_from(within.len()).unwrap_or(u32::MAX);
    if depth >= config.max_depth {
        return Err(TaskError::TooDeep { depth, max: config.max_depth });
    }
    let environment = environment(context, agent, &ask.env_from)?;
    let limits = limits(config, agent, ask.limits)?;
    let request = Request {
        version: Request::VERSION,
        task_id: ids::task_id()?,
        run_id: ids::run_id()?,
        created_at: clock::now(),
        agent,
        program,
        task: ask.task,
        role: ask.role.unwrap_or_else(|| "specialist".into()),
        cwd,
        git_root,
        sandbox,
        network: ask.network,
        skip_git_repo_check: ask.skip_git_repo_check,
        add_dirs: ask.add_dirs,
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
        user: env.text("USER").unwrap_or_default().to_owned(),
    };
    Ok((request, environment))
}

fn check_text(ask: &Ask, agent: AgentName) -> Result<(), TaskError> {
    let continues = ask.resume.is_some() && agent == AgentName::Codex;
    if ask.task.trim().is_empty() && !continues {
        return Err(TaskError::EmptyTask);
    }
    let limit = if agent == AgentName::Command { LONGEST_ARGUMENT } else { LONGEST_TASK };
    if ask.task.len() > limit {
        return Err(TaskError::LongTask { bytes: ask.task.len(), limit });
    }
    if agent == AgentName::Command && ask.task.contains('\0') {
        return Err(TaskError::NulInTask);
    }
    let fields = [
        ("role", &ask.role),
        ("alias", &ask.alias),
        ("idempotency_key", &ask.idempotency_key),
        ("model", &ask.model),
        ("reasoning_effort", &ask.reasoning_effort),
    ];
    for (name, value) in fields {
        match value.as_ref().map_or(1, String::len) {
            0 => return Err(TaskError::EmptyField { name }),
            bytes if bytes > LONGEST_NAME => {
                return Err(TaskError::LongField { name, bytes, limit: LONGEST_NAME });
            }
            _ => {}
        }
    }
    ask.alias.as_deref().map_or(Ok(()), check_alias)
}

/// An alias stands wherever an id may, and is printed in lists.
fn check_alias(alias: &str) -> Result<(), TaskError> {
    let is_id = alias.parse::<TaskId>().is_ok()
        || alias.parse::<RunId>().is_ok()
        || alias.parse::<ThreadId>().is_ok();
    if is_id || alias.trim() != alias || plain::line(alias, LONGEST_NAME) != alias {
        return Err(TaskError::BadAlias(alias.to_owned()));
    }
    Ok(())
}

/// Nothing is ignored silently: what an agent cannot honour is refused.
fn check_supported(agent: AgentName, ask: &Ask) -> Result<(), TaskError> {
    if agent == AgentName::Codex {
        return Ok(());
    }
    let given = [
        // First: a resumed task brings the others along.
        ("resume", ask.resume.is_some()),
        ("command_limit", agent == AgentName::Command && ask.limits.command_s.is_some()),
        ("sandbox", ask.sandbox.is_some()),
        ("network", ask.network),
        ("model", ask.model.is_some()),
        ("reasoning_effort", ask.reasoning_effort.is_some()),
        ("config_overrides", !ask.config_overrides.is_empty()),
        ("output_schema", ask.output_schema.is_some()),
        ("add_dirs", !ask.add_dirs.is_empty()),
        ("role", ask.role.is_some()),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        Some((field, _)) => Err(TaskError::Unsupported { agent, field }),
        None => Ok(()),
    }
}

fn directory(asked: Option<&Path>) -> Result<PathBuf, TaskError> {
    let asked = asked.unwrap_or(Path::new("."));
    let missing = |_| TaskError::NoDirectory(asked.to_owned());
    let found = std::fs::canonicalize(asked).map_err(missing)?;
    if found.is_dir() { Ok(found) } else { Err(TaskError::NotADirectory(found)) }
}

fn sandbox(config: &Config, agent: AgentName, asked: Option<Sandbox>) -> Result<Sandbox, TaskError> {
    match agent {
        // A command is the caller's own and runs as the caller would run it.
        AgentName::Command => return Ok(Sandbox::DangerFullAccess),
        AgentName::Replay => return Ok(Sandbox::ReadOnly),
        AgentName::Codex => {}
    }
    let wanted = asked.unwrap_or(config.default_sandbox);
    if wanted > config.max_sandbox {
        return Err(TaskError::SandboxBeyond { asked: wanted, max: config.max_sandbox });
    }
    Ok(wanted)
}

/// Write access to `/`, to the user's home as a whole, or to our own state
/// would undo every other boundary.
fn check_writable_root(root: &Path, home: &Home, user_home: Option<&Path>) -> Result<(), TaskError> {
    let root = std::fs::canonicalize(root).map_err(|_| TaskError::NoDirectory(root.to_owned()))?;
    let ours = std::fs::canonicalize(home.root()).unwrap_or_else(|_| home.root().to_owned());
    let whole_home = user_home
        .and_then(|home| std::fs::canonicalize(home).ok())
        .is_some_and(|home| home.starts_with(&root));
    if root.parent().is_none() || whole_home || ours.starts_with(&root) || root.starts_with(&ours) {
        return Err(TaskError::ForbiddenRoot(root));
    }
    Ok(())
}

/// Splits `key=value` and writes the value again as a TOML scalar.
fn checked_override(config: &Config, text: &str) -> Result<(String, String), TaskError> {
    let Some((key, value)) = text.split_once('=') else { return Err(TaskError::BadOverride(text.into())) };
    let first = key.split('.').next().unwrap_or_default();
    let forbidden = FORBIDDEN_KEYS.iter().any(|known| first.starts_with(known)) || key.ends_with("base_url");
    if forbidden || !config.config_override_keys.iter().any(|allowed| allowed == key) {
        return Err(TaskError::OverrideNotAllowed(key.into()));
    }
    let scalar = match toml::from_str::<toml::Table>(&format!("value = {value}"))
        .ok()
        .and_then(|mut t| t.remove("value"))
    {
        Some(
            scalar @ (toml::Value::Integer(_)
            | toml::Value::Float(_)
            | toml::Value::Boolean(_)
            | toml::Value::String(_)),
        ) => scalar,
        Some(_) => return Err(TaskError::BadOverride(text.into())),
        None => toml::Value::String(value.to_owned()),
    };
    Ok((key.to_owned(), scalar.to_string()))
}

/// The program that will be started, found now: the one who starts it later
/// may have another `PATH`.
fn program(context: &Context, agent: AgentName, task: &str) -> Result<PathBuf, TaskError> {
    match agent {
        AgentName::Codex => codex_program(&context.env, &context.config),
        AgentName::Command => Ok("/bin/sh".into()),
        AgentName::Replay => {
            agents::check_task(task).map_err(TaskError::BadRecording)?;
            std::env::current_exe().map_err(TaskError::write("/proc/self/exe"))
        }
    }
}

pub(super) fn codex_program(env: &Env, config: &Config) -> Result<PathBuf, TaskError> {
    if let Some(named) = &config.codex_path {
        return if paths::is_program(named) {
            Ok(native(named))
        } else {
            Err(TaskError::BadProgram(named.clone()))
        };
    }
    let found = env.get("PATH").and_then(|path| paths::find_program("codex", path));
    found.map(|launcher| native(&launcher)).ok_or(TaskError::AgentMissing { agent: AgentName::Codex })
}

/// The native program behind a launcher script: killing the script would leave
/// it running.
fn native(launcher: &Path) -> PathBuf {
    let real = std::fs::canonicalize(launcher).unwrap_or_else(|_| launcher.to_owned());
    let candidates = Platform::here().map(|platform| agents::native_candidates(&real, platform));
    candidates.into_iter().flatten().find(|file| paths::is_program(file)).unwrap_or(real)
}

fn environment(
    context: &Context,
    agent: AgentName,
    names: &[String],
) -> Result<Vec<(String, String)>, TaskError> {
    for name in names {
        if agent != AgentName::Command && !context.config.env_allow.contains(name) {
            return Err(TaskError::EnvNotAllowed(name.clone()));
        }
        if context.env.get(name).is_none() {
            return Err(TaskError::EnvNotSet(name.clone()));
        }
    }
    Ok(match agent {
        AgentName::Command => context.env.everything(),
        AgentName::Codex => context.env.allowed_with(env::CODEX, names),
        AgentName::Replay => context.env.allowed_with(&[], names),
    })
}

fn limits(config: &Config, agent: AgentName, asked: LimitAsk) -> Result<Limits, TaskError> {
    let seconds = |name, value: Option<f64>| match value {
        None => Ok(None),
        Some(s) if s > 0.0 && s <= 31_536_000.0 => Ok(Some(Duration::from_secs_f64(s))),
        Some(_) => Err(TaskError::BadLimit { name }),
    };
    let mut limits = config.limits();
    if agent == AgentName::Command {
        // A silent build is an ordinary job: only the hard limit ends it.
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
    fn only_listed_keys_pass_and_values_become_scalars() {
        let config = Config::default();
        let pass = |text: &str| checked_override(&config, text).ok();
        assert_eq!(pass("model_verbosity=high"), Some(("model_verbosity".into(), "\"high\"".into())));
        assert_eq!(pass("model_verbosity=\"a\\\"b\""), Some(("model_verbosity".into(), "'a\"b'".into())));
        assert_eq!(pass("model_verbosity={a=1}"), None);
        assert_eq!(pass("model=other"), None);
        assert_eq!(pass("model_verbosity"), None);
    }

    #[test]
    fn no_configuration_can_allow_what_raises_access() {
        let keys = [
            "notify",
            "mcp_servers.x.command",
            "model_providers.x",
            "sandbox_mode",
            "openai_base_url",
            "hooks",
        ];
        let mut config = Config::default();
        config.config_override_keys = keys.map(str::to_owned).to_vec();
        for key in keys {
            assert!(checked_override(&config, &format!("{key}=1")).is_err(), "{key}");
        }
    }

    #[test]
    fn a_limit_is_a_positive_number_of_seconds() {
        let asked = |s| LimitAsk { idle_s: Some(s), ..LimitAsk::default() };
        assert!(limits(&Config::default(), AgentName::Codex, asked(0.0)).is_err());
        assert!(limits(&Config::default(), AgentName::Codex, asked(f64::NAN)).is_err());
        assert!(limits(&Config::default(), AgentName::Codex, asked(0.5)).is_ok());
        let command = limits(&Config::default(), AgentName::Command, LimitAsk::default()).unwrap();
        assert_eq!((command.idle, command.command), (None, None));
    }
}
