//! Runs inside runs: how deep they may go, and that they end with the run they
//! were started from, each with an end that says so.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::descendants::levels;
use crate::phase::Phase;
use crate::support::agent::playing;
use crate::support::env::{Submitted, wait_for};
use crate::support::kill::{self, Dice};

pub const SOON: Duration = Duration::from_secs(20);
const PROGRAM: &str = env!("CARGO_BIN_EXE_delegator");

/// A world in which runs may start runs, `depth` deep in all.
pub fn world(level: &str, depth: u32) -> Phase {
    let phase = Phase::new();
    configure(&phase, level, depth, 8);
    phase
}

pub fn configure(phase: &Phase, level: &str, depth: u32, limit: u32) {
    phase
        .env
        .configure(&format!("max_concurrent = {limit}\nmax_depth = {depth}\nkill_level = \"{level}\"\n"));
}

/// A command that is a shell script, so that it can call the program. It tells
/// the side that it has started, as a fake agent does.
pub fn script(phase: &Phase, name: &str, lines: &[String]) -> String {
    let path = phase.env.work().join(format!("{name}.sh"));
    let start = "echo $$ >> $FAKE_SIDE/${DELEGATOR_RUNS##*:}.starts";
    fs::write(&path, format!("{start}\n{}\n", lines.join("\n"))).unwrap();
    format!("exec /bin/sh {}", path.display())
}

/// A file of the world's working directory.
pub fn file(phase: &Phase, name: &str) -> PathBuf {
    phase.env.work().join(name)
}

pub fn until_there(path: &Path) -> String {
    format!("until [ -e {} ]; do sleep 0.01; done", path.display())
}

/// A line that hands in `task` as `name` and keeps the answer under that name.
pub fn hand_in(phase: &Phase, name: &str, task: &str) -> String {
    kept(phase, name, &format!("{PROGRAM} run --agent command --json --alias {name} '{task}'"))
}

/// A line that keeps what a command printed, all of it at once.
fn kept(phase: &Phase, name: &str, command: &str) -> String {
    let path = file(phase, name);
    format!("{command} > {path}.new 2>&1; mv {path}.new {path}", path = path.display())
}

/// What was kept under `name`, once it is there.
#[track_caller]
fn answer(phase: &Phase, name: &str) -> String {
    let path = file(phase, name);
    wait_for(&format!("the answer {name}"), SOON, || fs::read_to_string(&path).ok())
}

/// The task whose acknowledgement was kept under `name`.
#[track_caller]
pub fn handed_in(phase: &Phase, name: &str) -> Submitted {
    let answer = answer(phase, name);
    phase.note(&answer).unwrap_or_else(|| panic!("{name} was not taken in: {answer}"))
}

/// The agent of a run, once it has started.
#[track_caller]
pub fn agent_of(phase: &Phase, task: &Submitted) -> i32 {
    let starts = phase.env.side().join(format!("{}.starts", task.run_id));
    wait_for("an agent to start", SOON, || fs::read_to_string(&starts).ok()?.trim().parse().ok())
}

/// The parent of a process that is there.
pub fn parent(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}

/// Kills the supervisor of a run and waits until it is dead: before that, who
/// looks finds its lock held.
#[track_caller]
pub fn kill_supervisor(phase: &Phase, task: &Submitted) {
    let pid = kill::supervisor_of(&phase.env.run_dir(&task.run_id)).unwrap();
    kill::send(pid, libc::SIGKILL);
    wait_for("a supervisor to die", SOON, || (!kill::alive(pid)).then_some(()));
    phase.faults.fetch_add(1, Ordering::Relaxed);
}

/// The processes that wrote their numbers to a file.
#[track_caller]
pub fn written(path: &Path) -> Vec<i32> {
    let text = wait_for("numbers of processes", SOON, || fs::read_to_string(path).ok());
    text.lines().map(|line| line.parse().unwrap()).collect()
}

#[track_caller]
pub fn result(phase: &Phase, task: &Submitted) -> Value {
    let path = phase.env.run_dir(&task.run_id).join("result.json");
    let sealed = || serde_json::from_slice(&fs::read(&path).ok()?).ok();
    wait_for(&format!("{} to be sealed", task.task_id), SOON, sealed)
}

/// It was cancelled because `outer` ended, and says so.
#[track_caller]
fn assert_ended_with(phase: &Phase, inner: &Submitted, outer: &Submitted, level: &str) {
    let result = result(phase, inner);
    assert_eq!(result["outcome"]["state"], "cancelled", "{level}: {result:#}");
    let reason = result["outcome"]["reason"].as_str().unwrap_or_default();
    assert!(reason.contains(&outer.run_id), "{level}: the reason names the run around it: {reason}");
}

#[track_caller]
fn assert_gone(pids: &[i32], level: &str) {
    let left: Vec<i32> = pids.iter().copied().filter(|pid| kill::alive(*pid)).collect();
    assert!(left.is_empty(), "{level}: {left:?} are left");
}

/// An agent that has handed in another run, which leaves `pids` behind.
struct Family {
    outer: Submitted,
    inner: Submitted,
    /// Everything that belongs to the two, supervisor of the inner one included.
    pids: Vec<i32>,
}

/// Starts one run inside another. The outer one goes on as `then` says.
fn family(phase: &Phase, then: &str) -> Family {
    let left = file(phase, "left");
    let spawn = |kind: &str| format!("spawn {kind} {}", left.display());
    let steps = ["say one", &spawn("setsid"), &spawn("doublefork"), "hang"];
    let inner = playing(&phase.env, "inner", &steps);
    let lines = [hand_in(phase, "inner.json", &inner), then.to_owned()];
    let outer = phase.submit(&script(phase, "outer", &lines));
    let inner = handed_in(phase, "inner.json");
    let agent = agent_of(phase, &inner);
    wait_for("the inner agent's descendants", SOON, || (written(&left).len() == 2).then_some(()));
    let supervisor = kill::supervisor_of(&phase.env.run_dir(&inner.run_id)).unwrap();
    let pids = written(&left).into_iter().chain([agent, supervisor]).collect();
    Family { outer, inner, pids }
}

/// Tries to hand in a task and expects to be refused.
#[track_caller]
fn assert_refused(answer: &str, depth: u32) {
    let line = format!("a task may not be started from inside another one (depth {depth}, allowed {depth})");
    assert!(answer.contains(&line), "{answer}");
    assert!(answer.contains("max_depth"), "it says what to do about it: {answer}");
}

/// Hands in a task with nothing in the environment that tells of a run.
fn hand_in_unmarked(phase: &Phase, name: &str) -> String {
    let (home, config) = (phase.env.home().display(), phase.env.root().join("config"));
    let scrubbed = format!("env -i DELEGATOR_HOME={home} XDG_CONFIG_HOME={}", config.display());
    kept(phase, name, &format!("{scrubbed} {PROGRAM} run --agent command true"))
}

#[test]
fn by_default_a_run_starts_no_other() {
    let phase = Phase::new();
    let lines = [hand_in(&phase, "marked", "true"), hand_in_unmarked(&phase, "unmarked")];
    let outer = phase.submit(&script(&phase, "outer", &lines));
    assert_refused(&answer(&phase, "marked"), 1);
    assert_refused(&answer(&phase, "unmarked"), 1);
    assert_eq!(phase.env.await_final(&outer.task_id), "completed");
    // Nothing above us tells of a run, only the mark does.
    let mut command = phase.env.command(&["run", "--agent", "command", "true"]);
    let ran = command.env("DELEGATOR_RUNS", &outer.run_id).output().unwrap();
    assert_eq!(ran.status.code(), Some(2));
    assert_refused(&String::from_utf8_lossy(&ran.stderr), 1);
    assert_eq!(phase.rows().len(), 1, "nobody else was taken in");
    phase.close("depth 1");
}

#[test]
fn with_a_depth_of_two_a_run_starts_another_and_that_one_none() {
    for level in levels() {
        let phase = world(level, 2);
        let inner_lines = [hand_in(&phase, "marked", "true"), hand_in_unmarked(&phase, "unmarked")];
        let inner = script(&phase, "inner", &inner_lines);
        let wait = format!("{PROGRAM} wait inner.json >/dev/null");
        let lines = [hand_in(&phase, "inner.json", &inner), wait];
        let outer = phase.submit(&script(&phase, "outer", &lines));
        let inner = handed_in(&phase, "inner.json");
        assert_refused(&answer(&phase, "marked"), 2);
        assert_refused(&answer(&phase, "unmarked"), 2);
        assert_eq!(phase.env.await_final(&inner.task_id), "completed", "{level}");
        assert_eq!(phase.env.await_final(&outer.task_id), "completed", "{level}");
        assert_eq!(phase.rows().len(), 2, "{level}");
        phase.close(&format!("depth 2 at level {level}"));
    }
}

#[test]
fn a_cancelled_run_takes_the_runs_inside_it_along() {
    for level in levels() {
        let phase = world(level, 2);
        let Family { outer, inner, pids } = family(&phase, "sleep 600");
        phase.env.expect(0, &["cancel", &outer.task_id]);
        assert_eq!(phase.row(&outer).state, "cancelled", "{level}");
        let sealed = phase.env.run_dir(&inner.run_id).join("result.json").exists();
        assert!(sealed, "{level}: the inner one ended before");
        assert_eq!(phase.env.await_final(&inner.task_id), "cancelled", "{level}");
        assert_ended_with(&phase, &inner, &outer, level);
        assert_gone(&pids, level);
        phase.close(&format!("outer run cancelled at level {level}"));
    }
}

/// Nobody ends when asked to, so both runs are killed, and at the same time.
#[test]
fn a_run_that_has_to_be_killed_leaves_those_inside_it_to_their_supervisors() {
    for level in levels() {
        let phase = world(level, 2);
        let steps = ["ignore TERM", "say one", "hang"];
        let inner = playing(&phase.env, "inner", &steps);
        let lines =
            ["trap '' TERM".to_owned(), hand_in(&phase, "inner.json", &inner), "sleep 600".to_owned()];
        let outer = phase.submit(&script(&phase, "outer", &lines));
        let inner = handed_in(&phase, "inner.json");
        let agents = [agent_of(&phase, &outer), agent_of(&phase, &inner)];
        // It speaks once it ignores what it is about to be told.
        let said = phase.env.run_dir(&inner.run_id).join("stdout.log");
        wait_for("a word", SOON, || fs::read_to_string(&said).ok().filter(|said| said.contains("one")));
        phase.env.expect(0, &["cancel", &outer.task_id]);
        assert_eq!(phase.row(&outer).state, "cancelled", "{level}");
        assert_ended_with(&phase, &inner, &outer, level);
        assert_gone(&agents, level);
        assert_eq!(result(&phase, &inner)["exit"], json!({ "signal": libc::SIGKILL }), "{level}");
        phase.close(&format!("outer run killed at level {level}"));
    }
}

#[test]
fn a_run_that_ends_by_itself_takes_the_runs_inside_it_along() {
    for level in levels() {
        let phase = world(level, 2);
        let go = file(&phase, "go");
        let Family { outer, inner, pids } = family(&phase, &until_there(&go));
        fs::write(&go, "").unwrap();
        assert_eq!(phase.env.await_final(&outer.task_id), "completed", "{level}");
        assert_ended_with(&phase, &inner, &outer, level);
        assert_eq!(phase.row(&inner).state, "cancelled", "{level}: the inner one ended before");
        assert_gone(&pids, level);
        let warnings = result(&phase, &outer)["warnings"].to_string();
        assert!(warnings.contains("1 run started by this run ended with it"), "{level}: {warnings}");
        phase.close(&format!("outer run ended at level {level}"));
    }
}

/// Nobody but the two supervisors is there, and one of them is killed.
#[test]
fn a_run_whose_outer_supervisor_was_killed_ends_and_says_why() {
    for level in levels() {
        let phase = world(level, 2);
        let Family { outer, inner, pids } = family(&phase, "sleep 600");
        kill_supervisor(&phase, &outer);
        assert_ended_with(&phase, &inner, &outer, level);
        assert_eq!(phase.env.await_final(&inner.task_id), "cancelled", "{level}");
        assert_eq!(phase.env.await_final(&outer.task_id), "failed", "{level}: the inner one saw to it");
        assert_eq!(phase.row(&outer).code.as_deref(), Some("LOST"), "{level}");
        wait_for("every process to go", SOON, || pids.iter().all(|pid| !kill::alive(*pid)).then_some(()));
        phase.close(&format!("outer supervisor killed at level {level}"));
    }
}

/// As above, with somebody who looks at once and recovers the outer run.
#[test]
fn who_recovers_a_run_lets_the_runs_inside_it_say_how_they_ended() {
    for level in levels() {
        let phase = world(level, 2);
        let Family { outer, inner, pids } = family(&phase, "sleep 600");
        kill_supervisor(&phase, &outer);
        phase.env.expect(0, &["status", "--all"]);
        assert_eq!(phase.env.await_final(&outer.task_id), "failed", "{level}");
        assert_ended_with(&phase, &inner, &outer, level);
        assert_eq!(phase.env.await_final(&inner.task_id), "cancelled", "{level}");
        wait_for("every process to go", SOON, || pids.iter().all(|pid| !kill::alive(*pid)).then_some(()));
        phase.close(&format!("outer run recovered at level {level}"));
    }
}

/// Both the one that runs and the one that waits belong to the outer run.
#[test]
fn what_waits_in_the_queue_ends_with_the_run_it_was_started_from() {
    for level in levels() {
        let phase = world(level, 2);
        configure(&phase, level, 2, 2);
        let task = playing(&phase.env, "inner", &["say one", "hang"]);
        let lines = [
            hand_in(&phase, "first.json", &task),
            hand_in(&phase, "second.json", &task),
            "sleep 600".to_owned(),
        ];
        let outer = phase.submit(&script(&phase, "outer", &lines));
        let (first, second) = (handed_in(&phase, "first.json"), handed_in(&phase, "second.json"));
        agent_of(&phase, &first);
        assert_eq!(phase.row(&second).state, "pending", "{level}: there is no room for it");
        phase.env.expect(0, &["cancel", &outer.task_id]);
        for inner in [&first, &second] {
            assert_ended_with(&phase, inner, &outer, level);
            assert_eq!(phase.env.await_final(&inner.task_id), "cancelled", "{level}");
        }
        assert!(!phase.env.run_dir(&second.run_id).join("started.json").exists(), "{level}");
        phase.close(&format!("queue inside a run at level {level}"));
    }
}

/// Three deep: the innermost run belongs to both runs around it.
#[test]
fn a_run_inside_a_run_inside_a_run_ends_with_the_one_around_it() {
    for level in levels() {
        let phase = world(level, 3);
        let go = file(&phase, "go");
        let innermost = playing(&phase.env, "innermost", &["say one", "hang"]);
        let lines = [hand_in(&phase, "innermost.json", &innermost), until_there(&go)];
        let middle = script(&phase, "middle", &lines);
        let lines = [hand_in(&phase, "middle.json", &middle), "sleep 600".to_owned()];
        let outer = phase.submit(&script(&phase, "outer", &lines));
        let (middle, innermost) = (handed_in(&phase, "middle.json"), handed_in(&phase, "innermost.json"));
        let agent = agent_of(&phase, &innermost);
        fs::write(&go, "").unwrap();
        assert_eq!(phase.env.await_final(&middle.task_id), "completed", "{level}");
        assert_ended_with(&phase, &innermost, &middle, level);
        assert_gone(&[agent], level);
        assert_eq!(phase.row(&outer).state, "working", "{level}: the outermost run goes on");
        phase.env.expect(0, &["cancel", &outer.task_id]);
        phase.close(&format!("three deep at level {level}"));
    }
}

/// The supervisor of the inner run was killed, and the first who looks is left
/// over from that run, while the outer one goes on.
#[test]
fn who_is_left_over_from_a_killed_run_can_recover_it() {
    for level in levels() {
        let phase = world(level, 2);
        let (look, ready) = (file(&phase, "look"), file(&phase, "ready"));
        let looking =
            format!("touch {}; {}; {PROGRAM} status >/dev/null", ready.display(), until_there(&look));
        let lines = [format!("setsid sh -c '{looking}' &"), "sleep 600".to_owned()];
        let inner = script(&phase, "inner", &lines);
        let lines = [hand_in(&phase, "inner.json", &inner), "sleep 600".to_owned()];
        let outer = phase.submit(&script(&phase, "outer", &lines));
        let inner = handed_in(&phase, "inner.json");
        wait_for("somebody to be left over", SOON, || ready.exists().then_some(()));
        kill_supervisor(&phase, &inner);
        fs::write(&look, "").unwrap();
        // Nobody else looks: the rows are read, and no command is run.
        assert_eq!(phase.env.await_final(&inner.task_id), "failed", "{level}");
        assert_eq!(phase.row(&inner).code.as_deref(), Some("LOST"), "{level}");
        assert_eq!(phase.row(&outer).state, "working", "{level}: the outer run goes on");
        phase.env.expect(0, &["cancel", &outer.task_id]);
        phase.close(&format!("recovered from inside at level {level}"));
    }
}

/// The supervisors, without an agent that one of them has forked and that is
/// yet to be executed: until then it bears the supervisor's name.
fn supervisors_alone(home: &Path) -> Vec<(i32, String)> {
    let all = kill::supervisors(home);
    let forked = |(pid, dir): &(i32, String)| {
        parent(*pid).is_none_or(|parent| all.iter().any(|(other, of)| *other == parent && of == dir))
    };
    all.iter().filter(|one| !forked(one)).cloned().collect()
}

/// Supervisors of outer and inner runs die at any moment. Only their own runs
/// are lost, and no agent is ended in a way that its run cannot tell.
#[test]
fn kills_among_runs_inside_runs_lose_nobody_else() {
    for level in levels() {
        let phase = world(level, 2);
        let (mut dice, mut victims) = (Dice::new(0x1457), Vec::new());
        let go = file(&phase, "go");
        let inner =
            playing(&phase.env, "inner", &["say one", "spawn setsid", "pause 30", "say two", "exit 0"]);
        for round in 0..12 {
            let name = format!("inner-{round}.json");
            let lines = [hand_in(&phase, &name, &inner), until_there(&go)];
            phase.submit(&script(&phase, &format!("outer-{round}"), &lines));
            // Any moment will do: there is no state to wait for.
            thread::sleep(Duration::from_micros(dice.below(80_000)));
            let supervisors = supervisors_alone(phase.env.home());
            if !supervisors.is_empty() {
                let (pid, dir) = &supervisors[dice.below(supervisors.len() as u64) as usize];
                kill::send(*pid, libc::SIGKILL);
                victims.push(PathBuf::from(dir));
                phase.faults.fetch_add(1, Ordering::Relaxed);
            }
        }
        fs::write(&go, "").unwrap();
        phase.settle();
        for row in phase.rows() {
            let dir = phase.env.run_dir(&row.run_id);
            let killed = victims.contains(&dir);
            let expected = row.code.is_none() || killed && row.code.as_deref() == Some("LOST");
            let result = fs::read_to_string(dir.join("result.json")).unwrap();
            assert!(expected, "{level}: {}, killed: {killed}: {result}", dir.display());
        }
        phase.close(&format!("kills among runs inside runs at level {level}"));
    }
}

#[test]
fn a_task_from_inside_a_run_that_has_ended_is_cancelled_at_once() {
    let phase = world("subreaper", 2);
    let brief = playing(&phase.env, "brief", &["exit 0"]);
    let outer = phase.submit(&brief);
    assert_eq!(phase.env.await_final(&outer.task_id), "completed");
    let mut command = phase.env.command(&["run", "--agent", "command", "--json", "true"]);
    let ran = command.env("DELEGATOR_RUNS", &outer.run_id).output().unwrap();
    let late = phase.note(&String::from_utf8_lossy(&ran.stdout)).unwrap();
    assert_ended_with(&phase, &late, &outer, "subreaper");
    assert_eq!(phase.env.await_final(&late.task_id), "cancelled");
    assert!(!phase.env.run_dir(&late.run_id).join("started.json").exists());
    phase.close("late submission");
}

/// The supervisor of the inner run cannot answer: the outer one does not wait
/// for ever, nothing is left, and nobody says more than is known.
#[test]
fn an_inner_supervisor_that_does_not_answer_is_ended_after_a_while() {
    let phase = world("subreaper", 2);
    let Family { outer, inner, pids } = family(&phase, "sleep 600");
    let supervisor = kill::supervisor_of(&phase.env.run_dir(&inner.run_id)).unwrap();
    kill::send(supervisor, libc::SIGSTOP);
    wait_for("it to stop", SOON, || (kill::state(supervisor) == Some(b'T')).then_some(()));
    phase.faults.fetch_add(1, Ordering::Relaxed);
    let began = Instant::now();
    let mut cancel = phase.env.command(&["cancel", &outer.task_id]);
    let cancel = cancel.stdout(Stdio::null()).status().unwrap();
    assert_eq!(cancel.code(), Some(4), "it says that the run has not ended yet");
    assert_eq!(phase.env.await_final(&outer.task_id), "cancelled");
    println!("a deaf supervisor inside held up the run for {:?}", began.elapsed());
    assert_gone(&pids, "subreaper");
    assert_eq!(phase.env.await_final(&inner.task_id), "failed");
    assert_eq!(phase.row(&inner).code.as_deref(), Some("LOST"));
    phase.close("deaf inner supervisor");
}
