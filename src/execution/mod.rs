//! From a claimed task to its sealed result: the queue, the supervisor of one run, and recovery.

mod ask_to_cancel;
pub(crate) mod attached;
mod child;
mod choose_skills;
mod cloud_changes;
pub(crate) mod control;
mod evidence_gaps;
mod hosted;
pub(crate) mod inner_runs;
mod last_output_line;
mod observe;
mod overlap;
pub(crate) mod pending_dirs;
mod probes;
pub(crate) mod pump;
pub(crate) mod reattach;
mod record;
pub(crate) mod recover;
mod run_durations;
pub(crate) mod schema_check;
mod summary;
mod supervise;
mod work;

pub(crate) use ask_to_cancel::ask_to_cancel;
pub(crate) use control::Message;
pub(crate) use pending_dirs::Note;
pub(crate) use pump::pump;
pub(crate) use schema_check::{VERB as CHECK_SCHEMA, answer_question};
pub(crate) use supervise::{log_problem, supervise};
pub(crate) use work::Coordinate;
