//! Storage by kind: how much there is, and what a cleanup did.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::Timestamp;
use crate::reply::report_text::count;
use crate::storage;
use crate::tasks::Cleaned;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Storage {
    /// Bytes of the runs, before and after the cleanup.
    bytes_before: u64,
    bytes_after: u64,
    /// The runs of this project; on the command line, of all projects.
    pub(crate) runs: OutputTotals,
    /// Long texts of replies that were saved as files.
    pub(crate) captures: OutputTotals,
    /// Recorded terminals.
    pub(crate) terminals: OutputTotals,
}

/// What is left of one kind after the cleanup.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OutputTotals {
    pub(crate) count: u64,
    file_count: u64,
    pub(crate) total_bytes: u64,
    /// When the oldest was last written; for runs, when it ended. Absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) oldest_file: Option<Timestamp>,
    /// Pinned ones are kept at any age.
    pub(crate) pinned: u64,
    /// Still being written.
    pub(crate) live: u64,
    /// The age at which they are removed.
    pub(crate) retention_hours: f64,
    /// How many have expired or are too many, and how many of them were removed.
    expired: u64,
    removed: u64,
    /// How many are large, and how many of them were compressed with gzip.
    compressible: u64,
    compressed: u64,
    /// Bytes freed by removing and compressing.
    bytes_saved: u64,
}

impl Storage {
    /// With the ages at which runs and other outputs expire.
    pub(super) fn of(cleaned: &Cleaned, runs: Duration, outputs: Duration) -> Self {
        Self {
            bytes_before: cleaned.bytes_before,
            bytes_after: cleaned.bytes_after,
            runs: OutputTotals::of(cleaned.runs, runs),
            captures: OutputTotals::of(cleaned.outputs.captures, outputs),
            terminals: OutputTotals::of(cleaned.outputs.terminals, outputs),
        }
    }

    /// Each kind with its name.
    pub(crate) fn kinds(&self) -> [(&'static str, &OutputTotals); 3] {
        [("runs", &self.runs), ("captures", &self.captures), ("terminals", &self.terminals)]
    }

    /// Bytes freed, over all kinds.
    pub(super) fn saved(&self) -> u64 {
        self.kinds().iter().map(|(_, stock)| stock.bytes_saved).sum()
    }

    /// What was done, or would be done, with captures and terminals; empty if nothing was.
    pub(super) fn outputs(&self, dry_run: bool) -> Vec<String> {
        let mut told = Vec::new();
        for (stock, what) in [(&self.captures, "capture"), (&self.terminals, "terminal")] {
            let (removed, compressed) = match dry_run {
                true => (stock.expired, stock.compressible),
                false => (stock.removed, stock.compressed),
            };
            let verbs = if dry_run { ["would remove", "would compress"] } else { ["removed", "compressed"] };
            for (verb, number) in verbs.iter().zip([removed, compressed]).filter(|(_, number)| *number > 0) {
                told.push(format!("{verb} {}", count(usize::try_from(number).unwrap_or(usize::MAX), what)));
            }
        }
        told
    }

    /// One line for each kind.
    pub(crate) fn text(&self) -> String {
        let line = |(name, stock): (&str, &OutputTotals)| {
            let oldest = stock.oldest_file.map(|at| format!(", oldest {at}")).unwrap_or_default();
            let OutputTotals { count, file_count, total_bytes, pinned, live, retention_hours, .. } = stock;
            format!(
                "- {name}: {count} in {file_count} files, {total_bytes} bytes{oldest}; {pinned} pinned, {live} live; \
                 kept for {retention_hours} hours\n"
            )
        };
        format!("storage:\n{}", self.kinds().map(line).concat())
    }
}

impl OutputTotals {
    fn of(stock: storage::OutputTotals, age: Duration) -> Self {
        let storage::OutputTotals { count, files, bytes, oldest, pinned, live, .. } = stock;
        let storage::OutputTotals { expired, removed, compressible, compressed, bytes_saved, .. } = stock;
        Self {
            count,
            file_count: files,
            total_bytes: bytes,
            oldest_file: oldest,
            pinned,
            live,
            retention_hours: age.as_secs_f64() / 3600.0,
            expired,
            removed,
            compressible,
            compressed,
            bytes_saved,
        }
    }
}
