//! `delegator apply`, `diff` and `discard`: what becomes of a task's changes.

use clap::Args;

use crate::cli::invocation::Call;
use crate::cli::print;
use crate::config::TextLimits;
use crate::failure::{Exit, Failure, Voice};
use crate::reply::{Application, ApplyStep, Diff, Discard as Discarded, RegistryMeta};
use crate::submit::Caller;
use crate::tasks;
use crate::text::plain;
use crate::worktrees::Mode;

/// How many files a text lists.
const MOST_LISTED: usize = 50;

#[derive(Debug, Args)]
pub(super) struct Apply {
    /// The task whose changes to apply: its id or alias
    id: String,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Undo the last `apply` of this task
    #[arg(long, conflicts_with = "dry_run")]
    undo: bool,
}

impl Apply {
    pub(super) fn run(self, call: &Call) -> Result<Exit, Failure> {
        let mut context = call.open_to_look()?;
        let (done, step) = if self.undo {
            (tasks::undo_apply(&mut context, &self.id)?, ApplyStep::Undone)
        } else {
            let (mode, step) = match self.dry_run {
                true => (Mode::DryRun, ApplyStep::WouldApply),
                false => (Mode::Write, ApplyStep::Applied),
            };
            (tasks::apply(&mut context, &self.id, &Caller::Person, mode)?, step)
        };
        let data = Application::of(done, step);
        let exit = if data.conflicts.is_empty() { Exit::Done } else { Exit::RunFailed };
        let next = data.next();
        call.answer_with(RegistryMeta::default(), data, next, |data| {
            data.text(Voice::Shell, call.tool, &[], TextLimits { items: MOST_LISTED, line: usize::MAX })
        })?;
        Ok(exit)
    }
}

#[derive(Debug, Args)]
pub(super) struct Discard {
    /// The task whose changes to discard: its id or alias
    id: String,
}

impl Discard {
    pub(super) fn run(self, call: &Call) -> Result<Exit, Failure> {
        let mut context = call.open_to_look()?;
        let data = Discarded::of(tasks::discard(&mut context, &self.id)?);
        call.answer(RegistryMeta::default(), data, Discarded::text)?;
        Ok(Exit::Done)
    }
}

#[derive(Debug, Args)]
pub(super) struct ShowDiff {
    /// The task whose changes to show: its id or alias
    id: String,
}

impl ShowDiff {
    pub(super) fn run(self, call: &Call) -> Result<Exit, Failure> {
        let mut context = call.open_to_look()?;
        let (task_id, patch) = tasks::diff(&mut context, &self.id)?;
        let text = || String::from_utf8_lossy(&patch).into_owned();
        if call.json {
            call.print(&call.envelope(RegistryMeta::default(), Diff { task_id, diff: text() })?);
        } else if print::width().is_some() {
            print::out(&plain::text(&text()));
        } else {
            // As it is, so that git can apply it.
            print::bytes(&patch);
        }
        Ok(Exit::Done)
    }
}
