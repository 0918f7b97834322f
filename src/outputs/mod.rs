//! Captures and terminals as files that grow old: which there are, which have
//! been kept long enough, and which are better kept compressed.
//!
//! What is in them, this layer does not know. Whoever changes any of it holds
//! the one lock of those who clean up; whoever sets a mark, another.

mod cleaning;
mod gzip;
mod looks;
mod names;
mod pin;
mod retention;
mod set_aside;
mod survey;
mod sweep;

pub(crate) use cleaning::{Cleaning, Marking, last_cleaned, until_due};
pub(crate) use looks::look_at_clock;
pub(crate) use pin::{Wanted, find, mark};
pub(crate) use retention::Policy;
pub(crate) use survey::Kind;
pub(crate) use sweep::{Stock, Storage, look, sweep};
