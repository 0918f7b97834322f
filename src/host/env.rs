//! The environment, read once, and the names of our variables.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// The directory of the registry and the runs.
pub(crate) const HOME: &str = "DELEGATOR_HOME";
/// The runs that a process belongs to, outermost first, separated by `:`.
pub(crate) const RUNS: &str = "DELEGATOR_RUNS";
/// The homes of those runs in the same order; `-` for a run of another home.
pub(crate) const RUN_HOMES: &str = "DELEGATOR_RUN_HOMES";

/// The recorded terminal that a process runs in.
pub(crate) const TERMINAL: &str = "DELEGATOR_TERMINAL";
/// Value of [`TERMINAL`] if recording failed, so that a shell whose start-up file starts a
/// recording does not try again and again.
pub(crate) const UNRECORDED: &str = "none";

/// Which tools a server lists.
pub(crate) const TOOLS: &str = "DELEGATOR_TOOLS";

/// Variables that every agent gets if the caller has them.
const SHARED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TERM",
    "COLORTERM",
    "TMPDIR",
    "TZ",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    // Which interpreter and toolchain the project uses.
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOPATH",
    "JAVA_HOME",
    "NVM_DIR",
    "PYENV_ROOT",
];

/// The environment of this process at its start.
#[derive(Debug, Clone)]
pub(crate) struct Env(BTreeMap<OsString, OsString>);

impl Env {
    #[expect(clippy::disallowed_methods, reason = "this is the one place")]
    pub(crate) fn read() -> Self {
        Self(std::env::vars_os().collect())
    }

    /// This environment with further values; the given ones win.
    pub(crate) fn with(&self, values: impl IntoIterator<Item = (String, String)>) -> Self {
        let values = values.into_iter().map(|(name, value)| (name.into(), value.into()));
        Self(self.0.clone().into_iter().chain(values).collect())
    }

    /// The value of `name`; an empty one counts as absent.
    pub(crate) fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    pub(crate) fn path(&self, name: &str) -> Option<PathBuf> {
        self.get(name).map(PathBuf::from)
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(OsStr::to_str)
    }

    /// The whole environment, for a command that a user starts at a shell.
    pub(crate) fn everything(&self) -> Vec<(String, String)> {
        let own = |name: &str| name != RUNS && name != RUN_HOMES;
        self.0
            .iter()
            .filter_map(|(name, value)| Some((name.to_str()?.to_owned(), value.to_str()?.to_owned())))
            .filter(|(name, _)| own(name))
            .collect()
    }

    /// The allow-listed variables, the agent's `own` variables and the `extra` names from the
    /// configuration.
    pub(crate) fn allowed_with(&self, own: &[&str], extra: &[String]) -> Vec<(String, String)> {
        let listed = |name: &str| {
            SHARED.contains(&name)
                || own.contains(&name)
                || name.starts_with("LC_")
                || extra.iter().any(|e| e == name)
        };
        self.everything().into_iter().filter(|(name, _)| listed(name)).collect()
    }

    /// The environment of a supervisor: enough to find the registry and the configuration, nothing
    /// else of the caller's.
    pub(crate) fn scrubbed(&self) -> Vec<(OsString, OsString)> {
        let kept = ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", HOME];
        kept.iter().filter_map(|name| Some((name.into(), self.get(name)?.to_owned()))).collect()
    }
}

#[cfg(test)]
impl Env {
    pub(crate) fn of(pairs: &[(&str, &str)]) -> Self {
        Self(pairs.iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_gets_the_listed_names_and_no_others() {
        let env =
            Env::of(&[("PATH", "/bin"), ("LC_ALL", "C"), ("AWS_SECRET", "x"), ("MY_KEY", "y"), (RUNS, "r")]);
        let names = |extra: &[String]| {
            env.allowed_with(&[], extra).into_iter().map(|(name, _)| name).collect::<Vec<_>>()
        };
        assert_eq!(names(&[]), ["LC_ALL", "PATH"]);
        assert_eq!(names(&["MY_KEY".into()]), ["LC_ALL", "MY_KEY", "PATH"]);
    }

    #[test]
    fn a_supervisor_starts_without_the_callers_values() {
        let env = Env::of(&[("PATH", "/bin"), ("HOME", "/home/dev"), ("OPENAI_API_KEY", "x")]);
        assert_eq!(env.scrubbed(), [("HOME".into(), "/home/dev".into())]);
    }
}
