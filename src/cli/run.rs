//! `delegator run`: starts a task and, with `--wait`, waits for it.

use std::time::Duration;

use clap::Args;

use crate::cli::invocation::{self, Call};
use crate::cli::progress_line::Show;
use crate::cli::task_args::{Patience, TaskArgs};
use crate::cli::{print, wait};
use crate::context::Context;
use crate::failure::{Exit, Failure, Voice};
use crate::host::clock;
use crate::model::State;
use crate::reading::{self, ResultsRequest};
use crate::reply::{self, Facts, Next, Report};
use crate::submit::{self, Accepted};
use crate::tasks::{self, Until};

#[derive(Debug, Args)]
pub(super) struct Run {
    #[command(flatten)]
    args: TaskArgs,
}

impl Run {
    pub(super) fn run(self, call: &Call) -> Result<Exit, Failure> {
        let patience = self.args.patience();
        let ask = self.args.into_ask()?;
        let mut context = call.open()?;
        let accepted = submit::start(&mut context, ask)?;
        answer(call, &mut context, &accepted, patience)
    }
}

/// Prints the id of the accepted task or, after a wait, its result.
pub(super) fn answer(
    call: &Call,
    context: &mut Context,
    accepted: &Accepted,
    patience: Patience,
) -> Result<Exit, Failure> {
    match patience {
        Patience::None if call.json => {
            let row = reading::find(context, accepted.task_id.as_str())?;
            let view = tasks::view_task(context, row)?;
            let results = reading::gather(view, ResultsRequest::default());
            let report = with_submission(accepted, invocation::report(&results));
            call.print(&report.acknowledging(results.view.state()));
            Ok(Exit::Done)
        }
        Patience::None => {
            print::id(&accepted.task_id);
            acknowledge(accepted);
            Ok(Exit::Done)
        }
        Patience::Until(limit) => {
            let show =
                if call.json { Show::Nothing } else { Show::Progress { every: Duration::from_secs(10) } };
            let waited =
                wait::until(context, std::slice::from_ref(&accepted.task_id), Until::All, limit, show)?;
            let Some(view) = waited.views.into_iter().next() else { return Ok(Exit::StillWorking) };
            let results = reading::gather(view, ResultsRequest::default());
            let report = Report {
                wait_exceeded: waited.exceeded,
                ..with_submission(accepted, invocation::report(&results))
            };
            let report = report.waited(&results, &Facts::of(&results.view), clock::now());
            if call.json {
                call.print(&report);
            } else {
                print::out(&reply::report(call.tool, &report, None, context.config.cuts()));
            }
            Ok(invocation::exit_of(results.view.state()))
        }
    }
}

/// The report, with what only the submitter knows.
pub(super) fn with_submission(accepted: &Accepted, report: Report) -> Report {
    let warnings = accepted.warnings.iter().cloned().chain(report.warnings).collect();
    Report { deduplicated: accepted.deduplicated, warnings, ..report }
}

/// Notes for a person; a script reads only the id.
pub(super) fn acknowledge(accepted: &Accepted) {
    if accepted.deduplicated {
        print::note("the same request was submitted before; this is its task");
    } else if let Some(task) = &accepted.waits_for {
        print::note(&format!("the task waits for {task}"));
    } else if accepted.state == State::Pending {
        print::note("the task is queued until a slot is free");
    }
    for warning in &accepted.warnings {
        print::note(&format!("warning: {warning}"));
    }
    for action in Next::started(&accepted.task_id).actions(Voice::Shell) {
        print::note(&format!("next: {action}"));
    }
}
