//! Resolves what only hosted work takes: environment, attempts, branch, and uncommitted changes.

use std::path::Path;

use sha2::{Digest, Sha256};

use crate::context::{Context, TaskError};
use crate::environments::Environments;
use crate::git::{self, AllAddedError, Installed, SnapshotError, TreeBefore};
use crate::host::{clock, files, ids};
use crate::model::{AgentName, WorkKind};
use crate::submit::start_request::StartRequest;
use crate::text::plain;

const MOST_ATTEMPTS: u32 = 4;
/// The branch if none is checked out.
const USUAL_BRANCH: &str = "main";
/// The variable in which Codex takes a patch to start from.
const STARTING_DIFF: &str = "CODEX_STARTING_DIFF";
/// The kernel limits one variable to 128 KiB.
const LARGEST_DIFF: usize = 120 << 10;
const LONGEST_DIFF_TIME: std::time::Duration = std::time::Duration::from_secs(30);
const LONGEST_BRANCH: usize = 200;

/// What a request for hosted work says beyond that for any other.
#[derive(Debug, Default)]
pub(super) struct HostedOptions {
    pub(super) env_id: Option<String>,
    pub(super) attempts: Option<u32>,
    pub(super) branch: Option<String>,
    /// The hash of the patch.
    pub(super) starting_diff: Option<String>,
    /// The variables for the service's program.
    pub(super) environment: Vec<(String, String)>,
}

impl HostedOptions {
    /// Nothing for agents that are not hosted.
    pub(super) fn resolve(
        context: &Context,
        agent: AgentName,
        ask: &StartRequest,
        cwd: &Path,
        git_root: Option<&Path>,
    ) -> Result<Self, TaskError> {
        if agent.abilities().work != WorkKind::Hosted {
            return Ok(Self::default());
        }
        if let Some(attempts) = ask.attempts.filter(|attempts| !(1..=MOST_ATTEMPTS).contains(attempts)) {
            return Err(TaskError::BadAttempts(attempts));
        }
        let branch = match &ask.branch {
            Some(branch) => checked(branch)?,
            None => git_root.and_then(git::current_branch).unwrap_or_else(|| USUAL_BRANCH.to_owned()),
        };
        let env_id = environment(context, ask.env_id.as_deref())?;
        let patch = if ask.starting_diff { uncommitted(context, cwd, git_root)? } else { None };
        let digest =
            |patch: &String| Sha256::digest(patch).iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self {
            env_id: Some(env_id),
            attempts: ask.attempts,
            branch: Some(branch),
            starting_diff: patch.as_ref().map(digest),
            environment: patch.map(|patch| (STARTING_DIFF.to_owned(), patch)).into_iter().collect(),
        })
    }
}

/// The environment that is meant: the only one known if none is named.
fn environment(context: &Context, asked: Option<&str>) -> Result<String, TaskError> {
    let known = Environments::read(&context.env, &context.home);
    match (asked, known) {
        // The service knows better than a file that cannot be read.
        (Some(asked), known) => Ok(known.map_or_else(|_| asked.to_owned(), |known| known.resolve(asked))),
        (None, known) => match known?.rows.as_slice() {
            [only] => Ok(only.id.clone()),
            several => {
                Err(TaskError::NoEnvironment { known: several.iter().map(|row| row.id.clone()).collect() })
            }
        },
    }
}

/// A branch is passed as an argument of its own.
fn checked(branch: &str) -> Result<String, TaskError> {
    let odd = branch.is_empty()
        || branch.len() > LONGEST_BRANCH
        || branch.starts_with('-')
        || branch.contains([' ', '~', '^', ':', '?', '*', '[', '\\'])
        || branch.contains("..")
        || plain::line(branch, LONGEST_BRANCH) != branch;
    if odd { Err(TaskError::BadBranch(branch.to_owned())) } else { Ok(branch.to_owned()) }
}

/// The uncommitted changes of the repository, if there are any.
fn uncommitted(context: &Context, cwd: &Path, git_root: Option<&Path>) -> Result<Option<String>, TaskError> {
    let root = git_root.ok_or_else(|| TaskError::DiffOutsideGit(cwd.to_owned()))?;
    let refused = |why: String| TaskError::NoStartingDiff { why, git: None };
    let installed = Installed::find(&context.env, context.env.get("PATH"), &[root]);
    let installed = installed.map_err(|error| refused(error.to_string()))?;
    let diffs = context.home.diffs();
    files::ensure_dir(&diffs).map_err(TaskError::write(&diffs))?;
    let scratch = diffs.join(ids::secret()?);
    let until = clock::monotonic() + LONGEST_DIFF_TIME;
    let tree = TreeBefore::take(root, &scratch, context.home.root(), &installed, until);
    let patch = tree.map_err(AllAddedError::from).and_then(|tree| tree.uncommitted(until));
    let patch = patch.map_err(|error| {
        let why = error.to_string();
        let git = match error {
            AllAddedError::Snapshot(SnapshotError::Git(error)) => Some(error),
            _ => None,
        };
        TaskError::NoStartingDiff { why, git }
    })?;
    if patch.len() > LARGEST_DIFF {
        return Err(refused(format!("it is {} bytes; the limit is {LARGEST_DIFF}", patch.len())));
    }
    let patch = String::from_utf8(patch).map_err(|_| refused("it is not UTF-8 text".to_owned()))?;
    Ok(Some(patch).filter(|patch| !patch.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_is_no_option_and_no_range() {
        for bad in ["", "-f", "a b", "a..b", "a:b", "a\u{1b}[31m", "refs/*"] {
            assert!(checked(bad).is_err(), "{bad:?}");
        }
        for good in ["main", "feature/oauth-login", "fix#12", "größe"] {
            assert_eq!(checked(good).unwrap(), good);
        }
    }
}
