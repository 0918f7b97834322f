//! Saves a snapshot to disk: if the supervisor is killed, another process compares it with the tree
//! after the run.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::git::home_in_checkout;
use crate::git::object::{Format, Oid, Store};
use crate::git::repository::{Head, Repository};
use crate::git::runner::Git;
use crate::git::snapshot::{SnapshotError, TreeBefore};
use crate::git::tree_walk::Time;
use crate::host::{Durability, files};

/// Its presence means that the snapshot is complete.
const NAME: &str = "before";

#[derive(Debug, Serialize, Deserialize)]
struct Note {
    /// The repository's directories at that time; an agent may move them.
    dir: PathBuf,
    common: PathBuf,
    sha256: bool,
    settings: Vec<String>,
    taken_at: Time,
    written: Time,
    file_mode: bool,
    #[serde(default = "usual")]
    links: bool,
    commit: Option<String>,
    branch: Option<String>,
    #[serde(default)]
    elsewhere: HashSet<String>,
    #[serde(default)]
    trees: HashSet<Vec<u8>>,
    unread: u32,
    #[serde(default)]
    first_unread: Option<Vec<u8>>,
    #[serde(default)]
    unseen: u32,
    #[serde(default)]
    unlisted: Option<String>,
}

fn usual() -> bool {
    true
}

impl TreeBefore {
    /// The last step of taking a snapshot.
    pub(super) fn keep(&self) -> io::Result<()> {
        let note = Note {
            dir: self.repository.dir.clone(),
            common: self.repository.common.clone(),
            sha256: self.store.format() == Format::Sha256,
            settings: self.git.settings().to_vec(),
            taken_at: self.taken_at,
            written: self.written,
            file_mode: self.file_mode,
            links: self.links,
            commit: self.head.commit.map(|commit| commit.to_string()),
            branch: self.head.branch.clone(),
            elsewhere: self.elsewhere.clone(),
            trees: self.trees.clone(),
            unread: self.unread,
            first_unread: self.first_unread.clone(),
            unseen: self.unseen,
            unlisted: self.unlisted.clone(),
        };
        files::write(&self.git.file(NAME), &serde_json::to_vec(&note)?, Durability::Whole)
    }

    /// Loads the snapshot of `root` from `scratch`.
    pub(crate) fn found(
        root: &Path,
        scratch: &Path,
        ours: &Path,
        program: PathBuf,
    ) -> Result<Self, SnapshotError> {
        let note: Note =
            serde_json::from_slice(&files::read(&scratch.join(NAME))?).map_err(io::Error::from)?;
        let format = if note.sha256 { Format::Sha256 } else { Format::Sha1 };
        let repository = Repository { root: root.to_owned(), dir: note.dir, common: note.common };
        let mut git = Git::settle(program, scratch, format, &repository.objects())?;
        note.settings.into_iter().for_each(|setting| git.set(setting));
        Ok(Self {
            repository,
            store: Store::at(&git.objects(), format),
            git,
            scratch: scratch.to_owned(),
            taken_at: note.taken_at,
            written: note.written,
            file_mode: note.file_mode,
            links: note.links,
            head: Head { commit: note.commit.as_deref().and_then(Oid::from_hex), branch: note.branch },
            elsewhere: note.elsewhere,
            trees: note.trees,
            own: home_in_checkout::below(root, ours),
            unread: note.unread,
            first_unread: note.first_unread,
            unseen: note.unseen,
            unlisted: note.unlisted,
        })
    }
}
