//! What a run did: writes `commands.jsonl` and `transcript.log` as events arrive, and reads them back.

mod codex_rollout;
mod complete_after_crash;
mod ledger_files;
pub(crate) mod output_stream;
pub(crate) mod read;
mod rollout_merge;
mod stream_transcript;
#[cfg(test)]
mod test_rollouts;
mod transcript_text;
mod write;

pub(crate) use complete_after_crash::{RecoveredRun, complete_ledger};
pub(crate) use ledger_files::LedgerFiles;
pub(crate) use output_stream::{Gap, MayBeMissing, Stream, cut_line, has_separate_end, open_joined, tail};
pub(crate) use read::ONLY_COMMAND;
pub(crate) use rollout_merge::RolloutMerge;
pub(crate) use stream_transcript::StreamTranscript;
pub(crate) use write::{EditsAndRefusals, LedgerWriter};
