//! Estimates when queued tasks start, from how long those before them take.

use std::time::Duration;

/// The time until each of `queued` starts, in their order. `working` holds the remaining time of every task in a slot,
/// `queued` the usual duration of every task that waits for one.
///
/// After the first duration that is unknown, nothing is known of the tasks behind it.
pub(crate) fn start_estimates(
    slots: usize,
    working: &[Option<Duration>],
    queued: &[Option<Duration>],
) -> Vec<Option<Duration>> {
    let known: Option<Vec<Duration>> = working.iter().copied().collect();
    let Some(mut busy) = known.filter(|_| slots > 0) else { return vec![None; queued.len()] };
    busy.resize(busy.len().max(slots), Duration::ZERO);
    busy.sort_unstable();
    // More may be working than the limit, if it was lowered meanwhile: the first of them to end free no slot.
    busy.drain(..busy.len() - slots);
    let mut last_known = true;
    let mut estimate = |took: &Option<Duration>| {
        let start = busy.iter().copied().min().filter(|_| last_known);
        match (start, took) {
            (Some(start), Some(took)) => {
                if let Some(slot) = busy.iter_mut().find(|slot| **slot == start) {
                    *slot = start + *took;
                }
            }
            _ => last_known = false,
        }
        start
    };
    queued.iter().map(&mut estimate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(slots: usize, working: &[u64], queued: &[u64], expected: &[u64]) {
        // No duration is as long as this one.
        let seconds = |of: &[u64]| -> Vec<Option<Duration>> {
            of.iter().map(|&s| (s != UNKNOWN).then(|| Duration::from_secs(s))).collect()
        };
        let found = start_estimates(slots, &seconds(working), &seconds(queued));
        assert_eq!(found, seconds(expected), "{slots} slots, {working:?}, {queued:?}");
    }

    const UNKNOWN: u64 = u64::MAX;

    #[test]
    fn a_task_starts_in_the_slot_that_is_free_first() {
        check(1, &[10], &[5, 5, 5], &[10, 15, 20]);
        check(2, &[10, 30], &[100, 5, 5], &[10, 30, 35]);
        check(2, &[10], &[5], &[0]);
        check(3, &[], &[5, 5, 5, 5], &[0, 0, 0, 5]);
    }

    #[test]
    fn what_is_not_known_makes_everything_behind_it_unknown() {
        check(1, &[UNKNOWN], &[5, 5], &[UNKNOWN, UNKNOWN]);
        check(1, &[10], &[UNKNOWN, 5], &[10, UNKNOWN]);
        check(0, &[], &[5], &[UNKNOWN]);
    }

    #[test]
    fn with_more_tasks_than_slots_the_first_to_end_free_none() {
        check(1, &[10, 20, 30], &[5, 5], &[30, 35]);
    }
}
