//! Which home something belongs to, when two of them look the same.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What tells the directory of a home from a copy of it. A process does not
/// outlive the boot in which these numbers are unique.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HomeId {
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

impl fmt::Display for HomeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}-{:x}", self.device, self.inode)
    }
}

/// The home that a task was handed in to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MadeIn {
    pub(crate) path: PathBuf,
    #[serde(flatten)]
    pub(crate) id: HomeId,
}
