//! Compares file times with the time of a snapshot.
//!
//! The kernel dates files by a clock that advances in ticks, while we read a precise one. A file
//! written just after a snapshot can therefore seem older than it.

use crate::git::tree_walk::Time;

/// More than one tick of any kernel's clock.
const TICK_NS: i64 = 20_000_000;
const SECOND_NS: i64 = 1_000_000_000;

/// The time before which a file was surely not touched after `look`.
pub(super) fn surely_before(look: Time) -> Time {
    let nanos = i64::from(look.1) - TICK_NS;
    let seconds = look.0.saturating_add(nanos.div_euclid(SECOND_NS));
    (seconds, u32::try_from(nanos.rem_euclid(SECOND_NS)).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_seems_a_tick_older_than_the_look_may_have_come_after_it() {
        let look = (100, 500_000_000);
        for behind in [0, 1_000_000, 4_000_000, 10_000_000] {
            assert!((100, 500_000_000 - behind) > surely_before(look), "{behind} ns behind");
        }
        assert!((100, 480_000_000) <= surely_before(look));
        assert!((99, 999_999_999) <= surely_before(look));
    }

    #[test]
    fn a_tick_may_be_in_another_second() {
        assert_eq!(surely_before((100, 5_000_000)), (99, 985_000_000));
        assert_eq!(surely_before((100, 20_000_000)), (100, 0));
        assert_eq!(surely_before((i64::MIN, 0)).0, i64::MIN);
    }
}
