//! A machine for one test: home, configuration, repository and model of its own, and nothing of the developer's.
//!
//! The directory lies under the build's own temporary directory, not under `/tmp`: Codex treats homes there specially,
//! and its sandbox lets every command write there.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use std::{fmt, fs, thread};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::installed::installed;
use crate::model::{ModelServer, Request};
use crate::processes;

/// The value that `--env FAKE_KEY` hands over; the model sees it as its bearer token.
pub const KEY: &str = "made-up-key-8c1f";

/// How long anything may take before a test gives up on it. Generous: two cores may be running ten agents.
pub const DEADLINE: Duration = Duration::from_secs(90);

const CODEX: &str = r#"
model = "gpt-5.5"
model_provider = "scripted"
# It talks to nobody but the model.
check_for_update_on_startup = false
analytics.enabled = false
features.plugins = false
features.apps = false

[model_providers.scripted]
name = "Scripted"
base_url = "BASE_URL"
wire_api = "responses"
env_key = "FAKE_KEY"
request_max_retries = 0
stream_max_retries = 0
"#;

pub struct TestEnv {
    root: Option<TempDir>,
    model: ModelServer,
    /// The directory of the pinned Codex.
    codex: PathBuf,
    /// Codex's configuration as the user wrote it.
    codex_config: String,
}

impl TestEnv {
    /// A user who configured nothing but the key to hand over.
    pub fn new() -> TestEnv {
        TestEnv::configured("", |_| String::new())
    }

    /// A user who allows runs without a sandbox.
    pub fn without_sandbox_ceiling() -> TestEnv {
        TestEnv::configured("max_sandbox = \"danger-full-access\"\n", |_| String::new())
    }

    /// A user with more in Codex's configuration, which may name paths below the test's directory.
    pub fn with_codex_config(more: impl FnOnce(&Path) -> String) -> TestEnv {
        TestEnv::configured("", more)
    }

    /// A user who installed a plugin `delegator` that brings these servers, with Codex's own commands.
    pub fn with_plugin(servers: impl FnOnce(&Path) -> Value) -> TestEnv {
        let mut env = TestEnv::new();
        let plugin = "market/plugins/delegator";
        for directory in ["market/.claude-plugin".into(), format!("{plugin}/.claude-plugin")] {
            fs::create_dir_all(env.path(&directory)).expect("a directory of the plugin");
        }
        let listed =
            json!([{ "name": "delegator", "source": "./plugins/delegator", "description": "tests" }]);
        let market = json!({ "name": "local", "owner": { "name": "tests" }, "plugins": listed });
        env.write("market/.claude-plugin/marketplace.json", &market.to_string());
        let about = json!({ "name": "delegator", "version": "0.1.0", "description": "tests" });
        env.write(&format!("{plugin}/.claude-plugin/plugin.json"), &about.to_string());
        let servers = json!({ "mcpServers": servers(env.root()) });
        env.write(&format!("{plugin}/.mcp.json"), &servers.to_string());
        // Plugins, and none from elsewhere.
        let local = ["remote_plugin", "plugin_discovery_prefetch", "plugin_sharing"];
        let local = local.map(|feature| format!("features.{feature} = false\n")).concat();
        env.write("home/codex/config.toml", &env.codex_config.replace("features.plugins = false\n", &local));
        let market = env.path("market");
        for args in [
            &["marketplace", "add", market.to_str().expect("a path in UTF-8")][..],
            &["add", "delegator@local"],
        ] {
            let output = env.command("codex").arg("plugin").args(args).output().expect("codex starts");
            assert!(output.status.success(), "codex plugin {args:?}: {output:?}");
        }
        env.codex_config = fs::read_to_string(env.path("home/codex/config.toml")).expect("a configuration");
        env
    }

    fn configured(delegator: &str, more: impl FnOnce(&Path) -> String) -> TestEnv {
        let codex = codex();
        let root = tempfile::Builder::new().prefix("real-").tempdir_in(env!("CARGO_TARGET_TMPDIR"));
        let root = root.expect("a directory for the test");
        let model = ModelServer::start().expect("a model server on loopback");
        let codex_config = CODEX.replace("BASE_URL", &model.base_url()) + &more(root.path());
        let env = TestEnv { root: Some(root), model, codex, codex_config };
        for directory in ["home/codex", "config/delegator", "repo"] {
            fs::create_dir_all(env.path(directory)).expect("a directory of the machine");
        }
        env.write("home/codex/config.toml", &env.codex_config);
        env.write("config/delegator/config.toml", &format!("env_allow = [\"FAKE_KEY\"]\n{delegator}"));
        env.write("repo/README.md", "# A repository\n");
        env.git(&["init", "--quiet", "--initial-branch", "main"]);
        env.git(&["add", "."]);
        env.git(&["commit", "--quiet", "--message", "first"]);
        env
    }

    pub fn path(&self, below: &str) -> PathBuf {
        self.root().join(below)
    }

    pub fn repo(&self, below: &str) -> PathBuf {
        self.path("repo").join(below)
    }

    pub fn write(&self, below: &str, text: &str) {
        fs::write(self.path(below), text).expect("a file of the machine");
    }

    pub fn requests(&self) -> Vec<Request> {
        self.model.requests()
    }

    /// Runs `delegator` in the repository to its end.
    pub fn delegator(&self, args: &[&str]) -> Output {
        let mut command = self.command(env!("CARGO_BIN_EXE_delegator"));
        command
            .args(args)
            .env("FAKE_KEY", KEY)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let child = command.spawn().expect("delegator starts");
        let pid = child.id();
        let (ended, end) = mpsc::channel();
        thread::spawn(move || ended.send(child.wait_with_output()));
        let Ok(output) = end.recv_timeout(DEADLINE) else {
            processes::kill(pid);
            panic!("`delegator {}` did not end, or left its output open, for {DEADLINE:?}", args.join(" "));
        };
        let output = output.expect("delegator's output");
        Output {
            command: args.join(" "),
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// `delegator run` with the key, to the end of the run.
    pub fn run(&self, flags: &[&str], task: &str) -> Output {
        let given = ["run", "--agent", "codex", "--env", "FAKE_KEY", "--wait", "--json"];
        self.delegator(&[&given, flags, &[task]].concat())
    }

    /// `delegator run` with the key, to the acceptance of the task.
    pub fn start(&self, flags: &[&str], task: &str) -> Value {
        let given = ["run", "--agent", "codex", "--env", "FAKE_KEY", "--json"];
        let output = self.delegator(&[&given, flags, &[task]].concat());
        let run = output.json();
        assert_eq!(run["status"], "working", "{output}");
        run
    }

    /// The `data` that `delegator results` gives for a run.
    pub fn results(&self, run: &Value) -> Value {
        self.delegator(&["results", text(run, "task_id"), "--json"]).json()["data"].take()
    }

    /// A command that sees this machine only.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.path("repo")).env_clear().envs([
            ("HOME", self.path("home")),
            ("CODEX_HOME", self.path("home/codex")),
            ("DELEGATOR_HOME", self.path("state")),
            ("XDG_CONFIG_HOME", self.path("config")),
            ("GIT_CONFIG_GLOBAL", "/dev/null".into()),
            ("GIT_CONFIG_SYSTEM", "/dev/null".into()),
        ]);
        let machine = std::env::var_os("PATH").unwrap_or_default();
        let path =
            std::env::join_paths([self.codex.clone()].into_iter().chain(std::env::split_paths(&machine)));
        command.env("PATH", path.expect("a path of programs"));
        command
    }

    pub fn git(&self, args: &[&str]) -> String {
        let identity = ["-c", "user.name=Test", "-c", "user.email=test@example.invalid"];
        let output = self.command("git").args(identity).args(args).output().expect("git starts");
        assert!(output.status.success(), "git {}: {output:?}", args.join(" "));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Everything the test has lies below it.
    pub fn root(&self) -> &Path {
        self.root.as_ref().map(TempDir::path).expect("the directory lives as long as the test")
    }
}

/// What holds after every test: the user's configuration is as it was, and every process has ended.
impl Drop for TestEnv {
    fn drop(&mut self) {
        let deadline = Instant::now() + Duration::from_secs(10);
        let mut left = processes::of(self.root());
        while !left.is_empty() && !thread::panicking() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(20));
            left = processes::of(self.root());
        }
        for process in &left {
            processes::kill(process.pid);
        }
        if thread::panicking() {
            // The run directories say why it failed.
            self.root.take().map(TempDir::keep);
            return;
        }
        assert!(left.is_empty(), "processes left behind: {left:#?}");
        let config = fs::read_to_string(self.path("home/codex/config.toml")).expect("Codex's configuration");
        assert_eq!(config, self.codex_config, "the user's config.toml was changed");
    }
}

/// How one command ended.
pub struct Output {
    command: String,
    pub code: Option<i32>,
    pub stdout: String,
    stderr: String,
}

impl Output {
    /// The one document on standard output.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("no JSON document ({error}): {self}"))
    }

    /// The document, from a command that had to end with that exit code.
    pub fn ended(&self, code: i32) -> Value {
        assert_eq!(self.code, Some(code), "{self}");
        self.json()
    }
}

/// For the message of a failed test.
impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "`delegator {}` ended with {:?}", self.command, self.code)?;
        write!(f, "stdout: {}\nstderr: {}", self.stdout, self.stderr)
    }
}

/// Repeats `look` until it finds something.
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "no sign of {what} for {DEADLINE:?}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// A text field that has to be there.
pub fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("no text `{key}` in {value:#}"))
}

/// A file of a run's directory, as text.
pub fn artifact(run: &Value, name: &str) -> String {
    let path = Path::new(text(run, "run_dir")).join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A file of a run's directory, as JSON.
pub fn document(run: &Value, name: &str) -> Value {
    serde_json::from_str(&artifact(run, name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The items of one kind that Codex reported as completed.
pub fn items(run: &Value, kind: &str) -> Vec<Value> {
    let events = artifact(run, "events.jsonl");
    let events = events.lines().map(|line| serde_json::from_str::<Value>(line).expect("an event"));
    let completed = events.filter(|event| event["type"] == "item.completed");
    completed.map(|mut event| event["item"].take()).filter(|item| item["type"] == kind).collect()
}

/// The directory of the pinned Codex.
fn codex() -> PathBuf {
    installed("codex").parent().unwrap_or(Path::new("/")).to_owned()
}
