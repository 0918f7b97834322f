//! A plan of jobs: its coordinator is killed wherever it stands, and its successor goes on from there. Each job is one
//! task.

use std::collections::BTreeSet;
use std::fs;
use std::sync::atomic::Ordering;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::claim::claim;
use crate::crash::{crash, with_each};
use crate::damage::{KINDS, spoil};
use crate::phase::Phase;
use crate::support::agent::playing;
use crate::support::env::{PATIENCE, Submitted, wait_for};
use crate::support::kill;
use crate::support::strace::Point;

/// The plan `a`, `b` after `a`, `c`. In the steps of `a`, `GO` is a file that nobody makes.
pub fn plan(phase: &Phase, steps_of_a: &[&str]) -> String {
    let work = phase.env.work();
    let (order, go) = (work.join("order"), work.join("go").display().to_string());
    let job = |id: &str, steps: &[&str]| {
        let logged = format!("log {} {id}", order.display());
        let steps: Vec<String> = steps.iter().map(|step| step.replace("GO", &go)).collect();
        let steps: Vec<&str> =
            std::iter::once(logged.as_str()).chain(steps.iter().map(String::as_str)).collect();
        json!({ "id": id, "agent": "command", "task": playing(&phase.env, id, &steps) })
    };
    let mut jobs = [job("a", steps_of_a), job("b", &["exit 0"]), job("c", &["exit 0"])];
    jobs[1]["after"] = json!(["a"]);
    json!({ "jobs": jobs }).to_string()
}

/// The jobs can be read about in the side files.
pub fn submit(phase: &Phase, limit: u32, plan: &str) -> Submitted {
    phase.env.configure(&format!("max_concurrent = {limit}\nenv_allow = [\"FAKE_SIDE\"]\n"));
    let args = ["run", "--agent", "autopilot", "--env", "FAKE_SIDE", "--json", plan];
    phase.note(&phase.env.expect(0, &args).stdout).unwrap()
}

/// The jobs that ran, in order.
fn order(phase: &Phase) -> Vec<String> {
    let ran = fs::read_to_string(phase.env.work().join("order")).unwrap_or_default();
    ran.lines().map(str::to_owned).collect()
}

/// What `plan.json` says of a job.
fn status(phase: &Phase, task: &Submitted, job: usize) -> Value {
    let plan = fs::read(phase.env.run_dir(&task.run_id).join("plan.json")).unwrap();
    serde_json::from_slice::<Value>(&plan).unwrap()["jobs"][job]["status"].clone()
}

/// All three have run once, `b` after `a`, and each is one task.
#[track_caller]
pub fn is_complete(phase: &Phase, task: &Submitted) {
    let ran = order(phase);
    let at = |id: &str| ran.iter().position(|one| one == id);
    assert!(ran.len() == 3 && at("a") < at("b") && at("c").is_some(), "{ran:?}");
    assert!((0..3).all(|job| status(phase, task, job) == json!({ "ended": "completed" })));
    let states: Vec<String> = phase.rows().into_iter().map(|row| row.state).collect();
    assert_eq!(states, ["completed"; 4]);
}

/// One task runs at a time. If the coordinator took the slot, none of its jobs would ever start.
#[test]
fn a_plan_ends_when_its_coordinator_is_killed_at_any_write_of_it() {
    with_each(&writes(), 2, |point| {
        let (phase, task) = killed_at(point, &["say one", "exit 0"]);
        phase.env.expect(0, &["wait", &task.task_id]);
        is_complete(&phase, &task);
        phase.close(&format!("plan, killed at {} number {}", point.call, point.nth));
    });
}

/// It was accepted, and `plan.json` does not say so.
#[test]
fn a_job_that_was_not_recorded_is_cancelled_with_the_others() {
    let (phase, task) = killed_at(&writes()[0], &["await GO"]);
    wait_for("job `a` to run", PATIENCE, || (!order(&phase).is_empty()).then_some(()));
    assert!(!phase.env.run_dir(&task.run_id).join("plan.json").exists());
    phase.env.expect(0, &["cancel", &task.task_id]);
    let states: Vec<String> = phase.rows().into_iter().map(|row| row.state).collect();
    assert_eq!(states, ["cancelled"; 2]);
    phase.close("plan, cancelled after its coordinator was killed");
}

/// For each time that `plan.json` is written: the call that puts it in its place, and the first after that which makes
/// it last. Three jobs are submitted, and three end.
fn writes() -> Vec<Point> {
    let (phase, task) = waiting(&["say one", "exit 0"]);
    let claimed = claim(&phase, &task);
    phase.limit(1);
    let (ran, mut points) = phase.points_of(|tracer| claimed.supervise(&phase, tracer));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    drop(claimed);
    is_complete(&phase, &task);
    points.retain(|point| point.place.process == 0);
    let is_write = |point: &Point| point.call.starts_with("rename") && point.text.contains("/plan.json");
    let is_synced = |point: &Point| point.call == "fsync";
    let renamed: Vec<usize> = (0..points.len()).filter(|&at| is_write(&points[at])).collect();
    assert_eq!(renamed.len(), 6);
    let synced = |at: usize| at + points[at..].iter().position(is_synced).unwrap();
    renamed.into_iter().flat_map(|at| [at, synced(at)]).map(|at| points[at].clone()).collect()
}

/// A plan that nobody coordinates yet.
fn waiting(steps_of_a: &[&str]) -> (Phase, Submitted) {
    let phase = Phase::new();
    let plan = plan(&phase, steps_of_a);
    let task = submit(&phase, 0, &plan);
    (phase, task)
}

/// A plan whose first coordinator is dead.
fn killed_at(point: &Point, steps_of_a: &[&str]) -> (Phase, Submitted) {
    let (phase, task) = waiting(steps_of_a);
    let claimed = claim(&phase, &task);
    phase.limit(1);
    let crash = crash(&phase, point, |tracer| claimed.supervise(&phase, tracer));
    assert!(crash.at.is_some(), "it did not come to {point}");
    (phase, task)
}

#[test]
fn a_job_after_one_that_failed_is_skipped() {
    let phase = Phase::new();
    let task = submit(&phase, 1, &plan(&phase, &["exit 3"]));
    let told = phase.env.expect(1, &["wait", &task.task_id]).stdout;
    assert!(told.contains("1 of 3 jobs completed; `a` failed, `b` skipped"), "{told}");
    assert!(!told.contains("deleted"), "{told}");
    let logs = phase.env.expect(0, &["logs", &task.task_id]).stdout;
    assert!(logs.contains("job `b`: skipped: job `a` did not complete"), "{logs}");
    assert_eq!(status(&phase, &task, 1), json!({ "skipped": "job `a` did not complete" }));
    assert_eq!((order(&phase).join(" "), phase.rows().len()), ("a c".to_owned(), 3));
    phase.close("plan with a job that fails");
}

fn kill_coordinator(phase: &Phase, task: &Submitted) {
    let coordinator = kill::supervisor_of(&phase.env.run_dir(&task.run_id)).unwrap();
    kill::send(coordinator, libc::SIGKILL);
    wait_for("the coordinator to die", PATIENCE, || (!kill::alive(coordinator)).then_some(()));
    phase.faults.fetch_add(1, Ordering::Relaxed);
}

/// A plan whose job `a` runs until [`release`].
pub fn running(limit: u32) -> (Phase, Submitted) {
    let phase = Phase::new();
    let task = submit(&phase, limit, &plan(&phase, &["await GO"]));
    wait_for("job `a` to run", PATIENCE, || order(&phase).contains(&"a".to_owned()).then_some(()));
    wait_for("job `c`", PATIENCE, || (status(&phase, &task, 2) != json!("waiting")).then_some(()));
    (phase, task)
}

pub fn release(phase: &Phase) {
    fs::write(phase.env.work().join("go"), "").unwrap();
}

fn states(phase: &Phase) -> Vec<String> {
    phase.rows().into_iter().map(|row| row.state).collect()
}

/// Also while it has no supervisor.
#[test]
fn cancelling_a_plan_cancels_its_jobs() {
    for is_killed in [false, true] {
        let phase = Phase::new();
        let task = submit(&phase, 1, &plan(&phase, &["await GO"]));
        wait_for("the jobs", PATIENCE, || (phase.rows().len() == 3).then_some(()));
        wait_for("job `a` to run", PATIENCE, || (!order(&phase).is_empty()).then_some(()));
        if is_killed {
            kill_coordinator(&phase, &task);
        }
        phase.env.expect(0, &["cancel", &task.task_id]);
        let states: Vec<String> = phase.rows().into_iter().map(|row| row.state).collect();
        assert_eq!(states, ["cancelled"; 3]);
        assert_eq!(order(&phase), ["a"], "`b` and `c` never ran");
        phase.close("cancelled plan");
    }
}

/// Job `b` is tried twice in that time. A write waits some ten seconds each time.
#[test]
fn a_plan_goes_on_when_the_registry_was_locked_for_long() {
    let (phase, task) = running(2);
    wait_for("job `c` to end", PATIENCE, || {
        (status(&phase, &task, 2) == json!({ "ended": "completed" })).then_some(())
    });
    let holder = Connection::open(phase.env.registry()).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let runs = || -> BTreeSet<_> {
        let entries = fs::read_dir(phase.env.home().join("runs")).unwrap();
        entries.map(|entry| entry.unwrap().file_name()).collect()
    };
    let mut seen = runs();
    let before = seen.len();
    release(&phase);
    wait_for("the second try", PATIENCE, || {
        seen.extend(runs());
        (seen.len() == before + 2).then_some(())
    });
    holder.execute_batch("ROLLBACK").unwrap();
    phase.env.expect(0, &["wait", &task.task_id]);
    is_complete(&phase, &task);
    phase.close("plan, while the registry was locked");
}

/// Cancelling it needs no configuration.
#[test]
fn a_coordinator_that_cannot_take_over_leaves_the_plan_to_the_next_one() {
    for is_cancelled in [false, true] {
        let (phase, task) = running(2);
        kill_coordinator(&phase, &task);
        phase.env.configure("max_concurrent = [");
        phase.env.expect(0, &["status"]);
        let log = phase.env.run_dir(&task.run_id).join("supervisor.log");
        wait_for("the coordinator to give up", PATIENCE, || {
            fs::read_to_string(&log).ok()?.contains("config.toml").then_some(())
        });
        assert_eq!(phase.row(&task).state, "working");
        if is_cancelled {
            phase.env.expect(0, &["cancel", &task.task_id]);
            assert_eq!(states(&phase), ["cancelled", "cancelled", "completed"]);
        } else {
            phase.limit(1);
            release(&phase);
            phase.env.expect(0, &["wait", &task.task_id]);
            is_complete(&phase, &task);
        }
        phase.close("plan that could not be taken over");
    }
}

#[test]
fn a_plan_goes_on_when_its_records_are_spoiled() {
    for file in ["started.json", "plan.json"] {
        let (phase, task) = running(2);
        kill_coordinator(&phase, &task);
        spoil(&phase, &task, file, KINDS[0]);
        release(&phase);
        phase.env.expect(0, &["wait", &task.task_id]);
        is_complete(&phase, &task);
        phase.close(&format!("plan with a spoiled {file}"));
    }
}

#[test]
fn a_plan_that_is_given_up_cancels_its_jobs() {
    let (phase, task) = running(1);
    kill_coordinator(&phase, &task);
    phase.use_up_supervisors(&task);
    let told = phase.env.expect(1, &["wait", &task.task_id]).stdout;
    assert!(told.contains("error: LOST") && told.contains("its jobs were cancelled"), "{told}");
    wait_for("the jobs to end", PATIENCE, || {
        (states(&phase) == ["failed", "cancelled", "cancelled"]).then_some(())
    });
    phase.close("plan that was given up");
}

/// The job was accepted, and `plan.json` does not say so.
#[test]
fn a_job_that_was_not_recorded_is_found_after_a_default_has_changed() {
    let (phase, task) = killed_at(&writes()[0], &["say one", "exit 0"]);
    phase.env.configure("max_concurrent = 1\nhard_timeout_s = 1234\n");
    phase.env.expect(0, &["wait", &task.task_id]);
    is_complete(&phase, &task);
    phase.close("plan, after a default has changed");
}

#[test]
fn a_job_that_ended_before_it_was_cancelled_is_not_told_as_cancelled() {
    let (phase, task) = running(2);
    let coordinator = kill::supervisor_of(&phase.env.run_dir(&task.run_id)).unwrap();
    kill::send(coordinator, libc::SIGSTOP);
    wait_for("it to stop", PATIENCE, || (kill::state(coordinator) == Some(b'T')).then_some(()));
    release(&phase);
    wait_for("job `a` to end", PATIENCE, || {
        (states(&phase) == ["working", "completed", "completed"]).then_some(())
    });
    phase.env.expect(0, &["cancel", &task.task_id]);
    assert_eq!(status(&phase, &task, 0), json!({ "ended": "completed" }));
    assert_eq!(status(&phase, &task, 1), json!("waiting"));
    phase.close("plan, cancelled after a job has ended");
}

/// Commands of a client must run in a sandbox, and only if the configuration allows it.
#[test]
fn the_jobs_of_a_plan_may_do_no_more_than_whoever_asked_for_it() {
    let (phase, task) = waiting(&["exit 0"]);
    let path = phase.env.run_dir(&task.run_id).join("request.json");
    let mut request: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    request["by_client"] = true.into();
    fs::write(&path, request.to_string()).unwrap();
    phase.limit(1);
    phase.env.expect(1, &["wait", &task.task_id]);
    let refused = "the agent `command` is not offered to clients";
    assert_eq!(status(&phase, &task, 0), json!({ "skipped": refused }));
    assert_eq!((order(&phase).len(), phase.rows().len()), (0, 1));
    phase.close("plan of a client");
}
