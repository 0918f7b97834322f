//! The cost of detecting changed files: snapshots before and after a run, compared with `git
//! status`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Effort;
use crate::figures::{Budget, Samples, Table};
use crate::machine::{self, millis};
use crate::world::{DELEGATOR, World};

pub fn measure(effort: Effort, table: &mut Table) {
    let world = World::new("");
    for (files, share) in [(500, 4), (effort.tree, 20)] {
        let repository = repository(&world, files);
        let rounds = (effort.submits / share).max(5);
        compare(&world, &repository, files, rounds, table);
    }
    hash(effort, &world, table);
}

/// A run that moves a large file into its checkout, which is hashed after it.
fn hash(effort: Effort, world: &World, table: &mut Table) {
    let repository = repository(world, 100);
    let (there, here) = (world.scratch("large"), repository.join("large"));
    fs::write(&there, vec![b'x'; usize::try_from(effort.log_bytes).unwrap()]).unwrap();
    let (mut bare, mut idle, mut moved) = (Samples::default(), Samples::default(), Samples::default());
    let place = repository.to_str().unwrap();
    let task = format!("mv '{}' large", there.display());
    for _ in 0..effort.reads {
        bare.add(millis(world.time(&["/usr/bin/env", "sha256sum", there.to_str().unwrap()]).0));
        for (samples, task) in [(&mut idle, "true"), (&mut moved, task.as_str())] {
            let argv = [DELEGATOR, "run", "--agent", "command", "--cwd", place, "--wait", task];
            samples.add(millis(world.time(&argv).0));
            machine::collect_all();
        }
        fs::rename(&here, &there).unwrap();
    }
    let speed = |millis: f64| effort.log_bytes as f64 / 1000.0 / millis;
    let hashed = moved.median() - idle.median();
    table.section(&format!("hash of one changed file of {} MiB", effort.log_bytes >> 20));
    table.row("reference: `sha256sum`", speed(bare.median()), "MB/s", Budget::None);
    table.row(
        "a run that changes it, one that changes nothing taken off",
        speed(hashed),
        "MB/s",
        Budget::None,
    );
    table.row("... as a multiple of the time of the reference", hashed / bare.median(), "x", Budget::None);
}

fn compare(world: &World, repository: &Path, files: usize, rounds: usize, table: &mut Table) {
    let (mut status, mut inside, mut outside, mut edited) =
        (Samples::default(), Samples::default(), Samples::default(), Samples::default());
    let repository = repository.to_str().unwrap();
    let run = |place: &str, task: &str| {
        let argv = [DELEGATOR, "run", "--agent", "command", "--cwd", place, "--wait", task];
        let took = millis(world.time(&argv).0);
        machine::collect_all();
        took
    };
    // Alternating, so that other load on the machine affects all alike.
    for round in 0..rounds {
        status.add(millis(world.time(&["/usr/bin/env", "git", "-C", repository, "status", "--porcelain"]).0));
        // Outside any repository.
        outside.add(run(".", "true"));
        inside.add(run(repository, "true"));
        let edit =
            format!("for i in 1 2 3 4 5 6 7 8 9 10; do echo {round} >>d$i/f$i; done; echo x >new{round}");
        edited.add(run(repository, &edit));
    }
    let looks = inside.median() - outside.median();
    table.section(&format!("files (a repository of {files} files)"));
    table.row("`git status`, p50", status.median(), "ms", Budget::None);
    table.row("a whole instant run outside git, p50", outside.median(), "ms", Budget::None);
    table.row("a whole instant run in it, p50", inside.median(), "ms", Budget::None);
    table.row("... so both looks at the tree, nothing changed", looks, "ms", Budget::None);
    table.row(
        "... as a multiple of two `git status`",
        looks / status.median() / 2.0,
        "x",
        Budget::AtMost(2.0),
    );
    let changed = edited.median() - outside.median();
    table.row("both looks, and 11 files changed, p50", changed, "ms", Budget::None);
    if files < 1000 {
        table.row("both looks at a usual tree", looks, "ms", Budget::AtMost(60.0));
    }
}

/// A repository with this many small files, a hundred per directory, committed a while ago.
fn repository(world: &World, files: usize) -> PathBuf {
    let root = world.scratch(&format!("tree-{files}"));
    for dir in 0..files / 100 {
        let place = root.join(format!("d{dir}"));
        fs::create_dir_all(&place).unwrap();
        for file in 0..100 {
            fs::write(place.join(format!("f{file}")), format!("{dir} {file}\n").repeat(20)).unwrap();
        }
    }
    for args in [["init", "-q", "."], ["add", "-A", "."], ["commit", "-q", "-mall"]] {
        git(world, &root, &args);
    }
    // If the index were as recent as its files, git would read them again each time.
    std::thread::sleep(std::time::Duration::from_millis(50));
    git(world, &root, &["update-index", "--refresh"]);
    root
}

fn git(world: &World, root: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=dev", "-c", "user.email=dev@example.org"]).args(args).current_dir(root);
    let done = command.env_clear().envs(world.environment()).stdin(Stdio::null()).status().unwrap();
    assert!(done.success(), "git {args:?}");
}
