//! What a run did: writes `commands.jsonl` and `transcript.log` as events arrive, and reads them back.

pub(crate) mod output_stream;
mod pages;
pub(crate) mod read;
mod replay_events;
mod rollout;
mod rollout_merge;
mod stream_transcript;
#[cfg(test)]
mod testing;
mod transcript_text;
mod write;

pub(crate) use output_stream::{Gap, MayBeMissing, Stream, cut_line, is_apart, so_far, tail};
pub(crate) use pages::RunPages;
pub(crate) use read::ONLY_COMMAND;
pub(crate) use replay_events::{Lost, write_on};
pub(crate) use rollout_merge::RolloutMerge;
pub(crate) use stream_transcript::StreamTranscript;
pub(crate) use write::{LedgerWriter, Told};
