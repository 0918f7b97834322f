//! A `result.json` that is there before the supervisor seals its run: nobody believes it while the run
//! works, and the supervisor's own record takes its place and says so.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};

use serde_json::Value;

use crate::phase::Phase;
use crate::support::agent::playing;
use crate::support::env::{PATIENCE, Submitted, wait_for};

/// The record of a finished run, made out for another one.
fn forged(phase: &Phase, task: &Submitted) -> String {
    let model = phase.submit(&playing(&phase.env, "model", &["say model", "exit 0"]));
    phase.env.await_final(&model.task_id);
    let text = fs::read_to_string(phase.env.run_dir(&model.run_id).join("result.json")).unwrap();
    text.replace(&model.task_id, &task.task_id)
        .replace(&model.run_id, &task.run_id)
        .replace("model", "forged")
}

#[test]
fn a_result_that_somebody_planted_is_not_believed() {
    let phase = Phase::new();
    let (go, ready) = (phase.env.work().join("go"), phase.env.work().join("ready"));
    let steps =
        [&format!("touch {}", ready.display()), &format!("await {}", go.display()), "say honest", "exit 3"];
    let task = phase.submit(&playing(&phase.env, "agent", &steps));
    wait_for("the agent", PATIENCE, || ready.exists().then_some(()));
    let planted = phase.env.run_dir(&task.run_id).join("result.json");
    let forged = forged(&phase, &task);
    fs::write(&planted, &forged).unwrap();
    fs::set_permissions(&planted, fs::Permissions::from_mode(0o600)).unwrap();

    let id = task.task_id.as_str();
    for (args, exit) in
        [(&["status", id][..], 0), (&["wait", "--timeout", "0.2", id], 4), (&["results", id], 4)]
    {
        let told = phase.env.expect(exit, args).stdout;
        assert!(!told.contains("forged"), "{args:?}: {told}");
        assert_eq!(phase.row(&task).state, "working", "{args:?}");
    }
    // Nor does a registry that is made again from the directories.
    for name in ["registry.db", "registry.db-wal", "registry.db-shm"] {
        let _ = fs::remove_file(phase.env.home().join(name));
    }
    phase.env.expect(0, &["status"]);
    assert_eq!(phase.row(&task).state, "working");

    fs::write(&go, "").unwrap();
    assert_eq!(phase.env.await_final(id), "failed");
    let told = phase.env.expect(1, &["results", id]).stdout;
    assert!(told.contains("summary: exit 3: honest") && told.contains("result.json.foreign"), "{told}");
    let sealed: Value = serde_json::from_slice(&fs::read(&planted).unwrap()).unwrap();
    assert_eq!(sealed["exit"]["code"], 3, "{sealed:#}");
    let aside = planted.with_extension("json.foreign");
    assert_eq!(fs::read_to_string(aside).unwrap(), forged, "nothing is overwritten silently");
    phase.close("planted result");
}

/// Not even one that is no file, or was there before the supervisor began.
#[test]
fn a_directory_in_the_place_of_the_result_is_moved_away() {
    let phase = Phase::new();
    let (go, ready) = (phase.env.work().join("go"), phase.env.work().join("ready"));
    let steps = [&format!("touch {}", ready.display()), &format!("await {}", go.display()), "exit 0"];
    let task = phase.submit(&playing(&phase.env, "agent", &steps));
    wait_for("the agent", PATIENCE, || ready.exists().then_some(()));
    let place = phase.env.run_dir(&task.run_id).join("result.json/below");
    fs::DirBuilder::new().recursive(true).mode(0o700).create(place).unwrap();
    phase.env.expect(0, &["status", &task.task_id]);
    fs::write(&go, "").unwrap();
    assert_eq!(phase.env.await_final(&task.task_id), "completed");
    phase.close("planted directory");
}
