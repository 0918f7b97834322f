//! Work that a service does: the supervisor is killed wherever it stands, and its successor goes on from there. The job
//! is submitted once.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::claim::claim;
use crate::crash::{crash, with_each};
use crate::damage::{KINDS, spoil};
use crate::launch::look_denied;
use crate::phase::Phase;
use crate::support::env::{PATIENCE, Ran, Submitted, finish, wait_for};
use crate::support::kill;
use crate::support::strace::Point;

/// A submission that was answered with an error is looked for five times, at growing intervals.
const LONGEST_SEARCH: Duration = Duration::from_secs(120);
const DIFF: &str = "diff --git a/x b/x\n+more\n";

/// A home with a stand-in for `codex cloud` on its `PATH`.
pub struct Cloud {
    pub phase: Phase,
    dir: PathBuf,
}

impl Cloud {
    /// All jobs of the service are in this state.
    pub fn new(state: &str) -> Cloud {
        let phase = Phase::new();
        let program = phase.env.root().join("bin/codex");
        fs::write(&program, include_str!("../support/codex_cloud.sh")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
        let dir = phase.env.side().join("cloud");
        fs::create_dir_all(dir.join("tasks")).unwrap();
        fs::write(dir.join("state"), state).unwrap();
        fs::write(dir.join("diff"), DIFF).unwrap();
        Cloud { phase, dir }
    }

    pub fn submit(&self, options: &[&str]) -> Submitted {
        let args =
            [&["run", "--agent", "codex_cloud", "--env-id", "e", "--json"], options, &["do it"]].concat();
        let mut command = self.phase.env.command(&args);
        command.env("PATH", format!("{}:/usr/bin:/bin", self.phase.env.root().join("bin").display()));
        let ran = finish(command, PATIENCE);
        self.phase.note(&ran.stdout).unwrap_or_else(|| panic!("{}{}", ran.stdout, ran.stderr))
    }

    /// Lets the program go no further than `stage`.
    fn hold(&self, stage: &str) {
        fs::write(self.dir.join(format!("holds-{stage}")), "").unwrap();
    }

    fn release(&self, stage: &str) {
        fs::remove_file(self.dir.join(format!("holds-{stage}"))).unwrap();
    }

    /// Kills the supervisor while its program is at `stage`, where it is held.
    fn kill_at(&self, task: &Submitted, stage: &str) {
        let at = self.dir.join(format!("at-{stage}"));
        wait_for(&format!("the program to be at {stage}"), PATIENCE, || at.exists().then_some(()));
        self.kill(task);
        fs::remove_file(at).unwrap();
    }

    fn kill(&self, task: &Submitted) {
        let supervisor = kill::supervisor_of(&self.phase.env.run_dir(&task.run_id)).unwrap();
        kill::send(supervisor, libc::SIGKILL);
        wait_for("the supervisor to die", PATIENCE, || (!kill::alive(supervisor)).then_some(()));
        self.phase.faults.fetch_add(1, Ordering::Relaxed);
    }

    /// All jobs of the service are in this state from now on.
    pub fn enter(&self, state: &str) {
        fs::write(self.dir.join("state"), state).unwrap();
    }

    pub fn await_submission(&self, task: &Submitted) {
        let remote = self.phase.env.run_dir(&task.run_id).join("remote.json");
        let is_known = || fs::read_to_string(&remote).ok()?.contains("task_e_").then_some(());
        wait_for("the submission to be recorded", PATIENCE, is_known);
    }

    pub fn wait(&self, task: &Submitted) -> Ran {
        finish(self.phase.env.command(&["wait", &task.task_id]), LONGEST_SEARCH)
    }

    /// As in the tools' replies.
    fn state(&self, task: &Submitted) -> String {
        let ran = self.phase.env.expect(4, &["results", &task.task_id, "--json"]);
        let document: Value = serde_json::from_str(&ran.stdout).unwrap();
        document["data"]["state"].as_str().unwrap().to_owned()
    }

    fn result(&self, task: &Submitted) -> Value {
        let sealed = self.phase.env.run_dir(&task.run_id).join("result.json");
        serde_json::from_slice(&fs::read(sealed).unwrap()).unwrap()
    }

    /// How many jobs the service accepted.
    pub fn accepted(&self) -> usize {
        fs::read_dir(self.dir.join("tasks")).unwrap().count()
    }

    /// How often the program was called with this verb.
    fn calls(&self, verb: &str) -> usize {
        let calls = fs::read_to_string(self.dir.join("calls")).unwrap_or_default();
        calls.lines().filter(|call| *call == verb).count()
    }

    /// The job has been done, and what it changed is here.
    #[track_caller]
    pub fn is_complete(&self, task: &Submitted) {
        let dir = self.phase.env.run_dir(&task.run_id);
        assert_eq!(self.phase.row(task).state, "completed");
        assert_eq!(fs::read_to_string(dir.join("changes.diff")).unwrap(), DIFF);
        assert!(!dir.join("scratch").exists(), "what the program wrote is left");
    }

    #[track_caller]
    pub fn close(self, what: &str) {
        let left: Vec<_> = fs::read_dir(self.phase.env.work()).unwrap().collect();
        assert!(left.is_empty(), "written into the user's directory: {left:?}");
        self.phase.close(what);
    }
}

/// In each stage that the service sees.
#[test]
fn a_job_goes_on_when_its_supervisor_is_killed_during_a_call() {
    let stages = [&["accepted"][..], &["accepted", "list"], &["status"], &["status", "status"], &["diff"]];
    with_each(&stages, stages.len(), |stages| {
        let cloud = Cloud::new("READY");
        cloud.hold(stages[0]);
        let task = cloud.submit(&[]);
        for (nth, stage) in stages.iter().enumerate() {
            cloud.kill_at(&task, stage);
            if let Some(next) = stages.get(nth + 1) {
                cloud.release(stage);
                cloud.hold(next);
                // Whoever looks gives it a new supervisor.
                cloud.phase.env.expect(0, &["status"]);
            }
        }
        cloud.release(stages.last().unwrap());
        let waited = cloud.wait(&task);
        assert_eq!(waited.code, Some(0), "{stages:?}: {}{}", waited.stdout, waited.stderr);
        assert_eq!((cloud.accepted(), cloud.calls("exec")), (1, 1), "{stages:?}");
        cloud.is_complete(&task);
        cloud.close(&format!("hosted job, killed at {stages:?}"));
    });
}

/// Nobody can tell a submission that never arrived from one that the list does not show yet. It is not repeated.
#[test]
fn a_submission_that_never_arrived_is_not_repeated() {
    let cloud = Cloud::new("READY");
    cloud.hold("exec");
    let task = cloud.submit(&["--hard", "10"]);
    cloud.kill_at(&task, "exec");
    cloud.release("exec");
    cloud.phase.env.expect(0, &["status"]);
    assert_eq!(cloud.state(&task), "unknown");
    let waited = cloud.wait(&task);
    assert_eq!(waited.code, Some(1), "{}{}", waited.stdout, waited.stderr);
    assert!(waited.stdout.contains("error: LOST"), "{}", waited.stdout);
    assert!(waited.stdout.contains("the service does not list the job"), "{}", waited.stdout);
    assert_eq!((cloud.accepted(), cloud.calls("exec")), (0, 1));
    assert!(cloud.calls("list") > 1, "the list may lag behind");
    cloud.close("hosted job that never arrived");
}

#[test]
fn a_job_is_unknown_until_the_list_shows_it() {
    let cloud = Cloud::new("READY");
    cloud.hold("accepted");
    cloud.hold("list");
    let task = cloud.submit(&[]);
    cloud.kill_at(&task, "accepted");
    cloud.release("accepted");
    // Others came after it, so it is not on the first page of the list.
    for number in 2..6 {
        let other = cloud.dir.join(format!("tasks/task_e_{number}"));
        fs::create_dir(&other).unwrap();
        fs::write(other.join("title"), "another").unwrap();
    }
    cloud.phase.env.expect(0, &["status"]);
    assert_eq!(cloud.state(&task), "unknown");
    cloud.release("list");
    assert_eq!(cloud.wait(&task).code, Some(0));
    assert_eq!(cloud.calls("exec"), 1);
    assert!(cloud.calls("list") > 1, "it was on the first page");
    let known = cloud.phase.env.expect(0, &["environments"]).stdout;
    assert!(known.contains("codex cloud list"), "{known}");
    cloud.is_complete(&task);
    cloud.close("hosted job that was unknown");
}

const BROKEN: &str =
    "Error: POST https://chatgpt.com/backend-api/wham/tasks failed: 500 Internal Server Error; body=oops";

#[test]
fn an_error_of_the_service_is_believed_only_after_a_look_at_its_list() {
    let cloud = Cloud::new("READY");
    fs::write(cloud.dir.join("breaks-exec"), BROKEN).unwrap();
    let accepted = cloud.submit(&[]);
    assert_eq!(cloud.wait(&accepted).code, Some(0));
    cloud.is_complete(&accepted);
    fs::write(cloud.dir.join("refuses-exec"), BROKEN).unwrap();
    let refused = cloud.submit(&[]);
    assert_eq!(cloud.wait(&refused).code, Some(1));
    let fault = &cloud.result(&refused)["outcome"]["fault"];
    assert_eq!(fault["code"], "TOOL_ERROR");
    assert!(fault["message"].as_str().unwrap().contains("500 Internal Server Error"), "{fault}");
    assert_eq!((cloud.accepted(), cloud.calls("exec")), (1, 2));
    cloud.close("hosted jobs whose submission was answered with an error");
}

#[test]
fn a_call_that_hangs_is_ended_and_its_job_found() {
    let cloud = Cloud::new("READY");
    cloud.hold("accepted");
    let task = cloud.submit(&["--command-limit", "1"]);
    assert_eq!(cloud.wait(&task).code, Some(0));
    assert_eq!((cloud.accepted(), cloud.calls("exec")), (1, 1));
    cloud.is_complete(&task);
    cloud.close("hosted job whose submission hung");
}

#[test]
fn a_service_that_does_not_answer_for_a_while_loses_no_job() {
    let cloud = Cloud::new("READY");
    fs::write(cloud.dir.join("refuses-status"), "Not signed in. Please run 'codex login'").unwrap();
    let task = cloud.submit(&[]);
    let says_why = || cloud.phase.env.expect(0, &["status"]).stdout.contains("codex login").then_some(());
    wait_for("the reason to be shown", PATIENCE, says_why);
    fs::remove_file(cloud.dir.join("refuses-status")).unwrap();
    assert_eq!(cloud.wait(&task).code, Some(0));
    cloud.is_complete(&task);
    cloud.close("hosted job whose service did not answer");
}

/// Between the calls: at each file that says how far it has come, before it is there and right after.
#[test]
fn a_job_goes_on_when_its_supervisor_is_killed_between_two_steps() {
    let cloud = Cloud::new("READY");
    let phase = &cloud.phase;
    phase.limit(0);
    let first = claim(phase, &cloud.submit(&[]));
    let (ran, mut points) = phase.points_of(|tracer| first.supervise(phase, tracer));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    drop(first);
    points.retain(|point| point.place.process == 0);
    let chosen: Vec<(Point, Submitted)> =
        steps(&points).into_iter().map(|point| (point, cloud.submit(&[]))).collect();
    with_each(&chosen, 3, |(point, task)| {
        let claimed = claim(phase, task);
        let crash = crash(phase, point, |tracer| claimed.supervise(phase, tracer));
        assert!(crash.at.is_some(), "it did not come to {point}");
    });
    phase.limit(4);
    for (point, task) in &chosen {
        let waited = cloud.wait(task);
        assert_eq!(waited.code, Some(0), "killed at {point}: {}{}", waited.stdout, waited.stderr);
        cloud.is_complete(task);
    }
    let jobs = chosen.len() + 1;
    assert_eq!((cloud.accepted(), cloud.calls("exec")), (jobs, jobs));
    cloud.close("hosted job, killed between two steps");
}

/// The calls that put a file in its place, the first after each that makes it last, and the one that ends the row.
/// What is certain right after the submission has begun is the same as while the program is called.
fn steps(points: &[Point]) -> Vec<Point> {
    let after = |at: usize, call: &str, text: &str| {
        let is = |point: &Point| point.call.starts_with(call) && point.text.contains(text);
        at + points[at..].iter().position(is).unwrap_or_else(|| panic!("no {call} {text}"))
    };
    let renamed = |at: usize, file: &str| after(at, "rename", file);
    let synced = |at: usize| after(at, "fsync", "");
    let started = renamed(0, "/started.json");
    let submitting = renamed(started, "/remote.json");
    let submitted = renamed(submitting + 1, "/remote.json");
    let fetched = renamed(submitted, "/changes.diff");
    let sealed = renamed(fetched, "/result.json");
    let row = after(sealed, "pwrite64", "/registry.db-wal");
    let chosen = [
        started,
        synced(started),
        submitting,
        submitted,
        synced(submitted),
        fetched,
        sealed,
        synced(sealed),
        row,
    ];
    chosen.map(|at| points[at].clone()).to_vec()
}

#[test]
fn cancel_ends_a_job_that_was_taken_over() {
    let cloud = Cloud::new("PENDING");
    for is_taken_over in [true, false] {
        let task = cloud.submit(&[]);
        cloud.await_submission(&task);
        cloud.kill(&task);
        if is_taken_over {
            cloud.phase.env.expect(0, &["status"]);
            wait_for("another supervisor", PATIENCE, || {
                kill::supervisor_of(&cloud.phase.env.run_dir(&task.run_id)).map(drop)
            });
        }
        let told = cloud.phase.env.expect(0, &["cancel", &task.task_id, "--reason", "enough"]).stdout;
        assert!(told.contains("the cloud task goes on"), "{told}");
        assert!(told.contains("https://chatgpt.com/codex/tasks/task_e_"), "{told}");
        assert_eq!(cloud.phase.row(&task).state, "cancelled");
        assert_eq!(cloud.result(&task)["outcome"]["reason"], "enough");
    }
    assert_eq!((cloud.accepted(), cloud.calls("exec")), (2, 2));
    cloud.close("cancel of a hosted job");
}

/// It counts from the first start, and also while the program hangs.
#[test]
fn the_hard_limit_ends_a_job_that_was_taken_over() {
    let cloud = Cloud::new("PENDING");
    cloud.hold("status");
    let task = cloud.submit(&["--hard", "10"]);
    cloud.kill_at(&task, "status");
    let started = cloud.phase.env.run_dir(&task.run_id).join("started.json");
    let started: Value = serde_json::from_slice(&fs::read(started).unwrap()).unwrap();
    let waited = cloud.wait(&task);
    assert_eq!(waited.code, Some(1), "{}{}", waited.stdout, waited.stderr);
    let sealed = cloud.result(&task);
    assert_eq!(sealed["outcome"]["limit"], "hard", "{sealed:#}");
    assert_eq!(sealed["started_at"], started["started_at"], "{sealed:#}");
    // A call may take a minute where no limit is nearer.
    assert!((10_000..40_000).contains(&sealed["outcome"]["elapsed_ms"].as_u64().unwrap()), "{sealed:#}");
    cloud.close("hard limit of a hosted job");
}

#[test]
fn a_refusal_of_the_program_fails_the_job() {
    let cloud = Cloud::new("READY");
    for (said, code) in [
        ("Error: Not signed in. Please run 'codex login' to sign in with ChatGPT", "AUTH"),
        ("Error: environment 'e' not found; run codex cloud to list available environments", "TOOL_ERROR"),
        ("Error: POST … failed: 429 Too Many Requests; body={}", "RATE_LIMITED"),
    ] {
        fs::write(cloud.dir.join("refuses-exec"), said).unwrap();
        let task = cloud.submit(&[]);
        assert_eq!(cloud.wait(&task).code, Some(1));
        let result = cloud.result(&task);
        assert_eq!(result["outcome"]["fault"]["code"], code, "{said}");
        assert!(result["outcome"]["fault"]["hint"].is_string(), "{said}");
        assert_eq!(result["warnings"], serde_json::json!([]), "{said}");
    }
    assert_eq!(cloud.accepted(), 0);
    cloud.close("refused hosted jobs");
}

/// A job that is at the service, and nobody polls it.
fn orphaned(options: &[&str]) -> (Cloud, Submitted) {
    let cloud = Cloud::new("PENDING");
    let task = cloud.submit(options);
    cloud.await_submission(&task);
    cloud.kill(&task);
    (cloud, task)
}

#[track_caller]
fn ends_well(cloud: Cloud, task: &Submitted, what: &str) {
    cloud.enter("READY");
    let waited = cloud.wait(task);
    assert_eq!(waited.code, Some(0), "{what}: {}{}", waited.stdout, waited.stderr);
    cloud.is_complete(task);
    assert_eq!((cloud.accepted(), cloud.calls("exec")), (1, 1), "{what}");
    cloud.close(what);
}

#[test]
fn supervisors_that_die_at_once_are_replaced_ever_more_slowly() {
    let (cloud, task) = orphaned(&[]);
    let began = Instant::now();
    // One, two and four seconds come after the second, third and fourth.
    wait_for("the fifth supervisor", PATIENCE, || {
        cloud.phase.env.expect(0, &["status"]);
        if kill::supervisor_of(&cloud.phase.env.run_dir(&task.run_id)).is_some() {
            cloud.kill(&task);
        }
        (cloud.phase.row(&task).attempt >= 5).then_some(())
    });
    assert!(began.elapsed() >= Duration::from_secs(6), "{:?}", began.elapsed());
    ends_well(cloud, &task, "hosted job whose supervisors die at once");
}

#[test]
fn a_supervisor_that_could_not_be_started_does_not_count() {
    let (cloud, task) = orphaned(&[]);
    for _ in 0..3 {
        look_denied(&cloud.phase, "1+");
        let row = cloud.phase.row(&task);
        assert_eq!((row.state.as_str(), row.attempt), ("working", 1));
    }
    ends_well(cloud, &task, "hosted job without a supervisor");
}

/// Its directory cannot be used for a while.
#[test]
fn a_supervisor_that_cannot_take_over_leaves_the_job_to_the_next_one() {
    let (cloud, task) = orphaned(&[]);
    let scratch = cloud.phase.env.run_dir(&task.run_id).join("scratch");
    fs::remove_dir_all(&scratch).unwrap();
    fs::write(&scratch, "").unwrap();
    cloud.phase.env.expect(0, &["status"]);
    wait_for("the supervisor to give up", PATIENCE, || {
        let log = fs::read_to_string(scratch.with_file_name("supervisor.log")).ok()?;
        log.contains("failed to write the run directory").then_some(())
    });
    assert_eq!(cloud.phase.row(&task).state, "working");
    fs::remove_file(&scratch).unwrap();
    ends_well(cloud, &task, "hosted job that could not be taken over");
}

#[test]
fn a_job_whose_start_record_is_spoiled_goes_on() {
    for how in KINDS {
        let (cloud, task) = orphaned(&[]);
        spoil(&cloud.phase, &task, "started.json", how);
        ends_well(cloud, &task, &format!("hosted job with a spoiled start record: {how}"));
    }
}

#[test]
fn a_job_that_is_given_up_says_where_the_service_has_it() {
    let (cloud, task) = orphaned(&[]);
    cloud.phase.use_up_supervisors(&task);
    let waited = cloud.wait(&task);
    assert_eq!(waited.code, Some(1), "{}{}", waited.stdout, waited.stderr);
    assert!(waited.stdout.contains("error: LOST"), "{}", waited.stdout);
    let address = "the service still has the job: https://chatgpt.com/codex/tasks/task_e_1";
    assert!(waited.stdout.contains(address), "{}", waited.stdout);
    cloud.close("hosted job that was given up");
}

/// As if the wall clock had been set forward by years since it started.
#[test]
fn the_hard_limit_does_not_depend_on_the_wall_clock() {
    let (cloud, task) = orphaned(&["--hard", "300"]);
    let path = cloud.phase.env.run_dir(&task.run_id).join("started.json");
    let mut started: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let at = started["started_at"].as_str().unwrap();
    started["started_at"] = format!("2025{}", &at[4..]).into();
    fs::write(&path, started.to_string()).unwrap();
    ends_well(cloud, &task, "hosted job and a clock that was set");
}
