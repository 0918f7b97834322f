//! What is kept, by kind: how much there is, and what a cleanup did about it.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::Timestamp;
use crate::reply::report_text::count;
use crate::storage;
use crate::tasks::Cleaned;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Storage {
    /// Of the runs.
    bytes_before: u64,
    bytes_after: u64,
    /// The runs of this project; at a shell, of all projects.
    pub(crate) runs: OutputTotals,
    /// Long texts of replies, kept as files.
    pub(crate) captures: OutputTotals,
    /// Recorded terminals.
    pub(crate) terminals: OutputTotals,
}

/// What there is of one kind after the cleanup.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OutputTotals {
    pub(crate) count: u64,
    file_count: u64,
    pub(crate) total_bytes: u64,
    /// When the oldest was last written; of runs, when it ended. Absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) oldest_file: Option<Timestamp>,
    /// These stay whatever their age.
    pub(crate) pinned: u64,
    /// These are still being written to.
    pub(crate) live: u64,
    /// They go when they are this old.
    pub(crate) retention_hours: f64,
    /// Those found to be older, or too many, and those of them that went.
    expired: u64,
    removed: u64,
    /// Those found to be large, and those of them that are gzip files now.
    compressible: u64,
    compressed: u64,
    /// By removing and by compressing.
    bytes_saved: u64,
}

impl Storage {
    /// With the ages at which runs and other outputs go.
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

    /// What was saved, over all kinds.
    pub(super) fn saved(&self) -> u64 {
        self.kinds().iter().map(|(_, stock)| stock.bytes_saved).sum()
    }

    /// What became, or would become, of captures and terminals; empty when
    /// nothing did.
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
            let oldest = stock.oldest_file.map(|at| format!(", the oldest of {at}")).unwrap_or_default();
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
