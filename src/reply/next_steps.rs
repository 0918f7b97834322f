//! Suggests what to do next, as commands or as tool calls.

use crate::failure::Voice;
use crate::model::{Outcome, State, TaskId};
use crate::reading::{Results, View};

/// A task and what can be done with it.
#[derive(Debug, Clone)]
pub(crate) struct Next {
    id: TaskId,
    state: State,
    can_resume: bool,
    /// It has output.
    printed: bool,
    /// A part of its output is in the same reply.
    shown: bool,
    /// Its summary is longer than a line of text shows.
    long: bool,
}

/// The default length at which lines are cut.
const LINE: usize = 200;

impl Next {
    pub(crate) fn of(view: &View) -> Self {
        let thread = view.result.as_ref().is_some_and(|result| result.thread_id.is_some())
            || view.row.thread_id.is_some();
        let gone = view.result.as_ref().is_some_and(|result| match &result.outcome {
            Outcome::Failed { fault } => fault.thread_gone,
            Outcome::Completed | Outcome::Cancelled { .. } | Outcome::TimedOut { .. } => false,
        });
        let can_resume = view.row.agent.abilities().resumes && thread && !gone;
        let long = view.result.as_ref().is_some_and(|result| result.summary.chars().nth(LINE).is_some());
        let printed = view.missing_output().is_none();
        Self { id: view.row.id.clone(), state: view.state(), can_resume, printed, shown: false, long }
    }

    /// For a task that was just accepted.
    pub(crate) fn started(id: &TaskId) -> Self {
        let state = State::Working;
        Self { id: id.clone(), state, can_resume: false, printed: true, shown: false, long: false }
    }

    /// For a reply with these results.
    pub(crate) fn beside(results: &Results) -> Self {
        Self { shown: results.output.is_some(), ..Self::of(&results.view) }
    }

    /// One action per line, the most likely first.
    pub(crate) fn actions(&self, voice: Voice) -> Vec<String> {
        match voice {
            Voice::Shell => self.commands(),
            Voice::Tools => self.calls(),
        }
    }

    fn calls(&self) -> Vec<String> {
        let Self { id, .. } = self;
        match self.state {
            State::InputRequired => vec![
                format!("delegate_resume {{\"task_id\": \"{id}\", \"task\": \"...\"}} answers its question"),
                format!("delegate_cancel {{\"task_id\": \"{id}\"}} ends it"),
            ],
            State::Pending | State::Working | State::Unconfirmed => vec![
                format!(
                    "delegate_wait {{\"task_id\": \"{id}\"}} waits for its end; the run continues meanwhile"
                ),
                format!("delegate_cancel {{\"task_id\": \"{id}\"}} ends it"),
            ],
            State::Completed | State::Failed | State::TimedOut | State::Cancelled => {
                let look = if !self.printed {
                    "delegate_status {} lists the other tasks".to_owned()
                } else if self.shown {
                    format!(
                        "inspect_output {{\"task_id\": \"{id}\"}} reads its output in pieces, one stream at a time"
                    )
                } else {
                    format!(
                        "delegate_results {{\"task_id\": \"{id}\", \"include_output\": true}} shows what it printed"
                    )
                };
                let resume = format!(
                    "delegate_resume {{\"task_id\": \"{id}\", \"task\": \"...\"}} continues its thread"
                );
                let whole = format!(
                    "inspect_output {{\"task_id\": \"{id}\", \"artifact\": \"result.json\", \"json_path\": \"$.summary\"}} \
                     reads the whole summary"
                );
                let more = [self.long.then_some(whole), self.can_resume.then_some(resume)];
                std::iter::once(look).chain(more.into_iter().flatten()).collect()
            }
        }
    }

    fn commands(&self) -> Vec<String> {
        let Self { id, .. } = self;
        match self.state {
            State::Pending => vec![
                format!("`delegator wait {id}` waits for its end"),
                format!("`delegator cancel {id}` takes it out of the queue"),
            ],
            State::InputRequired => vec![
                format!("`delegator resume {id} \"...\"` answers its question"),
                format!("`delegator cancel {id}` ends it"),
            ],
            State::Working | State::Unconfirmed => vec![
                format!("`delegator wait {id}` waits for its end"),
                format!("`delegator logs -f {id}` shows its output"),
                format!("`delegator cancel {id}` ends it"),
            ],
            State::Completed | State::Failed | State::TimedOut | State::Cancelled => {
                let look = if self.printed {
                    format!("`delegator logs {id}` shows what it did")
                } else {
                    "`delegator status` lists the other tasks".to_owned()
                };
                let resume = format!("`delegator resume {id} \"...\"` continues its thread");
                let whole = format!(
                    "`delegator inspect {id} result.json --json-path '$.summary'` reads the whole summary"
                );
                let more = [self.long.then_some(whole), self.can_resume.then_some(resume)];
                std::iter::once(look).chain(more.into_iter().flatten()).collect()
            }
        }
    }
}
