//! Marks delivered results as read: after the answer is sent, and before the next call starts.

use std::sync::{Arc, Mutex, PoisonError};

use crate::context::Context;
use crate::host::Env;
use crate::mcp::protocol::server_state::Spare;
use crate::model::TaskId;
use crate::tasks;

#[derive(Clone)]
pub(crate) struct Read(Arc<Inner>);

struct Inner {
    env: Env,
    spare: Spare,
    /// Delivered but still marked as unread. Never locked for long.
    pending: Mutex<Vec<TaskId>>,
    /// Locked while marks are removed, so that the next holder finds them gone.
    settling: Mutex<()>,
}

impl Read {
    pub(crate) fn new(env: Env, spare: Spare) -> Self {
        Self(Arc::new(Inner { env, spare, pending: Mutex::default(), settling: Mutex::default() }))
    }

    /// Records that the results of these tasks were delivered.
    pub(crate) fn add(&self, tasks: Vec<TaskId>) {
        self.0.pending.lock().unwrap_or_else(PoisonError::into_inner).extend(tasks);
        // Runs on a thread of its own, because answers are written on this one.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let read = self.clone();
            drop(runtime.spawn_blocking(move || read.settle()));
        }
    }

    /// Removes the pending marks.
    pub(crate) fn settle(&self) {
        let Inner { env, spare, pending, settling } = &*self.0;
        let _settling = settling.lock().unwrap_or_else(PoisonError::into_inner);
        let tasks = std::mem::take(&mut *pending.lock().unwrap_or_else(PoisonError::into_inner));
        if tasks.is_empty() {
            return;
        }
        // A mark that remains only causes another notice.
        if let Ok(mut context) = Context::open_to_look_with(env.clone(), spare.take()) {
            let marked = context.unless_busy(|context| tasks::mark_read(context, &tasks));
            if matches!(marked, Ok(None)) {
                // The next call tries again.
                pending.lock().unwrap_or_else(PoisonError::into_inner).extend(tasks);
            }
            spare.put(context.registry);
        }
    }

    #[cfg(test)]
    pub(crate) fn pending(&self) -> Vec<TaskId> {
        self.0.pending.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
