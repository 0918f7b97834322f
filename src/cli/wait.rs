//! `delegator wait`: sleeps until tasks are done and shows their results.

use std::time::Duration;

use clap::Args;

use crate::cli::invocation::{self, Call};
use crate::cli::progress_line::{Live, Show};
use crate::cli::table::table;
use crate::cli::task_args::seconds;
use crate::cli::{interrupt, print};
use crate::config::TextLimits;
use crate::context::Context;
use crate::failure::{Exit, Failure, Voice};
use crate::host::clock;
use crate::model::TaskId;
use crate::reading::{self, Results, ResultsRequest};
use crate::reply::{self, Facts, Next, Report, WaitData};
use crate::tasks::{self, Until, Waited};

#[derive(Debug, Args)]
pub(super) struct Wait {
    /// Tasks to wait for
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// Return when any task is done
    #[arg(long)]
    any: bool,
    /// Stop waiting after this long; the runs go on
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,
}

impl Wait {
    pub(super) fn run(self, call: &Call) -> Result<Exit, Failure> {
        let mut context = call.open_to_look()?;
        let mut ids: Vec<TaskId> = Vec::new();
        for reference in &self.ids {
            let id = reading::find(&context, reference)?.id;
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        let goal = if self.any { Until::Any } else { Until::All };
        let show = if call.json { Show::Nothing } else { Show::Progress { every: Duration::from_secs(10) } };
        let waited = until(&mut context, &ids, goal, self.timeout, show)?;
        let exit = exit(&waited);
        let exceeded = waited.exceeded;
        let results: Vec<Results> =
            waited.views.into_iter().map(|view| reading::gather(view, ResultsRequest::default())).collect();
        if call.json {
            let facts: Vec<Facts> = results.iter().map(|one| Facts::of(&one.view)).collect();
            let (meta, data) = WaitData::of(&results, &facts, self.timeout, clock::now(), Voice::Shell);
            let next = match results.as_slice() {
                [one] => Next::beside(one).answered().calls(),
                several => reply::next_of_several(several),
            };
            call.print(&call.envelope(meta, data)?.suggesting(next));
        } else {
            print::out(&text(call, &results, exceeded, context.config.cuts()));
        }
        Ok(exit)
    }
}

/// Waits and shows progress. Ctrl-C ends only the wait.
pub(super) fn until(
    context: &mut Context,
    ids: &[TaskId],
    goal: Until,
    limit: Option<Duration>,
    show: Show,
) -> Result<Waited, Failure> {
    let names: Vec<&str> = ids.iter().map(TaskId::as_str).collect();
    let names = names.join(" ");
    let goes_on = if ids.len() == 1 { "the run goes on" } else { "the runs go on" };
    interrupt::ends_the_wait(&format!("{goes_on}: `delegator wait {names}` waits again"));
    let mut live = Live::new(show, &context.env);
    let waited = tasks::wait(context, ids, goal, limit, &mut |views| live.show(views));
    live.clear();
    let mut waited = waited?;
    waited.leave_open(context);
    Ok(waited)
}

/// The exit code of the worst finished task, or `StillWorking` if the wait timed out or a task asks a question.
fn exit(waited: &Waited) -> Exit {
    if waited.exceeded {
        return Exit::StillWorking;
    }
    let settled = waited.views.iter().filter(|view| view.needs_no_wait());
    settled
        .map(|view| invocation::exit_of(view.state()))
        .max_by_key(|exit| match exit {
            Exit::RunFailed => 3,
            Exit::Cancelled => 2,
            Exit::StillWorking => 1,
            Exit::Done | Exit::BadInput | Exit::NotFound | Exit::Machine | Exit::Interrupted => 0,
        })
        .unwrap_or(Exit::Done)
}

fn text(call: &Call, waited: &[Results], wait_exceeded: bool, cuts: TextLimits) -> String {
    if let [one] = waited {
        return reply::report(
            call.tool,
            &Report { wait_exceeded, ..invocation::report_in_envelope(one) },
            None,
            cuts,
        );
    }
    let row = |one: &Results| {
        let (view, report) = (&one.view, invocation::report_in_envelope(one));
        let took = report.timing.duration_ms.map(reply::duration).unwrap_or_default();
        let facts = report.facts_line();
        let what = format!("{}{facts}", reply::title(&report.summary));
        vec![view.row.id.to_string(), view.state().in_envelope().to_owned(), took, what]
    };
    let rows: Vec<Vec<String>> = waited.iter().map(row).collect();
    let late = if wait_exceeded { "the wait timed out\n" } else { "" };
    format!("{}{late}", table(&rows, print::width()))
}
