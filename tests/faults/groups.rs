//! Control groups that can be made and not entered, and those that a killed
//! supervisor leaves behind.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::claim::claim;
use crate::descendants::own_control_group;
use crate::phase::Phase;
use crate::stop_at_syscall;
use crate::support::agent::playing;
use crate::support::env::{PATIENCE, Ran, Submitted, acknowledged, finish, wait_for};
use crate::support::kill;

/// Somebody with no rights at all.
const GUEST: u32 = 65_534;

/// A group for a test to put processes into. Gone, with those, when dropped.
struct Group(PathBuf);

impl Group {
    /// `None` where this machine lets us make none.
    fn make(name: &str) -> Option<Group> {
        let group = Group(own_control_group()?.join(format!("faults-{name}-{}", std::process::id())));
        fs::create_dir(&group.0).ok()?;
        Some(group)
    }

    fn entry(&self) -> File {
        OpenOptions::new().write(true).open(self.0.join("cgroup.procs")).unwrap()
    }

    /// The groups of runs in it.
    fn of_runs(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.0.join("delegator")).into_iter().flatten().flatten();
        entries.filter(|entry| entry.path().is_dir()).map(|entry| entry.path()).collect()
    }
}

impl Drop for Group {
    /// A group of threads has no `cgroup.kill`.
    fn drop(&mut self) {
        for _ in 0..200 {
            let left = fs::read_to_string(self.0.join("cgroup.threads")).unwrap_or_default();
            if left.is_empty() {
                break;
            }
            left.lines().filter_map(|id| id.parse().ok()).for_each(|id| kill::send(id, libc::SIGKILL));
            thread::sleep(Duration::from_millis(5));
        }
        remove(&self.0);
    }
}

fn remove(group: &Path) {
    for entry in fs::read_dir(group).into_iter().flatten().flatten().filter(|entry| entry.path().is_dir()) {
        remove(&entry.path());
    }
    let _ = fs::remove_dir(group);
}

/// Lets `command` begin by writing `0` to each of `entries`, then as `user`.
fn begins_in(mut command: Command, entries: &[&File], user: Option<u32>) -> Command {
    let entries: Vec<i32> = entries.iter().map(|file| file.as_raw_fd()).collect();
    let begin = move || {
        for &entry in &entries {
            // SAFETY: a write to a descriptor that the parent holds open.
            if unsafe { libc::write(entry, b"0".as_ptr().cast(), 1) } != 1 {
                return Err(io::Error::last_os_error());
            }
        }
        // SAFETY: system calls with integer arguments, and an empty list.
        let changed = user.is_none_or(|user| unsafe {
            libc::setgroups(0, std::ptr::null()) == 0 && libc::setgid(user) == 0 && libc::setuid(user) == 0
        });
        if changed { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    // SAFETY: the closure makes system calls and allocates nothing.
    unsafe { command.pre_exec(begin) };
    command
}

fn document(phase: &Phase, task: &Submitted, name: &str) -> Value {
    let path = phase.env.run_dir(&task.run_id).join(name);
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Runs an agent that leaves processes behind, by `run`, from a place where no
/// group of a run can be entered.
#[track_caller]
fn check_fallback(phase: &Phase, group: &Group, run: impl Fn(&[&str]) -> Ran) -> Submitted {
    let doctor = run(&["doctor"]);
    let level = doctor.stdout.lines().find(|line| line.contains("kill level")).unwrap_or_default();
    assert!(level.contains("subreaper: "), "{}{}", doctor.stdout, doctor.stderr);

    let (pids, go) = (phase.env.work().join("pids"), phase.env.work().join("go"));
    let steps = [
        &format!("spawn setsid {}", pids.display()),
        &format!("spawn cleared {}", pids.display()),
        &format!("touch {}", pids.with_extension("ready").display()),
        &format!("await {}", go.display()),
        "exit 0",
    ];
    let task = playing(&phase.env, "parent", &steps);
    let ran = run(&["run", "--agent", "command", "--json", &task]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    let submitted = acknowledged(&ran.stdout).unwrap();
    wait_for("the family", PATIENCE, || pids.with_extension("ready").exists().then_some(()));
    // The record is true from the moment that the agent runs.
    let started = document(phase, &submitted, "started.json");
    assert_eq!(started["kill_level"], "subreaper", "{started:#}");
    assert_eq!(started["cgroup"], Value::Null, "{started:#}");
    fs::write(go, "").unwrap();
    assert_eq!(phase.env.await_final(&submitted.task_id), "completed");
    let family = fs::read_to_string(pids).unwrap();
    let family: Vec<i32> = family.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(family.len(), 2);
    assert!(family.iter().all(|pid| !kill::alive(*pid)), "{family:?}");
    let warnings = document(phase, &submitted, "result.json")["warnings"].to_string();
    assert_eq!(warnings.matches("control group").count(), 1, "{warnings}");
    assert!(warnings.contains("`subreaper`"), "{warnings}");
    assert_eq!(group.of_runs(), Vec::<PathBuf>::new(), "a group is left");
    submitted
}

/// As in a session whose own group belongs to the system.
#[test]
fn a_user_who_may_make_a_group_and_not_enter_it_is_held_otherwise() {
    // SAFETY: a system call without arguments.
    let root = unsafe { libc::geteuid() } == 0;
    let Some(group) = Group::make("guest").filter(|_| root) else {
        println!("group not entered: only root can arrange for it, where there are groups");
        return;
    };
    chown(&group.0, Some(GUEST), Some(GUEST)).unwrap();
    let phase = Phase::new();
    for dir in ["", "state", "user", "config", "config/delegator", "work", "side", "bin"] {
        chown(phase.env.root().join(dir), Some(GUEST), Some(GUEST)).unwrap();
    }
    let entry = group.entry();
    check_fallback(&phase, &group, |args| {
        finish(begins_in(phase.env.command(args), &[&entry], Some(GUEST)), PATIENCE)
    });
}

/// Groups below a threaded one take no process, whoever asks.
#[test]
fn a_place_where_groups_take_no_process_is_no_place_to_fail() {
    let Some(group) = Group::make("threads") else {
        println!("group not entered: this machine lets us make no control group");
        return;
    };
    let inner = Group(group.0.join("threads"));
    fs::create_dir(&inner.0).unwrap();
    fs::write(inner.0.join("cgroup.type"), "threaded").unwrap();
    let phase = Phase::new();
    let (outer_entry, inner_entry) = (group.entry(), inner.entry());
    let submitted = check_fallback(&phase, &inner, |args| {
        finish(begins_in(phase.env.command(args), &[&outer_entry, &inner_entry], None), PATIENCE)
    });
    phase.journal.acknowledged(&submitted.task_id, &submitted.run_id, None);
    phase.close("group not entered");
}

#[test]
fn the_group_of_a_killed_supervisor_is_removed_with_all_in_it() {
    let Some(_) = Group::make("probe") else {
        println!("group left behind: this machine lets us make no control group");
        return;
    };
    let phase = Phase::new();
    let (pids, ready) = (phase.env.work().join("pids"), phase.env.work().join("ready"));
    let steps = [
        &format!("spawn cleared {}", pids.display()),
        &format!("spawn doublefork {}", pids.display()),
        &format!("touch {}", ready.display()),
        "hang",
    ];
    let task = phase.submit(&playing(&phase.env, "parent", &steps));
    wait_for("the family", PATIENCE, || ready.exists().then_some(()));
    let started = document(&phase, &task, "started.json");
    let group = PathBuf::from(started["cgroup"].as_str().expect("the best level is used"));
    let members = fs::read_to_string(group.join("cgroup.procs")).unwrap();
    assert_eq!(members.lines().count(), 3, "an agent and two descendants: {members}");
    // An agent may make groups of its own.
    fs::create_dir(group.join("nested")).unwrap();

    let supervisor = kill::supervisor_of(&phase.env.run_dir(&task.run_id)).unwrap();
    kill::send(supervisor, libc::SIGKILL);
    wait_for("the supervisor to be gone", PATIENCE, || (!kill::alive(supervisor)).then_some(()));
    assert!(group.exists());
    let family = fs::read_to_string(&pids).unwrap();
    let family: Vec<i32> = family.lines().map(|line| line.parse().unwrap()).collect();
    assert!(family.iter().all(|pid| kill::alive(*pid)), "nobody has come to end them yet");

    phase.env.expect(0, &["status"]);
    assert_eq!(phase.row(&task).code.as_deref(), Some("LOST"));
    let left: Vec<_> = family.iter().filter(|pid| kill::alive(**pid)).collect();
    assert!(left.is_empty(), "{left:?} are left, one of them without a mark");
    assert!(!group.exists(), "{} is left", group.display());
    phase.faults.fetch_add(1, Ordering::Relaxed);
    phase.close("group left behind");
}

/// Before `started.json` nothing tells of the group but its name.
#[test]
fn a_group_that_no_record_tells_of_is_removed_too() {
    let Some(own) = own_control_group().filter(|_| Group::make("probe").is_some()) else {
        println!("group left behind: this machine lets us make no control group");
        return;
    };
    let phase = Phase::new();
    phase.limit(0);
    let task = phase.submit(&playing(&phase.env, "brief", &["say one", "exit 0"]));
    let home = fs::metadata(phase.env.home()).unwrap();
    let group = own.join("delegator").join(format!("{}.{:x}-{:x}", task.run_id, home.dev(), home.ino()));
    let claimed = claim(&phase, &task);
    let values = phase.env.run_dir(&task.run_id).join("env.json");
    stop_at_syscall::first(&phase, "openat", &values, |tracer| claimed.supervise(&phase, tracer)).kill();
    drop(claimed);
    assert!(group.exists(), "it was killed before it had made {}", group.display());
    phase.env.expect(0, &["status"]);
    assert_eq!(phase.row(&task).state, "pending");
    assert!(!group.exists(), "{} is left", group.display());
    phase.faults.fetch_add(1, Ordering::Relaxed);
    phase.close("group without a record");
}
