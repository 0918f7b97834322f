//! Estimates the remaining time of a run from the durations of earlier ones.

use std::time::Duration;

/// Fewer runs give no estimate.
const LEAST: usize = 3;

/// The remaining time: half of the earlier runs ended within this range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Eta {
    pub(crate) low: Duration,
    pub(crate) high: Duration,
    /// Number of runs that the estimate is based on.
    pub(crate) samples: usize,
}

impl Eta {
    /// In whole seconds, rounded outwards.
    pub(crate) fn in_seconds(&self) -> (u64, u64) {
        (self.low.as_secs(), self.high.as_secs() + u64::from(self.high.subsec_nanos() > 0))
    }
}

/// Uses only runs that took longer than `elapsed`; the others say nothing about this one.
pub(crate) fn eta(took: &[Duration], elapsed: Duration) -> Option<Eta> {
    let mut left: Vec<Duration> =
        took.iter().filter_map(|took| took.checked_sub(elapsed)).filter(|left| !left.is_zero()).collect();
    if left.len() < LEAST {
        return None;
    }
    left.sort_unstable();
    let last = left.len() - 1;
    Some(Eta { low: left[last / 4], high: left[(last * 3).div_ceil(4)], samples: left.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(took: &[u64], elapsed: u64, expected: Option<(u64, u64, usize)>) {
        let took: Vec<Duration> = took.iter().copied().map(Duration::from_secs).collect();
        let found = eta(&took, Duration::from_secs(elapsed));
        let told = found.map(|eta| (eta.low.as_secs(), eta.high.as_secs(), eta.samples));
        assert_eq!(told, expected, "{took:?} after {elapsed}");
    }

    #[test]
    fn half_of_the_runs_ended_within_the_range() {
        check(&[50, 10, 40, 20, 30], 0, Some((20, 40, 5)));
        check(&[10, 20, 30, 40, 50, 60, 70, 80, 90], 5, Some((25, 65, 9)));
        check(&[10, 20, 30], 0, Some((10, 30, 3)));
    }

    #[test]
    fn runs_that_were_over_by_now_say_nothing() {
        check(&[10, 20, 30, 40, 50], 15, Some((5, 35, 4)));
        check(&[10, 20, 30, 40, 50], 30, None);
    }

    #[test]
    fn whole_seconds_hold_all_of_it() {
        let eta = |low: u64, high: u64| {
            let (low, high) = (Duration::from_millis(low), Duration::from_millis(high));
            Eta { low, high, samples: 3 }.in_seconds()
        };
        assert_eq!(eta(400, 400), (0, 1));
        assert_eq!(eta(1800, 1800), (1, 2));
        assert_eq!(eta(2000, 3000), (2, 3));
    }

    #[test]
    fn from_few_runs_nothing_follows() {
        check(&[], 0, None);
        check(&[10, 20], 0, None);
        check(&[10, 10, 10], 10, None);
    }
}
