//! `delegate_results`: reads a task's result, with output on request.

use crate::tasks;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::failure::{Failure, Voice};
use crate::host::clock;
use crate::mcp::protocol::{Call, Reply, arguments, failure};
use crate::mcp::tools::field::{Field, Kind};
use crate::mcp::tools::start::Format;
use crate::mcp::tools::{Effect, FORMAT, Tool};
use crate::reading::ResultsRequest;
use crate::reply::{self, Budget, Category, Envelope, Facts, Report, ResultMeta, TaskResult, advertised};

const OUTPUT: u64 = 16_384;

pub(crate) const TOOL: Tool = Tool {
    name: "delegate_results",
    title: "Read a task's result",
    about: "Like reading the report: summary, files, errors, timing and where everything is stored, for a finished \
           task, or progress for a running one. Answers at once; to wait for the end use delegate_wait. Output and \
           events only on request. Takes task_id (T-local-0123456789ab).",
    search_hint: "read the result and output of a delegated agent run",
    at_hand: false,
    internal: false,
    fields: &[
        Field::new("task_id", Kind::Text, "The task: its id, alias, or the beginning of its id.").required(),
        Field::new(
            "include_output",
            Kind::Flag,
            "Include the beginning and the end of the output. Default: false.",
        ),
        Field::new("include_events", Kind::Flag, "Include the last events. Default: false."),
        Field::new(
            "max_output_bytes",
            Kind::Integer { least: 1, most: 65_536 },
            "Maximum output in bytes, both streams together. Default: 16384. A reply holds about 15000; \
             inspect_output reads the rest.",
        ),
        FORMAT,
    ],
    category: Some(Category::ResultSet),
    output: advertised::<Envelope<ResultMeta, TaskResult>>,
    effect: Effect::Reads,
    waits: false,
    answer,
};

#[derive(Debug, Deserialize)]
struct Ask {
    task_id: String,
    #[serde(default)]
    include_output: bool,
    #[serde(default)]
    include_events: bool,
    max_output_bytes: Option<u64>,
    #[serde(default)]
    format: Format,
}

fn answer(call: &mut Call, given: Map<String, Value>) -> Result<Reply, Failure> {
    let ask: Ask = arguments(call.tool, given)?;
    let wanted = ResultsRequest {
        output: ask.include_output.then_some(ask.max_output_bytes.unwrap_or(OUTPUT)),
        events: ask.include_events,
    };
    let results = tasks::results(&mut call.context, &ask.task_id, wanted).map_err(|error| failure(&error))?;
    call.read(std::iter::once(&results.view));
    let notice = call.notice(std::slice::from_ref(&results.view.row.id));
    let now = clock::now();
    let facts = Facts::of(&results.view);
    let report = Report::of(&results, &facts, now, Voice::Tools).in_envelope(&results);
    let report = Report { notice: notice.clone(), ..report };
    let text = reply::page(call.tool.name, &report, reply::events(&results), call.context.config.cuts());
    let data = TaskResult::of(&results, &facts, now, Voice::Tools).with_events(&results, Voice::Tools);
    let meta = ResultMeta { count: 1, notice };
    let reply = call.envelope(meta, data, text)?.suggesting(&report.calls).in_format(ask.format);
    Ok(if ask.include_output || ask.include_events { reply.within(Budget::MOST) } else { reply })
}
