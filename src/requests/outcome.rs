//! What became of a request.

use crate::context::TaskError;
use crate::environments::Environments;
use crate::model::{TaskId, Timestamp};
use crate::reading::View;
use crate::submit::Accepted;
use crate::tasks::github_setup::SetupGuide;
use crate::tasks::{Cancelled, Cleaned};

#[derive(Debug)]
pub(crate) struct Outcome {
    /// The parsed intent, as a hint names it; `none` if there was none.
    pub(crate) action: &'static str,
    pub(crate) done: Done,
    /// Other tasks that could have been meant.
    pub(crate) others: Vec<Choice>,
    pub(crate) confidence: f64,
    pub(crate) trace: Vec<String>,
    /// What followed, or why it did not.
    pub(crate) then: Option<Then>,
}

impl Outcome {
    /// The tasks whose results the reply hands out.
    pub(crate) fn read(&self) -> &[View] {
        if let Done::Read(views) | Done::Waited { views, .. } = &self.done { views } else { &[] }
    }
}

/// The request behind "then".
#[derive(Debug)]
pub(crate) enum Then {
    Done(Box<Outcome>),
    /// The first part has not ended as it should.
    NotYet(String),
}

#[derive(Debug)]
pub(crate) enum Done {
    Started {
        accepted: Accepted,
        view: Box<View>,
        resumes: Option<TaskId>,
    },
    Looked(Vec<View>),
    Waited {
        views: Vec<View>,
        exceeded: bool,
    },
    Read(Vec<View>),
    Cancelled {
        all: Vec<Cancelled>,
        /// Those of several that could not be cancelled, and why.
        refused: Vec<(TaskId, TaskError)>,
    },
    Cleaned(Box<Cleaned>),
    Guide(SetupGuide),
    Environments(Environments),
    /// Several tasks could be meant.
    Which(Vec<Choice>),
    Confirm(Confirmation),
    /// A dry run: what would happen.
    Would(String),
    /// Nothing is done, and what could be.
    Nothing(String),
    Failed(TaskError),
}

/// A task that could be meant, with what tells it from others.
#[derive(Debug, Clone)]
pub(crate) struct Choice {
    pub(crate) id: TaskId,
    pub(crate) label: String,
    pub(crate) status: &'static str,
}

#[derive(Debug)]
pub(crate) struct Confirmation {
    pub(crate) would: String,
    pub(crate) token: String,
    pub(crate) until: Timestamp,
    /// The request to repeat with the token, where that is only a part of the whole one.
    pub(crate) request: Option<String>,
    /// The given token was not valid.
    pub(crate) refused: bool,
}
