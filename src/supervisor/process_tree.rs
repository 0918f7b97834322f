//! Finds and kills everything that a run has started.
//!
//! Uses the best of three ways that the system offers. Each also finds processes that leave their
//! process group and session. [`KillLevel`] says what can hide from the weaker ones.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use crate::host::{Descendants, Process, processes};
use crate::host::{Reaped, spawn};
use crate::host::{clock, signal, spawn_agent};
use crate::model::{KillLevel, Signal};
use crate::supervisor::cgroup::{Cgroup, leave_run_groups};
use crate::supervisor::process_mark::RunMark;

/// A process that has not died after this time is in a kernel call and dies when that returns.
const PATIENCE: Duration = Duration::from_secs(20);

/// How many times in a row our children are killed. Each round takes microseconds.
const CHASE: u32 = 200;

#[derive(Debug)]
pub(crate) struct ProcessTree {
    level: KillLevel,
    cgroup: Option<Cgroup>,
    /// Whether orphans become our children.
    adopts: bool,
    mark: RunMark,
    /// Children of ours that supervise other runs.
    supervisors: Vec<(Process, RunRelation)>,
}

/// How a run whose supervisor we started relates to ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunRelation {
    /// It belongs to ours and ends with it.
    Inner,
    /// It only waited in the same queue.
    Unrelated,
}

/// How far a sweep goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// What the agent started itself. The runs inside ours have their own supervisors, which must
    /// be able to record how they ended.
    Own,
    /// Also whatever is left of the runs inside.
    Everything,
}

/// The best level that this machine offers to this user. Finds out by trying.
pub(crate) fn best_level() -> KillLevel {
    let group = Cgroup::create(&format!("probe-{}", processes::own_pid()));
    let enters = |group: Cgroup| spawn_agent::can_enter(group.path());
    match group.is_ok_and(enters) {
        true => KillLevel::Cgroup,
        false if cfg!(target_os = "linux") => KillLevel::Subreaper,
        false => KillLevel::Marker,
    }
}

/// Result of a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Swept {
    pub(crate) ended: u32,
    /// Processes that could not be killed yet.
    pub(crate) left: u32,
}

impl ProcessTree {
    /// Prepares to track the processes of a run, at `wanted` or the best level.
    pub(crate) fn prepare(mark: RunMark, wanted: Option<KillLevel>) -> Self {
        let cgroup = match wanted {
            None | Some(KillLevel::Cgroup) => Cgroup::create(&mark.group()).ok(),
            Some(KillLevel::Subreaper | KillLevel::Marker) => None,
        };
        // Needed at the marker level too: if a supervisor above us started us from the queue, our
        // orphans must not go to it and end with its run.
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

    /// Continues without the group: it could be created but not entered.
    pub(crate) fn leave_group(&mut self) {
        self.cgroup = None;
        self.level = if self.adopts { KillLevel::Subreaper } else { KillLevel::Marker };
    }

    /// Registers a child that supervises another run.
    pub(crate) fn register_supervisor(&mut self, pid: i32, relation: RunRelation) {
        self.supervisors.extend(processes::read(pid).map(|process| (process, relation)));
    }

    /// Kills everything in `scope` now, without waiting.
    pub(crate) fn kill(&self, scope: Scope) -> HashSet<(i32, u64)> {
        let mut found = self.members(scope).processes;
        found.iter().for_each(|&process| signal::freeze(process));
        // Finds what the processes forked before they were frozen.
        found.extend(self.members(scope).processes);
        if let Some(cgroup) = &self.cgroup {
            cgroup.kill();
        }
        found.iter().for_each(|&process| signal::send(process, Signal::Kill));
        found.into_iter().map(Process::identity).collect()
    }

    /// Kills everything in `scope` and waits until nothing of it is left.
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
                // The walk may have missed a process that is left.
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

    /// Whether nothing is left. If we adopt orphans, only the kernel knows: a walk through `/proc`
    /// misses a process that forks and exits meanwhile.
    fn is_empty(&self, scope: Scope, children: Reaped) -> bool {
        if self.cgroup.as_ref().is_some_and(Cgroup::populated) {
            return false;
        }
        // Without a child there is no descendant, because orphans come to us.
        if children == Reaped::NoChildren && !self.by_mark(scope) {
            return true;
        }
        // Spared supervisors are children too, so the others must be looked for.
        let has_others = || self.spared(scope).next().is_none() || !self.children(scope).is_empty();
        if self.adopts && children != Reaped::NoChildren && has_others() {
            return false;
        }
        let Descendants { processes, complete } = self.members(scope);
        complete && processes.is_empty()
    }

    /// Kills our children repeatedly for a short while. Orphans come to us at once, so this catches
    /// a process that forks faster than `/proc` can be walked. The id of a child stays valid until
    /// we reap it.
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

    /// Our running children, without the spared supervisors.
    fn children(&self, scope: Scope) -> Vec<Process> {
        let spared: Vec<_> = self.spared(scope).map(Process::identity).collect();
        let running = |child: &Process| !child.zombie && !spared.contains(&child.identity());
        processes::own_children().into_iter().filter_map(processes::read).filter(running).collect()
    }

    /// The running supervisors that a sweep spares.
    fn spared(&self, scope: Scope) -> impl Iterator<Item = Process> {
        let spared = move |relation| relation == RunRelation::Unrelated || scope == Scope::Own;
        let spared = self.supervisors.iter().filter(move |(_, relation)| spared(*relation));
        spared.filter_map(|(known, _)| {
            processes::read(known.pid).filter(|now| now.identity() == known.identity())
        })
    }

    /// The supervisors of inner runs may be anybody's children.
    fn by_mark(&self, scope: Scope) -> bool {
        self.level == KillLevel::Marker || scope == Scope::Everything
    }

    fn members(&self, scope: Scope) -> Descendants {
        let mut found = match self.level {
            KillLevel::Cgroup | KillLevel::Subreaper => {
                processes::descendants(processes::own_pid(), &self.spared(scope).collect::<Vec<_>>())
            }
            KillLevel::Marker => Descendants { processes: Vec::new(), complete: true },
        };
        if self.by_mark(scope) {
            found.processes.extend(self.mark.processes(scope));
        }
        found.processes.extend(self.cgroup.iter().flat_map(Cgroup::members));
        found.processes.retain(|process| is_target(*process, processes::own_pid()));
        found
    }
}

/// Kills what is left of a run whose supervisor is gone. None of it is a child of ours, and our
/// children are left alone.
pub(crate) fn sweep_dead_run(mark: &RunMark, cgroup: Option<&Path>) -> u32 {
    let cgroup = Cgroup::of_dead_run(mark, cgroup);
    // This process may belong to that very run, but it must survive to record the recovery.
    if cgroup.is_some() {
        leave_run_groups();
    }
    let level = KillLevel::Marker;
    let tree = ProcessTree { level, cgroup, adopts: false, mark: mark.clone(), supervisors: Vec::new() };
    tree.sweep_until(Scope::Everything, || Reaped::StillRunning).ended
}

/// Reaps every child that has ended.
fn collect() -> Reaped {
    loop {
        match spawn::reap() {
            Reaped::Ended { .. } => {}
            rest @ (Reaped::StillRunning | Reaped::NoChildren) => return rest,
        }
    }
}

/// Never the sweeping process itself: if it stopped itself, it would hold the lock of the run for
/// ever.
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
