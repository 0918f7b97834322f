//! One invocation of the program: its environment and how it answers.

use serde::Serialize;

use crate::cli::print;
use crate::config::Config;
use crate::context::{Context, TaskError};
use crate::failure::{Exit, Failure, Voice};
use crate::host::Env;
use crate::host::Home;
use crate::host::{clock, ids};
use crate::model::State;
use crate::reading::{self, Results};
use crate::reply::{Budget, Category, Envelope, Facts, Funnel, NextCall, Report, Stamp};
use crate::storage::Captures;
use crate::text::plain;

#[derive(Debug)]
pub(super) struct Call {
    pub(super) env: Env,
    pub(super) json: bool,
    pub(super) tool: &'static str,
    pub(super) category: Category,
}

impl Call {
    pub(super) fn open(&self) -> Result<Context, Failure> {
        Ok(Context::open(self.env.clone())?)
    }

    /// Opens everything for commands that read or cancel, which work even with a broken configuration.
    pub(super) fn open_to_look(&self) -> Result<Context, Failure> {
        Ok(Context::open_to_look(self.env.clone())?)
    }

    /// Notes that a task belongs to another project, because later commands act there.
    pub(super) fn tell_reach(&self, context: &Context, name: &str) -> Result<(), Failure> {
        if let Some(project) = reading::reaches_into(context, name)?.filter(|_| !self.json) {
            let project = plain::line(&project.display().to_string(), usize::MAX);
            print::note(&format!("delegator: `{name}` is a task of another project, {project}"));
        }
        Ok(())
    }

    fn stamp(&self) -> Result<Stamp, Failure> {
        let request_id = ids::request_id().map_err(TaskError::from)?;
        Ok(Stamp { tool: self.tool, category: self.category, request_id, at: clock::now() })
    }

    /// Prints the envelope, or the text that `say` makes from its data.
    pub(super) fn answer<M: Serialize, D: Serialize>(
        &self,
        meta: M,
        data: D,
        say: impl FnOnce(&D) -> String,
    ) -> Result<(), Failure> {
        if self.json {
            self.print(&self.envelope(meta, data)?);
        } else {
            print::out(&say(&data));
        }
        Ok(())
    }

    /// Like `answer`; the envelope also has what to do next.
    pub(super) fn answer_with<M: Serialize, D: Serialize>(
        &self,
        meta: M,
        data: D,
        next: Vec<NextCall>,
        say: impl FnOnce(&D) -> String,
    ) -> Result<(), Failure> {
        if self.json {
            self.print(&self.envelope(meta, data)?.suggesting(next));
        } else {
            print::out(&say(&data));
        }
        Ok(())
    }

    pub(super) fn envelope<M, D>(&self, meta: M, data: D) -> Result<Envelope<M, D>, Failure> {
        Ok(Envelope::ok(self.stamp()?, meta, data))
    }

    /// Prints one document. Long texts in it are moved to files.
    pub(super) fn print(&self, document: &impl Serialize) {
        let Ok(mut value) = serde_json::to_value(document) else { return print::document(document) };
        // A command that only reads does not create the home, unless there is something to keep.
        let keep = |text: &str| Captures::of(&Home::open(&self.env).ok()?).keep(text, self.tool).ok();
        let inline = Config::load(&self.env).unwrap_or_default().inline();
        Funnel { inline, keep: &keep }.pass(&mut value, String::new().into(), Budget::ENDLESS);
        print::document(&value);
    }

    /// Prints the error: one line and one hint, or one document.
    pub(super) fn log_problem(&self, failure: &Failure) {
        match self.stamp() {
            Ok(stamp) if self.json => print::document(&Envelope::error(stamp, failure)),
            Ok(_) | Err(_) => {
                print::note(&format!("delegator: {}", failure.message));
                if let Some(hint) = &failure.hint {
                    print::note(&format!("hint: {hint}"));
                }
            }
        }
    }
}

impl From<TaskError> for Failure {
    fn from(error: TaskError) -> Self {
        Failure::of(&error, Voice::Shell)
    }
}

/// The report of a task in its current state.
pub(super) fn report(results: &Results) -> Report {
    Report::of(results, &Facts::of(&results.view), clock::now(), Voice::Shell)
}

/// The same, with the states and the whole answer of an envelope.
pub(super) fn report_in_envelope(results: &Results) -> Report {
    let facts = Facts::of(&results.view);
    Report::of(results, &facts, clock::now(), Voice::Shell).in_envelope(results, &facts)
}

/// The exit code for a task in `state`.
pub(super) fn exit_of(state: State) -> Exit {
    match state {
        State::Completed => Exit::Done,
        State::Failed | State::TimedOut => Exit::RunFailed,
        State::Cancelled => Exit::Cancelled,
        State::Pending | State::Working | State::InputRequired | State::Unconfirmed => Exit::StillWorking,
    }
}
