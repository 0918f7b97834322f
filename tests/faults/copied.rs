//! A home that is copied while its runs go on: the copy starts and ends nothing
//! of the original. A home that was moved is the same home.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::coordinator;
use crate::descendants::levels;
use crate::hosted::Cloud;
use crate::phase::Phase;
use crate::support::agent::playing;
use crate::support::checker;
use crate::support::env::{PATIENCE, Submitted, TestEnv, wait_for};
use crate::support::kill;

const LIVE: usize = 8;
const QUEUED: usize = 4;

/// Copies a home as a person would. A file that a live run removes meanwhile may be missing in the copy.
fn copy(home: &Path) -> PathBuf {
    let to = home.with_file_name("copy");
    let copied = Command::new("cp").arg("-a").args([home, &to]).output().unwrap();
    let said = String::from_utf8_lossy(&copied.stderr);
    assert!(said.lines().all(|line| line.contains("No such file or directory")), "{said}");
    to
}

fn starts(phase: &Phase, task: &Submitted) -> usize {
    let path = phase.env.side().join(format!("{}.starts", task.run_id));
    fs::read_to_string(path).map_or(0, |text| text.lines().count())
}

/// A server at rest moves the queue of its home.
fn serve_once(env: &TestEnv) {
    let mut server = env.command(&["serve"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
    let status = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"delegate_status","arguments":{}}}"#;
    let mut stdin = server.stdin.take().unwrap();
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    writeln!(stdin, "{initialize}\n{initialized}\n{status}").unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("\"id\":2")));
    drop(stdin);
    server.wait().unwrap();
}

fn check_live(level: &str) {
    let phase = Phase::new();
    phase.env.configure(&format!("max_concurrent = {LIVE}\nkill_level = \"{level}\"\n"));
    let go = phase.env.work().join("go");
    let waits = ["say one", &format!("await {}", go.display()), "exit 0"];
    let live: Vec<_> =
        (0..LIVE).map(|n| phase.submit(&playing(&phase.env, &format!("live-{n}"), &waits))).collect();
    for task in &live {
        wait_for("a run to start", PATIENCE, || (starts(&phase, task) == 1).then_some(()));
    }
    let brief = playing(&phase.env, "brief", &["say one", "exit 0"]);
    let queued: Vec<_> = (0..QUEUED).map(|_| phase.submit(&brief)).collect();

    let copy = TestEnv::with_home(copy(phase.env.home()));
    let status = copy.expect(0, &["status"]);
    let original = phase.env.home().display().to_string();
    for task in live.iter().chain(&queued) {
        assert_eq!(copy.run(&["wait", &task.task_id]).code, Some(5), "{}", status.stdout);
        let told = copy.expect(5, &["results", &task.task_id]);
        assert!(told.stdout.contains(&format!("copy of `{original}`")), "{}", told.stdout);
    }
    copy.run(&["doctor"]);
    copy.run(&["cancel", &live[0].task_id]);
    serve_once(&copy);
    let own = copy.submit("echo of its own");
    assert_eq!(copy.await_final(&own.task_id), "completed");

    let supervisors = kill::supervisors(phase.env.home()).len();
    assert_eq!(supervisors, LIVE, "at level {level}, runs of the original were ended");
    assert!(queued.iter().all(|task| starts(&phase, task) == 0), "queued tasks were started by the copy");
    fs::write(go, "").unwrap();
    for task in live.iter().chain(&queued) {
        assert_eq!(phase.env.await_final(&task.task_id), "completed", "at level {level}");
        assert_eq!(starts(&phase, task), 1, "at level {level}");
        assert!(copy.expect(5, &["results", &task.task_id]).stdout.contains(&original));
    }
    println!("copied home at level {level}: live={LIVE}, queued={QUEUED}, ended by the copy=0, done twice=0");
    phase.close(level);
}

#[test]
fn the_copy_of_a_live_home_starts_and_ends_nothing_of_the_original() {
    levels().into_iter().for_each(check_live);
}

#[test]
fn a_cancel_as_the_first_command_of_a_copy_ends_nothing_of_the_original() {
    for level in levels() {
        let phase = Phase::new();
        phase.env.configure(&format!("kill_level = \"{level}\"\n"));
        let go = phase.env.work().join("go");
        let task = phase.submit(&playing(
            &phase.env,
            "live",
            &["say one", &format!("await {}", go.display()), "exit 0"],
        ));
        wait_for("the run to start", PATIENCE, || (starts(&phase, &task) == 1).then_some(()));
        let copy = TestEnv::with_home(copy(phase.env.home()));
        copy.run(&["cancel", &task.task_id]);
        assert_eq!(kill::supervisors(phase.env.home()).len(), 1, "at level {level}");
        fs::write(go, "").unwrap();
        assert_eq!(phase.env.await_final(&task.task_id), "completed", "at level {level}");
        phase.close(level);
    }
}

/// The same where nothing tells whose the runs are but their marks: the copy
/// takes the place of the original, which has another name meanwhile.
#[test]
fn a_copy_in_the_place_of_the_original_ends_none_of_its_runs() {
    for level in levels() {
        let phase = Phase::new();
        phase.env.configure(&format!("kill_level = \"{level}\"\n"));
        let pid = phase.env.work().join("pid");
        let task =
            phase.env.submit(&format!("echo $$ >{0}.new; mv {0}.new {0}; exec sleep 120", pid.display()));
        wait_for("the run to start", PATIENCE, || pid.exists().then_some(()));
        let agent: i32 = fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
        let (home, aside) = (phase.env.home().to_owned(), phase.env.root().join("aside"));
        let copied = copy(&home);
        fs::rename(&home, &aside).unwrap();
        fs::rename(&copied, &home).unwrap();
        phase.env.expect(0, &["status"]);
        assert!(kill::alive(agent), "at level {level}, the agent was ended");
        fs::remove_dir_all(&home).unwrap();
        fs::rename(&aside, &home).unwrap();
        phase.env.run(&["cancel", &task.task_id]);
        assert_eq!(phase.env.await_final(&task.task_id), "cancelled");
        assert!(!kill::alive(agent));
    }
}

/// Nobody in the copy goes on with it.
#[test]
fn the_copy_of_a_home_leaves_a_hosted_job_to_the_original() {
    let cloud = Cloud::new("PENDING");
    let task = cloud.submit(&[]);
    cloud.await_submission(&task);
    let copy = TestEnv::with_home(copy(cloud.phase.env.home()));
    // The copy cannot end its copy of the run, so far.
    let sealed = copy.run_dir(&task.run_id).join("result.json");
    symlink("result.json", &sealed).unwrap();
    fs::create_dir(sealed.with_extension("json.damaged")).unwrap();
    copy.expect(0, &["status"]);
    assert_eq!(checker::rows(&copy.registry()).unwrap()[0].attempt, 1, "the copy started a supervisor");
    fs::remove_file(sealed).unwrap();
    is_left(&copy, &cloud.phase, &task);
    cloud.enter("READY");
    assert_eq!(cloud.wait(&task).code, Some(0));
    assert_eq!(cloud.accepted(), 1);
    cloud.is_complete(&task);
    cloud.close("copied home with a hosted job");
}

#[test]
fn the_copy_of_a_home_leaves_a_plan_to_the_original() {
    let (phase, task) = coordinator::running(2);
    let copy = TestEnv::with_home(copy(phase.env.home()));
    is_left(&copy, &phase, &task);
    coordinator::release(&phase);
    phase.env.expect(0, &["wait", &task.task_id]);
    coordinator::is_complete(&phase, &task);
    phase.close("copied home with a plan");
}

#[track_caller]
fn is_left(copy: &TestEnv, phase: &Phase, task: &Submitted) {
    copy.expect(0, &["status"]);
    let told = copy.expect(5, &["results", &task.task_id]).stdout;
    assert!(told.contains(&format!("copy of `{}`", phase.env.home().display())), "{told}");
    assert_eq!(kill::supervisors(copy.home()), [], "the copy started a supervisor");
    assert!(kill::supervisor_of(&phase.env.run_dir(&task.run_id)).is_some());
}

fn check_moved(moved: impl Fn(&Path, &Path)) {
    let phase = Phase::new();
    let done = phase.env.submit("echo done");
    assert_eq!(phase.env.await_final(&done.task_id), "completed");
    wait_for("the supervisor to go", PATIENCE, || {
        kill::supervisors(phase.env.home()).is_empty().then_some(())
    });
    phase.limit(0);
    let waits = phase.env.submit("echo $$ >>started");
    let to = phase.env.root().join("elsewhere");
    moved(phase.env.home(), &to);
    let there = TestEnv::with_home(to);
    there.expect(0, &["wait", &waits.task_id]);
    there.expect(0, &["results", &done.task_id]);
    let started = fs::read_to_string(phase.env.work().join("started")).unwrap();
    assert_eq!(started.lines().count(), 1);
}

#[test]
fn a_moved_home_goes_on_with_its_queue() {
    check_moved(|from, to| fs::rename(from, to).unwrap());
    // As to another disk, or from a backup.
    check_moved(|from, to| {
        fs::rename(copy(from), to).unwrap();
        fs::remove_dir_all(from).unwrap();
    });
}
