//! Which tools a server lists.

use std::str::FromStr;

use serde::Deserialize;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Profile {
    #[default]
    Default,
    /// The primitives as well.
    All,
}

impl FromStr for Profile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "default" => Ok(Profile::Default),
            "all" => Ok(Profile::All),
            "codex" => Err("the tool `codex` is not there yet: choose `default` or `all`".into()),
            _ => Err(format!("unknown tools `{text}`: it is `default` or `all`")),
        }
    }
}
