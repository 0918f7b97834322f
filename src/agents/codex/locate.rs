//! Finds the native program that npm's launcher script starts.
//!
//! On older Node versions the launcher stays as a parent, and killing it leaves the real program
//! running. This module only names candidate paths; the caller checks whether they exist.

use std::path::{Path, PathBuf};

/// The platform of a native program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Platform {
    /// In the name of the npm package.
    package: &'static str,
    /// In the name of its folder.
    triple: &'static str,
}

impl Platform {
    /// The platform for Rust's names of system and architecture.
    pub(crate) fn of(os: &str, arch: &str) -> Option<Platform> {
        let (package, triple) = match (os, arch) {
            ("linux", "x86_64") => ("linux-x64", "x86_64-unknown-linux-musl"),
            ("linux", "aarch64") => ("linux-arm64", "aarch64-unknown-linux-musl"),
            ("macos", "x86_64") => ("darwin-x64", "x86_64-apple-darwin"),
            ("macos", "aarch64") => ("darwin-arm64", "aarch64-apple-darwin"),
            _ => return None,
        };
        Some(Platform { package, triple })
    }

    /// The current platform.
    pub(crate) fn here() -> Option<Platform> {
        Platform::of(std::env::consts::OS, std::env::consts::ARCH)
    }
}

/// Candidate paths of the native program, best first, for a launcher with links resolved. Empty if
/// the launcher is not a script and thus the program itself.
pub(crate) fn native_candidates(launcher: &Path, platform: Platform) -> Vec<PathBuf> {
    let Some(package) = package_of(launcher) else { return Vec::new() };
    let vendor = Path::new("vendor").join(platform.triple);
    // In Node's lookup order: inside the package, beside it, above it.
    let installed =
        package.ancestors().filter(|dir| dir.file_name().is_none_or(|name| name != "node_modules"));
    let platform_package = format!("node_modules/@openai/codex-{}", platform.package);
    let mut found: Vec<PathBuf> =
        installed.map(|dir| dir.join(&platform_package).join(&vendor).join("bin/codex")).collect();
    // Older releases contained the programs of all platforms.
    found.push(package.join(&vendor).join("bin/codex"));
    found.push(package.join(&vendor).join("codex/codex"));
    found
}

/// The folder of the npm package that contains `…/bin/codex.js`.
fn package_of(launcher: &Path) -> Option<&Path> {
    let is_script = launcher.extension().is_some_and(|end| end == "js" || end == "mjs" || end == "cjs");
    let bin = launcher.parent().filter(|_| is_script)?;
    bin.parent()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::test_rows;

    #[test]
    fn the_program_is_looked_for_where_every_row_says() {
        let rows = include_str!("../../../tests/agents/codex_places.jsonl");
        for [os, arch, launcher, expected] in test_rows::<[String; 4]>(rows) {
            let platform = Platform::of(&os, &arch).unwrap();
            let found = native_candidates(Path::new(&launcher), platform);
            assert!(found.contains(&PathBuf::from(expected)), "{found:#?}");
        }
    }

    #[test]
    fn what_is_no_script_is_the_program_itself() {
        let platform = Platform::of("linux", "x86_64").unwrap();
        assert!(native_candidates(Path::new("/usr/local/bin/codex"), platform).is_empty());
        assert_eq!(Platform::of("plan9", "x86_64"), None);
    }
}
