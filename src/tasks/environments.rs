//! Lists, adds and removes environments of Codex Cloud.

use crate::context::{Context, TaskError};
use crate::environments::{self, Environment, Environments, EnvironmentsError, NewEnvironment};
use crate::host::clock;
use crate::tasks::github_setup;

/// The known environments, each with its source.
pub(crate) fn list(context: &Context) -> Result<Environments, TaskError> {
    Ok(Environments::read(&context.env, &context.home)?)
}

/// Lists an environment in the user's file.
pub(crate) fn add(context: &Context, new: &NewEnvironment) -> Result<Environment, TaskError> {
    github_setup::check(context, new.repository.as_deref(), new.tech_stack.as_deref())?;
    let path = environments::locate(&context.env).ok_or(EnvironmentsError::NoPlace)?;
    Ok(environments::add(&path, new, clock::now())?)
}

/// Takes an environment out of the user's file. Returns what was said of it.
pub(crate) fn remove(context: &Context, id: &str) -> Result<Environment, TaskError> {
    let path = environments::locate(&context.env).ok_or(EnvironmentsError::NoPlace)?;
    Ok(environments::remove(&path, id)?)
}
