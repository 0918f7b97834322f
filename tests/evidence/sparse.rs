//! Checkouts of a part of the tree: what is committed, merged or removed outside
//! of it is a change, what merely is not checked out is none.

use crate::world::World;

const SOME: &str = "mkdir -p d k/l; seq 1 9 >d/c; seq 1 20 >k/1; seq 30 60 >k/l/2; echo a >a; git add -A; git commit -qm first; \
                    git checkout -qb o; echo y >>k/1; git rm -q k/l/2; seq 70 99 >k/3; git add -A; git commit -qm o; \
                    git checkout -q main";

/// Runs `script` in checkouts of every kind, and holds what is told against git.
#[track_caller]
fn check(script: &str, expected: &[(&str, &str)]) {
    for how in ["--cone", "--no-cone", "--cone --sparse-index"] {
        let world = World::new(&format!("{SOME}; git sparse-checkout set {how} d"));
        let done = world.check(script);
        let kinds = done.kinds();
        let told: Vec<_> = kinds.iter().map(|(kind, path)| (kind.as_str(), path.as_str())).collect();
        assert_eq!(told, expected, "{how}: {script}: {:#}", done.evidence);
        assert_eq!(done.files().get("no_longer_checked_out"), None, "{how}: {:#}", done.evidence);
    }
}

#[test]
fn what_is_removed_outside_of_the_part_is_told() {
    check("git rm -q --sparse k/1; git commit -qm drop", &[("deleted", "k/1")]);
    check(
        "git rm -rq --sparse k; echo x >>d/c",
        &[("modified", "d/c"), ("deleted", "k/1"), ("deleted", "k/l/2")],
    );
}

#[test]
fn what_is_moved_into_the_part_is_renamed() {
    check("git mv --sparse k/1 d/1; git commit -qm mv", &[("renamed", "d/1")]);
}

#[test]
fn what_comes_with_another_commit_is_told_wherever_it_is() {
    let other = [("modified", "k/1"), ("added", "k/3"), ("deleted", "k/l/2")];
    check("git merge -q o", &other);
    check("git checkout -q o", &other);
    check("git reset -q --hard o", &other);
    check("git reset -q --hard o; git reset -q --hard ORIG_HEAD", &[]);
}

#[test]
fn what_is_checked_out_or_no_more_is_no_change_beside_one_that_is() {
    check("git sparse-checkout add k; git sparse-checkout set d", &[]);
    check("git sparse-checkout disable; echo x >>k/1", &[("modified", "k/1")]);
    check(
        "git sparse-checkout add k; git merge -q o; git sparse-checkout set d; git sparse-checkout reapply --sparse-index",
        &[("modified", "k/1"), ("added", "k/3"), ("deleted", "k/l/2")],
    );
    check("git sparse-checkout reapply --sparse-index", &[]);
    check("git sparse-checkout reapply --no-sparse-index", &[]);
    check("git sparse-checkout reapply --no-sparse-index; git rm -q --sparse k/1", &[("deleted", "k/1")]);
}

#[test]
fn what_leaves_the_part_with_another_content_is_modified() {
    let world = World::new(SOME);
    let done = world.check("git merge -q o; git sparse-checkout set d");
    let told = [
        ("modified".into(), "k/1".into()),
        ("added".into(), "k/3".into()),
        ("deleted".into(), "k/l/2".into()),
    ];
    assert_eq!(done.kinds(), told, "{:#}", done.evidence);
}

/// Content that is not here, outside of the part, has no lines; all the rest has.
#[test]
fn what_was_never_fetched_is_told_without_its_lines() {
    let world = World::bare();
    world.shell(&format!(
        "git init -q -b main ../up/full; cd ../up/full; git config uploadpack.allowfilter true; {SOME}"
    ));
    world.shell(
        "git clone -q --filter=blob:none --sparse \"file://$PWD/../up/full\" .; git sparse-checkout set d; \
         mv ../up/full ../up/away",
    );
    let done = world.run("git checkout -q o; echo x >>d/c");
    let kinds = done.kinds();
    assert!(kinds.contains(&("modified".into(), "k/1".into())), "{:#}", done.evidence);
    assert!(kinds.contains(&("deleted".into(), "k/l/2".into())), "{:#}", done.evidence);
    assert_eq!(done.change("k/1").get("lines_added"), None, "{:#}", done.evidence);
    assert_eq!(done.change("d/c")["lines_added"], 1);
}

/// Git keeps the files of such a directory one by one, and would not stay at that.
#[test]
fn a_submodule_outside_of_the_part_is_left_alone() {
    let world = World::new(&format!(
        "{SOME}; git rm -rq k/l; git init -q ../up/s; git -C ../up/s commit -q --allow-empty -m s; \
         git update-index --add --cacheinfo 160000,$(git -C ../up/s rev-parse HEAD),k/sub; git commit -qm sub; \
         git sparse-checkout set --cone --sparse-index d"
    ));
    assert_eq!(world.check("echo x >>d/c").kinds(), [("modified".into(), "d/c".into())]);
    let done = world.check("git update-index --cacheinfo 160000,$(git rev-parse HEAD),k/sub; git update-index --skip-worktree k/sub");
    assert_eq!(done.kinds(), [("submodule".into(), "k/sub".into())]);
}

#[test]
fn an_index_in_two_parts_tells_of_what_is_outside_as_well() {
    let world =
        World::new(&format!("{SOME}; git sparse-checkout set --cone d; git config core.splitIndex true"));
    let done = world.check("git rm -q --sparse k/1; git mv --sparse k/l/2 k/l/3");
    assert_eq!(done.kinds(), [("deleted".into(), "k/1".into()), ("renamed".into(), "k/l/3".into())]);
}

/// Git cannot say what was in there.
#[test]
fn what_was_outside_of_the_part_is_not_known_without_its_tree() {
    let world = World::new(&format!("{SOME}; git sparse-checkout set --cone --sparse-index d"));
    let done = world.run(
        "tree=$(git rev-parse HEAD:k); rm -f .git/objects/$(echo $tree | cut -c 1-2)/$(echo $tree | cut -c 3-); \
         mkdir k; echo new >k/new",
    );
    assert_eq!(done.kinds(), [("added".into(), "k/new".into())], "{:#}", done.evidence);
    let gap = "unknown whether tracked files that are not checked out changed";
    assert_eq!(done.files()["incomplete"], serde_json::json!([gap]), "{:#}", done.evidence);
}
