//! Hints for errors about recorded terminals.

use crate::context::TaskError;
use crate::failure::Voice;
use crate::failure::file_hints::CHANGED;
use crate::terminals::TerminalError;

pub(super) fn hint(error: &TaskError, voice: Voice) -> Option<String> {
    let TaskError::Terminal(error) = error else { return None };
    let text = match error {
        TerminalError::NotFound(_) => voice.say(
            "`delegator terminal list` lists them",
            "leave out `terminal_id` for the one last written to; its reply lists the others of this project",
        ),
        TerminalError::None { .. } => voice.say(
            "`delegator terminal` starts one; `delegator setup vscode` and `setup shell` record every new one",
            "ask the user to start one with `delegator terminal`, or for the id of one in another project",
        ),
        TerminalError::Ambiguous { .. } => "give more of the id",
        TerminalError::BadCursor(_) => "use the `cursor` of an earlier reply, unchanged",
        TerminalError::BadMoment(_) => "for example `2026-11-15T09:30:00Z`, or `10m` for ten minutes ago",
        TerminalError::NotAPlainFile(_) => CHANGED,
        TerminalError::Read { .. } => "another program removed or changed it",
        TerminalError::NoPty(_) | TerminalError::Spawn { .. } => return None,
    };
    Some(text.to_owned())
}
