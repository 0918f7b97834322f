//! `delegator results`: what came of a task, with as much of its output as
//! asked for.

use clap::Args;

use super::call::{self, Call};
use super::print;
use crate::failure::{Exit, Failure};
use crate::host::clock;
use crate::reply::{self, ResultMeta, Section, TaskResult};
use crate::tasks::{self, ResultAsk};

/// Bytes of output, unless told otherwise.
const OUTPUT: u64 = 16_384;

#[derive(Debug, Args)]
pub(super) struct Results {
    id: String,
    /// Include what it printed, its beginning and its end
    #[arg(long)]
    output: bool,
    /// Include its last events, as the agent wrote them
    #[arg(long)]
    events: bool,
    /// How much of the output at most, both streams together [default: 16384]
    #[arg(long, value_name = "BYTES", requires = "output", value_parser = clap::value_parser!(u64).range(1..=65_536))]
    max_output_bytes: Option<u64>,
}

impl Results {
    pub(super) fn run(self, call: &Call) -> Result<Exit, Failure> {
        let mut context = call.open()?;
        let ask = ResultAsk {
            output: self.output.then_some(self.max_output_bytes.unwrap_or(OUTPUT)),
            events: self.events,
        };
        let results = tasks::results(&mut context, &self.id, ask)?;
        let exit = call::exit_of(results.view.state());
        if call.json {
            let data = TaskResult::of(&results, clock::now());
            call.document(ResultMeta { count: 1 }, data)?;
        } else {
            print::out(&reply::report(call.tool, &call::report(&results.view), &sections(&results)));
        }
        Ok(exit)
    }
}

/// The output that the structured reply would hold, as text.
fn sections(results: &tasks::Results) -> Vec<Section> {
    let output = results.output.as_ref();
    let streams = output.map(|output| [("stdout", &output.stdout), ("stderr", &output.stderr)]);
    let mut sections: Vec<Section> = streams
        .into_iter()
        .flatten()
        .filter(|(_, excerpt)| !excerpt.text.is_empty())
        .map(|(name, excerpt)| Section { title: name, body: excerpt.text.clone() })
        .collect();
    if let Some(events) = &results.events {
        let body = events.iter().map(|event| format!("{event}\n")).collect();
        sections.push(Section { title: "events", body });
    }
    sections
}
