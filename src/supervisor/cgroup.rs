//! A control group of a run's own, where the system lets us make one.
//!
//! Nothing leaves it by forking, so ending it ends everything. Only version 2
//! is used: its `cgroup.kill` is one write.

use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub(crate) struct Cgroup {
    path: PathBuf,
}

impl Cgroup {
    /// Makes a group named after `run` below our own.
    pub(crate) fn create(run: &str) -> io::Result<Self> {
        let path = path_of(run).ok_or(io::ErrorKind::Unsupported)?;
        // One that is there already was left by an earlier attempt.
        for dir in path.parent().into_iter().chain([path.as_path()]) {
            match fs::create_dir(dir) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
        }
        let group = Self { path };
        if group.path.join("cgroup.kill").exists() {
            Ok(group)
        } else {
            Err(io::ErrorKind::Unsupported.into())
        }
    }

    /// The group of a run whose supervisor is gone, if it is still there.
    pub(crate) fn existing(path: &Path) -> Option<Self> {
        path.join("cgroup.kill").exists().then(|| Self { path: path.to_owned() })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where a process writes `0` to enter.
    pub(crate) fn entry(&self) -> io::Result<OwnedFd> {
        Ok(File::options().write(true).open(self.path.join("cgroup.procs"))?.into())
    }

    /// The processes in it.
    pub(crate) fn members(&self) -> Vec<i32> {
        let procs = fs::read_to_string(self.path.join("cgroup.procs")).unwrap_or_default();
        procs.lines().filter_map(|pid| pid.parse().ok()).collect()
    }

    /// Ends everything in it and below. They are gone a moment later.
    pub(crate) fn kill(&self) {
        let _ = fs::write(self.path.join("cgroup.kill"), b"1");
    }

    /// Whether a process is in it or below.
    pub(crate) fn populated(&self) -> bool {
        let events = fs::read_to_string(self.path.join("cgroup.events")).unwrap_or_default();
        events.lines().any(|line| line == "populated 1")
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // An agent may have made groups of its own inside; they are empty now.
        remove(&self.path);
    }
}

fn remove(path: &Path) {
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove(&entry.path());
        }
    }
    let _ = fs::remove_dir(path);
}

/// Where the group of `run` is, if it has one.
pub(crate) fn path_of(run: &str) -> Option<PathBuf> {
    Some(own_group()?.join("delegator").join(run))
}

/// Our own group in the version 2 hierarchy, wherever that is mounted.
fn own_group() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    let mount = mounts.lines().find_map(|line| {
        let mut fields = line.split(' ');
        let (_, at, kind) = (fields.next()?, fields.next()?, fields.next()?);
        (kind == "cgroup2").then(|| PathBuf::from(at))
    })?;
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    Some(mount.join(own.trim_start_matches('/')))
}
