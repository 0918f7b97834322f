//! Commits in other working trees of the repository: whose they are.

use std::fs;

use serde_json::Value;

use crate::support::env::{PATIENCE, wait_for};
use crate::world::{Done, World};

const SOME: &str = "echo a >a; echo b >b; git add -A; git commit -qm first";

fn subjects(evidence: &Value) -> Vec<&str> {
    let commits = evidence["files"]["commits"].as_array().map(Vec::as_slice).unwrap_or_default();
    commits.iter().map(|commit| commit["subject"].as_str().unwrap()).collect()
}

fn gaps(done: &Done) -> Vec<&str> {
    let gaps = done.files()["incomplete"].as_array().map(Vec::as_slice).unwrap_or_default();
    gaps.iter().map(|gap| gap.as_str().unwrap()).collect()
}

#[test]
fn what_was_committed_there_on_a_branch_that_was_left_again_is_theirs() {
    let world = World::new(SOME);
    world.shell("git worktree add -q ../side/other -b other");
    let theirs = "git -C ../side/other checkout -qb x; git -C ../side/other commit -q --allow-empty -m theirs; \
                  git -C ../side/other checkout -q other";
    let done = world.run(&format!("echo x >>a; {theirs}; git commit -qam mine"));
    assert_eq!(subjects(&done.evidence), ["mine"], "{:#}", done.evidence);
    // They go on from ours, which is ours all the same.
    let done = world.run(
        "git commit -q --allow-empty -m second; git -C ../side/other merge -q --no-edit main; \
         git -C ../side/other commit -q --allow-empty -m on; git -C ../side/other checkout -q --detach main",
    );
    assert_eq!(subjects(&done.evidence), ["second"], "{:#}", done.evidence);
}

#[test]
fn what_was_committed_there_is_theirs_wherever_else_it_is_taken() {
    let world = World::new(SOME);
    world.shell("git worktree add -q ../side/other -b other");
    let done = world.run(
        "git -C ../side/other commit -q --allow-empty -m theirs; git merge -q --ff-only other; \
         git commit -q --allow-empty -m mine; git -C ../side/other merge -q --ff-only main",
    );
    assert_eq!(subjects(&done.evidence), ["mine"], "{:#}", done.evidence);
}

#[test]
fn a_tree_that_the_run_made_is_its_own() {
    let world = World::new(SOME);
    let commit = "git -C ../side/mine commit -q --allow-empty -m work";
    let done = world.run(&format!("git worktree add -q ../side/mine -b feat; {commit}"));
    assert_eq!(subjects(&done.evidence), ["work"], "{:#}", done.evidence);
    let tree = fs::canonicalize(world.env.side()).unwrap().join("mine");
    let gap = format!(
        "in working trees created during the run only commits were looked at, not files: {}",
        tree.display()
    );
    assert_eq!(gaps(&done), [gap]);
    // By the next run it is somebody else's, as any that it finds.
    let done = world.run(commit);
    assert_eq!((subjects(&done.evidence), gaps(&done)), (vec![], vec![]), "{:#}", done.evidence);
    let done = world
        .run("git worktree add -q --detach ../side/loose; git -C ../side/loose commit -q --allow-empty -m l");
    assert_eq!(subjects(&done.evidence), ["l"], "{:#}", done.evidence);
}

#[test]
fn a_new_tree_in_which_another_run_works_is_not_this_ones() {
    let world = World::new(SOME);
    let env = &world.env;
    let side = env.side().display().to_string();
    let run = env.submit(&format!("touch {side}/began; while ! test -e {side}/end; do sleep 0.02; done"));
    wait_for("its agent", PATIENCE, || env.side().join("began").exists().then_some(()));
    world.shell(
        "git config user.name d; git config user.email d@e; git worktree add -q ../side/theirs -b theirs",
    );
    let other =
        env.submit_with(&["--cwd", &format!("{side}/theirs")], "git commit -q --allow-empty -m theirs");
    assert_eq!(env.await_final(&other.task_id), "completed");
    fs::write(env.side().join("end"), "").unwrap();
    assert_eq!(env.await_final(&run.task_id), "completed");
    let evidence = |run: &str| -> Value {
        serde_json::from_slice(&fs::read(env.run_dir(run).join("evidence.json")).unwrap()).unwrap()
    };
    assert_eq!(subjects(&evidence(&other.run_id)), ["theirs"]);
    let evidence = evidence(&run.run_id);
    assert_eq!((subjects(&evidence), evidence["files"].get("incomplete")), (vec![], None), "{evidence:#}");
}
