//! Who makes a request, and what they may have.
//!
//! A person at a shell gets what the configuration allows. A client gets that at most, writes only below its
//! own roots, and never gets more than the sandbox that it reports for itself.

use std::path::{Path, PathBuf};

use crate::config::Config;
use crate::context::TaskError;
use crate::model::{Request, Sandbox};
use crate::submit::protected_paths::{self, PROTECTED_DIRS};
use crate::submit::write_bounds::{WriteBounds, real};

#[derive(Debug, Clone, Default)]
pub(crate) enum Caller {
    #[default]
    Person,
    Client(Client),
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Client {
    /// Its own roots, or the project the server was started in.
    pub(crate) roots: Vec<PathBuf>,
    /// What it may do itself, if it says so.
    pub(crate) ceiling: Option<Ceiling>,
    /// It says that it is one of our runs.
    pub(crate) is_run: bool,
}

/// The client's own sandbox: nothing started for it gets more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ceiling {
    pub(crate) sandbox: Sandbox,
    pub(crate) network: bool,
    /// Whether it may read everything that its user may read.
    pub(crate) reads_all: bool,
    /// Whether it may write to the system's temporary directories.
    pub(crate) temporary: bool,
    /// Where it may and may not write under `workspace-write`; the entry nearest to a path decides.
    pub(crate) writable: Vec<PathBuf>,
    pub(crate) kept: Vec<PathBuf>,
}

impl Ceiling {
    /// Assumed when a client's report cannot be understood.
    pub(crate) const LOWEST: Ceiling = Ceiling {
        sandbox: Sandbox::ReadOnly,
        network: false,
        reads_all: true,
        temporary: false,
        writable: Vec::new(),
        kept: Vec::new(),
    };

    /// For a client without a sandbox.
    pub(crate) const NONE: Ceiling = Ceiling {
        sandbox: Sandbox::DangerFullAccess,
        network: true,
        reads_all: true,
        temporary: true,
        writable: Vec::new(),
        kept: Vec::new(),
    };

    /// Whether the client may write everywhere in `dir`, a real path.
    fn lets_write(&self, dir: &Path) -> bool {
        let nearest = |places: &[PathBuf]| {
            places.iter().filter(|place| dir.starts_with(place)).map(|place| place.components().count()).max()
        };
        // Losing what every run is denied anyway does not matter.
        let loss = |kept: &Path| {
            let own = kept.parent() == Some(dir) && PROTECTED_DIRS.iter().any(|name| kept.ends_with(name));
            kept.starts_with(dir) && kept != dir && !own
        };
        self.sandbox == Sandbox::DangerFullAccess
            || nearest(&self.writable) > nearest(&self.kept) && !self.kept.iter().any(|kept| loss(kept))
    }

    /// The same ceiling with all links in its paths resolved.
    fn with_real_paths(&self) -> Ceiling {
        let all = |paths: &[PathBuf]| paths.iter().map(|path| real(path)).collect();
        Ceiling { writable: all(&self.writable), kept: all(&self.kept), ..self.clone() }
    }
}

impl Caller {
    /// Whoever made `request`. A client may have no more than that request was granted.
    pub(crate) fn of(request: &Request) -> Self {
        if !request.by_client {
            return Caller::Person;
        }
        let writable = std::iter::once(&request.cwd).chain(&request.add_dirs).cloned();
        let ceiling = Ceiling {
            sandbox: request.sandbox,
            network: request.network,
            reads_all: true,
            temporary: request.temporary,
            writable: writable.collect(),
            kept: Vec::new(),
        };
        Caller::Client(Client { roots: vec![request.cwd.clone()], ceiling: Some(ceiling), is_run: false })
    }

    fn ceiling(&self) -> Option<&Ceiling> {
        match self {
            Caller::Person => None,
            Caller::Client(client) => client.ceiling.as_ref(),
        }
    }

    /// The sandbox limit of a run that asks for nothing.
    pub(crate) fn max_sandbox(&self, config: &Config) -> Sandbox {
        self.ceiling().map_or(config.max_sandbox, |ceiling| config.max_sandbox.min(ceiling.sandbox))
    }

    pub(crate) fn check_sandbox(&self, config: &Config, asked: Sandbox) -> Result<(), TaskError> {
        if asked > config.max_sandbox {
            return Err(TaskError::SandboxBeyond { asked, max: config.max_sandbox });
        }
        match self.ceiling() {
            Some(ceiling) if asked > ceiling.sandbox => {
                Err(TaskError::SandboxBeyondClient { asked, max: ceiling.sandbox })
            }
            Some(_) | None => Ok(()),
        }
    }

    pub(crate) fn check_network(&self, config: &Config) -> Result<(), TaskError> {
        match self.ceiling() {
            _ if !config.allow_network => Err(TaskError::NetworkOff),
            Some(ceiling) if !ceiling.network => Err(TaskError::NetworkBeyondClient),
            Some(_) | None => Ok(()),
        }
    }

    /// Agents read whatever the user may read, so a client with restricted reads must not use them.
    pub(crate) fn check_read(&self) -> Result<(), TaskError> {
        match self.ceiling() {
            Some(ceiling) if !ceiling.reads_all => Err(TaskError::ReadsBeyondClient),
            Some(_) | None => Ok(()),
        }
    }

    /// Checks that `dir`, a real path, may be written to.
    pub(crate) fn check_write(
        &self,
        config: &Config,
        bounds: &WriteBounds,
        dir: &Path,
    ) -> Result<(), TaskError> {
        if bounds.forbid(dir) {
            return Err(TaskError::ForbiddenRoot(dir.to_owned()));
        }
        let Caller::Client(client) = self else { return Ok(()) };
        if protected_paths::exposes_protected_path(dir, bounds.codex_checkouts().as_deref()) {
            return Err(TaskError::GuardedRoot(dir.to_owned()));
        }
        let named = config.roots.iter().any(|root| dir.starts_with(real(root)));
        // A client cannot claim everything as its project.
        let own = |root: &PathBuf| {
            let root = real(root);
            root.is_absolute() && !bounds.forbid(&root) && dir.starts_with(root)
        };
        if !named && !client.roots.iter().any(own) {
            return Err(TaskError::OutsideRoots(dir.to_owned()));
        }
        match &client.ceiling {
            Some(ceiling) if !ceiling.with_real_paths().lets_write(dir) => {
                Err(TaskError::OutsideSandbox(dir.to_owned()))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Checks that a run in `cwd` may also write to `dir`: two directories together may expose what each
    /// alone does not.
    pub(crate) fn check_beside(&self, cwd: &Path, dir: &Path) -> Result<(), TaskError> {
        match self {
            Caller::Client(_) if protected_paths::repository_is_in(dir, cwd) => {
                Err(TaskError::GuardedRoot(dir.to_owned()))
            }
            Caller::Client(_) | Caller::Person => Ok(()),
        }
    }

    /// Whether a writing run may use the system's temporary directories.
    pub(crate) fn may_use_temporary(&self) -> bool {
        self.ceiling().is_none_or(|ceiling| ceiling.temporary)
    }

    /// The nesting depth that the caller reports, whatever its processes show.
    pub(crate) fn depth(&self) -> usize {
        match self {
            Caller::Client(Client { is_run: true, .. }) => 1,
            Caller::Client(_) | Caller::Person => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writing(writable: &[&str], kept: &[&str]) -> Ceiling {
        let all = |paths: &[&str]| paths.iter().map(PathBuf::from).collect();
        Ceiling {
            sandbox: Sandbox::WorkspaceWrite,
            writable: all(writable),
            kept: all(kept),
            ..Ceiling::LOWEST
        }
    }

    #[track_caller]
    fn check(ceiling: &Ceiling, dir: &str, may: bool) {
        assert_eq!(ceiling.lets_write(Path::new(dir)), may, "{dir}");
    }

    #[test]
    fn the_nearest_rule_decides() {
        let ceiling = writing(&["/work", "/work/closed/open"], &["/", "/work/closed"]);
        check(&ceiling, "/work/project", true);
        check(&ceiling, "/work/closed", false);
        check(&ceiling, "/work/closed/project", false);
        check(&ceiling, "/work/closed/open", true);
        check(&ceiling, "/workshop", false);
        check(&ceiling, "/", false);
    }

    #[test]
    fn a_directory_with_a_closed_part_is_closed_unless_runs_are_kept_from_it_anyway() {
        let ceiling = writing(&["/work"], &["/work/.git", "/work/.codex", "/work/sub/.git"]);
        check(&ceiling, "/work/other", true);
        check(&ceiling, "/work/sub", true);
        // Only the working directory itself is checked, none below it.
        check(&ceiling, "/work", false);
        check(&writing(&["/work"], &["/work/.git", "/work/.agents"]), "/work", true);
        check(&writing(&["/work"], &["/work/secret"]), "/work", false);
    }

    #[test]
    fn equal_rules_are_read_as_the_lesser_one() {
        check(&writing(&["/work"], &["/work"]), "/work", false);
        check(&writing(&[], &[]), "/work", false);
    }

    #[test]
    fn a_client_in_no_sandbox_is_held_by_the_configuration_alone() {
        check(&Ceiling::NONE, "/work", true);
        let client = |ceiling| Caller::Client(Client { ceiling: Some(ceiling), ..Client::default() });
        let config = Config::default();
        assert_eq!(client(Ceiling::NONE).max_sandbox(&config), Sandbox::WorkspaceWrite);
        assert_eq!(client(Ceiling::LOWEST).max_sandbox(&config), Sandbox::ReadOnly);
        assert!(matches!(client(Ceiling::NONE).check_network(&config), Err(TaskError::NetworkOff)));
    }

    #[test]
    fn a_root_that_is_everything_is_no_root() {
        let dir = tempfile::tempdir().unwrap();
        let dir = real(dir.path());
        let check = |root: &Path| {
            let client = Client { roots: vec![root.to_owned()], ..Client::default() };
            Caller::Client(client).check_write(&Config::default(), &WriteBounds::default(), &dir).is_ok()
        };
        assert!(check(&dir));
        assert!(check(dir.parent().unwrap()));
        assert!(!check(Path::new("/")));
        assert!(!check(Path::new("")));
        assert!(!check(&dir.join("below")));
        assert!(!check(Path::new(&format!("{}x", dir.display()))));
    }
}
