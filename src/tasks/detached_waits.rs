//! Waits that outlive the call that started them: stored, polled, and given up.

use std::time::Duration;

use crate::context::{Context, TaskError};
use crate::host::{clock, ids};
use crate::model::Timestamp;
use crate::registry::Wait;

/// How long a wait can be polled.
pub(crate) const WAITS_KEPT_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// Stores a wait for `request`, which is JSON. When this returns, it is durable.
pub(crate) fn store_wait(context: &mut Context, request: String) -> Result<Wait, TaskError> {
    let now = clock::now();
    let kept = i64::try_from(WAITS_KEPT_FOR.as_millis()).unwrap_or(i64::MAX);
    let since = Timestamp::from_millis(now.as_millis().saturating_sub(kept));
    let wait = Wait { id: format!("wait_{}", ids::secret()?), request, created_at: now, cancelled: false };
    context.registry.keep_wait(&wait, since)?;
    Ok(wait)
}

/// The stored wait `id`, if it can still be polled.
pub(crate) fn stored_wait(context: &Context, id: &str) -> Result<Option<Wait>, TaskError> {
    let now = clock::now();
    let kept = |wait: &Wait| u128::from(now.millis_since(wait.created_at)) <= WAITS_KEPT_FOR.as_millis();
    Ok(context.registry.wait(id)?.filter(kept))
}

/// Stores the answer to `wait`, and returns the answer that counts: the first.
pub(crate) fn answer_wait(
    context: &mut Context,
    wait: &Wait,
    ended: &str,
) -> Result<Option<Wait>, TaskError> {
    context.registry.end_wait(wait, ended)?;
    Ok(context.registry.wait(&wait.id)?)
}

/// Gives up the wait; the tasks go on. Returns `false` if there is no such wait.
pub(crate) fn drop_wait(context: &mut Context, id: &str) -> Result<bool, TaskError> {
    Ok(context.registry.cancel_wait(id)?)
}
