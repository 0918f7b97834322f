//! Hints for errors about this machine: home, configuration, registry, disk, network and setup.

use crate::config::ConfigError;
use crate::context::TaskError;
use crate::environments::EnvironmentsError;
use crate::failure::Voice;
use crate::host::{HomeError, ListenError, TokenError};
use crate::registry::RegistryError;
use crate::setup::SetupError;

const FREE_SPACE: &str = "free a few megabytes first; then `delegator cleanup` can remove old runs";
const HOME_STATE: &str = "`delegator doctor` shows the state of the home";

pub(super) fn hint(error: &TaskError, voice: Voice) -> Option<String> {
    let text = match error {
        TaskError::Home(home) => {
            return Some(voice.say("", "ask the user to correct this: ").to_owned() + &home_hint(home));
        }
        TaskError::Config(ConfigError::Unreadable { .. }) => {
            "it must be a readable regular file of UTF-8 text, or not exist"
        }
        TaskError::Config(ConfigError::Invalid { .. }) => voice.say(
            "`delegator doctor --config` lists every key with its default",
            "ask the user to correct it; `delegator doctor --config` lists every key. Reading and cancelling still work",
        ),
        TaskError::Registry(registry) => return registry_hint(registry).map(str::to_owned),
        TaskError::Listen(ListenError::TooFar(_)) => {
            "use 127.0.0.1, or set `http_allow_remote = true` in the configuration"
        }
        TaskError::Listen(ListenError::Unusable { .. }) => "choose another port; 0 takes any free port",
        TaskError::Token(
            TokenError::NotOurs { .. } | TokenError::TooOpen { .. } | TokenError::NoToken(_),
        ) => "remove it: the next start makes a new one, which you then give to your clients",
        TaskError::Token(TokenError::Unusable { .. }) => HOME_STATE,
        TaskError::Environments(error) => environments_hint(error),
        TaskError::Setup(setup) => setup_hint(setup),
        TaskError::Write { .. } => "`delegator doctor` shows the state of the disk and the home",
        TaskError::DiskFull { .. } => FREE_SPACE,
        _ => return None,
    };
    Some(text.to_owned())
}

fn environments_hint(error: &EnvironmentsError) -> &'static str {
    match error {
        EnvironmentsError::NoPlace => "set HOME or XDG_CONFIG_HOME",
        EnvironmentsError::Invalid { .. } => {
            "correct it: `{\"environments\": [{\"id\": \"env_1\", \"name\": \"Shop\", \"repository\": \"https://github.com/o/shop\"}]}`"
        }
        EnvironmentsError::Unreadable { .. } => "it must be a readable regular file, or not exist",
        EnvironmentsError::Listed(_) => "remove it first with `delegator environments remove`",
        EnvironmentsError::NotListed { .. } => "`delegator environments` lists those that are known",
        EnvironmentsError::Write { .. } => "`delegator doctor` shows the state of the disk and the home",
    }
}

fn home_hint(error: &HomeError) -> String {
    match error {
        HomeError::Unknown | HomeError::Relative(_) => "set DELEGATOR_HOME to an absolute path".into(),
        HomeError::Nowhere(_) => "set HOME or DELEGATOR_HOME to an existing directory".into(),
        HomeError::TooOpen { root, .. } => {
            format!(
                "if it is delegator's own, run `chmod 700 {}`; otherwise set DELEGATOR_HOME",
                root.display()
            )
        }
        HomeError::NotADirectory(_) | HomeError::NotOurs { .. } | HomeError::Unusable { .. } => {
            "set DELEGATOR_HOME to a directory of your own".into()
        }
    }
}

fn registry_hint(error: &RegistryError) -> Option<&'static str> {
    match error {
        RegistryError::Newer { .. } => Some("update `delegator`, or set DELEGATOR_HOME to another directory"),
        RegistryError::Damaged { .. } | RegistryError::Corrupt(_) => {
            Some("`delegator doctor --rebuild` sets it aside and makes a new one from the run directories")
        }
        RegistryError::Full(_) => Some(FREE_SPACE),
        RegistryError::Unusable { .. } | RegistryError::Runs { .. } => Some(HOME_STATE),
        RegistryError::Busy(_) => Some("try again; another process has been writing for ten seconds"),
        RegistryError::Sql(_) | RegistryError::OldLibrary(_) => None,
    }
}

fn setup_hint(error: &SetupError) -> &'static str {
    match error {
        SetupError::NoVsCode(_) => "start VS Code once, or name its settings file with `--settings`",
        SetupError::NoClient { .. } | SetupError::NoClients => {
            "start the client once, or write the entry by hand: `delegator setup --print` shows it"
        }
        SetupError::NoHome | SetupError::Nowhere(_) => "set HOME to an existing directory",
        SetupError::Dangling { .. } => {
            "nothing was changed; create the file that the link points to, or remove the link"
        }
        SetupError::NoShell => "name it with `--shell`: bash, zsh or fish",
        SetupError::NoText { .. } | SetupError::NotUnderstood { .. } => {
            "nothing was changed; correct the file, or make the change by hand (docs/clients.md, docs/terminals.md)"
        }
        SetupError::Read { .. } | SetupError::Write { .. } => {
            "this file was not changed; check its permissions"
        }
    }
}
