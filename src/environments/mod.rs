//! The environments of Codex Cloud: those that the user wrote down, and those that the cloud has shown.
//!
//! Codex has no command that lists them, so nobody knows all of them.

mod listed;
mod seen;

use std::io;
use std::path::PathBuf;

use serde::Serialize;

use crate::host::{Env, Home};
use crate::model::Timestamp;

pub(crate) use listed::{NewEnvironment, add, locate, remove};
pub(crate) use seen::{Label, remember};

#[derive(Debug, thiserror::Error)]
pub(crate) enum EnvironmentsError {
    #[error("neither XDG_CONFIG_HOME nor HOME is set, so there is no place for `environments.json`")]
    NoPlace,
    #[error("failed to read `{}`", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("`{}` is not a list of environments: {why}", path.display())]
    Invalid { path: PathBuf, why: String },
    #[error("the environment `{}` is already listed", .0.escape_debug())]
    Listed(String),
    #[error("no environment `{}` is listed in `{}`", id.escape_debug(), path.display())]
    NotListed { id: String, path: PathBuf },
    #[error("failed to write to `{}`", path.display())]
    Write {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Environment {
    /// What `codex cloud exec --env` takes.
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) repository: Option<String>,
    pub(crate) tech_stack: Option<String>,
    pub(crate) created_at: Option<Timestamp>,
    pub(crate) source: EnvironmentSource,
}

impl Environment {
    /// Whether `text` means it: its id, or its name in any case, as Codex takes both.
    fn is_meant_by(&self, text: &str) -> bool {
        self.id == text || self.name.to_lowercase() == text.to_lowercase()
    }
}

/// How an environment became known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) enum EnvironmentSource {
    /// The user listed it.
    #[serde(rename = "environments.json")]
    Listed,
    /// A task of it was in the cloud's list.
    #[serde(rename = "codex cloud list")]
    Seen,
}

impl EnvironmentSource {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            EnvironmentSource::Listed => "environments.json",
            EnvironmentSource::Seen => "codex cloud list",
        }
    }
}

#[derive(Debug)]
pub(crate) struct Environments {
    pub(crate) rows: Vec<Environment>,
    /// The user's file, whether or not it exists.
    pub(crate) source: PathBuf,
}

impl Environments {
    /// Those of the user's file, then others that the cloud has shown.
    pub(crate) fn read(env: &Env, home: &Home) -> Result<Self, EnvironmentsError> {
        let source = locate(env).ok_or(EnvironmentsError::NoPlace)?;
        let mut rows = listed::read(&source)?;
        for seen in seen::read(home) {
            if !rows.iter().any(|row| row.is_meant_by(&seen.id) || row.is_meant_by(&seen.name)) {
                rows.push(seen);
            }
        }
        Ok(Self { rows, source })
    }

    /// The id of the environment that `text` means; `text` itself if none is known by it.
    pub(crate) fn resolve(&self, text: &str) -> String {
        let by_id = self.rows.iter().find(|row| row.id == text);
        let found = by_id.or_else(|| self.rows.iter().find(|row| row.is_meant_by(text)));
        found.map_or_else(|| text.to_owned(), |row| row.id.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(id: &str, name: &str) -> Environment {
        Environment {
            id: id.into(),
            name: name.into(),
            repository: None,
            tech_stack: None,
            created_at: None,
            source: EnvironmentSource::Listed,
        }
    }

    #[test]
    fn an_environment_is_meant_by_its_id_or_its_name() {
        let rows = vec![environment("env_1", "env_2"), environment("env_2", "Shop")];
        let known = Environments { rows, source: PathBuf::new() };
        for (text, id) in
            [("env_1", "env_1"), ("env_2", "env_2"), ("sHop", "env_2"), ("Shopping", "Shopping")]
        {
            assert_eq!(known.resolve(text), id);
        }
    }
}
