//! Which runs have been kept long enough. Pure: runs and a moment in, names out.

use std::time::Duration;

use crate::model::Timestamp;

/// A run as retention sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kept {
    /// The number of its task.
    pub(crate) seq: i64,
    /// `None` while it is not finished.
    pub(crate) finished_at: Option<Timestamp>,
    pub(crate) pinned: bool,
    pub(crate) files: u64,
    pub(crate) bytes: u64,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Policy {
    pub(crate) age: Duration,
    pub(crate) bytes: u64,
}

/// The runs to remove: those older than the policy's age, then the oldest ones
/// until the rest fits. Never one that is unfinished or pinned.
pub(crate) fn expired(runs: &[Kept], policy: Policy, now: Timestamp) -> Vec<i64> {
    let mut total: u64 = runs.iter().map(|run| run.bytes).sum();
    let mut free: Vec<_> =
        runs.iter().filter(|run| !run.pinned).filter_map(|run| Some((run.finished_at?, run))).collect();
    free.sort_by_key(|(finished, _)| *finished);
    let mut removed = Vec::new();
    for (finished, run) in free {
        let too_old = u128::from(now.millis_since(finished)) >= policy.age.as_millis();
        if too_old || total > policy.bytes {
            total -= run.bytes;
            removed.push(run.seq);
        }
    }
    removed
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: Policy = Policy { age: Duration::from_secs(100), bytes: 1000 };

    fn run(seq: i64, finished: Option<i64>, bytes: u64, pinned: bool) -> Kept {
        let finished_at = finished.map(|second| Timestamp::from_millis(second * 1000));
        Kept { seq, finished_at, pinned, files: 1, bytes }
    }

    fn check(runs: &[Kept], removed: &[usize]) {
        let expected: Vec<_> = removed.iter().map(|&i| runs[i].seq).collect();
        assert_eq!(expired(runs, POLICY, Timestamp::from_millis(200_000)), expected);
    }

    #[test]
    fn old_runs_go_and_young_ones_stay() {
        check(&[run(1, Some(100), 1, false), run(2, Some(101), 1, false)], &[0]);
    }

    #[test]
    fn the_oldest_go_first_until_the_rest_fits() {
        check(
            &[run(1, Some(150), 600, false), run(2, Some(140), 600, false), run(3, Some(160), 300, false)],
            &[1],
        );
    }

    #[test]
    fn what_is_live_or_pinned_stays_whatever_its_size() {
        check(&[run(1, None, 9000, false), run(2, Some(1), 9000, true)], &[]);
    }
}
