//! What the operator allows and prefers.

mod config_error;
mod file;
mod keys;
mod profile;

pub(crate) use file::{Config, ConfigError, Cuts};
pub(crate) use keys::{KEYS, Key};
pub(crate) use profile::Profile;
