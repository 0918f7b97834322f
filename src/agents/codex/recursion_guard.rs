//! Settings that prevent a run from delegating further and from being trusted.
//!
//! Codex splits the keys of `-c` at every dot and supports no quotes there, so names and paths go
//! into inline tables in the value.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::model::{FailureCode, Fault, Request};

/// The file names of our own program.
const OURS: [&str; 3] = ["delegator", "delegator.exe", "mcp-delegator"];

/// Marks every directory from the git root to the working directory as untrusted: `projects={…}`.
///
/// Otherwise Codex records its trust of a writable directory in the user's configuration and loads
/// the project's. It looks up each of these directories separately.
pub(super) fn untrusted(request: &Request) -> Result<String, Fault> {
    let root = request.git_root.as_deref().unwrap_or(&request.cwd);
    let within = request.cwd.ancestors().take_while(|dir| dir.starts_with(root));
    let mut dirs: Vec<&Path> = within.collect();
    // A working directory reached by a link may lie outside its root.
    if !dirs.contains(&root) {
        dirs.extend([request.cwd.as_path(), root]);
    }
    // Codex asks about the main checkout of a worktree, too.
    dirs.extend(request.worktree.as_ref().map(|worktree| worktree.repository.as_path()));
    dirs.reverse();
    let mut projects = toml::Table::new();
    for dir in dirs {
        let level = toml::Table::from_iter([("trust_level".to_owned(), "untrusted".into())]);
        projects.insert(utf8(dir)?.to_owned(), level.into());
    }
    Ok(format!("projects={}", toml::Value::Table(projects)))
}

/// Disables the listed servers that are ours: `mcp_servers={…}`.
///
/// Codex checks an override against `config.toml` only. A server from a plugin is not there, so
/// each override repeats the listed transport; without one Codex refuses to start. `Ok(None)` if no
/// listed server is ours.
pub(super) fn servers_off(list: &str) -> Result<Option<String>, serde_json::Error> {
    let servers: Vec<Server> = serde_json::from_str(list)?;
    let ours = servers.into_iter().filter(Server::is_ours);
    let table: toml::Table = ours.map(|server| (server.name.clone(), server.off().into())).collect();
    Ok((!table.is_empty()).then(|| format!("mcp_servers={}", toml::Value::Table(table))))
}

/// An entry of `codex mcp list --json`.
#[derive(Deserialize)]
struct Server {
    name: String,
    #[serde(default = "yes")]
    enabled: bool,
    #[serde(default)]
    transport: Value,
}

fn yes() -> bool {
    true
}

impl Server {
    /// Recognises a server by its name or program. URLs do not count: ours may be anywhere, and
    /// others may contain our name.
    fn is_ours(&self) -> bool {
        let command = self.transport.get("command").and_then(Value::as_str);
        let args = self.transport.get("args").and_then(Value::as_array);
        let args = args.into_iter().flatten().filter_map(Value::as_str);
        let starts_us = command.into_iter().chain(args).any(names_us);
        self.enabled && (self.name.to_lowercase().contains("delegator") || starts_us)
    }

    /// `enabled = false`, plus the command or URL that makes the transport valid. Arguments and
    /// variables may contain secrets and are not needed for a disabled server.
    fn off(&self) -> toml::Table {
        let listed = |key: &str| {
            let value = self.transport.get(key)?.as_str()?;
            Some((key.to_owned(), toml::Value::from(value)))
        };
        let transport = listed("command").or_else(|| listed("url"));
        [("enabled".to_owned(), false.into())].into_iter().chain(transport).collect()
    }
}

/// Whether a program or argument, possibly a shell line or a versioned npm name, is our program.
fn names_us(text: &str) -> bool {
    text.split_whitespace().any(|word| {
        let name = Path::new(word.trim_matches(['"', '\''])).file_name().and_then(|name| name.to_str());
        name.map(|name| name.split('@').next().unwrap_or(name)).is_some_and(|name| OURS.contains(&name))
    })
}

/// A path as UTF-8, which Codex's command line and TOML require.
pub(super) fn utf8(path: &Path) -> Result<&str, Fault> {
    path.to_str().ok_or_else(|| {
        let message = format!("the path `{}` is not valid UTF-8", path.display());
        Fault::new(FailureCode::Spawn, message).hint("rename the directory")
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::agents::testing::request;

    #[track_caller]
    fn check(list: Value, expected: Option<&str>) {
        assert_eq!(servers_off(&list.to_string()).unwrap().as_deref(), expected);
    }

    fn stdio(name: &str, command: &str, args: &[&str]) -> Value {
        serde_json::json!({
            "name": name, "enabled": true, "transport": { "type": "stdio", "command": command, "args": args },
        })
    }

    #[test]
    fn no_server_needs_no_setting() {
        check(serde_json::json!([]), None);
        check(serde_json::json!([stdio("files", "/usr/bin/files", &["--root", "/srv"])]), None);
    }

    #[test]
    fn ours_are_known_by_name_by_program_and_by_argument() {
        check(
            serde_json::json!([
                stdio("my.Delegator", "/opt/x", &[]),
                stdio("a", "/opt/bin/delegator", &["serve"]),
                stdio("b", "npx", &["-y", "mcp-delegator@0.1.0"]),
                stdio("c", "sh", &["-c", "exec '/opt/delegator' serve"]),
            ]),
            Some(concat!(
                r#"mcp_servers={ a = { command = "/opt/bin/delegator", enabled = false }, "#,
                r#"b = { command = "npx", enabled = false }, c = { command = "sh", enabled = false }, "#,
                r#""my.Delegator" = { command = "/opt/x", enabled = false } }"#
            )),
        );
    }

    #[test]
    fn a_server_with_an_address_repeats_it_and_one_without_a_transport_says_off_alone() {
        check(
            serde_json::json!([
                { "name": "delegator", "transport": { "type": "streamable_http", "url": "http://127.0.0.1:1/mcp", "command": null } },
                { "name": "delegator2" },
            ]),
            Some(concat!(
                r#"mcp_servers={ delegator = { enabled = false, url = "http://127.0.0.1:1/mcp" }, "#,
                "delegator2 = { enabled = false } }"
            )),
        );
    }

    #[test]
    fn an_address_with_our_name_and_a_server_already_off_are_left_alone() {
        let http = serde_json::json!({
            "name": "web", "enabled": true,
            "transport": { "type": "streamable_http", "url": "http://127.0.0.1/delegator" },
        });
        let mut off = stdio("delegator", "delegator", &[]);
        off["enabled"] = false.into();
        check(serde_json::json!([http, off, stdio("logs", "tail", &["/var/delegator/log.txt"])]), None);
    }

    #[test]
    fn a_list_that_is_none_is_an_error() {
        assert!(servers_off("").is_err());
        assert!(servers_off("Error: x").is_err());
    }

    #[test]
    fn every_directory_down_to_the_working_directory_is_untrusted() {
        let mut request = request();
        request.cwd = PathBuf::from("/home/dev/project/we ird\"q/b");
        assert_eq!(
            untrusted(&request).unwrap(),
            r#"projects={ "/home/dev/project" = { trust_level = "untrusted" }, '/home/dev/project/we ird"q' = { trust_level = "untrusted" }, '/home/dev/project/we ird"q/b' = { trust_level = "untrusted" } }"#
        );
    }

    #[test]
    fn a_directory_outside_git_or_beside_its_root_is_untrusted_too() {
        let mut request = request();
        request.git_root = None;
        assert_eq!(
            untrusted(&request).unwrap(),
            r#"projects={ "/home/dev/project" = { trust_level = "untrusted" } }"#
        );
        request.git_root = Some(PathBuf::from("/srv/real"));
        let both = untrusted(&request).unwrap();
        assert!(both.contains("/srv/real") && both.contains("/home/dev/project"), "{both}");
    }
}
