//! From what somebody asked for to a durable row in the registry.

mod caller;
mod input_limits;
pub(crate) mod jail;
mod overrides;
mod places;
mod protected_paths;
mod resolve;
mod resume;
mod start;

pub(crate) use caller::{Caller, Ceiling, Client};
pub(crate) use resolve::{Ask, LimitAsk, codex_program};
pub(crate) use resume::{ResumeAsk, resume};
pub(crate) use start::{Accepted, start};
