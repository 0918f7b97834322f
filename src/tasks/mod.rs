//! The use cases, one file per verb. Every surface calls these and no others.

mod apply;
mod cancel;
pub(crate) mod cleanup;
mod detached_waits;
mod doctor;
pub(crate) mod environments;
pub(crate) mod github_setup;
mod mark_read;
mod pin;
mod queue_watcher;
mod rebuild;
mod results;
pub(crate) mod skills;
mod status;
mod supervise;
mod view_task;
mod wait;

pub(crate) use apply::{AppliedChanges, Discarded, apply, diff, discard, undo_apply};
pub(crate) use cancel::{Cancelled, cancel, cancel_unless_submitted};
pub(crate) use cleanup::{Cleaned, CleanupRequest, cleanup, describe_awaited};

pub(crate) use doctor::{Check, Verdict as CheckVerdict, doctor, is_installed};

pub(crate) use queue_watcher::{has_registry, watch_queue};

pub(crate) use detached_waits::{WAITS_KEPT_FOR, answer_wait, drop_wait, store_wait, stored_wait};
pub(crate) use mark_read::mark_read;
pub(crate) use pin::{Pinnable, Pinned, pin};

pub(crate) use rebuild::{Mended, Rebuilt, rebuild};

pub(crate) use results::results;
pub(crate) use status::{status, status_of};
pub(crate) use view_task::view_task;

pub(crate) use supervise::supervise;
pub(crate) use wait::{NextObservation, Until, Waited, is_detached, wait};
