//! Where a run is, from the events its agent emits.
//!
//! Data in, data out: when to write it down and who sees it is not known here.

mod activity;
mod eta;
mod outlook;
pub(crate) mod plain;
mod reduce;

pub(crate) use activity::inner_command;
pub(crate) use eta::eta;
pub(crate) use outlook::Outlook;
pub(crate) use reduce::Reducer;
