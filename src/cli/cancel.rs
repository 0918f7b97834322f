//! `delegator cancel`: ends a task and answers once it has ended.

use clap::Args;

use crate::cli::invocation::Call;
use crate::failure::{Exit, Failure};
use crate::reply::{Cancellation, RegistryMeta};
use crate::tasks;

#[derive(Debug, Args)]
pub(super) struct Cancel {
    id: String,
    /// Record this reason with the task
    #[arg(long)]
    reason: Option<String>,
}

impl Cancel {
    pub(super) fn run(self, call: &Call) -> Result<Exit, Failure> {
        let mut context = call.open_to_look()?;
        let cancelled = tasks::cancel(&mut context, &self.id, self.reason.as_deref())?;
        let data = Cancellation::of(&cancelled, self.reason.as_deref());
        let id = cancelled.view.row.id.clone();
        let next = data.next();
        call.answer_with(RegistryMeta::default(), data, next, |data| format!("{id}: {}\n", data.message))?;
        Ok(if cancelled.still_ending { Exit::StillWorking } else { Exit::Done })
    }
}
