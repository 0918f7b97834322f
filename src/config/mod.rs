//! What the operator allows and prefers.

mod file;
mod keys;

pub(crate) use file::{Config, ConfigError};
pub(crate) use keys::{KEYS, Key};
