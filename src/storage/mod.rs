//! Retention of captures and terminals: which exist, which have expired, and which should be
//! compressed.
//!
//! This layer does not know their content. Changes need the cleanup lock; marks have a lock of
//! their own.

mod captures;

mod cleanup;
mod cleanup_lock;
mod compress;
mod file_names;
mod pin;
mod remove_unchanged;
mod retention;
mod survey;
mod trusted_clock;

pub(crate) use captures::{Captures, StoredCapture, is_name as is_capture_name};
pub(crate) use cleanup::{OutputTotals, Storage, look, sweep};
pub(crate) use cleanup_lock::{CleanupLock, MarkLock, last_cleaned, until_due};
pub(crate) use pin::{PinState, find, mark};
pub(crate) use retention::RetentionPolicy;
pub(crate) use survey::OutputKind;
pub(crate) use trusted_clock::read_trusted_clock;
