//! Decides which runs are old enough to remove. Pure: runs and a time in, names out.

use std::time::Duration;

use crate::model::Timestamp;

/// What retention needs to know of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RetainedRun {
    /// The sequence number of its task.
    pub(crate) seq: i64,
    pub(crate) created_at: Timestamp,
    /// `None` while it is not finished.
    pub(crate) finished_at: Option<Timestamp>,
    pub(crate) pinned: bool,
    /// Its worktree is there, with work that was neither applied nor discarded.
    pub(crate) holds_work: bool,
    /// An MCP client started it and nobody has read its result.
    pub(crate) awaited: bool,
    pub(crate) files: u64,
    pub(crate) bytes: u64,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct RetentionPolicy {
    pub(crate) age: Duration,
    pub(crate) bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Expired {
    /// The runs to remove.
    pub(crate) runs: Vec<i64>,
    /// Bytes above the policy's size that are kept because a client has not read the results.
    pub(crate) awaited_excess: u64,
}

/// The runs to remove at a trusted time: those older than the policy's age, then the oldest until
/// the rest fits. Never an unfinished or pinned run, or one whose worktree is there, and for its size none that a client awaits.
pub(crate) fn expired(runs: &[RetainedRun], policy: RetentionPolicy, now: Timestamp) -> Expired {
    let mut total: u64 = runs.iter().map(|run| run.bytes).sum();
    let mut free: Vec<_> =
        ends(runs, now).into_iter().filter(|(_, run)| !run.pinned && !run.holds_work).collect();
    let is_old = |ended: Timestamp| ended.is_past(policy.age, now);
    free.sort_by_key(|(ended, _)| (!is_old(*ended), *ended));
    let (mut removed, mut awaited) = (Vec::new(), 0);
    for (ended, run) in free {
        if is_old(ended) || (total > policy.bytes && !run.awaited) {
            total -= run.bytes;
            removed.push(run.seq);
        } else if run.awaited {
            awaited += run.bytes;
        }
    }
    Expired { runs: removed, awaited_excess: total.saturating_sub(policy.bytes).min(awaited) }
}

/// The finished runs and the time that their age counts from. The recorded time may come from a
/// wrong clock, so a run counts as no older than the submission of any earlier task.
fn ends(runs: &[RetainedRun], now: Timestamp) -> Vec<(Timestamp, &RetainedRun)> {
    let mut in_order: Vec<&RetainedRun> = runs.iter().collect();
    in_order.sort_by_key(|run| run.seq);
    let mut earliest = Timestamp::from_millis(0);
    let end = |run| {
        let RetainedRun { created_at, finished_at, .. }: &RetainedRun = run;
        if *created_at <= now {
            earliest = earliest.max(*created_at);
        }
        Some((finished_at.as_ref().copied()?.max(earliest), run))
    };
    in_order.into_iter().filter_map(end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: RetentionPolicy = RetentionPolicy { age: Duration::from_secs(100), bytes: 1000 };

    fn second(number: u64) -> Timestamp {
        Timestamp::EARLIEST.later(number * 1000)
    }

    fn run(seq: i64, finished: Option<u64>, bytes: u64) -> RetainedRun {
        RetainedRun {
            seq,
            created_at: second(0),
            finished_at: finished.map(second),
            pinned: false,
            holds_work: false,
            awaited: false,
            files: 1,
            bytes,
        }
    }

    #[track_caller]
    fn check(runs: &[RetainedRun], removed: &[usize]) {
        let expected: Vec<_> = removed.iter().map(|&i| runs[i].seq).collect();
        assert_eq!(expired(runs, POLICY, second(200)).runs, expected);
    }

    #[test]
    fn old_runs_go_and_young_ones_stay() {
        check(&[run(1, Some(100), 1), run(2, Some(101), 1)], &[0]);
    }

    #[test]
    fn the_oldest_go_first_until_the_rest_fits() {
        check(&[run(1, Some(150), 600), run(2, Some(140), 600), run(3, Some(160), 300)], &[1]);
    }

    #[test]
    fn what_is_live_or_pinned_stays_whatever_its_size() {
        check(&[run(1, None, 9000), RetainedRun { pinned: true, ..run(2, Some(1), 9000) }], &[]);
        check(&[RetainedRun { holds_work: true, ..run(1, Some(1), 9000) }], &[]);
    }

    #[test]
    fn no_result_that_a_client_awaits_goes_for_its_size() {
        let awaited = |finished, bytes| RetainedRun { awaited: true, ..run(1, Some(finished), bytes) };
        let excess = |runs: &[RetainedRun]| expired(runs, POLICY, second(200)).awaited_excess;
        for (runs, removed, kept) in [
            ([awaited(150, 600), run(2, Some(160), 600)], vec![1], 0),
            ([awaited(150, 1600), run(2, Some(160), 600)], vec![1], 600),
            ([awaited(150, 600), run(2, None, 9000)], vec![], 600),
            ([run(1, None, 9000), run(2, None, 600)], vec![], 0),
            // Its full time is over.
            ([awaited(100, 9000), run(2, Some(160), 600)], vec![0], 0),
        ] {
            check(&runs, &removed);
            assert_eq!(excess(&runs), kept, "{runs:?}");
        }
    }

    #[test]
    fn a_run_that_ended_by_a_clock_that_was_wrong_is_as_old_as_what_came_before_it() {
        let epoch = |seq| {
            let zero = Timestamp::from_millis(0);
            RetainedRun { created_at: zero, finished_at: Some(zero), ..run(seq, None, 1) }
        };
        let created = |at, one: RetainedRun| RetainedRun { created_at: second(at), ..one };
        check(&[epoch(1)], &[]);
        check(&[created(150, run(1, Some(151), 1)), created(20, run(2, Some(21), 1))], &[]);
        check(&[created(90, run(1, Some(95), 1)), epoch(2)], &[1, 0]);
        // A run from the future says nothing about later ones.
        check(&[created(900, run(1, Some(901), 1)), created(20, run(2, Some(21), 1))], &[1]);
    }
}
