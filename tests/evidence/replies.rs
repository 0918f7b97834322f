//! What results and waits say of files.

use serde_json::json;

use crate::world::World;

const SOME: &str = "seq 1 30 >keep; echo a >a; echo b >b; echo c >c; git add -A; git commit -qm first";

#[test]
fn results_and_waits_name_files_and_lines() {
    let world = World::new(SOME);
    let done = world.check(
        "echo x >>a; rm b; mv keep kept; printf '1\\n2\\n' >new; git add -A; git commit -qm 'all of it'",
    );
    let expected = json!({
        "modified_files": ["a"],
        "added_files": ["new"],
        "deleted_files": ["b"],
        "renamed_files": [{ "from": "keep", "to": "kept" }],
        "files_changed": 4,
        "lines_changed": 4,
        "source": "git",
        "commits": [{
            "hash": world.shell("git rev-parse HEAD").trim(),
            "subject": "all of it",
        }],
    });
    for command in ["results", "wait"] {
        let reply = world.env.json(&[command, &done.task_id, "--json"]);
        assert_eq!(reply["data"]["metadata"]["file_operations"], expected, "{command}: {reply:#}");
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
    let done = world.run("echo x >\"$(printf 'a\\033[31m\\342\\200\\256b')\"; git add -A; git commit -qm \"$(printf 'sub\\033[0mject')\"");
    let reply = world.env.json(&["results", &done.task_id, "--json"]);
    let operations = &reply["data"]["metadata"]["file_operations"];
    assert_eq!(operations["added_files"], json!(["ab"]));
    assert_eq!(operations["commits"][0]["subject"], "subject");
}
