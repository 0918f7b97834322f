//! Environments that tasks in the cloud's list belonged to, remembered in the home.
//!
//! Only hints: a file that cannot be read counts as empty, and a lost update is made up for by the next list.

use std::io;

use serde::{Deserialize, Serialize};

use crate::environments::{Environment, EnvironmentSource};
use crate::host::{Durability, Home, files};

/// More labels than these are not remembered.
const MOST: usize = 200;
const LARGEST: u64 = 1 << 20;

/// An environment as the cloud's list shows it. The id is often absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Label {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
    pub(crate) label: String,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Record {
    version: u32,
    environments: Vec<Label>,
}

/// Adds what a list has shown to what is remembered.
pub(crate) fn remember(home: &Home, shown: Vec<Label>) -> io::Result<()> {
    let mut known = load(home);
    let before = known.len();
    for label in shown {
        if !label.label.trim().is_empty() && known.len() < MOST && !known.contains(&label) {
            known.push(label);
        }
    }
    if known.len() == before {
        return Ok(());
    }
    let record = serde_json::to_vec(&Record { version: 1, environments: known })?;
    files::write(&home.seen_environments(), &record, Durability::Whole)
}

pub(super) fn read(home: &Home) -> Vec<Environment> {
    // The CLI takes a label in place of an id.
    let row = |Label { id, label }: Label| Environment {
        id: id.unwrap_or_else(|| label.clone()),
        name: label,
        repository: None,
        tech_stack: None,
        created_at: None,
        source: EnvironmentSource::Seen,
    };
    load(home).into_iter().map(row).collect()
}

fn load(home: &Home) -> Vec<Label> {
    let bytes = files::head(&home.seen_environments(), LARGEST).unwrap_or_default();
    serde_json::from_slice::<Record>(&bytes).unwrap_or_default().environments
}
