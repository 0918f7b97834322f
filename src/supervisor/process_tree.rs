//! Everything a run has started, and how to end all of it.
//!
//! The best of three ways that the system allows; each finds what leaves its
//! process group and its session. What can hide from the weaker ones is said
//! at [`KillLevel`].

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use crate::host::{Found, Process, processes};
use crate::host::{Reaped, spawn};
use crate::host::{clock, signal, spawn_agent};
use crate::model::{KillLevel, Signal};
use crate::supervisor::cgroup::{Cgroup, leave};
use crate::supervisor::process_mark::Mark;

/// After this long a process that does not die is one that nothing can end
/// now: it is in a call into the kernel. It dies when that returns.
const PATIENCE: Duration = Duration::from_secs(20);

/// How often our children are looked at in a row. Each look takes microseconds.
const CHASE: u32 = 200;

#[derive(Debug)]
pub(crate) struct Tree {
    level: KillLevel,
    cgroup: Option<Cgroup>,
    /// Orphans come to us.
    adopts: bool,
    mark: Mark,
    /// Children of ours that supervise other runs, and whose those are.
    supervisors: Vec<(Process, Whose)>,
}

/// Whose run it is that we started the supervisor of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// It belongs to ours and ends with it.
    Inner,
    /// It only waited in the same queue: no part of our run.
    Unrelated,
}

/// How far a sweep goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// What the agent started itself. The runs inside ours have supervisors of
    /// their own, which must be able to say how they ended.
    Own,
    /// And whatever is still there of the runs inside.
    Everything,
}

/// The best level this machine offers to this user. Asks the system by trying.
pub(crate) fn best_level() -> KillLevel {
    let group = Cgroup::create(&format!("probe-{}", processes::own_pid()));
    let enters = |group: Cgroup| spawn_agent::can_enter(group.path());
    match group.is_ok_and(enters) {
        true => KillLevel::Cgroup,
        false if cfg!(target_os = "linux") => KillLevel::Subreaper,
        false => KillLevel::Marker,
    }
}

/// What a sweep came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Swept {
    pub(crate) ended: u32,
    /// Could not be ended now.
    pub(crate) left: u32,
}

impl Tree {
    /// Prepares to hold the processes of a run, at `wanted` or the best level.
    pub(crate) fn prepare(mark: Mark, wanted: Option<KillLevel>) -> Self {
        let cgroup = match wanted {
            None | Some(KillLevel::Cgroup) => Cgroup::create(&mark.group()).ok(),
            Some(KillLevel::Subreaper | KillLevel::Marker) => None,
        };
        // At the level of marks too: our orphans must not come to a supervisor
        // above us that started us for the queue, and end with its run.
        let adopts = spawn::adopt_orphans() && wanted != Some(KillLevel::Marker);
        let level = match (&cgroup, adopts) {
            (Some(_), _) => KillLevel::Cgroup,
            (None, true) => KillLevel::Subreaper,
            (None, false) => KillLevel::Marker,
        };
        Self { level, cgroup, adopts, mark, supervisors: Vec::new() }
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

    /// Takes note of a child that supervises another run.
    pub(crate) fn knows(&mut self, pid: i32, whose: Whose) {
        self.supervisors.extend(processes::read(pid).map(|process| (process, whose)));
    }

    /// Ends whatever is there now, without waiting for it.
    pub(crate) fn kill(&self, scope: Scope) -> HashSet<(i32, u64)> {
        let mut found = self.members(scope).processes;
        found.iter().for_each(|&process| signal::freeze(process));
        // Whatever a process had forked before it was frozen is there now.
        found.extend(self.members(scope).processes);
        if let Some(cgroup) = &self.cgroup {
            cgroup.kill();
        }
        found.iter().for_each(|&process| signal::send(process, Signal::Kill));
        found.into_iter().map(Process::identity).collect()
    }

    /// Ends everything in `scope` and waits until nothing of it is left.
    pub(crate) fn sweep(&self, scope: Scope) -> Swept {
        self.sweep_until(scope, collect)
    }

    fn sweep_until(&self, scope: Scope, children: impl Fn() -> Reaped) -> Swept {
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let mut ended = HashSet::new();
        let give_up = clock::monotonic() + PATIENCE;
        loop {
            if self.is_empty(scope, children()) {
                return Swept { ended: count(ended.len()), left: 0 };
            }
            if clock::monotonic() > give_up {
                let left: HashSet<_> =
                    self.members(scope).processes.into_iter().map(Process::identity).collect();
                // A process that the walk missed is left all the same.
                return Swept {
                    ended: count(ended.difference(&left).count()),
                    left: count(left.len()).max(1),
                };
            }
            ended.extend(self.kill(scope));
            if self.adopts {
                ended.extend(self.kill_children(scope));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Whether nothing is left. Where orphans come to us, only the kernel knows:
    /// a walk through `/proc` misses a process that forks and exits meanwhile.
    fn is_empty(&self, scope: Scope, children: Reaped) -> bool {
        if self.cgroup.as_ref().is_some_and(Cgroup::populated) {
            return false;
        }
        // Without a child there is no descendant: orphans come to us.
        if children == Reaped::NoChildren && !self.by_mark(scope) {
            return true;
        }
        // Supervisors that are spared are children too: then only a look tells the others.
        let has_others = || self.spared(scope).next().is_none() || !self.children(scope).is_empty();
        if self.adopts && children != Reaped::NoChildren && has_others() {
            return false;
        }
        let Found { processes, complete } = self.members(scope);
        complete && processes.is_empty()
    }

    /// Kills our children until there are none, for a short while. Their orphans
    /// come to us at once, so one that forks faster than `/proc` can be walked
    /// is caught here. A child keeps its number until we collect it.
    fn kill_children(&self, scope: Scope) -> HashSet<(i32, u64)> {
        let mut killed = HashSet::new();
        for _ in 0..CHASE {
            for child in self.children(scope) {
                signal::send_to_child(child.pid, None, Signal::Kill);
                killed.insert(child.identity());
            }
            if collect() == Reaped::NoChildren {
                break;
            }
        }
        killed
    }

    /// Our children that run, without those that a sweep leaves alone.
    fn children(&self, scope: Scope) -> Vec<Process> {
        let spared: Vec<_> = self.spared(scope).map(Process::identity).collect();
        let running = |child: &Process| !child.zombie && !spared.contains(&child.identity());
        processes::own_children().into_iter().filter_map(processes::read).filter(running).collect()
    }

    /// The supervisors that a sweep leaves alone and that still run.
    fn spared(&self, scope: Scope) -> impl Iterator<Item = Process> {
        let spared = move |whose| whose == Whose::Unrelated || scope == Scope::Own;
        let spared = self.supervisors.iter().filter(move |(_, whose)| spared(*whose));
        spared.filter_map(|(known, _)| {
            processes::read(known.pid).filter(|now| now.identity() == known.identity())
        })
    }

    /// The supervisors of the runs inside ours may be anybody's children.
    fn by_mark(&self, scope: Scope) -> bool {
        self.level == KillLevel::Marker || scope == Scope::Everything
    }

    fn members(&self, scope: Scope) -> Found {
        let mut found = match self.level {
            KillLevel::Cgroup | KillLevel::Subreaper => {
                processes::descendants(processes::own_pid(), &self.spared(scope).collect::<Vec<_>>())
            }
            KillLevel::Marker => Found { processes: Vec::new(), complete: true },
        };
        if self.by_mark(scope) {
            found.processes.extend(self.mark.processes(scope));
        }
        found.processes.extend(self.cgroup.iter().flat_map(Cgroup::members));
        found.processes.retain(|process| is_target(*process, processes::own_pid()));
        found
    }
}

/// Ends what is left of a run whose supervisor is gone. None of it is a child
/// of ours, and children of ours are none of its business.
pub(crate) fn sweep_marked(mark: &Mark, cgroup: Option<&Path>) -> u32 {
    let cgroup = Cgroup::of_dead(mark, cgroup);
    // We may be left over from that very run: who recovers it must live to say so.
    if cgroup.is_some() {
        leave();
    }
    let level = KillLevel::Marker;
    let tree = Tree { level, cgroup, adopts: false, mark: mark.clone(), supervisors: Vec::new() };
    tree.sweep_until(Scope::Everything, || Reaped::StillRunning).ended
}

/// Collects every child that has ended.
fn collect() -> Reaped {
    loop {
        match spawn::reap() {
            Reaped::Ended { .. } => {}
            rest @ (Reaped::StillRunning | Reaped::NoChildren) => return rest,
        }
    }
}

/// Whoever sweeps is never swept: stopped by its own hand, it would hold the
/// lock of what it recovers for ever.
fn is_target(process: Process, own: i32) -> bool {
    !process.zombie && process.pid != own
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_sweeps_is_not_swept_and_neither_are_the_dead() {
        let process = |pid, zombie| Process { pid, parent: 1, started: 7, zombie };
        assert!(is_target(process(5, false), 4));
        assert!(!is_target(process(4, false), 4));
        assert!(!is_target(process(5, true), 4));
    }
}
