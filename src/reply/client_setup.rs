//! `registry_info` about the registration of the server with MCP clients.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use crate::context::one_line;
use crate::setup::{Client, FileChange, SetupAction, SetupError};

/// A longer change is not shown as text.
const SHOWN: usize = 30;

/// What was done, or would be done, to the configuration of MCP clients.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ClientSetup {
    #[schemars(extend("enum" = ["set_up", "undo", "print"]))]
    operation: &'static str,
    /// Whether there was something to do. It was done unless this is a dry run.
    pub(crate) changed: bool,
    clients: Vec<ClientRow>,
    /// How to undo it.
    #[serde(skip_serializing_if = "Option::is_none")]
    undo: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ClientRow {
    client: &'static str,
    title: &'static str,
    files: Vec<FileRow>,
    /// Why nothing of this client was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FileRow {
    file: String,
    /// The text before, and what an undo needs; kept until then.
    #[serde(skip_serializing_if = "Option::is_none")]
    backup: Option<String>,
    /// What was done, one line per change; empty if there was nothing to do.
    steps: Vec<String>,
    /// The change as a unified diff.
    #[serde(skip_serializing_if = "String::is_empty")]
    diff: String,
    /// What the file has to contain, if it is written by hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<String>,
}

impl ClientSetup {
    pub(crate) fn of(
        planned: &[(&'static Client, Result<Vec<FileChange>, SetupError>)],
        action: SetupAction,
        undo: String,
    ) -> Self {
        let clients: Vec<ClientRow> =
            planned.iter().map(|(client, plan)| ClientRow::of(client, plan)).collect();
        Self {
            operation: match action {
                SetupAction::SetUp => "set_up",
                SetupAction::Undo => "undo",
            },
            changed: clients.iter().flat_map(|row| &row.files).any(|file| !file.steps.is_empty()),
            clients,
            undo: Some(undo),
        }
    }

    /// What to write by hand: for each client, its files with their texts.
    pub(crate) fn by_hand(texts: Vec<(&'static Client, Vec<(PathBuf, String)>)>) -> Self {
        let file = |(file, entry): (PathBuf, String)| FileRow {
            file: file.to_string_lossy().into_owned(),
            backup: None,
            steps: Vec::new(),
            diff: String::new(),
            entry: Some(entry),
        };
        let row = |(client, files): (&'static Client, Vec<(PathBuf, String)>)| ClientRow {
            client: client.name,
            title: client.title,
            files: files.into_iter().map(file).collect(),
            problem: None,
        };
        let clients = texts.into_iter().map(row).collect();
        Self { operation: "print", changed: false, clients, undo: None }
    }

    pub(crate) fn has_problems(&self) -> bool {
        self.clients.iter().any(|row| row.problem.is_some())
    }

    /// Every change as text.
    pub(crate) fn text(&self) -> String {
        let nothing = if self.operation == "undo" { "nothing to undo" } else { "nothing to change" };
        let row = |row: &ClientRow| {
            let files: String = row.files.iter().map(FileRow::text).collect();
            match &row.problem {
                Some(problem) => format!("{}: not changed: {problem}\n", row.title),
                None if files.is_empty() => format!("{}: {nothing}\n", row.title),
                None => format!("{}\n{files}", row.title),
            }
        };
        let rows: String = self.clients.iter().map(row).collect();
        if rows.is_empty() { format!("{nothing}\n") } else { rows }
    }

    /// What to know once it is done.
    pub(crate) fn outcome(&self) -> String {
        let done = |row: &&ClientRow| row.files.iter().any(|file| !file.steps.is_empty());
        let titles: Vec<&str> = self.clients.iter().filter(done).map(|row| row.title).collect();
        let titles = titles.join(", ");
        if self.operation == "undo" {
            return format!("removed from {titles}\n");
        }
        format!(
            "registered with {titles}; restart those that are running\nundo: `{}`\n",
            self.undo.as_deref().unwrap_or_default()
        )
    }
}

impl ClientRow {
    fn of(client: &Client, plan: &Result<Vec<FileChange>, SetupError>) -> Self {
        let (files, problem) = match plan {
            Ok(plan) => {
                let row = |file: &FileChange| FileRow {
                    file: file.change.file.to_string_lossy().into_owned(),
                    backup: file.change.backup().map(|path| path.to_string_lossy().into_owned()),
                    steps: file.change.steps.clone(),
                    diff: file.diff.clone(),
                    entry: None,
                };
                (plan.iter().map(row).collect(), None)
            }
            Err(error) => (Vec::new(), Some(one_line(error))),
        };
        Self { client: client.name, title: client.title, files, problem }
    }
}

impl FileRow {
    fn text(&self) -> String {
        if let Some(entry) = &self.entry {
            return format!("  {}\n{entry}\n", self.file);
        }
        if self.steps.is_empty() {
            return String::new();
        }
        let count = self.diff.lines().count();
        let diff = match count {
            0..=SHOWN => self.diff.lines().map(|line| format!("    {line}\n")).collect(),
            _ => format!("    ({count} lines; `--json` shows them)\n"),
        };
        format!("  {}: {}\n{diff}", self.file, self.steps.join(", "))
    }
}
