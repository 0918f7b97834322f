//! What to do now, in the words of the command line.

use crate::model::{AgentName, State, TaskId};
use crate::tasks::View;

/// A task and what one can do with it.
#[derive(Debug, Clone)]
pub(crate) struct Next {
    id: TaskId,
    state: State,
    can_resume: bool,
}

impl Next {
    pub(crate) fn of(view: &View) -> Self {
        let thread = view.result.as_ref().is_some_and(|result| result.thread_id.is_some())
            || view.row.thread_id.is_some();
        let can_resume = match view.row.agent {
            AgentName::Codex => thread,
            AgentName::Command | AgentName::Replay => false,
        };
        Self { id: view.row.id.clone(), state: view.state(), can_resume }
    }

    /// A task that was only just taken in.
    pub(crate) fn started(id: &TaskId) -> Self {
        Self { id: id.clone(), state: State::Working, can_resume: false }
    }

    /// One command a line, the likeliest first.
    pub(crate) fn actions(&self) -> Vec<String> {
        let Self { id, .. } = self;
        match self.state {
            State::Pending => vec![
                format!("`delegator wait {id}` waits for its end"),
                format!("`delegator cancel {id}` takes it out of the queue"),
            ],
            State::Working | State::InputRequired => vec![
                format!("`delegator wait {id}` waits for its end"),
                format!("`delegator logs -f {id}` shows its output"),
                format!("`delegator cancel {id}` ends it"),
            ],
            State::Completed | State::Failed | State::TimedOut | State::Cancelled => {
                let look = format!("`delegator logs {id}` shows what it did");
                let resume = format!("`delegator resume {id} \"...\"` goes on with its thread");
                [Some(look), self.can_resume.then_some(resume)].into_iter().flatten().collect()
            }
        }
    }
}
