//! A machine for one test: home, state, repository and model of its own, and nothing of the developer's.
//!
//! The directory lies under the build's own temporary directory, not under `/tmp`: Codex treats homes there specially.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use std::{env, fmt, fs, thread};

use serde_json::Value;
use tempfile::TempDir;

use crate::installed::installed;
use crate::model::ModelServer;
use crate::processes;
use crate::rules;
use crate::wire::Wire;

/// How long a client may take. Generous: two cores may be running ten agents.
const DEADLINE: Duration = Duration::from_secs(120);
const LEAVING: Duration = Duration::from_secs(10);

pub struct World {
    root: Option<TempDir>,
    pub model: ModelServer,
}

impl World {
    pub fn new() -> World {
        let root = tempfile::Builder::new().prefix("clients-").tempdir_in(env!("CARGO_TARGET_TMPDIR"));
        let root = root.expect("a directory for the test");
        let model = ModelServer::start().expect("a model server on loopback");
        let world = World { root: Some(root), model };
        for directory in ["home/codex", "config/delegator", "repo", "wire", "drivers"] {
            fs::create_dir_all(world.path(directory)).expect("a directory of the machine");
        }
        world.write("repo/README.md", "# A repository\n");
        let identity = ["-c", "user.name=Test", "-c", "user.email=test@example.invalid"];
        world.run(world.command("git").args(["init", "--quiet", "--initial-branch", "main"])).ended(0);
        world.run(world.command("git").args(["add", "."])).ended(0);
        world
            .run(world.command("git").args(identity).args(["commit", "--quiet", "--message", "first"]))
            .ended(0);
        world
    }

    pub fn root(&self) -> &Path {
        self.root.as_ref().map(TempDir::path).expect("the directory lives as long as the test")
    }

    pub fn path(&self, below: &str) -> PathBuf {
        self.root().join(below)
    }

    pub fn write(&self, below: &str, text: &str) {
        fs::write(self.path(below), text).expect("a file of the machine");
    }

    /// The command line that starts the server, with a tap on the connection.
    pub fn server(&self) -> Vec<String> {
        let tap = drivers().join("tap.sh");
        let words = [Path::new("sh"), &tap, &self.path("wire"), Path::new(env!("CARGO_BIN_EXE_delegator"))];
        words.iter().map(|word| word.display().to_string()).chain(["serve".to_owned()]).collect()
    }

    /// The variables that the server needs, for clients that hand over none of their own.
    pub fn variables(&self) -> Vec<(String, String)> {
        let own = [
            ("HOME", "home"),
            ("DELEGATOR_HOME", "state"),
            ("XDG_CONFIG_HOME", "config"),
            ("CODEX_HOME", "home/codex"),
        ];
        own.map(|(name, below)| (name.to_owned(), self.path(below).display().to_string())).to_vec()
    }

    /// A program that sees this machine only, in the repository.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.path("repo"))
            .env_clear()
            .envs(self.variables())
            .env("PATH", env::var_os("PATH").unwrap_or_default())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("PYTHONDONTWRITEBYTECODE", "1");
        command
    }

    /// Runs a command to its end.
    pub fn run(&self, command: &mut Command) -> Ran {
        let shown = format!("{command:?}");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap_or_else(|error| panic!("{shown}: {error}"));
        let pid = child.id();
        let (ended, end) = mpsc::channel();
        thread::spawn(move || ended.send(child.wait_with_output()));
        let Ok(output) = end.recv_timeout(DEADLINE) else {
            processes::kill(pid);
            panic!("did not end, or left its output open, for {DEADLINE:?}: {shown}");
        };
        let output = output.expect("the output of a program");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ran { shown, code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }

    /// Runs a driver in Python, which has the server's command line as its last arguments.
    pub fn python(&self, client: &str, driver: &str, args: &[&str]) -> Ran {
        let script = drivers().join(driver);
        self.run(self.command(installed(client)).arg(script).args(args).args(self.server()))
    }

    /// Runs a driver in JavaScript, which finds the packages of `client` beside itself.
    pub fn node(&self, client: &str, driver: &str, args: &[&str]) -> Ran {
        for entry in fs::read_dir(drivers()).expect("the drivers").flatten() {
            fs::copy(entry.path(), self.path("drivers").join(entry.file_name())).expect("a driver");
        }
        std::os::unix::fs::symlink(installed(client), self.path("drivers/node_modules"))
            .expect("its packages");
        let script = self.path("drivers").join(driver);
        self.run(self.command(installed("node")).arg(script).args(args).args(self.server()))
    }

    /// Every connection to a server so far, held against the rules, in the order in which they were made.
    pub fn connections(&self) -> Vec<Wire> {
        let wires = Wire::all(&self.path("wire"));
        for wire in &wires {
            rules::check(wire);
        }
        wires
    }

    /// The one connection on which tools were called.
    pub fn conversation(&self) -> Wire {
        let mut wires: Vec<Wire> =
            self.connections().into_iter().filter(|wire| !wire.calls().is_empty()).collect();
        assert_eq!(wires.len(), 1, "connections with calls");
        wires.remove(0)
    }
}

/// What holds after every test: all processes have ended.
impl Drop for World {
    fn drop(&mut self) {
        let deadline = Instant::now() + LEAVING;
        let mut left = processes::of(self.root());
        while !left.is_empty() && !thread::panicking() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(20));
            left = processes::of(self.root());
        }
        for process in &left {
            processes::kill(process.pid);
        }
        if thread::panicking() {
            // What was said and the run directories say why it failed.
            self.root.take().map(TempDir::keep);
            return;
        }
        assert!(left.is_empty(), "processes left behind: {left:#?}");
    }
}

/// How a program ended.
pub struct Ran {
    shown: String,
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    /// The same, from a program that had to end with that exit code.
    #[track_caller]
    pub fn ended(self, code: i32) -> Ran {
        assert_eq!(self.code, Some(code), "{self}");
        self
    }

    /// The one document on standard output.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("no JSON document ({error}): {self}"))
    }

    /// The documents on standard output, one a line.
    #[track_caller]
    pub fn lines(&self) -> Vec<Value> {
        let read =
            |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}: {self}"));
        self.stdout.lines().map(read).collect()
    }
}

/// For the message of a failed test.
impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ran { shown, code, stdout, stderr } = self;
        write!(f, "{shown} ended with {code:?}\nstdout: {stdout}\nstderr: {stderr}")
    }
}

fn drivers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/drivers")
}
