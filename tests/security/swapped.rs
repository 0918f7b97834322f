//! A directory that is swapped for a link between the check and the start of the agent, or while it works.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::{thread, time::Duration};

use serde_json::json;

use crate::world::World;

const RUNS: usize = 50;

/// Once a run has written its command line, its directory leads elsewhere.
fn swap_when_checked(runs: &Path, place: &Path, elsewhere: &Path, done: &AtomicBool) {
    let aside = place.with_extension("aside");
    let mut seen: Vec<PathBuf> = Vec::new();
    while !done.load(Ordering::Acquire) {
        for run in fs::read_dir(runs).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if seen.contains(&run) || !run.join("command.json").exists() {
                continue;
            }
            fs::rename(place, &aside).unwrap();
            symlink(elsewhere, place).unwrap();
            while !run.join("result.json").exists() && !done.load(Ordering::Acquire) {
                thread::sleep(Duration::from_millis(1));
            }
            fs::remove_file(place).unwrap();
            fs::rename(&aside, place).unwrap();
            seen.push(run);
        }
    }
}

#[track_caller]
fn attack(ask: serde_json::Value) {
    let world = World::new();
    // Tells where it begins, and whether the directory is the one that was meant.
    let codex = fs::read_to_string(world.path("bin/codex")).unwrap();
    let told = format!("[ -e inside ] || pwd -P >> '{}'\ncat > /dev/null", world.text("side/outside"));
    world.script("bin/codex", &codex.replace("cat > /dev/null", &told));
    fs::write(world.path("project/inside"), "").unwrap();
    fs::write(world.path("project/below/inside"), "").unwrap();
    fs::create_dir_all(world.path("state/runs")).unwrap();
    let mut client = world.client();
    let (runs, place, elsewhere) =
        (world.path("state/runs"), world.path("project/below"), world.path("other"));
    let done = AtomicBool::new(false);
    let mut ends = Vec::new();
    thread::scope(|scope| {
        let attacker = scope.spawn(|| swap_when_checked(&runs, &place, &elsewhere, &done));
        for _ in 0..RUNS {
            let task = client.call("delegate_run", ask.clone()).task();
            let row = world.ended(&task);
            ends.push((row, world.run_file(&task, "result.json")["outcome"].to_string()));
            // The attacker puts it back once it has seen the end.
            crate::world::wait_for("the directory", || place.join("inside").exists().then_some(()));
        }
        done.store(true, Ordering::Release);
        attacker.join().unwrap();
    });
    let mut refused = 0;
    for (row, told) in ends.iter().filter(|(row, _)| row.state == "failed") {
        assert_eq!(row.code.as_deref(), Some("SANDBOX"));
        let before = told.contains("was replaced after it was checked");
        assert!(before || told.contains("was replaced while the agent worked"), "{told}");
        assert!(told.contains("hint"), "{told}");
        refused += usize::from(before);
    }
    let outside = fs::read_to_string(world.path("side/outside")).unwrap_or_default();
    println!("swapped: {refused} of {RUNS} refused, {} began outside", outside.lines().count());
    assert_eq!(outside, "", "began outside of the project");
    assert!(refused > 0);
}

#[test]
fn no_run_begins_outside_when_its_directory_is_swapped() {
    attack(
        json!({ "task": "look", "cwd": "below", "sandbox": "workspace-write", "skip_git_repo_check": true }),
    );
}

#[test]
fn no_run_begins_when_a_further_directory_is_swapped() {
    attack(json!({ "task": "look", "sandbox": "workspace-write", "options": { "add_dirs": ["below"] } }));
}

/// The agent itself moves `below` aside and puts a link to another repository in its place.
#[track_caller]
fn swapped_by_the_agent(ask: serde_json::Value) {
    let world = World::new();
    let codex = fs::read_to_string(world.path("bin/codex")).unwrap();
    let (place, other) = (world.text("project/below"), world.text("other"));
    let swap = format!(
        "cat > /dev/null\nmv '{place}' '{place}.aside'; ln -s '{other}' '{place}'; : > '{place}'/later"
    );
    world.script("bin/codex", &codex.replace("cat > /dev/null", &swap));
    let task = world.client().call("delegate_run", ask).task();
    let row = world.ended(&task);
    assert_eq!((row.state.as_str(), row.code.as_deref()), ("failed", Some("SANDBOX")));
    let result = world.person(&["results", &task]);
    let told = result["data"]["metadata"]["error_context"]["error_message"].as_str().unwrap_or_default();
    assert!(told.contains(&format!("`{place}` was replaced while the agent worked")), "{result}");
    let said = result["data"]["output"]["stdout"].as_str().unwrap_or_default();
    assert!(said.contains("says: done"), "{result}");
    assert!(world.path("other/later").exists());
}

#[test]
fn a_run_whose_directory_is_swapped_while_its_agent_works_fails() {
    swapped_by_the_agent(
        json!({ "task": "look", "cwd": "below", "sandbox": "workspace-write", "skip_git_repo_check": true }),
    );
}

#[test]
fn a_run_whose_further_directory_is_swapped_while_its_agent_works_fails() {
    swapped_by_the_agent(
        json!({ "task": "look", "sandbox": "workspace-write", "options": { "add_dirs": ["below"] } }),
    );
}
