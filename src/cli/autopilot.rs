//! `delegator autopilot`: plans a task, runs its jobs, and shows them while it waits.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::cli::invocation::{self, Call};
use crate::cli::job_tree::JobTree;
use crate::cli::task_args::{sandbox, seconds, task};
use crate::cli::{interrupt, print, run};
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::host::clock;
use crate::model::{Planner, Sandbox};
use crate::reading::{self, ResultsRequest};
use crate::reply::{self, AutopilotReport, Facts, Report};
use crate::submit::{self, Accepted, AutopilotRequest, StartRequest};
use crate::tasks::{self, Until};

#[derive(Debug, Args)]
pub(super) struct Autopilot {
    /// What to do; several words are joined by spaces, `-` reads standard input
    #[arg(value_name = "TASK")]
    task: Vec<String>,
    /// Who plans: `rules` (scan, implement, verify) or `agent` (an agent looks first and plans)
    #[arg(long, value_enum, default_value = "rules", hide_possible_values = true)]
    planner: PlannerArg,
    /// Show the plan and start none of its jobs
    #[arg(long)]
    plan_only: bool,
    /// Plan at most this many jobs [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=16))]
    max_agents: Option<u8>,
    /// Run at most this many jobs at the same time [default: 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=16))]
    max_parallel: Option<u8>,
    /// Directory to work in [default: the current one]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// What the jobs may access: `read-only`, `workspace-write`, or `danger-full-access`
    #[arg(long, value_parser = sandbox(), hide_possible_values = true)]
    sandbox: Option<Sandbox>,
    /// Model of all jobs, as the agent names it [default: by the job's thinking level]
    #[arg(long)]
    model: Option<String>,
    /// Reasoning effort of all jobs [default: by the job's thinking level]
    #[arg(long, value_name = "LEVEL")]
    effort: Option<String>,
    /// Pass this environment variable to the agents; may be repeated
    #[arg(long, value_name = "NAME")]
    env: Vec<String>,
    /// Allow running outside a git repository
    #[arg(long)]
    skip_git_repo_check: bool,
    /// Short name for the task
    #[arg(long)]
    alias: Option<String>,
    /// Print the id of the task and do not wait
    #[arg(long, conflicts_with = "timeout")]
    detach: bool,
    /// Stop waiting after this long; the jobs go on
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum PlannerArg {
    Rules,
    Agent,
}

impl Autopilot {
    pub(super) fn run(self, call: &Call) -> Result<Exit, Failure> {
        let (detach, timeout) = (self.detach, self.timeout);
        let ask = self.into_ask()?;
        let mut context = call.open()?;
        let accepted = submit::start(&mut context, ask)?;
        if detach && !call.json {
            print::id(&accepted.task_id);
            run::acknowledge(&accepted);
            return Ok(Exit::Done);
        }
        // Without patience, the reply says what is known now.
        let limit = if detach { Some(Duration::ZERO) } else { timeout };
        wait(call, &mut context, &accepted, limit).map(|exit| if detach { Exit::Done } else { exit })
    }

    fn into_ask(self) -> Result<StartRequest, Failure> {
        let planner = match self.planner {
            PlannerArg::Rules => Planner::Rules,
            PlannerArg::Agent => Planner::Agent,
        };
        let asked = AutopilotRequest {
            planner,
            max_agents: self.max_agents.map(usize::from),
            max_parallel: self.max_parallel.map(usize::from),
            plan_only: self.plan_only,
        };
        Ok(StartRequest {
            autopilot: Some(asked),
            task: task(self.task)?,
            cwd: self.cwd,
            sandbox: self.sandbox,
            model: self.model,
            reasoning_effort: self.effort,
            env_from: self.env,
            skip_git_repo_check: self.skip_git_repo_check,
            alias: self.alias,
            ..StartRequest::default()
        })
    }
}

/// Waits, shows the jobs, and prints the report. Ctrl-C ends only the wait.
fn wait(
    call: &Call,
    context: &mut Context,
    accepted: &Accepted,
    limit: Option<Duration>,
) -> Result<Exit, Failure> {
    let id = &accepted.task_id;
    interrupt::ends_the_wait(&format!("the jobs go on: `delegator wait {id}` waits again"));
    let mut tree = JobTree::new(&context.env, call.json);
    let ids = std::slice::from_ref(id);
    let waited = tasks::wait(context, ids, Until::All, limit, &mut |views| tree.show(views));
    tree.clear();
    let mut waited = waited?;
    waited.leave_open(context);
    let Some(view) = waited.views.into_iter().next() else { return Ok(Exit::StillWorking) };
    let results = reading::gather(view, ResultsRequest::default());
    let report = Report { wait_exceeded: waited.exceeded, ..invocation::report(&results) };
    let report = run::with_submission(accepted, report);
    let report = report.waited(&results, &Facts::of(&results.view), clock::now());
    let report = AutopilotReport::of(report, &results);
    if call.json {
        call.print(&report);
    } else {
        print::out(&reply::autopilot(call.tool, &report, context.config.cuts()));
    }
    Ok(invocation::exit_of(results.view.state()))
}
