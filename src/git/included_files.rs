//! Finds the ignored files that a new worktree gets a copy of: those that `.worktreeinclude` names.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::Path;

use crate::git::index_copy;
use crate::git::linked_worktree::WorktreeOwner;
use crate::git::repository::bounded;
use crate::git::side_git::SideGit;
use crate::git::snapshot::{SnapshotError, listed};
use crate::host::files;

/// Patterns in the syntax of `.gitignore`.
const PATTERNS: &str = ".worktreeinclude";

impl WorktreeOwner {
    /// The files of the user's checkout that match a pattern and are ignored, sorted.
    pub(crate) fn included(&self, scratch: &Path) -> Result<Vec<Vec<u8>>, SnapshotError> {
        let root = &self.repository.root;
        let Ok(patterns) = bounded(&root.join(PATTERNS), 1 << 20) else { return Ok(Vec::new()) };
        let side = SideGit::settle(&self.repository, scratch, &self.installed, self.until)?;
        index_copy::take(&self.repository, &side.git, side.format, self.until)?;
        let (index, file) = (side.git.file("index"), side.git.file("included"));
        files::write_in_place(&file, patterns)?;
        let mut ours = OsStr::new("--exclude-from=").to_owned();
        ours.push(&file);
        let list = |exclude: &OsStr| {
            let args = ["ls-files", "-z", "--others", "--ignored"].map(OsStr::new);
            let args: Vec<&OsStr> = args.into_iter().chain([exclude]).collect();
            side.git.ask(&args, root, &index, Vec::new(), self.until)
        };
        let named = list(&ours)?;
        // A repository inside is named by its directory.
        let mut named: HashSet<&[u8]> = listed(&named).filter(|path| !path.ends_with(b"/")).collect();
        if !named.is_empty() {
            let ignored = list(OsStr::new("--exclude-standard"))?;
            let ignored: HashSet<&[u8]> = listed(&ignored).collect();
            named.retain(|path| ignored.contains(path));
        }
        let mut included: Vec<Vec<u8>> = named.into_iter().map(<[u8]>::to_owned).collect();
        included.sort();
        Ok(included)
    }
}
