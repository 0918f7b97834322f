//! Where a run is, from the events its agent emits.
//!
//! Data in, data out: when to write it down and who sees it is not known here.

mod activity;
pub(crate) mod eta;
mod eta_tracker;
mod reduce;

pub(crate) use activity::inner_command;
pub(crate) use eta::eta;
pub(crate) use eta_tracker::Outlook;
pub(crate) use reduce::Reducer;
