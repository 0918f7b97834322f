//! Computes the progress of a run from its events. Pure: does not know when it is saved or who sees
//! it.

mod activity;
pub(crate) mod eta;
mod eta_tracker;
mod reduce;
mod start_estimate;

pub(crate) use activity::inner_command;
pub(crate) use eta::eta;
pub(crate) use eta_tracker::EtaTracker;
pub(crate) use reduce::Reducer;
pub(crate) use start_estimate::start_estimates;
