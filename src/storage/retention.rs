//! Decides what to do with a capture or terminal. Pure: facts and a time in, a decision out.

use std::time::Duration;

use crate::model::Timestamp;

/// Larger files are compressed.
const LARGE: u64 = 1 << 20;
/// Larger files are not: gzip cannot represent their length.
const LARGEST: u64 = u32::MAX as u64;

/// What retention needs to know of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OutputFacts {
    pub(crate) written_at: Timestamp,
    /// Bytes that are not compressed yet.
    pub(crate) plain_bytes: u64,
    pub(crate) pinned: bool,
    /// It is still being written.
    pub(crate) live: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct RetentionPolicy {
    pub(crate) age: Duration,
    pub(crate) compress: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CleanupAction {
    Stay,
    Remove,
    Compress,
}

/// The decision for the trusted time `now`. Live and pinned outputs stay.
pub(crate) fn fate(kept: OutputFacts, policy: RetentionPolicy, now: Timestamp) -> CleanupAction {
    if kept.live || kept.pinned {
        CleanupAction::Stay
    } else if kept.written_at.is_past(policy.age, now) {
        CleanupAction::Remove
    } else if policy.compress && (LARGE + 1..=LARGEST).contains(&kept.plain_bytes) {
        CleanupAction::Compress
    } else {
        CleanupAction::Stay
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: RetentionPolicy = RetentionPolicy { age: Duration::from_secs(100), compress: true };

    fn second(number: u64) -> Timestamp {
        Timestamp::EARLIEST.later(number * 1000)
    }

    /// Written at second `written`; the current time is second 1000.
    fn kept(written: u64, plain_bytes: u64) -> OutputFacts {
        let written_at = second(written);
        OutputFacts { written_at, plain_bytes, pinned: false, live: false }
    }

    #[track_caller]
    fn check(kept: OutputFacts, policy: RetentionPolicy, expected: CleanupAction) {
        assert_eq!(fate(kept, policy, second(1000)), expected, "{kept:?}");
    }

    #[test]
    fn what_is_old_goes_and_what_is_large_is_compressed() {
        for (written, bytes, expected) in [
            (899, 1, CleanupAction::Remove),
            (900, 1, CleanupAction::Remove),
            (901, 1, CleanupAction::Stay),
            (900, LARGE + 1, CleanupAction::Remove),
            (901, LARGE + 1, CleanupAction::Compress),
            (901, LARGE, CleanupAction::Stay),
            (901, LARGEST, CleanupAction::Compress),
            (901, LARGEST + 1, CleanupAction::Stay),
            (901, 0, CleanupAction::Stay),
            (2000, 1, CleanupAction::Stay),
        ] {
            check(kept(written, bytes), POLICY, expected);
        }
    }

    #[test]
    fn what_is_live_or_pinned_stays_as_it_is() {
        for (written, bytes) in [(0, 1), (0, LARGE + 1), (999, LARGE + 1)] {
            check(OutputFacts { live: true, ..kept(written, bytes) }, POLICY, CleanupAction::Stay);
            check(OutputFacts { pinned: true, ..kept(written, bytes) }, POLICY, CleanupAction::Stay);
        }
    }

    #[test]
    fn nothing_is_compressed_where_that_is_not_wanted() {
        let policy = RetentionPolicy { compress: false, ..POLICY };
        check(kept(999, LARGE + 1), policy, CleanupAction::Stay);
        check(kept(0, LARGE + 1), policy, CleanupAction::Remove);
    }
}
