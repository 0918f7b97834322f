//! What really changed, by git itself: the tree is added to an index of the
//! test's own before and after, and the two are compared.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::world::World;

/// One change, in words that both sides can say.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    status: char,
    path: Vec<u8>,
    old_path: Option<String>,
    modes: (String, String),
    /// Absent of binary files, and of repositories inside.
    lines: Option<(u64, u64)>,
}

/// A tree that git wrote.
pub struct Tree(String);

impl Tree {
    /// The working tree as `git add -A` sees it, without touching its index.
    #[track_caller]
    pub fn of(world: &World, name: &str) -> Tree {
        let oracle = world.env.root().join("oracle");
        let place = |what: &str| {
            PathBuf::from(world.shell(&format!("git rev-parse --path-format=absolute {what}")).trim())
        };
        let (dir, common) = (place("--git-dir"), place("--git-common-dir"));
        if !oracle.exists() {
            let format = world.shell("git rev-parse --show-object-format");
            let format = format!("--object-format={}", format.trim());
            git(world, &["init", "-q", "--bare", &format, oracle.to_str().unwrap()], &[]);
            let objects = format!("{}\n", common.join("objects").display());
            fs::write(oracle.join("objects/info/alternates"), objects).unwrap();
            // How files are read is up to the repository.
            let config = fs::read_to_string(common.join("config")).unwrap();
            fs::write(oracle.join("config"), config.replace("refstorage = reftable", "")).unwrap();
            let _ = fs::copy(dir.join("config.worktree"), oracle.join("config.worktree"));
            let exclude = common.join("info/exclude");
            let _ = fs::copy(exclude, oracle.join("info/exclude"));
        }
        let index = oracle.join(format!("index-{name}"));
        if dir.join("index").exists() {
            // With its time: git would take a file as young as its index for one to be read.
            world.shell(&format!(
                "cp -p {}/sharedindex.* {} 2>/dev/null || true",
                dir.display(),
                oracle.display()
            ));
            world.shell(&format!("cp -p {} {}", dir.join("index").display(), index.display()));
        }
        let top = world.shell("git rev-parse --show-toplevel");
        let variables = [
            ("GIT_DIR", oracle.to_str().unwrap()),
            ("GIT_WORK_TREE", top.trim()),
            ("GIT_INDEX_FILE", index.to_str().unwrap()),
        ];
        git(world, &["add", "-A", "."], &variables);
        let tree = git(world, &["write-tree"], &variables);
        Tree(String::from_utf8(tree).unwrap().trim().to_owned())
    }
}

#[track_caller]
fn git(world: &World, args: &[&str], variables: &[(&str, &str)]) -> Vec<u8> {
    let mut command = Command::new("git");
    world.env.settle_in(&mut command);
    let top = variables.iter().find(|(name, _)| *name == "GIT_WORK_TREE");
    command
        .args(args)
        .envs(variables.iter().copied())
        .current_dir(top.map_or(world.dir(), |(_, dir)| dir.into()));
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// What git finds between two trees.
#[track_caller]
pub fn diff(world: &World, before: &Tree, after: &Tree) -> BTreeSet<Change> {
    let oracle = world.env.root().join("oracle");
    let variables = [("GIT_DIR", oracle.to_str().unwrap())];
    let with =
        |format: &str| git(world, &["diff-tree", "-r", "-z", "-M", format, &before.0, &after.0], &variables);
    let (raw, numbers) = (with("--raw"), with("--numstat"));
    let lines = lines(&numbers);
    let mut fields = raw.split(|&byte| byte == 0).filter(|field| !field.is_empty());
    let mut changes = BTreeSet::new();
    while let Some(head) = fields.next() {
        let head = std::str::from_utf8(head).unwrap();
        let words: Vec<&str> = head.trim_start_matches(':').split(' ').collect();
        let status = words[4].chars().next().unwrap();
        let first = fields.next().unwrap().to_vec();
        let (path, old_path) = if status == 'R' {
            (fields.next().unwrap().to_vec(), Some(String::from_utf8_lossy(&first).into_owned()))
        } else {
            (first, None)
        };
        let nested = words[0] == "160000" || words[1] == "160000";
        let lines = lines.iter().find(|(name, _)| *name == path).and_then(|(_, lines)| *lines);
        let modes = (mode(words[0]), mode(words[1]));
        changes.insert(Change { status, path, old_path, modes, lines: lines.filter(|_| !nested) });
    }
    changes
}

fn mode(word: &str) -> String {
    if word == "000000" { String::new() } else { word.to_owned() }
}

type Lines = Vec<(Vec<u8>, Option<(u64, u64)>)>;

fn lines(numbers: &[u8]) -> Lines {
    let mut fields = numbers.split(|&byte| byte == 0).filter(|field| !field.is_empty());
    let mut all = Vec::new();
    while let Some(field) = fields.next() {
        let parts: Vec<&[u8]> = field.splitn(3, |&byte| byte == b'\t').collect();
        let number = |at: usize| std::str::from_utf8(parts[at]).unwrap().parse().ok();
        let path = if parts[2].is_empty() { fields.nth(1).unwrap() } else { parts[2] };
        all.push((path.to_vec(), number(0).zip(number(1))));
    }
    all
}

/// What the run is said to have changed.
pub fn told(evidence: &Value) -> BTreeSet<Change> {
    let changes = evidence["files"]["changes"].as_array().unwrap().iter();
    changes
        .map(|change| {
            let text = |name: &str| change[name].as_str().unwrap_or_default().to_owned();
            let status = match (change["kind"].as_str().unwrap(), text("old_mode"), text("new_mode")) {
                ("added", ..) => 'A',
                ("deleted", ..) => 'D',
                ("renamed", ..) => 'R',
                ("type_changed", ..) => 'T',
                ("submodule", old, _) if old.is_empty() => 'A',
                ("submodule", _, new) if new.is_empty() => 'D',
                _ => 'M',
            };
            Change {
                status,
                path: bytes(change),
                old_path: change["old_path"].as_str().map(str::to_owned),
                modes: (text("old_mode"), text("new_mode")),
                lines: change["lines_added"].as_u64().zip(change["lines_removed"].as_u64()),
            }
        })
        .collect()
}

fn bytes(change: &Value) -> Vec<u8> {
    match change["path_hex"].as_str() {
        None => change["path"].as_str().unwrap().as_bytes().to_vec(),
        Some(hex) => {
            (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[at * 2..at * 2 + 2], 16).unwrap()).collect()
        }
    }
}

/// Sizes and hashes are those of the files that are there.
#[track_caller]
pub fn contents(evidence: &Value) {
    let root = PathBuf::from(evidence["files"]["root"].as_str().unwrap());
    for change in evidence["files"]["changes"].as_array().unwrap() {
        let file = root.join(std::ffi::OsStr::from_bytes(&bytes(change)));
        let new = change["new_mode"].as_str().unwrap_or_default();
        let content = match new {
            // Where there are no links, a file stands for one.
            "120000" if file.is_symlink() => {
                Some(fs::read_link(&file).unwrap().as_os_str().as_bytes().to_vec())
            }
            "" | "160000" => None,
            // Outside of what is checked out.
            _ if file.symlink_metadata().is_err() => None,
            _ => Some(fs::read(&file).unwrap()),
        };
        let sum = content.as_ref().map(|content| {
            Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect::<String>()
        });
        assert_eq!(change["sha256"].as_str(), sum.as_deref(), "{change:#}");
        assert_eq!(change["size"].as_u64(), content.map(|content| content.len() as u64), "{change:#}");
    }
}
