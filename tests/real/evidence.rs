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
        let rate = metadata["thread_info"]["cache_hit_rate"].as_f64().unwrap_or_default();
        assert!((rate - CACHED_TOKENS as f64 / INPUT_TOKENS as f64).abs() < 0.001, "{rate}");
    }
}

#[test]
fn a_failure_that_was_mended_is_told_as_what_happened() {
    let env = world();
    let green = "printf '%s\\n' .. ---------- 'Ran 2 tests in 0.001s' '' OK > said; echo 'cat said >&2' > run_tests.sh";
    let script = json!({ "calls": [runs("sh run_tests.sh"), runs(green), runs("sh run_tests.sh")] });
    let run = env.run(&["--sandbox", "workspace-write"], &task("call", &script)).ended(0);
    let results = env.results(&run);
    let metadata = &results["metadata"];
    assert_eq!(metadata.get("unresolved_error"), None, "{metadata:#}");
    let told = "`sh run_tests.sh` failed: 1 != 2; passed later";
    assert_eq!(metadata["earlier_errors"], json!([told]));
}

#[test]
fn a_failed_run_names_the_first_error_that_was_left() {
    let env = world();
    env.write("repo/test_shop.py", "");
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
    // What the provider refused is another matter than the tests, and both are told.
    assert!(!context["error_message"].as_str().unwrap().contains("1 != 2"), "{context:#}");
    assert_eq!(context["error_type"], "AssertionError");
    assert_eq!(context["failed_files"], json!(["test_shop.py"]), "{context:#}");
    assert!(context["suggestions"].to_string().contains("start at test_shop.py:"), "{context:#}");
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

#[test]
fn a_patch_that_does_not_fit_is_a_warning_and_no_change() {
    let env = world();
    let patch = "*** Begin Patch\n*** Update File: README.md\n@@\n-nobody wrote this\n+this\n*** End Patch";
    let script = json!({ "calls": [{ "tool": "apply_patch", "text": patch }] });
    let run = env.run(&["--sandbox", "workspace-write"], &task("call", &script)).ended(0);
    let warnings = run["warnings"].to_string();
    assert!(warnings.contains("a patch did not apply and changed nothing: Failed to find"), "{run:#}");
    assert_eq!(env.results(&run)["metadata"]["file_operations"]["files_changed"], 0);
}

/// Codex takes what fails at once and speaks of a permission for refused, and its events have nothing of it. At once is
/// within 150 ms: of many tries on a busy machine some are.
#[test]
fn a_command_that_codex_does_not_report_is_told_all_the_same() {
    let env = with_folders("");
    let red = format!("{}\nPermissionError: [Errno 13] Permission denied\n", TESTS.trim_end());
    let red = red.replace("AssertionError: 1 != 2", "PermissionError: [Errno 13] Permission denied: 'x'");
    env.write(
        "repo/a/denied_tests.sh",
        &format!("[ -e seen ] || {{ touch seen; sh run_tests.sh; exit; }}\n{red}"),
    );
    let call = json!({ "tool": "exec_command", "args": { "cmd": "sh denied_tests.sh", "workdir": "a" } });
    let mut calls = vec![call; 20];
    calls.push(adds("added.txt"));
    let script = json!({ "calls": calls });
    let run = env.run(&["--sandbox", "workspace-write"], &task("call", &script)).ended(0);
    let results = env.results(&run);
    let metadata = &results["metadata"];
    assert_eq!(metadata["test_results"], tests(true), "{results:#}");
    let unresolved = &metadata["unresolved_error"];
    assert_eq!(unresolved["error_type"], "PermissionError", "{metadata:#}");
    assert_eq!(unresolved["failed_command"], "sh denied_tests.sh");
    let warnings = results["warnings"].to_string();
    assert!(warnings.contains("`sh denied_tests.sh` (exit code 1)"), "{warnings}");
}

#[test]
fn a_refused_command_is_a_warning() {
    let env = world();
    let asks =
        json!({ "cmd": "touch added.txt", "sandbox_permissions": "require_escalated", "justification": "x" });
    let script = json!({ "calls": [{ "tool": "exec_command", "args": asks }] });
    let run = env.run(&[], &task("call", &script)).ended(0);
    assert!(!env.repo("added.txt").exists());
    let warnings = run["warnings"].to_string();
    assert!(warnings.contains("refused a command: you cannot ask for escalated permissions"), "{run:#}");
}

/// Runs `sh run_tests.sh` in these folders, one after the other.
fn in_folders(folders: &[&str]) -> String {
    let call = |folder: &&str| match *folder {
        "" => runs("sh run_tests.sh"),
        folder => json!({ "tool": "exec_command", "args": { "cmd": "sh run_tests.sh", "workdir": folder } }),
    };
    task("call", &json!({ "calls": folders.iter().map(call).collect::<Vec<_>>() }))
}

/// A repository with tests in three folders, which fail in one of them, the first time.
fn with_folders(red: &str) -> TestEnv {
    let env = TestEnv::new();
    let rule = "-".repeat(70);
    let passes = format!("printf '%s\\n' .. {rule} 'Ran 2 tests in 0.001s' '' OK >&2");
    for folder in ["a", "b c", ""] {
        let script = match folder == red {
            true => format!("if [ -e seen ]; then {passes}; exit; fi\ntouch seen\n{TESTS}"),
            false => format!("{passes}\n"),
        };
        fs::create_dir_all(env.repo(folder)).expect("a folder of the repository");
        env.write(&format!("repo/{folder}/run_tests.sh"), &script);
    }
    env.git(&["add", "."]);
    env.git(&["commit", "--quiet", "--message", "tests"]);
    env
}

/// How many tests fail in the last test command and in those that were not run again, and whether an error is left.
fn left(run: &Value) -> (usize, bool) {
    let tests = &document(run, "evidence.json")["tests"];
    let failing = |one: &Value| one["failed_tests"].as_array().map_or(0, Vec::len);
    let not_run_again = tests["not_run_again"].as_array().into_iter().flatten();
    let errors = document(run, "evidence.json")["errors"].is_object();
    (failing(tests) + not_run_again.map(failing).sum::<usize>(), errors)
}

const WRITES: [&str; 2] = ["--sandbox", "workspace-write"];

#[test]
fn the_same_words_in_two_directories_are_two_commands() {
    for (order, expected) in [
        (&["a", "b c"][..], (1, true)),
        (&["a", ""], (1, true)),
        (&["", "a"], (1, true)),
        (&["a", "b c", "", "b c"], (1, true)),
        (&["a", "a"], (0, false)),
        (&["a", "b c", "a"], (0, false)),
        (&["", ""], (0, false)),
    ] {
        let env = with_folders(order[0]);
        let run = env.run(&WRITES, &in_folders(order)).ended(0);
        assert_eq!(left(&run), expected, "{order:?} {:#}", document(&run, "evidence.json"));
    }
}

/// The record of a thread holds the commands of all its runs.
#[test]
fn directories_are_those_of_this_run_where_a_thread_goes_on() {
    let env = with_folders("a");
    let first = env.run(&WRITES, &in_folders(&["b c", ""])).ended(0);
    assert_eq!(left(&first), (0, false));
    let thread = text(&first, "subagent_thread_id");
    let goes_on = |folders: &[&str]| {
        let given = ["resume", thread, &in_folders(folders), "--env", "FAKE_KEY", "--wait", "--json"];
        left(&env.delegator(&given).ended(0))
    };
    assert_eq!(goes_on(&["a", "b c"]), (1, true));
    fs::remove_file(env.repo("a/seen")).unwrap();
    assert_eq!(goes_on(&["a", "b c", "a"]), (0, false));
}
