//! What to try next, for errors that come in kinds of their own.

use crate::failure::{Code, Exit, Voice};
use crate::host::HomeError;
use crate::host::TokenError;
use crate::registry::RegistryError;
use crate::setup::SetupError;
use crate::terminals::TerminalError;

/// Of what is not what we left.
pub(super) const CHANGED: &str = "somebody changed what is below the home; its other files are still there";

pub(super) fn terminal_failure(error: &TerminalError, voice: Voice) -> (Code, Exit, Option<String>) {
    let hint = |shell: &str, tools: &str| Some(voice.say(shell, tools).to_owned());
    match error {
        TerminalError::NotFound(_) => (
            Code::NotFound,
            Exit::NotFound,
            hint(
                "`delegator terminal list` lists them",
                "leave out `terminal_id` for the one last written to; its reply lists the others of this project",
            ),
        ),
        TerminalError::None { .. } => (
            Code::NotFound,
            Exit::NotFound,
            hint(
                "`delegator terminal` starts one; `delegator setup vscode` and `setup shell` record every new one",
                "ask the user to start one with `delegator terminal`, or for the id of one in another project",
            ),
        ),
        TerminalError::Ambiguous { .. } => {
            (Code::Validation, Exit::BadInput, Some("give more of the id".to_owned()))
        }
        TerminalError::BadCursor(_) => (
            Code::Validation,
            Exit::BadInput,
            Some("use the `cursor` of an earlier reply, as it is".to_owned()),
        ),
        TerminalError::BadMoment(_) => (
            Code::Validation,
            Exit::BadInput,
            Some("for example `2026-11-15T09:30:00Z`, or `10m` for ten minutes ago".to_owned()),
        ),
        TerminalError::NotAPlainFile(_) => (Code::Validation, Exit::BadInput, Some(CHANGED.to_owned())),
        TerminalError::Read { .. } => {
            (Code::Internal, Exit::Machine, Some("it was removed or changed by somebody else".to_owned()))
        }
        TerminalError::NoPty(_) | TerminalError::Spawn { .. } => (Code::Internal, Exit::Machine, None),
    }
}

pub(super) fn setup_failure(error: &SetupError) -> (Code, Exit, Option<String>) {
    let bad = |hint: &str| (Code::Validation, Exit::BadInput, Some(hint.to_owned()));
    match error {
        SetupError::NoVsCode(_) => {
            let hint = "start VS Code once, or name its file with `--settings`";
            (Code::NotFound, Exit::NotFound, Some(hint.to_owned()))
        }
        SetupError::NoHome | SetupError::Nowhere(_) => bad("set HOME to a directory that is there"),
        SetupError::Dangling { .. } => {
            bad("nothing was changed; make the file that the link leads to, or remove the link")
        }
        SetupError::NoShell => bad("name it with `--shell`: bash, zsh or fish"),
        SetupError::NoText { .. } | SetupError::NotUnderstood { .. } => {
            bad("nothing was changed; correct the file, or make the change by hand (docs/terminals.md)")
        }
        SetupError::Read { .. } | SetupError::Write { .. } => (
            Code::Lasting,
            Exit::Machine,
            Some("nothing was changed; see to the rights of the file".to_owned()),
        ),
    }
}

pub(super) fn home_hint(error: &HomeError) -> String {
    match error {
        HomeError::Unknown | HomeError::Relative(_) => "set DELEGATOR_HOME to an absolute path".into(),
        HomeError::Nowhere(_) => "set HOME to a directory that is there, or DELEGATOR_HOME".into(),
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

pub(super) fn token_hint(error: &TokenError) -> Option<String> {
    match error {
        TokenError::NotOurs { .. } | TokenError::TooOpen { .. } | TokenError::NoToken(_) => {
            Some("remove it: the next start makes a new one, which clients then have to be given".into())
        }
        TokenError::Unusable { .. } => Some("`delegator doctor` shows the state of the home".into()),
        TokenError::Random(_) => None,
    }
}

pub(super) fn registry_hint(error: &RegistryError) -> Option<String> {
    match error {
        RegistryError::Newer { .. } => {
            Some("update `delegator`, or set DELEGATOR_HOME to another directory".into())
        }
        RegistryError::Damaged { .. } | RegistryError::Corrupt(_) => Some(
            "`delegator doctor --rebuild` sets it aside and makes a new one from the run directories".into(),
        ),
        RegistryError::Full(_) => Some("free some space; `delegator cleanup` removes old runs".into()),
        RegistryError::Unusable { .. } => Some("`delegator doctor` shows the state of the home".into()),
        RegistryError::Busy(_) => Some("try again; somebody else has been writing for ten seconds".into()),
        RegistryError::Sql(_) | RegistryError::OldLibrary(_) => None,
    }
}
