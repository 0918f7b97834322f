//! The control group of a run, if the system lets us create one.
//!
//! A process cannot leave it by forking, so killing the group kills everything. Only version 2 is
//! used, because its `cgroup.kill` takes a single write.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::host::{Process, processes};
use crate::model::RunId;
use crate::supervisor::process_mark::RunMark;

/// The parent of all groups of runs.
const PARENT: &str = "delegator";

#[derive(Debug)]
pub(crate) struct Cgroup {
    path: PathBuf,
}

impl Cgroup {
    /// Creates the group `name` below our own.
    pub(crate) fn create(name: &str) -> io::Result<Self> {
        let path = path_of(name).ok_or(io::ErrorKind::Unsupported)?;
        // An existing group was left by an earlier attempt.
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

    /// The group of a run whose supervisor is gone, if it still exists: the recorded one, or else
    /// found by name. A group of another home does not count.
    pub(crate) fn of_dead_run(mark: &RunMark, recorded: Option<&Path>) -> Option<Self> {
        let names = [mark.group(), mark.run.to_string()];
        let paths = match recorded {
            // Groups made by older versions have no home in their name.
            Some(path) => vec![path.to_owned()],
            None => names.iter().filter_map(|name| path_of(name)).collect(),
        };
        let is_ours =
            |path: &PathBuf| path.file_name().is_some_and(|name| names.iter().any(|one| name == &**one));
        let existing = |path: &PathBuf| path.join("cgroup.kill").exists();
        paths.into_iter().filter(is_ours).find(existing).map(|path| Self { path })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The processes in it. One that ended meanwhile is left out, because its id may have been
    /// reused before we read it.
    pub(crate) fn members(&self) -> Vec<Process> {
        let found: Vec<Process> = self.numbers().into_iter().filter_map(processes::read).collect();
        let still = if found.is_empty() { Vec::new() } else { self.numbers() };
        found.into_iter().filter(|process| still.contains(&process.pid)).collect()
    }

    fn numbers(&self) -> Vec<i32> {
        let procs = fs::read_to_string(self.path.join("cgroup.procs")).unwrap_or_default();
        procs.lines().filter_map(|pid| pid.parse().ok()).collect()
    }

    /// Kills everything in it and below. The processes are gone a moment later.
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
        // An agent may have created groups inside; they are empty now.
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

fn path_of(name: &str) -> Option<PathBuf> {
    Some(own_group()?.join(PARENT).join(name))
}

/// Moves this process out of the groups of all runs, so that what it starts does not end with them.
pub(crate) fn leave_run_groups() {
    if let Some(outside) = own_group().as_deref().and_then(outside) {
        // If this fails, we end with the rest.
        let _ = fs::write(outside.join("cgroup.procs"), b"0");
    }
}

/// The group around the outermost run that contains `group`.
fn outside(group: &Path) -> Option<&Path> {
    let name = |dir: &Path| dir.file_name()?.to_str().map(str::to_owned);
    let run = |dir: &&Path| name(dir).is_some_and(|name| is_of_a_run(&name));
    let parents = group.ancestors().filter(run).filter_map(Path::parent);
    parents.filter(|dir| name(dir).is_some_and(|name| name == PARENT)).filter_map(Path::parent).last()
}

fn is_of_a_run(name: &str) -> bool {
    name.split('.').next().is_some_and(|run| run.parse::<RunId>().is_ok())
}

/// Our own group in the version 2 hierarchy, wherever that is mounted.
fn own_group() -> Option<PathBuf> {
    let groups = processes::text("/proc/self/cgroup");
    let own = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let mounts = processes::text("/proc/self/mounts");
    let mount = mounts.lines().find_map(|line| {
        let mut fields = line.split(' ');
        let (_, at, kind) = (fields.next()?, fields.next()?, fields.next()?);
        (kind == "cgroup2").then(|| PathBuf::from(at))
    })?;
    Some(mount.join(own.trim_start_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_can_be_entered_after_it_was_killed() {
        // A system without control groups has nothing to enter.
        let Ok(group) = Cgroup::create("own.killed") else { return };
        group.kill();
        assert!(crate::host::spawn_agent::can_enter(group.path()));
    }

    #[test]
    fn the_way_out_leads_past_every_run() {
        let [a, b] = [1, 2].map(|n| RunId::from_parts("2026-11-15_093000123", [n; 6]));
        let check = |group: String, way: Option<&str>| {
            assert_eq!(outside(Path::new(&group)), way.map(Path::new), "{group}");
        };
        check(format!("/cg/user/delegator/{a}/delegator/{b}/own"), Some("/cg/user"));
        check(format!("/cg/delegator/{b}"), Some("/cg"));
        check(format!("/cg/delegator/{b}.1f-2a"), Some("/cg"));
        check(format!("/cg/other/{b}"), None);
        check("/cg/delegator/own".to_owned(), None);
    }
}
