//! Adapters to come, sketched: proof that the trait fits their dialects.
//!
//! Tests only. Each reads the recordings of its agent, or a stream made up to
//! the agent's protocol, and says no more than the trait asks for.

pub(super) mod acp;
pub(super) mod claude;
pub(super) mod gemini;

use std::path::PathBuf;
use std::time::Duration;

use crate::agents::{Plan, Verdict};
use crate::model::{
    Answer, CommandSpec, FailureCode, Fault, Request, Signal, SignalTarget, Stdin, Stdout, Stop, Usage,
};

/// A plan for `program`, which reads its prompt and speaks JSON lines.
fn plan(program: &str, args: &[&str], request: &Request, stdin: Stdin) -> Plan {
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
    Plan { spec, warnings: Vec::new(), agent_version: None, litter: Vec::new() }
}

/// What a stream has shown, in the words that all three share.
#[derive(Default)]
struct Seen {
    thread: Option<String>,
    model: Option<String>,
    message: String,
    /// The last end that was reported; without one, the run did not complete.
    end: Option<Result<(), Fault>>,
    usage: Option<Usage>,
    answer: Option<Answer>,
    warnings: Vec<String>,
}

impl Seen {
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
