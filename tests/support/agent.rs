//! The fake agent for tests: its path, and how to give it a script.

use std::fs;
use std::path::{Path, PathBuf};

use super::env::TestEnv;

/// The path of the built example.
pub fn program() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let built = own.parent().and_then(Path::parent).unwrap().join("examples/fake_agent");
    assert!(built.exists(), "{} is missing: `cargo build --examples` makes it", built.display());
    built
}

/// A shell command that plays `steps`, saved as a script under `name`.
pub fn playing(env: &TestEnv, name: &str, steps: &[&str]) -> String {
    let path = env.work().join(format!("{name}.script"));
    fs::write(&path, steps.join("\n")).unwrap();
    // `exec`, so that the agent is the process that delegator starts.
    format!("exec {} {}", program().display(), path.display())
}

/// Copies the fake agent into the world's `bin` under another name. A link would be resolved to its
/// real name.
pub fn install(env: &TestEnv, name: &str) -> PathBuf {
    let path = env.root().join("bin").join(name);
    if fs::hard_link(program(), &path).is_err() {
        fs::copy(program(), &path).unwrap();
    }
    path
}
