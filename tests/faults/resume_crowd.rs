//! Many go on with one thread at once: one does, and the others are told who.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::thread;

use serde_json::Value;

use crate::phase::Phase;
use crate::support::agent::install;
use crate::support::env::{PATIENCE, Ran, Submitted, wait_for};

/// The one thread that the fake Codex knows.
const THREAD: &str = "0198f000-0000-7000-8000-000000000001";
const CROWD: usize = 8;

/// A task that is done, whose thread can be gone on with.
struct World {
    phase: Phase,
    first: Submitted,
    go: PathBuf,
    /// Plays until `go` is there.
    held: String,
}

fn world() -> World {
    let phase = Phase::new();
    let codex = install(&phase.env, "codex");
    configure(&phase, codex.to_str().unwrap(), 4);
    let args = ["--skip-git-repo-check", "--agent", "codex", "--env", "FAKE_SIDE", "--json"];
    let args = [&["run"][..], &args, &["SCRIPT:\nturn done\nexit 0\nEND"]].concat();
    let first = phase.note(&phase.env.expect(0, &args).stdout).unwrap();
    assert_eq!(phase.env.await_final(&first.task_id), "completed");
    let go = phase.env.work().join("go");
    let held = format!("SCRIPT:\nawait {}\nturn done\nexit 0\nEND", go.display());
    World { phase, first, go, held }
}

fn configure(phase: &Phase, codex: &str, limit: u32) {
    phase.env.configure(&format!(
        "max_concurrent = {limit}\ncodex_path = {codex:?}\nenv_allow = [\"FAKE_SIDE\"]\n"
    ));
}

impl World {
    fn resume(&self, of: &str, options: &[&str], task: &str) -> Ran {
        let args = [&["resume", of, "--env", "FAKE_SIDE"], options, &[task]].concat();
        self.phase.env.run(&args)
    }

    /// As [`resume`](Self::resume), of one who must be taken in.
    #[track_caller]
    fn taken_in(&self, of: &str, options: &[&str], task: &str) -> (Submitted, bool) {
        let ran = self.resume(of, &[options, &["--json"]].concat(), task);
        assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
        told(&self.phase, &ran)
    }

    /// Everybody at once, each with its number.
    fn crowd(&self, resume: impl Fn(usize) -> Ran + Sync) -> Vec<Ran> {
        thread::scope(|scope| {
            let resume = &resume;
            let asked: Vec<_> = (0..CROWD).map(|number| scope.spawn(move || resume(number))).collect();
            asked.into_iter().map(|one| one.join().unwrap()).collect()
        })
    }

    /// By task and by thread: it is the same thread.
    fn spelling(&self, number: usize) -> &str {
        if number.is_multiple_of(2) { &self.first.task_id } else { THREAD }
    }

    /// Whoever was refused left nothing behind.
    #[track_caller]
    fn only(&self, tasks: usize) {
        let rows: BTreeSet<String> = self.phase.rows().into_iter().map(|row| row.run_id).collect();
        assert_eq!(rows.len(), tasks);
        let names = |dir: &str| -> BTreeSet<String> {
            let entries = fs::read_dir(self.phase.env.home().join(dir)).unwrap().flatten();
            entries.map(|entry| entry.file_name().into_string().unwrap()).collect()
        };
        assert_eq!(names("runs"), rows);
        assert_eq!(names("unsettled"), BTreeSet::new());
    }

    fn starts(&self, task: &Submitted) -> usize {
        let path = self.phase.env.side().join(format!("{}.starts", task.run_id));
        fs::read_to_string(path).map_or(0, |text| text.lines().count())
    }
}

/// The task that was acknowledged, and whether it was one of before.
fn told(phase: &Phase, ran: &Ran) -> (Submitted, bool) {
    let task = phase.note(&ran.stdout).unwrap_or_else(|| panic!("{}{}", ran.stdout, ran.stderr));
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    (task, document.get("deduplicated") == Some(&Value::Bool(true)))
}

/// Told in one line that the thread is busy, with whom, and what to do.
#[track_caller]
fn refused(ran: &Ran, by: &Submitted) {
    assert_eq!(ran.code, Some(2), "{}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.stdout, "");
    let by = &by.task_id;
    let expected = [
        format!("delegator: thread `{THREAD}` is busy with `{by}`"),
        format!("hint: wait for it with `delegator wait {by}`, or cancel it"),
    ];
    assert_eq!(ran.stderr.lines().collect::<Vec<_>>(), expected);
}

/// `limit` tasks may run at once; the one that is taken in runs, or waits.
fn check_one_goes_on(limit: u32, state: &str) {
    let world = world();
    configure(&world.phase, world.phase.env.root().join("bin/codex").to_str().unwrap(), limit);
    let ran = world.crowd(|number| world.resume(world.spelling(number), &[], &world.held));
    let (winners, losers): (Vec<Ran>, Vec<Ran>) = ran.into_iter().partition(|ran| ran.code == Some(0));
    assert_eq!(winners.len(), 1, "{winners:#?}");
    let id = winners[0].stdout.trim();
    let row = world.phase.rows().into_iter().find(|row| row.id == id).unwrap();
    assert_eq!(row.state, state);
    let winner = Submitted { task_id: row.id, run_id: row.run_id };
    world.phase.journal.acknowledged(&winner.task_id, &winner.run_id, None);
    losers.iter().for_each(|ran| refused(ran, &winner));
    // A task that was resumed is no thread of its own: all of its names are busy.
    refused(&world.resume(&winner.run_id, &[], "more"), &winner);
    world.only(2);

    configure(&world.phase, world.phase.env.root().join("bin/codex").to_str().unwrap(), 1);
    fs::write(&world.go, "").unwrap();
    world.phase.env.expect(0, &["wait", &winner.task_id]);
    assert_eq!(world.starts(&winner), 1);
    // It is free again.
    let (after, known) = world.taken_in(THREAD, &[], &world.held);
    assert!(!known);
    assert_eq!(world.phase.env.await_final(&after.task_id), "completed");
    world.phase.faults.fetch_add(losers.len(), Ordering::Relaxed);
    world.phase.close(&format!("resumes at once, the first {state}"));
}

#[test]
fn of_many_who_go_on_with_one_thread_one_runs_and_the_others_are_told() {
    check_one_goes_on(4, "working");
}

#[test]
fn a_thread_is_busy_with_a_task_that_waits_in_the_queue() {
    check_one_goes_on(0, "pending");
}

/// Its row does not name the thread yet.
#[test]
fn a_thread_is_busy_with_the_task_that_began_it() {
    let world = world();
    let begun = THREAD.replace("0198", "0199");
    let script = format!(
        "SCRIPT:\nsay {{\"type\":\"thread.started\",\"thread_id\":\"{begun}\"}}\nawait {}\nexit 0\nEND",
        world.go.display()
    );
    let args = ["run", "--skip-git-repo-check", "--agent", "codex", "--env", "FAKE_SIDE", "--json", &script];
    let first = world.phase.note(&world.phase.env.expect(0, &args).stdout).unwrap();
    let named = world.phase.env.run_dir(&first.run_id).join("thread.json");
    wait_for("the thread to be named", PATIENCE, || named.exists().then_some(()));
    for of in [&begun, &first.task_id] {
        let ran = world.resume(of, &[], "more");
        assert_eq!(ran.code, Some(2), "{of}: {}{}", ran.stdout, ran.stderr);
        let line = format!("delegator: thread `{begun}` is busy with `{}`", first.task_id);
        assert_eq!(ran.stderr.lines().next(), Some(line.as_str()), "{of}");
    }
    world.only(2);
    fs::write(&world.go, "").unwrap();
    world.phase.close("thread just begun");
}

#[test]
fn the_same_key_is_the_same_resumed_task_however_often_it_is_sent() {
    for of in [None, Some(THREAD)] {
        let world = world();
        let of = of.unwrap_or(&world.first.task_id);
        let key = ["--key", "again"];
        let ran = world.crowd(|_| world.resume(of, &["--key", "again", "--json"], &world.held));
        let answers: Vec<(Submitted, bool)> = ran.iter().map(|ran| told(&world.phase, ran)).collect();
        let task = &answers[0].0;
        assert!(answers.iter().all(|(one, _)| one == task), "{of}: {answers:#?}");
        assert_eq!(answers.iter().filter(|(_, known)| !known).count(), 1, "{of}: one was the first");
        wait_for("the agent", PATIENCE, || (world.starts(task) > 0).then_some(()));
        // While it runs, and by somebody without the key.
        assert_eq!(world.taken_in(of, &key, &world.held), (task.clone(), true));
        refused(&world.resume(of, &[], &world.held), task);
        refused(&world.resume(of, &["--key", "another"], &world.held), task);
        fs::write(&world.go, "").unwrap();
        assert_eq!(world.phase.env.await_final(&task.task_id), "completed");
        // After its end; it is itself the newest task on the thread now.
        assert_eq!(world.taken_in(of, &key, &world.held), (task.clone(), true), "{of}");
        let conflict = world.resume(of, &key, "something else");
        assert_eq!(conflict.code, Some(2), "{}{}", conflict.stdout, conflict.stderr);
        let id = &task.task_id;
        let line = format!("delegator: the key `again` was used for another request (`{id}`)");
        assert_eq!(conflict.stderr.lines().next(), Some(line.as_str()));
        let (other, known) = world.taken_in(of, &["--key", "another"], &world.held);
        assert!(!known && other != *task);
        assert_eq!(world.phase.env.await_final(&other.task_id), "completed");
        assert_eq!(world.starts(task), 1);
        world.only(3);
        world.phase.close("keyed resumes");
    }
}
