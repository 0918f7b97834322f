//! Decides how far to trust the wall clock when judging ages.
//!
//! A clock that jumps must not delete results. Each cleanup records the wall clock and the uptime.
//! The time since then is measured by the uptime. The wall clock is trusted if it agrees, or once
//! it has been steady for a while.

use serde::{Deserialize, Serialize};

use crate::host::Home;
use crate::host::{Durability, files};
use crate::host::{clock, processes};
use crate::model::Timestamp;
use crate::storage::CleanupLock;

/// Allowed difference of the clocks: the wall clock is adjusted now and then.
const TOLERANCE: u64 = 5 * 60 * 1000;
/// How long the clock must be steady after a jump.
const STEADY: u64 = 10 * 60 * 1000;

/// Both clocks at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ClockReading {
    boot_id: String,
    /// Time since boot, including suspend.
    up_ms: u64,
    wall: Timestamp,
}

/// The record in the home.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ClockRecord {
    version: u32,
    #[serde(flatten)]
    look: ClockReading,
    /// The `up_ms` since which the wall clock has not jumped.
    steady_since_ms: u64,
    /// The time used to judge ages. Never later than the wall clock.
    believed: Timestamp,
}

/// The trusted time, and the wall clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TrustedTime {
    pub(crate) believed: Timestamp,
    pub(crate) wall: Timestamp,
}

impl TrustedTime {
    pub(crate) fn is_doubted(self) -> bool {
        self.wall.millis_since(self.believed) > TOLERANCE
    }
}

/// Reads the clocks. Records them if the caller holds the cleanup lock. Without a record, `newest`
/// is the latest time known in the home.
pub(crate) fn read_trusted_clock(
    home: &Home,
    newest: Option<Timestamp>,
    alone: Option<&CleanupLock>,
) -> TrustedTime {
    let up_ms = u64::try_from(clock::monotonic().as_millis()).unwrap_or(u64::MAX);
    let look = ClockReading { boot_id: processes::boot_id(), up_ms, wall: clock::now() };
    let last =
        files::read(&home.clock_observations()).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let noted = next(last, look, newest);
    if alone.is_some() {
        let bytes = serde_json::to_vec(&noted).unwrap_or_default();
        // If this fails, the next reading is compared with an older one.
        let _ = files::write(&home.clock_observations(), &bytes, Durability::Whole);
    }
    TrustedTime { believed: noted.believed, wall: noted.look.wall }
}

fn next(last: Option<ClockRecord>, look: ClockReading, newest: Option<Timestamp>) -> ClockRecord {
    let (wall, up) = (look.wall, look.up_ms);
    let (steady_since_ms, at_most) = match last {
        None => (up, newest.unwrap_or(wall)),
        // After a reboot only the wall clock knows how long the machine was off.
        Some(last) if last.look.boot_id != look.boot_id => (up, last.believed.later(up)),
        Some(last) => {
            let passed = up.saturating_sub(last.look.up_ms);
            let expected = last.look.wall.later(passed);
            let jumped = wall.millis_since(expected).max(expected.millis_since(wall)) > TOLERANCE;
            (if jumped { up } else { last.steady_since_ms }, last.believed.later(passed))
        }
    };
    let is_steady = up.saturating_sub(steady_since_ms) >= STEADY;
    let believed = if is_steady { wall } else { wall.min(at_most) };
    ClockRecord { version: 1, look, steady_since_ms, believed }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: u64 = 60 * 1000;
    const DAY: u64 = 24 * 60 * MINUTE;

    fn day(number: u64, minutes: u64) -> Timestamp {
        Timestamp::EARLIEST.later(number * DAY + minutes * MINUTE)
    }

    /// Boot, minutes since boot, day and minute of the wall clock, and the trusted day and minute.
    type Looked = (&'static str, u64, (u64, u64), (u64, u64));

    #[track_caller]
    fn check(newest: Option<Timestamp>, looks: &[Looked]) {
        let mut last = None;
        for (nth, &(boot, up, wall, believed)) in looks.iter().enumerate() {
            let look =
                ClockReading { boot_id: boot.to_owned(), up_ms: up * MINUTE, wall: day(wall.0, wall.1) };
            let noted = next(last, look, newest);
            assert_eq!(noted.believed, day(believed.0, believed.1), "look {nth}");
            last = Some(noted);
        }
    }

    #[test]
    fn a_clock_that_goes_as_it_should_is_believed() {
        check(None, &[("a", 5, (1, 0), (1, 0)), ("a", 65, (1, 60), (1, 60)), ("a", 67, (1, 63), (1, 63))]);
    }

    #[test]
    fn one_process_that_sees_another_time_changes_nothing() {
        check(
            None,
            &[
                ("a", 5, (1, 0), (1, 0)),
                ("a", 65, (32, 60), (1, 60)),
                ("a", 66, (1, 61), (1, 61)),
                ("a", 70, (32, 65), (1, 65)),
                ("a", 71, (32, 66), (1, 66)),
                ("a", 80, (1, 75), (1, 75)),
            ],
        );
    }

    #[test]
    fn a_clock_that_was_set_is_believed_once_it_has_been_steady() {
        check(None, &[("a", 5, (1, 0), (1, 0)), ("a", 6, (9, 0), (1, 1)), ("a", 17, (9, 11), (9, 11))]);
    }

    #[test]
    fn a_clock_that_was_set_back_is_believed_at_once() {
        check(None, &[("a", 5, (9, 0), (9, 0)), ("a", 6, (1, 0), (1, 0)), ("a", 8, (1, 2), (1, 2))]);
    }

    #[test]
    fn the_time_that_a_machine_was_off_counts_once_its_clock_is_steady() {
        check(None, &[("a", 5, (1, 0), (1, 0)), ("b", 2, (8, 0), (1, 2)), ("b", 12, (8, 10), (8, 10))]);
    }

    #[test]
    fn a_first_look_goes_no_further_than_what_the_home_knows_of() {
        let newest = Some(day(1, 0));
        check(newest, &[("a", 5, (32, 0), (1, 0)), ("a", 6, (1, 1), (1, 1)), ("a", 9, (1, 4), (1, 4))]);
        check(newest, &[("a", 5, (32, 0), (1, 0)), ("a", 16, (32, 11), (32, 11))]);
    }
}
