//! Everything known about a task, from its row or its record.
//!
//! The record takes precedence if there is one. A run whose directory is gone has only its row, and still
//! gets a correct reply. Text written by others is made safe to show here, once for text and structure alike.

use crate::agents;
use crate::context::MissingOutput;
use crate::failure::Voice;
use crate::model::{
    Answer, Deliverable, Exit, FailureCode, Limit, Outcome, RunResult, State, Timestamp, Usage, WorkKind,
};
use crate::reading::View;
use crate::registry::Row;
use crate::reply::report_text::duration;
use crate::text::plain;

#[derive(Debug)]
pub(crate) struct Facts {
    pub(super) state: State,
    pub(super) summary: String,
    /// The agent wrote the summary.
    pub(super) reported: bool,
    pub(super) started_at: Option<Timestamp>,
    pub(super) finished_at: Option<Timestamp>,
    /// Of a finished run.
    pub(super) duration_ms: Option<u64>,
    pub(super) exit_code: Option<i32>,
    pub(super) trouble: Option<Trouble>,
    pub(super) thread_id: Option<String>,
    pub(super) usage: Option<Usage>,
    /// Empty if the agent gave none.
    pub(super) answer: Answer,
    pub(super) warnings: Vec<String>,
}

/// Why a run failed or was ended by a limit.
#[derive(Debug)]
pub(super) struct Trouble {
    pub(super) code: String,
    pub(super) message: String,
    pub(super) reason: Option<String>,
    hint: Option<String>,
    pub(super) limit: Option<(Limit, u64)>,
    pub(super) retryable: bool,
}

impl Trouble {
    pub(super) fn of(result: &RunResult) -> Option<Self> {
        trouble(result)
    }

    /// What trying again does, if that may help.
    pub(super) fn retry(&self) -> Option<&'static str> {
        let is_login = self.code == FailureCode::Auth.as_str() && self.hint.is_some();
        match (self.retryable, is_login) {
            (true, _) => Some("tries again"),
            (false, true) => Some("tries again, after what the hint says"),
            (false, false) => None,
        }
    }

    /// What to try next; for a limit, what sets it.
    pub(super) fn hint(&self, voice: Voice) -> Option<String> {
        let Some((limit, _)) = self.limit else { return self.hint.clone() };
        let (option, field, key) = match limit {
            Limit::Idle => ("--idle", "idle_s", "idle_timeout_s"),
            Limit::Hard => ("--hard", "hard_s", "hard_timeout_s"),
            Limit::Command => ("--command-limit", "command_s", "command_timeout_s"),
        };
        Some(match voice {
            Voice::Shell => {
                format!("`{option} SECONDS` sets this limit; its default is `{key}` in the configuration")
            }
            Voice::Tools => format!("`options.timeout.{field}` sets this limit"),
        })
    }
}

impl Facts {
    pub(crate) fn of(view: &View) -> Self {
        let row = &view.row;
        let result = view.result.as_ref();
        let (lost, said) = (view.missing_output().filter(|why| *why == MissingOutput::Gone), summary(view));
        // The summary of a run that was lost with its directory already says so.
        let lost = lost.filter(|_| !said.starts_with("the run directory is gone"));
        Self {
            state: view.state(),
            summary: plain::text(&said),
            reported: is_reported(row),
            started_at: result.map_or(row.started_at, |result| result.started_at),
            finished_at: result.map(|result| result.finished_at).or(row.completed_at),
            duration_ms: result.map(|result| result.duration_ms).or_else(|| {
                let finished = row.completed_at?;
                row.started_at.map(|started| finished.millis_since(started))
            }),
            exit_code: result.and_then(|result| result.exit).and_then(|exit| match exit {
                Exit::Code(code) => Some(code),
                Exit::Signal(_) => None,
            }),
            trouble: match result {
                Some(result) => trouble(result),
                None => trouble_of_row(view),
            },
            thread_id: result
                .and_then(|result| result.thread_id.clone())
                .or_else(|| row.thread_id.clone())
                // The row gets it only at the end.
                .or_else(|| view.dir.read_thread().filter(|_| !view.state().is_final())),
            usage: result.and_then(|result| result.usage),
            answer: result.and_then(|result| result.answer.as_ref()).map(shown).unwrap_or_default(),
            warnings: [
                result.map(|result| all_shown(&result.warnings)).unwrap_or_default(),
                all_shown(&view.damaged),
                lost.map(|lost| vec![lost.to_string()]).unwrap_or_default(),
            ]
            .concat(),
        }
    }

    /// Milliseconds that the run took, or has taken so far.
    pub(super) fn elapsed_ms(&self, now: Timestamp) -> u64 {
        let so_far = || self.started_at.map_or(0, |started| now.millis_since(started));
        self.duration_ms.unwrap_or_else(so_far)
    }
}

fn shown(answer: &Answer) -> Answer {
    let deliverable = |one: &Deliverable| Deliverable {
        path: plain::text(&one.path),
        description: plain::text(&one.description),
    };
    Answer {
        summary: plain::text(&answer.summary),
        deliverables: answer.deliverables.iter().map(deliverable).collect(),
        open_questions: all_shown(&answer.open_questions),
        next_actions: all_shown(&answer.next_actions),
    }
}

fn all_shown(texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| plain::text(text)).collect()
}

fn summary(view: &View) -> String {
    if let Some(result) = &view.result {
        return result.summary.clone();
    }
    match view.state() {
        State::Pending => match &view.row.waits_for {
            Some(task) => format!("waits for {task}"),
            None => "queued".to_owned(),
        },
        State::Working | State::InputRequired | State::Unconfirmed => {
            view.progress.as_ref().map_or_else(|| "starting".to_owned(), |progress| progress.activity.clone())
        }
        State::Completed | State::Failed | State::Cancelled | State::TimedOut => {
            view.row.summary.clone().unwrap_or_default()
        }
    }
}

/// `delegator` writes the summary of a run that did not end with its agent's answer.
pub(super) fn is_reported(row: &Row) -> bool {
    let answered = match row.state {
        State::Completed => true,
        State::Failed => row.code.as_deref() == Some(FailureCode::Schema.as_str()),
        State::Pending
        | State::Working
        | State::InputRequired
        | State::Unconfirmed
        | State::Cancelled
        | State::TimedOut => false,
    };
    let hosted = row.agent.abilities().work == WorkKind::Hosted;
    let ours = hosted
        || row.agent.abilities().is_command_line()
        || row.summary.as_deref() == Some(agents::NOTHING_SAID);
    answered && !ours
}

fn trouble(result: &RunResult) -> Option<Trouble> {
    match &result.outcome {
        Outcome::Completed | Outcome::Cancelled { .. } => None,
        Outcome::Failed { fault } => Some(Trouble {
            code: fault.code.as_str().to_owned(),
            message: plain::text(&fault.message),
            reason: fault.reason.clone(),
            hint: fault.hint.clone(),
            limit: None,
            retryable: fault.passes || !fault.lasts && is_retryable(fault.code),
        }),
        Outcome::TimedOut { limit, elapsed_ms } => Some(Trouble {
            code: FailureCode::Timeout.as_str().to_owned(),
            message: format!("the {limit} limit was reached after {} in total", duration(*elapsed_ms)),
            reason: None,
            hint: None,
            limit: Some((*limit, *elapsed_ms)),
            retryable: match limit {
                // The thread is intact and can be resumed.
                Limit::Idle => true,
                Limit::Hard | Limit::Command => false,
            },
        }),
    }
}

fn trouble_of_row(view: &View) -> Option<Trouble> {
    let code = view.row.code.clone()?;
    let message = view.row.summary.clone().unwrap_or_default();
    Some(Trouble { code, message, reason: None, hint: None, limit: None, retryable: false })
}

/// Whether the same request may succeed if repeated.
fn is_retryable(code: FailureCode) -> bool {
    match code {
        FailureCode::Lost | FailureCode::RateLimited | FailureCode::Storage | FailureCode::Internal => true,
        FailureCode::ToolError
        | FailureCode::Spawn
        | FailureCode::Auth
        | FailureCode::Sandbox
        | FailureCode::Schema
        | FailureCode::Budget
        | FailureCode::Timeout => false,
    }
}
