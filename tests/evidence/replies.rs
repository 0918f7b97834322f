//! What results and waits say of files.

use serde_json::json;

use crate::world::World;

const SOME: &str = "seq 1 30 >keep; echo a >a; echo b >b; echo c >c; git add -A; git commit -qm first";

#[test]
fn results_and_waits_name_files_and_lines() {
    let world = World::new(SOME);
    let first = world.shell("git rev-parse HEAD");
    let done = world.check(
        "echo x >>a; rm b; mv keep kept; printf '1\\n2\\n' >new; git add -A; git commit -qm 'all of it'",
    );
    let commit = world.shell("git rev-parse HEAD");
    let content = |path: &str| {
        let size: u64 = world.shell(&format!("stat -c %s {path}")).trim().parse().unwrap();
        let sum = world.shell(&format!("sha256sum {path} | cut -c-64"));
        json!({ "type": "file", "ref": path, "size": size, "sha256": sum.trim() })
    };
    let expected = json!({
        "modified_files": ["a"],
        "added_files": ["new"],
        "deleted_files": ["b"],
        "renamed_files": [{ "from": "keep", "to": "kept" }],
        "files_changed": 4,
        "lines_changed": 4,
        "lines_added": 3,
        "lines_removed": 1,
        "source": "git",
        "head": {
            "from": { "branch": "main", "commit": first.trim() },
            "to": { "branch": "main", "commit": commit.trim() },
        },
        "commits": [{ "hash": commit.trim(), "subject": "all of it" }],
    });
    for command in ["results", "wait"] {
        let reply = world.env.json(&[command, &done.task_id, "--json"]);
        assert_eq!(reply["data"]["metadata"]["file_operations"], expected, "{command}: {reply:#}");
        let contents = json!([content("a"), content("kept"), content("new")]);
        assert_eq!(reply["data"]["artifacts"], contents, "{command}: {reply:#}");
    }
}

#[test]
fn a_run_without_changes_says_so_in_numbers() {
    let world = World::new(SOME);
    let done = world.check("true");
    let reply = world.env.json(&["results", &done.task_id, "--json"]);
    let expected = json!({
        "modified_files": [], "added_files": [], "deleted_files": [],
        "files_changed": 0, "lines_changed": 0, "source": "git",
    });
    assert_eq!(reply["data"]["metadata"]["file_operations"], expected);
}

#[test]
fn names_that_somebody_else_wrote_are_made_safe_to_show() {
    let world = World::new(SOME);
    let done = world.check(
        "echo x >\"$(printf 'a\\033[31m\\342\\200\\256b')\"; git add -A; git commit -qm \"$(printf 'sub\\033[0mject')\"; \
         for n in ' lead ' 'bad\\376' 'bad\\377' 'new\\nline'; do echo $n >\"$(printf \"$n\")\"; done; \
         mkdir 'b -> c'; git mv keep 'b -> c/x'",
    );
    let reply = world.env.json(&["results", &done.task_id, "--json"]);
    let operations = &reply["data"]["metadata"]["file_operations"];
    let names =
        [r#"" lead ""#, r#""a\033[31m\342\200\256b""#, r#""bad\376""#, r#""bad\377""#, r#""new\nline""#];
    assert_eq!(operations["added_files"], json!(names));
    assert_eq!(operations["renamed_files"], json!([{ "from": "keep", "to": "\"b -> c/x\"" }]));
    assert_eq!(operations["commits"][0]["subject"], "subject");
    let text = world.text(&["results", &done.task_id]);
    assert!(text.contains("\n- added \" lead \"\n- added \"a\\033[31m"), "{text}");
}

#[test]
fn what_is_not_named_is_counted_and_found_in_the_evidence() {
    let world = World::new(SOME);
    let done = world.check("for i in $(seq 300); do echo $i >f$i; done");
    let reply = world.env.json(&["results", &done.task_id, "--json"]);
    let operations = &reply["data"]["metadata"]["file_operations"];
    let named = operations["added_files"].as_array().unwrap().len();
    assert_eq!((&operations["files_changed"], &operations["left_out"]), (&json!(300), &json!(300 - named)));
    let text = world.text(&["results", &done.task_id]);
    assert!(text.contains("\nfiles: 300 changed (300 added), +300 -0 lines (git)\n"), "{text}");
    assert!(text.contains("\n... (+295 more)\n"), "{text}");
    let data = &reply["data"];
    assert_eq!((data["artifacts"].as_array().unwrap().len(), &data["artifacts_left_out"]), (20, &json!(280)));
    assert!(data["files"].as_array().unwrap().contains(&json!("evidence.json")), "{data:#}");
}

#[test]
fn what_became_of_files_that_a_text_does_not_name_is_counted() {
    let world = World::new(&format!(
        "{SOME}; for i in 1 2 3 4 5; do echo $i >f$i; done; git add -A; git commit -qm more"
    ));
    let done =
        world.check("for i in 1 2 3 4 5; do echo x >>f$i; done; rm a b; git mv keep kept; echo n >new");
    let text = world.text(&["results", &done.task_id]);
    let line = "files: 9 changed (1 added, 2 deleted, 5 modified, 1 renamed), +6 -2 lines (git)";
    assert!(text.contains(&format!("\n{line}\n")), "{text}");
}

#[test]
fn what_happened_to_the_checkout_is_in_the_text() {
    let world = World::new(&format!("{SOME}; echo '*.log' >.gitignore; git add -A; git commit -qm second"));
    let done = world.check(
        "chmod +x a; rm b; ln -s a b; echo l >x.log; git checkout -q HEAD~ -- c; git checkout -q --detach",
    );
    let text = world.text(&["results", &done.task_id]);
    let id = &world.shell("git rev-parse HEAD")[..10];
    for line in [
        "files: 2 changed, +1 -1 lines (git)\n- mode_changed a\n- type_changed b\n",
        &format!("head: main {id} -> (no branch) {id}\n"),
        "ignored:\n- added x.log\n",
    ] {
        assert!(text.contains(&format!("\n{line}")), "{line}: {text}");
    }
    let done =
        world.check("git reset -q --hard; git checkout -q main; git commit -q --allow-empty -m 'one more'");
    let text = world.text(&["wait", &done.task_id]);
    let id = &world.shell("git rev-parse HEAD")[..10];
    assert!(text.contains(&format!("\ncommits:\n- {id} one more\n")), "{text}");
}

#[test]
fn lines_that_nobody_counted_are_not_none() {
    let world = World::new(&format!("{SOME}; seq 3000000 >big; git add big; git commit -qm big"));
    let done = world
        .check("head -c 20000000 /dev/zero | tr '\\0' '\\n' >new.big; head -c 17000000 /dev/zero >zeros");
    assert_eq!(done.files()["totals"]["lines_added"], 20_000_000);
    let done = world.run("echo x >>big; echo y >>a");
    assert_eq!(done.files()["totals"], json!({ "files": 2 }));
    let reply = world.env.json(&["results", &done.task_id, "--json"]);
    assert_eq!(reply["data"]["metadata"]["file_operations"]["lines_changed"], json!(null));
    let text = world.text(&["results", &done.task_id]);
    assert!(text.contains("\nfiles: 2 changed, lines unknown (git; incomplete)\n"), "{text}");
    assert!(text.contains("\nnot_known:\n- lines unknown for 1 file; in the others, 1 "), "{text}");
}

#[test]
fn that_nothing_is_known_is_said_with_its_reason() {
    let world = World::new(SOME);
    let done = world.run("printf nonsense >.git/index");
    let text = world.text(&["results", &done.task_id]);
    assert!(text.contains("\nfiles: 0 changed, 0 lines (git; incomplete)\n"), "{text}");
    let done = world.run("rm a");
    let reply = world.env.json(&["results", &done.task_id, "--json"]);
    let operations = &reply["data"]["metadata"]["file_operations"];
    assert_eq!((&operations["source"], &operations["files_changed"]), (&json!("none"), &json!(null)));
    let text = world.text(&["results", &done.task_id]);
    assert!(text.contains("\nfiles: unknown (the index is damaged)\n"), "{text}");
}

#[test]
fn a_wait_for_several_says_of_each_what_became_of_its_files() {
    let world = World::new(SOME);
    let ids = [world.run("echo x >>a").task_id, world.run("rm b").task_id];
    let reply = world.env.json(&["wait", &ids[0], &ids[1], "--json"]);
    let files: Vec<&str> =
        reply["data"]["tasks"].as_array().unwrap().iter().map(|one| one["files"].as_str().unwrap()).collect();
    assert_eq!(files, ["1 changed, +1 -0 lines (git)", "1 changed, +0 -1 lines (git)"]);
}

#[test]
fn a_run_that_was_waited_for_names_the_files_worth_opening() {
    let world = World::new(SOME);
    let report = world.env.json(&["run", "--agent", "command", "--wait", "--json", "echo hi"]);
    let file = |name: &str| json!({ "name": name, "path": format!("{}/{name}", report["run_dir"].as_str().unwrap()) });
    assert_eq!(report["artifacts"], json!([file("stdout.log"), file("transcript.log")]));
}

#[test]
fn the_status_of_one_task_says_what_became_of_its_files() {
    let world = World::new(SOME);
    let done = world.run("echo x >>a; rm b");
    let text = world.text(&["status", &done.task_id]);
    assert!(text.contains("\nfiles: 2 changed, +1 -1 lines (git)\n"), "{text}");
    let status = world.env.json(&["status", &done.task_id, "--json"]);
    let files = &status["data"]["recently_completed"][0]["files"];
    assert_eq!(*files, "2 changed, +1 -1 lines (git)", "{status:#}");
}

#[test]
fn paths_are_said_to_be_below_the_top_where_the_run_is_not() {
    let world =
        World::new(&format!("mkdir -p sub/dir; {SOME}; echo d >sub/dir/d; git add -A; git commit -qm d"));
    let root = world.env.work();
    let world = world.at("sub/dir");
    let done = world.check("echo x >>d; echo y >>../../a");
    let text = world.text(&["results", &done.task_id]);
    let line = format!("\nfiles: 2 changed, +2 -0 lines (git; paths relative to {})\n", root.display());
    assert!(text.contains(&format!("{line}- modified a\n- modified sub/dir/d\n")), "{text}");
    let reply = world.env.json(&["results", &done.task_id, "--json"]);
    assert_eq!(reply["data"]["metadata"]["file_operations"]["root"], root.to_str().unwrap());
}
