//! What every use case works with, opened once per process.

use crate::config::Config;
use crate::host::env::Env;
use crate::host::paths::Home;
use crate::registry::Registry;
use crate::runs::RunDir;
use crate::tasks::TaskError;

#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) env: Env,
    pub(crate) config: Config,
    pub(crate) home: Home,
    pub(crate) registry: Registry,
}

impl Context {
    pub(crate) fn open(env: Env) -> Result<Self, TaskError> {
        let config = Config::load(&env)?;
        let home = Home::open(&env)?;
        let registry = Registry::open(&home)?;
        Ok(Self { env, config, home, registry })
    }

    pub(crate) fn dir(&self, run: &crate::model::RunId) -> RunDir {
        RunDir::at(self.home.run(run))
    }
}
