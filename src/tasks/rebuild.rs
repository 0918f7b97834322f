//! Repairs the registry from the run directories.

use std::fs;
use std::io;

use crate::config::Config;
use crate::context::{Context, TaskError};
use crate::execution::recover;
use crate::host::Env;
use crate::host::Home;
use crate::host::{clock, files};
use crate::registry::{Registry, RegistryError};

/// What was done to the registry.
#[derive(Debug)]
pub(crate) enum Rebuilt {
    /// The registry was damaged and is set aside; the new one has this many tasks.
    Anew { tasks: usize },
    /// The registry was sound; only rows that disagreed with the run directories changed.
    Mended(Mended),
}

#[derive(Debug)]
pub(crate) struct Mended {
    /// Runs that got a row.
    pub(crate) restored: usize,
    /// Open tasks without a run directory, now failed.
    pub(crate) ended: usize,
    /// Rows of finished tasks without a run directory.
    pub(crate) removed: usize,
    /// The number of tasks now.
    pub(crate) tasks: usize,
}

pub(crate) fn rebuild(env: &Env) -> Result<Rebuilt, TaskError> {
    let home = Home::open(env)?;
    let kept_for = Config::load(env).unwrap_or_default().retention_age();
    match Registry::open(&home, kept_for) {
        // A registry from a newer version is not damaged: that version is using it. And without a list of the
        // run directories, a new one would be empty. The others say nothing about the file.
        Err(
            error @ (RegistryError::Newer { .. }
            | RegistryError::Runs { .. }
            | RegistryError::Busy(_)
            | RegistryError::Full(_)
            | RegistryError::OldLibrary(_)),
        ) => return Err(error.into()),
        // Other processes may be writing to it right now.
        Ok(registry) if registry.is_sound()? => {}
        Ok(_)
        | Err(
            RegistryError::Damaged { .. }
            | RegistryError::Corrupt(_)
            | RegistryError::Unusable { .. }
            | RegistryError::Sql(_),
        ) => {
            set_aside(&home)?;
            return Ok(Rebuilt::Anew { tasks: count(&Registry::open(&home, kept_for)?)? });
        }
    }
    mend(&mut Context::open_to_look(env.clone())?)
}

fn mend(context: &mut Context) -> Result<Rebuilt, TaskError> {
    let mut ended = 0;
    for row in context.registry.differences()?.rows_without_run {
        if !row.state.is_final() {
            let dir = context.dir(&row.run_id);
            recover::recover_one(context, &row, &dir)?;
            ended += 1;
        }
    }
    let (restored, removed) = context.registry.repair()?;
    if (restored, ended, removed) == (0, 0, 0) {
        return Err(TaskError::NothingToRebuild);
    }
    Ok(Rebuilt::Mended(Mended { restored, ended, removed, tasks: count(&context.registry)? }))
}

/// Renames the files of a damaged registry. The database goes last, so that nobody opens it together with a
/// log that belongs to another one.
fn set_aside(home: &Home) -> Result<(), TaskError> {
    let damaged = home.registry();
    let stamp = clock::now().run_stamp();
    for suffix in ["-shm", "-wal", ""] {
        let mut from = damaged.clone().into_os_string();
        from.push(suffix);
        let mut to = damaged.clone().into_os_string();
        to.push(format!(".damaged-{stamp}{suffix}"));
        match fs::rename(&from, &to) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(TaskError::Write { path: from.into(), source: error });
            }
            _ => {}
        }
    }
    files::sync_dir(home.root()).map_err(TaskError::write(home.root()))
}

fn count(registry: &Registry) -> Result<usize, TaskError> {
    Ok(usize::try_from(registry.count()?).unwrap_or(0))
}
