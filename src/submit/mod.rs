//! Turns a request into a durable row in the registry.

mod autopilot;
mod caller;
mod check_apply;
mod hosted;
mod input_limits;
mod isolation;
pub(crate) mod jail;
mod overrides;
mod program;
mod protected_paths;
mod resolve;
mod resume;
mod skill_options;
mod start;
mod start_request;
mod write_bounds;

pub(crate) use autopilot::AutopilotRequest;
pub(crate) use caller::{Caller, Ceiling, Client};
pub(crate) use check_apply::check_apply;
pub(crate) use isolation::Isolation;
pub(crate) use program::codex_program;
pub(crate) use resume::{ResumeRequest, inherited_sandbox, resume};
pub(crate) use start::{Accepted, start};
pub(crate) use start_request::{ParentTask, RequestedLimits, StartRequest};
pub(crate) use write_bounds::directory;
