//! Settings of the user, wherever git takes them from; and those of a repository
//! that are read, and those that are not.

use std::fs;

use crate::world::World;

const SOME: &str = "mkdir d; printf 'a\\nb\\n' >a; seq 9 >d/b; git add -A; git commit -qm first";

/// A world in which the user has these files.
fn world(files: &[(&str, &str)]) -> World {
    let world = World::new(SOME);
    let user = world.env.root().join("user");
    for (path, text) in files {
        fs::create_dir_all(user.join(path).parent().unwrap()).unwrap();
        fs::write(user.join(path), text).unwrap();
    }
    world
}

/// What git would add, and what a run is said to have added.
#[track_caller]
fn check(files: &[(&str, &str)]) {
    let world = world(files);
    let done = world.run("printf 'a\\r\\nb\\r\\n' >a; echo s >x.swp; echo n >n");
    assert_eq!(world.shell("git -c core.safecrlf=false add -A; git diff --cached --name-status"), "A\tn\n");
    assert_eq!(done.kinds(), [("added".into(), "n".into())], "{files:?}: {:#}", done.evidence);
    assert_eq!(done.files()["ignored"][0]["path"], "x.swp");
}

const MINE: (&str, &str) = ("mine", "*.swp\n");
const CORE: &str = "[core]\n\tautocrlf = input\n\texcludesFile = ~/mine\n";

#[test]
fn settings_that_the_user_includes_hold() {
    check(&[(".gitconfig", CORE), MINE]);
    check(&[(".gitconfig", "[include]\n\tpath = conf/core\n"), ("conf/core", CORE), MINE]);
    check(&[(".gitconfig", "[include]\n\tpath = \"~/conf/core\" ; mine\n"), ("conf/core", CORE), MINE]);
    let chain = ("conf/one", "[include]\n\tpath = two\n");
    check(&[(".gitconfig", "[include]\n\tpath = ~/conf/one\n"), chain, ("conf/two", CORE), MINE]);
    // What is said last counts.
    let late = "[core]\n\tautocrlf = false\n[include]\n\tpath = core\n";
    check(&[(".gitconfig", late), ("core", CORE), MINE]);
}

#[test]
fn settings_that_the_user_includes_for_some_repositories_hold_there() {
    for condition in
        ["gitdir:work/", "gitdir:**/work/.git", "gitdir/i:WORK/", "onbranch:main", "onbranch:ma*"]
    {
        let config = format!("[includeIf \"{condition}\"]\n\tpath = core\n");
        check(&[(".gitconfig", &config), ("core", CORE), MINE]);
    }
    for condition in ["gitdir:other/", "gitdir:work", "onbranch:side", "hasconfig:remote.*.url:https://*/**"]
    {
        let config = format!("{CORE}[includeIf \"{condition}\"]\n\tpath = other\n");
        check(&[(".gitconfig", &config), ("other", "[core]\n\tautocrlf = false\n\texcludesFile =\n"), MINE]);
    }
    let config = "[includeIf \"hasconfig:remote.*.url:https://example.org/**\"]\n\tpath = core\n";
    let world = world(&[(".gitconfig", config), ("core", CORE), MINE]);
    world.shell("git remote add origin https://example.org/a/b.git");
    assert_eq!(world.run("echo s >x.swp; printf 'a\\r\\nb\\r\\n' >a").kinds(), []);
    assert_eq!(world.shell("git status --short --untracked-files | grep swp || true"), "");
}

/// Rules of the repository's own are data; those outside of it are not read.
#[test]
fn what_a_repository_ignores_by_a_file_of_its_own_is_ignored() {
    let world =
        World::new(&format!("{SOME}; echo '*.swp' >.git/mine; git config core.excludesFile $PWD/.git/mine"));
    // As it was before: an agent may write there.
    let done = world.run("echo s >x.swp; echo n >n; echo '*' >.git/mine");
    assert_eq!(done.kinds(), [("added".into(), "n".into())]);
    let world = World::new(&format!(
        "{SOME}; echo '*' >../up/rules; git config core.excludesFile $PWD/../up/rules; ln -s ../up/rules link"
    ));
    assert_eq!(world.run("echo n >n").kinds(), [("added".into(), "n".into())]);
    world.shell("git config core.excludesFile $PWD/link");
    assert_eq!(world.run("echo m >m").kinds(), [("added".into(), "m".into())]);
}

#[test]
fn settings_that_a_repository_includes_from_within_itself_hold() {
    let within = "printf '[core]\\n\\tautocrlf = input\\n[extensions]\\n\\tobjectFormat = sha256\\n' >.gitconfig; \
                  git add .gitconfig; git commit -qm settings";
    for condition in ["include.path", "includeIf.onbranch:main.path"] {
        let world = World::new(&format!("{SOME}; {within}; git config {condition} ../.gitconfig"));
        assert_eq!(world.run("printf 'a\\r\\nb\\r\\n' >a").kinds(), []);
        assert_eq!(world.shell("git -c core.safecrlf=false add -A; git diff --cached --name-status"), "");
    }
    // One that leads outside is not read, by whatever way.
    for path in ["../../up/settings", "$PWD/../up/settings", "../link"] {
        let world = World::new(&format!(
            "{SOME}; {within}; mv .gitconfig ../up/settings; ln -s ../up/settings link; git config include.path {path}"
        ));
        assert_eq!(
            world.run("printf 'a\\r\\nb\\r\\n' >a").kinds(),
            [("modified".into(), "a".into())],
            "{path}"
        );
    }
}
