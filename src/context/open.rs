//! What every use case works with, opened once per process.

use std::path::PathBuf;

use crate::config::Config;
use crate::context::error::TaskError;
use crate::host::Env;
use crate::host::{Home, paths};
use crate::registry::{LockPatience, Registry, RegistryError, SearchScope};
use crate::runs::RunDir;

#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) env: Env,
    /// The caller's directory: relative paths and names start here.
    pub(crate) place: PathBuf,
    /// Which tasks the caller's task names can refer to.
    pub(crate) scope: SearchScope,
    pub(crate) config: Config,
    pub(crate) home: Home,
    pub(crate) registry: Registry,
}

impl Context {
    pub(crate) fn open(env: Env) -> Result<Self, TaskError> {
        Self::open_with(env, None)
    }

    /// Like [`open`](Self::open), but reuses an open registry if it is still the current one.
    pub(crate) fn open_with(env: Env, kept: Option<Registry>) -> Result<Self, TaskError> {
        let config = Config::load(&env)?;
        Self::with(env, config, kept)
    }

    fn with(env: Env, config: Config, kept: Option<Registry>) -> Result<Self, TaskError> {
        let home = Home::open(&env)?;
        let registry = match kept.filter(|kept| kept.is_of(&home)) {
            Some(mut kept) => {
                kept.kept_for = config.retention_age();
                kept.reopen_if_replaced()?;
                kept
            }
            None => Registry::open(&home, config.retention_age())?,
        };
        let place = std::env::current_dir().unwrap_or_default();
        Ok(Self { env, place, scope: SearchScope::Everywhere, config, home, registry })
    }

    /// Like [`open`](Self::open), for reading and cancelling. These must work even if the configuration
    /// cannot be read; then nothing can be started.
    pub(crate) fn open_to_look(env: Env) -> Result<Self, TaskError> {
        Self::open_to_look_with(env, None)
    }

    /// Like [`open_to_look`](Self::open_to_look), but reuses an open registry.
    pub(crate) fn open_to_look_with(env: Env, kept: Option<Registry>) -> Result<Self, TaskError> {
        let config = Config::load(&env).unwrap_or_else(|_| Config::starting_nothing());
        Self::with(env, config, kept)
    }

    /// Rereads the configuration; one that cannot be read changes nothing.
    pub(crate) fn refresh(&mut self) {
        if let Ok(config) = Config::load(&self.env) {
            self.registry.kept_for = config.retention_age();
            self.config = config;
        }
    }

    /// Does `work` that any other process could do as well. Returns `None` at once if another process has the
    /// registry locked.
    pub(crate) fn unless_busy<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, TaskError>,
    ) -> Result<Option<T>, TaskError> {
        self.registry.set_patience(LockPatience::Brief)?;
        let done = work(self);
        self.registry.set_patience(LockPatience::Usual)?;
        match done {
            Err(TaskError::Registry(RegistryError::Busy(_))) => Ok(None),
            done => done.map(Some),
        }
    }

    /// The project that tasks are listed by: the git root above `place`, or `place` itself.
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
