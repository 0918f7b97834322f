//! Sketches of future adapters, to prove that the trait fits their formats. Used in tests only,
//! with recorded or made-up streams.

pub(super) mod acp;
pub(super) mod claude;
pub(super) mod gemini;

use std::path::PathBuf;
use std::time::Duration;

use crate::agents::{AgentPlan, Verdict};
use crate::model::{
    Answer, CommandSpec, FailureCode, Fault, Request, Signal, SignalTarget, Stdin, Stdout, Stop, Usage,
};

/// A plan for a `program` that reads its prompt and prints JSON lines.
fn plan(program: &str, args: &[&str], request: &Request, stdin: Stdin) -> AgentPlan {
    let spec = CommandSpec {
        program: PathBuf::from(program),
        args: args.iter().map(|&arg| arg.to_owned()).collect(),
        cwd: request.cwd.clone(),
        env: Vec::new(),
        stdin,
        stdout: Stdout::Events,
        stop: Stop { signal: Signal::Terminate, reach: SignalTarget::Process, grace: Duration::from_secs(5) },
        on_orphaned: Signal::Kill,
    };
    AgentPlan { spec, warnings: Vec::new(), agent_version: None, leftover_dirs: Vec::new() }
}

/// What a stream has shown so far.
#[derive(Default)]
struct StreamState {
    thread: Option<String>,
    model: Option<String>,
    message: String,
    /// The last reported end; without one, the run did not complete.
    end: Option<Result<(), Fault>>,
    usage: Option<Usage>,
    answer: Option<Answer>,
    warnings: Vec<String>,
}

impl StreamState {
    fn verdict(&self) -> Verdict {
        let unended = || Err(Fault::new(FailureCode::ToolError, "the agent ended without a result"));
        let result = self.end.clone().unwrap_or_else(unended);
        let failure = result.as_ref().err().map(|fault| fault.message.clone());
        Verdict {
            summary: failure.unwrap_or_else(|| self.message.clone()),
            result,
            answer: self.answer.clone(),
            unchecked: None,
            warnings: self.warnings.clone(),
            thread_id: self.thread.clone(),
            model: self.model.clone(),
            usage: self.usage,
            usage_total: None,
        }
    }
}

pub(crate) use claude::Claude;
pub(crate) use gemini::Gemini;
