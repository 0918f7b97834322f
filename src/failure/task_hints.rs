//! Hints for errors about finding, resuming and keeping tasks.

use crate::context::TaskError;
use crate::failure::Voice;

pub(super) fn hint(error: &TaskError, voice: Voice) -> Option<String> {
    let text = match error {
        TaskError::NotFound(_) => voice.say(
            "`delegator status --all` lists every task still in the registry",
            "`delegate_status` lists the tasks of this project",
        ),
        TaskError::OtherProject { task, .. } => return Some(format!("give its id, `{task}`")),
        TaskError::Ambiguous { .. } => "give more of the id",
        TaskError::BadThread(_) => voice.say(
            "`delegator status --all` lists tasks; a thread id is a UUID",
            "`delegate_status` lists the tasks of this project; a thread id is a UUID",
        ),
        TaskError::NoThread(_) => {
            "only a run whose agent named a thread can be resumed; start a new task instead"
        }
        TaskError::ThreadBusy { task, .. } => {
            return Some(match voice {
                Voice::Shell => format!("wait for it with `delegator wait {task}`, or cancel it"),
                Voice::Tools => format!("wait for it with `delegate_wait` (task_id `{task}`), or cancel it"),
            });
        }
        TaskError::NoRemoteCancel { task, .. } => {
            return Some(match voice {
                Voice::Shell => format!(
                    "stop it on its page, or on chatgpt.com/codex; `delegator cancel {task}` stops following it"
                ),
                Voice::Tools => format!(
                    "ask the user to stop it on its page, or on chatgpt.com/codex; delegate_cancel {{\"task_id\": \"{task}\"}} stops following it"
                ),
            });
        }
        TaskError::CleaningUp => "try again in a moment",
        TaskError::NothingToPin(_) => {
            "give a task, the name of a file in `captures`, or a terminal's id or name; `delegator status --all` lists every task"
        }
        TaskError::NothingToRebuild => "`delegator doctor` checks everything else",
        _ => return None,
    };
    Some(text.to_owned())
}
