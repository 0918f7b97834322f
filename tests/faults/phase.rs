//! One home in which many things go wrong, and the reckoning at its end.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use rusqlite::Connection;
use serde_json::Value;

use crate::support::checker::{self, Figures, Row};
use crate::support::env::{self, Ran, Submitted, TestEnv, wait_for};
use crate::support::journal::Journal;
use crate::support::kill;
use crate::support::strace::{self, Point, Trace};

/// Long enough for hundreds of tasks to be recovered and run.
const SETTLING: Duration = Duration::from_secs(120);

pub struct Phase {
    pub env: TestEnv,
    pub journal: Journal,
    /// Processes that were ended before their time.
    pub faults: AtomicUsize,
}

impl Phase {
    pub fn new() -> Phase {
        Phase::in_env(TestEnv::new())
    }

    pub fn in_env(env: TestEnv) -> Phase {
        let journal = Journal::create(&env.root().join("journal.jsonl"), &env.side());
        Phase { env, journal, faults: AtomicUsize::new(0) }
    }

    /// How many tasks run at once from now on.
    pub fn limit(&self, limit: u32) {
        self.env.configure(&format!("max_concurrent = {limit}\nmax_cloud = {limit}\n"));
    }

    pub fn submit(&self, task: &str) -> Submitted {
        let submitted = self.env.submit(task);
        self.journal.acknowledged(&submitted.task_id, &submitted.run_id, None);
        submitted
    }

    /// Enters what was acknowledged, whatever became of who acknowledged it.
    pub fn note(&self, printed: &str) -> Option<Submitted> {
        let submitted = env::acknowledged(printed)?;
        self.journal.acknowledged(&submitted.task_id, &submitted.run_id, None);
        Some(submitted)
    }

    pub fn rows(&self) -> Vec<Row> {
        checker::rows(&self.env.registry()).unwrap()
    }

    /// As [`rows`](Self::rows), where there may be no registry yet.
    pub fn rows_if_any(&self) -> Vec<Row> {
        checker::rows(&self.env.registry()).unwrap_or_default()
    }

    pub fn row(&self, task: &Submitted) -> Row {
        self.rows().into_iter().find(|row| row.id == task.task_id).unwrap()
    }

    /// The task's next supervisor is one too many.
    pub fn use_up_supervisors(&self, task: &Submitted) {
        let connection = Connection::open(self.env.registry()).unwrap();
        connection.busy_timeout(env::PATIENCE).unwrap();
        let used = "UPDATE tasks SET attempt = 200, updated_at = 0 WHERE id = ?1 AND state = 'working'";
        assert_eq!(connection.execute(used, [&task.task_id]).unwrap(), 1);
    }

    /// The points of a run of `args` that strace can find again.
    pub fn points(&self, args: &[&str]) -> Vec<Point> {
        self.points_of(|prefix| self.env.command_under(prefix, args)).1
    }

    /// As [`points`](Self::points), with the run that told them.
    pub fn points_of(&self, command: impl FnOnce(&[&str]) -> Command) -> (Ran, Vec<Point>) {
        let (ran, mut points) = self.calls_of(command);
        points.retain(|point| !point.hidden);
        (ran, points)
    }

    /// Every call of a run of `args`, in every process.
    pub fn calls(&self, args: &[&str]) -> Vec<Point> {
        self.calls_of(|prefix| self.env.command_under(prefix, args)).1
    }

    /// As [`calls`](Self::calls), with the run that told them.
    pub fn calls_of(&self, command: impl FnOnce(&[&str]) -> Command) -> (Ran, Vec<Point>) {
        let log = self.env.root().join("trace");
        let ran = under(&strace::logging(&log), command);
        self.note(&ran.stdout);
        (ran, Trace::read(&log).points)
    }

    /// Lets recovery and the queue do their work until every task has ended.
    pub fn settle(&self) {
        self.limit(4);
        wait_for("every task to end", SETTLING, || {
            self.env.expect(0, &["status", "--all"]);
            self.rows().iter().all(Row::is_final).then_some(())
        });
        wait_for("every supervisor to go", SETTLING, || {
            kill::supervisors(self.env.home()).is_empty().then_some(())
        });
    }

    /// How many tasks ended how.
    fn ends(&self) -> BTreeMap<String, usize> {
        let mut ends = BTreeMap::new();
        for row in self.rows() {
            let end = [row.state, row.code.unwrap_or_default()].join(" ");
            *ends.entry(end.trim_end().to_owned()).or_default() += 1;
        }
        ends
    }

    /// Control groups that still bear the name of a run of ours.
    fn control_groups(&self) -> Vec<PathBuf> {
        let started = |row: &Row| fs::read(self.env.run_dir(&row.run_id).join("started.json")).ok();
        let group = |bytes: Vec<u8>| {
            let started: Value = serde_json::from_slice(&bytes).ok()?;
            Some(PathBuf::from(started.get("cgroup")?.as_str()?))
        };
        self.rows().iter().filter_map(started).filter_map(group).filter(|path| path.exists()).collect()
    }

    /// The reckoning: everything ends, nothing changes any more, nothing is lost.
    #[track_caller]
    pub fn close(self, what: &str) {
        let figures = self.reckon();
        println!(
            "{what}: faults={}, {figures}; ends: {:?}",
            self.faults.load(Ordering::Relaxed),
            self.ends()
        );
    }

    /// As [`close`](Self::close), for one of many whose figures say little.
    #[track_caller]
    pub fn reckon(&self) -> Figures {
        self.settle();
        for row in self.rows() {
            self.journal.told_final(&row.id, &row.state);
        }
        self.env.expect(0, &["status", "--all"]);
        let figures = checker::check(self.env.home(), self.journal.path());
        assert!(figures.nothing_wrong(), "{figures}\n{}", figures.wrong.join("\n"));
        let groups = self.control_groups();
        assert!(groups.is_empty(), "control groups of finished runs are left: {groups:?}");
        figures
    }
}

/// Runs a command behind what comes before it.
pub fn under(prefix: &[String], command: impl FnOnce(&[&str]) -> Command) -> Ran {
    let prefix: Vec<&str> = prefix.iter().map(String::as_str).collect();
    env::finish(command(&prefix), env::PATIENCE)
}

/// Does `other` again and again while `work` goes on.
pub fn meanwhile(mut other: impl FnMut() + Send, work: impl FnOnce()) {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                other();
            }
        });
        // Also when `work` fails: the other one must not go on for ever.
        let _set = SetOnDrop(&done);
        work();
    });
}

struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
