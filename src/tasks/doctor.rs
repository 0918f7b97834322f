//! Checks this machine and reports, row by row, what works and what does not.

use std::path::Path;
use std::time::Duration;

use crate::agents::{self, Program};
use crate::config::{Config, ConfigError};
use crate::context::one_line;
use crate::host::Env;
use crate::host::disk;
use crate::host::{AskError, spawn};
use crate::host::{Home, paths};
use crate::model::{AgentName, KillLevel, Sandbox};
use crate::reading::stopped_supervisor;
use crate::registry::{Registry, RegistryError};
use crate::submit::codex_program;
use crate::submit::jail;
use crate::supervisor::best_level;
use crate::tasks::cleanup::awaited_note;

/// How long a program may take to answer.
const ASK: Duration = Duration::from_secs(10);
const LITTLE: u64 = 1 << 30;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Good,
    /// Works, but deserves a note.
    Worth,
    Bad,
}

#[derive(Debug)]
pub(crate) struct Check {
    pub(crate) name: &'static str,
    pub(crate) verdict: Verdict,
    pub(crate) found: String,
    pub(crate) hint: Option<String>,
}

impl Check {
    fn new(name: &'static str, verdict: Verdict, found: impl Into<String>) -> Self {
        Self { name, verdict, found: found.into(), hint: None }
    }

    fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

/// All checks, in the order they are shown. They change nothing, except that a missing home is created.
pub(crate) fn doctor(env: &Env) -> Vec<Check> {
    let mut rows = Vec::new();
    let home = Home::open(env);
    let config = Config::load(env);
    let kept_for = config.as_ref().map_or_else(|_| Config::default().retention_age(), Config::retention_age);
    match &home {
        Ok(home) => {
            rows.push(home_check(home));
            rows.push(database(home, kept_for));
            rows.extend(stopped_supervisors(home, kept_for));
            rows.extend([space(home.root()), file_system(home.root())].into_iter().flatten());
        }
        Err(error) => {
            let hint = "set DELEGATOR_HOME to a directory of your own with mode 700";
            rows.push(Check::new("home", Verdict::Bad, one_line(error)).hint(hint));
        }
    }
    rows.push(configuration(env, config.as_ref().err()));
    let is_read = config.is_ok();
    let config = config.unwrap_or_default();
    if let Ok(home) = &home {
        rows.extend(awaited_results(home, &config));
    }
    rows.extend(codex(env, &config));
    rows.push(match codex_program(env, &config) {
        Ok(_) => Check::new(
            "agent codex_cloud",
            Verdict::Good,
            "uses codex; needs a login with ChatGPT, which is not checked here",
        ),
        Err(_) => Check::new("agent codex_cloud", Verdict::Worth, "needs codex, which is not installed"),
    });
    rows.push(Check::new("agent command", Verdict::Good, "/bin/sh"));
    if let (true, Ok(home)) = (config.command_over_mcp, &home) {
        rows.push(commands_of_clients(env, &config, home));
    }
    rows.push(Check::new("agent replay", Verdict::Good, "built in"));
    rows.push(kill_level(&config));
    let limits = format!(
        "{} at once, depth {}, sandbox up to {}, network {}",
        config.max_concurrent,
        config.max_depth,
        config.max_sandbox,
        if config.allow_network { "allowed" } else { "off" }
    );
    rows.push(match config.max_concurrent {
        _ if !is_read => Check::new("limits", Verdict::Worth, "unknown until the configuration can be read")
            .hint("no task starts until it is corrected"),
        0 => Check::new("limits", Verdict::Worth, limits).hint("no task starts while `max_concurrent` is 0"),
        _ => Check::new("limits", Verdict::Good, limits),
    });
    rows
}

fn home_check(home: &Home) -> Check {
    let needed = [home.root().to_owned(), home.runs(), home.registry()];
    match needed.into_iter().find(|path| path.exists() && !paths::is_writable(path)) {
        Some(path) => Check::new("home", Verdict::Bad, format!("cannot write to `{}`", path.display()))
            .hint("make it writable for yourself: no task can start"),
        None => Check::new("home", Verdict::Good, home.root().display().to_string()),
    }
}

fn database(home: &Home, kept_for: Duration) -> Check {
    match Registry::open(home, kept_for).and_then(|registry| Ok((registry.count()?, registry.differences()?)))
    {
        Ok((tasks, differences)) => {
            let found = format!("{tasks} tasks, SQLite {}", rusqlite::version());
            let (runs, rows) = (differences.runs_without_row, differences.rows_without_run.len());
            if (runs, rows) == (0, 0) {
                return Check::new("database", Verdict::Good, found);
            }
            let found = format!("{found}; {runs} runs without a row, {rows} rows without a run directory");
            Check::new("database", Verdict::Bad, found).hint(
                "`delegator doctor --rebuild` restores missing rows, ends open tasks and removes finished ones that have no run directory",
            )
        }
        Err(error) => {
            let hint = match error {
                RegistryError::Newer { .. } => {
                    "update `delegator`, or set DELEGATOR_HOME to another directory"
                }
                RegistryError::Runs { .. } => "check its owner, its permissions and the disk",
                _ => "`delegator doctor --rebuild` creates a new one from the run directories",
            };
            Check::new("database", Verdict::Bad, one_line(&error)).hint(hint)
        }
    }
}

/// A database error has a row of its own.
fn stopped_supervisors(home: &Home, kept_for: Duration) -> Option<Check> {
    let registry = Registry::open(home, kept_for).ok()?;
    let found = stopped_supervisor::warnings(&registry, home).ok().filter(|found| !found.is_empty())?;
    Some(Check::new("supervisors", Verdict::Worth, found.join("; ")))
}

/// A database error has a row of its own.
fn awaited_results(home: &Home, config: &Config) -> Option<Check> {
    let registry = Registry::open(home, config.retention_age()).ok()?;
    let note = awaited_note(home, &registry, config).ok()??;
    Some(
        Check::new("retention", Verdict::Worth, note)
            .hint("`delegate_results` reads a result; `delegator cleanup --older-than` removes by age"),
    )
}

fn space(root: &Path) -> Option<Check> {
    let free = disk::free_bytes(root).ok()?;
    let found = format!("{} MiB free", free >> 20);
    let verdict = if free < LITTLE { Verdict::Worth } else { Verdict::Good };
    let check = Check::new("disk", verdict, found);
    Some(if verdict == Verdict::Worth { check.hint("`delegator cleanup` removes old runs") } else { check })
}

fn file_system(root: &Path) -> Option<Check> {
    let kind = disk::network_file_system(root)?;
    let hint = "keep DELEGATOR_HOME on a local disk: the registry needs memory shared on one host";
    Some(Check::new("file system", Verdict::Worth, format!("{kind}, a network file system")).hint(hint))
}

fn configuration(env: &Env, error: Option<&ConfigError>) -> Check {
    let path = Config::locate(env).map(|path| path.display().to_string()).unwrap_or_default();
    match error {
        Some(error) => Check::new("config", Verdict::Bad, one_line(error)).hint(match error {
            ConfigError::Unreadable { .. } => {
                "it must be a readable regular file of UTF-8 text, or not exist"
            }
            ConfigError::Invalid { .. } => "`delegator doctor --config` lists every key",
        }),
        None if Path::new(&path).exists() => Check::new("config", Verdict::Good, path),
        None => Check::new("config", Verdict::Good, format!("{path} (does not exist: all defaults)")),
    }
}

fn codex(env: &Env, config: &Config) -> Vec<Check> {
    let program = match codex_program(env, config) {
        Ok(program) => program,
        Err(error) => {
            let hint = "install it with `npm install -g @openai/codex`, or set `codex_path`; `command` and `replay` work without it";
            return vec![Check::new("agent codex", Verdict::Worth, one_line(&error)).hint(hint)];
        }
    };
    let environment = env.allowed_with(AgentName::Codex.abilities().environment, &config.env_allow);
    let ask = |args: &[&str]| {
        let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
        spawn::ask(&program, &args, Path::new("/"), &environment, ASK)
    };
    let told =
        ask(&["--version"]).map(|text| agents::parse_version(&text).map(|version| version.to_string()));
    let mut rows = vec![match told {
        Ok(Some(version)) => {
            Check::new("agent codex", Verdict::Good, format!("{version} at {}", program.display()))
        }
        Err(AskError::Late) => late("agent codex", &format!("`{} --version`", program.display())),
        Ok(None) | Err(AskError::Failed) => {
            let found = format!("`{}` does not report its version", program.display());
            let hint = "is it Codex? set `codex_path` to use another program";
            return vec![Check::new("agent codex", Verdict::Bad, found).hint(hint)];
        }
    }];
    // In parallel, so that a slow program delays the report only once.
    let (login, sandbox) = std::thread::scope(|scope| {
        let login = scope.spawn(|| ask(&["login", "status"]));
        let sandbox = ask(&["sandbox", "--", "/bin/true"]);
        (login.join().unwrap_or(Err(AskError::Failed)), sandbox)
    });
    let key = env.get("CODEX_API_KEY").is_some();
    rows.push(match login {
        Ok(_) => Check::new("codex login", Verdict::Good, "logged in"),
        Err(_) if key => Check::new("codex login", Verdict::Good, "CODEX_API_KEY is set"),
        Err(AskError::Late) => late("codex login", "`codex login status`"),
        Err(AskError::Failed) => Check::new("codex login", Verdict::Worth, "not logged in")
            .hint("run `codex login`, or set CODEX_API_KEY"),
    });
    rows.push(match sandbox {
        Ok(_) => Check::new("codex sandbox", Verdict::Good, "works"),
        Err(AskError::Late) => late("codex sandbox", "`codex sandbox`"),
        Err(AskError::Failed) => Check::new("codex sandbox", Verdict::Worth, "does not work here")
            .hint("Codex cannot run commands in a sandbox without user namespaces; see `codex doctor`"),
    });
    rows
}

/// A slow program is not necessarily broken.
fn late(name: &'static str, asked: &str) -> Check {
    let found = format!("{asked} did not answer within {} s", ASK.as_secs());
    Check::new(name, Verdict::Worth, found)
        .hint("the machine may be busy, or this may be its first start; try again in a moment")
}

/// Tries the sandbox for clients' commands.
fn commands_of_clients(env: &Env, config: &Config, home: &Home) -> Check {
    let wanted = jail::JailRequest { cwd: Path::new("/"), sandbox: Sandbox::ReadOnly };
    match jail::find_jail(env, config, home, &wanted, &env.allowed_with(&[], &[])) {
        Ok(jail) => {
            let found = format!("sandboxed by {}", jail.program.display());
            Check::new("command over MCP", Verdict::Good, found)
        }
        Err(error) => Check::new("command over MCP", Verdict::Worth, one_line(&error))
            .hint("clients cannot run commands; install Codex or bubblewrap, or turn `command_over_mcp` off"),
    }
}

fn kill_level(config: &Config) -> Check {
    let best = best_level();
    let level = config.kill_level.unwrap_or(best);
    let meaning = match level {
        KillLevel::Cgroup => {
            "every process of a run ends with it, except one that moves out of its control group, as root can"
        }
        KillLevel::Subreaper => "every descendant is found while the supervisor lives",
        KillLevel::Marker => "a process that clears its environment can escape",
    };
    Check::new("kill level", Verdict::Good, format!("{}: {meaning}", level.as_str()))
}

/// Whether the agent's program is installed.
pub(crate) fn is_installed(env: &Env, config: &Config, agent: AgentName) -> bool {
    match agent.abilities().program {
        Program::Codex => codex_program(env, config).is_ok_and(|program| paths::is_program(&program)),
        Program::Shell | Program::Own => true,
    }
}
