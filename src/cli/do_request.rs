//! `delegator do`: takes a request in plain words, like the tool `codex`.

use std::time::Duration;

use clap::Args;

use crate::cli::invocation::{self, Call};
use crate::cli::print;
use crate::cli::progress_line::{Live, Show};
use crate::cli::task_args::seconds;
use crate::failure::{Exit, Failure, Voice};
use crate::reply::CodexReply;
use crate::requests::{self, Ask, Done, Outcome, Then};
use crate::router::Hints;
use crate::submit::Caller;

#[derive(Debug, Args)]
pub(super) struct Do {
    /// What you want, such as "run the tests", "check my task", "wait for it", "show the results", "cancel it"
    #[arg(required = true, value_name = "REQUEST")]
    request: Vec<String>,
    /// Only say what would happen
    #[arg(long)]
    dry_run: bool,
    /// Show how the request was understood
    #[arg(long)]
    explain: bool,
    /// Confirm the request with the token of the reply that asked for confirmation
    #[arg(long, value_name = "TOKEN")]
    confirm: Option<String>,
    /// Stop waiting after this long; the run goes on
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,
}

impl Do {
    pub(super) fn run(self, call: &Call) -> Result<Exit, Failure> {
        let mut context = call.open()?;
        let ask = Ask {
            request: self.request.join(" "),
            hints: Hints { limit: self.timeout, ..Hints::default() },
            cwd: None,
            caller: Caller::Person,
            patience: None,
            require_confirmation: false,
            max_cost_usd: None,
            confirm: self.confirm,
            dry_run: self.dry_run,
        };
        let show = if call.json { Show::Nothing } else { Show::Progress { every: Duration::from_secs(10) } };
        let mut live = Live::new(show, &context.env);
        let outcome = requests::carry_out(&mut context, &ask, &mut |views| live.show(views));
        live.clear();
        let reply = CodexReply::of(&outcome, self.explain, Voice::Shell);
        if call.json {
            call.print(&reply);
        } else {
            print::out(&reply.message());
            if let Some(token) = reply.token() {
                print::note(&format!("confirm: {token}"));
            }
            reply.hint().iter().for_each(|hint| print::note(&format!("hint: {hint}")));
        }
        Ok(exit(&outcome))
    }
}

/// Of what was done last.
fn exit(outcome: &Outcome) -> Exit {
    if let Some(Then::Done(then)) = &outcome.then {
        return exit(then);
    }
    if let Done::Cancelled { refused, .. } = &outcome.done
        && let [(_, error), ..] = refused.as_slice()
    {
        return Failure::of(error, Voice::Shell).exit;
    }
    match &outcome.done {
        Done::Failed(error) => Failure::of(error, Voice::Shell).exit,
        Done::Waited { exceeded: true, .. } => Exit::StillWorking,
        Done::Waited { views, .. } | Done::Read(views) => {
            let exits = views.iter().map(|view| invocation::exit_of(view.state()));
            exits.into_iter().find(|exit| *exit != Exit::Done).unwrap_or(Exit::Done)
        }
        Done::Cancelled { all, .. } if all.iter().any(|one| one.still_ending) => Exit::StillWorking,
        // It needs an answer before anything happens.
        Done::Which(_) | Done::Confirm(_) => Exit::BadInput,
        Done::Nothing(_) if outcome.action != "none" => Exit::NotFound,
        Done::Started { .. }
        | Done::Looked(_)
        | Done::Cancelled { .. }
        | Done::Cleaned(_)
        | Done::Guide(_)
        | Done::Environments(_)
        | Done::Would(_)
        | Done::Nothing(_) => Exit::Done,
    }
}
