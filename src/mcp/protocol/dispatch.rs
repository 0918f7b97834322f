//! Executes a request on a thread of its own and turns the reply into the protocol's result.

use std::path::PathBuf;
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value};
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

use crate::context::Context;
use crate::failure::{Code, Exit, Failure, Voice};
use crate::host::{Env, clock};
use crate::mcp::protocol::client;
use crate::mcp::protocol::delivery::Delivery;
use crate::mcp::protocol::read_receipts::Read;
use crate::mcp::protocol::server_state::Spare;
use crate::mcp::protocol::tool_call::{Call, Observer, Reply, stamp};
use crate::mcp::tools::{Effect, Format, Tool};
use crate::registry::SearchScope;
use crate::reply;
use crate::reply::{Budget, Envelope, Funnel};
use crate::submit::Client;

/// The longest message of a protocol error, in characters.
const LONGEST_ERROR: usize = 1000;

/// A request before its arguments are read.
pub(crate) struct Incoming {
    pub(crate) env: Env,
    /// The directories that the client works in, according to the client.
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) meta: Map<String, Value>,
    pub(crate) safe_wait: Duration,
    /// A slot for waiting; absent if all are taken.
    pub(crate) place: Option<OwnedSemaphorePermit>,
    pub(crate) observe: Observer,
    /// Cancelled when the answer is no longer wanted.
    pub(crate) unwanted: CancellationToken,
    /// Tracks whether the answer is delivered.
    pub(crate) delivery: Delivery,
    pub(crate) read: Read,
    pub(crate) spare: Spare,
}

impl Incoming {
    /// Opens everything that a call needs.
    pub(crate) fn open(self, tool: &'static Tool) -> Result<Call, Failure> {
        let Self { env, roots, meta, safe_wait, place, observe, unwanted, delivery, read, spare } = self;
        // A client that got its results and calls again must find them marked as read.
        read.settle();
        let kept = spare.take();
        let opened = match tool.effect {
            Effect::Starts | Effect::StartsElsewhere => Context::open_with(env, kept),
            Effect::Reads | Effect::Ends => Context::open_to_look_with(env, kept),
        };
        let mut context = opened.map_err(|error| Failure::of(&error, Voice::Tools))?;
        context.scope = SearchScope::Project;
        // One of the client's folders may no longer exist: use the next one.
        let root = roots.iter().find(|root| root.is_dir()).or(roots.first()).cloned();
        if let Some(place) = root.or_else(|| client::place(&meta)) {
            context.place = std::fs::canonicalize(&place).unwrap_or(place);
        }
        let roots = if roots.is_empty() { vec![context.project()] } else { roots };
        let client = Client { roots, ceiling: client::ceiling(&meta), is_run: client::is_run(&meta) };
        Ok(Call { tool, context, client, safe_wait, _place: place, observe, unwanted, delivery })
    }

    /// Executes a tool call.
    pub(crate) fn answer(self, tool: &'static Tool, given: Map<String, Value>) -> CallToolResult {
        let format = Format::asked_for(&given);
        let begun = clock::monotonic();
        let answered = self.with(tool, |call| (tool.answer)(call, given)).and_then(|answered| answered);
        let answered = answered.map_err(|failure| match failure.code {
            Code::Timeout => {
                let tried = clock::monotonic().saturating_sub(begun);
                failure.about("duration_ms", u64::try_from(tried.as_millis()).unwrap_or(u64::MAX))
            }
            Code::Validation
            | Code::NotFound
            | Code::Unsupported
            | Code::ToolError
            | Code::Internal
            | Code::Lasting => failure,
        });
        result(tool, format, answered)
    }

    /// Opens everything for one piece of work and keeps the registry open for the next.
    pub(crate) fn with<T>(
        self,
        tool: &'static Tool,
        work: impl FnOnce(&mut Call) -> T,
    ) -> Result<T, Failure> {
        let spare = self.spare.clone();
        let mut call = self.open(tool)?;
        let done = work(&mut call);
        spare.put(call.context.registry);
        Ok(done)
    }
}

/// The reply as a protocol result. `format` is that of an error; a reply knows its own.
pub(crate) fn result(tool: &Tool, format: Format, replied: Result<Reply, Failure>) -> CallToolResult {
    match replied {
        Ok(reply) => {
            let is_error = reply.is_error;
            let (structured, text) = reply.finish();
            let mut result = CallToolResult::structured(structured);
            result.is_error = Some(is_error);
            result.content = vec![ContentBlock::text(text)];
            result
        }
        Err(failure) => {
            // One line and one hint for the model.
            let hint = failure.hint.as_ref().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
            let next = reply::next_after_error(&failure);
            let next = if next.is_empty() { String::new() } else { reply::next_line(&next) };
            let text = format!(
                "{}\nerror: {} ({}){hint}\n{next}",
                tool.name,
                failure.message,
                failure.code.as_str()
            );
            let envelope = stamp(tool).map(|stamp| serde_json::to_value(Envelope::error(stamp, &failure)));
            let mut envelope = envelope.ok().and_then(Result::ok).unwrap_or_else(|| Map::new().into());
            let text = Funnel::KEEPS_NOTHING.pass(&mut envelope, text.into(), Budget::USUAL);
            let text = match format {
                Format::Markdown => text,
                Format::Json => envelope.to_string(),
            };
            let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
            result.structured_content = Some(envelope);
            result
        }
    }
}

/// The failure as a protocol error, for requests that are not tool calls.
pub(crate) fn protocol_error(failure: Failure) -> ErrorData {
    let hint = failure.hint.map(|hint| format!("; {hint}")).unwrap_or_default();
    let message = reply::line(&format!("{}{hint}", failure.message), LONGEST_ERROR);
    match failure.code {
        Code::Validation | Code::Unsupported => ErrorData::invalid_params(message, None),
        Code::NotFound => ErrorData::resource_not_found(message, None),
        Code::Timeout | Code::ToolError | Code::Internal | Code::Lasting => {
            ErrorData::internal_error(message, None)
        }
    }
}

/// The error for a call that panicked.
pub(crate) fn crashed() -> Failure {
    internal("the call failed inside delegator", "`delegator doctor` may show the reason; runs go on")
}

/// The error for a call whose client is gone.
pub(crate) fn unheard() -> Failure {
    internal("the client is gone", "runs go on")
}

fn internal(message: &str, hint: &str) -> Failure {
    Failure::new(Code::Internal, Exit::Machine, message, Some(hint.into()))
}
