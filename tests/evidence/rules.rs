//! Files that git ignores, and what becomes of them when the rules change.

use crate::world::World;

const SOME: &str = "mkdir logs; echo a >a; echo '*.log' >.gitignore; git add -A; git commit -qm first; \
                    echo 1 >logs/a.log; echo 2 >x.log; echo s >secret; mkdir out; echo 3 >out/3";

/// What `script` is said to have done to ignored files, all of it.
#[track_caller]
fn check(script: &str, expected: &[&str]) {
    let world = World::new(SOME);
    // What is as young as the run may be the run's.
    std::thread::sleep(std::time::Duration::from_millis(50));
    let done = world.run(script);
    let list = done.files()["ignored"].as_array().map(Vec::as_slice).unwrap_or_default();
    let text = |one: &serde_json::Value, name: &str| one[name].as_str().unwrap().to_owned();
    let told: Vec<String> =
        list.iter().map(|one| format!("{} {}", text(one, "change"), text(one, "path"))).collect();
    assert_eq!(told, expected, "{script}: {:#}", done.evidence);
}

#[test]
fn what_is_ignored_anew_or_no_more_is_not_changed_by_it() {
    check("echo doc >logs/README.md", &[]);
    check("rm .gitignore", &[]);
    check(": >.gitignore", &[]);
    check("echo secret >>.gitignore", &[]);
    check("echo 'out/' >>.gitignore; echo 'secret' >>.gitignore", &[]);
    check("git rm -q --cached a; echo /a >>.gitignore", &[]);
}

#[test]
fn what_happens_beside_a_change_of_rules_is_told() {
    check("echo doc >logs/README.md; rm logs/a.log", &["modified logs/"]);
    check("rm .gitignore x.log", &["deleted x.log"]);
    check("echo secret >>.gitignore; echo n >new.log", &["added new.log"]);
    check("echo 'out/' >>.gitignore; echo 4 >out/4", &["modified out/"]);
    check("echo 'made/' >>.gitignore; mkdir made; echo 4 >made/4", &["added made/"]);
}

#[test]
fn what_is_added_all_the_same_is_told_once() {
    check("echo n >new.log; git add -f new.log", &[]);
    check("mkdir cache; echo '*' >cache/.gitignore; echo 1 >cache/1", &["added cache/"]);
}

#[test]
fn what_was_ignored_and_is_added_to_the_index_is_an_addition() {
    for script in ["git add -f x.log", "git add -f x.log; git commit -qm env"] {
        let world = World::new(SOME);
        std::thread::sleep(std::time::Duration::from_millis(50));
        let done = world.check(script);
        assert_eq!(done.kinds(), [("added".into(), "x.log".into())]);
        assert_eq!(done.files().get("ignored"), None, "{:#}", done.evidence);
    }
}

#[test]
fn a_large_directory_leaves_the_others_known() {
    let world = World::new(SOME);
    world.shell("mkdir big; cd big; seq 1 6000 | sed 's/$/.log/' | xargs touch; cd ..; echo z >z.log");
    std::thread::sleep(std::time::Duration::from_millis(50));
    let done = world.run("true");
    let list = done.files()["ignored"].as_array().unwrap();
    assert!(list.iter().all(|one| one["path"] == "big/"), "{list:?}");
}
