//! The use cases, one file per verb. Every surface calls these and no others.

mod cancel;
pub(crate) mod cleanup;
mod detached_waits;
mod doctor;
mod look;
mod pin;
mod queue_watcher;
mod rebuild;
mod results;
mod status;
mod supervise;
mod wait;

pub(crate) use cancel::{Cancelled, cancel};
pub(crate) use cleanup::{Cleaned, CleanupAsk, cleanup};

pub(crate) use doctor::{Check, Verdict as CheckVerdict, doctor, is_installed};

pub(crate) use queue_watcher::{has_registry, keep};

pub(crate) use detached_waits::{KEPT, park, parked, settle, unpark};
pub(crate) use pin::{Pinnable, Pinned, pin};

pub(crate) use rebuild::{Mended, Rebuilt, rebuild};

pub(crate) use look::look;
pub(crate) use results::results;
pub(crate) use status::{status, status_of};

pub(crate) use supervise::supervise;
pub(crate) use wait::{Look, Until, Waited, wait};
