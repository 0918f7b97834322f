//! What an agent does with git: commits, branches, stashes.

use crate::world::{Done, World};

const SOME: &str =
    "seq 1 20 >a; echo b >b; git add -A; git commit -qm first; echo 2 >>b; git commit -qam second";

fn subjects(done: &Done) -> Vec<&str> {
    let commits = done.files()["commits"].as_array().map(Vec::as_slice).unwrap_or_default();
    commits.iter().map(|commit| commit["subject"].as_str().unwrap()).collect()
}

#[track_caller]
fn check(more: &str, script: &str, expected: &[&str]) -> Done {
    let world = World::new(SOME);
    world.shell(more);
    let head = |world: &World| world.try_shell("git rev-parse -q --verify HEAD").stdout.trim().to_owned();
    let before = head(&world);
    let done = world.check(script);
    assert_eq!(subjects(&done), expected, "{:#}", done.evidence);
    assert_eq!(done.files()["before"]["commit"], before.as_str());
    assert_eq!(done.files()["after"]["commit"], head(&world).as_str());
    done
}

#[test]
fn what_was_committed_is_a_change_and_the_commits_are_named() {
    let done = check(
        "",
        "echo x >>a; git commit -qam third; echo n >new; git add new; git commit -qm 'fourth ✓'",
        &["fourth ✓", "third"],
    );
    assert_eq!(done.kinds(), [("modified".into(), "a".into()), ("added".into(), "new".into())]);
    assert_eq!(done.files()["after"]["branch"], "main");
}

#[test]
fn an_amended_commit_is_a_new_one() {
    check("", "echo x >>a; git commit -qa --amend -m 'second, better'", &["second, better"]);
}

#[test]
fn switching_to_a_branch_makes_no_commit() {
    let done = check(
        "git checkout -qb side; echo s >s; git add s; git commit -qm 'on the side'; git checkout -q main",
        "git checkout -q side",
        &[],
    );
    assert_eq!(done.kinds(), [("added".into(), "s".into())]);
    assert_eq!(
        (&done.files()["before"]["branch"], &done.files()["after"]["branch"]),
        (&"main".into(), &"side".into())
    );
}

#[test]
fn a_merge_is_one_commit() {
    check(
        "git checkout -qb side; echo s >s; git add s; git commit -qm 'on the side'; git checkout -q main; \
         echo m >m; git add m; git commit -qm 'on main'",
        "git merge -q -m merged side",
        &["merged"],
    );
}

#[test]
fn rebased_commits_are_new_ones() {
    check(
        "git checkout -qb side HEAD~1; echo s >s; git add s; git commit -qm 'on the side'",
        "git rebase -q main",
        &["on the side"],
    );
}

#[test]
fn a_commit_on_a_branch_that_was_left_again_counts() {
    let done = check(
        "",
        "git checkout -qb other; echo o >o; git add o; git commit -qm elsewhere; git checkout -q main",
        &["elsewhere"],
    );
    assert_eq!(done.kinds(), []);
}

#[test]
fn a_stash_takes_changes_away() {
    let done = check("echo mine >>a; echo un >un", "git stash -q -u", &[]);
    assert_eq!(done.kinds(), [("modified".into(), "a".into()), ("deleted".into(), "un".into())]);
}

#[test]
fn staging_alone_changes_nothing() {
    let done = check("echo mine >>a; echo un >un", "git add -A", &[]);
    assert_eq!(done.kinds(), []);
}

#[test]
fn a_reset_is_seen() {
    check("", "git reset -q --hard HEAD~1", &[]);
}

#[test]
fn detached_commits_count() {
    let done = check("", "git checkout -q --detach; echo x >>a; git commit -qam floating", &["floating"]);
    assert_eq!(done.files()["after"].get("branch"), None);
}

#[test]
fn what_was_fetched_was_not_made_here() {
    let world = World::new(SOME);
    world.shell(
        "git clone -q . ../up/remote; git remote add origin ../up/remote; git fetch -q; \
                 cd ../up/remote && echo r >r && git add r && git commit -qm theirs",
    );
    let done = world.check(
        "git fetch -q origin; git merge -q --ff-only origin/main; echo o >o; git add o; git commit -qm ours",
    );
    assert_eq!(subjects(&done), ["ours"]);
}

#[test]
fn packed_references_and_collected_objects_are_read() {
    check(
        "git tag -a v1 -m v1; git pack-refs --all; git gc -q",
        "echo x >>a; git commit -qam third; git gc -q; git pack-refs --all",
        &["third"],
    );
}

#[test]
fn a_merge_that_is_not_finished_is_compared_as_it_lies_there() {
    let world = World::new(SOME);
    world.shell("git checkout -qb side; echo s >a; git commit -qam s; git checkout -q main; echo m >a; git commit -qam m; \
                 git merge -q side || true; test -f .git/MERGE_HEAD");
    let done = world.check("echo resolved >a; echo more >>b");
    assert_eq!(done.kinds(), [("modified".into(), "a".into()), ("modified".into(), "b".into())]);
}

#[test]
fn what_is_committed_in_another_working_tree_is_somebody_elses() {
    check(
        "git worktree add -q ../side/other -b other",
        "echo x >>a; git commit -qam mine; cd ../side/other; echo x >>b; git commit -qam theirs",
        &["mine"],
    );
    let world = World::new(SOME);
    world.shell("git worktree add -q linked -b other; echo linked/ >>.git/info/exclude");
    let world = world.at("linked");
    let done = world.check("echo x >>a; git commit -qam mine; cd ..; echo x >>b; git commit -qam theirs");
    assert_eq!(subjects(&done), ["mine"]);
    // Their tree may be gone by the end.
    check(
        "git worktree add -q ../side/third -b third",
        "echo x >>a; git commit -qam mine; git -C ../side/third commit -q --allow-empty -m theirs; \
         git worktree remove ../side/third",
        &["mine"],
    );
    // What is checked out here in the end is this run's.
    check(
        "git worktree add -q ../side/fourth -b fourth",
        "git worktree remove ../side/fourth; git switch -q fourth; git commit -q --allow-empty -m mine",
        &["mine"],
    );
}

#[test]
fn what_is_pulled_from_a_place_without_a_name_was_not_made_here() {
    let world = World::new(SOME);
    world.shell("git clone -q . ../up/up; cd ../up/up; echo x >>a; git commit -qam upstream");
    let done = world.check("git pull -q ../up/up main; echo y >>b; git commit -qam mine");
    assert_eq!(subjects(&done), ["mine"]);
}

#[test]
fn commits_that_are_older_than_the_run_are_counted_and_not_listed() {
    let world = World::new(SOME);
    let done = world.run("echo x >>a; GIT_COMMITTER_DATE='2001-01-01 00:00:00' git commit -qam old");
    assert_eq!(subjects(&done), [""; 0]);
    let gap = done.files()["incomplete"][0].as_str().unwrap();
    assert!(gap.starts_with("1 new commit is older than the run"), "{gap}");
    // However many they are, and whatever came with them.
    let old = "GIT_COMMITTER_DATE='2001-01-01 00:00:00' git commit -q --allow-empty -m old";
    let done = world.run(&format!(
        "i=0; git commit -q --allow-empty -m first; while [ $i -lt 230 ]; do {old}; i=$((i+1)); done; \
         git commit -q --allow-empty -m last"
    ));
    assert_eq!(subjects(&done), ["last", "first"]);
    let gaps = done.files()["incomplete"].as_array().unwrap();
    assert_eq!(gaps.len(), 1, "{gaps:?}");
    assert!(gaps[0].as_str().unwrap().starts_with("230 new commits are older"), "{gaps:?}");
}

#[test]
fn a_commit_on_no_branch_that_was_left_again_is_named() {
    check(
        "",
        "git checkout -q --detach; echo x >>a; git commit -qam aside; git checkout -q main",
        &["aside"],
    );
}

#[test]
fn commits_that_cannot_be_read_any_more_are_told_not_to_be_known() {
    let world = World::new(SOME);
    let done = world.run("echo x >>a; git commit -qam mine; rm -rf .git/objects/*");
    assert_eq!(subjects(&done), [""; 0]);
    let gaps = done.files()["incomplete"].as_array().unwrap();
    let gap = "commits are unknown: the commit of the checkout cannot be read";
    assert!(gaps.iter().any(|one| one == gap), "{gaps:?}");
}
