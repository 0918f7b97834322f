//! Finds the program of an agent.

use std::path::{Path, PathBuf};

use crate::agents::{self, Platform, Program, TaskText};
use crate::config::Config;
use crate::context::{Context, TaskError};
use crate::host::{Env, paths};
use crate::model::{AgentName, Plan};
use crate::submit::resolve::SandboxedBy;
use crate::submit::start_request::StartRequest;

/// Finds the program now, because whoever starts it later may have another `PATH`.
pub(super) fn find_program(
    context: &Context,
    agent: AgentName,
    hold: SandboxedBy,
    ask: &StartRequest,
) -> Result<PathBuf, TaskError> {
    let own = || paths::own_program().map_err(TaskError::write("/proc/self/exe"));
    let abilities = agent.abilities();
    match abilities.task {
        TaskText::Recording => agents::check_task(&ask.task).map_err(TaskError::BadRecording)?,
        // Without it, no job could run.
        TaskText::Plan if ask.autopilot.is_some() => drop(codex_program(&context.env, &context.config)?),
        TaskText::Plan => drop(Plan::parse(&ask.task).map_err(TaskError::BadPlan)?),
        TaskText::Prompt | TaskText::CommandLine => {}
    }
    match abilities.program {
        Program::Codex => codex_program(&context.env, &context.config),
        // Delegator itself runs first inside the jail.
        Program::Shell if hold == SandboxedBy::Jail => own(),
        Program::Shell => Ok("/bin/sh".into()),
        Program::Own => own(),
    }
}

pub(crate) fn codex_program(env: &Env, config: &Config) -> Result<PathBuf, TaskError> {
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

/// The native program behind a launcher script. Killing the script would leave it running.
fn native(launcher: &Path) -> PathBuf {
    let real = std::fs::canonicalize(launcher).unwrap_or_else(|_| launcher.to_owned());
    let candidates = Platform::here().map(|platform| agents::native_candidates(&real, platform));
    candidates.into_iter().flatten().find(|file| paths::is_program(file)).unwrap_or(real)
}
