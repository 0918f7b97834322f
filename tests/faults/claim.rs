//! Playing the process that claims a task: lock, row, supervisor, in that order.

use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use rusqlite::{Connection, params};

use crate::phase::Phase;
use crate::support::env::{PATIENCE, Submitted, wait_for};

/// A task that is ours to start. The lock is free once this is dropped and the
/// supervisor, if there is one, has ended.
pub struct Claimed {
    lock: File,
    attempt: i64,
    task: Submitted,
}

/// Claims a task that waits in the queue.
pub fn claim(phase: &Phase, task: &Submitted) -> Claimed {
    let path = phase.env.run_dir(&task.run_id).join("run.lock");
    let lock = OpenOptions::new().read(true).write(true).open(path).unwrap();
    // Somebody who tidies up may hold it for a moment.
    wait_for("the lock", PATIENCE, || take(&lock).then_some(()));
    let connection = Connection::open(phase.env.registry()).unwrap();
    connection.busy_timeout(std::time::Duration::from_secs(10)).unwrap();
    let changed = connection.execute(
        "UPDATE tasks SET state = 'working', attempt = attempt + 1 WHERE id = ?1 AND state = 'pending'",
        params![task.task_id],
    );
    assert_eq!(changed.unwrap(), 1, "{} was not waiting", task.task_id);
    Claimed { lock, attempt: phase.row(task).attempt, task: task.clone() }
}

fn take(lock: &File) -> bool {
    // SAFETY: a structure of integers, which the kernel only reads.
    let taken = unsafe {
        let mut whole: libc::flock = std::mem::zeroed();
        whole.l_type = libc::F_WRLCK as libc::c_short;
        libc::fcntl(lock.as_raw_fd(), libc::F_OFD_SETLK, &whole)
    };
    taken == 0
}

impl Claimed {
    /// The supervisor's command line, behind a tracer where one is given.
    pub fn supervise(&self, phase: &Phase, prefix: &[&str]) -> Command {
        let (fd, attempt) = (self.lock.as_raw_fd(), self.attempt.to_string());
        let dir = phase.env.run_dir(&self.task.run_id);
        let args = ["supervise", "--lock-fd", &fd.to_string(), "--attempt", &attempt, dir.to_str().unwrap()]
            .map(str::to_owned);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let mut command = phase.env.command_under(prefix, &args);
        command.current_dir("/").env_remove("FAKE_SIDE").stdin(Stdio::null());
        // SAFETY: between fork and exec, one system call on a number.
        unsafe {
            command.pre_exec(move || {
                libc::fcntl(fd, libc::F_SETFD, 0);
                Ok(())
            })
        };
        command
    }
}
