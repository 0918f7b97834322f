//! The prompt for an agent.

mod fill;
mod render;

pub(crate) use render::{Prompt, render};
