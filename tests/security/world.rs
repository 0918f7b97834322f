//! A machine for one test: homes, configuration, two repositories, and a Codex that only writes down how it was called.
//!
//! It lies under the build's own temporary directory, not under `/tmp`, which sandboxes treat specially.

use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use serde_json::Value;
use tempfile::TempDir;

use crate::client::{Client, Reply};
use crate::support::installed::installed;
use crate::support::{checker, kill};

/// How long anything may take before a test gives up on it.
pub const DEADLINE: Duration = Duration::from_secs(90);
const POLL: Duration = Duration::from_millis(10);

/// Prints what a run needs to see, and keeps its arguments for the test.
const CODEX: &str = r#"#!/bin/sh
case "$1 $2" in
"--version "*) echo 'codex-cli 0.166.0'; exit ;;
"exec --help") cat 'HELP'; exit ;;
"mcp list") echo '[]'; exit ;;
"exec "*) ;;
*) exit 1 ;;
esac
printf '%s\n' "$@" > 'SIDE'/argv.$$
env > 'SIDE'/env.$$
thread=$(printf '01a1de11-e775-7fc2-8102-%012d' $$)
for word in "$@"; do
  [ "$before" = resume ] && thread=$word
  before=$word
done
cat > /dev/null
echo "{\"type\":\"thread.started\",\"thread_id\":\"$thread\"}"
echo '{"type":"turn.started"}'
echo '{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"done"}}'
echo '{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}'
"#;

pub struct World {
    root: TempDir,
}

impl World {
    /// A machine whose operator configured nothing but where Codex is.
    pub fn new() -> World {
        let world = World::bare();
        world.install_codex();
        world.configure("");
        world
    }

    /// The same, with `toml` in the configuration.
    pub fn configured(toml: &str) -> World {
        let world = World::new();
        world.configure(toml);
        world
    }

    /// A machine without any agent.
    pub fn bare() -> World {
        // Codex may write to `/tmp`: below it every directory would be open, whatever else is allowed.
        let built_in = env!("CARGO_TARGET_TMPDIR");
        let place = if built_in.starts_with("/tmp/") { "/var/tmp" } else { built_in };
        let root = tempfile::Builder::new().prefix("security-").tempdir_in(place);
        let world = World { root: root.expect("a directory for the test") };
        for dir in ["home", "state", "config/delegator", "project/below", "other", "side", "bin"] {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(world.path(dir)).unwrap();
        }
        for repository in ["project", "other"] {
            world.git(repository, &["init", "--quiet", "--initial-branch", "main"]);
        }
        world
    }

    pub fn git(&self, below: &str, args: &[&str]) {
        let mut git = self.command("git");
        git.arg("-C").arg(self.path(below)).args(args);
        assert!(git.status().expect("git").success(), "{args:?}");
    }

    fn install_codex(&self) {
        let help = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/codex/exec_help.txt");
        let script = CODEX.replace("HELP", &text(&help)).replace("SIDE", &text(&self.path("side")));
        self.script("bin/codex", &script);
    }

    /// An executable file.
    pub fn script(&self, below: &str, content: &str) -> PathBuf {
        let path = self.path(below);
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// Replaces the configuration; Codex is the one of this machine unless it says otherwise.
    pub fn configure(&self, toml: &str) {
        let codex = match toml.contains("codex_path") {
            true => String::new(),
            false => format!("codex_path = {:?}\n", self.path("bin/codex")),
        };
        fs::write(self.path("config/delegator/config.toml"), codex + toml).unwrap();
    }

    /// A path below the machine's directory, without links.
    pub fn path(&self, below: &str) -> PathBuf {
        fs::canonicalize(self.root.path()).unwrap().join(below)
    }

    pub fn text(&self, below: &str) -> String {
        text(&self.path(below))
    }

    /// Any program on this machine, standing in the project.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.path("project"))
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("LANG", "C.UTF-8")
            .env("HOME", self.path("home"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("DELEGATOR_HOME", self.path("state"))
            .stdin(Stdio::null());
        command
    }

    pub fn delegator(&self, args: &[&str]) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_delegator"));
        command.args(args);
        command
    }

    /// What a person at a shell gets from `delegator`, as JSON.
    #[track_caller]
    pub fn person(&self, args: &[&str]) -> Value {
        let output = self.delegator(args).arg("--json").output().expect("delegator");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{args:?}: {error}: {output:?}"))
    }

    /// A client without roots, whose server stands in the project.
    pub fn client(&self) -> Client {
        Client::connect(self.delegator(&["serve"]), None)
    }

    pub fn client_with_roots(&self, roots: &[&str]) -> Client {
        Client::connect(self.delegator(&["serve"]), Some(roots))
    }

    /// Nothing was taken in, and nothing was begun.
    #[track_caller]
    pub fn untouched(&self) {
        for dir in ["state/runs", "state/unsettled", "side"] {
            let left: Vec<_> = fs::read_dir(self.path(dir))
                .into_iter()
                .flatten()
                .flatten()
                .map(|entry| entry.path())
                .collect();
            assert!(left.is_empty(), "{left:?}");
        }
        if self.path("state/registry.db").exists() {
            assert!(checker::rows(&self.path("state/registry.db")).unwrap().is_empty());
        }
    }

    /// How the task ended, once it has.
    #[track_caller]
    pub fn ended(&self, task: &str) -> checker::Row {
        wait_for(&format!("the end of {task}"), || {
            let rows = checker::rows(&self.path("state/registry.db")).ok()?;
            rows.into_iter().find(|row| row.id == task && row.is_final())
        })
    }

    /// A file of the task's run directory, as JSON.
    pub fn run_file(&self, task: &str, name: &str) -> Value {
        let rows = checker::rows(&self.path("state/registry.db")).unwrap();
        let row = rows.into_iter().find(|row| row.id == task).expect("a row");
        let path = self.path("state/runs").join(row.run_id).join(name);
        serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
    }

    /// The arguments that Codex got for the run that `reply` tells of, one a line.
    #[track_caller]
    pub fn arguments(&self, reply: &Reply) -> String {
        let task = reply.task();
        assert_eq!(self.ended(&task).state, "completed", "{}", reply.text);
        let command = self.run_file(&task, "command.json");
        let args: Vec<_> = command["args"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        args.join("\n")
    }
}

impl Drop for World {
    /// Everything that was started here has a path of the machine about it.
    fn drop(&mut self) {
        let root = self.path("");
        for _ in 0..500 {
            let left = kill::mentioning(&root);
            if left.is_empty() {
                return;
            }
            left.into_iter().for_each(|pid| kill::send(pid, libc::SIGKILL));
            thread::sleep(POLL);
        }
    }
}

pub fn text(path: &Path) -> String {
    path.to_str().expect("a plain path").to_owned()
}

/// Looks until there is something to see.
#[track_caller]
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(Instant::now() < deadline, "waited for {what}");
        thread::sleep(POLL);
    }
}

/// The launcher of the pinned Codex.
pub fn real_codex() -> PathBuf {
    installed("codex")
}

/// The bubblewrap that comes with the pinned Codex.
pub fn real_bwrap() -> PathBuf {
    let launcher = fs::canonicalize(real_codex()).unwrap();
    let modules =
        launcher.ancestors().find(|dir| dir.ends_with("node_modules/@openai")).expect("its packages");
    let packages = fs::read_dir(modules).unwrap().flatten().map(|entry| entry.path().join("vendor"));
    let vendors = packages.filter_map(|vendor| fs::read_dir(vendor).ok()).flatten().flatten();
    let found = vendors.map(|vendor| vendor.path().join("codex-resources/bwrap")).find(|path| path.exists());
    found.expect("a bubblewrap beside Codex")
}
