//! Tests whose counts are in a file: a report that their command wrote, and did not print.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::support::installed::installed;
use crate::world::World;

const ONE_FAILS: &str = r#"<testsuite time="0.5"><testcase classname="s" name="a"/><testcase classname="s" name="b"><failure message="no"/></testcase></testsuite>"#;
const ALL_PASS: &str =
    r#"<testsuite time="1.5"><testcase name="c"/><testcase name="d"><skipped/></testcase></testsuite>"#;

/// A repository in which `ctest` and the others are a script.
fn world(script: &str) -> World {
    let world = World::new("echo a >a; git add a; git commit -qm a; printf %s '' >.gitignore");
    fs::write(world.env.side().join("one_fails.xml"), ONE_FAILS).unwrap();
    fs::write(world.env.side().join("all_pass.xml"), ALL_PASS).unwrap();
    let script = format!("#!/bin/sh\nside={}\n{script}\n", world.env.side().display());
    for name in ["bin/ctest", "bin/mvn", "bin/gotestsum", "work/gradlew"] {
        let program = world.env.root().join(name);
        fs::write(&program, &script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }
    world
}

/// The tests of a run that is one command, in the words of its evidence.
fn tests(world: &World, command: &str) -> Value {
    let path = format!("{}/bin", world.env.root().display());
    let task = format!("export PATH={path}:$PATH; {command}");
    let report = world.env.json(&["run", "--agent", "command", "--wait", "--json", &task]);
    let evidence = fs::read(format!("{}/evidence.json", report["run_dir"].as_str().unwrap())).unwrap();
    serde_json::from_slice::<Value>(&evidence).unwrap()["tests"].take()
}

/// Passed, failed, skipped, and whether that is all.
#[track_caller]
fn check(world: &World, command: &str, expected: Value) -> Value {
    let tests = tests(world, command);
    let told = json!([tests["passed"], tests["failed"], tests["skipped"], tests["complete"]]);
    assert_eq!(told, expected, "{command}: {tests:#}");
    tests
}

#[test]
fn a_report_that_a_command_wrote_has_its_counts() {
    let world = world("mkdir -p build; cp $side/one_fails.xml r.xml; echo Test project; exit 8");
    for command in
        ["ctest --output-junit r.xml", "ctest --output-junit=./r.xml", "gotestsum --junitfile r.xml"]
    {
        let tests = check(&world, command, json!([1, 1, 0, true]));
        assert_eq!(tests["failed_tests"], json!(["s.b"]));
        assert_eq!(
            (&tests["runs"][0]["framework"], &tests["runs"][0]["duration_ms"]),
            (&json!("junit"), &json!(500))
        );
        assert_eq!(tests["stale"], false);
    }
    world.shell("mkdir web");
    check(&world, "cd web && ctest --output-junit r.xml; cd ..", json!([1, 1, 0, true]));
    check(&world, "(cd web; ctest --output-junit ../web/r.xml)", json!([1, 1, 0, true]));
    // Not what it was told.
    check(&world, "ctest --output-junit other.xml", json!([null, null, null, null]));
}

#[test]
fn pytest_says_in_a_report_what_it_was_not_let_print() {
    let world = World::new(
        "echo 'def test_a(): pass\ndef test_b(): assert 0' >test_s.py; git add -A; git commit -qm a",
    );
    let python = installed("pytest");
    let python = python.display();
    for option in ["--junitxml=r.xml", "--junit-xml r.xml"] {
        let line = format!("{python} -m pytest {option} >/dev/null 2>&1; true");
        let tests = check(&world, &line, json!([1, 1, 0, true]));
        assert_eq!(tests["failed_tests"], json!(["test_s.test_b"]));
        assert_eq!(tests["runs"][0]["framework"], "pytest");
    }
    // What it prints counts, whatever the report says.
    let line = format!("{python} -m pytest --junitxml=r.xml");
    let tests = check(&world, &line, json!([1, 1, 0, true]));
    assert_eq!(tests["failed_tests"], json!(["test_s.py::test_b"]));
    assert_eq!(tests["runs"].as_array().unwrap().len(), 1);
    // Others may have been left.
    check(&world, &format!("{python} -m pytest -qx --junitxml=r.xml >/dev/null"), json!([1, 1, 0, false]));
}

#[test]
fn an_older_report_is_of_other_tests() {
    let world = world("test -e r.xml || cp $side/one_fails.xml r.xml; exit 8");
    check(&world, "ctest --output-junit r.xml", json!([1, 1, 0, true]));
    // File times are coarse: without this, a second run that starts within 20 ms would own the report.
    for time in ["1 second ago", "2 hours"] {
        world.shell(&format!("touch -d '{time}' r.xml"));
        check(&world, "ctest --output-junit r.xml", json!([null, null, null, null]));
    }
}

#[test]
fn a_report_is_a_plain_file_of_the_checkout() {
    let out = "cp $side/one_fails.xml $side/out.xml";
    for script in [
        format!("{out}; ln -sf $side/out.xml r.xml"),
        format!("{out}; ln -f $side/out.xml r.xml"),
        format!("{out}; ln -sfn $side dir"),
        "mkfifo r.xml".to_owned(),
        "mkdir r.xml".to_owned(),
        format!("{out}; cp $side/out.xml ../up/r.xml"),
    ] {
        let world = world(&format!("{script}; exit 8"));
        for file in ["r.xml", "dir/out.xml", "../up/r.xml", "$PWD/../up/r.xml"] {
            check(&world, &format!("ctest --output-junit {file}"), json!([null, null, null, null]));
            world.shell("rm -rf r.xml");
        }
    }
}

#[test]
fn a_report_that_is_broken_or_too_long_has_no_counts() {
    let long = "{ cat $side/one_fails.xml; head -c 17000000 /dev/zero; } >r.xml";
    for script in ["head -c 90 $side/one_fails.xml >r.xml", "echo no >r.xml", ": >r.xml", long] {
        let world = world(script);
        check(&world, "ctest --output-junit r.xml", json!([null, null, null, null]));
    }
}

/// Of an agent with many commands, each report is that of the one that wrote it.
#[test]
fn a_report_counts_for_the_command_of_an_agent_that_wrote_it() {
    let codex = |last: &str| {
        format!(
            r#"ran() {{
  printf '{{"type":"item.%s","item":{{"id":"%s","type":"command_execution","command":"ctest --output-junit r.xml","aggregated_output":"","exit_code":%s,"status":"%s"}}}}\n' "$@"
}}
# Once it is known to run, what it writes is its own.
seen() {{ until grep -qs "\"commands\": $1" ../state/runs/*/progress.json; do sleep 0.02; done; }}
echo '{{"type":"thread.started","thread_id":"01a1de11-e775-7fc2-8102-000000000001"}}'
echo '{{"type":"turn.started"}}'
ran started 1 null in_progress; seen 1; cp ../side/one_fails.xml r.xml; ran completed 1 8 failed; sleep 0.1
ran started 2 null in_progress; seen 2; {last}; ran completed 2 0 completed
echo '{{"type":"turn.completed","usage":{{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}}}'
"#
        )
    };
    let args = ["run", "--agent", "codex", "--sandbox", "workspace-write", "--wait", "--json", "work"];
    for (last, expected) in
        [("cp ../side/all_pass.xml r.xml", json!([1, 0, true])), ("true", json!([null, null, false]))]
    {
        let world = world("");
        world.codex(&codex(last));
        let tests = world.env.json(&args)["test_results"].take();
        assert_eq!(
            json!([tests["passed"], tests["failed"], tests["complete"]]),
            expected,
            "{last}: {tests:#}"
        );
    }
}
