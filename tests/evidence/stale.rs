//! Whether tests tell of the tree as it was left: files that changed after them,
//! and were perhaps put back.

use serde_json::{Value, json};

use crate::world::World;

/// An agent that does one thing, sees its tests pass, and does another.
fn codex(first: &str, then: &str) -> String {
    // Clocks of file systems tick slowly.
    format!(
        r#"ran() {{
  printf '{{"type":"item.%s","item":{{"id":"%s","type":"command_execution","command":"%s","aggregated_output":"%s","exit_code":%s,"status":"%s"}}}}\n' "$@"
}}
echo '{{"type":"thread.started","thread_id":"01a1de11-e775-7fc2-8102-000000000001"}}'
echo '{{"type":"turn.started"}}'
sleep 0.05
{first}
sleep 0.05
ran started 1 'cargo test' '' null in_progress
ran completed 1 'cargo test' 'running 1 test\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n' 0 completed
sleep 0.3
{then}
echo '{{"type":"item.completed","item":{{"id":"4","type":"agent_message","text":"done"}}}}'
echo '{{"type":"turn.completed","usage":{{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}}}'
"#
    )
}

#[track_caller]
fn check(world: &World, first: &str, then: &str, expected: Value) {
    world.codex(&codex(first, then));
    let args = ["run", "--agent", "codex", "--sandbox", "workspace-write", "--wait", "--json", "work"];
    let report = world.env.json(&args);
    let tests = &report["test_results"];
    assert_eq!((&tests["passed"], &tests["stale"]), (&json!(1), &expected), "{first}; {then}: {report:#}");
    world.shell("git stash drop -q || true; git reset -q --hard first; git clean -qfd");
}

#[test]
fn tests_of_what_was_taken_back_after_them_are_not_told_to_be_of_the_tree() {
    let world = World::new(
        "git config user.name d; git config user.email d@e; echo a >a; echo b >b; echo out >.gitignore; git add -A; git commit -qm first; git tag first; sleep 0.05",
    );
    let edit = "echo x >>a";
    for then in ["git checkout -q a", "git reset -q --hard", "git stash -q", "cp b a; echo a >a"] {
        check(&world, edit, then, json!(null));
    }
    // What was made for the tests alone.
    check(&world, "echo n >new", "rm new", json!(null));
    check(&world, "echo n >new; git add new; git commit -qm n", "git reset -q --hard HEAD~1", json!(null));
    check(&world, edit, "echo y >>a", json!(true));
    // Nothing of it changes what was tested.
    for then in ["true", "git status", "git add -A", "git commit -qam done", "mkdir out; echo o >out/o"] {
        check(&world, edit, then, json!(false));
    }
    check(&world, "echo x >>a; git checkout -q a; echo n >n; rm n", "true", json!(false));
}

/// The file's time is that of the tests' end, or even before it.
#[test]
fn an_edit_right_after_the_tests_is_never_passed_over() {
    let world = World::new("echo a >a; git add a; git commit -qm first; git tag first; sleep 0.05");
    let script = codex("", "").replace("ran completed 1", "sleep 0.3; ran completed 1").replace(
        "\nsleep 0.3\n",
        "\nran started 2 'echo x' '' null in_progress; echo x >>a; ran completed 2 'echo x' '' 0 completed\n",
    );
    world.codex(&script);
    for _ in 0..5 {
        let args = ["run", "--agent", "codex", "--sandbox", "workspace-write", "--wait", "--json", "work"];
        let report = world.env.json(&args);
        let tests = &report["test_results"];
        assert_eq!(tests["passed"], 1, "{report:#}");
        assert_ne!(tests["stale"], false, "{report:#}");
        world.shell("git reset -q --hard first; sleep 0.05");
    }
}

#[test]
fn what_changes_in_a_submodule_after_the_tests_is_not_passed_over() {
    let world = World::bare();
    world.shell(
        "git init -q -b main ../up/lib; cd ../up/lib; echo l >l; git add l; git commit -qm one; echo m >>l; \
         git commit -qam two; cd ../../work; git init -q -b main .; echo a >a; git add a; \
         git -c protocol.file.allow=always submodule --quiet add ../up/lib lib; git commit -qm first; \
         git tag first; sleep 0.05",
    );
    let back = "git -C lib checkout -q HEAD~1";
    check(&world, "true", back, json!(null));
    world.shell("git -C lib checkout -q main; sleep 0.05");
    check(&world, back, "true", json!(false));
    world.shell("git -C lib checkout -q main; sleep 0.05");
    check(&world, "true", "echo x >>lib/l", json!(null));
}

#[test]
fn whether_what_one_command_does_after_its_tests_came_later_is_not_known() {
    let passed =
        "echo 'test_a (t.T.test_a) ... ok' >&2; echo 'Ran 1 test in 0.001s' >&2; echo >&2; echo OK >&2";
    let world = World::new(&format!(
        "echo \"{passed}\" >run_tests.sh; echo a >a; git add .; git commit -qm one; sleep 0.05"
    ));
    for (task, stale) in [
        ("echo x >>a; sh ./run_tests.sh; git checkout -q a", json!(null)),
        ("echo x >>a; sh ./run_tests.sh && git reset -q --hard", json!(null)),
        ("sh ./run_tests.sh; git status", json!(false)),
    ] {
        let report = world.env.json(&["run", "--agent", "command", "--wait", "--json", task]);
        let tests = &report["test_results"];
        assert_eq!((&tests["passed"], &tests["stale"]), (&json!(1), &stale), "{task}: {report:#}");
    }
}
