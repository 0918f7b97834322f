//! The tool profiles of a server.

use std::str::FromStr;

use serde::Deserialize;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ToolProfile {
    #[default]
    Default,
    /// Includes the primitives.
    All,
    /// The tool `codex` alone.
    Codex,
}

impl FromStr for ToolProfile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "default" => Ok(ToolProfile::Default),
            "all" => Ok(ToolProfile::All),
            "codex" => Ok(ToolProfile::Codex),
            _ => Err(format!("unknown tool profile `{text}`; use `default`, `all` or `codex`")),
        }
    }
}
