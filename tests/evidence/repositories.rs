//! Repositories of every kind.

use crate::world::World;

const SOME: &str =
    "mkdir -p src docs; seq 1 40 >src/long; echo one >a; echo doc >docs/d; git add -A; git commit -qm first";

#[test]
fn a_repository_without_any_commit() {
    let world = World::new("echo a >a; echo b >b; git add a");
    let done = world.check("echo x >>a; echo y >>b; echo c >c");
    assert_eq!(done.files()["before"].get("commit"), None);
    assert_eq!(done.files()["before"]["branch"], "main");
    let done = World::new("").check("echo a >a; git add a; git commit -qm first");
    assert_eq!(done.files()["commits"][0]["subject"], "first");
    assert_eq!(done.kinds(), [("added".into(), "a".into())]);
}

#[test]
fn a_directory_below_the_root() {
    let world = World::new(SOME).at("src");
    let done = world.check("echo x >>long; echo y >../a; echo z >new");
    let paths: Vec<String> = done.kinds().into_iter().map(|(_, path)| path).collect();
    assert_eq!(paths, ["a", "src/long", "src/new"]);
}

#[test]
fn a_linked_worktree_with_commits_of_its_own() {
    let world = World::bare();
    world.shell(&format!(
        "git init -q -b main ../up/main; cd ../up/main; {SOME}; git worktree add -q ../../work/tree"
    ));
    let world = world.at("tree");
    world.shell("echo dirty >>a");
    let done = world.check("echo x >>a; git commit -qam 'in the tree'; echo y >y");
    assert_eq!(done.files()["after"]["branch"], "tree");
    assert_eq!(done.files()["commits"].as_array().unwrap().len(), 1);
}

#[test]
fn a_sparse_checkout() {
    let world = World::new(SOME);
    world.shell("git sparse-checkout set --cone docs");
    let done = world.check("echo x >>docs/d; mkdir src; echo new >src/new");
    assert_eq!(done.kinds(), [("modified".into(), "docs/d".into()), ("added".into(), "src/new".into())]);
    let world = World::new(SOME);
    world.shell("git sparse-checkout set --cone --sparse-index docs");
    let done = world.check("echo x >>docs/d; echo y >>a");
    assert_eq!(done.kinds(), [("modified".into(), "a".into()), ("modified".into(), "docs/d".into())]);
    let done = world.check("git sparse-checkout add src; echo 41 >>src/long; echo new >src/new");
    assert_eq!(done.kinds(), [("modified".into(), "src/long".into()), ("added".into(), "src/new".into())]);
}

#[test]
fn a_shallow_clone() {
    let world = World::bare();
    world.shell(&format!("git init -q -b main ../up/full; cd ../up/full; {SOME}; echo 2 >>a; git commit -qam two; echo 3 >>a; git commit -qam three"));
    world.shell("git clone -q --depth 1 \"file://$PWD/../up/full\" .");
    let done = world.check("echo 4 >>a; git commit -qam four; git mv docs/d docs/e");
    assert_eq!(done.files()["commits"].as_array().unwrap().len(), 1, "{:#}", done.evidence);
}

#[test]
fn a_clone_that_has_not_fetched_every_blob() {
    let world = World::bare();
    world.shell(&format!(
        "git init -q -b main ../up/full; cd ../up/full; {SOME}; git config uploadpack.allowfilter true; \
                          echo old >old; git add old; git commit -qm old; git rm -q old; git commit -qm gone"
    ));
    world.shell("git clone -q --filter=blob:none \"file://$PWD/../up/full\" .; mv ../up/full ../up/away");
    let done = world.run("echo x >>a; rm docs/d");
    assert_eq!(done.kinds(), [("modified".into(), "a".into()), ("deleted".into(), "docs/d".into())]);
    assert_eq!(done.change("a")["lines_added"], 1);
}

#[test]
fn objects_that_are_borrowed_from_another_repository() {
    let world = World::bare();
    world.shell(&format!("git init -q -b main ../up/full; cd ../up/full; {SOME}"));
    world.shell("git clone -q --shared ../up/full .");
    world.check("sed -i 1d src/long; mv a b");
}

#[test]
fn a_repository_with_other_names_for_its_objects() {
    let world = World::bare();
    world.shell(&format!("git init -q -b main --object-format=sha256 .; {SOME}; echo dirty >>a"));
    let done = world.check("echo x >>a; git commit -qam two; mv src/long b");
    assert_eq!(done.files()["after"]["commit"].as_str().unwrap().len(), 64);
}

#[test]
fn indexes_of_every_version() {
    for version in ["2", "3", "4"] {
        let world = World::new(SOME);
        world.shell(&format!(
            "git update-index --index-version {version}; echo n >intended; git add -N intended"
        ));
        world.check("echo x >>a; rm docs/d; echo more >>intended");
    }
    let world = World::new(SOME);
    world.shell("git update-index --split-index; echo two >two; git add two");
    world.check("echo x >>a; rm two; echo y >y");
}

#[test]
fn a_submodule_is_known_by_its_commit() {
    let world = World::bare();
    world.shell("git init -q -b main ../up/lib; cd ../up/lib; echo l >l; git add l; git commit -qm lib");
    world.shell("git init -q -b main .; git -c protocol.file.allow=always submodule --quiet add ../up/lib lib; git commit -qm with; echo a >a");
    let done = world.check("echo unseen >lib/unseen; echo x >>a");
    assert_eq!(done.kinds(), [("modified".into(), "a".into())]);
    assert_eq!(done.files()["not_looked_into"][0], "lib");
    let done = world.check("cd lib; echo m >m; git add m; git commit -qm more");
    let change = done.change("lib");
    assert_eq!(change["kind"], "submodule");
    assert_ne!(change["old_commit"], change["new_commit"]);
    // One that is moved on before the run is where it was.
    let done = world.check("echo y >>a");
    assert_eq!(done.kinds(), [("modified".into(), "a".into())]);
    let done = world.check("git rm -qf lib");
    assert_eq!(done.change("lib")["kind"], "submodule");
}

#[test]
fn work_inside_a_submodule_is_work_in_a_repository() {
    let world = World::bare();
    world.shell("git init -q -b main ../up/lib; cd ../up/lib; echo l >l; git add l; git commit -qm lib");
    world.shell("git init -q -b main .; git -c protocol.file.allow=always submodule --quiet add ../up/lib lib; git commit -qm with");
    let done = world.at("lib").check("echo m >>l; git commit -qam more; echo n >n");
    assert_eq!(done.kinds(), [("modified".into(), "l".into()), ("added".into(), "n".into())]);
}

#[test]
fn a_repository_inside_is_known_by_its_commit() {
    let world = World::new(SOME);
    world.shell("git init -q nested; cd nested; echo n >n; git add n; git commit -qm nested");
    let done = world.check("echo m >nested/m; echo x >>a");
    assert_eq!(done.kinds(), [("modified".into(), "a".into())]);
    let done = world.check("cd nested; git add m; git commit -qm m");
    assert_eq!(done.change("nested")["kind"], "submodule");
    let done = world
        .check("git init -q other; cd other; echo o >o; git add o; git commit -qm o; cd ..; rm -r nested");
    assert_eq!(done.kinds(), [("submodule".into(), "nested".into()), ("submodule".into(), "other".into())]);
    let done = world.run("git init -q unborn; echo u >unborn/u; echo y >>a");
    assert_eq!(done.kinds(), [("modified".into(), "a".into())]);
    assert_eq!(done.files()["not_looked_into"], serde_json::json!(["other", "unborn"]));
}

/// Git in the worlds may be another than the one that knows of reftables.
const NEW_GIT: &str = "PATH=/usr/local/bin:$PATH";

/// A test that is left out looks like one that passes: without such a git, this fails.
#[track_caller]
fn with_reftable() -> World {
    let world = World::bare();
    let made = world.try_shell(&format!("{NEW_GIT}; git init -q -b main --ref-format=reftable ."));
    assert_eq!(made.code, Some(0), "git 2.45 or newer is needed, which knows reftables: {}", made.stderr);
    world.shell(&format!("{NEW_GIT}; {SOME}"));
    world
}

#[test]
fn a_repository_with_its_references_in_a_table() {
    let world = with_reftable();
    world.shell(&format!(
        "{NEW_GIT}; for n in $(seq 1 200); do git branch some/long/name/of/a/branch/$n; done"
    ));
    let before = world.shell(&format!("{NEW_GIT}; git rev-parse HEAD"));
    let done = world.run(&format!(
        "{NEW_GIT}; git switch -qc topic; echo x >>a; git commit -qam two; git branch -D main"
    ));
    assert_eq!(done.kinds(), [("modified".into(), "a".into())]);
    assert_eq!(done.change("a")["lines_added"], 1);
    assert_eq!(done.files().get("incomplete"), None, "{:#}", done.evidence);
    let after = world.shell(&format!("{NEW_GIT}; git rev-parse HEAD"));
    assert_eq!(done.files()["before"], serde_json::json!({ "commit": before.trim(), "branch": "main" }));
    assert_eq!(done.files()["after"], serde_json::json!({ "commit": after.trim(), "branch": "topic" }));
    let commits = serde_json::json!([{ "hash": after.trim(), "subject": "two" }]);
    assert_eq!(done.files()["commits"], commits, "{:#}", done.evidence);
    let done =
        world.run(&format!("{NEW_GIT}; git checkout -q --detach; git pack-refs --all; git branch again"));
    assert_eq!(done.files()["after"], serde_json::json!({ "commit": after.trim() }));
    assert_eq!(done.files().get("commits"), None, "{:#}", done.evidence);
}

#[test]
fn a_worktree_and_a_repository_inside_with_tables_of_their_own() {
    let world = with_reftable();
    world.shell(&format!(
        "{NEW_GIT}; git worktree add -q -b side ../up/side; cd ../up/side; \
         git init -q -b main --ref-format=reftable inner; cd inner; echo i >i; git add i; git commit -qm i"
    ));
    let world = world.at("../up/side");
    let done = world.run(&format!(
        "{NEW_GIT}; echo x >>a; git commit -qam two; cd inner; echo j >j; git add j; git commit -qm j"
    ));
    assert_eq!(done.files()["after"]["branch"], "side", "{:#}", done.evidence);
    assert_eq!(done.files()["commits"][0]["subject"], "two");
    let inner = world.shell(&format!("{NEW_GIT}; git -C inner rev-parse HEAD"));
    assert_eq!(done.change("inner")["new_commit"], inner.trim());
}

#[test]
fn a_table_that_cannot_be_read_is_told() {
    let world = with_reftable();
    world.shell("for table in .git/reftable/*.ref; do printf nonsense >$table; done");
    let done = world.run("echo x >>a");
    assert_eq!(done.kinds(), [("modified".into(), "a".into())]);
    assert!(done.files()["incomplete"][0].as_str().unwrap().contains("reftable"), "{:#}", done.evidence);
}

#[test]
fn modes_mean_nothing_where_the_repository_says_so() {
    let world = World::new(SOME);
    world.shell("git config core.filemode false");
    let done = world.check("chmod +x a; chmod +x docs/d; echo x >>a");
    assert_eq!(done.kinds(), [("modified".into(), "a".into())]);
}

#[test]
fn the_users_own_rules_hold() {
    let world = World::new(SOME);
    let user = world.env.root().join("user");
    std::fs::write(user.join(".gitconfig"), "[core]\n\texcludesFile = ~/mine\n").unwrap();
    std::fs::write(user.join("mine"), "*.swp\n").unwrap();
    let done = world.run("echo x >a.swp; echo y >y");
    assert_eq!(done.kinds(), [("added".into(), "y".into())]);
    assert_eq!(done.files()["ignored"][0]["path"], "a.swp");
}

#[test]
fn a_pointer_to_a_file_that_is_kept_elsewhere_is_that_file() {
    let world = World::new(
        "printf 'large content\\n' >big; sum=$(sha256sum big | cut -d' ' -f1); \
         printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:%s\\nsize 14\\n' $sum >pointer; \
         git update-index --add --cacheinfo 100644,$(git hash-object -w pointer),big; rm pointer; git commit -qm lfs",
    );
    assert_eq!(world.run("touch big").kinds(), []);
    let done = world.run("echo more >>big");
    assert_eq!(done.kinds(), [("modified".into(), "big".into())]);
    assert_eq!(done.files()["totals"], serde_json::json!({ "files": 1 }), "its lines are not the pointer's");
    world.shell("echo '*.csv filter=lfs' >.gitattributes; git add .gitattributes; git commit -qm attributes");
    assert_eq!(world.run("true").kinds(), []);
}

#[test]
fn a_checkout_that_is_gone_is_told() {
    let world = World::new("mkdir in; git init -q in; cd in; echo a >a; git add a; git commit -qm a");
    let inner = world.dir().join("in");
    let report = world.env.json(&[
        "run",
        "--agent",
        "command",
        "--cwd",
        inner.to_str().unwrap(),
        "--wait",
        "--json",
        "rm -rf ../in",
    ]);
    assert_eq!(report["file_operations"]["reason"], "the checkout no longer exists");
}

/// A filter is a program, and none is started: what passed one is compared with what it was itself.
#[test]
fn a_file_under_a_filter_is_compared_with_itself() {
    let world = World::new(
        "git config filter.strip.clean 'grep -v OUTPUT'; mkdir d; echo '*.nb filter=strip' >.gitattributes; \
         for i in $(seq 50); do echo OUTPUT $i; done >x.nb; seq 5 >>x.nb; cp x.nb d/y.nb; echo a >a; \
         git add -A; git commit -qm nb",
    );
    assert_eq!(world.check("touch x.nb; git checkout -q -- d/y.nb").kinds(), []);
    let done = world.check("cp x.nb ../side/x; cat ../side/x >x.nb; echo more >>d/y.nb; echo b >>a");
    assert_eq!(done.kinds(), [("modified".into(), "a".into()), ("modified".into(), "d/y.nb".into())]);
    assert_eq!(done.change("d/y.nb")["lines_added"], 1);
}

#[test]
fn a_repository_that_is_taken_away_is_told() {
    let world = World::new(SOME);
    let done = world.run("rm -rf .git; echo x >>a");
    // What was tracked is known; how its lines changed is gone with its objects.
    assert_eq!(done.kinds(), [("modified".into(), "a".into())], "{:#}", done.evidence);
    assert!(done.files()["incomplete"][0].as_str().unwrap().contains("unknown"));
    assert_eq!(done.change("a").get("lines_added"), None);
    assert_eq!(done.files()["totals"], serde_json::json!({ "files": 1 }));
}

#[test]
fn a_damaged_index_costs_the_evidence_and_says_so() {
    let world = World::new(SOME);
    world.shell("printf nonsense >.git/index");
    let done = world.run("echo x >>a");
    assert_eq!(
        (&done.files()["source"], &done.files()["reason"]),
        (&"none".into(), &"the index is damaged".into())
    );
}

#[test]
fn an_index_that_grew_beyond_measure_is_not_read() {
    let world = World::new(SOME);
    let done = world.run("truncate -s 1000M .git/index; echo x >>a");
    assert_eq!(done.kinds(), [("modified".into(), "a".into())]);
    let gap = "unknown what was added to the index: the index is far larger than its entries need";
    assert_eq!(done.files()["incomplete"], serde_json::json!([gap]));
    let done = world.run("rm a");
    assert_eq!(done.files()["reason"], "the index is far larger than its entries need");
}

#[test]
fn what_is_no_longer_checked_out_is_not_deleted() {
    for how in ["--cone", "--cone --sparse-index", "--no-cone"] {
        let world = World::new(SOME);
        let done = world.check(&format!("git sparse-checkout set {how} docs; echo x >>docs/d"));
        assert_eq!(done.kinds(), [("modified".into(), "docs/d".into())], "{how}");
        let gone = done.files()["no_longer_checked_out"].as_u64().unwrap();
        let text = world.text(&["results", &done.task_id]);
        assert!(
            text.contains(&format!("files: 1 changed, +1 -0 lines, {gone} no longer checked out (git)")),
            "{text}"
        );
    }
    // A file with changes that are in no commit is gone for good.
    let world = World::new(SOME);
    world.shell("echo mine >>src/long");
    let done = world.run("rm src/long; git update-index --skip-worktree src/long");
    assert_eq!(done.kinds(), [("deleted".into(), "src/long".into())]);
}

#[test]
fn a_blob_that_is_not_here_costs_no_other_its_lines() {
    let world = World::bare();
    world.shell(
        "git init -q -b main ../up/full; cd ../up/full; git config uploadpack.allowfilter true; \
         mkdir in out; seq 9 >in/f; seq 20 >out/f; git add -A; git commit -qm all",
    );
    world.shell(
        "git clone -q --filter=blob:none --sparse \"file://$PWD/../up/full\" .; git sparse-checkout set in; \
         mv ../up/full ../up/away",
    );
    let done = world.run("echo x >>in/f; mkdir out; echo y >out/f");
    assert_eq!(done.change("in/f")["lines_added"], 1);
    assert_eq!(done.change("out/f")["kind"], "modified");
    assert_eq!(done.change("out/f").get("lines_added"), None);
    assert_eq!(done.files()["totals"], serde_json::json!({ "files": 2 }));
}

#[test]
fn words_of_the_configuration_may_be_written_in_any_case() {
    let world = World::new(&format!("{SOME}; git config core.filemode False"));
    assert_eq!(world.check("chmod +x a").kinds(), []);
}

#[test]
fn what_is_no_text_by_attribute_has_no_lines() {
    let world =
        World::new(&format!("{SOME}; echo 'a binary' >.gitattributes; git add -A; git commit -qm binary"));
    let done = world.run("echo x >>a; echo y >>docs/d");
    assert_eq!(done.change("a").get("lines_added"), None);
    assert_eq!(
        done.files()["totals"],
        serde_json::json!({ "files": 2, "lines_added": 1, "lines_removed": 0 })
    );
    assert_eq!(world.shell("git diff --numstat a"), "-\t-\ta\n");
}

#[test]
fn what_is_kept_of_a_tree_is_the_users_alone() {
    let world = World::new(&format!("{SOME}; git update-index --split-index; echo two >two; git add two"));
    world.shell("echo mine >>a; echo '*.x filter=y' >.gitattributes; echo other >other");
    let root = world.env.root().display();
    world.run(&format!(
        "find {root} -path '*/tree' >../side/there; find {root} -path '*/tree*' -perm /077 >../side/open"
    ));
    assert_eq!(std::fs::read_to_string(world.env.side().join("there")).unwrap().lines().count(), 1);
    assert_eq!(std::fs::read_to_string(world.env.side().join("open")).unwrap(), "");
}

#[test]
fn settings_of_one_working_tree_hold_there() {
    let world = World::new(&format!(
        "{SOME}; git config extensions.worktreeConfig true; git config --worktree core.filemode false"
    ));
    assert_eq!(world.run("chmod +x a").kinds(), []);
    assert_eq!(world.shell("git status --short"), "");
    // Without the extension git does not read that file.
    world.shell("chmod -x a; git config extensions.worktreeConfig false; git config core.filemode true");
    assert_eq!(world.run("chmod +x a").kinds(), [("mode_changed".into(), "a".into())]);
    assert_eq!(world.shell("git status --short"), " M a\n");
    // One of a linked tree is its own.
    let world = World::new(&format!(
        "{SOME}; git config extensions.worktreeConfig true; git worktree add -q ../up/side"
    ));
    world.shell(
        "git -C ../up/side config --worktree core.autocrlf true; git config --worktree core.filemode false",
    );
    let world = world.at("../up/side");
    let done = world.check("printf 'one\\r\\n' >a; chmod +x docs/d");
    assert_eq!(done.kinds(), [("mode_changed".into(), "docs/d".into())]);
}
