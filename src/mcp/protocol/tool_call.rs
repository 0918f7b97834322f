//! One tool call: its caller, its arguments, and its reply.

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
use crate::reply::{Budget, Category, Envelope, Funnel, NextCall, Page, Stamp};
use crate::storage::Captures;
use crate::submit::{Caller, Client};
use crate::tasks::NextObservation;

/// The most finished tasks that a notice names.
const NAMED: u32 = 3;

pub(crate) struct Call {
    pub(crate) tool: &'static Tool,
    pub(crate) context: Context,
    pub(crate) client: Client,
    /// The longest wait for this client.
    pub(crate) safe_wait: Duration,
    /// The slot for waiting, freed when the call ends.
    pub(crate) _place: Option<OwnedSemaphorePermit>,
    /// Called during a wait with the current tasks.
    pub(crate) observe: Observer,
    /// Cancelled when the answer is no longer wanted.
    pub(crate) unwanted: CancellationToken,
    /// Tracks whether the answer is delivered.
    pub(crate) delivery: Delivery,
}

pub(crate) type Observer = Box<dyn FnMut(&[View]) -> NextObservation + Send>;

/// A tool's reply: the same facts as structure and as text.
#[derive(Debug)]
pub(crate) struct Reply {
    structured: Value,
    page: Page,
    format: Format,
    budget: Budget,
    inline: InlineLimits,
    captures: Captures,
    source: &'static str,
    pub(crate) is_error: bool,
}

impl Reply {
    /// Adds the calls that the text names as `next` to the structure.
    pub(crate) fn suggesting(mut self, next: &[NextCall]) -> Self {
        if let (Value::Object(structured), Ok(next)) = (&mut self.structured, serde_json::to_value(next)) {
            structured.insert("next".into(), next);
        }
        self
    }

    /// Chooses the requested text format.
    pub(crate) fn in_format(self, format: Format) -> Self {
        Self { format, ..self }
    }

    /// Marks the reply as the error of its tool.
    pub(crate) fn failed(self, is_error: bool) -> Self {
        Self { is_error, ..self }
    }

    pub(crate) fn within(self, budget: Budget) -> Self {
        Self { budget, ..self }
    }

    /// Allows the largest size, for output that was asked for.
    pub(crate) fn whole(self) -> Self {
        Self {
            budget: Budget::MOST,
            inline: InlineLimits { chars: Budget::MOST.chars, ..InlineLimits::ALL },
            ..self
        }
    }

    /// The structured content and the text, redacted and cut to size.
    pub(crate) fn finish(mut self) -> (Value, String) {
        // Text that cannot be stored as a file is still cut, and marked as cut.
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

    /// A reply with this envelope and `text`, which suggests nothing.
    pub(crate) fn envelope<M: Serialize, D: Serialize>(
        &self,
        meta: M,
        data: D,
        text: impl Into<Page>,
    ) -> Result<Reply, Failure> {
        self.reply(&Envelope::ok(stamp(self.tool)?, meta, data).suggesting(Vec::new()), text)
    }

    /// A reply with this object and `text`.
    pub(crate) fn reply(&self, structured: &impl Serialize, text: impl Into<Page>) -> Result<Reply, Failure> {
        Ok(Reply {
            structured: serde_json::to_value(structured).map_err(|error| internal(&error))?,
            page: text.into(),
            format: Format::Markdown,
            budget: Budget::USUAL,
            inline: self.context.config.inline(),
            captures: Captures::of(&self.context.home),
            source: self.tool.name,
            is_error: false,
        })
    }

    /// A notice for the reader: repairs of the registry, and finished runs of this project whose result nobody has
    /// fetched, except `but`, which are in the answer.
    pub(crate) fn notice(&mut self, but: &[TaskId]) -> Option<String> {
        self.notice_naming(but, NAMED)
    }

    /// The same for an acknowledgement, which is short: names no run.
    pub(crate) fn brief_notice(&mut self, but: &[TaskId]) -> Option<String> {
        self.notice_naming(but, 0)
    }

    fn notice_naming(&mut self, but: &[TaskId], named: u32) -> Option<String> {
        let notice = self.context.registry.take_replaced_notice().map(str::to_owned);
        let parts: Vec<String> = notice.into_iter().chain(self.unread(but, named)).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    fn unread(&self, but: &[TaskId], named: u32) -> Option<String> {
        let (rows, count) = reading::unread(&self.context, but, named).ok()?;
        let many = if count == reading::MAX_UNREAD_COUNTED { " or more" } else { "" };
        let names: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
        let more = if count as usize > names.len() { ", …" } else { "" };
        match count {
            0 => None,
            _ if named == 0 => Some(format!("{count}{many} unread: delegate_status")),
            1 => Some(format!("1 finished run unread: {}", names.join(", "))),
            _ => Some(format!("{count}{many} finished runs unread: {}{more}", names.join(", "))),
        }
    }

    /// Records that the answer contains the results of these tasks.
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

/// Parses the arguments of a tool into its own type.
pub(crate) fn arguments<T: DeserializeOwned>(tool: &Tool, given: Map<String, Value>) -> Result<T, Failure> {
    parsed(field::read(tool.fields, given)?)
}

/// Fields that were already read, as their own type.
pub(crate) fn parsed<T: DeserializeOwned>(read: Map<String, Value>) -> Result<T, Failure> {
    serde_json::from_value(Value::Object(read)).map_err(|error| internal(&error))
}

/// The failure, worded for MCP clients.
pub(crate) fn failure(error: &TaskError) -> Failure {
    Failure::of(error, Voice::Tools)
}

/// The failure for an invalid input.
pub(crate) fn refused(message: impl Into<String>, hint: impl Into<String>) -> Failure {
    Failure::new(Code::Validation, Exit::BadInput, message, Some(hint.into()))
}

fn internal(error: &dyn std::fmt::Display) -> Failure {
    Failure::new(Code::Internal, Exit::Machine, error.to_string(), None)
}
