//! The prompt for an agent.

mod render;

pub(crate) use render::render;
