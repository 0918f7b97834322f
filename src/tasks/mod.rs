//! The use cases, one file per verb. Every surface calls these and no others.

mod cancel;
mod cleanup;
mod context;
mod control;
mod doctor;
mod drive;
mod error;
mod excerpt;
mod nested;
mod pump;
mod record;
mod recover;
mod resolve;
mod results;
mod resume;
mod start;
mod status;
mod transcript;
mod view;
mod wait;

pub(crate) use cancel::{Cancelled, cancel};
pub(crate) use cleanup::{Cleaned, CleanupAsk, cleanup, rebuild};
pub(crate) use context::Context;
pub(crate) use doctor::{Check, Verdict as CheckVerdict, doctor, is_installed};
pub(crate) use drive::supervise;
pub(crate) use error::{TaskError, one_line};
pub(crate) use excerpt::Excerpt;
pub(crate) use pump::pump;
pub(crate) use resolve::{Ask, LimitAsk};
pub(crate) use results::{Artifact, Output, Partial, ResultAsk, Results, gather, results};
pub(crate) use resume::{ResumeAsk, resume};
pub(crate) use start::{Accepted, start};
pub(crate) use status::{Snapshot, status};
pub(crate) use transcript::Transcript;
pub(crate) use view::{View, find, view};
pub(crate) use wait::{Until, Waited, wait};
