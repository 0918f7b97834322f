//! The identity of a home, which distinguishes it from a copy.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Device and inode of the home directory. Used for processes, so they need to be unique only until
/// the next boot.
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

/// The home in which a task was submitted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TaskHome {
    pub(crate) path: PathBuf,
    #[serde(flatten)]
    pub(crate) id: HomeId,
}
