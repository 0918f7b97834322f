//! What a run did, as seen from outside: files, tests, errors, and what was refused.

use std::fs;

use serde_json::{Value, json};

use crate::env::{TestEnv, document, text};
use crate::model::{CACHED_TOKENS, INPUT_TOKENS, task};

/// Prints what `python3 -m unittest` prints of a test that fails.
const TESTS: &str = "cat >&2 <<'END'
.F
======================================================================
FAIL: test_price (test_shop.T.test_price)
----------------------------------------------------------------------
Traceback (most recent call last):
  File \"/nowhere/else/python3/unittest/case.py\", line 58, in testPartExecutor
    yield
  File \"test_shop.py\", line 9, in test_price
    self.assertEqual(price(), 2)
AssertionError: 1 != 2

----------------------------------------------------------------------
Ran 2 tests in 0.001s

FAILED (failures=1)
END
exit 1
";

fn world() -> TestEnv {
    let env = TestEnv::new();
    env.write("repo/run_tests.sh", TESTS);
    env.git(&["add", "."]);
    env.git(&["commit", "--quiet", "--message", "tests"]);
    env
}

fn runs(command: &str) -> Value {
    json!({ "tool": "exec_command", "args": { "cmd": command } })
}

fn adds(path: &str) -> Value {
    let patch = format!("*** Begin Patch\n*** Add File: {path}\n+one\n+two\n*** End Patch");
    json!({ "tool": "apply_patch", "text": patch })
}

fn tests(stale: bool) -> Value {
    json!({
        "passed": 1, "failed": 1, "skipped": 0, "failed_tests": ["test_price (test_shop.T.test_price)"],
        "stale": stale, "complete": true, "unit": "tests", "frameworks": ["unittest"],
    })
}

#[test]
fn files_and_tests_are_told_as_they_were_seen() {
    for after in [true, false] {
        let env = world();
        let change = [runs("echo more >> README.md && mv run_tests.sh run_all_tests.sh"), adds("added.txt")];
        let test = if after { runs("sh run_tests.sh") } else { runs("sh run_all_tests.sh") };
        let mut calls = change.to_vec();
        calls.insert(if after { 0 } else { 2 }, test);
        let script = json!({ "calls": calls, "answer": "All 40 tests passed." });
        let run = env.run(&["--sandbox", "workspace-write"], &task("call", &script)).ended(0);
        let results = env.results(&run);
        let metadata = &results["metadata"];
        assert_eq!(metadata["test_results"], tests(after), "{results:#}");
        let files = &metadata["file_operations"];
        assert_eq!(files["source"], "git");
        assert_eq!(files["modified_files"], json!(["README.md"]), "{files:#}");
        assert_eq!(files["added_files"], json!(["added.txt"]));
        assert_eq!(files["renamed_files"], json!([{ "from": "run_tests.sh", "to": "run_all_tests.sh" }]));
        assert_eq!(files["lines_changed"], 3);
        // The run completed: that a command failed is no error of it, and is known all the same.
        assert_eq!(metadata.get("error_context"), None);
        assert_eq!(document(&run, "evidence.json")["errors"]["error_message"], "1 != 2");
        let unresolved = &metadata["unresolved_error"];
        assert_eq!(
            (&unresolved["error_message"], &unresolved["error_type"]),
            (&json!("1 != 2"), &json!("AssertionError"))
        );
        assert_eq!(metadata["thread_info"]["cache_hit_rate"], CACHED_TOKENS as f64 / INPUT_TOKENS as f64);
    }
}

#[test]
fn a_failed_run_names_the_first_error_that_was_left() {
    let env = world();
    // The provider refuses the second step.
    let script = json!({ "calls": [runs("sh run_tests.sh"), { "text": "a call of nothing" }] });
    let run = env.run(&[], &task("call", &script)).ended(1);
    let results = env.results(&run);
    let context = &results["metadata"]["error_context"];
    assert_eq!(context["code"], "TOOL_ERROR", "{context:#}");
    assert_eq!(context["first_error"], "1 != 2");
    let printed = text(&results["output"], "stdout");
    let (_, last) = printed.split_once("last failed command, exit 1: sh run_tests.sh\n").unwrap();
    assert!(last.ends_with("FAILED (failures=1)\n"), "{printed}");
    let command = context["failed_command"].as_str().unwrap();
    assert!(command.contains("sh run_tests.sh"), "{command}");
    // What the provider refused is another matter than the tests.
    for other in ["error_type", "error_locations", "failed_files"] {
        assert_eq!(context.get(other), None, "{context:#}");
    }
    assert!(!context["suggestions"].to_string().contains("start at"), "{context:#}");
}

#[test]
fn a_refused_patch_is_a_warning_and_no_change() {
    let env = world();
    let run = env.run(&[], &task("call", &json!({ "calls": [adds("added.txt")] }))).ended(0);
    assert!(!env.repo("added.txt").exists());
    let warnings = run["warnings"].to_string();
    assert!(warnings.contains("refused"), "{run:#}");
    let results = env.results(&run);
    assert_eq!(results["metadata"]["file_operations"]["files_changed"], 0);
    assert_eq!(results["metadata"].get("test_results"), None);
    assert!(fs::read_to_string(env.repo("README.md")).is_ok());
}
