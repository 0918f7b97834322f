//! Codex Cloud at the command line, against the stand-in: what is sent, what comes back, and what is known beforehand.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::normalized_output::fits;
use crate::support::env::{PATIENCE, Submitted, TestEnv, acknowledged, finish};

const DIFF: &str = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n one\n+more\n";
const PAGE: &str = "https://chatgpt.com/codex/tasks/task_e_1";

struct Cloud {
    env: TestEnv,
    dir: PathBuf,
}

impl Cloud {
    /// All jobs of the service are ready.
    fn new() -> Cloud {
        let env = TestEnv::new();
        let program = env.root().join("bin/codex");
        fs::write(&program, include_str!("../support/codex_cloud.sh")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
        env.configure(&format!("codex_path = \"{}\"\n", program.display()));
        let dir = env.side().join("cloud");
        fs::create_dir_all(dir.join("tasks")).unwrap();
        fs::write(dir.join("state"), "READY").unwrap();
        fs::write(dir.join("diff"), DIFF).unwrap();
        Cloud { env, dir }
    }

    fn run(&self, code: i32, options: &[&str]) -> Value {
        let args = [&["run", "--agent", "codex_cloud", "--json"], options, &["do it"]].concat();
        let ran = self.env.expect(code, &args);
        serde_json::from_str(&ran.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}{}", ran.stdout, ran.stderr))
    }

    /// What the first job was submitted with.
    fn sent(&self, file: &str) -> Option<String> {
        fs::read_to_string(self.dir.join("tasks/task_e_1").join(file)).ok()
    }

    fn git(&self, args: &[&str]) {
        let mut command = Command::new("git");
        self.env.settle_in(&mut command);
        let who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"];
        command.args(who).args(args);
        let ran = finish(command, PATIENCE);
        assert_eq!(ran.code, Some(0), "{args:?}: {}{}", ran.stdout, ran.stderr);
    }

    /// A repository with one commit, on a branch of its own.
    fn repository(&self) -> PathBuf {
        let work = self.env.work();
        self.git(&["init", "-q"]);
        fs::write(work.join("kept.txt"), "one\ntwo\n").unwrap();
        fs::write(work.join("gone.bin"), [0, 159, 146, 150, 10]).unwrap();
        self.git(&["add", "."]);
        self.git(&["commit", "-qm", "first"]);
        self.git(&["checkout", "-qb", "feature/x"]);
        work
    }
}

fn files_in(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn a_task_goes_to_the_cloud_and_its_changes_come_back() {
    let cloud = Cloud::new();
    cloud.repository();
    let report = cloud.run(0, &["--env-id", "e", "--attempts", "2", "--wait"]);
    fits("delegate_run", &report);
    let id = report["task_id"].as_str().unwrap();
    assert!(id.starts_with("T-cloud-"), "{id}");
    let args = "cloud exec --env e --attempts 2 --branch feature/x -\n";
    assert_eq!(cloud.sent("args").unwrap(), args);
    assert_eq!(cloud.sent("starting_diff"), None, "nobody asked for it");
    assert_eq!(report["status"], "completed");
    let summary = report["summary"].as_str().unwrap();
    assert_eq!(summary, "do it: +1/-0 • 1 file (2 attempts, 2 with changes)");
    let cloud_task = json!({ "page": PAGE, "attempts": 2, "changes": ["changes.diff", "changes-2.diff"] });
    assert_eq!(report["cloud"], cloud_task);
    let opened: Vec<_> = report["artifacts"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(opened, ["changes.diff", "changes-2.diff", "stdout.log", "transcript.log"]);
    let files = &report["file_operations"];
    assert_eq!((&files["modified_files"], &files["lines_added"]), (&json!(["x"]), &json!(1)));
    assert_eq!(
        (&files["source"], &files["reason"]),
        (&json!("cloud"), &json!("attempt 1, not applied here"))
    );
    let results = cloud.env.json(&["results", id, "--json"]);
    fits("result_set", &results);
    assert_eq!(results["data"]["metadata"]["cloud"], cloud_task);
    assert_eq!(results["data"]["files"][0], "changes.diff");
    let waited = cloud.env.json(&["wait", id, "--json"]);
    fits("wait_result", &waited);
    assert_eq!(waited["data"]["files"], cloud_task["changes"]);
    let next = json!({ "task_id": id, "artifact": "changes.diff" });
    for reply in [&report, &results, &waited] {
        assert_eq!(
            (&reply["next"][0]["tool"], &reply["next"][0]["arguments"]),
            (&json!("inspect_output"), &next)
        );
    }
    let text = cloud.env.expect(0, &["results", id]).stdout;
    assert!(text.contains(&format!("page: {PAGE}\n")), "{text}");
    assert!(text.contains(&format!("`delegator inspect {id} changes.diff` shows its changes")), "{text}");
    let status = cloud.env.expect(0, &["status", id]).stdout;
    assert!(status.contains(PAGE), "{status}");
    for name in ["changes.diff", "changes-2.diff"] {
        assert_eq!(cloud.env.expect(0, &["inspect", id, name, "--grep", "more"]).code, Some(0));
    }
    assert_eq!(
        files_in(&cloud.env.work()),
        [".git", "gone.bin", "kept.txt"],
        "written into the user's directory"
    );
}

#[test]
fn its_changes_are_applied_beside_uncommitted_work_or_not_at_all() {
    let cloud = Cloud::new();
    let work = cloud.repository();
    let diff = "diff --git a/kept.txt b/kept.txt\n--- a/kept.txt\n+++ b/kept.txt\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n\
                diff --git a/new.txt b/new.txt\nnew file mode 100644\n--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+new\n";
    fs::write(cloud.dir.join("diff"), diff).unwrap();
    let report = cloud.run(0, &["--env-id", "e", "--wait"]);
    let id = report["task_id"].as_str().unwrap();
    assert_eq!(cloud.env.expect(0, &["diff", id]).stdout, diff);
    fs::write(work.join("kept.txt"), "one\ntwo\nmine\n").unwrap();
    fits("registry_info", &cloud.env.json(&["apply", id, "--json"]));
    assert_eq!(fs::read_to_string(work.join("kept.txt")).unwrap(), "1\ntwo\nmine\n");
    assert_eq!(fs::read_to_string(work.join("new.txt")).unwrap(), "new\n");
    cloud.env.expect(0, &["apply", "--undo", id]);
    assert_eq!(fs::read_to_string(work.join("kept.txt")).unwrap(), "one\ntwo\nmine\n");
    fs::write(work.join("kept.txt"), "other\n").unwrap();
    let refused = cloud.env.expect(1, &["apply", id]).stdout;
    assert!(refused.contains("- kept.txt: "), "{refused}");
    assert!(!work.join("new.txt").exists());
    let refused = cloud.env.expect(2, &["discard", id]).stderr;
    assert!(refused.contains("nothing to"), "{refused}");
}

#[test]
fn changes_that_do_not_come_back_are_warned_of() {
    let cloud = Cloud::new();
    fs::remove_file(cloud.dir.join("diff")).unwrap();
    let report = cloud.run(0, &["--env-id", "e", "--wait"]);
    let warning = report["warnings"][0].as_str().unwrap();
    assert!(warning.contains("could not be fetched") && warning.ends_with(PAGE), "{warning}");
}

#[test]
fn trouble_while_a_task_is_followed_asks_for_no_second_task() {
    let cloud = Cloud::new();
    let broken = "Error: GET https://chatgpt.com/backend-api/wham/tasks/x failed: 500 Internal Server Error";
    fs::write(cloud.dir.join("refuses-status"), broken).unwrap();
    let task = acknowledged(&cloud.run(0, &["--env-id", "e"]).to_string()).unwrap();
    let told = crate::support::env::wait_for("the failed poll", PATIENCE, || {
        let status = cloud.env.expect(0, &["status", &task.task_id]).stdout;
        status.contains("500").then_some(status)
    });
    assert!(told.contains("asked again automatically, nothing to do") && told.contains(PAGE), "{told}");
    let status = cloud.env.json(&["status", &task.task_id, "--json"]);
    let actions = status["data"]["tasks"][0]["progress"]["next_actions"].to_string();
    assert!(actions.contains("stops following it; the cloud goes on with it"), "{actions}");
    fs::remove_file(cloud.dir.join("refuses-status")).unwrap();
    cloud.env.expect(0, &["wait", &task.task_id]);
    assert_eq!(files_in(&cloud.dir.join("tasks")), ["task_e_1"]);
}

#[test]
fn a_submission_that_is_refused_says_whether_to_repeat_it() {
    for (said, reason, retryable) in [
        ("Error: environment 'e' not found; run codex cloud", "unknown_environment", false),
        ("error sending request: dns error: failed to lookup address", "no_network", true),
    ] {
        let cloud = Cloud::new();
        fs::write(cloud.dir.join("refuses-exec"), said).unwrap();
        let advice = cloud.run(1, &["--env-id", "e", "--wait"])["error_context"].clone();
        assert_eq!(
            (&advice["reason"], &advice["retryable"]),
            (&json!(reason), &json!(retryable)),
            "{advice:#}"
        );
        assert_eq!(advice["hint"].as_str().unwrap().contains("start the task again"), retryable);
    }
}

#[test]
fn outside_a_repository_the_branch_is_named_too() {
    let cloud = Cloud::new();
    cloud.run(0, &["--env-id", "e", "--wait"]);
    assert_eq!(cloud.sent("args").unwrap(), "cloud exec --env e --branch main -\n");
    let refused = cloud.run(2, &["--env-id", "e", "--starting-diff"]);
    assert_eq!(refused["error"]["details"]["reason"], "outside_git");
    let hint = refused["error"]["hint"].as_str().unwrap();
    assert!(hint.starts_with("leave out `--starting-diff`"), "{hint}");
}

#[test]
fn uncommitted_work_goes_along_if_asked_for() {
    let cloud = Cloud::new();
    let work = cloud.repository();
    fs::write(work.join("kept.txt"), "one\n2\n").unwrap();
    fs::write(work.join("staged.txt"), "staged\n").unwrap();
    cloud.git(&["add", "staged.txt"]);
    fs::write(work.join("new file.bin"), [0, 1, 2, 255]).unwrap();
    fs::remove_file(work.join("gone.bin")).unwrap();
    fs::write(work.join(".gitignore"), "*.log\n").unwrap();
    fs::write(work.join("noise.log"), "noise\n").unwrap();
    let index = fs::read(work.join(".git/index")).unwrap();
    let report = cloud.run(0, &["--env-id", "e", "--branch", "other", "--starting-diff", "--wait"]);
    assert_eq!(fs::read(work.join(".git/index")).unwrap(), index, "the user's index was written");
    assert_eq!(cloud.sent("args").unwrap(), "cloud exec --env e --branch other -\n");
    // What a service makes of it: the same tree, in another place.
    fs::write(cloud.env.root().join("side/patch"), cloud.sent("starting_diff").unwrap()).unwrap();
    cloud.git(&["worktree", "add", "-q", "../there", "HEAD"]);
    cloud.git(&["-C", "../there", "apply", "--binary", "../side/patch"]);
    let there = cloud.env.root().join("there");
    assert_eq!(files_in(&there), [".git", ".gitignore", "kept.txt", "new file.bin", "staged.txt"]);
    assert_eq!(fs::read_to_string(there.join("kept.txt")).unwrap(), "one\n2\n");
    assert_eq!(fs::read(there.join("new file.bin")).unwrap(), [0, 1, 2, 255]);
    // It is a value of the environment, and those are not kept.
    let dir = cloud.env.run_dir(report["run_id"].as_str().unwrap());
    assert!(!dir.join("env.json").exists());
    assert!(!fs::read_to_string(dir.join("request.json")).unwrap().contains("staged.txt"));
    assert_eq!(files_in(&cloud.env.home().join("diffs")), [""; 0], "scratch is left");
}

#[test]
fn uncommitted_work_that_cannot_be_sent_is_refused() {
    let cloud = Cloud::new();
    let work = cloud.repository();
    fs::write(work.join("large.txt"), "0123456789abcdef\n".repeat(10_000)).unwrap();
    let told = cloud.run(2, &["--env-id", "e", "--starting-diff"]);
    let message = told["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("uncommitted work cannot be sent: it is 1"), "{message}");
    fs::write(work.join("large.txt"), b"caf\xe9\n").unwrap();
    let told = cloud.run(2, &["--env-id", "e", "--starting-diff"]);
    assert!(told["error"]["message"].as_str().unwrap().ends_with("it is not UTF-8 text"), "{told:#}");
    assert_eq!(files_in(&cloud.dir.join("tasks")), [""; 0]);
}

#[test]
fn git_is_quoted_when_it_cannot_read_the_repository() {
    let cloud = Cloud::new();
    let work = cloud.repository();
    fs::write(work.join("kept.txt"), "one\n2\n").unwrap();
    fs::remove_dir_all(work.join(".git/objects")).unwrap();
    fs::create_dir(work.join(".git/objects")).unwrap();
    let error = cloud.run(2, &["--env-id", "e", "--starting-diff"])["error"].take();
    let details = &error["details"];
    assert_eq!((&error["code"], &details["exit_code"]), (&json!("VALIDATION"), &json!(128)), "{error:#}");
    assert!(details["stderr_tail"].as_str().unwrap().contains("bad object"), "{error:#}");
}

#[test]
fn what_a_cloud_task_cannot_honour_is_refused_by_name() {
    let cloud = Cloud::new();
    let refused = |options: &[&str]| cloud.run(2, &[&["--env-id", "e"], options].concat())["error"].clone();
    for options in [
        &["--sandbox", "workspace-write"][..],
        &["--network"],
        &["--model", "m"],
        &["--effort", "high"],
        &["--config", "model_verbosity=low"],
        &["--add-dir", "."],
        &["--env", "PATH"],
        &["--idle", "5"],
    ] {
        let error = refused(options);
        assert_eq!(
            (&error["code"], &error["details"]["agent"]),
            (&json!("UNSUPPORTED"), &json!("codex_cloud"))
        );
        assert!(error["message"].as_str().unwrap().contains(&format!("`{}`", options[0])), "{error:#}");
    }
    let attempts = refused(&["--attempts", "5"]);
    assert_eq!((&attempts["code"], &attempts["details"]["max"]), (&json!("VALIDATION"), &json!(4)));
    assert_eq!(refused(&["--branch=-x"])["code"], "VALIDATION");
    let other = cloud.env.expect(2, &["run", "--agent", "command", "--branch", "main", "true"]).stderr;
    assert!(other.contains("agent `command` does not support `--branch`"), "{other}");
}

#[test]
fn a_cloud_task_that_was_not_submitted_is_really_cancelled() {
    let cloud = Cloud::new();
    let program = cloud.env.root().join("bin/codex");
    cloud.env.configure(&format!("codex_path = \"{}\"\nmax_cloud = 0\n", program.display()));
    let Submitted { task_id, .. } = acknowledged(&cloud.run(0, &["--env-id", "e"]).to_string()).unwrap();
    let cancelled = cloud.env.json(&["cancel", &task_id, "--json"]);
    fits("registry_info", &cancelled);
    assert_eq!(cancelled["data"]["message"], "cancelled; no process is left");
    assert_eq!(files_in(&cloud.dir.join("tasks")), [""; 0]);
}

#[test]
fn cloud_tasks_leave_the_slots_of_this_machine_free() {
    let cloud = Cloud::new();
    let program = cloud.env.root().join("bin/codex");
    cloud.env.configure(&format!("codex_path = {program:?}\nmax_concurrent = 1\nmax_cloud = 2\n"));
    fs::write(cloud.dir.join("state"), "PENDING").unwrap();
    let submitted = || acknowledged(&cloud.run(0, &["--env-id", "e"]).to_string()).unwrap().task_id;
    let tasks: Vec<_> = (0..3).map(|_| submitted()).collect();
    let local = |line: &str| cloud.env.expect(0, &["run", "--agent", "command", line]).stdout;
    let go = cloud.env.side().join("go");
    let working = local(&format!("until [ -e {} ]; do sleep 0.02; done", go.display()));
    local("true");
    let status = cloud.env.json(&["status", "--json"]);
    assert_eq!(
        status["data"]["tasks"].as_array().unwrap().len(),
        3,
        "two in the cloud, one here: {status:#}"
    );
    let queued = status["data"]["queue"].as_array().unwrap();
    let positions: Vec<_> = queued.iter().map(|one| one["position"].as_u64().unwrap()).collect();
    assert_eq!(positions, [1, 1], "each is the next of its kind: {status:#}");
    assert_eq!(queued[0]["task_id"], json!(tasks[2]));
    fs::write(&go, "").unwrap();
    cloud.env.await_final(working.trim());
    for task in &tasks {
        cloud.env.expect(0, &["cancel", task]);
    }
}

#[test]
fn a_cloud_task_that_was_submitted_goes_on_and_cancel_says_where() {
    let cloud = Cloud::new();
    fs::write(cloud.dir.join("state"), "PENDING").unwrap();
    fs::write(cloud.dir.join("holds-status"), "").unwrap();
    let task = acknowledged(&cloud.run(0, &["--env-id", "e"]).to_string()).unwrap();
    let at = cloud.dir.join("at-status");
    crate::support::env::wait_for("a poll", PATIENCE, || at.exists().then_some(()));
    let cancelled = cloud.env.json(&["cancel", &task.task_id, "--json"]);
    fits("registry_info", &cancelled);
    let page = "https://chatgpt.com/codex/tasks/task_e_1";
    let data = &cancelled["data"];
    assert_eq!((&data["state"], &data["goes_on_at"]), (&json!("cancelled"), &json!(page)), "{data:#}");
    assert!(data["message"].as_str().unwrap().contains("Codex Cloud has no cancel"), "{data:#}");
    let results = cloud.env.expect(5, &["results", &task.task_id]).stdout;
    assert!(results.contains(&format!("its end is not followed any more: {page}")), "{results}");
}

#[test]
fn a_cloud_task_that_may_have_arrived_is_cancelled_with_a_caveat() {
    let cloud = Cloud::new();
    fs::write(cloud.dir.join("holds-exec"), "").unwrap();
    let task = acknowledged(&cloud.run(0, &["--env-id", "e"]).to_string()).unwrap();
    let at = cloud.dir.join("at-exec");
    crate::support::env::wait_for("the call", PATIENCE, || at.exists().then_some(()));
    let status = cloud.env.json(&["status", "--json"]);
    fits("status_snapshot", &status);
    assert_eq!(status["data"]["tasks"][0]["state"], "unknown", "{status:#}");
    let cancelled = cloud.env.json(&["cancel", &task.task_id, "--json"]);
    fits("registry_info", &cancelled);
    assert_eq!(cancelled["data"]["previous_state"], "unknown");
    assert!(
        cancelled["data"]["message"].as_str().unwrap().contains("may have the task all the same"),
        "{cancelled:#}"
    );
}

#[test]
fn environments_are_listed_and_edits_of_the_list_are_undone_by_the_opposite() {
    let cloud = Cloud::new();
    let env = &cloud.env;
    let file = env.root().join("config/delegator/environments.json");
    let none = env.json(&["environments", "--json"]);
    fits("registry_info", &none);
    assert_eq!((&none["meta"]["count"], &none["data"]["environments"]), (&json!(0), &json!([])));
    assert_eq!(none["meta"]["source"], file.display().to_string());
    let nowhere = cloud.run(2, &[]);
    assert_eq!(nowhere["error"]["message"], "no environment is named, and none is known");

    let stack = ["--name", "My Shop", "--repository", "https://github.com/o/shop", "--tech-stack", "node"];
    let added = env.json(&[&["environments", "add", "env_1", "--json"][..], &stack].concat());
    fits("registry_info", &added);
    assert_eq!(added["data"]["undo"], "delegator environments remove env_1");
    cloud.run(0, &["--wait"]);
    assert!(cloud.sent("args").unwrap().contains("--env env_1 "), "the only one known is taken");
    env.expect(0, &["environments", "add", "env_2"]);
    let several = cloud.run(2, &[]);
    assert_eq!(several["error"]["details"]["environments"], json!(["env_1", "env_2"]));
    cloud.run(0, &["--env-id", "my shop", "--wait"]);
    let args = fs::read_to_string(cloud.dir.join("tasks/task_e_2/args")).unwrap();
    assert!(args.contains("--env env_1 "), "a name means its id: {args}");

    let listed = env.json(&["environments", "list", "--json"]);
    fits("registry_info", &listed);
    let first = &listed["data"]["environments"][0];
    assert_eq!((&first["name"], &first["tech_stack"]), (&json!("My Shop"), &json!("node")));
    assert_eq!(first["source"], "environments.json");
    let removed = env.json(&["environments", "remove", "env_1", "--json"]);
    let undo = "delegator environments add env_1 --name 'My Shop' --repository https://github.com/o/shop --tech-stack node";
    assert_eq!(removed["data"]["undo"], undo);
    env.expect(3, &["environments", "remove", "env_1"]);
    env.expect(2, &["environments", "add", "env_2"]);
    for bad in [&[""][..], &["x", "--repository", "no"], &["x", "--tech-stack", "cobol"]] {
        env.expect(2, &[&["environments", "add"], bad].concat());
    }

    fs::write(&file, "{\"environments\": [{]}").unwrap();
    let broken = env.expect(6, &["environments"]);
    let message = format!("delegator: `{}` is not a list of environments: ", file.display());
    assert!(broken.stderr.starts_with(&message) && broken.stderr.contains("line 1"), "{}", broken.stderr);
    assert_eq!(broken.stderr.lines().count(), 2, "{}", broken.stderr);
    cloud.run(0, &["--env-id", "e", "--wait"]);
}

#[test]
fn the_guide_to_github_is_for_the_repository_at_hand() {
    let cloud = Cloud::new();
    let work = cloud.repository();
    let none = cloud.env.expect(2, &["setup", "github"]).stderr;
    assert!(none.contains("no repository is named") && none.contains("owner/name"), "{none}");
    cloud.git(&["remote", "add", "origin", "git@github.com:octo/shop.git"]);
    fs::write(work.join("package.json"), "{}").unwrap();
    let guide = cloud.env.json(&["setup", "github", "--json"]);
    fits("registry_info", &guide);
    let meta = &guide["meta"];
    assert_eq!(meta["repository"], "https://github.com/octo/shop");
    assert_eq!(meta["tech_stack"], "node");
    let text = cloud.env.expect(0, &["setup", "github"]).stdout;
    for step in guide["data"]["steps"].as_array().unwrap() {
        assert!(text.contains(step["instructions"].as_str().unwrap()), "{step:#}");
    }
    let named = cloud.env.json(&["setup", "github", "--repository", "a/b", "--tech-stack", "go", "--json"]);
    assert_eq!(
        (&named["meta"]["repository"], &named["meta"]["tech_stack"]),
        (&json!("https://github.com/a/b"), &json!("go"))
    );
    for bad in [["--repository", "https://gitlab.com/a/b"], ["--tech-stack", "cobol"]] {
        cloud.env.expect(2, &["setup", "github", bad[0], bad[1]]);
    }
}
