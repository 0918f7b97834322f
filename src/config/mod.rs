//! What the operator allows and prefers.

mod file;
mod keys;
mod profile;
mod wrong;

pub(crate) use file::{Config, ConfigError, Cuts};
pub(crate) use keys::{KEYS, Key};
pub(crate) use profile::Profile;
