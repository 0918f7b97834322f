//! How every error looks from outside: its code, its one line, its hint, and
//! the exit code it gives. The only place that assigns any of them.

use crate::host::paths::HomeError;
use crate::registry::RegistryError;
use crate::tasks::{TaskError, one_line};

/// What a caller is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) code: Code,
    pub(crate) exit: Exit,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

/// S2's error codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    Validation,
    NotFound,
    Unsupported,
    Internal,
}

impl Code {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Code::Validation => "VALIDATION",
            Code::NotFound => "NOT_FOUND",
            Code::Unsupported => "UNSUPPORTED",
            Code::Internal => "INTERNAL",
        }
    }
}

/// The program's exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Done = 0,
    RunFailed = 1,
    BadInput = 2,
    NotFound = 3,
    StillWorking = 4,
    Cancelled = 5,
    Machine = 6,
    Interrupted = 130,
}

impl From<&TaskError> for Failure {
    fn from(error: &TaskError) -> Self {
        let (code, exit, hint) = classify(error);
        Self { code, exit, message: one_line(error), hint }
    }
}

fn classify(error: &TaskError) -> (Code, Exit, Option<String>) {
    let hint = |text: &str| Some(text.to_owned());
    let bad = |text: &str| (Code::Validation, Exit::BadInput, Some(text.to_owned()));
    match error {
        TaskError::Home(home) => (Code::Internal, Exit::Machine, Some(home_hint(home))),
        TaskError::Config(_) => (
            Code::Validation,
            Exit::Machine,
            hint("`delegator doctor --config` lists every key with its default"),
        ),
        TaskError::Registry(registry) => (Code::Internal, Exit::Machine, registry_hint(registry)),
        TaskError::Read(_) => (
            Code::Internal,
            Exit::Machine,
            hint("the run directory was changed by somebody else; its other files are still there"),
        ),
        TaskError::Random(_) => (Code::Internal, Exit::Machine, None),
        TaskError::Write { .. } => (
            Code::Internal,
            Exit::Machine,
            hint("`delegator doctor` shows the state of the disk and the home"),
        ),
        TaskError::DiskFull { .. } => {
            (Code::Internal, Exit::Machine, hint("free some space; `delegator cleanup` removes old runs"))
        }

        TaskError::NothingToRebuild => bad("`delegator doctor` shows the state of everything else"),
        TaskError::NulInTask => bad("put the bytes into a file and name the file in the command"),
        TaskError::NeedsWrite { .. } => bad("add `--sandbox workspace-write`, or leave it out"),
        TaskError::EmptyTask => {
            bad("say what is to be done, for example `delegator run \"fix the failing test\"`")
        }
        TaskError::LongTask { .. } => {
            bad("put the long part into a file in the project and name the file in the task")
        }
        TaskError::LongField { .. } => bad("shorten it"),
        TaskError::EmptyField { .. } => bad("give it a value, or leave it out"),
        TaskError::BadAlias(_) => bad("use a short name of printable characters that is no id"),
        TaskError::BadLimit { .. } => bad("for example `--idle 900`"),
        TaskError::NoDirectory(_) | TaskError::NotADirectory(_) => {
            bad("name an existing directory with `--cwd`")
        }
        TaskError::OutsideGit(_) => {
            bad("run it inside a repository (`git init` makes one), or pass `--skip-git-repo-check`")
        }
        TaskError::ForbiddenRoot(_) => {
            bad("name a project directory with `--cwd`, or use `--sandbox read-only`")
        }
        TaskError::AgentMissing { .. } => (
            Code::Unsupported,
            Exit::Machine,
            hint(
                "install it with `npm install -g @openai/codex`, or try `--agent command` or `delegator demo`",
            ),
        ),
        TaskError::BadProgram(_) => {
            (Code::Unsupported, Exit::Machine, hint("correct `codex_path` in the configuration"))
        }
        TaskError::Unsupported { field, .. } => {
            (Code::Unsupported, Exit::BadInput, Some(format!("leave out `{field}`, or choose another agent")))
        }
        TaskError::SandboxBeyond { .. } => {
            bad("the operator sets the maximum with `max_sandbox` in the configuration")
        }
        TaskError::NetworkOff => {
            bad("the operator allows it with `allow_network = true` in the configuration")
        }
        TaskError::EnvNotAllowed(name) => {
            bad(&format!("the operator allows it with `env_allow = [\"{name}\"]` in the configuration"))
        }
        TaskError::EnvNotSet(_) => bad("set it before the call"),
        TaskError::BadOverride(_) => {
            bad("for example `--config model_verbosity=high`; only plain values are taken")
        }
        TaskError::OverrideNotAllowed(_) => bad(
            "the operator lists allowed keys in `config_override_keys`; keys that start programs or raise access are never allowed",
        ),
        TaskError::BadSchema(_) => bad("give a JSON Schema as a file with `--output-schema`"),
        TaskError::BadRecording(bad_recording) => bad(&bad_recording.hint()),
        TaskError::TooDeep { .. } => {
            bad("the operator allows deeper tasks with `max_depth` in the configuration")
        }
        TaskError::KeyConflict { .. } => bad("use a new key for a new request"),

        TaskError::NotFound(_) => (
            Code::NotFound,
            Exit::NotFound,
            hint("`delegator status --all` lists every task still in the registry"),
        ),
        TaskError::Ambiguous { .. } => bad("give more of the id"),
        TaskError::BadThread(_) => bad("`delegator status --all` lists tasks; a thread id is a UUID"),
        TaskError::NoThread(_) => {
            bad("only a run whose agent named a thread can be resumed; start a new task instead")
        }
        TaskError::ThreadBusy { task, .. } => {
            bad(&format!("wait for it with `delegator wait {task}`, or cancel it"))
        }
    }
}

fn home_hint(error: &HomeError) -> String {
    match error {
        HomeError::Unknown | HomeError::Relative(_) => "set DELEGATOR_HOME to an absolute path".into(),
        HomeError::TooOpen { root, .. } => {
            format!(
                "if it is meant to be the delegator's, `chmod 700 {}`; otherwise set DELEGATOR_HOME",
                root.display()
            )
        }
        HomeError::NotADirectory(_) | HomeError::NotOurs { .. } | HomeError::Unusable { .. } => {
            "set DELEGATOR_HOME to a directory of your own".into()
        }
    }
}

fn registry_hint(error: &RegistryError) -> Option<String> {
    match error {
        RegistryError::Newer { .. } => {
            Some("update `delegator`, or set DELEGATOR_HOME to another directory".into())
        }
        RegistryError::Damaged { .. } | RegistryError::Corrupt(_) => Some(
            "`delegator doctor --rebuild` sets it aside and makes a new one from the run directories".into(),
        ),
        RegistryError::Full(_) => Some("free some space; `delegator cleanup` removes old runs".into()),
        RegistryError::Unusable { .. } => Some("`delegator doctor` shows the state of the home".into()),
        RegistryError::Sql(_) | RegistryError::OldLibrary(_) => None,
    }
}
