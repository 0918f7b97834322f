//! Runs that share a checkout name each other.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::env::{PATIENCE, Submitted, TestEnv, acknowledged, wait_for};
use crate::world::World;

const SOME: &str = "echo a >a; echo b >b; git add -A; git commit -qm first";

fn named(env: &TestEnv, run: &Submitted) -> Vec<String> {
    let evidence = fs::read(env.run_dir(&run.run_id).join("evidence.json")).unwrap();
    let evidence: Value = serde_json::from_slice(&evidence).unwrap();
    let others = evidence["files"]["overlapped_with"].as_array().cloned().unwrap_or_default();
    others.iter().map(|other| other["task_id"].as_str().unwrap().to_owned()).collect()
}

/// A task that tells `name.began`, and ends when `name.end` is there.
fn waits(env: &TestEnv, name: &str) -> String {
    let side = env.side().display().to_string();
    format!(
        "echo {name} >>{name}; touch {side}/{name}.began; while ! test -e {side}/{name}.end; do sleep 0.02; done"
    )
}

/// The same of a Codex, which writes nothing.
fn codex(env: &TestEnv, name: &str) -> String {
    let side = env.side().display().to_string();
    format!(
        r#"echo '{{"type":"thread.started","thread_id":"01a1de11-e775-7fc2-8102-000000000001"}}'
echo '{{"type":"turn.started"}}'
touch {side}/{name}.began; while ! test -e {side}/{name}.end; do sleep 0.02; done
echo '{{"type":"item.completed","item":{{"id":"4","type":"agent_message","text":"done"}}}}'
echo '{{"type":"turn.completed","usage":{{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}}}'
"#
    )
}

fn has_begun(env: &TestEnv, name: &str) {
    wait_for(name, PATIENCE, || env.side().join(format!("{name}.began")).exists().then_some(()));
}

fn end(env: &TestEnv, run: &Submitted, name: &str) {
    fs::write(env.side().join(format!("{name}.end")), "").unwrap();
    assert_eq!(env.await_final(&run.task_id), "completed");
}

#[test]
fn two_runs_in_one_checkout_name_each_other_and_a_third_elsewhere_is_not_named() {
    let world = World::new(SOME);
    let env = &world.env;
    world.shell("git worktree add -q ../up/other");
    let first = env.submit(&waits(env, "first"));
    has_begun(env, "first");
    let elsewhere = env.submit_with(&["--cwd", "../up/other"], &waits(env, "elsewhere"));
    has_begun(env, "elsewhere");
    let second = env.submit(&waits(env, "second"));
    has_begun(env, "second");
    // It is over before the first is.
    end(env, &second, "second");
    end(env, &first, "first");
    end(env, &elsewhere, "elsewhere");
    assert_eq!(named(env, &first), [second.task_id.as_str()]);
    assert_eq!(named(env, &second), [first.task_id.as_str()]);
    assert_eq!(named(env, &elsewhere), [] as [&str; 0]);
    let results = env.json(&["results", &first.task_id, "--json"]);
    let operations = &results["data"]["metadata"]["file_operations"];
    assert_eq!(operations["overlapped_with"][0], second.task_id.as_str(), "{results:#}");
    let text = world.text(&["results", &first.task_id]);
    assert!(
        text.contains(&format!("(git; includes changes that {} made at the same time)\n", second.task_id)),
        "{text}"
    );
    // Nobody is there any more.
    let left = fs::read_dir(env.home().join("checkouts")).unwrap().count();
    assert_eq!(left, 0);
}

#[test]
fn runs_one_after_the_other_do_not_name_each_other() {
    let world = World::new(SOME);
    let done = world.run("echo x >>a");
    assert_eq!(done.files().get("overlapped_with"), None);
    let done = world.run("echo y >>a");
    assert_eq!(done.files().get("overlapped_with"), None);
}

#[test]
fn a_run_that_was_killed_is_not_named_by_later_ones() {
    let world = World::new(SOME);
    let env = &world.env;
    let lost = env.submit(&waits(env, "lost"));
    has_begun(env, "lost");
    let started: Value =
        serde_json::from_slice(&fs::read(env.run_dir(&lost.run_id).join("started.json")).unwrap()).unwrap();
    let pid = i32::try_from(started["supervisor_pid"].as_i64().unwrap()).unwrap();
    crate::support::kill::send(pid, libc::SIGKILL);
    wait_for("its end", PATIENCE, || (!Path::new(&format!("/proc/{pid}")).exists()).then_some(()));
    let next = env.submit("echo y >>a");
    assert_eq!(env.await_final(&next.task_id), "completed");
    assert_eq!(named(env, &next), [] as [&str; 0]);
    env.json(&["status", "--json"]);
    assert_eq!(env.await_final(&lost.task_id), "failed");
    assert!(!env.run_dir(&lost.run_id).join("tree").exists());
    assert_eq!(fs::read_dir(env.home().join("checkouts")).unwrap().count(), 0);
}

#[test]
fn a_run_in_a_repository_inside_is_in_both() {
    let world = World::new(SOME);
    let env = &world.env;
    world.shell("git init -q inner; cd inner; echo i >i; git add i; git commit -qm i");
    let outer = env.submit(&waits(env, "outer"));
    has_begun(env, "outer");
    let inner = env.submit_with(&["--cwd", "inner"], &waits(env, "inside"));
    has_begun(env, "inside");
    end(env, &inner, "inside");
    end(env, &outer, "outer");
    assert_eq!(named(env, &outer), [inner.task_id.as_str()]);
    assert_eq!(named(env, &inner), [outer.task_id.as_str()]);
    assert_eq!(fs::read_dir(env.home().join("checkouts")).unwrap().count(), 0);
}

/// Nor does it name the other: only runs that write name each other.
#[test]
fn a_run_that_can_only_read_is_not_named_by_the_one_beside_it() {
    for (sandbox, is_named) in [("read-only", 0), ("workspace-write", 1)] {
        let world = World::new(SOME);
        let env = &world.env;
        world.codex(&codex(env, "reads"));
        let args = ["run", "--agent", "codex", "--sandbox", sandbox, "--json", "look"];
        let reads = acknowledged(&env.expect(0, &args).stdout).unwrap();
        has_begun(env, "reads");
        let writes = env.submit(&waits(env, "writes"));
        has_begun(env, "writes");
        end(env, &writes, "writes");
        end(env, &reads, "reads");
        assert_eq!(named(env, &reads), vec![writes.task_id.as_str(); is_named], "{sandbox}");
        assert_eq!(named(env, &writes), vec![reads.task_id.as_str(); is_named], "{sandbox}");
    }
}

/// Two that reach the same checkout, whichever of them it is the own one of.
#[test]
fn a_run_that_was_given_another_checkout_to_write_to_is_in_both() {
    let world = World::new(SOME);
    let env = &world.env;
    world.shell(
        "git init -q ../up/theirs; cd ../up/theirs; mkdir d; echo t >d/t; git add .; git commit -qm t",
    );
    let theirs = env.root().join("up/theirs");
    world.codex(&format!("echo x >>../up/theirs/d/t\n{}", codex(env, "given")));
    let inner = theirs.join("d");
    let first = env.submit_with(&["--cwd", theirs.to_str().unwrap()], &waits(env, "first"));
    has_begun(env, "first");
    let dir = inner.to_str().unwrap();
    let args =
        ["run", "--agent", "codex", "--sandbox", "workspace-write", "--add-dir", dir, "--json", "write"];
    let beside = acknowledged(&env.expect(0, &args).stdout).unwrap();
    has_begun(env, "given");
    let last = env.submit_with(&["--cwd", theirs.to_str().unwrap()], &waits(env, "last"));
    has_begun(env, "last");
    end(env, &first, "first");
    end(env, &last, "last");
    end(env, &beside, "given");
    let mut named_by_first = named(env, &first);
    named_by_first.sort();
    let mut both = [beside.task_id.clone(), last.task_id.clone()];
    both.sort();
    assert_eq!(named_by_first, both);
    assert!(named(env, &last).contains(&beside.task_id), "whoever comes later");
    assert_eq!(named(env, &beside).len(), 2);
    assert_eq!(fs::read_dir(env.home().join("checkouts")).unwrap().count(), 0);
}

#[test]
fn a_run_that_can_only_read_is_credited_with_nothing_and_takes_no_look_at_the_tree() {
    let world = World::new("echo a >a; git add a; git commit -qm first");
    let side = world.env.side().display().to_string();
    // What changes meanwhile is somebody else's, and what is looked at is in `tree/`.
    world.codex(&format!(
        "echo '{{\"type\":\"thread.started\",\"thread_id\":\"01a1de11-e775-7fc2-8102-000000000001\"}}'\n\
         echo x >>a; ls -d ../state/runs/*/tree >{side}/looked 2>/dev/null\n\
         echo '{{\"type\":\"turn.completed\",\"usage\":{{\"input_tokens\":1,\"cached_input_tokens\":0,\"output_tokens\":1}}}}'\n"
    ));
    let ask = |sandbox| ["run", "--agent", "codex", "--sandbox", sandbox, "--wait", "--json", "look"];
    for (sandbox, source, changed, looked) in
        [("read-only", "read_only", 0, false), ("workspace-write", "git", 1, true)]
    {
        let report = world.env.json(&ask(sandbox));
        let files = &report["file_operations"];
        assert_eq!(
            (&files["source"], &files["files_changed"]),
            (&json!(source), &json!(changed)),
            "{report:#}"
        );
        let seen = fs::read_to_string(world.env.side().join("looked")).unwrap();
        assert_eq!(!seen.is_empty(), looked, "{sandbox}: {seen}");
    }
}
