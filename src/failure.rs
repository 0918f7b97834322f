//! How every error looks from outside: its code, its one line, its hint, and
//! the exit code it gives. The only place that assigns any of them.

use crate::host::listen::ListenError;
use crate::host::paths::HomeError;
use crate::host::token::TokenError;
use crate::progress::plain;
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
    /// As `Internal`, for what the same request will not get past: somebody has
    /// to change something first.
    Lasting,
}

impl Code {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Code::Validation => "VALIDATION",
            Code::NotFound => "NOT_FOUND",
            Code::Unsupported => "UNSUPPORTED",
            Code::Internal | Code::Lasting => "INTERNAL",
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

/// In whose words a reader is told what to do: those of the shell or those of
/// the tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Voice {
    Shell,
    Tools,
}

impl Voice {
    pub(crate) fn say<'a>(self, shell: &'a str, tools: &'a str) -> &'a str {
        match self {
            Voice::Shell => shell,
            Voice::Tools => tools,
        }
    }
}

impl Failure {
    pub(crate) fn of(error: &TaskError, voice: Voice) -> Self {
        let (code, exit, hint) = classify(error, voice);
        // What a caller wrote comes back in it, and must not act on a screen.
        let message = plain::text(&one_line(error)).replace(['\n', '\t'], " ");
        Self { code, exit, message, hint }
    }
}

fn classify(error: &TaskError, voice: Voice) -> (Code, Exit, Option<String>) {
    let hint = |text: &str| Some(text.to_owned());
    let bad = |text: &str| (Code::Validation, Exit::BadInput, Some(text.to_owned()));
    let either = |shell: &str, tools: &str| bad(voice.say(shell, tools));
    match error {
        TaskError::Home(home) => {
            let ask = voice.say("", "ask the user to correct this: ");
            (Code::Lasting, Exit::Machine, Some(format!("{ask}{}", home_hint(home))))
        }
        TaskError::Config(_) => (
            Code::Lasting,
            Exit::Machine,
            hint(voice.say(
                "`delegator doctor --config` lists every key with its default",
                "ask the user to correct it; `delegator doctor --config` lists every key. Looking and cancelling still work",
            )),
        ),
        TaskError::Registry(registry) => {
            let code = match registry {
                RegistryError::Sql(_) | RegistryError::Full(_) => Code::Internal,
                RegistryError::Newer { .. }
                | RegistryError::Damaged { .. }
                | RegistryError::Corrupt(_)
                | RegistryError::Unusable { .. }
                | RegistryError::OldLibrary(_) => Code::Lasting,
            };
            (code, Exit::Machine, registry_hint(registry))
        }
        TaskError::Read(_) => (
            Code::Internal,
            Exit::Machine,
            hint("the run directory was changed by somebody else; its other files are still there"),
        ),
        TaskError::Listen(ListenError::TooFar(_)) => {
            bad("use 127.0.0.1, or set `http_allow_remote = true` in the configuration")
        }
        TaskError::Listen(ListenError::Unusable { .. }) => {
            (Code::Internal, Exit::Machine, hint("choose another port; 0 takes any that is free"))
        }
        TaskError::Token(token) => (Code::Internal, Exit::Machine, token_hint(token)),
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
        TaskError::NeedsWrite { .. } => either(
            "add `--sandbox workspace-write`, or leave it out",
            "add `\"sandbox\": \"workspace-write\"`, or leave it out",
        ),
        TaskError::EmptyTask => {
            either(
                "say what is to be done, for example `delegator run \"fix the failing test\"`",
                "say in `task` what is to be done and what you want to know of it",
            )
        }
        TaskError::LongTask { .. } => {
            bad("put the long part into a file in the project and name the file in the task")
        }
        TaskError::LongField { .. } => bad("shorten it"),
        TaskError::EmptyField { .. } => bad("give it a value, or leave it out"),
        TaskError::OddField { .. } => bad("write it in plain, printable characters"),
        TaskError::LongList { .. } => bad("shorten the list"),
        TaskError::BadAlias(_) => bad("use a short name of printable characters that is no id"),
        TaskError::BadLimit { .. } => either("for example `--idle 900`", "for example `{\"idle_s\": 900}`"),
        TaskError::NoDirectory(_) | TaskError::NotADirectory(_) => {
            either("name an existing directory with `--cwd`", "give an existing directory as `cwd`")
        }
        TaskError::OutsideGit(_) => {
            either(
                "run it inside a repository (`git init` makes one), or pass `--skip-git-repo-check`",
                "give a directory inside a repository as `cwd`, or set `skip_git_repo_check` to true",
            )
        }
        TaskError::ForbiddenRoot(_) => {
            either(
                "name a project directory with `--cwd`, or use `--sandbox read-only`",
                "give a project directory as `cwd`, or use the sandbox `read-only`",
            )
        }
        TaskError::AgentMissing { .. } => (
            Code::Unsupported,
            Exit::Machine,
            hint(voice.say(
                "install it with `npm install -g @openai/codex`, or try `--agent command` or `delegator demo`",
                "ask the user to install it (`npm install -g @openai/codex`); `delegator doctor` shows what works",
            )),
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
        TaskError::SandboxBeyondClient { max, .. } => bad(&format!(
            "ask for `{max}`; more takes a client that runs with more (in Codex: `sandbox_mode`), and whose report of it is understood"
        )),
        TaskError::OutsideRoots(_) => bad(
            "the operator adds directories with `roots` in the configuration; reading works with the sandbox `read-only`",
        ),
        TaskError::OutsideSandbox(_) => {
            bad("use the sandbox `read-only`, or let the client itself write there")
        }
        TaskError::CommandOverMcp => (
            Code::Unsupported,
            Exit::BadInput,
            hint("use your own shell for commands, or the agent `codex`; the operator allows it with `command_over_mcp = true` in the configuration"),
        ),
        TaskError::CommandUnconfined => {
            (Code::Unsupported, Exit::BadInput, hint("ask for the sandbox `read-only` or `workspace-write`"))
        }
        TaskError::NoJail(_) => (
            Code::Unsupported,
            Exit::Machine,
            hint("use the agent `codex`; with `command_over_mcp`, commands need a Codex whose sandbox works, or bubblewrap (`bwrap`); `delegator doctor` shows both"),
        ),
        TaskError::ForeignRecording => bad("name one of them, for example `quick`"),
        TaskError::NotYet(field) => {
            (Code::Unsupported, Exit::BadInput, Some(format!("leave out `{field}`")))
        }
        TaskError::NetworkOff => {
            bad("the operator allows it with `allow_network = true` in the configuration")
        }
        TaskError::NetworkBeyondClient => {
            bad("leave out `network`, or let the client itself use it (in Codex: `network_access`)")
        }
        TaskError::ReadsBeyondClient => (
            Code::Unsupported,
            Exit::BadInput,
            hint("do it yourself, or ask the user to start it with `delegator run` at a shell"),
        ),
        TaskError::EnvNotAllowed(_) => {
            bad("the operator lists the names that may be handed over in `env_allow` in the configuration")
        }
        TaskError::EnvNotSet(_) => bad("set it before the call"),
        TaskError::BadOverride(_) => {
            either(
                "for example `--config model_verbosity=high`; only plain values are taken",
                "for example `model_verbosity=high`; only plain values are taken",
            )
        }
        TaskError::OverrideNotAllowed(_) => bad(
            "the operator lists allowed keys in `config_override_keys`; keys that start programs or raise access are never allowed",
        ),
        TaskError::BadSchema(_) => either("give a JSON Schema as a file with `--output-schema`", "give a JSON Schema as an object"),
        TaskError::BadRecording(bad_recording) => bad(&bad_recording.hint()),
        TaskError::TooDeep { .. } => {
            bad("the operator allows deeper tasks with `max_depth` in the configuration")
        }
        TaskError::KeyConflict { .. } => bad("use a new key for a new request"),

        TaskError::NotFound(_) => (
            Code::NotFound,
            Exit::NotFound,
            hint(voice.say(
                "`delegator status --all` lists every task still in the registry",
                "`delegate_status` lists the tasks of this project",
            )),
        ),
        TaskError::Ambiguous { .. } => bad("give more of the id"),
        TaskError::BadThread(_) => either(
            "`delegator status --all` lists tasks; a thread id is a UUID",
            "`delegate_status` lists the tasks of this project; a thread id is a UUID",
        ),
        TaskError::NoThread(_) => {
            bad("only a run whose agent named a thread can be resumed; start a new task instead")
        }
        TaskError::ThreadBusy { task, .. } => {
            bad(&match voice {
                Voice::Shell => format!("wait for it with `delegator wait {task}`, or cancel it"),
                Voice::Tools => format!("wait for it with `delegate_wait` (task_id `{task}`), or cancel it"),
            })
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

fn token_hint(error: &TokenError) -> Option<String> {
    match error {
        TokenError::NotOurs { .. } | TokenError::TooOpen { .. } | TokenError::NoToken(_) => {
            Some("remove it: the next start makes a new one, which clients then have to be given".into())
        }
        TokenError::Unusable { .. } => Some("`delegator doctor` shows the state of the home".into()),
        TokenError::Random(_) => None,
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
