//! Makes a linked worktree of the user's repository, moves its branch, and removes both again.
//!
//! Only here does git see the user's own repository: see [`ask_repository`]. Neither the user's checkout nor its index
//! is touched.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::git::all_added::PATCH;
use crate::git::file_state::GITLINK;
use crate::git::index;
use crate::git::object::Oid;
use crate::git::other_worktrees;
use crate::git::repository::{Repository, bounded};
use crate::git::runner::ask_repository;
use crate::git::side_git::{Installed, SideGit};
use crate::git::snapshot::SnapshotError;
use crate::host::files;

/// The repository that a worktree belongs to.
#[derive(Debug)]
pub(crate) struct WorktreeOwner {
    /// The user's checkout.
    pub(crate) repository: Repository,
    pub(crate) installed: Installed,
    pub(crate) until: Duration,
}

impl WorktreeOwner {
    fn ask(&self, dir: &Path, args: &[&OsStr]) -> Result<(), SnapshotError> {
        ask_repository(&self.installed.program, dir, args, self.until)?;
        Ok(())
    }

    pub(crate) fn branch_head(&self, branch: &str) -> Option<Oid> {
        let name = reference(branch);
        self.repository.references().into_iter().find_map(|(found, oid)| (found == name).then_some(oid))
    }

    /// Whether the user's checkout stands, or stood not long ago, on `commit`.
    pub(crate) fn had_checked_out(&self, commit: Oid) -> bool {
        let moves = other_worktrees::journal(&self.repository.dir);
        self.repository.head().commit == Some(commit) || moves.iter().any(|step| step.to == commit)
    }

    /// The worktree at `path`, whatever the `.git` in it says now; its directory may be gone.
    pub(crate) fn linked(&self, path: &Path) -> Option<Repository> {
        let dot = path.join(".git");
        let leads_there = |dir: &PathBuf| {
            let named = bounded(&dir.join("gitdir"), 64 << 10).unwrap_or_default();
            dir.join(OsStr::from_bytes(named.trim_ascii())) == dot
        };
        let entries = fs::read_dir(self.repository.common.join("worktrees")).ok()?.flatten();
        let dir = entries.map(|entry| entry.path()).find(leads_there)?;
        Some(Repository { root: path.to_owned(), dir, common: self.repository.common.clone() })
    }

    /// Whether the worktree at `path` was made to the end.
    pub(crate) fn is_complete(&self, path: &Path) -> bool {
        path.is_dir() && self.linked(path).is_some_and(|linked| linked.index().exists())
    }

    /// Makes the worktree at `path`, an empty directory, on `branch`, which starts at `base` if it is new. Returns the
    /// submodules, whose directories are left empty.
    pub(crate) fn add(
        &self,
        path: &Path,
        branch: &str,
        base: Oid,
        scratch: &Path,
    ) -> Result<Vec<Vec<u8>>, SnapshotError> {
        let (start, is_new) = match self.branch_head(branch) {
            Some(head) => (head, false),
            None => (base, true),
        };
        let base = base.to_string();
        let mut args: Vec<&OsStr> = ["worktree", "add", "--quiet", "--no-checkout"].map(OsStr::new).to_vec();
        if is_new {
            args.extend(["-b", branch].map(OsStr::new));
        }
        args.extend([path.as_os_str(), OsStr::new(if is_new { base.as_str() } else { branch })]);
        self.ask(&self.repository.common, &args)?;
        let linked = self.linked(path).ok_or_else(|| SnapshotError::NoRepository(path.to_owned()))?;
        self.check_out(&linked, start, scratch)
    }

    /// Fills the worktree with our own git, so that no filter runs.
    fn check_out(
        &self,
        linked: &Repository,
        commit: Oid,
        scratch: &Path,
    ) -> Result<Vec<Vec<u8>>, SnapshotError> {
        let side = SideGit::settle(linked, scratch, &self.installed, self.until)?;
        let commit = commit.to_string();
        let index = side.git.file("index");
        let links = format!("core.symlinks={}", side.settings.links);
        for args in [
            ["read-tree", &commit].as_slice(),
            ["-c", &links, "checkout-index", "--quiet", "--all", "--index"].as_slice(),
        ] {
            let args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
            side.git.ask(&args, &linked.root, &index, Vec::new(), self.until)?;
        }
        let mut submodules = Vec::new();
        index::read(&files::read(&index)?, side.format, |entry| {
            if entry.mode == GITLINK {
                submodules.push(entry.path.to_owned());
            }
        })?;
        set_index(linked, &index)?;
        Ok(submodules)
    }

    /// Moves the branch from `old`, where it exists, to `new`.
    pub(crate) fn set_branch(&self, branch: &str, new: Oid, old: Option<Oid>) -> Result<(), SnapshotError> {
        let zero = "0".repeat(new.as_bytes().len() * 2);
        let old = old.map_or(zero, |old| old.to_string());
        let (name, new) = (reference(branch), new.to_string());
        let args = ["update-ref", "-m", "delegator: commit the work of the run", &name, &new, &old];
        self.ask(&self.repository.common, &args.map(OsStr::new))
    }

    /// Makes the worktree stand on its branch again.
    pub(crate) fn return_to_branch(&self, linked: &Repository, branch: &str) -> Result<(), SnapshotError> {
        self.ask(&linked.dir, &["symbolic-ref", "HEAD", &reference(branch)].map(OsStr::new))
    }

    /// Removes the worktree at `path`, whatever is in it.
    pub(crate) fn remove(&self, path: &Path) -> Result<(), SnapshotError> {
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            Ok(()) | Err(_) => {}
        }
        if self.linked(path).is_none() {
            return Ok(());
        }
        let args = ["worktree", "remove", "--force", "--force"].map(OsStr::new);
        let args: Vec<&OsStr> = args.into_iter().chain([path.as_os_str()]).collect();
        self.ask(&self.repository.common, &args)
    }

    /// Deletes the branch if it is still at `head`.
    pub(crate) fn delete_branch(&self, branch: &str, head: Oid) -> Result<(), SnapshotError> {
        let (name, head) = (reference(branch), head.to_string());
        self.ask(&self.repository.common, &["update-ref", "-d", &name, &head].map(OsStr::new))
    }

    /// What `head` has over `base`, as a patch.
    pub(crate) fn patch(&self, base: Oid, head: Oid, scratch: &Path) -> Result<Vec<u8>, SnapshotError> {
        let side = SideGit::settle(&self.repository, scratch, &self.installed, self.until)?;
        let (base, head) = (base.to_string(), head.to_string());
        let args: Vec<&str> = ["diff-tree"].into_iter().chain(PATCH).chain([&*base, &*head]).collect();
        Ok(side.git.ask_objects(&args, Vec::new(), self.until)?)
    }

    /// Copies the packs in `from` into the user's repository.
    pub(crate) fn add_packs(&self, from: &Path) -> Result<(), SnapshotError> {
        let to = self.repository.objects().join("pack");
        fs::create_dir_all(&to)?;
        let mut names: Vec<OsString> = fs::read_dir(from)?.flatten().map(|entry| entry.file_name()).collect();
        // Git uses a pack as soon as it sees its index, so that comes last.
        names.sort_by_key(|name| name.as_bytes().ends_with(b".idx"));
        for name in names {
            let temporary = to.join(format!("tmp_delegator_{}_{}", std::process::id(), name.display()));
            fs::copy(from.join(&name), &temporary)?;
            let shared = fs::metadata(&to)?.permissions().mode() & 0o444;
            fs::set_permissions(&temporary, fs::Permissions::from_mode(shared))?;
            fs::File::open(&temporary)?.sync_all()?;
            fs::rename(&temporary, to.join(&name))?;
        }
        Ok(files::sync_dir(&to)?)
    }
}

/// Replaces the index of a worktree by a copy of `index`.
pub(crate) fn set_index(linked: &Repository, index: &Path) -> Result<(), SnapshotError> {
    let new = linked.dir.join("index.delegator");
    fs::copy(index, &new)?;
    Ok(fs::rename(&new, linked.index())?)
}

fn reference(branch: &str) -> String {
    format!("refs/heads/{branch}")
}
