//! A run that merely waited in the queue owes nothing to the run whose
//! supervisor started it: it survives that one's end, at every level, and so
//! does everything it has started.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::descendants::levels;
use crate::nested::{
    SOON, agent_of, configure, file, handed_in, kill_supervisor, parent, script, until_there, world, written,
};
use crate::phase::Phase;
use crate::support::agent::playing;
use crate::support::env::{Submitted, wait_for};
use crate::support::kill;

const PROGRAM: &str = env!("CARGO_BIN_EXE_delegator");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    ByItself,
    Cancelled,
    Killed,
}

fn supervisor(phase: &Phase, task: &Submitted) -> i32 {
    kill::supervisor_of(&phase.env.run_dir(&task.run_id)).unwrap()
}

/// A run with descendants that try to get away, which ends when told to.
struct Bystander {
    task: Submitted,
    go: PathBuf,
    left: PathBuf,
}

impl Bystander {
    fn hand_in(phase: &Phase, name: &str) -> Bystander {
        let (go, left) = (file(phase, &format!("{name}.go")), file(phase, &format!("{name}.left")));
        let spawn = |kind: &str| format!("spawn {kind} {}", left.display());
        let wait = format!("await {}", go.display());
        let steps = ["say one", &spawn("setsid"), &spawn("doublefork"), &wait, "say two", "exit 0"];
        let task = phase.submit(&playing(&phase.env, name, &steps));
        Bystander { task, go, left }
    }

    /// Waits until all of it is there.
    #[track_caller]
    fn processes(&self, phase: &Phase) -> Vec<i32> {
        let agent = agent_of(phase, &self.task);
        wait_for("the bystander's descendants", SOON, || (written(&self.left).len() == 2).then_some(()));
        let others = [agent, supervisor(phase, &self.task)];
        written(&self.left).into_iter().chain(others).collect()
    }

    /// Lets it end: it was not harmed.
    #[track_caller]
    fn finish(&self, phase: &Phase, what: &str) {
        fs::write(&self.go, "").unwrap();
        assert_eq!(phase.env.await_final(&self.task.task_id), "completed", "{what}");
    }
}

#[track_caller]
fn assert_alive(pids: &[i32], what: &str) {
    let dead: Vec<i32> = pids.iter().copied().filter(|pid| !kill::alive(*pid)).collect();
    assert!(dead.is_empty(), "{what}: {dead:?} of {pids:?} were ended");
}

/// Neither the mark of a run nor its control group.
#[track_caller]
fn assert_inherits_nothing(pid: i32, run: &str) {
    for file in ["environ", "cgroup"] {
        let bytes = fs::read(format!("/proc/{pid}/{file}")).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(run), "{file} of a bystander names the run that started it: {text}");
    }
}

#[track_caller]
fn end(phase: &Phase, outer: &Submitted, end: End, go: &PathBuf) {
    let expected = match end {
        End::ByItself => {
            fs::write(go, "").unwrap();
            "completed"
        }
        End::Cancelled => {
            phase.env.expect(0, &["cancel", &outer.task_id]);
            "cancelled"
        }
        End::Killed => {
            kill_supervisor(phase, outer);
            phase.env.expect(0, &["status", "--all"]);
            "failed"
        }
    };
    assert_eq!(phase.env.await_final(&outer.task_id), expected);
}

/// Two bystanders: the first is started by the outer run's supervisor, since
/// somebody inside that run looked; the second when the first has ended.
fn check(outer_level: &str, level: &str, how: End) {
    let what = format!("{outer_level} around {level}, {how:?}");
    let phase = world(outer_level, 2);
    configure(&phase, outer_level, 2, 1);
    let (look, go) = (file(&phase, "look"), file(&phase, "go"));
    let lines =
        [until_there(&look), format!("{PROGRAM} status >/dev/null"), until_there(&go), "exit 0".to_owned()];
    let outer = phase.submit(&script(&phase, "outer", &lines));
    configure(&phase, level, 2, 1);
    let [first, second] = ["first", "second"].map(|name| Bystander::hand_in(&phase, name));
    assert_eq!(phase.row(&first.task).state, "pending", "{what}");
    let outer_supervisor =
        wait_for("the outer supervisor", SOON, || kill::supervisor_of(&phase.env.run_dir(&outer.run_id)));
    configure(&phase, level, 2, 2);
    fs::write(&look, "").unwrap();
    first.processes(&phase);
    assert_eq!(
        parent(supervisor(&phase, &first.task)),
        Some(outer_supervisor),
        "{what}: it was asked to start it"
    );

    // One that is started in its turn comes to the outer supervisor as well.
    first.finish(&phase, &what);
    let processes = second.processes(&phase);
    assert_eq!(
        parent(supervisor(&phase, &second.task)),
        Some(outer_supervisor),
        "{what}: it was asked again"
    );
    assert_inherits_nothing(supervisor(&phase, &second.task), &outer.run_id);
    end(&phase, &outer, how, &go);
    wait_for("the outer supervisor to go", SOON, || (!kill::alive(outer_supervisor)).then_some(()));
    assert_alive(&processes, &what);
    second.finish(&phase, &what);
    phase.close(&what);
}

fn check_all(how: End) {
    for outer in levels() {
        // Marks find the least, so most of what is marked comes to others.
        let mut inner = vec![outer, "marker"];
        inner.dedup();
        inner.into_iter().for_each(|level| check(outer, level, how));
    }
}

#[test]
fn a_bystander_survives_the_end_of_the_run_that_started_it() {
    check_all(End::ByItself);
}

#[test]
fn a_bystander_survives_the_cancelling_of_the_run_that_started_it() {
    check_all(End::Cancelled);
}

#[test]
fn a_bystander_survives_the_death_of_the_supervisor_that_started_it() {
    check_all(End::Killed);
}

/// Started by the last thing that a supervisor does.
#[test]
fn a_bystander_survives_the_supervisor_that_had_ended_its_run() {
    for level in levels() {
        let phase = world(level, 1);
        configure(&phase, level, 1, 1);
        let go = file(&phase, "go");
        let wait = format!("await {}", go.display());
        let steps = ["say one", "spawn setsid", &wait, "exit 0"];
        let ending = phase.submit(&playing(&phase.env, "ending", &steps));
        let bystander = Bystander::hand_in(&phase, "bystander");
        let starter =
            wait_for("the supervisor", SOON, || kill::supervisor_of(&phase.env.run_dir(&ending.run_id)));
        fs::write(&go, "").unwrap();
        assert_eq!(phase.env.await_final(&ending.task_id), "completed", "{level}");
        let processes = bystander.processes(&phase);
        wait_for("the first supervisor to go", SOON, || (!kill::alive(starter)).then_some(()));
        assert_alive(&processes, level);
        bystander.finish(&phase, level);
        phase.close(&format!("next in the queue at level {level}"));
    }
}

/// Its supervisor was killed, and somebody that it had started looks before
/// anybody else does: recovers the run it is left over from, then starts the next.
#[test]
fn a_bystander_survives_the_sweep_of_the_run_that_its_starter_is_left_over_from() {
    for level in levels() {
        let phase = world(level, 1);
        configure(&phase, level, 1, 1);
        let (look, ready) = (file(&phase, "look"), file(&phase, "ready"));
        let looking =
            format!("touch {}; {}; {PROGRAM} status >/dev/null", ready.display(), until_there(&look));
        let lines = [format!("setsid sh -c '{looking}' &"), "sleep 600".to_owned()];
        let lost = phase.submit(&script(&phase, "lost", &lines));
        let bystander = Bystander::hand_in(&phase, "bystander");
        wait_for("somebody to be left over", SOON, || ready.exists().then_some(()));
        kill_supervisor(&phase, &lost);
        fs::write(&look, "").unwrap();
        let processes = bystander.processes(&phase);
        assert_eq!(phase.row(&lost).code.as_deref(), Some("LOST"), "{level}: it was recovered first");
        phase.env.expect(0, &["status", "--all"]);
        assert_alive(&processes, level);
        bystander.finish(&phase, level);
        phase.close(&format!("left over from a killed run at level {level}"));
    }
}

/// A run that was started for the queue by another run's supervisor is not
/// inside that run: it has its own depth to use up, and what it starts is its own.
#[test]
fn a_bystander_is_as_deep_as_it_was_handed_in() {
    for level in levels() {
        let phase = world(level, 2);
        configure(&phase, level, 2, 1);
        let (look, go, done) = (file(&phase, "look"), file(&phase, "go"), file(&phase, "done"));
        let lines = [until_there(&look), format!("{PROGRAM} status >/dev/null"), until_there(&go)];
        let outer = phase.submit(&script(&phase, "outer", &lines));
        let inner =
            playing(&phase.env, "inner", &["say one", &format!("await {}", done.display()), "exit 0"]);
        let lines =
            [crate::nested::hand_in(&phase, "inner.json", &inner), until_there(&file(&phase, "last"))];
        let bystander = phase.submit(&script(&phase, "bystander", &lines));
        configure(&phase, level, 2, 3);
        fs::write(&look, "").unwrap();
        let inner = handed_in(&phase, "inner.json");
        let agent = agent_of(&phase, &inner);
        fs::write(&go, "").unwrap();
        assert_eq!(phase.env.await_final(&outer.task_id), "completed", "{level}");
        assert_alive(&[agent], level);
        let path = phase.env.run_dir(&inner.run_id).join("request.json");
        let request: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        assert_eq!(request["within"], json!([bystander.run_id]), "{level}");
        fs::write(&done, "").unwrap();
        assert_eq!(phase.env.await_final(&inner.task_id), "completed", "{level}");
        fs::write(file(&phase, "last"), "").unwrap();
        assert_eq!(phase.env.await_final(&bystander.task_id), "completed", "{level}");
        phase.close(&format!("depth of a bystander at level {level}"));
    }
}
