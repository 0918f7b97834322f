//! Places that are not looked into: repositories inside, directories beside.

use crate::world::{Done, World};

const LIB: &str = "git init -q -b main ../up/lib; cd ../up/lib; echo l >l; git add l; git commit -qm l; cd ../../work; \
                   git init -q -b main .; echo a >a; git add a; \
                   git -c protocol.file.allow=always submodule --quiet add ../up/lib lib; git commit -qm with";

#[track_caller]
fn check(done: &Done, expected: &[&str]) {
    let gaps = done.files()["incomplete"].as_array().map(Vec::as_slice).unwrap_or_default();
    let told: Vec<&str> = gaps.iter().map(|gap| gap.as_str().unwrap()).collect();
    assert_eq!(told, expected, "{:#}", done.evidence);
}

#[test]
fn work_in_a_submodule_that_is_not_committed_is_told() {
    let world = World::bare();
    world.shell(LIB);
    std::thread::sleep(std::time::Duration::from_millis(50));
    check(&world.run("echo x >>a; cat lib/l; git -C lib status"), &[]);
    let done = world.run("echo more >>lib/l; echo n >lib/n");
    let gap = "something changed in these nested repositories: lib";
    check(&done, &[gap]);
    let text = world.text(&["results", &done.task_id]);
    assert!(
        text.contains(&format!("\nfiles: 0 changed, 0 lines (git; incomplete)\nnot_known:\n- {gap}\n")),
        "{text}"
    );
}

#[test]
fn a_new_repository_inside_is_told() {
    let world = World::new("echo a >a; git add a; git commit -qm a");
    let done = world.run("git init -q inner; echo i >inner/i");
    check(&done, &["something changed in these nested repositories: inner"]);
}

#[test]
fn what_ceases_to_be_a_repository_is_not_new() {
    let world = World::new(
        "echo a >a; git add a; git commit -qm a; git init -q lib; cd lib; seq 5 >l; git add l; git commit -qm l",
    );
    let done = world.run("rm -rf lib/.git");
    let gaps = done.files()["incomplete"].as_array().unwrap();
    assert!(
        gaps.iter().any(|gap| gap == "no longer nested repositories, and not compared: lib"),
        "{:#}",
        done.evidence
    );
    assert_eq!(
        done.files()["changes"].as_array().unwrap().iter().filter(|one| one["kind"] == "added").count(),
        0
    );
}

#[test]
fn a_repository_inside_that_becomes_a_file_is_told_with_the_file() {
    let world = World::bare();
    world.shell(LIB);
    let done = world.check("rm -rf lib; echo file >lib");
    assert_eq!(done.kinds(), [("type_changed".into(), "lib".into())]);
    assert_eq!((done.files().get("incomplete"), done.files().get("not_looked_into")), (None, None));
    let text = world.text(&["results", &done.task_id]);
    assert!(text.contains("lib"), "{text}");
    let world = World::new("echo a >a; git add a; git commit -qm a");
    world.shell("git init -q n; cd n; seq 3 >f; git add f; git commit -qm n");
    assert_eq!(world.check("rm -rf n; echo file >n").kinds(), [("type_changed".into(), "n".into())]);
    let done = world.check("rm a; git init -q a; cd a; seq 3 >f; git add f; git commit -qm n");
    assert_eq!(done.kinds(), [("type_changed".into(), "a".into())]);
}

#[test]
fn files_that_take_the_place_of_a_submodule_are_told() {
    let world = World::bare();
    world.shell(LIB);
    let done = world.run("git rm -qf lib; mkdir lib; echo file >lib/f");
    assert_eq!(done.change("lib")["kind"], "submodule");
    check(&done, &["no longer nested repositories, and not compared: lib"]);
    let world = World::bare();
    world.shell(LIB);
    let done = world.run("git rm -qf lib; mkdir lib; echo file >lib/f; git add lib");
    assert_eq!(done.change("lib/f")["kind"], "added");
    assert_eq!(done.change("lib")["new_mode"], serde_json::Value::Null);
}

/// Writes beside the repository, and reports a change elsewhere.
const CODEX: &str = r#"echo x >../side/beside/x
echo '{"type":"thread.started","thread_id":"01a1de11-e775-7fc2-8102-000000000001"}'
echo '{"type":"turn.started"}'
echo '{"type":"item.completed","item":{"id":"1","type":"file_change","status":"completed","changes":[{"path":"/srv/x","kind":"add"}]}}'
echo '{"type":"item.completed","item":{"id":"4","type":"agent_message","text":"done"}}'
echo '{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}'
"#;

#[test]
fn what_was_written_beside_the_repository_is_told() {
    let world = World::new("echo a >a; git add a; git commit -qm a; mkdir ../side/beside ../side/still");
    world.codex(CODEX);
    std::thread::sleep(std::time::Duration::from_millis(50));
    let (beside, still) = (world.env.side().join("beside"), world.env.side().join("still"));
    let (beside, still) = (beside.to_str().unwrap(), still.to_str().unwrap());
    let args =
        ["run", "--agent", "codex", "--sandbox", "workspace-write", "--add-dir", beside, "--add-dir", still];
    let report = world.env.json(&[args.as_slice(), &["--wait", "--json", "write"]].concat());
    let files = &report["file_operations"];
    assert_eq!(files["files_changed"], 0, "{report:#}");
    let gaps: Vec<&str> =
        files["incomplete"].as_array().unwrap().iter().map(|gap| gap.as_str().unwrap()).collect();
    assert_eq!(gaps.len(), 2, "{gaps:?}");
    assert!(
        gaps[0].starts_with("something changed in these directories outside the repository: "),
        "{gaps:?}"
    );
    assert!(gaps[0].ends_with("/beside"), "{gaps:?}");
    assert_eq!(gaps[1], "the agent reports changes outside the repository: /srv/x");
}
