//! Reads `config.toml`. A missing file means all defaults. An unknown key or invalid value is an
//! error, because a misspelt limit would not limit anything.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use crate::config::thinking_levels::ThinkingLevels;
use crate::config::{ToolProfile, config_error};
use crate::host::Env;
use crate::model::{AgentName, InlineLimits, KillLevel, Level, Limits, Sandbox, Slots, ThinkingLevel};

#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    pub(crate) default_agent: AgentName,
    pub(crate) default_sandbox: Sandbox,
    pub(crate) max_sandbox: Sandbox,
    pub(crate) allow_network: bool,
    pub(crate) config_override_keys: Vec<String>,
    pub(crate) env_allow: Vec<String>,
    pub(crate) roots: Vec<PathBuf>,
    /// Whether clients may run shell commands, in a sandbox.
    pub(crate) command_over_mcp: bool,
    pub(crate) max_depth: u32,
    pub(crate) max_concurrent: u32,
    pub(crate) max_cloud: u32,
    /// What a request in plain words may name as its cost without a confirmation.
    pub(crate) max_cost_usd: f64,
    idle_timeout_s: u64,
    hard_timeout_s: u64,
    command_timeout_s: u64,
    pub(crate) max_stream_bytes: u64,
    pub(crate) kill_level: Option<KillLevel>,
    pub(crate) codex_path: Option<PathBuf>,
    /// A command that prepares a new worktree.
    pub(crate) worktree_setup: Option<String>,
    pub(crate) worktree_setup_timeout_s: u64,
    tools: ToolProfile,
    allow_internal_tools: bool,
    /// Browser origins that may use the HTTP server.
    pub(crate) http_origins: Vec<String>,
    pub(crate) http_allow_remote: bool,
    retention_days: u64,
    pub(crate) retention_bytes: u64,
    output_retention_hours: u64,
    /// Whether large captures and terminals are stored as gzip.
    pub(crate) compress_large: bool,
    text_list_items: usize,
    text_line_chars: usize,
    inline_threshold_chars: usize,
    inline_threshold_lines: usize,
    autopilot: ThinkingLevels,
}

/// Limits of readable text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextLimits {
    /// List entries before "and N more".
    pub(crate) items: usize,
    /// Characters per line.
    pub(crate) line: usize,
}

/// Shorter lines would be unreadable.
const SHORTEST_LINE: usize = 40;

#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    #[error("failed to read `{}`", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("`{}` is not valid: {message}", path.display())]
    Invalid { path: PathBuf, message: String },
}

impl Default for Config {
    fn default() -> Self {
        Self {
            default_agent: AgentName::Codex,
            default_sandbox: Sandbox::ReadOnly,
            max_sandbox: Sandbox::WorkspaceWrite,
            allow_network: false,
            config_override_keys: vec!["model_reasoning_effort".into(), "model_verbosity".into()],
            env_allow: Vec::new(),
            roots: Vec::new(),
            command_over_mcp: false,
            max_depth: 1,
            max_concurrent: 4,
            max_cloud: 16,
            max_cost_usd: 0.0,
            idle_timeout_s: 15 * 60,
            hard_timeout_s: 2 * 60 * 60,
            command_timeout_s: 60 * 60,
            max_stream_bytes: 256 << 20,
            kill_level: None,
            codex_path: None,
            worktree_setup: None,
            worktree_setup_timeout_s: 10 * 60,
            tools: ToolProfile::Default,
            allow_internal_tools: false,
            http_origins: Vec::new(),
            http_allow_remote: false,
            retention_days: 30,
            retention_bytes: 5 << 30,
            output_retention_hours: 24,
            compress_large: true,
            text_list_items: 5,
            text_line_chars: 200,
            inline_threshold_chars: 5_000,
            inline_threshold_lines: 100,
            autopilot: ThinkingLevels::default(),
        }
    }
}

impl Config {
    /// The path of the file, whether or not it exists.
    pub(crate) fn locate(env: &Env) -> Option<PathBuf> {
        let dir = env.path("XDG_CONFIG_HOME").or_else(|| Some(env.path("HOME")?.join(".config")))?;
        Some(dir.join("delegator/config.toml"))
    }

    pub(crate) fn load(env: &Env) -> Result<Self, ConfigError> {
        let Some(path) = Self::locate(env) else { return Ok(Self::default()) };
        match std::fs::read_to_string(&path) {
            Ok(text) => Self::parse(&text).map_err(|message| ConfigError::Invalid { path, message }),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Ok(Self::default())
            }
            Err(source) => Err(ConfigError::Unreadable { path, source }),
        }
    }

    /// Used by read-only commands if the file is invalid.
    pub(crate) fn starting_nothing() -> Self {
        Self { max_concurrent: 0, max_cloud: 0, ..Self::default() }
    }

    fn parse(text: &str) -> Result<Self, String> {
        let config: Self = toml::from_str(text).map_err(|error| config_error::describe(text, &error))?;
        if config.default_sandbox > config.max_sandbox {
            return Err("`default_sandbox` allows more than `max_sandbox`".into());
        }
        let limits = [
            config.idle_timeout_s,
            config.hard_timeout_s,
            config.command_timeout_s,
            config.worktree_setup_timeout_s,
        ];
        if limits.contains(&0) {
            return Err("a timeout of 0 seconds would end every run at once".into());
        }
        if config.output_retention_hours == 0 {
            return Err("an `output_retention_hours` of 0 would remove what a reply has just named".into());
        }
        if config.inline_threshold_chars == 0 || config.inline_threshold_lines == 0 {
            return Err("an `inline_threshold` of 0 would leave nothing to read".into());
        }
        if config.text_line_chars < SHORTEST_LINE {
            return Err(format!("`text_line_chars` below {SHORTEST_LINE} would leave nothing to read"));
        }
        let roots = config.roots.iter().map(|path| ("roots", path));
        let mut paths = roots.chain(config.codex_path.iter().map(|path| ("codex_path", path)));
        if let Some((key, relative)) = paths.find(|(_, path)| !path.is_absolute()) {
            return Err(format!("`{key}`: `{}` is not an absolute path", relative.display()));
        }
        if let Some(other) = config.http_origins.iter().find(|text| !is_origin(text)) {
            return Err(format!(
                "`{other}` in `http_origins` is not an origin such as \"http://localhost:6274\""
            ));
        }
        Ok(config)
    }

    /// The default limits of a run.
    pub(crate) fn limits(&self) -> Limits {
        let seconds = |s: u64| Some(Duration::from_secs(s));
        Limits {
            idle: seconds(self.idle_timeout_s),
            hard: seconds(self.hard_timeout_s),
            command: seconds(self.command_timeout_s),
        }
    }

    /// The model and the effort of autopilot's jobs of this level.
    pub(crate) fn thinking_level(&self, level: ThinkingLevel, env: &Env) -> Level {
        self.autopilot.resolve(level, env)
    }

    pub(crate) fn slots(&self) -> Slots {
        Slots { local: self.max_concurrent, cloud: self.max_cloud }
    }

    /// The tools that a server lists by default.
    pub(crate) fn profile(&self) -> ToolProfile {
        if self.allow_internal_tools { ToolProfile::All } else { self.tools }
    }

    pub(crate) fn inline(&self) -> InlineLimits {
        InlineLimits { chars: self.inline_threshold_chars, lines: self.inline_threshold_lines }
    }

    pub(crate) fn cuts(&self) -> TextLimits {
        TextLimits { items: self.text_list_items, line: self.text_line_chars }
    }

    pub(crate) fn retention_age(&self) -> Duration {
        Duration::from_secs(self.retention_days.saturating_mul(24 * 60 * 60))
    }

    /// How long captures and terminals are kept after the last write.
    pub(crate) fn output_age(&self) -> Duration {
        Duration::from_secs(self.output_retention_hours.saturating_mul(60 * 60))
    }
}

/// Whether `text` is an origin as browsers send it. `null` is refused, because unrelated pages send
/// it.
fn is_origin(text: &str) -> bool {
    let host = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    host.is_some_and(|host| !host.is_empty() && !host.contains(['/', '*', '?', '#', '@', ' ']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::KEYS;

    #[test]
    fn every_documented_key_is_read_with_its_documented_default() {
        for key in KEYS.iter().filter(|key| !key.default.is_empty()) {
            let text = format!("{} = {}", key.name, key.default);
            let parsed = Config::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(format!("{parsed:?}"), format!("{:?}", Config::default()), "{text}");
        }
    }

    #[test]
    fn a_misspelt_key_is_an_error_that_names_the_line() {
        let error = Config::parse("max_depth = 2\nmax_sandbx = \"read-only\"\n").unwrap_err();
        assert_eq!(error, "line 2: unknown key `max_sandbx`; did you mean `max_sandbox`?");
        let error = Config::parse("max_sandbx = 1\nallow_network = 3\n").unwrap_err();
        assert!(error.starts_with("line 2: `allow_network`: invalid type: integer `3`"), "{error}");
        let error = Config::parse("\n\nnothing_like_it = 2\n").unwrap_err();
        assert_eq!(error, "line 3: unknown key `nothing_like_it`");
    }

    #[test]
    fn a_value_of_another_kind_is_told_with_its_key() {
        let error = Config::parse("max_depth = 2\nmax_concurrent = \"two\"\n").unwrap_err();
        assert_eq!(
            error,
            "line 2: `max_concurrent`: invalid type: string \"two\", expected a whole number, 0 or more"
        );
        let error = Config::parse("env_allow = [\n  \"A\",\n  7,\n]\n").unwrap_err();
        assert_eq!(error, "line 3: `env_allow`: invalid type: integer `7`, expected a string");
    }

    #[test]
    fn an_origin_is_named_as_a_browser_names_it() {
        let parse = |origin: &str| Config::parse(&format!("http_origins = [\"{origin}\"]"));
        assert!(parse("http://localhost:6274").is_ok());
        assert!(parse("https://app.example.com").is_ok());
        for other in ["*", "null", "localhost:6274", "http://", "http://localhost:*", "http://localhost/"] {
            assert!(parse(other).is_err(), "{other}");
        }
    }

    #[test]
    fn a_path_means_the_same_from_everywhere() {
        assert!(Config::parse("roots = [\"/srv/project\"]").is_ok());
        for text in ["roots = [\"project\"]", "roots = [\"~/x\"]", "codex_path = \"codex\""] {
            assert!(Config::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_was_just_written_is_kept_for_a_while() {
        assert!(Config::parse("output_retention_hours = 0").is_err());
        assert!(Config::parse("output_retention_hours = -1").is_err());
        let day = Config::parse("output_retention_hours = 24\ncompress_large = false").unwrap();
        assert_eq!((day.output_age().as_secs(), day.compress_large), (86_400, false));
    }

    #[test]
    fn the_default_may_not_exceed_the_maximum() {
        assert!(Config::parse("max_sandbox = \"read-only\"\ndefault_sandbox = \"workspace-write\"").is_err());
    }
}
