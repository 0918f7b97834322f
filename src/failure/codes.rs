//! The error code and the exit code of every error.

use crate::config::ConfigError;
use crate::context::{TaskError, WorktreeError};
use crate::environments::EnvironmentsError;
use crate::failure::{Code, Exit};
use crate::host::ListenError;
use crate::inspect::InspectError;
use crate::registry::RegistryError;
use crate::setup::SetupError;
use crate::terminals::TerminalError;

const BAD_INPUT: (Code, Exit) = (Code::Validation, Exit::BadInput);
const NOT_FOUND: (Code, Exit) = (Code::NotFound, Exit::NotFound);

pub(super) fn classify(error: &TaskError) -> (Code, Exit) {
    match error {
        TaskError::Registry(registry) => (registry_code(registry), Exit::Machine),
        TaskError::Listen(ListenError::TooFar(_)) => BAD_INPUT,
        TaskError::Terminal(terminal) => of_terminal(terminal),
        TaskError::Setup(setup) => of_setup(setup),
        TaskError::Environments(error) => of_environments(error),
        TaskError::Inspect(InspectError::Read(_)) => (Code::Internal, Exit::Machine),
        TaskError::Worktree(WorktreeError::Git(_) | WorktreeError::Io(_)) => (Code::Internal, Exit::Machine),
        TaskError::Worktree(WorktreeError::Moving(_) | WorktreeError::Busy) => (Code::Timeout, Exit::Machine),
        TaskError::Worktree(WorktreeError::Running | WorktreeError::InUse(_)) => {
            (Code::Validation, Exit::StillWorking)
        }
        TaskError::Home(_)
        | TaskError::Config(ConfigError::Unreadable { .. } | ConfigError::Invalid { .. }) => {
            (Code::Lasting, Exit::Machine)
        }
        TaskError::CleaningUp => (Code::Timeout, Exit::Machine),
        TaskError::BadProgram(_) => (Code::ToolError, Exit::Machine),
        TaskError::AgentMissing { .. } | TaskError::NoJail { .. } => (Code::Unsupported, Exit::Machine),
        TaskError::Unsupported { .. }
        | TaskError::NoRemoteCancel { .. }
        | TaskError::CommandOverMcp
        | TaskError::CommandUnconfined
        | TaskError::NotYet(_)
        | TaskError::ReadsBeyondClient => (Code::Unsupported, Exit::BadInput),
        TaskError::Read(_)
        | TaskError::Listen(ListenError::Unusable { .. })
        | TaskError::Token(_)
        | TaskError::Random(_)
        | TaskError::UncheckedSchema(_)
        | TaskError::Write { .. }
        | TaskError::DiskFull { .. }
        | TaskError::Unreadable { .. } => (Code::Internal, Exit::Machine),
        TaskError::NothingToPin(_)
        | TaskError::NoOutput(_)
        | TaskError::NoArtifact { .. }
        | TaskError::NoCommand { .. }
        | TaskError::MissingOutput { .. }
        | TaskError::NotFound(_)
        | TaskError::OtherProject { .. }
        | TaskError::BadThread(_) => NOT_FOUND,
        TaskError::Worktree(
            WorktreeError::NoRepository(_)
            | WorktreeError::NoCommit(_)
            | WorktreeError::NoBase(_)
            | WorktreeError::Forgotten(_)
            | WorktreeError::NoBranch(_)
            | WorktreeError::NoChanges
            | WorktreeError::NothingToUndo
            | WorktreeError::Unfinished(_)
            | WorktreeError::Nested { .. }
            | WorktreeError::Setup(_)
            | WorktreeError::AllAdded(_),
        )
        | TaskError::NothingToRebuild
        | TaskError::EmptyTask
        | TaskError::LongTask { .. }
        | TaskError::NulInTask
        | TaskError::NeedsWrite { .. }
        | TaskError::LongField { .. }
        | TaskError::SkillsNotExplicit(_)
        | TaskError::EmptyField { .. }
        | TaskError::OddField { .. }
        | TaskError::LongList { .. }
        | TaskError::BadAlias(_)
        | TaskError::BadLimit { .. }
        | TaskError::BadAttempts(_)
        | TaskError::BadBranch(_)
        | TaskError::NoEnvironment { .. }
        | TaskError::NoStartingDiff { .. }
        | TaskError::BadRepository(_)
        | TaskError::NoGitHubRemote(_)
        | TaskError::BadTechStack { .. }
        | TaskError::NoDirectory(_)
        | TaskError::NotADirectory(_)
        | TaskError::OddDirectory(_)
        | TaskError::OutsideGit(_)
        | TaskError::DiffOutsideGit(_)
        | TaskError::ForbiddenRoot(_)
        | TaskError::GuardedRoot(_)
        | TaskError::SandboxBeyond { .. }
        | TaskError::SandboxBeyondClient { .. }
        | TaskError::OutsideRoots(_)
        | TaskError::OutsideSandbox(_)
        | TaskError::ForeignRecording
        | TaskError::NetworkOff
        | TaskError::NetworkBeyondClient
        | TaskError::EnvNotAllowed(_)
        | TaskError::EnvNotSet(_)
        | TaskError::BadOverride(_)
        | TaskError::OverrideNotAllowed(_)
        | TaskError::BadSchema(_)
        | TaskError::WideSchema(_)
        | TaskError::CostlySchema(_)
        | TaskError::BadRecording(_)
        | TaskError::BadPlan(_)
        | TaskError::TooDeep { .. }
        | TaskError::KeyConflict { .. }
        | TaskError::OutsideHome(_)
        | TaskError::NotInspectable(_)
        | TaskError::NotAPlainFile(_)
        | TaskError::Inspect(_)
        | TaskError::Ambiguous { .. }
        | TaskError::NoThread(_)
        | TaskError::ThreadBusy { .. } => BAD_INPUT,
    }
}

fn registry_code(error: &RegistryError) -> Code {
    match error {
        RegistryError::Busy(_) => Code::Timeout,
        RegistryError::Sql(_) | RegistryError::Full(_) => Code::Internal,
        RegistryError::Newer { .. }
        | RegistryError::Damaged { .. }
        | RegistryError::Corrupt(_)
        | RegistryError::Unusable { .. }
        | RegistryError::Runs { .. }
        | RegistryError::OldLibrary(_) => Code::Lasting,
    }
}

fn of_terminal(error: &TerminalError) -> (Code, Exit) {
    match error {
        TerminalError::NotFound(_) | TerminalError::None { .. } => NOT_FOUND,
        TerminalError::Ambiguous { .. }
        | TerminalError::BadCursor(_)
        | TerminalError::BadMoment(_)
        | TerminalError::NotAPlainFile(_) => BAD_INPUT,
        TerminalError::Read { .. } | TerminalError::NoPty(_) | TerminalError::Spawn { .. } => {
            (Code::Internal, Exit::Machine)
        }
    }
}

fn of_setup(error: &SetupError) -> (Code, Exit) {
    match error {
        SetupError::NoVsCode(_) | SetupError::NoClient { .. } | SetupError::NoClients => NOT_FOUND,
        SetupError::NoHome
        | SetupError::Nowhere(_)
        | SetupError::Dangling { .. }
        | SetupError::NoShell
        | SetupError::NoText { .. }
        | SetupError::NotUnderstood { .. } => BAD_INPUT,
        SetupError::Read { .. } | SetupError::Write { .. } => (Code::Lasting, Exit::Machine),
    }
}

fn of_environments(error: &EnvironmentsError) -> (Code, Exit) {
    match error {
        EnvironmentsError::NotListed { .. } => NOT_FOUND,
        EnvironmentsError::Listed(_) => BAD_INPUT,
        EnvironmentsError::NoPlace
        | EnvironmentsError::Invalid { .. }
        | EnvironmentsError::Unreadable { .. } => (Code::Lasting, Exit::Machine),
        EnvironmentsError::Write { .. } => (Code::Internal, Exit::Machine),
    }
}
