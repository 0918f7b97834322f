//! `delegator demo`: shows a first-time user one task from start to end. Needs no agent, project, or terminal.

use std::time::Duration;

use clap::Args;

use crate::cli::growing_file::Source;
use crate::cli::invocation::{self, Call};
use crate::cli::progress_line::Show;
use crate::cli::{print, wait};
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::model::AgentName;
use crate::reading::{self, ResultsRequest, View};
use crate::reply;
use crate::submit::{self, StartRequest};
use crate::tasks::{self, Until};

const RECORDING: &str = "fix-test";
/// Lines of the log to show.
const MOST_LINES: usize = 8;

#[derive(Debug, Args)]
pub(super) struct Demo {
    /// Play the recording without its pauses
    #[arg(long, hide = true)]
    instant: bool,
}

impl Demo {
    pub(super) fn run(self, call: &Call) -> Result<Exit, Failure> {
        let mut context = call.open()?;
        let codex = tasks::is_installed(&context.env, &context.config, AgentName::Codex);
        say(call, &introduction(codex));
        let task = if self.instant { format!("{RECORDING} --instant") } else { RECORDING.to_owned() };
        say(call, &format!("1. Start a task\n\n   $ delegator run --agent replay {task}\n"));
        let ask = StartRequest { agent: Some(AgentName::Replay), task, ..StartRequest::default() };
        let id = submit::start(&mut context, ask)?.task_id;
        say(call, &format!("   {id}\n\n"));
        say(call, &format!("2. Watch it run in the background\n\n   $ delegator wait {id}\n"));
        let show = if call.json { Show::Nothing } else { Show::Progress { every: Duration::ZERO } };
        let waited = wait::until(&mut context, std::slice::from_ref(&id), Until::All, None, show)?;
        let Some(view) = waited.views.into_iter().next() else { return Ok(Exit::StillWorking) };
        let results = reading::gather(view, ResultsRequest::default());
        let (view, report) = (&results.view, invocation::report(&results));
        if call.json {
            call.print(&report);
            return Ok(invocation::exit_of(view.state()));
        }
        say(
            call,
            &format!(
                "\n3. See the result\n\n{}\n",
                indented(&reply::report(call.tool, &report, None, context.config.cuts()))
            ),
        );
        say(call, &format!("4. See what it did\n\n   $ delegator logs {id}\n{}\n", first_lines(view)));
        say(call, &what_next(&context, view, codex));
        Ok(invocation::exit_of(view.state()))
    }
}

fn say(call: &Call, text: &str) {
    if !call.json {
        print::out(text);
    }
}

fn introduction(codex: bool) -> String {
    let agent = if codex {
        "A coding agent (codex) is installed, but the demo plays a recording that comes with delegator:\n\
         it costs nothing and changes nothing."
    } else {
        "No coding agent (codex) is installed, so the demo plays a recording that comes with delegator.\n\
         It calls no model and changes nothing; everything else is real."
    };
    format!("delegator runs coding agents in the background and records what they do.\n{agent}\n\n")
}

fn first_lines(view: &View) -> String {
    let mut bytes = Vec::new();
    Source::new(view.dir.transcript(), None).read(&mut |part| bytes.extend_from_slice(part));
    let text = String::from_utf8_lossy(&bytes);
    let all = text.lines().count();
    let shown: String = text.lines().take(MOST_LINES).map(|line| format!("   {line}\n")).collect();
    let more = all.saturating_sub(MOST_LINES);
    if more == 0 { shown } else { format!("{shown}   ... (+{more} more)\n") }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("   {line}\n")).collect()
}

fn what_next(context: &Context, view: &View, codex: bool) -> String {
    let id = &view.row.id;
    let home = context.home.root().display();
    let install =
        if codex { "" } else { "   $ npm install -g @openai/codex                             then:\n" };
    let explain = if context.is_in_git() {
        "   $ delegator run --wait \"explain what this project does\"    codex, in a read-only sandbox\n"
    } else {
        "   $ delegator run --wait --skip-git-repo-check \"explain what is here\"    codex, in a read-only sandbox\n"
    };
    let work = format!("{install}{explain}");
    format!(
        "5. Try these next\n\n   \
         $ delegator status                                         what runs, what waits, what ended\n   \
         $ delegator results {id}                   the same account again\n   \
         $ delegator run --agent command \"make test\"                any command, in the background\n{work}   \
         $ delegator doctor                                         what works on this machine\n\n\
         The files of every run are in {home}; `delegator cleanup` removes old runs.\n"
    )
}
