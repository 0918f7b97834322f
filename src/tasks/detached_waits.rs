//! Waits that nobody holds a call open for: kept, looked at, given up.

use std::time::Duration;

use crate::context::{Context, TaskError};
use crate::host::{clock, ids};
use crate::model::Timestamp;
use crate::registry::Wait;

/// How long one can come back for a wait.
pub(crate) const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// Keeps a wait for `request`, which is JSON. When this returns, it is durable.
pub(crate) fn park(context: &mut Context, request: String) -> Result<Wait, TaskError> {
    let now = clock::now();
    let kept = i64::try_from(KEPT.as_millis()).unwrap_or(i64::MAX);
    let since = Timestamp::from_millis(now.as_millis().saturating_sub(kept));
    let wait = Wait { id: format!("wait_{}", ids::secret()?), request, created_at: now, cancelled: false };
    context.registry.keep_wait(&wait, since)?;
    Ok(wait)
}

/// The wait called `id`, while one can come back for it.
pub(crate) fn parked(context: &Context, id: &str) -> Result<Option<Wait>, TaskError> {
    let now = clock::now();
    let kept = |wait: &Wait| u128::from(now.millis_since(wait.created_at)) <= KEPT.as_millis();
    Ok(context.registry.wait(id)?.filter(kept))
}

/// Keeps the answer to `wait`, and gives back the one that counts: the first.
pub(crate) fn settle(context: &mut Context, wait: &Wait, ended: &str) -> Result<Option<Wait>, TaskError> {
    context.registry.end_wait(wait, ended)?;
    Ok(context.registry.wait(&wait.id)?)
}

/// Gives up the wait; the tasks go on. `false` when there is none.
pub(crate) fn unpark(context: &mut Context, id: &str) -> Result<bool, TaskError> {
    Ok(context.registry.cancel_wait(id)?)
}
