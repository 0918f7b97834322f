//! Whatever an agent leaves behind is gone when its run has ended, at every
//! level of killing, whether it ended by itself or was cancelled.

use std::fs;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::phase::Phase;
use crate::support::agent::playing;
use crate::support::env::{Submitted, wait_for};
use crate::support::kill;

/// Kinds of descendants and how many processes each is.
const KINDS: [(&str, usize); 12] = [
    ("plain", 1),
    ("background", 1),
    ("setsid", 1),
    ("doublefork", 1),
    ("nohup", 1),
    ("ignorer", 1),
    ("holder", 1),
    ("stopped", 1),
    ("forks", 200),
    ("group", 1),
    ("daemon", 1),
    ("chain", 10),
];
/// Carries no mark: only the two stronger levels find it.
const CLEARED: (&str, usize) = ("cleared", 1);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    ByItself,
    Cancelled,
}

/// One agent with its descendants.
struct Family {
    kind: &'static str,
    count: usize,
    end: End,
    task: Submitted,
    pids: PathBuf,
    ready: PathBuf,
}

/// Ends what a failed test would leave behind; marks do not tell of all of it.
struct Survivors(Vec<i32>);

impl Drop for Survivors {
    fn drop(&mut self) {
        self.0.iter().filter(|pid| kill::alive(**pid)).for_each(|pid| kill::send(*pid, libc::SIGKILL));
    }
}

fn found(phase: &Phase, kind: &'static str, count: usize, end: End) -> Family {
    let file = |what: &str| phase.env.work().join(format!("{kind}-{end:?}.{what}"));
    let (pids, ready) = (file("pids"), file("ready"));
    let spawn = match kind {
        "forks" => format!("fork {count} {}", pids.display()),
        "daemon" => format!("daemon {}", pids.display()),
        _ => format!("spawn {kind} {}", pids.display()),
    };
    let last = if end == End::ByItself { "exit 0" } else { "hang" };
    let steps = ["say one", &spawn, &format!("touch {}", ready.display()), last];
    let task = phase.submit(&playing(&phase.env, &format!("{kind}-{end:?}"), &steps));
    Family { kind, count, end, task, pids, ready }
}

fn check(level: &str, kinds: &[(&'static str, usize)]) {
    let phase = Phase::new();
    phase.env.configure(&format!("max_concurrent = 8\nkill_level = \"{level}\"\n"));
    let mut processes = 0;
    for end in [End::ByItself, End::Cancelled] {
        let families: Vec<Family> =
            kinds.iter().map(|&(kind, count)| found(&phase, kind, count, end)).collect();
        for family in families {
            processes += check_family(&phase, level, &family);
        }
    }
    println!("descendants at level {level}: kinds={}, processes={processes}, processes left=0", kinds.len());
    phase.close(level);
}

#[track_caller]
fn check_family(phase: &Phase, level: &str, family: &Family) -> usize {
    let Family { kind, count, end, task, pids, ready } = family;
    wait_for(&format!("{kind} to be there"), Duration::from_secs(30), || ready.exists().then_some(()));
    let text = fs::read_to_string(pids).unwrap();
    let family: Vec<i32> = text.lines().map(|line| line.parse().unwrap()).collect();
    let survivors = Survivors(family);
    assert_eq!(survivors.0.len(), *count, "{kind}: the family is complete");
    let started = fs::read_to_string(phase.env.run_dir(&task.run_id).join("started.json")).unwrap();
    assert!(started.contains(&format!("\"{level}\"")), "{kind} ran at another level: {started}");
    let expected = match end {
        End::ByItself => "completed",
        End::Cancelled => {
            let ran = phase.env.run(&["cancel", &task.task_id]);
            assert!(matches!(ran.code, Some(0 | 5)), "{kind}: {}{}", ran.stdout, ran.stderr);
            "cancelled"
        }
    };
    assert_eq!(phase.env.await_final(&task.task_id), expected, "{kind}");
    let left: Vec<i32> = survivors.0.iter().copied().filter(|pid| kill::alive(*pid)).collect();
    assert!(left.is_empty(), "{kind} at level {level}, {end:?}: {left:?} are left");
    survivors.0.len()
}

#[test]
fn nothing_is_left_at_level_cgroup() {
    if !cgroups_can_be_made() {
        println!("descendants at level cgroup: this machine lets us make no control group");
        return;
    }
    check("cgroup", &[&KINDS[..], &[CLEARED]].concat());
}

#[test]
fn nothing_is_left_at_level_subreaper() {
    check("subreaper", &[&KINDS[..], &[CLEARED]].concat());
}

#[test]
fn nothing_is_left_at_level_marker() {
    check("marker", &KINDS);
}

/// It forks and exits every half millisecond, without a mark: each look at
/// `/proc` sees another process, or none.
#[test]
fn one_that_keeps_forking_is_gone_when_cancel_says_so() {
    const TIMES: usize = 30;
    let phase = Phase::new();
    phase.env.configure("kill_level = \"subreaper\"\n");
    for time in 0..TIMES {
        let file = phase.env.work().join(format!("reforker-{time}.pids"));
        let steps = ["say one", &format!("spawn reforker {}", file.display()), "hang"];
        let task = phase.submit(&playing(&phase.env, &format!("reforker-{time}"), &steps));
        wait_for("the process to fork", Duration::from_secs(30), || {
            fs::read(&file).is_ok_and(|pid| !pid.is_empty()).then_some(())
        });
        let ran = phase.env.run(&["cancel", &task.task_id]);
        assert_eq!(phase.env.await_final(&task.task_id), "cancelled", "{}{}", ran.stdout, ran.stderr);
        assert!(!is_locked(&file), "end {time}: it still forks");
    }
    println!("descendants that keep forking: ends={TIMES}, left=0");
    phase.close("one that keeps forking");
}

fn is_locked(file: &Path) -> bool {
    let file = fs::File::open(file).unwrap();
    // SAFETY: a system call on an open descriptor.
    unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) != 0 }
}

/// The levels that can be tried here.
pub fn levels() -> Vec<&'static str> {
    let cgroup = cgroups_can_be_made().then_some("cgroup");
    cgroup.into_iter().chain(["subreaper", "marker"]).collect()
}

/// Tries it, in our own group of the second hierarchy.
fn cgroups_can_be_made() -> bool {
    let Some(path) = own_control_group() else { return false };
    let probe = path.join(format!("faults-probe-{}", std::process::id()));
    let made = fs::create_dir(&probe).is_ok() && probe.join("cgroup.kill").exists();
    let _ = fs::remove_dir(&probe);
    made
}

/// Where our own group of the second hierarchy is.
pub fn own_control_group() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mount = mounts.lines().find_map(|line| line.split(' ').nth(1).filter(|_| line.contains(" cgroup2 ")));
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let own = groups.lines().find_map(|line| line.strip_prefix("0::/"));
    mount.zip(own).map(|(mount, own)| PathBuf::from(mount).join(own))
}
