//! The operator's configuration: limits and preferences.

mod config_error;
mod file;
mod keys;
mod profile;
mod thinking_levels;

pub(crate) use file::{Config, ConfigError, TextLimits};
pub(crate) use keys::{KEYS, Key};
pub(crate) use profile::ToolProfile;
