//! What every use case works with, opened once per process.

use std::path::PathBuf;

use crate::config::Config;
use crate::context::error::TaskError;
use crate::host::Env;
use crate::host::{Home, paths};
use crate::registry::{Patience, Registry, RegistryError, Scope};
use crate::runs::RunDir;

#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) env: Env,
    /// Where the caller stands: relative paths and names start from there.
    pub(crate) place: PathBuf,
    /// How far the names reach that the caller uses for tasks.
    pub(crate) scope: Scope,
    pub(crate) config: Config,
    pub(crate) home: Home,
    pub(crate) registry: Registry,
}

impl Context {
    pub(crate) fn open(env: Env) -> Result<Self, TaskError> {
        Self::open_with(env, None)
    }

    /// As [`open`](Self::open), with a registry that was opened before, if it
    /// is still the one that everybody else uses.
    pub(crate) fn open_with(env: Env, kept: Option<Registry>) -> Result<Self, TaskError> {
        let config = Config::load(&env)?;
        Self::with(env, config, kept)
    }

    fn with(env: Env, config: Config, kept: Option<Registry>) -> Result<Self, TaskError> {
        let home = Home::open(&env)?;
        let registry = match kept.filter(|kept| kept.is_of(&home)) {
            Some(mut kept) => {
                kept.renew()?;
                kept
            }
            None => Registry::open(&home)?,
        };
        let place = std::env::current_dir().unwrap_or_default();
        Ok(Self { env, place, scope: Scope::Everywhere, config, home, registry })
    }

    /// As [`open`](Self::open), to look and to end: for these a configuration
    /// that cannot be read is no hindrance. Nothing is started meanwhile.
    pub(crate) fn open_to_look(env: Env) -> Result<Self, TaskError> {
        Self::open_to_look_with(env, None)
    }

    /// As [`open_to_look`](Self::open_to_look), with a registry that was opened
    /// before.
    pub(crate) fn open_to_look_with(env: Env, kept: Option<Registry>) -> Result<Self, TaskError> {
        let config = Config::load(&env).unwrap_or_else(|_| Config::starting_nothing());
        Self::with(env, config, kept)
    }

    /// Takes over what the operator has changed meanwhile; what cannot be read
    /// changes nothing.
    pub(crate) fn refresh(&mut self) {
        if let Ok(config) = Config::load(&self.env) {
            self.config = config;
        }
    }

    /// Does `work`, whose writes anybody may do as well: `None` where somebody
    /// else keeps the registry locked, and nobody waits for that.
    pub(crate) fn unless_busy<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, TaskError>,
    ) -> Result<Option<T>, TaskError> {
        self.registry.set_patience(Patience::Brief)?;
        let done = work(self);
        self.registry.set_patience(Patience::Usual)?;
        match done {
            Err(TaskError::Registry(RegistryError::Busy(_))) => Ok(None),
            done => done.map(Some),
        }
    }

    /// What tasks are listed by: the git root above the place, else the place.
    pub(crate) fn project(&self) -> PathBuf {
        paths::git_root(&self.place).unwrap_or_else(|| self.place.clone())
    }

    pub(crate) fn is_in_git(&self) -> bool {
        paths::git_root(&self.place).is_some()
    }

    pub(crate) fn dir(&self, run: &crate::model::RunId) -> RunDir {
        RunDir::at(self.home.run(run))
    }
}
