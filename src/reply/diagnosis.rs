//! `registry_info` about this machine: what works, what can be configured, and
//! what became of a registry that was made anew.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use super::text::count;
use crate::config::Key;
use crate::tasks::{Check, CheckVerdict};

/// What works on this machine and what does not.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Diagnosis {
    pub(crate) checks: Vec<CheckRow>,
    /// No check is bad.
    pub(crate) healthy: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CheckRow {
    pub(crate) name: &'static str,
    #[schemars(extend("enum" = ["ok", "warn", "bad"]))]
    pub(crate) verdict: &'static str,
    pub(crate) found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<String>,
}

/// Every configuration key.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Keys {
    /// Where the configuration is read from.
    pub(crate) file: Option<PathBuf>,
    keys: Vec<KeyRow>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct KeyRow {
    name: &'static str,
    /// As it would stand in the file; absent for keys that have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<&'static str>,
    meaning: &'static str,
}

/// A registry made anew from the run directories.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Rebuilt {
    #[schemars(extend("enum" = ["rebuild"]))]
    operation: &'static str,
    /// How many tasks it has.
    tasks: usize,
    pub(crate) message: String,
}

impl Diagnosis {
    pub(crate) fn of(checks: Vec<Check>) -> Self {
        let word = |verdict: CheckVerdict| match verdict {
            CheckVerdict::Good => "ok",
            CheckVerdict::Worth => "warn",
            CheckVerdict::Bad => "bad",
        };
        let healthy = checks.iter().all(|check| check.verdict != CheckVerdict::Bad);
        let row = |check: Check| CheckRow {
            name: check.name,
            verdict: word(check.verdict),
            found: check.found,
            hint: check.hint,
        };
        Self { checks: checks.into_iter().map(row).collect(), healthy }
    }
}

impl Keys {
    pub(crate) fn of(file: Option<PathBuf>, keys: &'static [Key]) -> Self {
        let row = |key: &'static Key| KeyRow {
            name: key.name,
            default: Some(key.default).filter(|default| !default.is_empty()),
            meaning: key.meaning,
        };
        Self { file, keys: keys.iter().map(row).collect() }
    }
}

impl Rebuilt {
    pub(crate) fn of(tasks: usize) -> Self {
        let message = format!(
            "made a new registry of {} from the run directories; the old one is kept beside it",
            count(tasks, "task")
        );
        Self { operation: "rebuild", tasks, message }
    }
}
