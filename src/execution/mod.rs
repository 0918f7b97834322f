//! From a claimed task to its sealed result: the queue, the supervisor of one run, and recovery.

pub(crate) mod control;
mod evidence_gaps;
pub(crate) mod inner_runs;
mod last_output_line;
mod observe;
mod overlap;
pub(crate) mod pending_dirs;
mod probes;
pub(crate) mod pump;
mod record;
pub(crate) mod recover;
mod run_durations;
pub(crate) mod schema_check;
mod summary;
mod supervise;

pub(crate) use control::Message;
pub(crate) use pending_dirs::Note;
pub(crate) use pump::pump;
pub(crate) use schema_check::{VERB as CHECK_SCHEMA, answer_question};
pub(crate) use supervise::{log_problem, supervise};
