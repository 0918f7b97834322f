//! Where a run may work, and where no run may write.
//!
//! All paths compared here are real ones, with links resolved: a similar name, or a link to elsewhere, is a
//! different place.

use std::path::{Path, PathBuf};

use crate::config::Config;
use crate::context::TaskError;
use crate::host::Env;
use crate::host::Home;
use crate::submit::protected_paths;

/// The system's temporary directory, which `workspace-write` can write to.
const TEMPORARY: &str = "/tmp";

/// What a writing run must never reach, because that would break every other boundary.
#[derive(Debug, Default)]
pub(crate) struct WriteBounds {
    /// The user's whole home directory.
    user: Option<PathBuf>,
    /// Delegator's own state and configuration.
    ours: Vec<PathBuf>,
    /// Codex's configuration, which can start programs. A worktree below it may still be a project.
    codex: Option<PathBuf>,
}

impl WriteBounds {
    pub(crate) fn of(env: &Env, home: &Home) -> Self {
        let user = env.path("HOME");
        let configuration = Config::locate(env).and_then(|file| Some(file.parent()?.to_owned()));
        let codex = env.path("CODEX_HOME").or_else(|| Some(user.as_ref()?.join(".codex")));
        Self {
            ours: [Some(home.root().to_owned()), configuration]
                .into_iter()
                .flatten()
                .map(|p| real(&p))
                .collect(),
            codex: codex.map(|path| real(&path)),
            user: user.map(|path| real(&path)),
        }
    }

    /// Whether `dir` as a whole may never be written to.
    pub(crate) fn forbid(&self, dir: &Path) -> bool {
        let holds = |path: &PathBuf| path.starts_with(dir);
        dir.parent().is_none()
            || self.user.as_ref().is_some_and(holds)
            || self.codex.as_ref().is_some_and(holds)
            || self.ours.iter().any(|ours| ours.starts_with(dir) || dir.starts_with(ours))
    }

    /// Where Codex keeps checkouts, among its own files.
    pub(crate) fn codex_checkouts(&self) -> Option<PathBuf> {
        self.codex.as_ref().map(|codex| codex.join("worktrees"))
    }

    /// Whether a writing run in `cwd` may use the system's temporary directories.
    pub(crate) fn allow_temporary(&self, env: &Env, cwd: &Path) -> bool {
        let dirs = [Some(PathBuf::from(TEMPORARY)), env.path("TMPDIR")];
        let opens = |dir: &Path| self.forbid(dir) || protected_paths::repository_is_in(dir, cwd);
        !dirs.into_iter().flatten().any(|dir| opens(&real(&dir)))
    }
}

/// Resolves the directory `asked`, relative to `place`.
pub(crate) fn directory(place: &Path, asked: &Path) -> Result<PathBuf, TaskError> {
    let found = std::fs::canonicalize(place.join(asked));
    let found = found.map_err(|_| TaskError::NoDirectory(asked.to_owned()))?;
    if !found.is_dir() {
        return Err(TaskError::NotADirectory(found));
    }
    // A request cannot be stored with a path that is not UTF-8.
    if found.to_str().is_some() { Ok(found) } else { Err(TaskError::OddDirectory(found)) }
}

/// Resolves links in the path as far as it exists.
pub(crate) fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => real(parent).join(name),
        _ => path.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds() -> WriteBounds {
        WriteBounds {
            user: Some("/home/dev".into()),
            ours: vec!["/home/dev/.local/state/delegator".into(), "/home/dev/.config/delegator".into()],
            codex: Some("/home/dev/.codex".into()),
        }
    }

    #[track_caller]
    fn check(dir: &str, forbidden: bool) {
        assert_eq!(bounds().forbid(Path::new(dir)), forbidden, "{dir}");
    }

    #[test]
    fn a_project_may_be_written_to() {
        check("/home/dev/project", false);
        check("/home/dev/.local/state/delegator-notes", false);
        check("/srv", false);
    }

    #[test]
    fn the_whole_of_a_home_may_not() {
        for dir in ["/", "/home", "/home/dev"] {
            check(dir, true);
        }
    }

    #[test]
    fn what_is_ours_may_not_nor_what_holds_it() {
        for dir in ["/home/dev/.local", "/home/dev/.local/state/delegator", "/home/dev/.config"] {
            check(dir, true);
        }
        check("/home/dev/.local/state/delegator/runs/x", true);
        check("/home/dev/.config/delegator/deeper", true);
    }

    #[test]
    fn a_worktree_that_codex_keeps_is_a_project_but_its_home_is_none() {
        check("/home/dev/.codex", true);
        check("/home/dev/.codex/worktrees/0a1b/project", false);
    }

    #[test]
    fn a_home_among_temporary_files_keeps_runs_out_of_them() {
        let env = |tmpdir: &str| Env::of(&[("TMPDIR", tmpdir)]);
        let cwd = Path::new("/home/dev/project");
        assert!(bounds().allow_temporary(&env("/var/tmp"), cwd));
        assert!(!bounds().allow_temporary(&env("/home"), cwd));
        let hidden = WriteBounds { ours: vec!["/tmp/state".into()], ..bounds() };
        assert!(!hidden.allow_temporary(&env(""), cwd));
    }

    #[test]
    fn what_does_not_exist_is_found_through_what_does() {
        let dir = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(dir.path()).unwrap();
        std::os::unix::fs::symlink(&root, root.join("link")).unwrap();
        assert_eq!(real(&root.join("link/a/b")), root.join("a/b"));
        assert_eq!(real(Path::new("/")), Path::new("/"));
    }
}
