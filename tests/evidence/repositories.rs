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

#[test]
fn a_repository_whose_references_only_git_reads() {
    let world = World::bare();
    let path = "PATH=/usr/local/bin:$PATH";
    if world.try_shell(&format!("{path}; git init -q -b main --ref-format=reftable .")).code != Some(0) {
        // This git knows of none.
        return;
    }
    world.shell(&format!("{path}; {SOME}"));
    let done = world.run(&format!("{path}; echo x >>a; git commit -qam two"));
    assert_eq!(done.kinds(), [("modified".into(), "a".into())]);
    assert_eq!(done.change("a")["lines_added"], 1);
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
    assert_eq!(world.run("echo more >>big").kinds(), [("modified".into(), "big".into())]);
}

#[test]
fn a_repository_that_is_taken_away_is_told() {
    let world = World::new(SOME);
    let done = world.run("rm -rf .git; echo x >>a");
    // What was tracked is known; how its lines changed is gone with its objects.
    assert_eq!(done.kinds(), [("modified".into(), "a".into())], "{:#}", done.evidence);
    assert!(done.files()["incomplete"][0].as_str().unwrap().starts_with("lines and renames are not known"));
    assert_eq!(done.change("a").get("lines_added"), None);
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
