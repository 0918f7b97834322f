//! Time limits of a run, resolved at submit and enforced by its supervisor.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// `None` means no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Limits {
    /// Time without output. Not counted while one of the agent's commands runs.
    #[serde(with = "seconds", rename = "idle_s", default)]
    pub(crate) idle: Option<Duration>,
    /// Time for the whole run.
    #[serde(with = "seconds", rename = "hard_s", default)]
    pub(crate) hard: Option<Duration>,
    /// Time for a single command of the agent.
    #[serde(with = "seconds", rename = "command_s", default)]
    pub(crate) command: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Limit {
    Idle,
    Hard,
    Command,
}

impl Limit {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Limit::Idle => "idle",
            Limit::Hard => "hard",
            Limit::Command => "command",
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Serializes durations as seconds with fractions.
mod seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(
        value: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.map(|limit| limit.as_secs_f64()).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        let seconds = Option::<f64>::deserialize(deserializer)?;
        seconds.map(|s| Duration::try_from_secs_f64(s).map_err(serde::de::Error::custom)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_seconds_on_the_wire() {
        let limits = Limits { idle: Some(Duration::from_millis(1500)), hard: None, command: None };
        let json = serde_json::to_string(&limits).unwrap();
        assert_eq!(json, r#"{"idle_s":1.5,"hard_s":null,"command_s":null}"#);
        assert_eq!(serde_json::from_str::<Limits>(&json).unwrap(), limits);
        assert!(serde_json::from_str::<Limits>(r#"{"idle_s":-1}"#).is_err());
    }
}
