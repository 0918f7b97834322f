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

    #[track_caller]
    fn check(os: &str, arch: &str, launcher: &str, expected: &str) {
        let platform = Platform::of(os, arch).unwrap();
        let found = native_candidates(Path::new(launcher), platform);
        assert!(found.contains(&PathBuf::from(expected)), "{found:#?}");
    }

    #[test]
    fn the_program_lies_beside_the_launchers_package() {
        check(
            "linux",
            "x86_64",
            "/usr/lib/node_modules/@openai/codex/bin/codex.js",
            "/usr/lib/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
        );
        check(
            "macos",
            "aarch64",
            "/opt/homebrew/lib/node_modules/@openai/codex/bin/codex.js",
            "/opt/homebrew/lib/node_modules/@openai/codex-darwin-arm64/vendor/aarch64-apple-darwin/bin/codex",
        );
    }

    #[test]
    fn the_program_may_lie_inside_the_package_or_far_above_it() {
        let launcher = "/p/node_modules/a/node_modules/@openai/codex/bin/codex.js";
        let native = "codex-linux-arm64/vendor/aarch64-unknown-linux-musl/bin/codex";
        check(
            "linux",
            "aarch64",
            launcher,
            &format!("/p/node_modules/a/node_modules/@openai/codex/node_modules/@openai/{native}"),
        );
        check("linux", "aarch64", launcher, &format!("/p/node_modules/a/node_modules/@openai/{native}"));
        check("linux", "aarch64", launcher, &format!("/p/node_modules/@openai/{native}"));
    }

    #[test]
    fn an_older_release_has_it_in_its_own_vendor_folder() {
        check(
            "macos",
            "x86_64",
            "/n/node_modules/@openai/codex/bin/codex.js",
            "/n/node_modules/@openai/codex/vendor/x86_64-apple-darwin/codex/codex",
        );
    }

    #[test]
    fn what_is_no_script_is_the_program_itself() {
        let platform = Platform::of("linux", "x86_64").unwrap();
        assert!(native_candidates(Path::new("/usr/local/bin/codex"), platform).is_empty());
        assert_eq!(Platform::of("plan9", "x86_64"), None);
    }
}
