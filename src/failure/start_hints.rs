//! Hints for requests that cannot start a task.

use crate::context::{TaskError, WorktreeError, quoted};
use crate::failure::{Voice, flags};
use crate::model::AgentName;

pub(super) fn hint(error: &TaskError, voice: Voice) -> Option<String> {
    input_hint(error, voice).or_else(|| limit_hint(error, voice))
}

/// For a value that no configuration would accept.
fn input_hint(error: &TaskError, voice: Voice) -> Option<String> {
    let text = match error {
        TaskError::EmptyTask => voice.say(
            "say what the agent should do, for example `delegator run \"fix the failing test\"`",
            "say in `task` what the agent should do and what you want to know",
        ),
        TaskError::LongTask { .. } => {
            "put the long part into a file in the project and name the file in the task"
        }
        TaskError::NulInTask => "put the bytes into a file and name the file in the command",
        TaskError::NeedsWrite { .. } => voice.say(
            "add `--sandbox workspace-write`, or leave it out",
            "add `\"sandbox\": \"workspace-write\"`, or leave it out",
        ),
        TaskError::LongField { .. } => "shorten it",
        TaskError::SkillsNotExplicit(_) => voice.say(
            "use `--skills-mode explicit`, or leave out `--skills`",
            "set `skills_mode` to `explicit`, or leave out `skills`",
        ),
        TaskError::EmptyField { .. } => "give it a value, or leave it out",
        TaskError::OddField { .. } => "use plain, printable characters",
        TaskError::LongList { .. } => "shorten the list",
        TaskError::BadAlias(_) => "use a short name of printable characters that does not look like an id",
        TaskError::BadLimit { name } => {
            return Some(match voice {
                Voice::Shell => format!("for example `{} 900`", flags::spoken(name, voice)),
                Voice::Tools => format!("for example `{{\"{name}_s\": 900}}`"),
            });
        }
        TaskError::BadAttempts(_) => voice.say("`--attempts` is 1, 2, 3 or 4", "`attempts` is 1, 2, 3 or 4"),
        TaskError::BadBranch(_) => "name a branch of the repository on GitHub, or leave it out",
        TaskError::NoEnvironment { .. } => voice.say(
            "name one with `--env-id`; `delegator environments` lists those that are known, chatgpt.com/codex/settings/environments all of them",
            "give its id or label in `env_id`; `_codex_cloud_list_environments` lists those that are known, chatgpt.com/codex/settings/environments all of them",
        ),
        TaskError::BadRepository(_) | TaskError::NoGitHubRemote(_) => {
            "give it as `owner/name` or `https://github.com/owner/name`"
        }
        TaskError::BadTechStack { known, .. } => return Some(format!("one of {}", known.join(", "))),
        TaskError::NoStartingDiff { .. } => "commit and push the work, and name its branch",
        TaskError::DiffOutsideGit(_) => voice.say(
            "leave out `--starting-diff`, or run it inside a repository",
            "leave out `starting_diff`, or give a directory inside a repository as `working_dir`",
        ),
        TaskError::NoDirectory(_) | TaskError::NotADirectory(_) => voice.say(
            "name an existing directory with `--cwd`",
            "name existing directories in `cwd` and `add_dirs`",
        ),
        TaskError::OddDirectory(_) => "rename it, or work in another directory",
        TaskError::OutsideGit(_) => voice.say(
            "run it inside a repository (`git init` makes one), or pass `--skip-git-repo-check`",
            "give a directory inside a repository as `cwd`, or set `skip_git_repo_check` to true",
        ),
        TaskError::Worktree(WorktreeError::NoRepository(_)) => voice.say(
            "run it inside a repository that is not bare, or without `--worktree`",
            "give a directory inside a repository that is not bare as `cwd`, or leave out `isolation`",
        ),
        TaskError::Worktree(WorktreeError::NoCommit(_)) => "make a first commit: a worktree starts from a commit",
        TaskError::EnvNotSet(_) => "set it before the call",
        TaskError::BadOverride(_) => voice.say(
            "for example `--config model_verbosity=high`; only plain values are accepted",
            "for example `model_verbosity=high`; only plain values are accepted",
        ),
        TaskError::BadSchema(_) => voice
            .say("give a JSON Schema as a file with `--output-schema`", "give a JSON Schema as an object"),
        TaskError::WideSchema(_) => {
            "apply each subschema once to the same value; `properties` and `items` may refer to any, also to the schema itself"
        }
        TaskError::CostlySchema(_) => "give a smaller or simpler JSON Schema",
        TaskError::BadRecording(bad_recording) => return Some(bad_recording.hint()),
        TaskError::BadPlan(_) => {
            "give each job an `id`, a `task` and an `agent`, and list in `after` the jobs that must complete first"
        }
        TaskError::KeyConflict { .. } => "use a new key for a new request",
        TaskError::NotYet(fields) => return Some(format!("leave out {}", quoted(fields))),
        TaskError::Unsupported { field: "resume", .. } => "start a new task instead",
        TaskError::Unsupported { field: "model", agent: AgentName::CodexCloud } => {
            "leave out `model`: the service chooses it for tasks in the cloud"
        }
        TaskError::Unsupported { field, .. } => {
            return Some(format!("leave out `{}`, or choose another agent", flags::spoken(field, voice)));
        }
        _ => return None,
    };
    Some(text.to_owned())
}

/// For what this machine, its operator or the client does not allow.
fn limit_hint(error: &TaskError, voice: Voice) -> Option<String> {
    let text = match error {
        TaskError::ForbiddenRoot(_) => voice.say(
            "name a project directory with `--cwd`, or use `--sandbox read-only`",
            "give a project directory as `cwd`, or use the sandbox `read-only`",
        ),
        TaskError::GuardedRoot(_) => {
            "give the project's own directory instead, whose `.git` stays read-only, or use the sandbox `read-only`"
        }
        TaskError::AgentMissing { .. } => voice.say(
            "install it with `npm install -g @openai/codex`, or try `--agent command` or `delegator demo`",
            "ask the user to install it (`npm install -g @openai/codex`); `delegator doctor` shows what works",
        ),
        TaskError::BadProgram(_) => "correct `codex_path` in the configuration",
        TaskError::SandboxBeyond { .. } => "the operator sets the maximum with `max_sandbox` in the configuration",
        TaskError::SandboxBeyondClient { max, .. } => {
            return Some(format!(
                "ask for `{max}`; more needs a client that itself runs with more (in Codex: `sandbox_mode`) and reports it in a known form"
            ));
        }
        TaskError::OutsideRoots(_) => {
            "the operator adds directories with `roots` in the configuration; reading works with the sandbox `read-only`"
        }
        TaskError::OutsideSandbox(_) => "use the sandbox `read-only`, or let the client itself write there",
        TaskError::CommandOverMcp => {
            "use your own shell for commands, or the agent `codex`; the operator allows it with `command_over_mcp = true` in the configuration"
        }
        TaskError::CommandUnconfined => "ask for the sandbox `read-only` or `workspace-write`",
        TaskError::NoJail { .. } => {
            "use the agent `codex`; with `command_over_mcp`, commands need a Codex whose sandbox works, or bubblewrap (`bwrap`); `delegator doctor` checks both"
        }
        TaskError::ForeignRecording => "name one of them, for example `quick`",
        TaskError::NetworkOff => "the operator allows it with `allow_network = true` in the configuration",
        TaskError::NetworkBeyondClient => {
            "leave out `network`, or let the client itself use it (in Codex: `network_access`)"
        }
        TaskError::ReadsBeyondClient => "do it yourself, or ask the user to start it with `delegator run` at a shell",
        TaskError::EnvNotAllowed(_) => "the operator lists allowed names in `env_allow` in the configuration",
        TaskError::OverrideNotAllowed(_) => {
            "the operator lists allowed keys in `config_override_keys`; keys that start programs or raise access are never allowed"
        }
        TaskError::TooDeep { .. } => "the operator allows deeper tasks with `max_depth` in the configuration",
        _ => return None,
    };
    Some(text.to_owned())
}
