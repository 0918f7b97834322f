//! `registry_info` about changes to the user's own settings.

use schemars::JsonSchema;
use serde::Serialize;

use crate::setup::{Change, SetupAction};

/// What was done, or would be done, to a settings file.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SetupReply {
    #[schemars(extend("enum" = ["vscode", "shell"]))]
    target: &'static str,
    #[schemars(extend("enum" = ["set_up", "undo"]))]
    operation: &'static str,
    /// Whether there was something to do. It was done unless this is a dry run.
    changed: bool,
    file: String,
    /// A copy of the file as it was before; kept until the change is undone.
    #[serde(skip_serializing_if = "Option::is_none")]
    backup: Option<String>,
    /// What was done, one line per change.
    steps: Vec<String>,
    /// How to undo it.
    undo: String,
}

impl SetupReply {
    pub(crate) fn of(target: &'static str, change: &Change, way: SetupAction, undo: String) -> Self {
        Self {
            target,
            operation: match way {
                SetupAction::SetUp => "set_up",
                SetupAction::Undo => "undo",
            },
            changed: !change.is_none(),
            file: change.file.to_string_lossy().into_owned(),
            backup: change.backup().map(|path| path.to_string_lossy().into_owned()),
            steps: change.steps.clone(),
            undo,
        }
    }

    /// The whole reply as text.
    pub(crate) fn text(&self, dry_run: bool) -> String {
        let nothing =
            if self.operation == "undo" { "nothing to undo" } else { "nothing to do: already set up" };
        if !self.changed {
            return format!("{}: {nothing}\n", self.file);
        }
        let would = if dry_run { " (dry run: nothing was written)" } else { "" };
        let steps: String = self.steps.iter().map(|step| format!("- {step}\n")).collect();
        let backup = self.backup.as_ref().map(|path| format!("backup: {path}\n")).unwrap_or_default();
        let undo = if self.operation == "undo" { String::new() } else { format!("undo: `{}`\n", self.undo) };
        format!("{}{would}\n{steps}{backup}{undo}", self.file)
    }
}
