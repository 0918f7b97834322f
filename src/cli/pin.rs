//! `delegator pin`: keeps a run, a capture or a terminal regardless of age.

use clap::Args;

use crate::cli::invocation::Call;
use crate::failure::{Exit, Failure};
use crate::reply::{Pinning, RegistryMeta};
use crate::storage::PinState;
use crate::tasks;

#[derive(Debug, Args)]
pub(super) struct Pin {
    /// A task, the name or path of a capture, or the id or name of a terminal
    #[arg(value_name = "TASK|CAPTURE|TERMINAL")]
    what: String,
    /// Remove the pin
    #[arg(long, visible_alias = "unpin")]
    undo: bool,
}

impl Pin {
    pub(super) fn run(self, call: &Call) -> Result<Exit, Failure> {
        let mut context = call.open_to_look()?;
        let wanted = if self.undo { PinState::Unpinned } else { PinState::Pinned };
        let pinned = tasks::pin(&mut context, &self.what, wanted)?;
        let data = Pinning::of(&pinned, wanted);
        call.answer(RegistryMeta::default(), data, |data| format!("{}\n", data.message))?;
        Ok(Exit::Done)
    }
}
