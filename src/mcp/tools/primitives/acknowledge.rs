//! Starts a task and answers with an `execution_ack`.

use serde_json::{Map, Value};

use crate::failure::{Failure, Voice};
use crate::host::clock;
use crate::mcp::protocol::{Call, Reply, failure};
use crate::mcp::tools::start::Start;
use crate::model::{AgentName, State};
use crate::reading;
use crate::reply::{self, Ack, AckMeta, Facts, TaskResult};
use crate::submit::{self, Accepted, ResumeRequest, StartRequest};

pub(super) fn run(call: &mut Call, given: Map<String, Value>) -> Result<Reply, Failure> {
    let start = Start::of(call, given)?;
    let request = start.request.clone();
    let accepted = submit::start(&mut call.context, request).map_err(|error| failure(&error))?;
    acknowledged(call, &start, &accepted)
}

pub(super) fn submit(call: &mut Call, given: Map<String, Value>) -> Result<Reply, Failure> {
    let start = Start::of(call, given)?;
    let request = StartRequest { agent: Some(AgentName::CodexCloud), ..start.request.clone() };
    let accepted = submit::start(&mut call.context, request).map_err(|error| failure(&error))?;
    acknowledged(call, &start, &accepted)
}

pub(super) fn resume(call: &mut Call, given: Map<String, Value>) -> Result<Reply, Failure> {
    let start = Start::of(call, given)?;
    let resume = ResumeRequest { of: start.resumed()?, ask: start.request.clone() };
    let accepted = submit::resume(&mut call.context, resume).map_err(|error| failure(&error))?;
    acknowledged(call, &start, &accepted)
}

fn acknowledged(call: &mut Call, asked: &Start, accepted: &Accepted) -> Result<Reply, Failure> {
    let (results, exceeded) = asked.watch(call, accepted)?;
    let now = clock::now();
    let facts = Facts::of(&results.view);
    let report = asked.report(call, accepted, &results, exceeded, now).in_envelope(&results, &facts);
    let queued = match results.view.state() {
        State::Pending => reading::queued(&call.context, now).map_err(|error| failure(&error))?,
        State::Working
        | State::InputRequired
        | State::Unconfirmed
        | State::Completed
        | State::Failed
        | State::Cancelled
        | State::TimedOut => Vec::new(),
    };
    let queued = queued.iter().find(|task| task.row.id == accepted.task_id);
    let cuts = call.context.config.cuts();
    let report = if asked.waits() { report } else { report.acknowledging(results.view.state()) };
    let told = asked.waits().then(|| reply::page(call.tool.name, &report, None, cuts));
    let result = asked.waits().then(|| TaskResult::of(&results, &facts, now, Voice::Tools).waited(&results));
    let (meta, ack) = Ack::of(accepted, &results.view, queued, result);
    let meta = AckMeta { notice: report.notice, ..meta };
    let next = report.calls;
    let text = told.unwrap_or_else(|| ack.text(call.tool.name, &meta, &next, cuts).into());
    Ok(call.envelope(meta, ack, text)?.suggesting(&next).in_format(asked.format()))
}
