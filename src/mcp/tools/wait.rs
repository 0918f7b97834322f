//! `delegate_wait`: sleeps until tasks are done, or as long as the client allows.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::failure::{Failure, Voice};
use crate::host::clock;
use crate::mcp::protocol::{Call, Reply, arguments, failure, refused};
use crate::mcp::tools::field::{Field, Kind};
use crate::mcp::tools::results::{INCLUDE_OUTPUT, MAX_OUTPUT_BYTES, OutputFields};
use crate::mcp::tools::start::Format;
use crate::mcp::tools::{Effect, FORMAT, TASK_ID, Tool};
use crate::model::{TaskId, Timestamp};
use crate::reading::{self, Results, ResultsRequest, View};
use crate::reply::{self, Budget, Category, Envelope, Facts, Report, WaitData, WaitMeta, advertised};
use crate::tasks::{self, NextObservation, Until};

const DEFAULT_S: f64 = 300.0;
const MOST_TASKS: usize = 50;

pub(crate) const TASK_IDS: Field = Field::new("task_ids", Kind::Texts, "Several tasks, instead of task_id.");
pub(crate) const UNTIL: Field =
    Field::new("until", Kind::Choice(&["any", "all"]), "Wait until any or all tasks are done. Default: any.");
pub(crate) const TIMEOUT_SEC: Field = Field::new(
    "timeout_sec",
    Kind::Number,
    "Longest wait in seconds, if the client's own limit is not shorter. Default: 300.",
);
// A waiter sleeps until something changes; nothing is polled here.
pub(crate) const INITIAL_DELAY: Field = Field::new("initial_delay_sec", Kind::Ignored, "Has no effect.");
pub(crate) const POLL_INTERVAL: Field = Field::new("poll_interval_sec", Kind::Ignored, "Has no effect.");

pub(crate) const TOOL: Tool = Tool {
    name: "delegate_wait",
    title: "Wait for tasks",
    about: "Waits until a task ends and returns its result. Use it instead of repeated delegate_status: it costs nothing \
           meanwhile, like waiting at the counter. May return earlier with state working; the run goes on, so call \
           it again. Takes task_id (T-local-0123456789ab) or task_ids.",
    search_hint: "wait for a delegated agent run to finish and get its result",
    at_hand: true,
    internal: false,
    fields: &[
        TASK_ID,
        TASK_IDS,
        UNTIL,
        TIMEOUT_SEC,
        INCLUDE_OUTPUT,
        MAX_OUTPUT_BYTES,
        FORMAT.hidden(),
        INITIAL_DELAY.hidden(),
        POLL_INTERVAL.hidden(),
    ],
    category: Some(Category::WaitResult),
    output: advertised::<Envelope<WaitMeta, WaitData>>,
    effect: Effect::Reads,
    waits: true,
    answer,
};

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Wait {
    #[serde(skip_serializing)]
    task_id: Option<String>,
    #[serde(default)]
    task_ids: Vec<String>,
    #[serde(default)]
    until: Goal,
    timeout_sec: Option<f64>,
    #[serde(flatten)]
    output: OutputFields,
    #[serde(default)]
    pub(crate) format: Format,
    /// The tool name of the call, for a stored wait.
    #[serde(default)]
    pub(crate) tool: String,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Goal {
    #[default]
    Any,
    All,
}

fn answer(call: &mut Call, given: Map<String, Value>) -> Result<Reply, Failure> {
    let wait: Wait = arguments(call.tool, given)?;
    let ids = wait.ids(call)?;
    let asked = Duration::try_from_secs_f64(wait.timeout_sec.unwrap_or(DEFAULT_S)).unwrap_or(Duration::MAX);
    let limit = asked.min(call.safe_wait);
    let waited = tasks::wait(&mut call.context, &ids, wait.goal(), Some(limit), &mut call.observe)
        .map_err(|error| failure(&error))?;
    wait.report(call, waited.views, Some(limit))
}

impl Wait {
    /// The same wait with full task ids, which mean the same to any caller.
    pub(crate) fn resolved(self, call: &Call) -> Result<Self, Failure> {
        let ids = self.ids(call)?;
        let task_ids = ids.iter().map(ToString::to_string).collect();
        Ok(Self { task_id: None, task_ids, tool: call.tool.name.to_owned(), ..self })
    }

    /// The answer if the wait is over, else the tasks in their current state.
    ///
    /// `since` is how long the client has been waiting.
    pub(crate) fn look(&self, call: &mut Call, since: Duration) -> Result<Result<Reply, Vec<View>>, Failure> {
        let (views, over) = self.stands(call, since)?;
        if over { self.report(call, views, self.limit()).map(Ok) } else { Ok(Err(views)) }
    }

    /// The tasks in their current state, and whether the wait is over.
    pub(crate) fn stands(&self, call: &mut Call, since: Duration) -> Result<(Vec<View>, bool), Failure> {
        let ids = self.ids(call)?;
        let now = Some(Duration::ZERO);
        let waited =
            tasks::wait(&mut call.context, &ids, self.goal(), now, &mut |_| NextObservation::OnChange)
                .map_err(|error| failure(&error))?;
        let late = self.limit().is_some_and(|limit| since >= limit);
        let since =
            clock::now().as_millis().saturating_sub(i64::try_from(since.as_millis()).unwrap_or(i64::MAX));
        let since = Timestamp::from_millis(since);
        let is_detached = waited.views.iter().any(|view| tasks::is_detached(view, since));
        Ok((waited.views, late || is_detached || !waited.exceeded))
    }

    /// The requested limit. A client that polls has no limit of its own.
    fn limit(&self) -> Option<Duration> {
        self.timeout_sec.and_then(|limit| Duration::try_from_secs_f64(limit).ok())
    }

    fn goal(&self) -> Until {
        match self.until {
            Goal::Any => Until::Any,
            Goal::All => Until::All,
        }
    }

    /// The named tasks, without duplicates.
    fn ids(&self, call: &Call) -> Result<Vec<TaskId>, Failure> {
        let named: Vec<&String> = self.task_id.iter().chain(&self.task_ids).collect();
        if named.is_empty() {
            let hint = "give `task_id` or `task_ids`; `delegate_status` lists the tasks of this project";
            let refused = refused("no task is given", hint);
            return Err(refused.about("reason", "missing").about("field", "task_id"));
        }
        if named.len() > 1 && self.output.include_output {
            let hint = "wait without it, then read each task's output with `delegate_results`";
            return Err(refused("`include_output` is only for a wait for one task", hint));
        }
        if named.len() > MOST_TASKS {
            let message = format!("{} tasks are given; the limit is {MOST_TASKS}", named.len());
            let hint = format!("wait for at most {MOST_TASKS} at a time, in several calls");
            return Err(refused(message, hint));
        }
        let mut ids: Vec<TaskId> = Vec::new();
        for reference in named {
            let id = reading::find(&call.context, reference).map_err(|error| failure(&error))?.id;
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        Ok(ids)
    }

    /// The results of the tasks, or their progress.
    fn report(&self, call: &mut Call, views: Vec<View>, limit: Option<Duration>) -> Result<Reply, Failure> {
        call.read(views.iter());
        let shown: Vec<TaskId> = views.iter().map(|view| view.row.id.clone()).collect();
        let notice = call.notice(&shown);
        let wanted = ResultsRequest { output: self.output.most(), events: false };
        let results: Vec<Results> = views.into_iter().map(|view| reading::gather(view, wanted)).collect();
        let now = clock::now();
        let facts: Vec<Facts> = results.iter().map(|one| Facts::of(&one.view)).collect();
        let reports: Vec<Report> = results
            .iter()
            .zip(&facts)
            .map(|(one, facts)| Report {
                wait_exceeded: !one.view.needs_no_wait(),
                notice: notice.clone(),
                ..Report::of(one, facts, now, Voice::Tools).in_envelope(one, facts).beside_wait_meta()
            })
            .collect();
        let (text, next) = match reports.as_slice() {
            [one] => (reply::page(call.tool.name, one, None, call.context.config.cuts()), one.calls.clone()),
            several => {
                let next = reply::next_of_several(&results);
                (reply::reports(call.tool.name, several, notice.as_deref(), &next).into(), next)
            }
        };
        let (meta, data) = WaitData::of(&results, &facts, limit, now, Voice::Tools);
        let meta = meta.with_notice(notice);
        let budget = if results.len() > 1 || wanted.output.is_some() { Budget::MOST } else { Budget::USUAL };
        Ok(call.envelope(meta, data, text)?.suggesting(&next).in_format(self.format).within(budget))
    }
}
