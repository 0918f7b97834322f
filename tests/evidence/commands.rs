//! What a command's own output tells of tests and errors.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::support::env::{PATIENCE, TestEnv, wait_for};
use crate::world::World;

const UNITTEST: &str = r#"echo 'test_a (test_sample.T.test_a) ... ok'
echo 'test_b (test_sample.T.test_b) ... FAIL'
echo
cat >&2 <<'END'
======================================================================
FAIL: test_b (test_sample.T.test_b)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "WORK/test_sample.py", line 7, in test_b
    self.assertEqual(1, 2)
AssertionError: 1 != 2

----------------------------------------------------------------------
Ran 2 tests in 0.001s

FAILED (failures=1)
END
exit 1
"#;

fn world(script: &str) -> TestEnv {
    let env = TestEnv::new();
    let script = script.replace("WORK", env.work().to_str().unwrap());
    fs::write(env.work().join("run_tests.sh"), script).unwrap();
    env
}

fn ran(env: &TestEnv, task: &str) -> Value {
    env.json(&["run", "--agent", "command", "--wait", "--json", task])
}

#[test]
fn a_command_that_runs_tests_is_told_by_what_it_printed() {
    let env = world(UNITTEST);
    let report = ran(&env, "sh ./run_tests.sh");
    let tests = json!({
        "passed": 1, "failed": 1, "skipped": 0, "failed_tests": ["test_b (test_sample.T.test_b)"],
        "stale": false, "complete": true, "unit": "tests", "frameworks": ["unittest"],
    });
    assert_eq!(report["test_results"], tests, "{report:#}");
    let task = report["task_id"].as_str().unwrap();
    for command in ["results", "wait"] {
        let reply = env.json(&[command, task, "--json"]);
        let metadata = &reply["data"]["metadata"];
        assert_eq!(metadata["test_results"], tests);
        let context = &metadata["error_context"];
        assert_eq!(context["error_type"], "AssertionError");
        assert_eq!(context["first_error"], "1 != 2");
        assert_eq!(context["failed_files"], json!(["test_sample.py"]));
        assert_eq!(context["error_locations"], json!([{ "file": "test_sample.py", "line": 7 }]));
    }
    let text = env.run(&["results", task]).stdout;
    let lines =
        "tests: 1 passed, 1 failed, 0 skipped (unittest)\nfailed_tests:\n- test_b (test_sample.T.test_b)\n";
    assert!(text.contains(lines), "{text}");
    let run_dir = report["run_dir"].as_str().unwrap();
    let evidence: Value =
        serde_json::from_slice(&fs::read(format!("{run_dir}/evidence.json")).unwrap()).unwrap();
    assert_eq!(evidence["tests"]["runs"][0]["framework"], "unittest");
    assert_eq!(evidence["errors"]["command"], "sh ./run_tests.sh");
}

#[test]
fn tests_that_still_run_are_counted_in_the_progress() {
    let env = world("");
    let part = "printf 'ok 1 - a\\nok 2 - b\\n'; ";
    let script = format!(
        "echo 1..3; {part} while ! test -e {}/go; do sleep 0.02; done; echo 'ok 3 - c'",
        env.side().display()
    );
    fs::write(env.work().join("run_tests.sh"), script).unwrap();
    let run = env.submit("sh ./run_tests.sh");
    let activity = || {
        env.json(&["status", &run.task_id, "--json"])["data"]["tasks"][0]["progress"]["current_activity"]
            .clone()
    };
    wait_for("two to be counted", PATIENCE, || {
        (activity() == "running: sh ./run_tests.sh (2 passed)").then_some(())
    });
    fs::write(env.side().join("go"), "").unwrap();
    assert_eq!(env.await_final(&run.task_id), "completed");
    let data = env.json(&["results", &run.task_id, "--json"])["data"].take();
    assert_eq!(data["metadata"]["test_results"]["passed"], 3, "{data:#}");
}

/// One target, whose summary is still to come.
#[test]
fn single_tests_are_counted_as_they_pass() {
    let env = world("");
    let script = format!(
        "#!/bin/sh\necho '==== test session starts ===='\necho 'a.py::x PASSED [ 33%]'\necho 'a.py::y PASSED [ 66%]'\nwhile ! test -e {}/go; do sleep 0.02; done\necho 'a.py::z PASSED [100%]'\necho '==== 3 passed in 0.12s ===='\n",
        env.side().display()
    );
    fs::write(env.work().join("pytest"), script).unwrap();
    fs::set_permissions(env.work().join("pytest"), fs::Permissions::from_mode(0o755)).unwrap();
    let run = env.submit("./pytest -v");
    let activity = || {
        env.json(&["status", &run.task_id, "--json"])["data"]["tasks"][0]["progress"]["current_activity"]
            .clone()
    };
    wait_for("two to be counted", PATIENCE, || {
        (activity() == "running: ./pytest -v (2 passed)").then_some(())
    });
    fs::write(env.side().join("go"), "").unwrap();
    assert_eq!(env.await_final(&run.task_id), "completed");
    let data = env.json(&["results", &run.task_id, "--json"])["data"].take();
    assert_eq!(data["metadata"]["test_results"]["passed"], 3, "{data:#}");
}

#[test]
fn tests_that_printed_more_than_is_kept_are_told_as_a_part() {
    let flood = "i=0; while [ $i -lt 9000 ]; do echo 'a line of thirty characters ..'; i=$((i+1)); done\n";
    let env = world(&format!("{flood}{UNITTEST}"));
    let report = ran(&env, "sh ./run_tests.sh");
    assert_eq!(report["test_results"]["failed"], 1, "{report:#}");
    assert_eq!(report["test_results"]["complete"], false);
}

#[test]
fn a_command_that_only_talks_of_tests_ran_none() {
    let env = world("");
    let report = ran(&env, "echo 'Ran 2 tests in 0.001s'; echo; echo 'FAILED (failures=1)'");
    assert_eq!((report.get("test_results"), report.get("error_context")), (None, None), "{report:#}");
}

const PASSED: &str =
    "echo 'test_a (t.T.test_a) ... ok' >&2; echo 'Ran 1 test in 0.001s' >&2; echo >&2; echo OK >&2";

#[test]
fn what_a_command_changes_around_its_tests_is_known_or_said_not_to_be() {
    let setup =
        format!("echo \"{PASSED}\" >run_tests.sh; echo a >a; echo b >b; git add .; git commit -qm one");
    for (task, stale) in [
        ("sh ./run_tests.sh", json!(false)),
        ("echo x >>a; sh ./run_tests.sh", json!(false)),
        ("sh ./run_tests.sh; echo x >>a", json!(null)),
        ("sh ./run_tests.sh; git rm -q a", json!(null)),
        ("sh ./run_tests.sh; git mv a c", json!(null)),
        ("sh ./run_tests.sh; chmod +x a", json!(null)),
        ("sh ./run_tests.sh; cp -p b a", json!(null)),
    ] {
        let world = World::new(&setup);
        let tests = ran(&world.env, task)["test_results"].clone();
        assert_eq!((&tests["passed"], &tests["stale"]), (&json!(1), &stale), "{task}");
    }
}
