//! Reads the sandbox that Codex reports for itself with every call, if the server asks for it.
//!
//! Reading is strict: an unknown word, field or path could be a restriction, so a report that contains one is
//! rejected as a whole.

use std::path::{Component, Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::model::Sandbox;
use crate::submit::Ceiling;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct State {
    permission_profile: ToolProfile,
    sandbox_cwd: String,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum ToolProfile {
    Disabled {},
    Managed { file_system: FileSystem, network: Network },
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum FileSystem {
    Unrestricted {},
    Restricted {
        entries: Vec<Entry>,
        /// How deep patterns are searched; does not affect access.
        #[serde(default, rename = "glob_scan_max_depth")]
        _depth: Option<u64>,
    },
}

#[derive(Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum Network {
    Restricted,
    Enabled,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    path: Place,
    access: Access,
    /// What happens if the path does not exist yet.
    #[serde(default, rename = "missing_path_behavior")]
    _missing: Option<String>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Access {
    Read,
    Write,
    #[serde(alias = "none")]
    Deny,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum Place {
    Path {
        path: PathBuf,
    },
    GlobPattern {
        #[serde(rename = "pattern")]
        _pattern: String,
    },
    Special {
        value: Special,
    },
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum Special {
    Root {},
    /// The minimum that any program needs to start.
    Minimal {},
    #[serde(alias = "current_working_directory")]
    ProjectRoots {
        subpath: Option<PathBuf>,
    },
    Tmpdir {},
    SlashTmp {},
}

/// What the client may do, or `None` if the report is not understood.
pub(crate) fn ceiling(state: &Value) -> Option<Ceiling> {
    let state = State::deserialize(state).ok()?;
    let cwd = plain(super::file(&state.sandbox_cwd)?)?;
    match state.permission_profile {
        ToolProfile::Disabled {} => Some(Ceiling::NONE),
        ToolProfile::Managed { file_system, network } => {
            let network = network == Network::Enabled;
            Some(Ceiling { network, ..files(file_system, &cwd)? })
        }
    }
}

fn files(file_system: FileSystem, cwd: &Path) -> Option<Ceiling> {
    let mut found = Ceiling { reads_all: false, ..Ceiling::LOWEST };
    let entries = match file_system {
        FileSystem::Unrestricted {} => {
            let (writable, sandbox) = (vec!["/".into()], Sandbox::WorkspaceWrite);
            return Some(Ceiling { sandbox, writable, reads_all: true, temporary: true, ..found });
        }
        FileSystem::Restricted { entries, .. } => entries,
    };
    let (mut denied, mut slash_tmp, mut tmpdir) = (false, false, false);
    for Entry { path, access, .. } in entries {
        denied |= access == Access::Deny;
        let path = match (path, access) {
            (Place::Path { path }, _) => plain(path)?,
            (Place::Special { value: Special::Root {} }, _) => "/".into(),
            (Place::Special { value: Special::SlashTmp {} }, _) => {
                slash_tmp |= access == Access::Write;
                "/tmp".into()
            }
            (Place::Special { value: Special::ProjectRoots { subpath } }, _) => {
                plain(cwd.join(subpath.unwrap_or_default()))?
            }
            // Only the client knows where this is.
            (Place::Special { value: Special::Tmpdir {} }, Access::Write) => {
                tmpdir = true;
                continue;
            }
            (Place::Special { value: Special::Minimal {} }, Access::Read)
            | (Place::GlobPattern { .. }, Access::Deny) => continue,
            (Place::Special { value: Special::Tmpdir {} | Special::Minimal {} }, _)
            | (Place::GlobPattern { .. }, _) => return None,
        };
        found.reads_all |= path.parent().is_none() && access != Access::Deny;
        match access {
            Access::Write => found.writable.push(path),
            Access::Read | Access::Deny => found.kept.push(path),
        }
    }
    found.reads_all &= !denied;
    found.temporary = slash_tmp && tmpdir;
    if !found.writable.is_empty() {
        found.sandbox = Sandbox::WorkspaceWrite;
    }
    Some(found)
}

/// An absolute path without `.` or `..`.
fn plain(path: PathBuf) -> Option<PathBuf> {
    let turns = path.components().any(|part| matches!(part, Component::ParentDir | Component::CurDir));
    (path.is_absolute() && !turns).then_some(path)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::text::test_rows;

    /// What Codex 0.166.0 sent, for each way to start it.
    fn recorded(name: &str) -> Ceiling {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/security/reported").join(name);
        let text = std::fs::read_to_string(path.with_extension("json")).unwrap();
        ceiling(&serde_json::from_str(&text).unwrap()).unwrap()
    }

    #[test]
    fn every_recorded_report_is_read_for_what_it_says() {
        let rows = include_str!("../../../../tests/data/reported_sandboxes.jsonl");
        for (name, sandbox, network, temporary, writable) in
            test_rows::<(String, Sandbox, bool, bool, Vec<PathBuf>)>(rows)
        {
            let found = recorded(&name);
            assert_eq!(
                (found.sandbox, found.network, found.temporary, found.writable),
                (sandbox, network, temporary, writable),
                "{name}"
            );
        }
    }

    #[test]
    fn who_may_read_less_is_known() {
        assert!(recorded("workspace-write").reads_all);
        assert!(recorded("read-only").reads_all);
        let narrow = recorded("permission-profile");
        assert!(!narrow.reads_all);
        assert!(narrow.kept.contains(&"/work/project/secret".into()));
    }

    fn managed(entries: Value) -> Value {
        json!({
            "permissionProfile": {
                "type": "managed",
                "file_system": { "type": "restricted", "entries": entries },
                "network": "restricted",
            },
            "sandboxCwd": "file:///work/project",
        })
    }

    fn entry(path: Value, access: &str) -> Value {
        managed(json!([{ "path": path, "access": access }]))
    }

    #[test]
    fn places_without_a_path_are_found_where_they_are() {
        let writable = |value: Value| {
            ceiling(&entry(json!({ "type": "special", "value": value }), "write")).unwrap().writable
        };
        assert_eq!(writable(json!({ "kind": "root" })), [Path::new("/")]);
        assert_eq!(writable(json!({ "kind": "project_roots" })), [Path::new("/work/project")]);
        assert_eq!(
            writable(json!({ "kind": "project_roots", "subpath": "a" })),
            [Path::new("/work/project/a")]
        );
        assert!(writable(json!({ "kind": "tmpdir" })).is_empty());
    }

    #[test]
    fn everything_without_network_is_not_full_access() {
        let mut state = managed(json!([]));
        state["permissionProfile"]["file_system"] = json!({ "type": "unrestricted" });
        let found = ceiling(&state).unwrap();
        assert_eq!((found.sandbox, found.network), (Sandbox::WorkspaceWrite, false));
        assert_eq!(found.writable, [Path::new("/")]);
    }

    #[test]
    fn what_is_not_known_to_the_letter_is_not_believed() {
        let rows = include_str!("../../../../tests/data/unknown_permissions.jsonl");
        for (cwd, profile) in test_rows::<(Option<String>, Value)>(rows) {
            let mut state = json!({ "permissionProfile": profile });
            if let Some(cwd) = cwd {
                state["sandboxCwd"] = cwd.into();
            }
            assert_eq!(ceiling(&state), None, "{state}");
        }
        assert!(ceiling(&managed(json!([]))).is_some());
    }
}
