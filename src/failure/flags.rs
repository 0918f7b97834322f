//! Names of request fields: the tool's field name for MCP clients, the option for a shell.

use crate::context::TaskError;
use crate::failure::Voice;

/// The field that an error is about.
pub(super) fn field(error: &TaskError) -> Option<&'static str> {
    match error {
        TaskError::NeedsWrite { field } | TaskError::Unsupported { field, .. } => Some(field),
        TaskError::LongField { name, .. }
        | TaskError::EmptyField { name }
        | TaskError::OddField { name }
        | TaskError::LongList { name, .. }
        | TaskError::BadLimit { name } => Some(name),
        _ => None,
    }
}

pub(super) fn spoken(field: &str, voice: Voice) -> String {
    match (voice, field) {
        (Voice::Tools, "idle" | "hard" | "command") => format!("options.timeout.{field}_s"),
        (Voice::Tools, field) => field.to_owned(),
        (Voice::Shell, "reasoning_effort") => "--effort".to_owned(),
        (Voice::Shell, "config_overrides") => "--config".to_owned(),
        (Voice::Shell, "add_dirs") => "--add-dir".to_owned(),
        (Voice::Shell, "env_from") => "--env".to_owned(),
        (Voice::Shell, "idempotency_key") => "--key".to_owned(),
        (Voice::Shell, "command") => "--command-limit".to_owned(),
        // A command, not an option.
        (Voice::Shell, "resume") => "resume".to_owned(),
        (Voice::Shell, field) => format!("--{}", field.replace('_', "-")),
    }
}

/// Replaces the name of `field` in `message` with the one that `voice` uses.
pub(super) fn worded(message: &str, field: &str, voice: Voice) -> String {
    message.replace(&format!("`{field}`"), &format!("`{}`", spoken(field, voice)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_named_as_each_caller_writes_it() {
        let said = |voice| worded("`idle` is not supported", "idle", voice);
        assert_eq!(said(Voice::Tools), "`options.timeout.idle_s` is not supported");
        assert_eq!(said(Voice::Shell), "`--idle` is not supported");
    }
}
