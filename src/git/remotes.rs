//! Reads the addresses of a repository's remotes from its own configuration file, without git.

use std::path::Path;

use crate::git::config_file::remote_urls;
use crate::git::repository::{Repository, bounded};

/// A larger configuration file is ignored.
const LARGEST: u64 = 4 << 20;

/// Names and addresses of the remotes of the repository at `root`, in the order of the file.
pub(crate) fn remotes(root: &Path) -> Vec<(String, String)> {
    let config = Repository::at(root).and_then(|found| bounded(&found.common.join("config"), LARGEST).ok());
    config.map(|bytes| remote_urls(&bytes)).unwrap_or_default()
}

/// The branch that is checked out at `root`.
pub(crate) fn current_branch(root: &Path) -> Option<String> {
    Repository::at(root)?.head().branch
}
