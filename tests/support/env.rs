//! An isolated environment for one test: homes, configuration and working directory.
//!
//! Nothing of the machine's environment is inherited, and every process started in it is killed at
//! its end.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::kill;

/// Any of our commands that takes longer hangs.
pub const PATIENCE: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(5);

pub struct TestEnv {
    root: TempDir,
    home: PathBuf,
}

/// A program's output and exit code.
#[derive(Debug)]
pub struct Ran {
    /// `None` if a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// A task as acknowledged by the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submitted {
    pub task_id: String,
    pub run_id: String,
}

impl TestEnv {
    pub fn new() -> TestEnv {
        let root = tempfile::Builder::new().prefix("delegator-").tempdir().unwrap();
        fs::set_permissions(root.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let home = root.path().join("state");
        let env = TestEnv { root, home };
        for dir in ["state", "user", "config/delegator", "work", "side", "bin"] {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(env.root().join(dir)).unwrap();
        }
        env
    }

    /// An environment with another state directory.
    pub fn with_home(home: PathBuf) -> TestEnv {
        let mut env = TestEnv::new();
        env.home = home;
        env
    }

    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// `DELEGATOR_HOME`.
    pub fn home(&self) -> &Path {
        &self.home
    }

    pub fn work(&self) -> PathBuf {
        self.root().join("work")
    }

    /// Where fake agents record what they did.
    pub fn side(&self) -> PathBuf {
        self.root().join("side")
    }

    pub fn registry(&self) -> PathBuf {
        self.home.join("registry.db")
    }

    pub fn run_dir(&self, run_id: &str) -> PathBuf {
        self.home.join("runs").join(run_id)
    }

    /// Replaces the configuration.
    pub fn configure(&self, toml: &str) {
        let path = self.root().join("config/delegator/config.toml");
        let new = path.with_extension("new");
        fs::write(&new, toml).unwrap();
        fs::rename(new, path).unwrap();
    }

    /// The program in this environment.
    pub fn command(&self, args: &[&str]) -> Command {
        self.command_under(&[], args)
    }

    /// The program as started by another one, such as a tracer.
    pub fn command_under(&self, prefix: &[&str], args: &[&str]) -> Command {
        let mut words = prefix.iter().copied().chain([env!("CARGO_BIN_EXE_delegator")]);
        let mut command = Command::new(words.next().unwrap());
        command.args(words).args(args);
        self.settle_in(&mut command);
        command
    }

    /// Prepares any program for this environment.
    pub fn settle_in(&self, command: &mut Command) {
        command
            .current_dir(self.work())
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("LANG", "C.UTF-8")
            .env("HOME", self.root().join("user"))
            .env("XDG_CONFIG_HOME", self.root().join("config"))
            .env("DELEGATOR_HOME", &self.home)
            .env("FAKE_SIDE", self.side())
            .stdin(Stdio::null());
    }

    /// Runs the program until it ends.
    pub fn run(&self, args: &[&str]) -> Ran {
        finish(self.command(args), PATIENCE)
    }

    /// Runs the program, which must end with `code`.
    #[track_caller]
    pub fn expect(&self, code: i32, args: &[&str]) -> Ran {
        let ran = self.run(args);
        assert_eq!(ran.code, Some(code), "{args:?}: {}{}", ran.stdout, ran.stderr);
        ran
    }

    /// Runs the program and parses the document it prints.
    #[track_caller]
    pub fn json(&self, args: &[&str]) -> Value {
        let ran = self.run(args);
        serde_json::from_str(&ran.stdout)
            .unwrap_or_else(|error| panic!("{args:?}: {error}: {}{}", ran.stdout, ran.stderr))
    }

    /// Submits a shell command and returns the acknowledgement.
    #[track_caller]
    pub fn submit(&self, task: &str) -> Submitted {
        self.submit_with(&[], task)
    }

    #[track_caller]
    pub fn submit_with(&self, options: &[&str], task: &str) -> Submitted {
        let args: Vec<&str> =
            ["run", "--agent", "command", "--json"].iter().chain(options).chain([&task]).copied().collect();
        let ran = self.expect(0, &args);
        acknowledged(&ran.stdout).unwrap_or_else(|| panic!("no task in {}", ran.stdout))
    }

    /// Waits for a task and returns its final state.
    #[track_caller]
    pub fn await_final(&self, task: &str) -> String {
        wait_for(&format!("the end of {task}"), PATIENCE, || {
            let rows = super::checker::rows(&self.registry()).ok()?;
            let row = rows.into_iter().find(|row| row.id == task)?;
            row.is_final().then_some(row.state)
        })
    }
}

impl Default for TestEnv {
    fn default() -> Self {
        TestEnv::new()
    }
}

impl Drop for TestEnv {
    /// Kills everything that has one of our paths in its environment or arguments, including
    /// stopped processes.
    fn drop(&mut self) {
        for _ in 0..200 {
            let left = kill::mentioning(self.root());
            if left.is_empty() {
                return;
            }
            left.into_iter().for_each(|pid| kill::send(pid, libc::SIGKILL));
            thread::sleep(POLL);
        }
    }
}

/// The task that the output of `run --json` acknowledges, if it is complete.
pub fn acknowledged(stdout: &str) -> Option<Submitted> {
    let document: Value = serde_json::from_str(stdout).ok()?;
    let text = |name: &str| Some(document.get(name)?.as_str()?.to_owned());
    Some(Submitted { task_id: text("task_id")?, run_id: text("run_id")? })
}

/// Runs `command` until it ends; kills it after the time limit.
#[track_caller]
pub fn finish(mut command: Command, limit: Duration) -> Ran {
    let shown = format!("{command:?}");
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|e| panic!("{shown}: {e}"));
    let pid = i32::try_from(child.id()).unwrap();
    let (sender, receiver) = mpsc::channel();
    // Read both streams to their end, so that other holders are noticed.
    thread::spawn(move || sender.send(child.wait_with_output()));
    match receiver.recv_timeout(limit) {
        Ok(output) => ran(output.unwrap()),
        Err(_) => {
            kill::send(pid, libc::SIGKILL);
            panic!("did not end within {limit:?}: {shown}");
        }
    }
}

fn ran(output: Output) -> Ran {
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    debug_assert!(output.status.code().is_some() || output.status.signal().is_some());
    Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// Polls until `look` returns something.
#[track_caller]
pub fn wait_for<T>(what: &str, limit: Duration, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(Instant::now() < deadline, "waited {limit:?} for {what}");
        thread::sleep(POLL);
    }
}
