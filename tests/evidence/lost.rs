//! What is still known of a run whose supervisor was killed.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::hostile::{self, Traps};
use crate::support::env::{PATIENCE, Submitted, acknowledged, wait_for};
use crate::support::kill;
use crate::world::{World, assert_same};

const SOME: &str = "echo a >a; echo b >b; git add -A; git commit -qm first";

const FAILED_BUILD: &str = r"error[E0308]: mismatched types\n --> src/a.rs:2:5\n\nerror: could not compile `a` (lib) due to 1 previous error\n";
const PASSED: &str = r"running 2 tests\n\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n";

/// Edits, tests, fails to build, and goes on for ever.
fn codex(side: &Path) -> String {
    let ended = |item: u8, command: &str, exit: u8, status: &str, text: &str| {
        let text = text.replace('\\', "\\\\");
        format!(
            r#"printf '{{"type":"item.completed","item":{{"id":"{item}","type":"command_execution","command":"{command}","aggregated_output":"{text}","exit_code":{exit},"status":"{status}"}}}}\n'"#
        )
    };
    format!(
        r#"echo '{{"type":"thread.started","thread_id":"01a1de11-e775-7fc2-8102-000000000001"}}'
echo '{{"type":"turn.started"}}'
echo more >>a; echo new >new
echo '{{"type":"item.completed","item":{{"id":"1","type":"file_change","status":"completed","changes":[{{"path":"'$PWD/new'","kind":"add"}}]}}}}'
{}
{}
echo '{{"type":"turn.completed","usage":{{"input_tokens":10,"cached_input_tokens":5,"output_tokens":3}}}}'
echo "Warning: still here" >&2
touch {}/began
while :; do sleep 0.02; done
"#,
        ended(2, "cargo test", 0, "completed", PASSED),
        ended(3, "cargo build", 101, "failed", FAILED_BUILD),
        side.display(),
    )
}

/// Kills the supervisor of `run` once its agent `has_begun`, and lets somebody
/// notice; what is then known of it.
#[track_caller]
fn lose(world: &World, run: &Submitted, has_begun: impl Fn() -> bool) -> (Value, Value) {
    kill_supervisor(world, run, has_begun);
    notice(world, run)
}

#[track_caller]
fn kill_supervisor(world: &World, run: &Submitted, has_begun: impl Fn() -> bool) {
    wait_for("its agent", PATIENCE, || has_begun().then_some(()));
    let pid = i32::try_from(read(world, run, "started.json")["supervisor_pid"].as_i64().unwrap()).unwrap();
    kill::send(pid, libc::SIGKILL);
    wait_for("its end", PATIENCE, || (!kill::alive(pid)).then_some(()));
}

#[track_caller]
fn notice(world: &World, run: &Submitted) -> (Value, Value) {
    let (env, before) = (&world.env, world.fingerprint());
    env.json(&["status", "--json"]);
    assert_eq!(env.await_final(&run.task_id), "failed");
    assert_same(&before, &world.fingerprint(), "the look of whoever noticed");
    let dir = env.run_dir(&run.run_id);
    assert!(!dir.join("tree").exists() && !dir.join("overlapped").exists());
    let data = env.json(&["results", &run.task_id, "--json"])["data"].take();
    (read(world, run, "evidence.json"), data)
}

#[track_caller]
fn read(world: &World, run: &Submitted, name: &str) -> Value {
    serde_json::from_slice(&fs::read(world.env.run_dir(&run.run_id).join(name)).unwrap()).unwrap()
}

#[test]
fn an_agent_whose_supervisor_was_killed_is_known_by_what_is_on_disk() {
    let world = World::new(SOME);
    let side = world.env.side();
    world.codex(&codex(&side));
    let ran = world
        .env
        .expect(0, &["run", "--agent", "codex", "--sandbox", "workspace-write", "--json", "change files"]);
    let run = acknowledged(&ran.stdout).unwrap();
    let (evidence, data) = lose(&world, &run, || {
        let events = world.env.run_dir(&run.run_id).join("events.jsonl");
        side.join("began").exists()
            && fs::read_to_string(events).is_ok_and(|text| text.contains("turn.completed"))
    });
    let files = &evidence["files"];
    assert_eq!(files["source"], "git", "{evidence:#}");
    let kinds: Vec<_> =
        files["changes"].as_array().unwrap().iter().map(|one| (&one["kind"], &one["path"])).collect();
    assert_eq!(kinds, [(&json!("modified"), &json!("a")), (&json!("added"), &json!("new"))]);
    assert_eq!(files["changes"][0]["lines_added"], 1);
    let note = files["incomplete"][0].as_str().unwrap();
    assert!(note.contains("compared later"), "{note}");
    let metadata = &data["metadata"];
    assert_eq!(metadata["file_operations"]["modified_files"], json!(["a"]), "{data:#}");
    // When the tests ended is in the ledger: no file is known to have changed since.
    assert_eq!(metadata["test_results"]["passed"], 2);
    assert_ne!(metadata["test_results"]["stale"], true);
    assert_eq!((&metadata["commands"]["passed"], &metadata["commands"]["failed"]), (&json!(1), &json!(1)));
    assert_eq!(data["events"]["count"], 6, "{:#}", data["events"]);
    let context = &metadata["error_context"];
    let first = (&context["first_error"], &context["failed_command"]);
    assert_eq!(
        (&context["code"], first),
        (&json!("LOST"), (&json!("mismatched types"), &json!("cargo build")))
    );
    // The build is not what the supervisor died of, and is told beside that.
    assert_ne!(context["error_message"], context["first_error"]);
    assert_eq!(context["error_type"], "compile error E0308", "{context:#}");
    let thread = &metadata["thread_info"];
    assert_eq!(thread["thread_id"], "01a1de11-e775-7fc2-8102-000000000001");
    assert_eq!(
        (&thread["cache_hit_rate"], &thread["token_usage"]["output_tokens"]),
        (&json!(0.5), &json!(3))
    );
}

#[test]
fn a_command_whose_supervisor_was_killed_is_known_by_what_it_printed() {
    let world = World::new(SOME);
    let side = world.env.side();
    let script =
        format!("printf '{PASSED}'; echo x >b; touch {}/began; while :; do sleep 0.02; done", side.display());
    fs::write(world.dir().join("run_tests.sh"), script).unwrap();
    let run = world.env.submit("sh ./run_tests.sh");
    let (evidence, data) = lose(&world, &run, || {
        let stdout = world.env.run_dir(&run.run_id).join("stdout.log");
        side.join("began").exists() && fs::metadata(stdout).is_ok_and(|found| found.len() > 0)
    });
    assert_eq!(data["metadata"]["file_operations"]["modified_files"], json!(["b"]), "{data:#}");
    let tests = &evidence["tests"];
    // How it ended is not known, so its counts are those of a part.
    assert_eq!((&tests["passed"], &tests["complete"]), (&json!(2), &json!(false)), "{evidence:#}");
}

#[test]
fn traps_that_a_lost_run_had_set_are_not_sprung_by_the_look_after_it() {
    let traps = Traps::new(World::new(hostile::SOME));
    let side = traps.world.env.side();
    let (work, attributes, set) = (hostile::WORK, hostile::ATTRIBUTES, traps.set("$PWD/.git"));
    let script =
        format!("{work}; {attributes}\n{set}\ntouch {}/began\nwhile :; do sleep 0.02; done", side.display());
    let run = traps.world.env.submit(&script);
    let (evidence, _) = lose(&traps.world, &run, || side.join("began").exists());
    traps.check_none_by_git(&evidence);
    traps.check_real(".", &["fsmonitor", "clean", "textconv", "external", "driver"]);
}

#[test]
fn whoever_came_after_the_kill_is_named_beside_what_it_changed() {
    let world = World::new(SOME);
    let (env, side) = (&world.env, world.env.side().display().to_string());
    let waits = |name: &str| {
        format!("echo {name} >{name}; touch {side}/{name}; while ! test -e {side}/end; do sleep 0.02; done")
    };
    let run = env.submit(&waits("lost"));
    kill_supervisor(&world, &run, || env.side().join("lost").exists());
    let next = env.submit(&waits("next"));
    wait_for("the next", PATIENCE, || env.side().join("next").exists().then_some(()));
    let (evidence, _) = notice(&world, &run);
    assert_eq!(evidence["files"]["overlapped_with"][0]["task_id"], next.task_id.as_str(), "{evidence:#}");
    fs::write(env.side().join("end"), "").unwrap();
    assert_eq!(env.await_final(&next.task_id), "completed");
    // Nothing of the one that was killed was there any more.
    let evidence = read(&world, &next, "evidence.json");
    assert_eq!(evidence["files"].get("overlapped_with"), None, "{evidence:#}");
    assert_eq!(fs::read_dir(env.home().join("checkouts")).unwrap().count(), 0);
}

#[test]
fn where_the_tree_before_is_lost_too_the_evidence_says_so() {
    let world = World::new(SOME);
    let side = world.env.side();
    let run = world
        .env
        .submit(&format!("echo x >>a; touch {}/began; while :; do sleep 0.02; done", side.display()));
    let note = world.env.run_dir(&run.run_id).join("tree/before");
    let (evidence, data) =
        lose(&world, &run, || side.join("began").exists() && fs::remove_file(&note).is_ok());
    assert_eq!(
        evidence["files"],
        json!({
            "source": "none",
            "reason": "the snapshot from before the run was lost with its supervisor",
            "totals": { "files": 0 },
            "changes": [],
        })
    );
    assert_eq!(data["metadata"]["file_operations"]["reason"], evidence["files"]["reason"]);
}
