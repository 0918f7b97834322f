//! `kill -9` of whoever submits and of whoever supervises, at any moment.
//!
//! What each kill struck is told from the disk right after it. Random moments
//! rarely hit the narrow windows, so chosen system calls fill them up.

use std::collections::BTreeMap;
use std::fs;
use std::process::Stdio;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use crate::claim::claim;
use crate::crash::crash;
use crate::phase::Phase;
use crate::scene::Scene;
use crate::support::agent::playing;
use crate::support::env::{Submitted, wait_for};
use crate::support::kill::{self, Dice, Window, window};
use crate::support::strace::Point;
use crate::windows::kill_submitters;

const SUBMITTERS: usize = 110;
const SUPERVISORS: usize = 55;
/// Of each window, at least.
const ENOUGH: usize = 10;

/// How many kills struck which window.
pub type Windows = BTreeMap<Window, usize>;

#[test]
fn a_killed_submitter_loses_nothing_that_it_acknowledged() {
    let phase = Phase::new();
    let task = playing(&phase.env, "brief", &["say one", "say two", "exit 0"]);
    let mut windows = Windows::new();
    let mut dice = Dice::new(0x5eed);
    let took = duration_of_a_submission(&phase, &task);
    let mut number = 0;
    while phase.faults.load(Ordering::Relaxed) < SUBMITTERS {
        number += 1;
        assert!(number < 20 * SUBMITTERS, "too few of {number} kills came in time");
        let alias = format!("random-{number}");
        let delay = Duration::from_micros(dice.below(took.as_micros() as u64));
        if kill_a_submitter_after(delay, &phase, &task, &alias) {
            let struck = window(phase.env.home(), |row| row.alias.as_ref() == Some(&alias));
            *windows.entry(struck).or_default() += 1;
        }
    }
    println!("submitters killed={}, windows={windows:?}", phase.faults.load(Ordering::Relaxed));
    phase.close("submitters");
}

/// Also while its run has been sealed already, before it could say so.
#[test]
fn a_submitter_killed_in_any_window_loses_nothing() {
    let scene = Scene::new(4, &["say one", "await GO", "say two", "exit 0"]);
    let mut windows = Windows::new();
    let wanted = [Window::BeforeCommit, Window::AfterCommit, Window::AfterSpawn, Window::AfterSeal];
    for window in wanted {
        kill_submitters(&scene, window, ENOUGH, &mut windows);
    }
    expect(&windows, &wanted);
    println!("submitters killed={}, windows={windows:?}", scene.phase.faults.load(Ordering::Relaxed));
    scene.phase.close("submitters in chosen windows");
}

/// Enters the acknowledgement, if the whole of it was printed. Returns whether
/// the kill came in time.
fn kill_a_submitter_after(delay: Duration, phase: &Phase, task: &str, alias: &str) -> bool {
    let mut command = phase.env.command(&["run", "--agent", "command", "--json", "--alias", alias, task]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    // The moment is the point: there is no state to wait for.
    thread::sleep(delay);
    child.kill().unwrap();
    let output = child.wait_with_output().unwrap();
    let killed = output.status.code().is_none();
    phase.faults.fetch_add(usize::from(killed), Ordering::Relaxed);
    phase.note(&String::from_utf8_lossy(&output.stdout));
    killed
}

fn duration_of_a_submission(phase: &Phase, task: &str) -> Duration {
    phase.submit(task);
    let began = Instant::now();
    for _ in 0..5 {
        phase.submit(task);
    }
    began.elapsed() / 5
}

#[test]
fn a_killed_supervisor_leaves_one_honest_end_and_no_process() {
    let phase = Phase::new();
    let mut windows = Windows::new();
    kill_at_random(&phase, &mut windows);
    phase.settle();
    kill_at_chosen_calls(&phase, &mut windows);
    expect(&windows, &[Window::AfterCommit, Window::AfterSpawn, Window::AfterSeal]);
    println!("supervisors killed={}, windows={windows:?}", phase.faults.load(Ordering::Relaxed));
    phase.close("supervisors");
}

/// Without anybody who could sweep up after it.
#[test]
fn a_killed_supervisor_takes_its_agent_along() {
    let phase = Phase::new();
    let task = phase.submit(&playing(&phase.env, "endless", &["ignore TERM", "say one", "hang"]));
    let starts = phase.env.side().join(format!("{}.starts", task.run_id));
    let agent = || fs::read_to_string(&starts).ok()?.trim().parse::<i32>().ok();
    let agent = wait_for("the agent to start", Duration::from_secs(20), agent);
    kill::send(kill::supervisor_of(&phase.env.run_dir(&task.run_id)).unwrap(), libc::SIGKILL);
    wait_for("the agent to die", Duration::from_secs(2), || (!kill::alive(agent)).then_some(()));
    assert_eq!(phase.row(&task).state, "working", "nobody has looked yet");
    phase.faults.fetch_add(1, Ordering::Relaxed);
    phase.close("orphaned agent");
}

fn kill_at_random(phase: &Phase, windows: &mut Windows) {
    let task = playing(
        &phase.env,
        "slow",
        &["say one", "spawn setsid", "pause 20", "say two", "pause 20", "exit 0"],
    );
    let mut dice = Dice::new(0xd1ce);
    let mut number = 0;
    while phase.faults.load(Ordering::Relaxed) < SUPERVISORS {
        number += 1;
        assert!(number < 20 * SUPERVISORS, "too few of {number} kills came in time");
        let submitted = phase.submit(&task);
        // As above: any moment will do.
        thread::sleep(Duration::from_micros(dice.below(60_000)));
        let Some(pid) = kill::supervisor_of(&phase.env.run_dir(&submitted.run_id)) else { continue };
        kill::send(pid, libc::SIGKILL);
        wait_for("the supervisor to be gone", Duration::from_secs(5), || (!kill::alive(pid)).then_some(()));
        phase.faults.fetch_add(1, Ordering::Relaxed);
        *windows.entry(window(phase.env.home(), |row| row.id == submitted.task_id)).or_default() += 1;
    }
}

/// Between claim and start, and between seal and row.
fn kill_at_chosen_calls(phase: &Phase, windows: &mut Windows) {
    phase.limit(0);
    let task = playing(&phase.env, "brief", &["say one", "exit 0"]);
    let tasks: Vec<Submitted> = (0..61).map(|_| phase.submit(&task)).collect();
    let first = claim(phase, &tasks[0]);
    let (ran, points) = phase.points_of(|tracer| first.supervise(phase, tracer));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    drop(first);
    let renamed = |name: &str| {
        // The last one: what somebody planted is moved aside before.
        points.iter().rposition(|point| point.call.starts_with("rename") && point.text.contains(name))
    };
    let started = renamed("started.json").expect("started.json is renamed into place");
    let sealed = renamed("result.json").expect("result.json is renamed into place");
    let chosen = spread(&points[..started]).chain(points[sealed + 1..].iter().take(40));
    for (point, submitted) in chosen.zip(&tasks[1..]) {
        let claimed = claim(phase, submitted);
        let ran = crash(phase, point, |tracer| claimed.supervise(phase, tracer));
        let struck = window(phase.env.home(), |row| row.id == submitted.task_id);
        *windows.entry(struck).or_default() += usize::from(ran.at.is_some());
    }
}

/// Twenty of them, evenly.
fn spread(points: &[Point]) -> impl Iterator<Item = &Point> {
    points.iter().step_by((points.len() / 20).max(1)).take(20)
}

#[track_caller]
fn expect(windows: &Windows, wanted: &[Window]) {
    for one in wanted {
        assert!(windows.get(one) >= Some(&ENOUGH), "too few kills {one:?}: {windows:?}");
    }
}
