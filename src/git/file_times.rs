//! Before or after: when files were touched, against when a look began.
//!
//! The kernel dates files by a clock that stands still between two ticks, while
//! we read one that does not: what is written right after a look seems older.

use crate::git::tree_walk::Time;

/// More than a tick of any kernel's clock.
const TICK_NS: i64 = 20_000_000;
const SECOND_NS: i64 = 1_000_000_000;

/// What is dated later may have been touched after `look`; all else was not.
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
