//! Captures and terminals as files that grow old: which there are, which have
//! been kept long enough, and which are better kept compressed.
//!
//! What is in them, this layer does not know. Whoever changes any of it holds
//! the one lock of those who clean up; whoever sets a mark, another.

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

pub(crate) use captures::{Captured, Captures, is_name as is_capture_name};
pub(crate) use cleanup::{Stock, Storage, look, sweep};
pub(crate) use cleanup_lock::{Cleaning, Marking, last_cleaned, until_due};
pub(crate) use pin::{Wanted, find, mark};
pub(crate) use retention::Policy;
pub(crate) use survey::Kind;
pub(crate) use trusted_clock::look_at_clock;
