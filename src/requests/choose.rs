//! Finds the tasks that a request means.

use crate::context::{Context, TaskError};
use crate::host::clock;
use crate::model::{State, TaskId, WorkKind};
use crate::reading::{self, Snapshot};
use crate::registry::{Row, SearchScope, TaskMatch};
use crate::requests::memory;
use crate::requests::outcome::Choice;
use crate::router::{Candidate, Purpose, Resolution, Selector, Which, resolve};
use crate::text::plain;

/// Finished tasks that a request may mean without naming them.
const MOST_FINISHED: u32 = 20;
/// How much of a task's text names it.
const TITLE: usize = 60;

#[derive(Debug)]
pub(super) enum Chosen {
    Tasks {
        ids: Vec<TaskId>,
        confidence: f64,
        others: Vec<Choice>,
    },
    Ambiguous(Vec<Choice>),
    /// Nothing fits; the guidance says what to do.
    Nothing(String),
}

/// Whether a word is the alias of a task.
pub(super) fn is_alias(context: &Context, word: &str) -> bool {
    matches!(reading::look_up(context, word), Ok(TaskMatch::One(row)) if row.alias.as_deref() == Some(word))
}

/// The tasks that `selector` means: those of this project or, at the shell, of any if this one has none.
pub(super) fn choose(context: &Context, selector: &Selector, purpose: Purpose) -> Result<Chosen, TaskError> {
    if let Which::Named(names) = &selector.which {
        return named(context, names, purpose);
    }
    let mut rows = rows(&reading::snapshot(context, Some(&context.project()), MOST_FINISHED)?);
    if rows.is_empty() && context.scope == SearchScope::Everywhere {
        rows = self::rows(&reading::snapshot(context, None, MOST_FINISHED)?);
    }
    let candidates: Vec<Candidate> =
        rows.iter().filter(|row| purpose != Purpose::Continue || can_continue(row)).map(candidate).collect();
    let offered = memory::offered(context).map(|offered| offered.tasks).unwrap_or_default();
    Ok(match resolve(selector, purpose, &candidates, &offered, clock::now()) {
        Resolution::Tasks { ids, confidence, others } => {
            Chosen::Tasks { ids, confidence, others: choices(&rows, &others) }
        }
        Resolution::Ambiguous(ids) => Chosen::Ambiguous(choices(&rows, &ids)),
        Resolution::Nothing => Chosen::Nothing(guidance(&rows, selector, purpose)),
    })
}

fn named(context: &Context, names: &[String], purpose: Purpose) -> Result<Chosen, TaskError> {
    let mut ids = Vec::new();
    for name in names {
        let found = reading::look_up(context, name)?;
        // The use case gets the id, so it could not tell any more.
        if let TaskMatch::One(row) = &found
            && purpose == Purpose::End
            && let Some(project) = reading::reaches_into(context, name)?
        {
            let task = row.id.clone();
            return Err(TaskError::OtherProject { reference: name.clone(), project, task });
        }
        match found {
            TaskMatch::One(row) if !ids.contains(&row.id) => ids.push(row.id),
            TaskMatch::One(_) => {}
            TaskMatch::Several(rows) => {
                let first: Vec<TaskId> = rows.iter().take(3).map(|row| row.id.clone()).collect();
                return Ok(Chosen::Ambiguous(choices(&rows, &first)));
            }
            TaskMatch::None => {
                let name = plain::line(name, TITLE);
                return Ok(Chosen::Nothing(format!(
                    "There is no task `{name}`. \"List my tasks\" shows those that are known."
                )));
            }
        }
    }
    Ok(Chosen::Tasks { ids, confidence: 1.0, others: Vec::new() })
}

fn rows(snapshot: &Snapshot) -> Vec<Row> {
    let open =
        snapshot.running.iter().map(|view| &view.row).chain(snapshot.queued.iter().map(|queued| &queued.row));
    open.chain(&snapshot.finished).cloned().collect()
}

fn can_continue(row: &Row) -> bool {
    row.agent.abilities().resumes
}

fn candidate(row: &Row) -> Candidate {
    Candidate {
        id: row.id.clone(),
        is_open: !row.state.is_final(),
        has_failed: matches!(row.state, State::Failed | State::TimedOut),
        is_hosted: row.agent.abilities().work == WorkKind::Hosted,
        updated_at: row.completed_at.or(row.started_at).unwrap_or(row.created_at),
        seq: row.seq,
    }
}

fn choices(rows: &[Row], ids: &[TaskId]) -> Vec<Choice> {
    let found = ids.iter().filter_map(|id| rows.iter().find(|row| row.id == *id));
    found.map(choice).collect()
}

pub(super) fn choice(row: &Row) -> Choice {
    let name = row.alias.as_deref().unwrap_or(&row.instruction);
    Choice { id: row.id.clone(), label: plain::line(name, TITLE), status: status(row.state) }
}

/// The state in the words of the `codex` tool.
pub(crate) fn status(state: State) -> &'static str {
    match state {
        State::Pending => "pending",
        State::Working | State::InputRequired => "working",
        State::Completed => "completed",
        State::Failed | State::TimedOut => "failed",
        State::Cancelled => "canceled",
        State::Unconfirmed => "unknown",
    }
}

fn guidance(rows: &[Row], selector: &Selector, purpose: Purpose) -> String {
    let last = rows.iter().max_by_key(|row| row.seq);
    let last = last.map(|row| {
        let Choice { id, label, status } = choice(row);
        format!(" The last one is {id} ({label}, {status}).")
    });
    let what = match (&selector.which, purpose) {
        (Which::Nth(number), _) => format!("There is no task number {number} to choose."),
        (_, Purpose::End) => "No task is running here.".to_owned(),
        (_, Purpose::Wait) if selector.which == Which::All => "No task is running here.".to_owned(),
        (_, Purpose::Continue) => "There is no earlier task here to continue.".to_owned(),
        (_, Purpose::Look | Purpose::Wait | Purpose::Read) => "No recent task was found here.".to_owned(),
    };
    let todo = if last.is_some() {
        " Name a task by its id, or say \"the last run\"."
    } else {
        " Say what to do, and a task is started."
    };
    format!("{what}{}{todo}", last.unwrap_or_default())
}
