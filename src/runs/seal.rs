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

    /// Writes and syncs `result.json` unless the run is already sealed. Adds what the directory
    /// knows: the resumed thread and the names of the other files.
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
        let bytes = writer::pretty(&RunResult {
            parent_thread_id: self.resumed_thread(),
            artifacts: self.other_artifacts(),
            ..result.clone()
        })?;
        let sealed = files::write(&self.result(), &bytes, Durability::Synced);
        if sealed.is_ok() {
            self.free_reserve();
            return sealed;
        }
        // The disk is full: release the reserve.
        self.free_reserve();
        files::write(&self.result(), &bytes, Durability::Synced)
    }

    fn resumed_thread(&self) -> Option<String> {
        let resume = self.read_request().ok().flatten()?.resume?;
        Some(resume.thread_id.as_str().to_owned())
    }

    fn other_artifacts(&self) -> Vec<String> {
        let others = self.artifacts().into_iter().filter(|(_, path)| *path != self.result());
        others.map(|(name, _)| name.as_str().to_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::agents::testing::{request, resumed};
    use crate::host::clock;
    use crate::model::{Outcome, Request, RunResult};
    use crate::runs::RunDir;

    /// The sealed result of a run that left these files beside its request.
    #[track_caller]
    fn check(request: &Request, files: &[&str], parent: Option<&str>, artifacts: &[&str]) {
        let home = tempfile::tempdir().unwrap();
        let dir = RunDir::at(home.path().join("run"));
        dir.create().unwrap();
        dir.write_request(request).unwrap();
        for name in files {
            std::fs::write(dir.file(name), "{}").unwrap();
        }
        let (task, run) = (request.task_id.clone(), request.run_id.clone());
        dir.seal(&RunResult::bare(task, run, 1, Outcome::Completed, clock::now())).unwrap();
        let sealed = dir.read_result().unwrap().unwrap();
        assert_eq!(sealed.parent_thread_id.as_deref(), parent);
        assert_eq!(sealed.artifacts, artifacts);
    }

    #[test]
    fn a_result_names_the_other_files_of_its_run() {
        check(&request(), &[], None, &["request.json"]);
        let files = ["stderr.log", "events.jsonl", "last_message.json", "run.lock", "env.json"];
        check(&request(), &files, None, &["last_message.json", "events.jsonl", "stderr.log", "request.json"]);
    }

    #[test]
    fn the_result_of_a_resumed_run_names_the_thread() {
        let thread = "019a8c2f-0000-7000-8000-000000000001";
        check(&resumed(thread, None), &[], Some(thread), &["request.json"]);
    }
}
