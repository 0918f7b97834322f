//! How every error looks from outside: its code, its one line, its hint, and
//! the exit code it gives. The only place that assigns any of them.

mod details;
mod flags;
mod hints;

use serde_json::{Map, Value};

use hints::{CHANGED, home_hint, registry_hint, setup_failure, terminal_failure, token_hint};

use crate::config::ConfigError;
use crate::context::{MissingOutput, TaskError, one_line, quoted};
use crate::host::ListenError;
use crate::inspect::InspectError;
use crate::redact;
use crate::registry::RegistryError;
use crate::text::plain;

/// In characters.
const LONGEST_MESSAGE: usize = 1000;

/// What a caller is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) code: Code,
    pub(crate) exit: Exit,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    /// For programs: the reason in one word, and the values in the message.
    pub(crate) details: Box<Map<String, Value>>,
}

/// S2's error codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    /// The call itself could not be answered in time; no run's own limit.
    Timeout,
    Validation,
    /// An agent's program is there and does not work.
    ToolError,
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
            Code::Timeout => "TIMEOUT",
            Code::Validation => "VALIDATION",
            Code::ToolError => "TOOL_ERROR",
            Code::NotFound => "NOT_FOUND",
            Code::Unsupported => "UNSUPPORTED",
            Code::Internal | Code::Lasting => "INTERNAL",
        }
    }

    /// Whether the same request may succeed the next time.
    pub(crate) fn is_retryable(self) -> bool {
        match self {
            Code::Timeout | Code::Internal => true,
            Code::Validation | Code::ToolError | Code::NotFound | Code::Unsupported | Code::Lasting => false,
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
    pub(crate) fn new(code: Code, exit: Exit, message: impl Into<String>, hint: Option<String>) -> Self {
        Self { code, exit, message: message.into(), hint, details: Box::default() }
    }

    /// With one more detail.
    pub(crate) fn about(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.into(), value.into());
        self
    }

    pub(crate) fn of(error: &TaskError, voice: Voice) -> Self {
        let (code, exit, hint) = classify(error, voice);
        // What a caller wrote comes back in it, and must not act on a screen.
        let message = plain::text(&one_line(error)).replace(['\n', '\t'], " ");
        let message = match flags::field(error) {
            Some(field) => flags::worded(&message, field, voice),
            None => without_middle(&message),
        };
        Self { code, exit, message, hint, details: Box::new(details::details(error)) }
    }
}

/// Whoever wrote pages where a name belongs knows them; what is wrong with them
/// stands at one of the two ends. Secrets go first: half of one is not known.
fn without_middle(message: &str) -> String {
    let message = redact::text(message);
    let chars = message.chars().count();
    if chars <= LONGEST_MESSAGE {
        return message.into_owned();
    }
    let half = LONGEST_MESSAGE / 2;
    let first: String = message.chars().take(half).collect();
    let last: String = message.chars().skip(chars - half).collect();
    format!("{first} … {last}")
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
        TaskError::Config(ConfigError::Unreadable { .. }) => {
            (Code::Lasting, Exit::Machine, hint("it must be a readable regular file of UTF-8 text, or not exist"))
        }
        TaskError::Config(ConfigError::Invalid { .. }) => (
            Code::Lasting,
            Exit::Machine,
            hint(voice.say(
                "`delegator doctor --config` lists every key with its default",
                "ask the user to correct it; `delegator doctor --config` lists every key. Looking and cancelling still work",
            )),
        ),
        TaskError::Registry(registry) => {
            let code = match registry {
                RegistryError::Busy(_) => Code::Timeout,
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
        TaskError::Terminal(terminal) => terminal_failure(terminal, voice),
        TaskError::Setup(setup) => setup_failure(setup),
        TaskError::Random(_) => (Code::Internal, Exit::Machine, None),
        TaskError::Write { .. } => (
            Code::Internal,
            Exit::Machine,
            hint("`delegator doctor` shows the state of the disk and the home"),
        ),
        TaskError::DiskFull { .. } => {
            (Code::Internal, Exit::Machine, hint("free some space; `delegator cleanup` removes old runs"))
        }

        TaskError::CleaningUp => (Code::Timeout, Exit::Machine, hint("try again in a moment")),
        TaskError::NothingToPin(_) => (
            Code::NotFound,
            Exit::NotFound,
            hint("give a task, the name of a file in `captures`, or a terminal's id or name; `delegator status --all` lists every task"),
        ),
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
        TaskError::BadAlias(_) => bad("use a short name of printable characters that is no id and begins like none"),
        TaskError::BadLimit { name } => bad(&match voice {
            Voice::Shell => format!("for example `{} 900`", flags::spoken(name, voice)),
            Voice::Tools => format!("for example `{{\"{name}_s\": 900}}`"),
        }),
        TaskError::NoDirectory(_) | TaskError::NotADirectory(_) => {
            either("name an existing directory with `--cwd`", "name directories that exist in `cwd` and `add_dirs`")
        }
        TaskError::OddDirectory(_) => bad("rename it, or work in another directory"),
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
        TaskError::GuardedRoot(_) => {
            bad("give the project's own directory instead, whose `.git` stays read-only, or use the sandbox `read-only`")
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
            (Code::ToolError, Exit::Machine, hint("correct `codex_path` in the configuration"))
        }
        TaskError::Unsupported { field: "resume", .. } => {
            (Code::Unsupported, Exit::BadInput, hint("start a new task instead"))
        }
        TaskError::Unsupported { field, .. } => {
            let field = flags::spoken(field, voice);
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
        TaskError::NotYet(fields) => {
            (Code::Unsupported, Exit::BadInput, Some(format!("leave out {}", quoted(fields))))
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
        TaskError::BadOverride(_) => either(
            "for example `--config model_verbosity=high`; only plain values are taken",
            "for example `model_verbosity=high`; only plain values are taken",
        ),
        TaskError::OverrideNotAllowed(_) => bad(
            "the operator lists allowed keys in `config_override_keys`; keys that start programs or raise access are never allowed",
        ),
        TaskError::BadSchema(_) => either("give a JSON Schema as a file with `--output-schema`", "give a JSON Schema as an object"),
        TaskError::WideSchema(_) => bad("apply each subschema once to the same value; `properties` and `items` may refer to any, also to the schema itself"),
        TaskError::CostlySchema(_) => bad("give a smaller or simpler JSON Schema"),
        TaskError::BadRecording(bad_recording) => bad(&bad_recording.hint()),
        TaskError::BadPlan(_) => bad("give each job an `id`, a `task` and an `agent`, and list in `after` the jobs that must complete first"),
        TaskError::TooDeep { .. } => {
            bad("the operator allows deeper tasks with `max_depth` in the configuration")
        }
        TaskError::KeyConflict { .. } => bad("use a new key for a new request"),

        TaskError::OutsideHome(_) | TaskError::NotInspectable(_) => either(
            "name a task and one of its artifacts, or a `full_output_file` that a reply named",
            "give `task_id` and `artifact`, or a `full_output_file` that a reply named; delegate_results lists artifacts",
        ),
        TaskError::NoOutput(_) => (
            Code::NotFound,
            Exit::NotFound,
            hint(voice.say(
                "captures and recordings are kept for a day; `delegator results` lists the files of a run",
                "captures and recordings are kept for a day; `delegate_results` lists the files of a run",
            )),
        ),
        TaskError::NotAPlainFile(_) => bad(CHANGED),
        TaskError::Unreadable { .. } => {
            (Code::Internal, Exit::Machine, hint("`delegator doctor` shows the state of the home"))
        }
        TaskError::NoArtifact { there, .. } => {
            let has = if there.is_empty() { "it has none yet".to_owned() } else { format!("it has {}", there.join(", ")) };
            (Code::NotFound, Exit::NotFound, Some(has))
        }
        TaskError::NoCommand { there, .. } => {
            let has = if there.is_empty() { "its agent told of none so far".to_owned() } else { format!("it has run {}", there.join(", ")) };
            (Code::NotFound, Exit::NotFound, Some(has))
        }
        TaskError::MissingOutput { task, why } => {
            let told = match (why, voice) {
                (MissingOutput::Queued, Voice::Shell) => format!("`delegator wait {task}` waits for its end"),
                (MissingOutput::Queued, Voice::Tools) => {
                    format!("delegate_wait {{\"task_id\": \"{task}\"}} waits for its end")
                }
                (MissingOutput::NeverStarted | MissingOutput::Gone, Voice::Shell) => {
                    format!("`delegator results {task}` says how it ended")
                }
                (MissingOutput::NeverStarted | MissingOutput::Gone, Voice::Tools) => {
                    format!("delegate_results {{\"task_id\": \"{task}\"}} says how it ended")
                }
            };
            (Code::NotFound, Exit::NotFound, Some(told))
        }
        TaskError::Inspect(inspect) => match inspect {
            InspectError::Read(_) => {
                (Code::Internal, Exit::Machine, hint("the file was changed by somebody else; its other parts may be there"))
            }
            InspectError::Pattern(_) => bad("patterns are regular expressions without look-around; escape ( [ { . * + ? with \\ to search for them"),
            InspectError::Path(_) => bad("paths are such as $.items[0].name, $.items[*].id, $..name, [2:5]"),
            InspectError::NoCursor(_) => bad("hand back `next_cursor` as it came, or leave it out to begin anew"),
            InspectError::WrongCursor => bad("ask in the same mode as before, or leave it out to begin anew"),
            InspectError::Idle { .. } => bad("leave it out, or choose another mode"),
            InspectError::NoPattern => bad("give what to search for"),
            InspectError::PathAlone => bad("leave out `mode`"),
            InspectError::Backwards => bad("give the smaller number first"),
        },
        TaskError::NotFound(_) => (
            Code::NotFound,
            Exit::NotFound,
            hint(voice.say(
                "`delegator status --all` lists every task still in the registry",
                "`delegate_status` lists the tasks of this project",
            )),
        ),
        TaskError::Ambiguous { .. } => bad("give more of the id"),
        TaskError::BadThread(_) => (
            Code::NotFound,
            Exit::NotFound,
            hint(voice.say(
                "`delegator status --all` lists tasks; a thread id is a UUID",
                "`delegate_status` lists the tasks of this project; a thread id is a UUID",
            )),
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
