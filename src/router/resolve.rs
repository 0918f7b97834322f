//! Finds which of the known tasks a request means.

use crate::model::{TaskId, Timestamp};
use crate::router::intent::{Only, Selector, Which};

/// How long a finished task counts as recent.
const RECENT_MS: u64 = 10 * 60 * 1000;
/// The most choices that are offered.
const MOST_CHOICES: usize = 3;

/// A task that a request could mean.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) id: TaskId,
    pub(crate) is_open: bool,
    pub(crate) has_failed: bool,
    pub(crate) is_hosted: bool,
    pub(crate) updated_at: Timestamp,
    /// Order of submission.
    pub(crate) seq: i64,
}

/// What is to be done with the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Look,
    Wait,
    End,
    Read,
    Continue,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Resolution {
    Tasks {
        ids: Vec<TaskId>,
        confidence: f64,
        others: Vec<TaskId>,
    },
    /// These are the likeliest.
    Ambiguous(Vec<TaskId>),
    Nothing,
}

/// Which tasks are meant. `offered` are those of the last list of choices. A name is looked up elsewhere.
pub(crate) fn resolve(
    selector: &Selector,
    purpose: Purpose,
    tasks: &[Candidate],
    offered: &[TaskId],
    now: Timestamp,
) -> Resolution {
    let fits = |task: &&Candidate| {
        let narrowed = match selector.only {
            None => true,
            Some(Only::Running) => task.is_open,
            Some(Only::Failed) => task.has_failed,
            Some(Only::Finished) => !task.is_open,
            Some(Only::Cloud) => task.is_hosted,
            Some(Only::Local) => !task.is_hosted,
        };
        narrowed && (purpose != Purpose::End || task.is_open || selector.which == Which::Latest)
    };
    let mut tasks: Vec<&Candidate> = tasks.iter().filter(fits).collect();
    tasks.sort_by_key(|task| (!task.is_open, std::cmp::Reverse((task.updated_at, task.seq))));
    let is_recent = |task: &&&Candidate| task.is_open || now.millis_since(task.updated_at) <= RECENT_MS;
    let one = |task: &Candidate, confidence| Resolution::Tasks {
        ids: vec![task.id.clone()],
        confidence,
        others: Vec::new(),
    };
    match &selector.which {
        Which::Named(_) => Resolution::Nothing,
        Which::Nth(number) => {
            let at = number.saturating_sub(1);
            let counted = match offered {
                [] => tasks.get(at).map(|task| task.id.clone()),
                _ => offered.get(at).cloned(),
            };
            counted.map_or(Resolution::Nothing, |id| Resolution::Tasks {
                ids: vec![id],
                confidence: 0.95,
                others: Vec::new(),
            })
        }
        Which::Latest => {
            let latest = tasks.iter().max_by_key(|task| task.seq);
            latest.map_or(Resolution::Nothing, |task| one(task, 0.95))
        }
        Which::All => {
            let all = tasks.iter().filter(|task| match purpose {
                Purpose::Wait | Purpose::End => task.is_open,
                Purpose::Look | Purpose::Read | Purpose::Continue => is_recent(task),
            });
            let ids: Vec<TaskId> = all.map(|task| task.id.clone()).collect();
            if ids.is_empty() {
                Resolution::Nothing
            } else {
                Resolution::Tasks { ids, confidence: 0.95, others: Vec::new() }
            }
        }
        Which::Mine if purpose == Purpose::Continue => {
            let latest = tasks.iter().max_by_key(|task| task.seq);
            latest.map_or(Resolution::Nothing, |task| one(task, 0.9))
        }
        Which::Mine => {
            let recent: Vec<&&Candidate> = tasks.iter().filter(is_recent).collect();
            mine(&recent, purpose)
        }
    }
}

/// The obvious one: the only recent task, the only running one, or for its result the only finished one.
fn mine(recent: &[&&Candidate], purpose: Purpose) -> Resolution {
    let ids = |tasks: &[&&Candidate]| tasks.iter().take(MOST_CHOICES).map(|task| task.id.clone()).collect();
    let only = |is_open: bool| {
        let mut such = recent.iter().filter(|task| task.is_open == is_open);
        such.next().filter(|_| such.next().is_none())
    };
    let preferred = match purpose {
        Purpose::Read => only(false).or_else(|| only(true)),
        Purpose::Look | Purpose::Wait | Purpose::End | Purpose::Continue => only(true),
    };
    match (recent, preferred) {
        ([], _) => Resolution::Nothing,
        ([task], _) => Resolution::Tasks { ids: vec![task.id.clone()], confidence: 0.95, others: Vec::new() },
        (_, Some(task)) => {
            let others: Vec<&&Candidate> = recent.iter().filter(|one| one.id != task.id).copied().collect();
            Resolution::Tasks { ids: vec![task.id.clone()], confidence: 0.9, others: ids(&others) }
        }
        (_, None) => Resolution::Ambiguous(ids(recent)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 3_600_000;

    /// A task that changed `ago` seconds ago. `seq` is its number in its id.
    fn task(seq: u8, is_open: bool, ago: u64) -> Candidate {
        Candidate {
            id: id(seq),
            is_open,
            has_failed: seq == 9,
            is_hosted: seq == 8,
            updated_at: Timestamp::from_millis((NOW - ago * 1000).try_into().unwrap()),
            seq: seq.into(),
        }
    }

    fn id(seq: u8) -> TaskId {
        TaskId::from_random([seq, 0, 0, 0, 0, 0, 0, 0])
    }

    #[track_caller]
    fn check(
        which: Which,
        purpose: Purpose,
        tasks: &[Candidate],
        offered: &[u8],
        found: Result<&[u8], &[u8]>,
    ) {
        let selector = Selector { which, only: None };
        let offered: Vec<TaskId> = offered.iter().map(|seq| id(*seq)).collect();
        let now = Timestamp::from_millis(NOW.try_into().unwrap());
        let ids = |all: &[u8]| all.iter().map(|seq| id(*seq)).collect::<Vec<_>>();
        match (resolve(&selector, purpose, tasks, &offered, now), found) {
            (Resolution::Tasks { ids: got, .. }, Ok(wanted)) => assert_eq!(got, ids(wanted)),
            (Resolution::Ambiguous(got), Err(wanted)) => assert_eq!(got, ids(wanted)),
            (Resolution::Nothing, Err([])) => {}
            (got, wanted) => panic!("{got:?} instead of {wanted:?}"),
        }
    }

    #[test]
    fn my_task_is_the_only_recent_or_the_only_running_one() {
        use Purpose::{End, Look, Read, Wait};
        use Which::Mine;
        check(Mine, Look, &[], &[], Err(&[]));
        check(Mine, Look, &[task(1, false, 601)], &[], Err(&[]));
        check(Mine, Look, &[task(1, false, 599)], &[], Ok(&[1]));
        check(Mine, Look, &[task(1, true, 3000), task(2, false, 700)], &[], Ok(&[1]));
        let mixed = [task(1, true, 50), task(2, false, 5), task(3, false, 700)];
        check(Mine, Look, &mixed, &[], Ok(&[1]));
        check(Mine, Wait, &mixed, &[], Ok(&[1]));
        check(Mine, Read, &mixed, &[], Ok(&[2]));
        let several = [task(1, true, 5), task(2, true, 9), task(3, false, 1), task(4, false, 2)];
        check(Mine, Look, &several, &[], Err(&[1, 2, 3]));
        check(Mine, End, &several, &[], Err(&[1, 2]));
        check(Mine, End, &[task(3, false, 1)], &[], Err(&[]));
    }

    #[test]
    fn numbers_mean_what_was_offered_and_all_means_what_is_open() {
        use Purpose::{Continue, End, Look};
        let tasks = [task(1, true, 5), task(2, true, 9), task(3, false, 1)];
        check(Which::Nth(2), Look, &tasks, &[3, 1], Ok(&[1]));
        check(Which::Nth(2), Look, &tasks, &[], Ok(&[2]));
        // What was not in the list is not meant.
        check(Which::Nth(2), Look, &tasks, &[3], Err(&[]));
        check(Which::All, End, &tasks, &[], Ok(&[1, 2]));
        check(Which::Latest, Look, &tasks, &[], Ok(&[3]));
        check(Which::Mine, Continue, &tasks, &[], Ok(&[3]));
    }

    #[test]
    fn an_adjective_narrows_the_choice() {
        let tasks = [task(1, true, 5), task(8, false, 9), task(9, false, 1)];
        for (only, wanted) in [(Only::Failed, 9), (Only::Cloud, 8), (Only::Running, 1)] {
            let selector = Selector { which: Which::Mine, only: Some(only) };
            let now = Timestamp::from_millis(NOW.try_into().unwrap());
            let found = resolve(&selector, Purpose::Look, &tasks, &[], now);
            assert_eq!(
                found,
                Resolution::Tasks { ids: vec![id(wanted)], confidence: 0.95, others: Vec::new() }
            );
        }
    }
}
