//! What becomes of a capture or a terminal. Pure: what is known of it and a
//! moment in, its fate out.

use std::time::Duration;

use crate::model::Timestamp;

/// A longer file is compressed.
const LARGE: u64 = 1 << 20;
/// One that is longer still is not: a gzip file could not tell its length.
const LARGEST: u64 = u32::MAX as u64;

/// A capture or a terminal as retention sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) written_at: Timestamp,
    /// Bytes that are not compressed yet.
    pub(crate) plain_bytes: u64,
    pub(crate) pinned: bool,
    /// Somebody still writes to it.
    pub(crate) live: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Policy {
    pub(crate) age: Duration,
    pub(crate) compress: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Stay,
    Remove,
    Compress,
}

/// What is to be done with it at the time that is believed. Nothing, if it is live or pinned.
pub(crate) fn fate(kept: Kept, policy: Policy, now: Timestamp) -> Fate {
    if kept.live || kept.pinned {
        Fate::Stay
    } else if kept.written_at.is_past(policy.age, now) {
        Fate::Remove
    } else if policy.compress && (LARGE + 1..=LARGEST).contains(&kept.plain_bytes) {
        Fate::Compress
    } else {
        Fate::Stay
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: Policy = Policy { age: Duration::from_secs(100), compress: true };

    fn second(number: u64) -> Timestamp {
        Timestamp::EARLIEST.later(number * 1000)
    }

    /// At second 1000.
    fn kept(written: u64, plain_bytes: u64) -> Kept {
        let written_at = second(written);
        Kept { written_at, plain_bytes, pinned: false, live: false }
    }

    #[track_caller]
    fn check(kept: Kept, policy: Policy, expected: Fate) {
        assert_eq!(fate(kept, policy, second(1000)), expected, "{kept:?}");
    }

    #[test]
    fn what_is_old_goes_and_what_is_large_is_compressed() {
        for (written, bytes, expected) in [
            (899, 1, Fate::Remove),
            (900, 1, Fate::Remove),
            (901, 1, Fate::Stay),
            (900, LARGE + 1, Fate::Remove),
            (901, LARGE + 1, Fate::Compress),
            (901, LARGE, Fate::Stay),
            (901, LARGEST, Fate::Compress),
            (901, LARGEST + 1, Fate::Stay),
            // Compressed already.
            (901, 0, Fate::Stay),
            // A clock that was set back.
            (2000, 1, Fate::Stay),
        ] {
            check(kept(written, bytes), POLICY, expected);
        }
    }

    #[test]
    fn what_is_live_or_pinned_stays_as_it_is() {
        for (written, bytes) in [(0, 1), (0, LARGE + 1), (999, LARGE + 1)] {
            check(Kept { live: true, ..kept(written, bytes) }, POLICY, Fate::Stay);
            check(Kept { pinned: true, ..kept(written, bytes) }, POLICY, Fate::Stay);
        }
    }

    #[test]
    fn nothing_is_compressed_where_that_is_not_wanted() {
        let policy = Policy { compress: false, ..POLICY };
        check(kept(999, LARGE + 1), policy, Fate::Stay);
        check(kept(0, LARGE + 1), policy, Fate::Remove);
    }
}
