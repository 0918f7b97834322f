//! A repository, a run in it whose agent is a shell script, and what the run
//! is said to have done.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::oracle::{self, Tree};
use crate::support::env::{PATIENCE, Ran, TestEnv, finish};

/// Prints everything that could tell that somebody was here: content, modes,
/// times and numbers of all files, `.git` and what is the user's own included. Reading leaves no trace.
const FINGERPRINT: &str = r#"cd "$1" && find work up user -printf '%p %y %m %s %T@ %C@ %i %l\n' 2>/dev/null | sort
find work up user -type f -print0 2>/dev/null | sort -z | xargs -0 sha256sum
"#;

/// What the real Codex answers before it is given its task.
const GREETING: &str = r#"#!/bin/sh
case "$1 $2" in
"--version "*) echo 'codex-cli 0.166.0'; exit ;;
"exec --help") exit ;;
"mcp list") echo '[]'; exit ;;
esac
cat >/dev/null
"#;

const IDENTITY: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "dev"),
    ("GIT_AUTHOR_EMAIL", "dev@example.org"),
    ("GIT_COMMITTER_NAME", "dev"),
    ("GIT_COMMITTER_EMAIL", "dev@example.org"),
];

pub struct World {
    pub env: TestEnv,
    /// Where the agent works, below `work`.
    pub place: String,
}

/// A run that is over.
pub struct Done {
    pub task_id: String,
    pub run_dir: PathBuf,
    pub evidence: Value,
}

impl World {
    /// A repository in `work`, after `setup` was run there.
    #[track_caller]
    pub fn new(setup: &str) -> World {
        let world = World::bare();
        world.shell("git init -q -b main .");
        world.shell(setup);
        world
    }

    /// A world without any repository yet.
    pub fn bare() -> World {
        let env = TestEnv::new();
        fs::create_dir(env.root().join("up")).unwrap();
        fs::write(env.root().join("fingerprint"), FINGERPRINT).unwrap();
        World { env, place: String::new() }
    }

    pub fn at(mut self, place: &str) -> World {
        self.place = place.to_owned();
        self
    }

    /// Makes a shell script stand for Codex.
    pub fn codex(&self, script: &str) {
        let codex = self.env.root().join("bin/codex");
        fs::write(&codex, format!("{GREETING}{script}")).unwrap();
        fs::set_permissions(&codex, fs::Permissions::from_mode(0o755)).unwrap();
        self.env.configure(&format!("codex_path = {:?}\n", codex.to_str().unwrap()));
    }

    pub fn dir(&self) -> PathBuf {
        self.env.work().join(&self.place)
    }

    /// Runs a script where the agent will work.
    #[track_caller]
    pub fn shell(&self, script: &str) -> String {
        let ran = self.try_shell(script);
        assert_eq!(ran.code, Some(0), "{script}: {}{}", ran.stdout, ran.stderr);
        ran.stdout
    }

    #[track_caller]
    pub fn try_shell(&self, script: &str) -> Ran {
        let mut command = Command::new("/bin/sh");
        self.env.settle_in(&mut command);
        command.args(["-ec", script]).current_dir(self.dir()).envs(IDENTITY);
        finish(command, PATIENCE)
    }

    pub fn fingerprint(&self) -> String {
        let root = self.env.root().to_str().unwrap();
        self.shell(&format!("sh {root}/fingerprint {root}"))
    }

    /// Lets an agent run `script`. What it leaves is what there is afterwards:
    /// neither the tree nor any repository was touched by us, before or after.
    #[track_caller]
    pub fn run(&self, script: &str) -> Done {
        let root = self.env.root().to_str().unwrap();
        let print = |name: &str| format!("sh {root}/fingerprint {root} >{root}/side/{name}");
        let before = self.fingerprint();
        let task =
            format!("set -e; {}\n{script}\ncd {}\n{}", print("began"), self.dir().display(), print("ended"));
        let args = ["run", "--agent", "command", "--wait", "--json", &task];
        let mut command = self.env.command(&args);
        command.current_dir(self.dir()).envs(IDENTITY);
        let ran = finish(command, PATIENCE);
        assert_eq!(ran.code, Some(0), "{script}: {}{}", ran.stdout, ran.stderr);
        let side =
            |name: &str| String::from_utf8_lossy(&fs::read(self.env.side().join(name)).unwrap()).into_owned();
        assert_same(&before, &side("began"), "the look before it");
        assert_same(&side("ended"), &self.fingerprint(), "the look after it");
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        let run_dir = PathBuf::from(report["run_dir"].as_str().unwrap());
        assert!(!run_dir.join("tree").exists() && !run_dir.join("overlapped").exists());
        let evidence = fs::read(run_dir.join("evidence.json")).unwrap();
        Done {
            task_id: report["task_id"].as_str().unwrap().to_owned(),
            run_dir,
            evidence: serde_json::from_slice(&evidence).unwrap(),
        }
    }

    /// What a command says to people.
    #[track_caller]
    pub fn text(&self, args: &[&str]) -> String {
        let mut command = self.env.command(args);
        command.current_dir(self.dir());
        let ran = finish(command, PATIENCE);
        assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
        ran.stdout
    }

    /// Runs `script` as an agent, and compares what it is said to have done
    /// with what git finds between the real trees.
    #[track_caller]
    pub fn check(&self, script: &str) -> Done {
        let before = Tree::of(self, "before");
        let done = self.run(script);
        let after = Tree::of(self, "after");
        assert_eq!(done.files()["source"], "git", "{:#}", done.evidence);
        // Of a repository inside only its commit is known, here and there.
        let gaps = done.files()["incomplete"].as_array().map(Vec::as_slice).unwrap_or_default();
        let inside = |gap: &Value| gap.as_str().unwrap().contains("these nested repositories");
        assert!(gaps.iter().all(inside), "{:#}", done.evidence);
        let (expected, told) = (oracle::diff(self, &before, &after), oracle::told(&done.evidence));
        assert_eq!(told, expected, "{script}\n{:#}", done.evidence);
        oracle::contents(&done.evidence);
        done
    }
}

impl Done {
    pub fn files(&self) -> &Value {
        &self.evidence["files"]
    }

    /// The one change to `path`.
    #[track_caller]
    pub fn change(&self, path: &str) -> &Value {
        let changes = self.files()["changes"].as_array().unwrap();
        let found = changes.iter().find(|change| change["path"] == path);
        found.unwrap_or_else(|| panic!("no change to {path}: {:#}", self.evidence))
    }

    pub fn kinds(&self) -> Vec<(String, String)> {
        let changes = self.files()["changes"].as_array().unwrap().iter();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        changes.map(|change| (text(&change["kind"]), text(&change["path"]))).collect()
    }
}

/// Compares two fingerprints, between which there was nothing but this `look`.
#[track_caller]
pub fn assert_same(before: &str, after: &str, look: &str) {
    assert!(before == after, "{look} left a trace:\n{}", difference(before, after));
}

fn difference(one: &str, two: &str) -> String {
    let only = |a: &str, b: &str, mark: &str| {
        let lines: Vec<&str> = b.lines().collect();
        let missing = a.lines().filter(|line| !lines.contains(line));
        missing.map(|line| format!("{mark} {line}\n")).collect::<String>()
    };
    only(one, two, "-") + &only(two, one, "+")
}
