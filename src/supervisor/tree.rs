//! Everything a run has started, and how to end all of it.
//!
//! The best of three ways that the system allows; each finds what leaves its
//! process group and its session. What can hide from the weaker ones is said
//! at [`KillLevel`].

use std::collections::HashSet;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use super::cgroup::{Cgroup, path_of};
use crate::host::spawn::{self, Reaped};
use crate::host::{clock, env, proc};
use crate::model::{KillLevel, Signal};

/// After this long a process that does not die is one that nothing can end
/// now: it is in a call into the kernel. It dies when that returns.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub(crate) struct Tree {
    level: KillLevel,
    cgroup: Option<Cgroup>,
    /// Orphans come to us.
    adopts: bool,
    run: String,
    /// Children that are no part of this run: supervisors it was asked to start.
    pub(crate) spared: Vec<i32>,
}

/// The best level this machine offers to this user. Asks the system by trying.
pub(crate) fn best_level() -> KillLevel {
    let group = Cgroup::create(&format!("probe-{}", proc::own_pid()));
    let enters = |group: Cgroup| group.entry().is_ok_and(|entry| spawn::can_enter(&entry));
    match group.is_ok_and(enters) {
        true => KillLevel::Cgroup,
        false if cfg!(target_os = "linux") => KillLevel::Subreaper,
        false => KillLevel::Marker,
    }
}

/// What a sweep came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Swept {
    pub(crate) ended: u32,
    /// Could not be ended now.
    pub(crate) left: u32,
}

impl Tree {
    /// Prepares to hold the processes of `run`, at `wanted` or the best level.
    pub(crate) fn prepare(run: &str, wanted: Option<KillLevel>) -> Self {
        let cgroup = match wanted {
            None | Some(KillLevel::Cgroup) => Cgroup::create(run).ok(),
            Some(KillLevel::Subreaper | KillLevel::Marker) => None,
        };
        let adopts = wanted != Some(KillLevel::Marker) && spawn::adopt_orphans();
        let level = match (&cgroup, adopts) {
            (Some(_), _) => KillLevel::Cgroup,
            (None, true) => KillLevel::Subreaper,
            (None, false) => KillLevel::Marker,
        };
        Self { level, cgroup, adopts, run: run.to_owned(), spared: Vec::new() }
    }

    pub(crate) fn level(&self) -> KillLevel {
        self.level
    }

    pub(crate) fn cgroup_path(&self) -> Option<&Path> {
        self.cgroup.as_ref().map(Cgroup::path)
    }

    /// Goes on without the group: the system let us make it, but not enter it.
    pub(crate) fn leave_group(&mut self) {
        self.cgroup = None;
        self.level = if self.adopts { KillLevel::Subreaper } else { KillLevel::Marker };
    }

    /// What the agent must write to in order to be held.
    pub(crate) fn entry(&self) -> io::Result<Option<OwnedFd>> {
        self.cgroup.as_ref().map(Cgroup::entry).transpose()
    }

    /// Ends whatever is there now, without waiting for it.
    pub(crate) fn kill(&self) -> Vec<i32> {
        let mut found = self.members();
        for &pid in &found {
            spawn::freeze(pid);
        }
        // Whatever a process had forked before it was frozen is there now.
        found.extend(self.members());
        if let Some(cgroup) = &self.cgroup {
            cgroup.kill();
        }
        for &pid in &found {
            spawn::signal(pid, Signal::Kill);
        }
        found
    }

    /// Ends everything and waits until nothing is left. Every child that is
    /// collected on the way is told to `reaped`.
    pub(crate) fn sweep(&self, mut reaped: impl FnMut(i32, i32)) -> Swept {
        self.sweep_until(|| collect(&mut reaped))
    }

    fn sweep_until(&self, mut children: impl FnMut() -> Reaped) -> Swept {
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let mut ended = HashSet::new();
        let give_up = clock::monotonic() + PATIENCE;
        loop {
            if self.is_empty(children()) {
                return Swept { ended: count(ended.len()), left: 0 };
            }
            if clock::monotonic() > give_up {
                let left = self.members();
                ended.retain(|pid| !left.contains(pid));
                return Swept { ended: count(ended.len()), left: count(left.len()) };
            }
            ended.extend(self.kill());
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn is_empty(&self, children: Reaped) -> bool {
        let group_empty = self.cgroup.as_ref().is_none_or(|group| !group.populated());
        match self.level {
            // Without a child there is no descendant: orphans come to us.
            KillLevel::Cgroup | KillLevel::Subreaper if children == Reaped::NoChildren => group_empty,
            KillLevel::Cgroup | KillLevel::Subreaper | KillLevel::Marker => {
                group_empty && self.members().is_empty()
            }
        }
    }

    fn members(&self) -> Vec<i32> {
        let mut found = match self.level {
            KillLevel::Cgroup | KillLevel::Subreaper => {
                living(proc::descendants(proc::own_pid(), &self.spared))
            }
            KillLevel::Marker => marked(&self.run),
        };
        found.extend(self.cgroup.iter().flat_map(Cgroup::members));
        found
    }
}

/// Ends what is left of a run whose supervisor is gone. None of it is a child
/// of ours, and children of ours are none of its business.
pub(crate) fn sweep_marked(run: &str, cgroup: Option<&Path>) -> u32 {
    let path = cgroup.map(Path::to_owned).or_else(|| path_of(run));
    let cgroup = path.and_then(|path| Cgroup::existing(&path));
    let tree =
        Tree { level: KillLevel::Marker, cgroup, adopts: false, run: run.to_owned(), spared: Vec::new() };
    tree.sweep_until(|| Reaped::StillRunning).ended
}

fn collect(reaped: &mut impl FnMut(i32, i32)) -> Reaped {
    loop {
        match spawn::reap() {
            Reaped::Ended { pid, status } => reaped(pid, status),
            rest @ (Reaped::StillRunning | Reaped::NoChildren) => return rest,
        }
    }
}

fn marked(run: &str) -> Vec<i32> {
    let others = proc::all().into_iter().filter(|process| process.pid != proc::own_pid());
    living(others.filter(|process| proc::environment_names(process.pid, env::RUNS, run)).collect())
}

fn living(processes: Vec<proc::Process>) -> Vec<i32> {
    processes.into_iter().filter(|process| !process.zombie).map(|process| process.pid).collect()
}
