//! Seals a run: its result, once and for good.

use std::fs;
use std::io;

use crate::host::{Durability, files};
use crate::model::RunResult;
use crate::runs::{ReadError, RunDir, writer};

impl RunDir {
    /// Moves whatever is in the place of `result.json` aside; whether there was something.
    ///
    /// For the supervisor alone, which is the one to seal its run.
    pub(crate) fn reject_result(&self) -> io::Result<bool> {
        let aside = self.file("result.json.foreign");
        let move_aside = || match fs::rename(self.result(), &aside) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            moved => moved.map(|()| true),
        };
        move_aside().or_else(|_| {
            // Somebody thought of that as well.
            let _ = fs::remove_file(&aside).or_else(|_| fs::remove_dir_all(&aside));
            move_aside()
        })
    }

    /// Writes `result.json`, durably, unless the run is sealed already.
    ///
    /// Only the holder of the run's lock may call this. What is there stays:
    /// a terminal state is never overwritten.
    pub(crate) fn seal(&self, result: &RunResult) -> io::Result<()> {
        match self.read_result() {
            Ok(Some(_)) => return Ok(()),
            Ok(None) => {}
            // Whoever wrote this was not one of us.
            Err(ReadError::Damaged { path, .. }) => fs::rename(&path, path.with_extension("json.damaged"))?,
            Err(ReadError::Io { source, .. }) => return Err(source),
        }
        // An agent may have deleted its own directory; its end is known all the same.
        if !self.path().exists() {
            self.create()?;
        }
        // Left behind by a supervisor that was killed.
        let _ = fs::remove_file(self.socket());
        let _ = fs::remove_dir_all(self.tree());
        let _ = fs::remove_dir_all(self.overlapped());
        let bytes = writer::pretty(result)?;
        let sealed = files::write(&self.result(), &bytes, Durability::Synced);
        if sealed.is_ok() {
            self.free_reserve();
            return sealed;
        }
        // A full disk: give back what was kept for this moment.
        self.free_reserve();
        files::write(&self.result(), &bytes, Durability::Synced)
    }
}
