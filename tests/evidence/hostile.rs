//! Repositories that start programs when git looks at them. Looking at them
//! as we do starts none.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::world::World;

/// Everything in a configuration that makes git run something, and the files
/// that lead there.
const TRAPS: &str = r#"
trap=$CANARY
cat >>"$config" <<END
[core]
	fsmonitor = $hooks/fsmonitor
	hooksPath = $hooks
	sshCommand = touch $trap/ssh
	pager = touch $trap/pager
	editor = touch $trap/editor
	gitProxy = touch $trap/proxy
	askPass = $hooks/post-index-change
	untrackedCache = true
	attributesFile = $hooks/attributes
[filter "evil"]
	clean = $hooks/clean
	smudge = $hooks/smudge
	required = true
[filter "process"]
	process = touch $trap/process
	required = true
[diff "evil"]
	textconv = $hooks/textconv
	command = touch $trap/driver
[diff]
	external = touch $trap/external
[merge "evil"]
	driver = touch $trap/merge
[gpg]
	program = touch $trap/gpg
[log]
	showSignature = true
[credential]
	helper = !touch $trap/credential
[alias]
	ls-files = !touch $trap/alias
	diff-tree = !touch $trap/alias
[pager]
	diff-tree = touch $trap/pager
	log = touch $trap/pager
[include]
	path = $hooks/included
[includeIf "gitdir:/"]
	path = $hooks/included
[extensions]
	partialClone = evil
[remote "evil"]
	url = ext::sh -c 'touch $trap/remote'
	promisor = true
	partialclonefilter = blob:none
[protocol]
	allow = always
[uploadpack]
	packObjectsHook = touch $trap/pack
END
mkdir -p "$hooks"
for hook in post-index-change pre-commit post-checkout post-commit reference-transaction fsmonitor-watchman; do
	printf '#!/bin/sh\ntouch %s/hook-%s\n' "$trap" $hook >"$hooks/$hook"
	chmod +x "$hooks/$hook"
done
for name in fsmonitor clean smudge textconv clean-included; do
	printf '#!/bin/sh\ntouch %s/%s\ncat "$@"\n' "$trap" $name >"$hooks/$name"
	chmod +x "$hooks/$name"
done
printf '[filter "included"]\n\tclean = %s/clean-included\n' "$hooks" >"$hooks/included"
printf '* filter=evil diff=evil merge=evil\n' >"$hooks/attributes"
"#;

pub const ATTRIBUTES: &str = "printf '* filter=evil diff=evil merge=evil\\n*.p filter=process\\n*.i filter=included\\ncrlf !diff\\n' >.gitattributes; \
                          cp .gitattributes .git/info/attributes 2>/dev/null || true";

pub struct Traps {
    pub world: World,
    canary: PathBuf,
}

impl Traps {
    pub fn new(world: World) -> Traps {
        let canary = world.env.root().join("canary");
        fs::create_dir(&canary).unwrap();
        Traps { world, canary }
    }

    /// A script that sets all traps for the repository whose `.git` is `dir`.
    pub fn set(&self, dir: &str) -> String {
        format!("CANARY={}; config={dir}/config; hooks={dir}/evil\n{TRAPS}", self.canary.to_str().unwrap())
    }

    fn sprung(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.canary).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[track_caller]
    pub fn check_none(&self) {
        assert_eq!(self.sprung(), [] as [&str; 0]);
    }

    /// And not because nobody looked: git did, and knows of the line that `a` got.
    #[track_caller]
    pub fn check_none_by_git(&self, evidence: &Value) {
        self.check_none();
        let files = &evidence["files"];
        assert_eq!(files["source"], "git", "{evidence:#}");
        let changes = files["changes"].as_array().unwrap();
        let longer = |change: &Value| change["path"] == "a" && change["lines_added"] == 1;
        assert!(changes.iter().any(longer), "{evidence:#}");
    }

    /// The traps are real: git as everybody calls it falls into them.
    #[track_caller]
    pub fn check_real(&self, place: &str, expected: &[&str]) {
        self.world.try_shell(&format!(
            "cd {place}; git status >/dev/null 2>&1 || true; git -c core.fsmonitor=false diff -- a crlf >/dev/null 2>&1 || true; \
             git -c core.fsmonitor=false diff --no-ext-diff -- a >/dev/null 2>&1 || true; git add a >/dev/null 2>&1 || true; \
             git add a.i >/dev/null 2>&1 || true; git add -A >/dev/null 2>&1 || true; \
             git commit -qm x >/dev/null 2>&1 || true"
        ));
        let sprung = self.sprung();
        for trap in expected {
            assert!(sprung.iter().any(|one| one == trap), "{trap} is no trap: {sprung:?}");
        }
    }
}

pub const SOME: &str = "seq 1 9 >a; printf 'x\\r\\n' >crlf; echo p >a.p; echo i >a.i; echo gone >gone; git add -A; git commit -qm first";

/// What an agent does that gives git every reason to look at content.
pub const WORK: &str = "echo x >>a; printf 'y\\r\\n' >>crlf; echo q >>a.p; echo j >>a.i; mv gone come; printf 'n\\r\\n' >new; touch a.p";

#[test]
fn a_repository_full_of_traps_is_looked_at_and_none_is_sprung() {
    let traps = Traps::new(World::new(SOME));
    traps.world.shell(&format!("echo dirty >>a; printf 'd\\r\\n' >>crlf; {ATTRIBUTES}"));
    traps.world.shell(&traps.set("$PWD/.git"));
    let done = traps.world.run(WORK);
    traps.check_none();
    let paths: Vec<String> = done.kinds().into_iter().map(|(_, path)| path).collect();
    assert_eq!(paths, ["a", "a.i", "a.p", "come", "crlf", "new"], "{:#}", done.evidence);
    assert_eq!(done.change("a")["lines_added"], 1);
    assert_eq!(done.files().get("incomplete"), None);
    traps.check_real(".", &["fsmonitor", "clean", "clean-included", "process", "hook-post-index-change"]);
}

#[test]
fn traps_that_are_set_during_a_run_are_not_sprung_by_its_end() {
    let traps = Traps::new(World::new(SOME));
    let set = traps.set("$PWD/.git");
    let done = traps.world.run(&format!("{WORK}; {ATTRIBUTES}\n{set}"));
    traps.check_none_by_git(&done.evidence);
    traps.check_real(".", &["fsmonitor", "clean", "textconv", "external", "driver"]);
}

/// What springs in a repository inside of another.
const INSIDE: [&str; 8] = [
    "fsmonitor",
    "clean",
    "clean-included",
    "process",
    "hook-post-index-change",
    "external",
    "driver",
    "textconv",
];

#[test]
fn traps_in_a_submodule_are_not_sprung() {
    let world = World::bare();
    world.shell(&format!("git init -q -b main ../up/lib; cd ../up/lib; {SOME}"));
    world.shell("git init -q -b main .; git -c protocol.file.allow=always submodule --quiet add ../up/lib lib; git commit -qm with; seq 1 9 >a");
    let traps = Traps::new(world);
    traps.world.shell(&format!("cd lib; {ATTRIBUTES}"));
    traps.world.shell(&traps.set("$PWD/.git/modules/lib"));
    let done = traps.world.run(&format!("echo z >>a; cd lib; {WORK}"));
    traps.check_none_by_git(&done.evidence);
    traps.check_real("lib", &INSIDE);
}

#[test]
fn traps_in_a_repository_inside_are_not_sprung() {
    let traps = Traps::new(World::new(SOME));
    traps.world.shell(&format!("git init -q nested; cd nested; {SOME}; {ATTRIBUTES}"));
    traps.world.shell(&traps.set("$PWD/nested/.git"));
    let done = traps.world.run(&format!("{WORK}; cd nested; {WORK}"));
    traps.check_none_by_git(&done.evidence);
    assert_eq!(done.files()["not_looked_into"], serde_json::json!(["nested"]));
    traps.check_real("nested", &INSIDE);
}

#[test]
fn traps_in_a_linked_worktree_and_in_its_main_one_are_not_sprung() {
    let world = World::bare();
    world.shell(&format!(
        "git init -q -b main ../up/main; cd ../up/main; {SOME}; git worktree add -q ../../work/tree"
    ));
    let traps = Traps::new(world.at("tree"));
    traps.world.shell("printf '* filter=evil diff=evil\\n' >.gitattributes");
    traps.world.shell(&traps.set("$PWD/../../up/main/.git"));
    let done = traps.world.run(WORK);
    traps.check_none_by_git(&done.evidence);
    traps.check_real(".", &["fsmonitor", "clean"]);
}

#[test]
fn a_tree_that_is_said_to_be_elsewhere_is_not_looked_at_there() {
    let world = World::new(SOME);
    world.shell(
        "mkdir ../side/else; echo secret >../side/else/secret; git config core.worktree ../../side/else",
    );
    let done = world.run("echo x >>a; echo n >new");
    assert_eq!(done.kinds(), [("modified".into(), "a".into()), ("added".into(), "new".into())]);
}

#[test]
fn variables_of_the_caller_do_not_lead_git_elsewhere() {
    let world = World::new(SOME);
    let canary = world.env.root().join("canary");
    let mut command = world.env.command(&["run", "--agent", "command", "--wait", "--json", "echo x >>a"]);
    command
        .env("GIT_DIR", "/nowhere")
        .env("GIT_INDEX_FILE", "/nowhere/index")
        .env("GIT_EXTERNAL_DIFF", format!("touch {}", canary.display()))
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "core.fsmonitor")
        .env("GIT_CONFIG_VALUE_0", format!("touch {}", canary.display()))
        .env("GIT_TRACE", world.env.root().join("traced"));
    let ran = crate::support::env::finish(command, crate::support::env::PATIENCE);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let evidence = fs::read(Path::new(report["run_dir"].as_str().unwrap()).join("evidence.json")).unwrap();
    let evidence: Value = serde_json::from_slice(&evidence).unwrap();
    assert_eq!(evidence["files"]["changes"][0]["path"], "a");
    assert!(!canary.exists() && !world.env.root().join("traced").exists());
}

#[test]
fn an_index_with_an_endless_path_is_damage_and_the_run_is_sealed() {
    let world = World::new(SOME);
    let done = world.run(
        "echo x >>a; { printf 'DIRC\\0\\0\\0\\2\\0\\0\\0\\1'; head -c 60 /dev/zero; printf '\\017\\377'; \
         head -c 100000 /dev/zero | tr '\\0' /; head -c 26 /dev/zero; } >index; mv index .git/index",
    );
    assert_eq!(done.kinds(), [("modified".into(), "a".into())], "{:#}", done.evidence);
    let gaps = done.files()["incomplete"].as_array().unwrap();
    let gap = "unknown what was added to the index: the index is damaged";
    assert!(gaps.iter().any(|one| one == gap), "{:#}", done.evidence);
}

/// It is larger than anybody could read, and takes no room.
#[test]
fn a_list_of_attributes_without_end_is_not_read() {
    let world = World::new(SOME);
    world.shell("truncate -s 1T .gitattributes");
    let command = world.env.command(&["run", "--agent", "command", "--wait", "--json", "echo x >>a"]);
    let ran = crate::support::env::finish(command, crate::support::env::PATIENCE);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let evidence = fs::read(Path::new(report["run_dir"].as_str().unwrap()).join("evidence.json")).unwrap();
    let evidence: Value = serde_json::from_slice(&evidence).unwrap();
    assert_eq!(evidence["files"]["changes"][0]["path"], "a", "{evidence:#}");
}
