//! Makes the worktree of a run: the files of its base, copies of the ignored files that are to be included, and what the
//! operator's setup adds.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use crate::config::Config;
use crate::context::WorktreeError;
use crate::git::WorktreeOwner;
use crate::host::{Env, files};
use crate::model::{Request, Worktree};
use crate::runs::RunDir;
use crate::worktrees::exchange::copy_entry;
use crate::worktrees::owner::{oid, owner};
use crate::worktrees::parent_dirs;
use crate::worktrees::setup::Setup;

/// How many names a warning lists.
const MOST_NAMED: usize = 5;

/// What a worktree is made for.
#[derive(Debug)]
pub(crate) struct Ground<'a> {
    pub(crate) env: &'a Env,
    pub(crate) dir: &'a RunDir,
    pub(crate) request: &'a Request,
    /// Of the agent.
    pub(crate) environment: &'a [(String, String)],
}

/// Makes the worktree, unless a run that this one resumes left it. Until the agent has started nothing in it can be
/// lost, so an attempt that was interrupted is made anew. Returns warnings.
pub(crate) fn create(
    ground: &Ground<'_>,
    worktree: &Worktree,
    is_stopped: &mut dyn FnMut() -> bool,
) -> Result<Vec<String>, WorktreeError> {
    let Ground { env, dir, request, environment } = ground;
    let owner = owner(env, worktree)?;
    let Worktree { branch, path, .. } = worktree;
    let resumes = request.resume.is_some();
    if resumes && owner.is_complete(path) {
        return Ok(Vec::new());
    }
    if resumes {
        // Without git's record of it, what is in it cannot be committed, and may be work.
        let is_empty = fs::read_dir(path).map_or(true, |mut entries| entries.next().is_none());
        if !is_empty && owner.linked(path).is_none() {
            return Err(WorktreeError::Forgotten(path.clone()));
        }
        owner.remove(path)?;
    } else {
        discard_unused(env, worktree)?;
    }
    if let Some(parent) = path.parent() {
        files::ensure_dir(parent)?;
    }
    files::create_dir(path)?;
    let base = oid(&worktree.base)?;
    // Setup runs without a sandbox, so it is kept from files that another run may have written.
    let is_users = owner.branch_head(branch).is_none() && owner.had_checked_out(base);
    let submodules = owner.add(path, branch, base, &dir.worktree_scratch())?;
    let mut warnings = Vec::new();
    if !submodules.is_empty() {
        warnings.push(format!("submodules are empty in the worktree: {}", some(&submodules)));
    }
    let left_out = include(&owner, &worktree.repository, path, &dir.worktree_scratch())?;
    if !left_out.is_empty() {
        warnings.push(format!("not copied into the worktree: {}", some(&left_out)));
    }
    let config = Config::load(env).unwrap_or_default();
    if let Some(command) = config.worktree_setup.as_ref().filter(|_| is_users) {
        let limit = Duration::from_secs(config.worktree_setup_timeout_s);
        let log = &dir.worktree_setup_log();
        Setup { command, limit, cwd: &request.cwd, environment, log }.run(is_stopped)?;
    } else if config.worktree_setup.is_some() {
        warnings.push(
            "`worktree_setup` was not run: it has no sandbox, and the worktree does not start from a commit that you \
             had checked out"
                .to_owned(),
        );
    }
    Ok(warnings)
}

/// Removes a worktree in which no agent has worked, and its branch.
pub(crate) fn discard_unused(env: &Env, worktree: &Worktree) -> Result<(), WorktreeError> {
    let owner = owner(env, worktree)?;
    owner.remove(&worktree.path)?;
    match owner.branch_head(&worktree.branch) {
        Some(head) => Ok(owner.delete_branch(&worktree.branch, head)?),
        None => Ok(()),
    }
}

/// Copies the included files. Returns those that could not be copied.
fn include(
    owner: &WorktreeOwner,
    from: &Path,
    to: &Path,
    scratch: &Path,
) -> Result<Vec<Vec<u8>>, WorktreeError> {
    let mut left_out = owner.included(scratch)?;
    left_out.retain(|path| {
        let source = from.join(OsStr::from_bytes(path));
        let is_file = fs::symlink_metadata(&source).is_ok_and(|found| found.is_file());
        // Fails if the commit has a file or a link there.
        let copied = is_file && parent_dirs::reach(to, path).is_ok_and(|to| copy_entry(&source, &to).is_ok());
        !copied
    });
    Ok(left_out)
}

pub(crate) fn some(paths: &[Vec<u8>]) -> String {
    let shown = paths.iter().take(MOST_NAMED);
    let shown: Vec<_> =
        shown.map(|path| format!("`{}`", String::from_utf8_lossy(path).escape_debug())).collect();
    let more = paths.len().saturating_sub(MOST_NAMED);
    if more == 0 { shown.join(", ") } else { format!("{} and {more} more", shown.join(", ")) }
}
