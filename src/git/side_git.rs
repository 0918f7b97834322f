//! A git of ours beside a repository: it borrows the objects, and has a directory, an index and settings of its own.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::git::object::Format;
use crate::git::repository::Repository;
use crate::git::runner::Git;
use crate::git::settings::{self, Settings, User};
use crate::git::snapshot::SnapshotError;
use crate::host::{Env, files};

/// The git to run, and the settings of its user.
#[derive(Debug, Clone)]
pub(crate) struct Installed {
    pub(crate) program: PathBuf,
    pub(crate) user: User,
}

impl Installed {
    /// Finds a git that nobody with write access to `writable` could have placed. `path` is the user's search path.
    pub(crate) fn find(env: &Env, path: Option<&OsStr>, writable: &[&Path]) -> Result<Self, SnapshotError> {
        let program = Git::find(path, writable).ok_or(SnapshotError::NoGit)?;
        let system = Git::own(path, writable).unwrap_or_else(|| program.clone());
        let (home, config) = (env.path("HOME"), env.path("XDG_CONFIG_HOME"));
        Ok(Self { program, user: User { home, config, system: settings::of_system(&system) } })
    }
}

#[derive(Debug)]
pub(crate) struct SideGit {
    pub(super) scratch: Scratch,
    pub(super) git: Git,
    pub(super) format: Format,
    pub(super) settings: Settings,
}

impl SideGit {
    /// Prepares the directory `scratch`, which is removed again when this is dropped.
    pub(super) fn settle(
        repository: &Repository,
        scratch: &Path,
        installed: &Installed,
        until: Duration,
    ) -> Result<Self, SnapshotError> {
        // Left by an attempt that did not come to its end.
        let _ = fs::remove_dir_all(scratch);
        files::create_dir(scratch)?;
        let scratch = Scratch(scratch.to_owned());
        let objects = repository.objects();
        let mut git = Git::settle(installed.program.clone(), &scratch.0, Format::Sha1, &objects)?;
        let mut settings = settings::read(&git, repository, &installed.user, until);
        let format = settings.format.ok_or(SnapshotError::UnknownFormat)?;
        if format != Format::Sha1 {
            git = Git::settle(installed.program.clone(), &scratch.0, format, &objects)?;
        }
        std::mem::take(&mut settings.told).into_iter().for_each(|setting| git.set(setting));
        settings::copy_rules(repository, &git);
        Ok(Self { scratch, git, format, settings })
    }
}

/// A directory that is removed unless it is kept.
#[derive(Debug)]
pub(super) struct Scratch(PathBuf);

impl Scratch {
    pub(super) fn keep(mut self) -> PathBuf {
        std::mem::take(&mut self.0)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.0.as_os_str().is_empty() {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}
