//! Finds the pinned programs that tests drive.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// From the variable that `scripts/test` sets, or from the script that installs it.
pub fn installed(name: &str) -> PathBuf {
    let script = match name {
        "codex" | "claude" => "scripts/agents",
        "jest" | "vitest" | "mocha" | "pytest" => "scripts/runners",
        _ => "scripts/clients",
    };
    let variable = format!("DELEGATOR_TEST_{}", name.to_uppercase().replace('-', "_"));
    let told = env::var_os(&variable).map(PathBuf::from);
    let path = told.or_else(|| asked(script, name)).filter(|path| path.exists());
    path.unwrap_or_else(|| panic!("`{name}` is missing: `{script}` installs it"))
}

fn asked(script: &str, name: &str) -> Option<PathBuf> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(script);
    let output = Command::new(script).arg("--installed").output().ok()?;
    let lines = String::from_utf8(output.stdout).ok()?;
    lines.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ').map(PathBuf::from))
}
