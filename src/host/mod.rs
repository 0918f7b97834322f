//! The machine: the only modules that touch clock, randomness, environment,
//! processes, locks, and notifications. One thing each.

pub(crate) mod arrivals;
pub(crate) mod beneath;
pub(crate) mod clock;
pub(crate) mod close_in_child;
pub(crate) mod confine;
pub(crate) mod disk;
pub(crate) mod env;
pub(crate) mod files;
pub(crate) mod ground;
pub(crate) mod held;
pub(crate) mod ids;
pub(crate) mod joined;
#[cfg(target_os = "linux")]
mod lent;
pub(crate) mod line_index;
pub(crate) mod listen;
pub(crate) mod litter;
pub(crate) mod lock;
pub(crate) mod memory;
pub(crate) mod paths;
pub(crate) mod proc;
pub(crate) mod pty;
pub(crate) mod rlimits;
pub(crate) mod signal;
pub(crate) mod spawn;
pub(crate) mod streams;
pub(crate) mod talk;
pub(crate) mod terminal;
pub(crate) mod token;
pub(crate) mod watch;
