//! `delegator resume`: continues the thread of an earlier task.

use clap::{Arg, Args};

use crate::cli::invocation::Call;
use crate::cli::run;
use crate::cli::task_args::TaskArgs;
use crate::failure::{Exit, Failure};
use crate::submit::{self, ResumeRequest};

#[derive(Debug, Args)]
#[command(
    mut_arg("task", |arg| arg.help("What to do next; several words are joined by spaces, `-` reads standard input [default: continue]")),
    mut_arg("cwd", |arg| arg.help("Directory to work in [default: as before]")),
    mut_arg("agent", as_before),
    mut_arg("sandbox", as_before),
    mut_arg("network", as_before),
    mut_arg("worktree", as_before),
    mut_arg("model", as_before),
    mut_arg("effort", as_before),
    mut_arg("add_dir", as_before),
    mut_arg("role", as_before),
    mut_arg("output_schema", as_before),
    mut_arg("skip_git_repo_check", as_before),
)]
pub(super) struct Resume {
    /// The task to continue, or the id of its agent's thread
    #[arg(value_name = "TASK_OR_THREAD")]
    of: String,
    #[command(flatten)]
    args: TaskArgs,
}

/// Says that the option's default is the value of the earlier task.
fn as_before(arg: Arg) -> Arg {
    let about = arg.get_help().map(ToString::to_string).unwrap_or_default();
    arg.help(format!("{about} [default: as before]"))
}

impl Resume {
    pub(super) fn run(self, call: &Call) -> Result<Exit, Failure> {
        let patience = self.args.patience();
        let ask = self.args.into_ask()?;
        let mut context = call.open()?;
        call.tell_reach(&context, &self.of)?;
        let accepted = submit::resume(&mut context, ResumeRequest { of: self.of, ask })?;
        run::answer(call, &mut context, &accepted, patience)
    }
}
