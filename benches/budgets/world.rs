//! A fresh home on the project's disk and a working directory for one measurement.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::machine::{self, Ended};

pub const DELEGATOR: &str = env!("CARGO_BIN_EXE_delegator");
const PATIENCE: Duration = Duration::from_secs(20);

/// Left-overs of all measurements, removed at the very end, because creating files after many
/// removals is slow on some file systems.
static LEFT: Mutex<Vec<TempDir>> = Mutex::new(Vec::new());

pub fn remove_all() {
    LEFT.lock().unwrap().clear();
}

pub struct World {
    state: PathBuf,
    environment: Vec<(String, String)>,
}

/// One submission as seen by the caller.
pub struct Submitted {
    pub task: String,
    /// From the start of the process to the id on its standard output.
    pub id_after: Duration,
    /// From the start of the process to its end.
    pub over_after: Duration,
}

impl World {
    pub fn new(config: &str) -> World {
        let private =
            |dir: &TempDir| fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let state =
            tempfile::Builder::new().prefix("budgets-").tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let work = tempfile::Builder::new().prefix("budgets-").tempdir().unwrap();
        private(&state);
        private(&work);
        fs::create_dir_all(state.path().join("config/delegator")).unwrap();
        fs::write(state.path().join("config/delegator/config.toml"), config).unwrap();
        let at = |name: &str| state.path().join(name).to_str().unwrap().to_owned();
        let environment = [
            ("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned()),
            ("HOME", at("user")),
            ("DELEGATOR_HOME", at("home")),
            ("XDG_CONFIG_HOME", at("config")),
        ];
        let environment = environment.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        // The working directory of tasks, outside any repository.
        std::env::set_current_dir(work.path()).unwrap();
        let place = state.path().to_owned();
        LEFT.lock().unwrap().extend([state, work]);
        World { state: place, environment }
    }

    pub fn environment(&self) -> impl Iterator<Item = (&str, &str)> {
        self.environment.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    pub fn registry(&self) -> PathBuf {
        self.state.join("home/registry.db")
    }

    /// A path for the measurement's own files, on the same disk as the home.
    pub fn scratch(&self, name: &str) -> PathBuf {
        self.state.join(name)
    }

    /// Starts any program in this environment.
    pub fn start(&self, argv: &[&str]) -> i32 {
        machine::spawn(argv, &self.environment, None)
    }

    /// Runs any program in this environment. Returns its duration.
    pub fn time(&self, argv: &[&str]) -> (Duration, Ended) {
        let began = machine::now();
        let ended = machine::collect(self.start(argv)).unwrap();
        (machine::now() - began, ended)
    }

    /// Replaces the configuration.
    pub fn configure(&self, config: &str) {
        fs::write(self.scratch("config/delegator/config.toml"), config).unwrap();
    }

    /// Submits `task` without waiting for it.
    pub fn submit(&self, agent: &str, task: &str) -> Submitted {
        let began = machine::now();
        let (pid, output) = self.start_heard(&[DELEGATOR, "run", "--agent", agent, task]);
        let mut output = BufReader::new(output);
        let mut task = String::new();
        output.read_line(&mut task).unwrap();
        let id_after = machine::now() - began;
        std::io::copy(&mut output, &mut std::io::sink()).unwrap();
        let ended = machine::collect(pid).unwrap();
        assert_eq!(ended.code, Some(0), "`delegator run` failed");
        Submitted { task: task.trim().to_owned(), id_after, over_after: machine::now() - began }
    }

    /// Starts a program with a readable standard output.
    pub fn start_heard(&self, argv: &[&str]) -> (i32, File) {
        let (output, input) = pipe();
        let pid = machine::spawn(argv, &self.environment, Some(&input));
        (pid, File::from(output))
    }

    /// The standard output of a command.
    pub fn output(&self, argv: &[&str]) -> String {
        let (pid, mut output) = self.start_heard(argv);
        let mut text = String::new();
        output.read_to_string(&mut text).unwrap();
        machine::collect(pid);
        text
    }

    /// The run directories, oldest first.
    pub fn runs(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.state.join("home/runs")).unwrap();
        let mut runs: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        runs.sort();
        runs
    }

    /// A JSON file of the newest run, once it exists.
    pub fn newest(&self, name: &str) -> Value {
        let file = self.runs().pop().unwrap().join(name);
        wait_for(name, || serde_json::from_slice(&fs::read(&file).ok()?).ok())
    }
}

/// Polls until `look` returns something.
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let give_up = machine::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(machine::now() < give_up, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn pipe() -> (OwnedFd, OwnedFd) {
    let (output, input) = std::io::pipe().unwrap();
    (output.into(), input.into())
}
