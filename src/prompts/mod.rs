//! What an agent is told.

mod render;

pub(crate) use render::render;
