//! `delegator resume`: goes on with the thread of an earlier task.

use clap::Args;

use super::call::Call;
use super::run;
use super::task_args::TaskArgs;
use crate::failure::{Exit, Failure};
use crate::tasks::{self, ResumeAsk};

#[derive(Debug, Args)]
pub(super) struct Resume {
    /// The task to go on with, or the id of its agent's thread
    #[arg(value_name = "TASK_OR_THREAD")]
    of: String,
    #[command(flatten)]
    args: TaskArgs,
}

impl Resume {
    pub(super) fn run(self, call: &Call) -> Result<Exit, Failure> {
        let patience = self.args.patience();
        let ask = self.args.into_ask()?;
        let mut context = call.open()?;
        let accepted = tasks::resume(&mut context, ResumeAsk { of: self.of, ask })?;
        run::answer(call, &mut context, &accepted, patience)
    }
}
