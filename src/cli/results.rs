//! `delegator results`: shows the result of a task, with output on request.

use crate::tasks;
use clap::Args;

use crate::cli::invocation::{self, Call};
use crate::cli::print;
use crate::failure::{Exit, Failure, Voice};
use crate::host::clock;
use crate::reading::ResultsRequest;
use crate::reply::{self, Facts, Next, ResultMeta, TaskResult};

/// Bytes of output by default.
const OUTPUT: u64 = 16_384;

#[derive(Debug, Args)]
pub(super) struct Results {
    id: String,
    /// Include the beginning and the end of the output
    #[arg(long)]
    output: bool,
    /// Include the last raw events of the agent
    #[arg(long)]
    events: bool,
    /// Include at most this many bytes of output, both streams together [default: 16384]
    #[arg(long, value_name = "BYTES", requires = "output", value_parser = clap::value_parser!(u64).range(1..=65_536))]
    max_output_bytes: Option<u64>,
}

impl Results {
    pub(super) fn run(self, call: &Call) -> Result<Exit, Failure> {
        let mut context = call.open_to_look()?;
        let ask = ResultsRequest {
            output: self.output.then_some(self.max_output_bytes.unwrap_or(OUTPUT)),
            events: self.events,
        };
        let results = tasks::results(&mut context, &self.id, ask)?;
        let exit = invocation::exit_of(results.view.state());
        if call.json {
            let data = TaskResult::of(&results, &Facts::of(&results.view), clock::now(), Voice::Shell)
                .with_events(&results, Voice::Shell);
            let next = Next::beside(&results).answered().calls();
            let meta = ResultMeta { count: 1, notice: None };
            let envelope = call.envelope(meta, data)?.suggesting(next);
            if self.output || self.events {
                print::document(&envelope);
            } else {
                call.print(&envelope);
            }
        } else {
            print::out(&reply::report(
                call.tool,
                &invocation::report_in_envelope(&results),
                reply::events(&results),
                context.config.cuts(),
            ));
        }
        Ok(exit)
    }
}
