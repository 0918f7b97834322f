//! What a person reads of four runs: one that fixes what failed, one that hides an exit code, one that stashes, and one
//! that says what is not so. Text and structure, word for word.

use regex::Regex;
use serde_json::{Value, json};

use crate::env::{TestEnv, text};
use crate::model::task;

const RED: &str = "cat >&2 <<'END'
.F
======================================================================
FAIL: test_price (test_shop.T.test_price)
----------------------------------------------------------------------
Traceback (most recent call last):
  File \"test_shop.py\", line 9, in test_price
    self.assertEqual(price(), 2)
AssertionError: 1 != 2

----------------------------------------------------------------------
Ran 2 tests in 0.001s

FAILED (failures=1)
END
exit 1
";

/// Tests pass where the price is 2.
fn world() -> TestEnv {
    let env = TestEnv::without_sandbox_ceiling();
    let green = "printf '%s\\n' .. ---------- 'Ran 2 tests in 0.001s' '' OK >&2";
    env.write("repo/run_tests.sh", &format!("if grep -q 2 price; then {green}; exit 0; fi\n{RED}"));
    env.write("repo/build.sh", "echo compiling\necho 'ld: cannot find -lz' >&2\nexit 2\n");
    env.write("repo/test_shop.py", "");
    env.write("repo/price", "1\n");
    env.git(&["add", "."]);
    env.git(&["commit", "--quiet", "--message", "tests"]);
    env
}

fn runs(command: &str) -> Value {
    json!({ "tool": "exec_command", "args": { "cmd": command } })
}

/// What is told of a run with these commands, without what differs from run to run.
fn told(commands: &[&str], answer: &str) -> String {
    let env = world();
    let calls: Vec<Value> = commands.iter().map(|command| runs(command)).collect();
    let script = json!({ "calls": calls, "answer": answer });
    let run = env.run(&["--sandbox", "danger-full-access"], &task("call", &script)).ended(0);
    let shown = env.delegator(&["results", text(&run, "task_id")]).stdout;
    let results = env.results(&run);
    let wanted = ["commands", "test_results", "error_context", "unresolved_error", "earlier_errors"];
    let structure: Value = wanted.iter().map(|name| (*name, results["metadata"][*name].clone())).collect();
    let told = format!("{shown}\n{structure:#}\n");
    let told = told.replace(env.root().to_str().expect("a path of text"), "ROOT");
    let changing = [
        ("T-local-[0-9a-z]{12}", "TASK"),
        ("[0-9]{4}-[0-9]{2}-[0-9]{2}_[0-9]{9}_[0-9a-f]{12}", "RUN"),
        ("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "THREAD"),
        (r"\([0-9.]+ m?s\)", "(SOME TIME)"),
        (r"[0-9]+ bytes", "SOME bytes"),
        ("[0-9a-f]{10} -> [0-9a-f]{10}", "COMMIT -> COMMIT"),
    ];
    changing.iter().fold(told, |told, (pattern, name)| {
        Regex::new(pattern).expect("a pattern").replace_all(&told, *name).into_owned()
    })
}

#[test]
fn a_run_that_fails_a_test_fixes_it_and_passes() {
    let commands = ["sh run_tests.sh", "echo 2 > price", "sh run_tests.sh"];
    insta::assert_snapshot!(told(&commands, "I fixed the price."));
}

#[test]
fn a_run_that_hides_an_exit_code_behind_tail() {
    insta::assert_snapshot!(told(&["sh build.sh 2>/dev/null | tail -1"], "It builds."));
}

#[test]
fn a_run_that_stashes_its_change_between_two_test_runs() {
    let commands = ["echo 3 > price", "sh run_tests.sh", "git stash", "echo 2 > price", "sh run_tests.sh"];
    insta::assert_snapshot!(told(&commands, "All tests pass."));
}

#[test]
fn a_run_that_says_its_tests_pass_and_they_do_not() {
    insta::assert_snapshot!(told(&["sh run_tests.sh || true"], "All 40 tests passed."));
}
