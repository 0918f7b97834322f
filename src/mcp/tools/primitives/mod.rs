//! The primitives: one tool for each verb and place, for callers that name exactly what they want. They use the same
//! use cases as the `delegate_*` tools, and any of them takes a task of any kind.

mod acknowledge;
mod cleanup;
mod cloud;
mod cloud_environment;
mod local;

pub(crate) use cleanup::TOOL as CLEANUP;
pub(crate) use cloud::{
    CANCEL as CLOUD_CANCEL, RESULTS as CLOUD_RESULTS, STATUS as CLOUD_STATUS, SUBMIT as CLOUD_SUBMIT,
    WAIT as CLOUD_WAIT,
};
pub(crate) use cloud_environment::{GITHUB_SETUP as CLOUD_GITHUB_SETUP, LIST as CLOUD_LIST_ENVIRONMENTS};
pub(crate) use local::{
    CANCEL as LOCAL_CANCEL, EXEC as LOCAL_EXEC, RESULTS as LOCAL_RESULTS, RESUME as LOCAL_RESUME,
    RUN as LOCAL_RUN, STATUS as LOCAL_STATUS, WAIT as LOCAL_WAIT,
};

use crate::mcp::tools::field::Field;
use crate::mcp::tools::results::{INCLUDE_OUTPUT, MAX_OUTPUT_BYTES};
use crate::mcp::tools::wait::{INITIAL_DELAY, POLL_INTERVAL, TASK_IDS, TIMEOUT_SEC, UNTIL};
use crate::mcp::tools::{Answer, FORMAT, TASK_ID, Tool};
use crate::reply::{Ack, AckMeta, Category, Envelope, advertised};

/// The fields of a wait.
const WAITING: &[Field] = &[
    TASK_ID,
    TASK_IDS,
    UNTIL,
    TIMEOUT_SEC,
    INCLUDE_OUTPUT,
    MAX_OUTPUT_BYTES,
    POLL_INTERVAL,
    INITIAL_DELAY,
    FORMAT,
];

/// A tool that starts a task and acknowledges it.
const fn starting(
    name: &'static str,
    about: &'static str,
    fields: &'static [Field],
    answer: Answer,
    like: Tool,
) -> Tool {
    Tool {
        category: Some(Category::ExecutionAck),
        output: advertised::<Envelope<AckMeta, Ack>>,
        answer,
        ..primitive(name, about, fields, like)
    }
}

const fn primitive(name: &'static str, about: &'static str, fields: &'static [Field], like: Tool) -> Tool {
    Tool { name, about, fields, internal: true, at_hand: false, ..like }
}
