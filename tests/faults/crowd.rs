//! Many submitters at once on one registry.

use std::collections::BTreeSet;
use std::fs;
use std::thread;

use crate::phase::Phase;
use crate::support::agent::playing;

const PROCESSES: usize = 8;
const EACH: usize = 50;
const LIMIT: u32 = 4;

#[test]
fn eight_submitters_never_exceed_the_limit_and_lose_nothing() {
    let phase = Phase::new();
    phase.limit(LIMIT);
    let task = playing(&phase.env, "short", &["say one", "pause 5", "say two", "exit 0"]);
    thread::scope(|scope| {
        for _ in 0..PROCESSES {
            scope.spawn(|| (0..EACH).for_each(|_| drop(phase.submit(&task))));
        }
    });
    phase.settle();
    let most = most_at_once(&fs::read_to_string(phase.env.side().join("spans")).unwrap());
    let completed = phase.rows().iter().filter(|row| row.state == "completed").count();
    println!("crowd: processes={PROCESSES}, submissions={}, most at once={most}", PROCESSES * EACH);
    assert_eq!(completed, PROCESSES * EACH);
    assert!(most <= LIMIT as usize, "{most} agents ran at once");
    assert!(most > 1, "the agents never ran side by side: nothing was measured");
    phase.close("crowd");
}

/// The same request under the same key, from everybody at once.
#[test]
fn a_key_gives_one_task_however_many_ask() {
    let phase = Phase::new();
    let task = playing(&phase.env, "once", &["say one", "exit 0"]);
    thread::scope(|scope| {
        for _ in 0..PROCESSES {
            scope.spawn(|| {
                for number in 0..10 {
                    let key = format!("key-{number}");
                    let submitted = phase.env.submit_with(&["--key", &key], &task);
                    phase.journal.acknowledged(&submitted.task_id, &submitted.run_id, Some(&key));
                }
            });
        }
    });
    let ids: BTreeSet<_> = phase.rows().into_iter().map(|row| row.id).collect();
    assert_eq!(ids.len(), 10);
    phase.close("keys");
}

/// The largest number of spans that overlap, from lines of `+ TIME` and `- TIME`.
fn most_at_once(spans: &str) -> usize {
    let mut edges: Vec<(u128, i64)> = spans
        .lines()
        .map(|line| {
            let mut words = line.split(' ');
            let step = if words.next() == Some("+") { 1 } else { -1 };
            (words.next().unwrap().parse().unwrap(), step)
        })
        .collect();
    // Where one ends at the very moment that another begins, they do not overlap.
    edges.sort_unstable();
    let mut running = 0;
    edges.into_iter().map(|(_, step)| (running += step, running).1).max().unwrap_or(0).max(0) as usize
}

#[test]
fn overlap_is_counted_at_its_widest() {
    assert_eq!(most_at_once("+ 1 a\n+ 2 b\n- 3 a\n+ 3 c\n- 5 b\n- 6 c\n"), 2);
    assert_eq!(most_at_once("+ 1 a\n+ 2 b\n+ 2 c\n- 3 a\n- 3 b\n- 3 c\n"), 3);
}
