//! Every error that a use case can end with, as facts.
//!
//! `failure` assigns the error code and the hint.

use crate::text;
use std::io;
use std::path::PathBuf;

use crate::agents::BadRecording;
use crate::config::ConfigError;
use crate::context::missing_output::MissingOutput;
use crate::context::worktree_error::WorktreeError;
use crate::environments::EnvironmentsError;
use crate::host::BoundedRunError;
use crate::host::HomeError;
use crate::host::ListenError;
use crate::host::NoRandomness;
use crate::host::TokenError;
use crate::inspect::InspectError;
use crate::model::schema_expansion::SchemaExpansion;
use crate::model::{AgentName, BadPlan, Sandbox, SkillsMode, TaskId};
use crate::registry::RegistryError;
use crate::runs::ReadError;
use crate::setup::SetupError;
use crate::terminals::TerminalError;

#[derive(Debug, thiserror::Error)]
pub(crate) enum TaskError {
    #[error(transparent)]
    Home(#[from] HomeError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Registry(#[from] RegistryError),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Listen(#[from] ListenError),
    #[error(transparent)]
    Token(#[from] TokenError),
    #[error(transparent)]
    Random(#[from] NoRandomness),
    #[error(transparent)]
    Terminal(#[from] TerminalError),
    #[error(transparent)]
    Setup(#[from] SetupError),
    #[error(transparent)]
    Environments(#[from] EnvironmentsError),
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    #[error("failed to write to `{}`", path.display())]
    Write {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("only {free} bytes are free below `{}`", path.display())]
    DiskFull { path: PathBuf, free: u64 },

    #[error("the registry is in order: there is nothing to rebuild")]
    NothingToRebuild,
    #[error("another cleanup is already running")]
    CleaningUp,
    #[error("no task, capture or terminal `{}`", .0.escape_debug())]
    NothingToPin(String),

    #[error("the task is empty")]
    EmptyTask,
    #[error("the task is {bytes} bytes long; the limit is {limit}")]
    LongTask { bytes: usize, limit: usize },
    #[error("a command line cannot hold a NUL character")]
    NulInTask,
    #[error("`{field}` needs a sandbox that can write")]
    NeedsWrite { field: &'static str },
    #[error("`{name}` is {bytes} bytes long; the limit is {limit}")]
    LongField { name: &'static str, bytes: usize, limit: usize },
    #[error("`{name}` is empty")]
    EmptyField { name: &'static str },
    #[error("`{name}` contains invisible characters or starts with `-`")]
    OddField { name: &'static str },
    #[error("`{name}` has {count} entries; the limit is {limit}")]
    LongList { name: &'static str, count: usize, limit: usize },
    #[error("`{}` is not a valid alias", .0.escape_debug())]
    BadAlias(String),
    #[error("`{name}` must be a number of seconds, above zero and at most one year")]
    BadLimit { name: &'static str },
    #[error("`attempts` is {0}")]
    BadAttempts(u32),
    #[error("`{}` is not the name of a branch", .0.escape_debug())]
    BadBranch(String),
    #[error("no environment is named, and {}", of_environments(known))]
    NoEnvironment { known: Vec<String> },
    #[error("`{}` is not a repository on GitHub", short(.0).escape_debug())]
    BadRepository(String),
    #[error("no repository is named, and `{}` has no remote on GitHub", .0.display())]
    NoGitHubRemote(PathBuf),
    #[error("unknown tech stack `{}`", short(given).escape_debug())]
    BadTechStack { given: String, known: Vec<&'static str> },
    #[error("uncommitted work cannot be sent: {why}")]
    NoStartingDiff {
        why: String,
        #[source]
        git: Option<BoundedRunError>,
    },
    #[error("the directory `{}` does not exist", .0.display())]
    NoDirectory(PathBuf),
    #[error("`{}` is not a directory", .0.display())]
    NotADirectory(PathBuf),
    #[error("the name of the directory `{}` is not UTF-8", .0.display())]
    OddDirectory(PathBuf),
    #[error("`{}` is not inside a git repository", .0.display())]
    OutsideGit(PathBuf),
    #[error("uncommitted work cannot be sent: `{}` is not inside a git repository", .0.display())]
    DiffOutsideGit(PathBuf),
    #[error("write access to `{}` is never allowed", .0.display())]
    ForbiddenRoot(PathBuf),
    #[error("`{}` is or contains files that control git or an agent (hooks, settings): clients get no write access to it", .0.display())]
    GuardedRoot(PathBuf),
    #[error("`{agent}` is not installed")]
    AgentMissing { agent: AgentName },
    #[error("the agent's program `{}` cannot be run", .0.display())]
    BadProgram(PathBuf),
    #[error("agent `{agent}` does not support `{field}`")]
    Unsupported { agent: AgentName, field: &'static str },
    #[error("`skills` names skills, but `skills_mode` is `{}`", .0.as_str())]
    SkillsNotExplicit(SkillsMode),
    #[error("sandbox `{asked}` is more than this machine's configuration allows (`{max}`)")]
    SandboxBeyond { asked: Sandbox, max: Sandbox },
    #[error("sandbox `{asked}` is more than the client itself has (`{max}`)")]
    SandboxBeyondClient { asked: Sandbox, max: Sandbox },
    #[error("`{}` is outside this client's project", .0.display())]
    OutsideRoots(PathBuf),
    #[error("`{}` is outside what the client itself may write to", .0.display())]
    OutsideSandbox(PathBuf),
    #[error("the agent `command` is not offered to clients")]
    CommandOverMcp,
    #[error("a client's command must run in a sandbox, so `danger-full-access` is not allowed")]
    CommandUnconfined,
    #[error("commands cannot be sandboxed on this machine: {why}")]
    NoJail {
        why: String,
        /// Of the program that was tried last.
        #[source]
        trial: Option<BoundedRunError>,
    },
    #[error("clients can replay only the recordings that come with delegator")]
    ForeignRecording,
    #[error("not supported yet: {}", quoted(.0))]
    NotYet(Vec<&'static str>),
    #[error("network access is not allowed by this machine's configuration")]
    NetworkOff,
    #[error("network access is more than the client itself has")]
    NetworkBeyondClient,
    #[error("the client's own read access is restricted, and no agent can be held to that restriction")]
    ReadsBeyondClient,
    #[error("the variable `{}` may not be handed to an agent", .0.escape_debug())]
    EnvNotAllowed(String),
    #[error("the variable `{}` is not set", .0.escape_debug())]
    EnvNotSet(String),
    #[error("the override `{}` is not of the form `key=value`", .0.escape_debug())]
    BadOverride(String),
    #[error("the override key `{}` is not allowed", .0.escape_debug())]
    OverrideNotAllowed(String),
    #[error("the output schema is not a valid JSON Schema: {0}")]
    BadSchema(String),
    #[error(transparent)]
    WideSchema(#[from] SchemaExpansion),
    #[error("the output schema could not be checked: {0}")]
    CostlySchema(String),
    #[error("the output schema could not be checked: {0}")]
    UncheckedSchema(#[source] BoundedRunError),
    #[error(transparent)]
    BadRecording(BadRecording),
    #[error(transparent)]
    BadPlan(BadPlan),
    #[error("a task may not be started from inside another one (depth {depth}, allowed {max})")]
    TooDeep { depth: u32, max: u32 },
    #[error("the key `{key}` was used for another request (`{task}`)")]
    KeyConflict { key: String, task: TaskId },

    #[error("`{}` is outside delegator's home directory", .0.escape_debug())]
    OutsideHome(String),
    #[error("`{}` is not a file that can be inspected", .0.escape_debug())]
    NotInspectable(String),
    #[error("output file not found: `{}`", .0.escape_debug())]
    NoOutput(String),
    #[error("`{}` is not a regular file, or its path contains a symbolic link", .0.escape_debug())]
    NotAPlainFile(String),
    #[error("failed to read `{}`", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("`{task}` has no artifact `{}`", name.escape_debug())]
    NoArtifact { task: TaskId, name: String, there: Vec<String> },
    #[error("`{task}` has run no command{}", item.as_ref().map(|item| format!(" `{}`", item.escape_debug())).unwrap_or_default())]
    NoCommand { task: TaskId, item: Option<String>, there: Vec<String> },
    #[error("`{task}` has no output: {why}")]
    MissingOutput { task: TaskId, why: MissingOutput },
    #[error(transparent)]
    Inspect(#[from] InspectError),

    #[error("no task `{}`", short(.0))]
    NotFound(String),
    #[error("`{}` is a task of another project, {}", short(reference), project.display())]
    OtherProject { reference: String, project: PathBuf, task: TaskId },
    #[error("`{}` could be any of {}", short(reference), some(candidates))]
    Ambiguous { reference: String, candidates: Vec<String> },
    #[error("`{}` is neither a known task nor a thread id (a UUID)", short(.0))]
    BadThread(String),
    #[error("task `{0}` has no thread to resume")]
    NoThread(TaskId),
    #[error("Codex Cloud cannot cancel a task: {}", page.as_deref().map_or_else(
        || format!("`{task}` may be there, or not yet"),
        |page| format!("`{task}` goes on at {page}"),
    ))]
    NoRemoteCancel { task: TaskId, page: Option<String> },
    #[error("thread `{thread}` is busy with `{task}`")]
    ThreadBusy { thread: String, task: TaskId },
}

/// Why none of the known environments is taken.
fn of_environments(known: &[String]) -> String {
    if known.is_empty() { "none is known".to_owned() } else { format!("it could be any of {}", some(known)) }
}

/// Enough of the caller's text to recognise it.
fn short(reference: &str) -> String {
    text::cut(reference, 100)
}

/// The first few candidates.
fn some(candidates: &[String]) -> String {
    let shown = candidates.iter().take(5).map(String::as_str).collect::<Vec<_>>().join(", ");
    if candidates.len() > 5 { format!("{shown}, and more") } else { shown }
}

/// An error with its causes, on one line.
pub(crate) fn one_line(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text.replace('\n', " ")
}

/// Lists field names for a sentence.
pub(crate) fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

impl TaskError {
    /// Wraps an error of a write below `path`, for `map_err`.
    pub(crate) fn write(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| TaskError::Write { path, source }
    }
}
