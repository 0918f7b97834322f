//! Runs in worktrees of their own, and what becomes of their changes. Whatever happens there, the user's checkout, index,
//! stash and branch stay as they are, but for the files that `apply` is to write.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::hostile::Traps;
use crate::support::env::{PATIENCE, Ran, acknowledged, finish, wait_for};
use crate::support::kill;
use crate::world::{World, assert_same};

/// Ten lines in `a`, a file in a directory, one to delete, and an ignored one.
pub const SOME: &str = "seq 10 >a; mkdir d; echo d >d/f; echo old >gone; printf '*.log\\n.env\\n' >.gitignore; \
                    git add -A; git commit -qm first; echo noise >x.log; touch -d yesterday a d/f gone .gitignore; \
                    git update-index -q --refresh";
const DIRTY: &str = "sed -i s/^10$/mine/ a; echo staged >staged; git add staged; echo mine >untracked; \
                     echo stashed >>d/f; git stash push -q d/f";

/// A run that is over.
pub struct Run {
    pub id: String,
    pub report: Value,
}

impl Run {
    pub fn branch(&self) -> String {
        format!("delegator/{}", self.id)
    }

    pub fn path(&self) -> PathBuf {
        PathBuf::from(self.report["worktree"]["path"].as_str().unwrap())
    }

    #[track_caller]
    pub fn warned(&self, of: &str) {
        let warnings = self.report["warnings"].to_string();
        assert!(warnings.contains(of), "{warnings}");
    }
}

pub fn delegator(world: &World, args: &[&str]) -> Ran {
    let mut command = world.env.command(args);
    command.current_dir(world.dir());
    finish(command, PATIENCE)
}

pub fn run_with(world: &World, options: &[&str], script: &str) -> Value {
    let args =
        [&["run", "--agent", "command", "--worktree", "--wait", "--json"], options, &[script]].concat();
    let mut command = world.env.command(&args);
    command.current_dir(world.dir());
    command.env("GIT_AUTHOR_NAME", "agent").env("GIT_AUTHOR_EMAIL", "agent@example.org");
    command.env("GIT_COMMITTER_NAME", "agent").env("GIT_COMMITTER_EMAIL", "agent@example.org");
    let ran = finish(command, PATIENCE);
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}{}", ran.stdout, ran.stderr))
}

/// Runs `script` in a worktree, which changes nothing in the checkout.
#[track_caller]
pub fn run(world: &World, script: &str) -> Run {
    let before = state(world);
    let report = run_with(world, &[], script);
    assert_eq!(report["status"], "completed", "{report:#}");
    assert_same(&before, &state(world), "the run");
    Run { id: report["task_id"].as_str().unwrap().to_owned(), report }
}

/// Files, index, `HEAD`, branches but ours, and stash of the checkout; git finds the repository sound.
pub fn state(world: &World) -> String {
    world.shell(
        "git --no-optional-locks status --porcelain=v2 --ignored; git stash list; cat .git/HEAD; \
         git for-each-ref | grep -v refs/heads/delegator/ || true; sha256sum .git/index .git/config; \
         find . -name .git -prune -o -printf '%p %m %l\\n' | sort; \
         find . -name .git -prune -o -type f -print0 | sort -z | xargs -0 sha256sum; \
         git fsck --strict --no-dangling 2>&1",
    )
}

#[track_caller]
pub fn json_of(world: &World, code: i32, args: &[&str]) -> Value {
    let ran = delegator(world, &[args, &["--json"]].concat());
    assert_eq!(ran.code, Some(code), "{args:?}: {}{}", ran.stdout, ran.stderr);
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    if code == 0 || document["status"] == "ok" { document["data"].clone() } else { document }
}

pub fn files(data: &Value, list: &str) -> Vec<String> {
    let rows = data[list].as_array().unwrap().iter();
    rows.map(|row| format!("{} {}", row["change"].as_str().unwrap_or("in"), row["path"].as_str().unwrap()))
        .collect()
}

const EVERYTHING: &str = "sed -i s/^1$/agent/ a; rm gone; echo new >d/new; chmod +x d/f; ln -s a link; mkdir e; \
                          printf 'x\\0y' >e/binary; echo ignored >y.log";

#[test]
fn changes_come_back_beside_uncommitted_work_and_can_be_undone() {
    let world = World::new(SOME);
    world.shell(DIRTY);
    let task = run(&world, EVERYTHING);
    let changed =
        ["added d/new", "added e/binary", "added link", "deleted gone", "modified a", "modified d/f"];
    let mut seen = files(&json_of(&world, 0, &["apply", "--dry-run", &task.id]), "files");
    seen.sort();
    assert_eq!(seen, changed);
    let before = state(&world);
    let index = world.shell("sha256sum .git/index");
    let done = json_of(&world, 0, &["apply", &task.id]);
    assert_eq!((done["applied"].clone(), done["files"].as_array().unwrap().len()), (json!(true), 6));
    assert_eq!(
        world.shell("head -1 a; tail -1 a; cat d/new; test -x d/f; test ! -e gone; readlink link"),
        "agent\nmine\nnew\na\n"
    );
    assert_eq!(world.shell("sha256sum .git/index"), index, "the index was written");
    assert!(!task.path().exists(), "the work is in the checkout");
    assert_eq!(json_of(&world, 0, &["apply", &task.id])["applied"], false, "it is there already");
    let undo = done["undo"].as_str().unwrap().to_owned();
    assert_eq!(undo, format!("delegator apply --undo {}", task.id));
    json_of(&world, 0, &["apply", "--undo", &task.id]);
    assert_same(&before, &state(&world), "apply and undo");
    json_of(&world, 2, &["apply", "--undo", &task.id]);
}

#[test]
fn what_was_changed_since_is_not_undone() {
    let world = World::new(SOME);
    let task = run(&world, EVERYTHING);
    json_of(&world, 0, &["apply", &task.id]);
    world.shell("echo more >>a");
    let before = state(&world);
    let refused = json_of(&world, 1, &["apply", "--undo", &task.id]);
    assert_eq!(files(&refused, "conflicts"), ["in a"]);
    assert_same(&before, &state(&world), "an undo that is refused");
}

#[test]
fn of_two_that_conflict_the_second_changes_nothing_and_says_where() {
    let world = World::new(SOME);
    let one = run(&world, "sed -i s/^5$/one/ a; echo 1 >first");
    let two = run(&world, "sed -i s/^5$/two/ a; echo 2 >second");
    json_of(&world, 0, &["apply", &one.id]);
    let before = state(&world);
    for args in [&["apply", &two.id][..], &["apply", "--dry-run", &two.id]] {
        let refused = json_of(&world, 1, args);
        assert_eq!(
            (files(&refused, "conflicts"), refused["applied"].clone()),
            (vec!["in a".to_owned()], json!(false))
        );
    }
    assert_same(&before, &state(&world), "a conflict");
    assert!(two.path().join("second").exists(), "its work is kept");
}

#[test]
fn what_is_in_the_way_of_a_new_file_stops_all_of_them() {
    let world = World::new(SOME);
    let task = run(&world, "echo other >x.log; git add -f x.log; echo b >b");
    let before = state(&world);
    let refused = json_of(&world, 1, &["apply", &task.id]);
    assert_eq!(files(&refused, "conflicts"), ["in x.log"]);
    assert_same(&before, &state(&world), "an ignored file in the way");
}

#[test]
fn the_evidence_is_that_of_the_branch() {
    let world = World::new(SOME);
    world.shell(DIRTY);
    let task = run(&world, "cd d; echo more >>f; git commit -qam theirs; echo n >n");
    let changes = &task.report["file_operations"];
    assert_eq!(
        (&changes["modified_files"], &changes["added_files"]),
        (&json!(["d/f"]), &json!(["d/n"])),
        "{changes:#}"
    );
    let log = world.shell(&format!("git log --format='%s %an' {}", task.branch()));
    let subjects: Vec<&str> = log.lines().collect();
    assert_eq!(subjects.len(), 3, "{log}");
    assert!(subjects[0].ends_with(" delegator") && subjects[1] == "theirs agent", "{log}");
    assert_eq!(world.shell(&format!("git diff --name-only main {}", task.branch())), "d/f\nd/n\n");
    assert_eq!(world.shell(&format!("git -C {} status --short", task.path().display())), "");
    assert_eq!(
        delegator(&world, &["diff", &task.id]).stdout,
        world.shell(&format!("git diff --binary --full-index --no-renames main {}", task.branch()))
    );
}

#[test]
fn a_run_that_changes_nothing_leaves_nothing() {
    let world = World::new(SOME);
    let task = run(&world, "cat a >/dev/null; echo built >y.log");
    assert_eq!(world.shell("git branch --list 'delegator/*'; git worktree list | wc -l"), "1\n");
    assert_eq!(fs::read_dir(world.env.home().join("worktrees")).unwrap().count(), 0);
    assert_eq!(json_of(&world, 0, &["apply", &task.id])["applied"], false);
}

#[test]
fn an_agent_that_moves_elsewhere_loses_nothing() {
    let world = World::new(SOME);
    let commit = "echo c >c; git add c; git commit -qm theirs";
    for (script, told) in [
        (format!("git checkout -q -b other; {commit}; echo u >u"), "left `other` checked out"),
        (format!("git checkout -q --detach; {commit}; echo u >u"), "left a detached HEAD checked out"),
        (format!("git checkout -q --orphan empty; {commit}; echo u >u"), "left `empty` checked out"),
    ] {
        let report = run_with(&world, &[], &script);
        let task = Run { id: report["task_id"].as_str().unwrap().to_owned(), report };
        task.warned(told);
        let names = world.shell(&format!(
            "git diff --name-only main {}; git log --format=%s {}",
            task.branch(),
            task.branch()
        ));
        assert!(names.contains("c\nu\n") && names.contains("theirs\n"), "{script}: {names}");
        assert_eq!(
            world.shell(&format!("git -C {} symbolic-ref HEAD", task.path().display())),
            format!("refs/heads/{}\n", task.branch())
        );
        json_of(&world, 0, &["apply", "--dry-run", &task.id]);
    }
    world.shell("git fsck --strict --no-dangling");
}

#[test]
fn an_agent_that_deletes_what_it_works_in_is_told_of() {
    let world = World::new(SOME);
    let report = run_with(&world, &[], "echo c >c; git add c; git commit -qm theirs; rm -rf \"$PWD\"");
    let task = Run { id: report["task_id"].as_str().unwrap().to_owned(), report };
    task.warned("was deleted; only what had been committed");
    assert_eq!(files(&json_of(&world, 0, &["apply", &task.id]), "files"), ["added c"]);
    let own = run(
        &world,
        &format!(
            "rm .git; git init -q .; git add -A; git commit -qm own; echo w >w; git config core.fsmonitor 'touch {}/sprung'",
            world.env.side().display()
        ),
    );
    assert_eq!(files(&json_of(&world, 0, &["apply", &own.id]), "files"), ["added w"]);
    assert!(!world.env.side().join("sprung").exists());
    let branch =
        run(&world, "echo v >v; git checkout -q --detach; git branch -qD delegator/$(basename $PWD)");
    branch.warned("had deleted the branch");
    assert_eq!(files(&json_of(&world, 0, &["apply", &branch.id]), "files"), ["added v"]);
}

#[test]
fn a_detached_head_and_a_submodule_are_no_trouble() {
    let world = World::new(SOME);
    world.shell(
        "git init -q ../up/sub; cd ../up/sub; echo s >s; git add s; git commit -qm sub; cd - >/dev/null; \
         git -c protocol.file.allow=always submodule --quiet add ../up/sub sub; git commit -qm with; git checkout -q --detach",
    );
    let task = run(&world, "echo more >>a; ls -A sub");
    task.warned("submodules are empty in the worktree: `sub`");
    let before = world.shell("git submodule status; cat sub/s; cat .git/HEAD");
    assert_eq!(files(&json_of(&world, 0, &["apply", &task.id]), "files"), ["modified a"]);
    assert_eq!(world.shell("git submodule status; cat sub/s; cat .git/HEAD"), before);
    let moved =
        run(&world, "git update-index --cacheinfo 160000,$(git rev-parse HEAD),sub; git commit -qm moved");
    let refused = json_of(&world, 1, &["apply", &moved.id]);
    assert_eq!(refused["conflicts"][0], json!({ "path": "sub", "reason": "it is a submodule" }));
}

#[test]
fn where_no_worktree_can_be_the_run_is_refused_before_anything_exists() {
    let world = World::bare();
    let check = |setup: &str, told: &str| {
        world.shell(&format!("rm -rf .git *; {setup}"));
        let refused = run_with(&world, &[], "true");
        assert_eq!(refused["error"]["code"], "VALIDATION", "{refused:#}");
        assert!(refused.to_string().contains(told), "{refused:#}");
        assert!(!world.env.home().join("worktrees").exists());
        assert_eq!(fs::read_dir(world.env.home().join("runs")).unwrap().count(), 0);
    };
    check("true", "is not inside a git repository");
    check("git init -q .", "has no commit yet");
    check("git init -q --bare .", "is not inside a git repository");
}

#[test]
fn included_files_and_the_operators_setup_prepare_it() {
    let world = World::new(SOME);
    world.shell("echo secret >.env; mkdir d/deep; echo l >d/deep/l.log; printf '.env\\nd/**/*.log\\na\\n' >.worktreeinclude; git add .worktreeinclude; git commit -qm include");
    world.env.configure("worktree_setup = \"echo made in $PWD; cp .env set-up.log\"\n");
    let task = run(&world, "cat .env d/deep/l.log set-up.log >seen; test ! -e x.log");
    assert_eq!(fs::read_to_string(task.path().join("seen")).unwrap(), "secret\nl\nsecret\n");
    let run_dir = Path::new(task.report["run_dir"].as_str().unwrap());
    let log = fs::read_to_string(run_dir.join("worktree_setup.log")).unwrap();
    assert_eq!(log, format!("made in {}\n", task.path().display()));
    let before = state(&world);
    for (setup, told) in [
        ("echo no such thing >&2; exit 3", "failed (exit status: 3): no such thing"),
        ("sleep 60", "took longer than 1 s"),
    ] {
        world.env.configure(&format!("worktree_setup = \"{setup}\"\nworktree_setup_timeout_s = 1\n"));
        let failed = run_with(&world, &[], "echo never >never");
        assert_eq!(failed["status"], "failed");
        assert!(failed["error"].as_str().unwrap().contains(told), "{failed:#}");
    }
    assert_same(&before, &state(&world), "a setup that fails");
    assert_eq!(world.shell("git worktree list | wc -l"), "2\n", "only the first is there");
}

#[test]
fn when_the_supervisor_is_killed_the_work_stays_and_can_be_applied() {
    let world = World::new(SOME);
    world.shell(DIRTY);
    let before = state(&world);
    let script = format!("{EVERYTHING}; touch {}/began; exec sleep 1000", world.env.side().display());
    let ran = delegator(&world, &["run", "--agent", "command", "--worktree", "--json", &script]);
    let submitted = acknowledged(&ran.stdout).unwrap();
    wait_for("its agent", PATIENCE, || world.env.side().join("began").exists().then_some(()));
    let pid = kill::supervisor_of(&world.env.run_dir(&submitted.run_id)).unwrap();
    kill::send(pid, libc::SIGKILL);
    wait_for("its end", PATIENCE, || (!kill::alive(pid)).then_some(()));
    let id = submitted.task_id.as_str();
    assert_eq!(json_of(&world, 1, &["results", id])["state"], "failed");
    assert_same(&before, &state(&world), "a killed supervisor");
    assert_eq!(json_of(&world, 0, &["apply", id])["files"].as_array().unwrap().len(), 6);
    json_of(&world, 0, &["apply", "--undo", id]);
    let discarded = json_of(&world, 0, &["discard", id]);
    assert_eq!(world.shell("git branch --list 'delegator/*'; git worktree list | wc -l"), "1\n");
    let commit = discarded["commit"].as_str().unwrap();
    assert_eq!(
        world.shell(&format!("git show {commit}:d/new")),
        "new\n",
        "what was discarded can be brought back"
    );
    assert_same(&before, &state(&world), "all of it");
}

#[test]
fn nothing_that_a_repository_names_is_started() {
    let traps = Traps::new(World::new(&format!(
        "{SOME}; printf '* filter=evil diff=evil merge=evil\\n' >.gitattributes; echo x.log >.worktreeinclude; git add -A; git commit -qm traps"
    )));
    let world = &traps.world;
    world.shell("git config extensions.worktreeConfig true; git config --worktree core.worktree /nowhere; git config --worktree core.fsmonitor \"touch $PWD/sprung\"");
    world.shell(&traps.set("$PWD/.git"));
    let index = world.shell("sha256sum .git/index .git/config .git/config.worktree");
    let report = run_with(world, &[], "echo more >>a; echo new >new; cat x.log >>new");
    assert_eq!(report["status"], "completed", "{report:#}");
    let id = report["task_id"].as_str().unwrap();
    world.shell("echo mine >>d/f");
    assert_eq!(files(&json_of(world, 0, &["apply", id]), "files"), ["modified a", "added new"]);
    json_of(world, 0, &["apply", "--undo", id]);
    json_of(world, 0, &["discard", id]);
    traps.check_none();
    assert!(!world.dir().join("sprung").exists());
    assert_eq!(world.shell("sha256sum .git/index .git/config .git/config.worktree"), index);
}

#[test]
fn a_run_whose_worktree_holds_work_is_kept() {
    let world = World::new(SOME);
    let kept = run(&world, "echo more >>a");
    let old = run(&world, "true");
    let removed = json_of(&world, 0, &["cleanup", "--older-than", "0"]);
    let ids: Vec<&str> =
        removed["old_tasks"]["task_ids"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    assert_eq!(ids, [old.id.as_str()], "{removed:#}");
    assert!(kept.path().join("a").exists());
}

#[test]
fn line_ends_and_large_files_come_back_as_git_would_check_them_out() {
    let world = World::new(
        "git config core.autocrlf true; printf 'one\\r\\ntwo\\r\\n' >text; git add -A; git commit -qm first 2>/dev/null",
    );
    let task = run(&world, "printf 'one\\r\\ntwo\\r\\nthree\\r\\n' >text; head -c 20000000 /dev/zero >large");
    json_of(&world, 0, &["apply", &task.id]);
    assert_eq!(fs::read(world.dir().join("text")).unwrap(), b"one\r\ntwo\r\nthree\r\n");
    assert_eq!(fs::metadata(world.dir().join("large")).unwrap().len(), 20_000_000);
    assert_eq!(world.shell(&format!("git cat-file blob {}:text", task.branch())), "one\ntwo\nthree\n");
    json_of(&world, 0, &["apply", "--undo", &task.id]);
    assert_eq!(world.shell("git status --short"), "");
}

#[test]
fn a_task_starts_when_another_has_completed_and_never_otherwise() {
    let world = World::new(SOME);
    let submit = |options: &[&str], script: &str| {
        let ran = delegator(&world, &[&["run", "--agent", "command", "--json"], options, &[script]].concat());
        acknowledged(&ran.stdout).unwrap_or_else(|| panic!("{}{}", ran.stdout, ran.stderr)).task_id
    };
    let go = world.env.side().join("go");
    let until = format!("until test -e {}; do sleep 0.02; done", go.display());
    let first = submit(&[], &until);
    let second = submit(&["--after", &first], "echo 2");
    let third = submit(&["--after", &second], "exit 1");
    let fourth = submit(&["--after", &third], "echo never");
    let fifth = submit(&["--after", &fourth], "echo never");
    let beside = submit(&[], "true");
    assert_eq!(world.env.await_final(&beside), "completed", "those that wait hold nobody up");
    assert_eq!(json_of(&world, 4, &["results", &second])["state"], "pending");
    fs::write(go, "").unwrap();
    let ends = [&first, &second, &third, &fourth, &fifth].map(|id| world.env.await_final(id));
    assert_eq!(ends, ["completed", "completed", "failed", "cancelled", "cancelled"]);
    let why = json_of(&world, 5, &["results", &fourth])["summary"].to_string();
    assert!(why.contains(&format!("{third}, which had to complete first, ended as failed")), "{why}");
    let refused =
        delegator(&world, &["run", "--agent", "command", "--after", "T-local-000000000000", "true"]);
    assert_eq!(refused.code, Some(3), "{}", refused.stderr);
}

#[test]
fn a_task_that_waits_for_another_still_waits_when_the_registry_was_lost() {
    let world = World::new(SOME);
    let go = world.env.side().join("go");
    let until = format!("until test -e {}; do sleep 0.02; done; exit 1", go.display());
    let submit = |options: &[&str], script: &str| {
        let ran = delegator(&world, &[&["run", "--agent", "command", "--json"], options, &[script]].concat());
        acknowledged(&ran.stdout).unwrap().task_id
    };
    let first = submit(&[], &until);
    let second = submit(&["--after", &first], "echo never");
    for end in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(world.env.home().join(format!("registry.db{end}")));
    }
    assert_eq!(json_of(&world, 4, &["results", &second])["state"], "pending");
    fs::write(go, "").unwrap();
    assert_eq!([&first, &second].map(|id| world.env.await_final(id)), ["failed", "cancelled"]);
}
