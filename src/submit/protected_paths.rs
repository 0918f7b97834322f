//! Recognises files that control git and agents, such as hooks and settings.
//!
//! Whoever can write there has programs run outside every sandbox. In each directory that it opens, Codex
//! write-protects `.git` and the like at the top, and what that `.git` points to, but no more (measured with
//! 0.166). A directory that is such a place itself, or lies inside one, would be open.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::host::git_root;
use crate::submit::write_bounds::real;

/// What Codex write-protects in its working directory, and we in that of a client's command.
pub(crate) const PROTECTED_DIRS: [&str; 4] = [".git", ".agents", ".codex", ".aws"];

/// Whether write access to `dir`, a real path, would expose such a place.
///
/// `checkouts` is where Codex itself keeps checkouts, among its own files.
pub(crate) fn exposes_protected_path(dir: &Path, checkouts: Option<&Path>) -> bool {
    let within = checkouts.and_then(|checkouts| dir.strip_prefix(checkouts).ok()).unwrap_or(dir);
    let is_kept = |part: &OsStr| PROTECTED_DIRS.iter().any(|name| part.eq_ignore_ascii_case(name));
    within.iter().any(is_kept)
        || dir.ancestors().any(is_git_directory)
        || Repository::of(dir).is_some_and(|found| found.is_open(dir, dir))
}

/// Whether a run in `cwd` with write access to all of `place` could change the repository that it works in.
pub(crate) fn repository_is_in(place: &Path, cwd: &Path) -> bool {
    Repository::of(cwd).is_some_and(|repository| repository.is_open(place, cwd))
}

/// Where a directory's repository keeps the files that control git.
struct Repository {
    top: PathBuf,
    /// What `.git` is or points to, and what all worktrees share.
    own: PathBuf,
    common: PathBuf,
}

impl Repository {
    fn of(dir: &Path) -> Option<Repository> {
        let top = git_root(dir)?;
        let git = top.join(".git");
        let line = |file: &Path| std::fs::read_to_string(file).ok();
        let named = line(&git).and_then(|text| {
            let path = text.lines().find_map(|line| line.strip_prefix("gitdir:"))?.trim().to_owned();
            Some(top.join(path))
        });
        let own = real(&named.unwrap_or(git));
        let common = line(&own.join("commondir")).map(|path| real(&own.join(path.trim())));
        Some(Repository { top, common: common.unwrap_or_else(|| own.clone()), own })
    }

    /// A sandbox around `cwd` protects what its `.git` points to, if it has one, and the `.git` of each place
    /// that it opens.
    fn is_open(&self, place: &Path, cwd: &Path) -> bool {
        let is_kept = |path: &Path| {
            cwd == self.top && path == self.own || path.starts_with(place.join(PROTECTED_DIRS[0]))
        };
        [&self.own, &self.common].into_iter().any(|path| path.starts_with(place) && !is_kept(path))
    }
}

/// Whether git would accept `dir` as a repository, whatever its name.
fn is_git_directory(dir: &Path) -> bool {
    let shared = || dir.join("objects").is_dir() && dir.join("refs").is_dir();
    dir.join("HEAD").symlink_metadata().is_ok() && (shared() || dir.join("commondir").is_file())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn exposes_protected_path(dir: &Path) -> bool {
        super::exposes_protected_path(dir, None)
    }

    /// A directory with a repository in git's usual layout.
    fn place() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = real(dir.path());
        git_directory(&root.join("project/.git"));
        (dir, root)
    }

    fn git_directory(at: &Path) {
        for part in ["objects", "refs", "hooks"] {
            fs::create_dir_all(at.join(part)).unwrap();
        }
        fs::write(at.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    }

    fn checkout(at: &Path, git: &str) {
        fs::create_dir_all(at).unwrap();
        fs::write(at.join(".git"), format!("gitdir: {git}\n")).unwrap();
    }

    #[test]
    fn an_ordinary_directory_opens_nothing() {
        let (_dir, root) = place();
        for below in ["", "project", "project/src", "project/.github", "project/.gitignore.d"] {
            let dir = root.join(below);
            fs::create_dir_all(&dir).unwrap();
            assert!(!exposes_protected_path(&dir), "{}", dir.display());
        }
    }

    #[test]
    fn a_kept_name_opens_it_at_any_depth() {
        let (_dir, root) = place();
        for below in
            ["project/.git", "project/.git/hooks", "project/src/.codex", "alone/.agents/x", "project/.GIT"]
        {
            assert!(exposes_protected_path(&root.join(below)), "{below}");
        }
    }

    #[test]
    fn a_checkout_that_codex_keeps_is_a_project_and_no_other_among_such_files() {
        let (_dir, root) = place();
        let checkouts = root.join(".codex/worktrees");
        let checkout = checkouts.join("1/project");
        git_directory(&checkout.join(".git"));
        assert!(super::exposes_protected_path(&checkout, None));
        let exposes_protected_path = |dir: &Path| super::exposes_protected_path(dir, Some(&checkouts));
        assert!(!exposes_protected_path(&checkout));
        assert!(!exposes_protected_path(&checkout.join("src")));
        assert!(exposes_protected_path(&checkout.join(".codex")));
        for below in [".codex/skills/own", "project/.codex", "project/.git/inside", "project/.agents/x"] {
            git_directory(&root.join(below).join(".git"));
            assert!(exposes_protected_path(&root.join(below)), "{below}");
        }
    }

    #[test]
    fn a_repository_is_known_under_any_name() {
        let (_dir, root) = place();
        git_directory(&root.join("bare"));
        assert!(exposes_protected_path(&root.join("bare")));
        assert!(exposes_protected_path(&root.join("bare/hooks")));
        fs::create_dir_all(root.join("worktree-of-it")).unwrap();
        fs::write(root.join("worktree-of-it/HEAD"), "").unwrap();
        assert!(!exposes_protected_path(&root.join("worktree-of-it")));
        fs::write(root.join("worktree-of-it/commondir"), "../bare\n").unwrap();
        assert!(exposes_protected_path(&root.join("worktree-of-it")));
    }

    #[test]
    fn what_holds_its_own_repository_is_open_unless_its_git_names_it() {
        let (_dir, root) = place();
        let top = root.join("separate");
        git_directory(&top.join("kept/git"));
        checkout(&top, "kept/git");
        assert!(!exposes_protected_path(&top));
        assert!(exposes_protected_path(&top.join("kept")));
        // No `.git` that a sandbox looks at points to what worktrees share.
        fs::create_dir_all(top.join("kept/git/worktrees/1")).unwrap();
        fs::write(top.join("kept/git/worktrees/1/commondir"), "../..\n").unwrap();
        checkout(&top, "kept/git/worktrees/1");
        assert!(exposes_protected_path(&top));
    }

    #[test]
    fn a_place_that_holds_the_repository_is_told_from_one_that_does_not() {
        let (_dir, root) = place();
        let project = root.join("project");
        assert!(!repository_is_in(&root, &project));
        assert!(repository_is_in(&root, &project.join("src")));
        assert!(!repository_is_in(&root.join("other"), &project.join("src")));
        let worktree = root.join("worktree");
        fs::create_dir_all(project.join(".git/worktrees/1")).unwrap();
        fs::write(project.join(".git/worktrees/1/commondir"), "../..\n").unwrap();
        checkout(&worktree, "../project/.git/worktrees/1");
        assert!(repository_is_in(&root, &worktree));
        // A place opened as a whole protects its own `.git`.
        assert!(!repository_is_in(&project, &worktree));
        assert!(!repository_is_in(&project, &project.join("src")));
        assert!(!exposes_protected_path(&worktree));
        symlink(&project, root.join("link")).unwrap();
        assert!(repository_is_in(&root, &real(&root.join("link")).join("src")));
    }
}
