//! Seals a run by writing its result once.

use std::fs;
use std::io;

use crate::host::{Durability, files};
use crate::model::RunResult;
use crate::runs::{ReadError, RunDir, writer};

impl RunDir {
    /// Moves anything at the path of `result.json` aside. Returns whether there was something.
    ///
    /// Only for the supervisor, which alone seals its run.
    pub(crate) fn reject_result(&self) -> io::Result<bool> {
        let aside = self.file("result.json.foreign");
        let move_aside = || match fs::rename(self.result(), &aside) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            moved => moved.map(|()| true),
        };
        move_aside().or_else(|_| {
            // Something is in the way there too.
            let _ = fs::remove_file(&aside).or_else(|_| fs::remove_dir_all(&aside));
            move_aside()
        })
    }

    /// Writes and syncs `result.json` unless the run is already sealed.
    ///
    /// Only the holder of the run's lock may call this. An existing result is never overwritten.
    pub(crate) fn seal(&self, result: &RunResult) -> io::Result<()> {
        match self.read_result() {
            Ok(Some(_)) => return Ok(()),
            Ok(None) => {}
            // Not written by us.
            Err(ReadError::Damaged { path, .. }) => fs::rename(&path, path.with_extension("json.damaged"))?,
            Err(ReadError::Io { source, .. }) => return Err(source),
        }
        // The agent may have deleted the directory.
        if !self.path().exists() {
            self.create()?;
        }
        // Left by a supervisor that was killed.
        let _ = fs::remove_file(self.socket());
        let _ = fs::remove_dir_all(self.tree());
        let _ = fs::remove_dir_all(self.overlapped());
        let _ = fs::remove_dir_all(self.scratch());
        let bytes = writer::pretty(result)?;
        let sealed = files::write(&self.result(), &bytes, Durability::Synced);
        if sealed.is_ok() {
            self.free_reserve();
            return sealed;
        }
        // The disk is full: release the reserve.
        self.free_reserve();
        files::write(&self.result(), &bytes, Durability::Synced)
    }
}
