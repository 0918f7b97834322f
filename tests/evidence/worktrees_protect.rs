//! Worktrees and `apply` neither write nor run what they should not, and lose no work.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::env::{PATIENCE, acknowledged, wait_for};
use crate::worktrees::{SOME, delegator, files, json_of, run, state};
use crate::world::{World, assert_same};

/// What the fake Codex prints.
const THREAD_STARTED: &str =
    r#"{"type":"thread.started","thread_id":"0198f000-0000-7000-8000-000000000001"}"#;
const TURN_COMPLETED: &str =
    r#"{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}"#;

/// A completed task of the fake Codex, and where it worked.
fn codex_task(world: &World, args: &[&str]) -> (String, PathBuf) {
    let (command, rest) = args.split_first().expect("a command");
    let agent: &[&str] = if *command == "run" { &["--agent", "codex"] } else { &[] };
    let ran = delegator(world, &[&[*command], agent, &["--wait", "--json"], rest].concat());
    let report: Value = serde_json::from_str(&ran.stdout).expect("a report");
    assert_eq!(report["status"], "completed", "{report:#}");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let id = text(&report["task_id"]);
    (id, PathBuf::from(text(&report["worktree"]["path"])))
}

#[test]
fn a_copy_of_an_ignored_file_is_not_written_through_a_link_of_the_commit() {
    let world = World::new(SOME);
    let victim = world.env.side().join("victim");
    fs::write(&victim, "mine\n").unwrap();
    world.shell(&format!(
        "ln -s {} .env; git add -f .env; echo .env >.worktreeinclude; git add .worktreeinclude; git commit -qm link; \
         git rm -q --cached .env; rm .env; echo secret >.env",
        victim.display()
    ));
    let task = run(&world, "echo more >>a");
    task.warned("not copied into the worktree: `.env`");
    assert_eq!(fs::read_to_string(victim).unwrap(), "mine\n");
    assert!(task.path().join(".env").is_symlink());
}

#[test]
fn a_repository_that_the_agent_made_is_not_removed_with_the_worktree() {
    let world = World::new(SOME);
    let nested = "git init -q sub; cd sub; echo s >s; git add s; git commit -qm s; cd ..";
    for (script, changed) in [
        (nested.to_owned(), None),
        (format!("{nested}; echo more >>a"), Some("modified a")),
        ("git init -q sub; echo s >sub/s".to_owned(), None),
    ] {
        let task = run(&world, &script);
        task.warned("repositories of their own and are not committed");
        if let Some(changed) = changed {
            let applied = json_of(&world, 0, &["apply", &task.id]);
            assert_eq!(files(&applied, "files"), [changed]);
            assert!(applied["warnings"].to_string().contains("`sub`"), "{applied:#}");
        }
        let refused = json_of(&world, 2, &["discard", &task.id]).to_string();
        assert!(refused.contains("`sub`; move them elsewhere or delete them"), "{refused}");
        let worktree = world.env.home().join("worktrees").join(&task.id);
        assert_eq!(fs::read_to_string(worktree.join("sub/s")).unwrap(), "s\n");
        fs::remove_dir_all(worktree.join("sub")).unwrap();
        json_of(&world, 0, &["discard", &task.id]);
        assert!(!worktree.exists());
    }
    let added = run(&world, &format!("{nested}; git add sub 2>/dev/null; git commit -qm sub"));
    json_of(&world, 2, &["discard", &added.id]);
    assert!(added.path().join("sub/s").exists());
}

#[test]
fn a_worktree_in_which_another_task_works_is_left_alone() {
    let world = World::new(SOME);
    let side = world.env.side();
    world.codex(&format!(
        "echo '{THREAD_STARTED}'\n\
         echo work >>work\n\
         case \"$*\" in *resume*) touch {side}/began; until test -e {side}/go; do sleep 0.02; done ;; esac\n\
         echo '{TURN_COMPLETED}'\n",
        side = side.display()
    ));
    let (first, _) = codex_task(&world, &["run", "--sandbox", "workspace-write", "--worktree", "one"]);
    let ran = delegator(&world, &["resume", &first, "--json", "two"]);
    let second = acknowledged(&ran.stdout).unwrap_or_else(|| panic!("{}{}", ran.stdout, ran.stderr)).task_id;
    wait_for("its agent", PATIENCE, || side.join("began").exists().then_some(()));
    let head = world.shell(&format!("git rev-parse delegator/{first}"));
    for command in ["apply", "diff", "discard"] {
        let refused = json_of(&world, 4, &[command, &first]).to_string();
        assert!(
            refused.contains(&format!("the task {second}, which works in the same worktree")),
            "{refused}"
        );
    }
    assert_eq!(world.shell(&format!("git rev-parse delegator/{first}")), head);
    fs::write(side.join("go"), "").unwrap();
    assert_eq!(world.env.await_final(&second), "completed");
    json_of(&world, 0, &["apply", &first]);
    assert_eq!(world.shell("cat work"), "work\nwork\n");
}

#[test]
fn setup_is_not_run_on_what_another_run_may_have_written() {
    let world = World::new(SOME);
    let sprung = world.env.side().join("sprung");
    world.shell("echo 'echo set up >log.log' >setup.sh; git add setup.sh; git commit -qm setup");
    world.codex(&format!(
        "echo '{THREAD_STARTED}'\necho 'touch {}' >setup.sh\necho '{TURN_COMPLETED}'\n",
        sprung.display()
    ));
    let config = fs::read_to_string(world.env.root().join("config/delegator/config.toml")).unwrap();
    world.env.configure(&format!("{config}worktree_setup = \"sh ./setup.sh\"\n"));
    let (first, worktree) = codex_task(&world, &["run", "--sandbox", "workspace-write", "--worktree", "one"]);
    assert_eq!(fs::read_to_string(worktree.join("log.log")).unwrap(), "set up\n");
    json_of(&world, 0, &["apply", &first]);
    assert!(!worktree.exists());
    let (second, _) = codex_task(&world, &["resume", &first, "two"]);
    let warnings = json_of(&world, 0, &["results", &second])["warnings"].to_string();
    assert!(warnings.contains("`worktree_setup` was not run"), "{warnings}");
    assert!(!sprung.exists());

    // What git does not know is not replaced.
    fs::remove_dir_all(world.dir().join(".git/worktrees").join(&first)).unwrap();
    let ran = delegator(&world, &["resume", &second, "--wait", "--json", "three"]);
    assert!(ran.stdout.contains("git no longer knows the worktree"), "{}{}", ran.stdout, ran.stderr);
    assert!(worktree.join("setup.sh").exists());
}

#[test]
fn setup_is_run_on_a_commit_that_the_user_has_left_and_on_no_other() {
    let world = World::new(SOME);
    world.env.configure("worktree_setup = \"echo set up >up.log\"\n");
    for (number, (forget, told)) in
        [("true", 0), ("git reflog expire --expire=all --all", 1)].iter().enumerate()
    {
        let go = world.env.side().join(format!("go{number}"));
        let until = format!("until test -e {}; do sleep 0.02; done", go.display());
        let submit = |options: &[&str], script: &str| {
            let ran =
                delegator(&world, &[&["run", "--agent", "command", "--json"], options, &[script]].concat());
            acknowledged(&ran.stdout).unwrap_or_else(|| panic!("{}{}", ran.stdout, ran.stderr)).task_id
        };
        let first = submit(&[], &until);
        let second = submit(&["--after", &first, "--worktree"], "test ! -e up.log || cat up.log >seen");
        world.shell(&format!("echo {number} >>a; git commit -qam later; {forget}"));
        fs::write(go, "").unwrap();
        assert_eq!(world.env.await_final(&second), "completed");
        let results = json_of(&world, 0, &["results", &second]).to_string();
        assert_eq!(results.matches("`worktree_setup` was not run").count(), *told, "{results}");
    }
}

#[test]
fn work_that_cannot_be_committed_is_not_discarded() {
    let world = World::new(SOME);
    let task = run(&world, "echo more >>a");
    let linked = world.dir().join(".git/worktrees").join(&task.id);
    fs::rename(&linked, world.env.side().join("linked")).unwrap();
    fs::write(task.path().join("new"), "new\n").unwrap();
    let refused = json_of(&world, 2, &["discard", &task.id]).to_string();
    assert!(refused.contains("git no longer knows the worktree"), "{refused}");
    assert!(task.path().join("new").exists());
    fs::rename(world.env.side().join("linked"), linked).unwrap();
    let commit = json_of(&world, 0, &["discard", &task.id])["commit"].as_str().unwrap().to_owned();
    assert_eq!(world.shell(&format!("git show {commit}:new")), "new\n");
}

#[test]
fn after_an_interrupted_apply_only_an_undo_is_possible() {
    let world = World::new(SOME);
    let task = run(&world, "echo new >new; echo more >>a");
    let before = state(&world);
    json_of(&world, 0, &["apply", &task.id]);
    // As if it had been killed when it had written one of two files.
    let run_dir = Path::new(task.report["run_dir"].as_str().unwrap());
    fs::remove_file(run_dir.join("applied/done")).unwrap();
    fs::remove_file(world.dir().join("new")).unwrap();
    fs::write(world.dir().join(format!(".delegator-apply-{}.tmp", "0a".repeat(16))), "new\n").unwrap();
    let refused = json_of(&world, 2, &["apply", &task.id]).to_string();
    assert!(refused.contains(&format!("run `delegator apply --undo {}` first", task.id)), "{refused}");
    json_of(&world, 0, &["apply", "--undo", &task.id]);
    assert_same(&before, &state(&world), "an apply that was interrupted, and its undo");
    assert_eq!(json_of(&world, 0, &["apply", &task.id])["files"].as_array().unwrap().len(), 2);
}

#[test]
fn a_directory_and_a_link_can_take_each_others_place() {
    let world = World::new(SOME);
    world.shell("mkdir t; echo t >t/f; ln -s t l; git add -A; git commit -qm links");
    let task = run(&world, "rm -r d; ln -s t d; rm l; mkdir l; echo l >l/f");
    let before = state(&world);
    json_of(&world, 0, &["apply", &task.id]);
    assert_eq!(world.shell("readlink d; cat l/f t/f"), "t\nl\nt\n");
    json_of(&world, 0, &["apply", "--undo", &task.id]);
    assert_same(&before, &state(&world), "apply and undo");
}

#[test]
fn permissions_stay_and_only_the_executable_bit_follows_the_change() {
    let world = World::new(SOME);
    world.shell("echo s >s; git add s; git commit -qm s; chmod 600 a; chmod 664 d/f; chmod 640 s");
    let task = run(&world, "echo more >>a; echo more >>d/f; chmod +x s");
    json_of(&world, 0, &["apply", &task.id]);
    let mode = |path: &str| fs::metadata(world.dir().join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!([mode("a"), mode("d/f"), mode("s")], [0o600, 0o664, 0o750]);
}

#[test]
fn a_change_of_a_file_that_is_not_checked_out_is_a_conflict() {
    let world = World::new(SOME);
    let task = run(&world, "echo more >>d/f; echo more >>a");
    world.shell("git sparse-checkout set --no-cone /a");
    let refused = json_of(&world, 1, &["apply", &task.id]);
    assert_eq!(files(&refused, "conflicts"), ["in d/f"]);
    assert_eq!(refused["conflicts"][0]["reason"], "it is not checked out");
}
