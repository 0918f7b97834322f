//! Codex in a worktree of its own: what its sandbox lets it write there, and what comes back.

use std::fs;

use serde_json::json;

use crate::env::{TestEnv, text};
use crate::model::task;

const WRITES: [&str; 2] = ["--sandbox", "workspace-write"];

/// That the user's Codex configuration trusts nothing new is checked at the end of every test.
#[test]
fn codex_writes_in_its_worktree_and_cannot_commit_there_but_we_do() {
    let env = TestEnv::new();
    fs::write(env.repo("mine.txt"), "uncommitted\n").unwrap();
    let script = "echo made >made.txt; git add made.txt; git commit -m own; echo tried >>README.md; \
                  echo out >../out.txt; true";
    let run = env.run(&[&WRITES[..], &["--worktree"]].concat(), &task("shell", &json!({ "cmd": script })));
    let run = run.ended(0);
    let worktree = &run["worktree"];
    let branch = text(worktree, "branch");
    assert_eq!(run["file_operations"]["added_files"], json!(["made.txt"]), "{run:#}");
    assert_eq!(env.git(&["log", "--format=%an", branch]), "delegator\nTest\n", "Codex itself cannot commit");
    assert_eq!(env.git(&["diff", "--name-only", "main", branch]), "README.md\nmade.txt\n");
    assert!(!env.path("state/worktrees/out.txt").exists(), "the sandbox ends at the worktree");
    assert_eq!(env.git(&["status", "--short"]), "?? mine.txt\n");

    // It goes on where it was.
    let more = task("shell", &json!({ "cmd": "cat made.txt >again.txt" }));
    let given = ["resume", text(&run, "task_id"), &more, "--env", "FAKE_KEY", "--wait", "--json"];
    let second = env.delegator(&given).ended(0);
    assert_eq!(text(&second["worktree"], "branch"), branch);
    let applied = env.delegator(&["apply", text(&second, "task_id"), "--json"]).json();
    assert_eq!(applied["data"]["files"].as_array().map(Vec::len), Some(3), "{applied:#}");
    assert_eq!(env.git(&["status", "--short"]), " M README.md\n?? again.txt\n?? made.txt\n?? mine.txt\n");
}
