//! What can happen to files between two looks.

use crate::world::World;

/// A few files, committed.
const SOME: &str = "mkdir -p src docs; seq 1 40 >src/long; echo one >a; echo two >b; echo doc >docs/d; \
                    printf 'x\\0y' >bin; ln -s a link; echo '*.log' >.gitignore; \
                    git add -A; git commit -qm first";

#[track_caller]
fn check(script: &str, kinds: &[(&str, &str)]) {
    check_after("", script, kinds);
}

/// Does `more` before the run, too.
#[track_caller]
fn check_after(more: &str, script: &str, kinds: &[(&str, &str)]) {
    let world = World::new(SOME);
    world.shell(more);
    let done = world.check(script);
    let told = done.kinds();
    let told: Vec<_> = told.iter().map(|(kind, path)| (kind.as_str(), path.as_str())).collect();
    assert_eq!(told, kinds, "{script}");
}

#[test]
fn a_run_that_changes_nothing_changed_nothing() {
    check("cat a >/dev/null; touch a b src/long; mkdir empty; echo x >t; rm t", &[]);
}

#[test]
fn a_file_is_edited() {
    check("sed -i 3,5d src/long; echo more >>src/long", &[("modified", "src/long")]);
}

#[test]
fn a_file_is_edited_without_getting_longer_or_older() {
    check("touch -r a ../side/then; printf 'eno\\n' >a; touch -r ../side/then a", &[("modified", "a")]);
}

#[test]
fn files_are_added_and_deleted() {
    check(
        "mkdir -p new/deep; echo x >new/deep/f; rm b; : >empty",
        &[("deleted", "b"), ("added", "empty"), ("added", "new/deep/f")],
    );
}

#[test]
fn a_file_is_renamed() {
    check("mkdir lib; mv src/long lib/short", &[("renamed", "lib/short")]);
}

#[test]
fn a_file_is_renamed_and_edited() {
    check("mv src/long src/other; sed -i '7s/.*/seven/' src/other", &[("renamed", "src/other")]);
}

#[test]
fn modes_change() {
    check("chmod +x a; chmod +x b; echo x >>b", &[("mode_changed", "a"), ("modified", "b")]);
}

#[test]
fn links_change_and_files_become_links() {
    check(
        "ln -sfn b link; rm a; ln -s docs a; ln -s /nowhere dangling",
        &[("type_changed", "a"), ("added", "dangling"), ("modified", "link")],
    );
}

#[test]
fn binary_files_have_no_lines() {
    let world = World::new(SOME);
    let done = world.check("printf 'x\\0z' >bin; printf '\\0' >new.bin");
    assert_eq!(done.change("bin").get("lines_added"), None);
    assert_eq!(done.change("new.bin")["size"], 1);
}

#[test]
fn a_file_becomes_a_directory_and_a_directory_a_file() {
    check(
        "rm a; mkdir a; echo x >a/b; rm -r docs; echo y >docs",
        &[("deleted", "a"), ("added", "a/b"), ("added", "docs"), ("deleted", "docs/d")],
    );
}

#[test]
fn a_directory_becomes_a_link_and_what_is_behind_it_is_not_read() {
    check(
        "mkdir ../side/else; echo secret >../side/else/d; rm -r docs; ln -s ../side/else docs",
        &[("added", "docs"), ("deleted", "docs/d")],
    );
}

#[test]
fn names_differ_in_case() {
    check("mv a A; echo x >B", &[("renamed", "A"), ("added", "B")]);
}

#[test]
fn names_may_hold_any_byte() {
    let world = World::new(SOME);
    let done = world.check(
        "printf x >\"$(printf 'new\\nline')\"; printf y >-dash; printf z >\"$(printf 'la\\351tin')\"; \
         printf q >'quo\"te'; printf t >\"$(printf 'tab\\tbed')\"; mv a \"$(printf 'br\\305\\223k\\n')x\"",
    );
    assert_eq!(done.change("la\u{fffd}tin")["path_hex"], "6c61e974696e");
}

#[test]
fn what_was_changed_before_is_not_the_runs() {
    check_after(
        "echo mine >>a; echo also >untracked; git rm -q b; echo staged >s; git add s; chmod +x docs/d",
        "echo x >>src/long",
        &[("modified", "src/long")],
    );
}

#[test]
fn a_run_goes_on_with_what_was_changed_before() {
    let world = World::new(SOME);
    world.shell("seq 1 9 >>a; seq 1 9 >untracked; echo staged >s; git add s; echo more >>s");
    let done = world.check("echo x >>a; sed -i 1,2d untracked; rm s; echo two >b.txt");
    assert_eq!(
        (&done.change("a")["lines_added"], &done.change("a")["lines_removed"]),
        (&1.into(), &0.into())
    );
    assert_eq!(done.change("untracked")["lines_removed"], 2);
    assert_eq!(done.change("s")["kind"], "deleted");
}

#[test]
fn a_file_that_was_changed_before_is_reverted() {
    let world = World::new(SOME);
    world.shell("seq 1 9 >>a; git rm -q b");
    let done = world.check("git checkout -q -- a; git checkout -q HEAD -- b");
    assert_eq!(done.kinds(), [("modified".into(), "a".into()), ("added".into(), "b".into())]);
    assert_eq!(done.change("a")["lines_removed"], 9);
}

#[test]
fn what_is_ignored_is_told_apart_and_not_read() {
    let world = World::new(SOME);
    world.shell("echo build/ >>.gitignore; git commit -qam ignore; mkdir build; echo 1 >build/1; echo s >secret.log; echo o >old.log");
    let done = world.check("echo 2 >build/2; echo t >>secret.log; echo n >new.log; rm old.log; echo x >x");
    assert_eq!(done.kinds(), [("added".into(), "x".into())]);
    let ignored: Vec<String> = done.files()["ignored"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| format!("{} {}", one["change"].as_str().unwrap(), one["path"].as_str().unwrap()))
        .collect();
    assert_eq!(ignored, ["modified build/", "added new.log", "deleted old.log", "modified secret.log"]);
}

#[test]
fn rules_that_change_during_a_run_neither_hide_nor_show_old_files() {
    let world = World::new(SOME);
    world.shell("echo u >notes.txt; echo l >old.log");
    // What is as young as the run may be the run's.
    std::thread::sleep(std::time::Duration::from_millis(100));
    let done = world.run("echo '*.txt' >.gitignore; echo hidden >new.txt");
    assert_eq!(done.kinds(), [("modified".into(), ".gitignore".into())]);
    assert_eq!(done.files()["ignored"], serde_json::json!([{ "path": "new.txt", "change": "added" }]));
}

#[test]
fn what_is_ignored_and_added_all_the_same_is_a_change() {
    check("echo x >forced.log; git add -f forced.log", &[("added", "forced.log")]);
}

#[test]
fn no_bit_in_the_index_hides_a_change() {
    let world = World::new(SOME);
    let done = world.run(
        "git update-index --assume-unchanged a; git update-index --skip-worktree b; echo x >>a; echo y >>b; \
         echo '/hidden' >>.git/info/exclude; echo z >hidden",
    );
    let paths: Vec<String> = done.kinds().into_iter().map(|(_, path)| path).collect();
    assert_eq!(paths, ["a", "b", "hidden"]);
}

#[test]
fn line_ends_that_git_converts_are_no_change() {
    let world = World::new(
        "git config core.autocrlf true; printf 'a\\nb\\nc\\n' >t; git add t; git commit -qm t; \
                            rm t; git checkout -q -- t; printf '*.u text eol=crlf\\n' >.gitattributes; \
                            printf 'x\\r\\ny\\r\\n' >w.u; git add -A; git commit -qm u",
    );
    let done = world.check("touch t w.u; printf 'a\\r\\nB\\r\\nc\\r\\n' >t; printf 'n\\r\\n' >n.u");
    assert_eq!(done.kinds(), [("added".into(), "n.u".into()), ("modified".into(), "t".into())]);
    assert_eq!(
        (&done.change("t")["lines_added"], &done.change("t")["lines_removed"]),
        (&1.into(), &1.into())
    );
}

#[test]
fn a_large_file_has_a_size_and_a_hash_and_no_lines() {
    let world = World::new(SOME);
    world.shell("head -c 20000000 /dev/zero | tr '\\0' 'a\\n' >big; git add big; git commit -qm big");
    let done = world.run("echo more >>big; head -c 17000000 /dev/zero >new.big; touch a");
    assert_eq!(done.kinds(), [("modified".into(), "big".into()), ("added".into(), "new.big".into())]);
    for name in ["big", "new.big"] {
        assert_eq!(done.change(name).get("lines_added"), None);
        assert_eq!(done.change(name)["sha256"].as_str().map(str::len), Some(64));
    }
    assert_eq!(done.change("big")["size"], 20_000_005);
    let gap = "lines unknown for 1 file";
    assert_eq!(done.files()["incomplete"], serde_json::json!([gap]));
}

#[test]
fn more_than_can_be_kept_is_told_and_not_guessed() {
    let world = World::new(SOME);
    world.shell("for i in 1 2 3 4 5 6; do head -c 15000000 /dev/zero | tr '\\0' $i >un$i; done");
    let done = world.run("for i in 1 2 3 4 5 6; do touch -c un$i; done; echo x >>a");
    // The last two were not kept; that they were touched is all that is known.
    assert_eq!(done.kinds(), [("modified".into(), "a".into())]);
    let gaps = [
        "the content of 2 files before the run was not saved: un5 and 1 more",
        "could not compare these files: un5, un6",
    ];
    assert_eq!(done.files()["incomplete"], serde_json::json!(gaps));
    let done = world.run("echo y >>a; echo more >>un5");
    assert_eq!(done.kinds(), [("modified".into(), "a".into()), ("modified".into(), "un5".into())]);
    assert_eq!(done.change("un5").get("lines_added"), None);
}

#[test]
fn pipes_and_sockets_are_passed_over() {
    let world = World::new(SOME);
    world.shell("mkfifo before");
    let done = world.run("rm a; mkfifo a; mkfifo new; rm .gitignore; mkfifo .gitignore");
    let gone = |path: &str| ("deleted".to_owned(), path.to_owned());
    let kinds = done.kinds();
    assert!(kinds.contains(&gone("a")) && kinds.contains(&gone(".gitignore")), "{:#}", done.evidence);
    assert!(kinds.iter().all(|(kind, path)| kind == "deleted" || path != "new"), "{:#}", done.evidence);
}
