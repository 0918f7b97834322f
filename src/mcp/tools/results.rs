//! `delegate_results`: reads a task's result, with output on request.

use crate::tasks;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::failure::{Failure, Voice};
use crate::host::clock;
use crate::mcp::protocol::{Call, Reply, arguments, failure};
use crate::mcp::tools::field::{Field, Kind};
use crate::mcp::tools::start::Format;
use crate::mcp::tools::{Effect, FORMAT, TASK_ID, Tool};
use crate::reading::ResultsRequest;
use crate::reply::{self, Budget, Category, Envelope, Facts, Report, ResultMeta, TaskResult, advertised};

const OUTPUT: u64 = 16_384;

pub(crate) const INCLUDE_OUTPUT: Field = Field::new(
    "include_output",
    Kind::Flag,
    "Include the beginning and the end of the output. Default: false.",
);
pub(crate) const INCLUDE_EVENTS: Field =
    Field::new("include_events", Kind::Flag, "Include the last events. Default: false.");
pub(crate) const MAX_OUTPUT_BYTES: Field = Field::new(
    "max_output_bytes",
    Kind::Integer { least: 1, most: 65_536 },
    "Maximum output in bytes, both streams together. Default: 16384. A reply holds about 15000; inspect_output reads the \
     rest.",
);

pub(crate) const TOOL: Tool = Tool {
    name: "delegate_results",
    title: "Read a task's result",
    about: "Reads the result of a finished task (summary, files, tests, errors, timing), or a running one's progress. \
           Answers at once, like opening the report; output and events only on request. To wait for the end use \
           delegate_wait. Takes task_id (T-local-0123456789ab).",
    search_hint: "read the result and output of a delegated agent run",
    at_hand: false,
    internal: false,
    fields: &[TASK_ID.required(), INCLUDE_OUTPUT, INCLUDE_EVENTS, MAX_OUTPUT_BYTES, FORMAT.hidden()],
    category: Some(Category::ResultSet),
    output: advertised::<Envelope<ResultMeta, TaskResult>>,
    effect: Effect::Reads,
    waits: false,
    answer,
};

#[derive(Debug, Deserialize)]
struct Ask {
    task_id: String,
    #[serde(flatten)]
    output: OutputFields,
    #[serde(default)]
    include_events: bool,
    #[serde(default)]
    format: Format,
}

/// How much output to include.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct OutputFields {
    pub(crate) include_output: bool,
    max_output_bytes: Option<u64>,
}

impl OutputFields {
    /// `None` if no output was asked for.
    pub(crate) fn most(self) -> Option<u64> {
        self.include_output.then_some(self.max_output_bytes.unwrap_or(OUTPUT))
    }
}

fn answer(call: &mut Call, given: Map<String, Value>) -> Result<Reply, Failure> {
    let ask: Ask = arguments(call.tool, given)?;
    let wanted = ResultsRequest { output: ask.output.most(), events: ask.include_events };
    let results = tasks::results(&mut call.context, &ask.task_id, wanted).map_err(|error| failure(&error))?;
    call.read(std::iter::once(&results.view));
    let notice = call.notice(std::slice::from_ref(&results.view.row.id));
    let now = clock::now();
    let facts = Facts::of(&results.view);
    let report = Report::of(&results, &facts, now, Voice::Tools).in_envelope(&results, &facts);
    let report = Report { notice: notice.clone(), ..report };
    let text = reply::page(call.tool.name, &report, reply::events(&results), call.context.config.cuts());
    let data = TaskResult::of(&results, &facts, now, Voice::Tools).with_events(&results, Voice::Tools);
    let meta = ResultMeta { count: 1, notice };
    let reply = call.envelope(meta, data, text)?.suggesting(&report.calls).in_format(ask.format);
    Ok(if wanted.output.is_some() || wanted.events { reply.within(Budget::MOST) } else { reply })
}
