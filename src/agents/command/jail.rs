//! Builds command lines that run a command in a sandbox.
//!
//! Inside, our own program runs first (`delegator confined`): it closes what the sandbox leaves
//! open, checks that the sandbox holds, and then executes the command. Measured: `codex sandbox`
//! allows datagrams to Unix sockets, and bubblewrap allows all connections to them.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::model::{Jail, JailKind, Sandbox};

/// A sandbox and what it applies to.
#[derive(Debug)]
pub(crate) struct JailedCommand<'a> {
    pub(crate) jail: &'a Jail,
    /// Our own program.
    pub(crate) own: &'a Path,
    pub(crate) cwd: &'a Path,
    pub(crate) sandbox: Sandbox,
}

impl JailedCommand<'_> {
    /// The arguments of the sandbox program. Without a command, only tests the sandbox. `None` if a
    /// path is not UTF-8.
    pub(crate) fn arguments(&self, command: &[&str]) -> Option<Vec<String>> {
        let mut args = match self.jail.kind {
            JailKind::Codex => self.codex()?,
            JailKind::Bwrap => self.bwrap()?,
        };
        args.extend([self.own.to_str()?, "confined"].map(str::to_owned));
        for path in self.jail.outside.iter().chain(self.protected()) {
            args.extend(["--outside".to_owned(), path.to_str()?.to_owned()]);
        }
        if self.sandbox == Sandbox::ReadOnly {
            args.extend(["--outside".to_owned(), self.cwd.to_str()?.to_owned()]);
        }
        if !command.is_empty() {
            args.push("--".to_owned());
            args.extend(command.iter().map(|&word| word.to_owned()));
        }
        Some(args)
    }

    /// Describes the whole sandbox in the format that Codex uses between its processes, so that no
    /// user setting applies.
    fn codex(&self) -> Option<Vec<String>> {
        let at = |path: &Path, access: &str| {
            let path = path.to_str()?;
            Some(
                json!({ "path": { "type": "path", "path": path }, "access": access, "missing_path_behavior": "skip" }),
            )
        };
        let root = json!({ "path": { "type": "special", "value": { "kind": "root" } }, "access": "read" });
        let mut entries: Vec<Value> = vec![root, at(&self.jail.hidden, "deny")?];
        if self.writes() {
            entries.push(at(self.cwd, "write")?);
            for kept in self.protected() {
                entries.push(at(kept, "read")?);
            }
        }
        let state = json!({
            "permissionProfile": {
                "type": "managed",
                "file_system": { "type": "restricted", "entries": entries },
                "network": "restricted",
            },
            "sandboxCwd": address(self.cwd)?,
            "useLegacyLandlock": false,
        });
        Some(vec!["sandbox".into(), "--sandbox-state-json".into(), state.to_string(), "--".into()])
    }

    fn bwrap(&self) -> Option<Vec<String>> {
        let mut args: Vec<String> =
            ["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
                .map(str::to_owned)
                .to_vec();
        let mut add = |words: &[&str]| args.extend(words.iter().map(|&word| word.to_owned()));
        let (cwd, hidden) = (self.cwd.to_str()?, self.jail.hidden.to_str()?);
        add(&["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]);
        if self.writes() {
            add(&["--bind", cwd, cwd]);
            for kept in &self.jail.kept {
                add(&["--ro-bind", kept.to_str()?, kept.to_str()?]);
            }
            // Mounts an empty read-only directory in place of a missing path.
            for missing in &self.jail.missing {
                add(&["--tmpfs", missing.to_str()?, "--remount-ro", missing.to_str()?]);
            }
        }
        add(&["--tmpfs", hidden, "--remount-ro", hidden, "--chdir", cwd, "--"]);
        Some(args)
    }

    fn protected(&self) -> impl Iterator<Item = &PathBuf> {
        self.jail.kept.iter().chain(&self.jail.missing)
    }

    fn writes(&self) -> bool {
        self.sandbox > Sandbox::ReadOnly
    }
}

/// A path as a `file://` URL.
fn address(path: &Path) -> Option<String> {
    const KEPT: &percent_encoding::AsciiSet =
        &percent_encoding::NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.').remove(b'~');
    Some(format!("file://{}", percent_encoding::utf8_percent_encode(path.to_str()?, KEPT)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jail(kind: JailKind) -> Jail {
        Jail {
            kind,
            program: "/opt/jail".into(),
            hidden: "/home/dev/state".into(),
            kept: vec!["/home/dev/project/.git".into()],
            missing: vec!["/home/dev/project/.codex".into()],
            outside: vec!["/".into()],
        }
    }

    fn arguments(kind: JailKind, sandbox: Sandbox, command: &[&str]) -> Vec<String> {
        let cell = JailedCommand {
            jail: &jail(kind),
            own: Path::new("/opt/delegator"),
            cwd: Path::new("/home/dev/project"),
            sandbox,
        };
        cell.arguments(command).unwrap()
    }

    #[test]
    fn codex_is_told_the_whole_sandbox() {
        let args = arguments(JailKind::Codex, Sandbox::WorkspaceWrite, &["/bin/sh", "-c", "x"]);
        let state: Value = serde_json::from_str(&args[2]).unwrap();
        let profile = &state["permissionProfile"];
        let told = |entry: &Value| (entry["path"]["path"].clone(), entry["access"].clone());
        let entries: Vec<_> =
            profile["file_system"]["entries"].as_array().unwrap().iter().map(told).collect();
        assert_eq!(
            entries,
            [
                (Value::Null, json!("read")),
                (json!("/home/dev/state"), json!("deny")),
                (json!("/home/dev/project"), json!("write")),
                (json!("/home/dev/project/.git"), json!("read")),
                (json!("/home/dev/project/.codex"), json!("read")),
            ]
        );
        assert_eq!(profile["network"], "restricted");
        assert_eq!(
            args[3..].join(" "),
            "-- /opt/delegator confined --outside / --outside /home/dev/project/.git \
             --outside /home/dev/project/.codex -- /bin/sh -c x"
        );
    }

    #[test]
    fn reading_gives_no_place_to_write() {
        let args = arguments(JailKind::Codex, Sandbox::ReadOnly, &[]);
        assert!(!args[2].contains("write"), "{}", args[2]);
        assert!(args.ends_with(&["--outside".into(), "/home/dev/project".into()]));
        let args = arguments(JailKind::Bwrap, Sandbox::ReadOnly, &[]);
        assert!(!args.contains(&"--bind".to_owned()));
    }

    #[test]
    fn bubblewrap_shows_everything_to_be_read_and_binds_one_place() {
        let args = arguments(JailKind::Bwrap, Sandbox::WorkspaceWrite, &["x"]).join(" ");
        assert!(args.contains("--ro-bind / / ") && args.contains("--unshare-all "), "{args}");
        assert!(args.contains("--bind /home/dev/project /home/dev/project --ro-bind /home/dev/project/.git"));
        assert!(args.contains("--tmpfs /home/dev/project/.codex --remount-ro /home/dev/project/.codex"));
        assert!(args.contains("--tmpfs /home/dev/state --remount-ro /home/dev/state"));
    }

    #[test]
    fn a_strange_path_is_written_as_an_address() {
        assert_eq!(address(&PathBuf::from("/a b/ü%#?")).unwrap(), "file:///a%20b/%C3%BC%25%23%3F");
    }
}
