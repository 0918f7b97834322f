//! One call of a tool: who calls, with what, and the reply to it.

use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

use crate::context::{Context, TaskError};
use crate::failure::{Code, Exit, Failure, Voice};
use crate::host::{clock, ids};
use crate::mcp::protocol::delivery::Delivery;
use crate::mcp::tools::Format;
use crate::mcp::tools::{Tool, field};
use crate::model::InlineLimits;
use crate::model::TaskId;
use crate::reading::{self, View};
use crate::reply::{Budget, Category, Envelope, Funnel, Page, Stamp};
use crate::storage::Captures;
use crate::submit::{Caller, Client};
use crate::tasks::NextObservation;

/// Finished tasks that a notice names.
const NAMED: u32 = 3;

pub(crate) struct Call {
    pub(crate) tool: &'static Tool,
    pub(crate) context: Context,
    pub(crate) client: Client,
    /// How long a call of this client may take.
    pub(crate) safe_wait: Duration,
    /// Free again when the call is over.
    pub(crate) _place: Option<OwnedSemaphorePermit>,
    /// Called while somebody waits, with the tasks as they are.
    pub(crate) observe: Observer,
    /// Cancelled when nobody wants the answer any more.
    pub(crate) unwanted: CancellationToken,
    /// What becomes of the answer.
    pub(crate) delivery: Delivery,
}

pub(crate) type Observer = Box<dyn FnMut(&[View]) -> NextObservation + Send>;

/// What a tool answers: the same facts twice.
#[derive(Debug)]
pub(crate) struct Reply {
    structured: Value,
    page: Page,
    format: Format,
    budget: Budget,
    inline: InlineLimits,
    captures: Captures,
    source: &'static str,
}

impl Reply {
    /// With the text that was asked for.
    pub(crate) fn in_format(self, format: Format) -> Self {
        Self { format, ..self }
    }

    pub(crate) fn within(self, budget: Budget) -> Self {
        Self { budget, ..self }
    }

    /// With everything that was asked for, as far as any reply goes.
    pub(crate) fn whole(self) -> Self {
        Self {
            budget: Budget::MOST,
            inline: InlineLimits { chars: Budget::MOST.chars, ..InlineLimits::ALL },
            ..self
        }
    }

    /// The structured content and the text, fit to leave.
    pub(crate) fn finish(mut self) -> (Value, String) {
        // What cannot be kept is still cut to the budget, which says so.
        let keep = |text: &str| self.captures.keep(text, self.source).ok();
        let funnel = Funnel { inline: self.inline, keep: &keep };
        let text = funnel.pass(&mut self.structured, self.page, self.budget);
        match self.format {
            Format::Markdown => (self.structured, text),
            Format::Json => {
                let text = self.structured.to_string();
                (self.structured, text)
            }
        }
    }
}

impl Call {
    pub(crate) fn caller(&self) -> Caller {
        Caller::Client(self.client.clone())
    }

    /// The reply with this envelope, and `text` beside it.
    pub(crate) fn envelope<M: Serialize, D: Serialize>(
        &self,
        meta: M,
        data: D,
        text: impl Into<Page>,
    ) -> Result<Reply, Failure> {
        self.reply(&Envelope::ok(stamp(self.tool)?, meta, data), text)
    }

    /// The reply with this object, and `text` beside it.
    pub(crate) fn reply(&self, structured: &impl Serialize, text: impl Into<Page>) -> Result<Reply, Failure> {
        Ok(Reply {
            structured: serde_json::to_value(structured).map_err(|error| internal(&error))?,
            page: text.into(),
            format: Format::Markdown,
            budget: Budget::USUAL,
            inline: self.context.config.inline(),
            captures: Captures::of(&self.context.home),
            source: self.tool.name,
        })
    }

    /// What the reader should know beside the answer: what happened to the
    /// registry, and finished runs of this project whose result nobody has fetched. `but` are those in the answer.
    pub(crate) fn notice(&mut self, but: &[TaskId]) -> Option<String> {
        let notice = self.context.registry.take_replaced_notice().map(str::to_owned);
        let parts: Vec<String> = notice.into_iter().chain(self.unread(but)).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    fn unread(&self, but: &[TaskId]) -> Option<String> {
        let (rows, count) = reading::unread(&self.context, but, NAMED).ok()?;
        let many = if count == reading::MAX_UNREAD_COUNTED { " or more" } else { "" };
        let names: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
        let more = if count as usize > names.len() { ", …" } else { "" };
        match count {
            0 => None,
            1 => Some(format!("1 finished run unread: {}", names.join(", "))),
            _ => Some(format!("{count}{many} finished runs unread: {}{more}", names.join(", "))),
        }
    }

    /// Results of these tasks go out with the answer.
    pub(crate) fn read<'a>(&self, views: impl Iterator<Item = &'a View>) {
        let ended = views.filter(|view| view.state().is_final()).map(|view| view.row.id.clone());
        self.delivery.carries(ended.collect());
    }
}

pub(crate) fn stamp(tool: &Tool) -> Result<Stamp, Failure> {
    let request_id = ids::request_id().map_err(|error| failure(&error.into()))?;
    let category = tool.category.unwrap_or(Category::ExecutionAck);
    Ok(Stamp { tool: tool.name, category, request_id, at: clock::now() })
}

/// The arguments of a tool as its own type.
pub(crate) fn arguments<T: DeserializeOwned>(tool: &Tool, given: Map<String, Value>) -> Result<T, Failure> {
    let read = field::read(tool.fields, given)?;
    serde_json::from_value(Value::Object(read)).map_err(|error| internal(&error))
}

/// The failure in the words of the tools.
pub(crate) fn failure(error: &TaskError) -> Failure {
    Failure::of(error, Voice::Tools)
}

/// An input that cannot be taken.
pub(crate) fn refused(message: impl Into<String>, hint: impl Into<String>) -> Failure {
    Failure::new(Code::Validation, Exit::BadInput, message, Some(hint.into()))
}

fn internal(error: &dyn std::fmt::Display) -> Failure {
    Failure::new(Code::Internal, Exit::Machine, error.to_string(), None)
}
