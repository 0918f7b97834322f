//! The MCP clients that can be set up, as data: how each one is found, its configuration files and what goes into them.
//!
//! To add a client, add a row. Where a file lies and which keys it knows comes from the client's documentation;
//! `docs/clients.md` says which rows are tested against the client itself.

use std::path::PathBuf;

use crate::host::{Env, paths};

/// A row. Two rows of one name are two products that read files of their own.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// The program to look for on `PATH`.
    program: Option<&'static str>,
    /// The directory that it makes for itself.
    directory: Place,
    pub(crate) settings: &'static [Setting],
}

/// One entry of one file.
#[derive(Debug)]
pub(crate) struct Setting {
    pub(super) format: Format,
    base: Base,
    /// Below the base: the first one that exists, or else the first one.
    paths: &'static [&'static str],
    /// The keys that lead to the entry.
    pub(super) at: &'static [&'static str],
    /// JSON, or the whole text of a file of ours. `$program` is our path, and `$env` the variables that a client may not
    /// pass on; `$env+key` has the key of Codex as well.
    pub(super) entry: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// JSON, with or without comments.
    Json,
    /// An element of an array in JSON.
    JsonList,
    Toml,
    /// An element with a `name`, of a list in YAML.
    YamlList,
    /// A file that is ours alone.
    Whole,
}

#[derive(Debug, Clone, Copy)]
enum Base {
    Home,
    /// `$XDG_CONFIG_HOME`, on every system.
    Xdg,
    /// Where applications keep their settings: the same, or `~/Library/Application Support`.
    Applications,
    /// The value of a variable, or a directory of the home.
    Variable(&'static str, &'static str),
}

type Place = (Base, &'static str);

impl Client {
    pub(crate) fn is_found(&self, env: &Env) -> bool {
        let on_path = |program| paths::find_program(program, env.get("PATH")?);
        self.program.and_then(on_path).is_some()
            || self.directory.0.path(env).is_some_and(|base| base.join(self.directory.1).is_dir())
    }

    /// What tells that it is installed.
    pub(crate) fn signs(&self, env: &Env) -> String {
        let directory = self.directory.0.path(env).unwrap_or_default().join(self.directory.1);
        let program = self.program.map(|program| format!("`{program}` on PATH or "));
        format!("{}`{}`", program.unwrap_or_default(), directory.display())
    }
}

impl Setting {
    pub(super) fn file(&self, env: &Env) -> Option<PathBuf> {
        let base = self.base.path(env)?;
        let mut files = self.paths.iter().map(|path| base.join(path));
        let first = files.next()?;
        if first.exists() { Some(first) } else { Some(files.find(|file| file.exists()).unwrap_or(first)) }
    }
}

impl Base {
    fn path(self, env: &Env) -> Option<PathBuf> {
        let home = || env.path("HOME");
        match self {
            Base::Home => home(),
            Base::Applications if cfg!(target_os = "macos") => {
                Some(home()?.join("Library/Application Support"))
            }
            Base::Xdg | Base::Applications => {
                env.path("XDG_CONFIG_HOME").or_else(|| Some(home()?.join(".config")))
            }
            Base::Variable(name, default) => env.path(name).or_else(|| Some(home()?.join(default))),
        }
    }
}

const SERVERS: &[&str] = &["mcpServers", "delegator"];
const SKILL: &str = include_str!("SKILL.md");
const STDIO: &str = r#"{ "type": "stdio", "command": "$program", "args": ["serve"], "env": "$env" }"#;
const PLAIN: &str = r#"{ "command": "$program", "args": ["serve"], "env": "$env" }"#;
/// A call may take ten minutes; all tools are approved. Variables that look like a secret are held back unless they are
/// named.
const TRUSTED: &str =
    r#"{ "command": "$program", "args": ["serve"], "env": "$env+key", "timeout": 600000, "trust": true }"#;
/// Codex hands over nothing of its environment but what is named, refuses what nobody approved, and hides tools until
/// the model searches for them.
const CODEX: &str = r#"{
    "command": "$program",
    "args": ["serve"],
    "env_vars": ["CODEX_HOME", "CODEX_API_KEY", "DELEGATOR_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"],
    "default_tools_approval_mode": "approve",
    "omit_tools_from": ["deferred"],
    "supports_parallel_tool_calls": true,
    "tool_timeout_sec": 300
}"#;
/// Cline knows no approval of a whole server. `delegate_apply`, which writes to the checkout, is left to the person.
const CLINE: &str = r#"{
    "command": "$program",
    "args": ["serve"],
    "env": "$env",
    "timeout": 120,
    "disabled": false,
    "autoApprove": ["codex", "delegate_run", "delegate_resume", "delegate_autopilot", "delegate_status", "delegate_wait",
        "delegate_results", "delegate_cancel", "inspect_output"]
}"#;

const fn json(base: Base, paths: &'static [&'static str], entry: &'static str) -> Setting {
    Setting { format: Format::Json, base, paths, at: SERVERS, entry }
}

const fn skill(base: Base, paths: &'static [&'static str]) -> Setting {
    Setting { format: Format::Whole, base, paths, at: &[], entry: SKILL }
}

const CLAUDE: Base = Base::Variable("CLAUDE_CONFIG_DIR", ".claude");

pub(crate) static CLIENTS: &[Client] = &[
    Client {
        name: "claude",
        title: "Claude Code",
        program: Some("claude"),
        directory: (CLAUDE, ""),
        settings: &[
            json(Base::Variable("CLAUDE_CONFIG_DIR", ""), &[".claude.json"], STDIO),
            Setting {
                format: Format::JsonList,
                base: CLAUDE,
                paths: &["settings.json"],
                at: &["permissions", "allow"],
                entry: r#""mcp__delegator""#,
            },
            skill(CLAUDE, &["skills/delegator/SKILL.md"]),
        ],
    },
    Client {
        name: "codex",
        title: "Codex",
        program: Some("codex"),
        directory: (Base::Variable("CODEX_HOME", ".codex"), ""),
        settings: &[
            Setting {
                format: Format::Toml,
                base: Base::Variable("CODEX_HOME", ".codex"),
                paths: &["config.toml"],
                at: &["mcp_servers", "delegator"],
                entry: CODEX,
            },
            skill(Base::Home, &[".agents/skills/delegator/SKILL.md"]),
        ],
    },
    Client {
        name: "gemini",
        title: "Gemini CLI",
        program: Some("gemini"),
        directory: (Base::Home, ".gemini"),
        settings: &[json(Base::Home, &[".gemini/settings.json"], TRUSTED)],
    },
    Client {
        name: "qwen",
        title: "Qwen Code",
        program: Some("qwen"),
        directory: (Base::Home, ".qwen"),
        settings: &[json(Base::Home, &[".qwen/settings.json"], TRUSTED)],
    },
    Client {
        name: "copilot",
        title: "Copilot CLI",
        program: Some("copilot"),
        directory: (Base::Home, ".copilot"),
        settings: &[json(
            Base::Home,
            &[".copilot/mcp-config.json"],
            r#"{ "type": "local", "command": "$program", "args": ["serve"], "env": "$env", "tools": ["*"] }"#,
        )],
    },
    Client {
        name: "cline",
        title: "Cline",
        program: Some("cline"),
        directory: (Base::Home, ".cline"),
        settings: &[json(Base::Home, &[".cline/data/settings/cline_mcp_settings.json"], CLINE)],
    },
    Client {
        name: "cline",
        title: "Cline in VS Code",
        program: None,
        directory: (Base::Applications, "Code/User/globalStorage/saoudrizwan.claude-dev"),
        settings: &[json(
            Base::Applications,
            &["Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"],
            CLINE,
        )],
    },
    Client {
        name: "continue",
        title: "Continue",
        program: Some("cn"),
        directory: (Base::Home, ".continue"),
        settings: &[Setting {
            format: Format::YamlList,
            base: Base::Home,
            paths: &[".continue/config.yaml"],
            at: &["mcpServers"],
            entry: r#"{ "name": "delegator", "command": "$program", "args": ["serve"], "env": "$env" }"#,
        }],
    },
    Client {
        name: "cursor",
        title: "Cursor",
        program: Some("cursor"),
        directory: (Base::Home, ".cursor"),
        settings: &[json(Base::Home, &[".cursor/mcp.json"], PLAIN)],
    },
    Client {
        // `vscode` records its terminals.
        name: "code",
        title: "VS Code",
        program: Some("code"),
        directory: (Base::Applications, "Code/User"),
        settings: &[Setting {
            format: Format::Json,
            base: Base::Applications,
            paths: &["Code/User/mcp.json"],
            at: &["servers", "delegator"],
            entry: STDIO,
        }],
    },
    Client {
        name: "opencode",
        title: "opencode",
        program: Some("opencode"),
        directory: (Base::Xdg, "opencode"),
        settings: &[Setting {
            format: Format::Json,
            base: Base::Xdg,
            paths: &["opencode/opencode.json", "opencode/opencode.jsonc"],
            at: &["mcp", "delegator"],
            entry: r#"{ "type": "local", "command": ["$program", "serve"], "environment": "$env", "enabled": true }"#,
        }],
    },
    Client {
        name: "claude-desktop",
        title: "Claude Desktop",
        program: None,
        directory: (Base::Applications, "Claude"),
        settings: &[json(Base::Applications, &["Claude/claude_desktop_config.json"], PLAIN)],
    },
    Client {
        name: "windsurf",
        title: "Windsurf",
        program: Some("windsurf"),
        directory: (Base::Home, ".codeium/windsurf"),
        settings: &[json(Base::Home, &[".codeium/windsurf/mcp_config.json"], PLAIN)],
    },
    Client {
        name: "zed",
        title: "Zed",
        program: Some("zed"),
        directory: (Base::Xdg, "zed"),
        settings: &[Setting {
            format: Format::Json,
            base: Base::Xdg,
            paths: &["zed/settings.json"],
            at: &["context_servers", "delegator"],
            entry: PLAIN,
        }],
    },
];
