//! What a command's own output tells of tests and errors.

use std::fs;

use serde_json::{Value, json};

use crate::support::env::TestEnv;

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
