//! `registry_info` replies about this machine: what works, the configuration keys, and a repaired registry.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use crate::config::Key;
use crate::reply::report_text::count;
use crate::tasks::{self, Check, CheckVerdict, Mended};

/// What works on this machine and what does not.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Diagnosis {
    pub(crate) checks: Vec<CheckRow>,
    /// No check has the verdict `bad`.
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
    /// As written in the configuration file; absent for keys without a default.
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<&'static str>,
    meaning: &'static str,
}

/// The result of repairing the registry from the run directories.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Rebuilt {
    #[schemars(extend("enum" = ["rebuild"]))]
    operation: &'static str,
    /// How many tasks the registry has now.
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
    pub(crate) fn of(rebuilt: &tasks::Rebuilt) -> Self {
        let (tasks, message) = match rebuilt {
            tasks::Rebuilt::Anew { tasks } => {
                let made =
                    format!("created a new registry of {} from the run directories", count(*tasks, "task"));
                (*tasks, format!("{made}; the old one is kept beside it"))
            }
            tasks::Rebuilt::Mended(mended) => (mended.tasks, mended_message(mended)),
        };
        Self { operation: "rebuild", tasks, message }
    }
}

fn mended_message(mended: &Mended) -> String {
    let Mended { restored, ended, removed, tasks } = mended;
    let parts = [
        (*restored, format!("restored {} without a row", count(*restored, "run"))),
        (*ended, format!("marked {} without a run directory as failed", count(*ended, "open task"))),
        (*removed, format!("removed {} without a run directory", count(*removed, "finished task"))),
    ];
    let done: Vec<String> =
        parts.into_iter().filter(|(number, _)| *number > 0).map(|(_, text)| text).collect();
    format!("{}; the registry now has {}", done.join(", "), count(*tasks, "task"))
}
