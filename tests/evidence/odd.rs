//! Repositories and agents out of the ordinary, each held against git.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::env::{PATIENCE, finish};
use crate::world::World;

const SOME: &str = "mkdir -p src docs; seq 1 40 >src/long; seq 50 90 >b; echo one >a; echo doc >docs/d; ln -s a link; \
                    git add -A; git commit -qm first";

/// A repository after `setup`, in which `script` works.
#[track_caller]
fn check(setup: &str, script: &str) {
    World::new(&format!("{SOME}; {setup}")).check(script);
}

#[test]
fn a_repository_whose_directory_is_elsewhere() {
    let world = World::bare();
    world.shell(&format!("git init -q -b main --separate-git-dir ../up/apart .; {SOME}; echo dirty >>a"));
    let done = world.check("echo x >>a; git mv b c; git commit -qam two; echo y >y");
    assert_eq!(done.files()["commits"][0]["subject"], "two");
}

#[test]
fn helpers_of_git_that_watch_the_tree() {
    check(
        "git config core.untrackedCache true; git update-index --untracked-cache; git status >/dev/null",
        "echo x >>a; echo n >n; rm b",
    );
    check(
        "git config core.fsmonitor true; git update-index --split-index",
        "echo x >>a; echo n >src/n; rm docs/d",
    );
    check("git config core.trustctime false; git config core.checkStat minimal", "echo x >>a; chmod +x b");
    check(
        "git config core.ignoreCase true; echo '*.LOG' >.gitignore",
        "echo x >x.log; echo y >y.txt; git mv a A",
    );
    check(
        "git config index.sparse true; git config feature.manyFiles true; git update-index --index-version 4",
        "echo x >>a; rm -r src",
    );
}

#[test]
fn bits_of_the_index_that_hide() {
    let world = World::new(&format!(
        "{SOME}; git update-index --skip-worktree a; git update-index --assume-unchanged b; echo mine >>a"
    ));
    let done = world.run("echo x >>a; echo y >>b; rm docs/d");
    let all = ["a", "b", "docs/d"].map(str::to_owned);
    assert_eq!(
        done.kinds().into_iter().map(|(_, path)| path).collect::<Vec<_>>(),
        all,
        "{:#}",
        done.evidence
    );
    assert_eq!(done.change("a")["lines_added"], 1);
}

#[test]
fn conflicts_in_the_middle_of_things() {
    let fork = "git switch -qc other; echo theirs >a; git commit -qam theirs; git switch -q main; echo ours >a; git commit -qam ours";
    check(fork, "git rebase other || true; echo n >n");
    check(
        &format!("{fork}; git rebase other >/dev/null 2>&1 || true"),
        "echo solved >a; git add a; GIT_EDITOR=true git rebase --continue",
    );
    check(&format!("{fork}; git merge other >/dev/null 2>&1 || true"), "git merge --abort; echo x >>b");
    check(fork, "git cherry-pick other || true; git checkout --theirs a");
    check(&format!("{fork}; git merge other >/dev/null 2>&1 || true"), "rm a");
}

#[test]
fn everything_becomes_something_else() {
    check("", "rm link; mkdir link; echo in >link/in");
    check("", "rm -r src; ln -s docs src");
    check("", "rm a; ln -s b a; rm link; cp b link");
    check("", "mv a tmp; mv b a; mv tmp b");
    check("", "rm -r docs; echo file >docs; rm b; mkdir b; seq 50 90 >b/b");
    check("", "chmod +x a; mv a c; ln -sf b link");
    check("", "git mv a A; git mv docs Docs");
    check("mkfifo pipe", "rm pipe; echo file >pipe; rm a; mkfifo new");
}

#[test]
fn names_that_look_like_something_else() {
    check(
        "for n in -a --all ':(top)x' '*' '!x' '#x' 'a b' '\"q\"' '\\\\b'; do echo 1 >\"./$n\"; done; git add -A; git commit -qm odd",
        "for n in -a --all ':(top)x' '*' '!x' '#x' 'a b' '\"q\"' '\\\\b'; do echo 2 >>\"./$n\"; echo 3 >\"./new$n\"; done; \
         printf x >\"$(printf 'n\\nl')\"; printf 'y\\r\\n' >\"$(printf 'b\\377\\r')\"; mv ./-a \"$(printf 'e\\303\\251')\"",
    );
}

#[test]
fn an_agent_that_rewrites_history() {
    check(
        "echo 2 >>a; git commit -qam two; echo 3 >>a; git commit -qam three",
        "git reset -q --hard HEAD~2; echo x >>b",
    );
    check(
        "echo 2 >>a; git commit -qam two",
        "git commit -q --amend -m other; git switch -q --orphan new; echo n >n; git add n; git commit -qm n",
    );
    check("echo dirty >>a", "git stash -q; echo x >>b; git stash pop -q; git gc -q --prune=now");
    check(
        "echo dirty >>a; echo un >un",
        "git stash -qu; git switch -qc other; echo x >>b; git commit -qam x",
    );
    check("", "git rm -q --cached a; git rm -q -r docs; git add -N . ");
    check(
        "",
        "git checkout -q --detach; echo x >>a; git commit -qam x; git switch -q main; git merge -q --no-edit -",
    );
    check(
        "git config core.autocrlf true",
        "printf 'a\\r\\nb\\r\\n' >a; printf 'n\\r\\n' >n; git add n; rm -f b; git checkout -q -- b",
    );
}

#[test]
fn an_agent_that_makes_the_repository_anew() {
    let world = World::new(SOME);
    let done = world
        .run("rm -rf .git; git init -q -b main .; echo x >>a; git add -A; git commit -qm anew; rm docs/d");
    let kinds = [("modified".to_owned(), "a".to_owned()), ("deleted".into(), "docs/d".into())];
    assert_eq!(done.kinds(), kinds, "{:#}", done.evidence);
    assert_eq!(done.files()["commits"][0]["subject"], "anew", "{:#}", done.evidence);
}

#[test]
fn commits_that_are_removed_for_good_cost_no_other_its_name() {
    let world = World::new(&format!(
        "{SOME}; git switch -qc aside; echo 2 >>a; git commit -qam aside; git switch -q main"
    ));
    let done = world.check(
        "git branch -q -D aside; git reflog expire --expire=now --all; git gc -q --prune=now; echo x >>b; git commit -qam mine",
    );
    assert_eq!(done.files()["commits"][0]["subject"], "mine", "{:#}", done.evidence);
}

#[test]
fn links_that_this_place_cannot_have() {
    let world = World::new(&format!("{SOME}; git config core.symlinks false; rm link; printf a >link"));
    assert_eq!(world.shell("git status --short"), "");
    assert_eq!(world.check("true").kinds(), []);
    world.check("printf b >link; echo n >n");
}

#[test]
fn work_in_a_directory_that_is_a_repository_and_no_tree() {
    let world = World::bare();
    world.shell("git init -q --bare -b main .");
    let done = world.run("echo x >x");
    assert_eq!(done.files()["source"], "none", "{:#}", done.evidence);
    assert!(done.files()["reason"].as_str().is_some_and(|reason| !reason.is_empty()));
    let world = World::new(SOME).at(".git");
    let done = world.run("echo x >x; echo y >>../a");
    // What lies in `.git` is no part of the tree that it belongs to.
    assert_eq!(done.kinds(), [("modified".into(), "a".into())], "{:#}", done.evidence);
    assert_eq!(done.files()["source"], "git");
}

#[test]
fn a_home_in_the_checkout_is_no_change_of_a_run() {
    for (place, setup) in [
        (".state", ""),
        ("deep/in/it", "mkdir -p deep/in"),
        (".state", "echo .state >.gitignore; git add -A; git commit -qm ignored"),
        ("out/state", "mkdir out; echo out >.gitignore; git add -A; git commit -qm ignored"),
    ] {
        let world = World::new("echo a >a; git add -A; git commit -qm first");
        world.shell(setup);
        world.shell(&format!("mkdir {place}; chmod 700 {place}; ln -s $PWD ../side/link"));
        // By another name, as well.
        let home = world.env.side().join("link").join(place);
        for (script, expected) in [
            ("echo x >x", json!([["added", "x"]])),
            ("echo y >>x; echo state >deep.txt", json!([["added", "deep.txt"], ["modified", "x"]])),
            ("git add -A && git commit -qm all; echo z >.statement", json!([["added", ".statement"]])),
            ("git rm -rqf --cached .; echo b >a", json!([["modified", "a"]])),
        ] {
            let mut command = world.env.command(&["run", "--agent", "command", "--wait", "--json", script]);
            command.current_dir(world.dir()).env("DELEGATOR_HOME", &home);
            let identity = [("NAME", "dev"), ("EMAIL", "dev@example.org")];
            for (name, value) in identity {
                command.env(format!("GIT_AUTHOR_{name}"), value).env(format!("GIT_COMMITTER_{name}"), value);
            }
            let ran = finish(command, PATIENCE);
            assert_eq!(ran.code, Some(0), "{place}, {script}: {}{}", ran.stdout, ran.stderr);
            let report: Value = serde_json::from_str(&ran.stdout).unwrap();
            let path = Path::new(report["run_dir"].as_str().unwrap()).join("evidence.json");
            let evidence: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
            let changes = evidence["files"]["changes"].as_array().unwrap().iter();
            let told: Vec<Value> = changes.map(|one| json!([one["kind"], one["path"]])).collect();
            assert_eq!(json!(told), expected, "{place}, {script}: {evidence:#}");
            assert_eq!(evidence["files"].get("ignored"), None, "{place}, {script}: {evidence:#}");
            assert_eq!(evidence["files"].get("incomplete"), None, "{place}, {script}: {evidence:#}");
        }
    }
}

#[test]
fn a_repository_that_a_run_removed_is_said_to_be_gone() {
    let world = World::new("echo a >a; git add -A; git commit -qm first");
    let done = world.run("rm -rf .git; echo z >z; echo more >>a");
    let gaps = done.files()["incomplete"].to_string();
    assert!(
        gaps.contains("the repository is gone: commits and the changed lines of tracked files are unknown"),
        "{gaps}"
    );
    let text = world.text(&["results", &done.task_id]);
    assert!(text.contains("(git; incomplete)") && text.contains("- the repository is gone"), "{text}");

    // What was committed in a working tree beside others stays.
    for forgotten in ["true", "git -C .. worktree prune"] {
        let world = World::new("echo a >a; git add -A; git commit -qm first; git worktree add -q tree");
        let world = world.at("tree");
        let done = world.run(&format!("rm .git; {forgotten}; echo more >>a"));
        let gaps = done.files()["incomplete"].to_string();
        assert_eq!(gaps, r#"["`.git` no longer leads to a repository; the repository itself still exists"]"#);
        assert_eq!(done.change("a")["lines_added"], 1);
    }
}

#[test]
fn a_repository_that_cannot_be_read_is_not_said_to_be_none() {
    let world = World::new("rm .git/HEAD; ln -s HEAD .git/HEAD");
    let done = world.run("echo z >z");
    let reason = done.files()["reason"].as_str().unwrap();
    let git = world.dir().join(".git");
    assert!(reason.starts_with(&format!("`{}` could not be read: ", git.display())), "{reason}");
}

#[test]
fn what_was_written_down_and_is_gone_is_named() {
    let world = World::new("echo a >a; git add -A; git commit -qm first");
    let runs = world.env.home().join("runs");
    let done = world.run(&format!("rm -rf {}/*/tree; echo z >z", runs.display()));
    let reason = done.files()["reason"].as_str().unwrap();
    let tree = done.run_dir.join("tree");
    assert!(reason.ends_with(&format!("is incomplete: `{}` is missing", tree.display())), "{reason}");
}
