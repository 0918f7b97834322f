//! Those who clean up, killed and in each other's way.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;

use serde_json::Value;

use crate::crash::{crash, with_each};
use crate::phase::Phase;
use crate::support::env::{PATIENCE, Ran, finish};
use crate::support::kept::{LARGE, capture, content, id, name, names, packed, terminal, versions};
use crate::support::strace::Point;

/// A home with something of every kind, and no task.
struct Shelf {
    phase: Phase,
    stays: Vec<(PathBuf, Vec<u8>)>,
    goes: Vec<PathBuf>,
}

impl Shelf {
    fn new() -> Shelf {
        let phase = Phase::new();
        phase.env.expect(0, &["status"]);
        let home = phase.env.home();
        let stays = vec![
            (capture(home, 1, LARGE, 2), content(1, LARGE)),
            (capture(home, 2, 500, 2), content(2, 500)),
            (capture(home, 3, 2 * LARGE, 23), content(3, 2 * LARGE)),
            (terminal(home, 1, LARGE, 2).join("output.log"), content(1, LARGE)),
            (terminal(home, 2, 500, 2).join("output.log"), content(2, 500)),
        ];
        let goes = vec![capture(home, 4, 500, 30), capture(home, 5, LARGE, 30), terminal(home, 3, LARGE, 30)];
        Shelf { phase, stays, goes }
    }

    /// Nothing is lost: a whole version of everything that stays is there.
    /// Returns how many are there twice.
    fn check(&self, when: &str) -> usize {
        let mut twice = 0;
        for (path, content) in &self.stays {
            let (plain, packed) = versions(path);
            twice += usize::from(plain.is_some() && packed.is_some());
            let found: Vec<_> = plain.into_iter().chain(packed).collect();
            assert!(!found.is_empty(), "{when}: {} is lost", path.display());
            assert!(found.iter().all(|one| one == content), "{when}: {} is not whole", path.display());
        }
        twice
    }

    /// Everything is as it has to be in the end, and there is nothing else.
    fn check_end(&self, when: &str) {
        assert_eq!(self.check(when), 0, "{when}");
        assert!(self.goes.iter().all(|path| !path.exists()), "{when}");
        let captures = names(&self.phase.env.home().join("captures"));
        assert_eq!(captures, [format!("{}.gz", name(1)), name(2), format!("{}.gz", name(3))], "{when}");
        let terminals = names(&self.phase.env.home().join("terminals"));
        let of = |number: usize, output: &str| {
            let files = ["lock", "meta.json", output, "times.idx"];
            let files = files.map(|file| format!("{}/{file}", id(number)));
            [vec![id(number)], files.to_vec()].concat()
        };
        assert_eq!(terminals, [of(1, "output.log.gz"), of(2, "output.log")].concat(), "{when}");
    }
}

fn is_a_step(home: &Path, point: &Point) -> bool {
    ["captures", "terminals", "cleanup.lock"]
        .iter()
        .any(|name| point.text.contains(home.join(name).to_str().unwrap()))
}

/// All that it does with what is kept, and with the lock. Of the many pieces
/// in which a file is read, a few.
fn steps() -> Vec<Point> {
    let shelf = Shelf::new();
    let mut points = shelf.phase.points(&["cleanup"]);
    shelf.check_end("without a crash");
    let in_pieces = |point: &Point| point.call == "read" && !point.nth.is_multiple_of(8);
    points.retain(|point| is_a_step(shelf.phase.env.home(), point) && !in_pieces(point));
    points
}

#[test]
fn a_cleanup_killed_at_any_step_loses_nothing_and_the_next_one_finishes_it() {
    let points = steps();
    let kinds: BTreeSet<&str> = points.iter().map(|point| point.call.as_str()).collect();
    let (reached, twice) = (Mutex::new(0), Mutex::new(0));
    with_each(&points, 2, |point| {
        let shelf = Shelf::new();
        let crash = crash(&shelf.phase, point, |tracer| shelf.phase.env.command_under(tracer, &["cleanup"]));
        let when = format!("after a crash at {point}");
        *twice.lock().unwrap() += shelf.check(&when);
        if crash.at.is_some_and(|at| is_a_step(shelf.phase.env.home(), &at)) {
            *reached.lock().unwrap() += 1;
        }
        shelf.phase.env.expect(0, &["cleanup"]);
        shelf.check_end(&when);
    });
    let (reached, twice) = (reached.into_inner().unwrap(), twice.into_inner().unwrap());
    println!(
        "cleanup: points={}, kinds of calls={}, killed at a step={reached}, found twice={twice}",
        points.len(),
        kinds.len()
    );
    for call in ["rename", "unlink", "fsync", "write", "utimensat"] {
        assert!(kinds.contains(call), "{call}: {kinds:?}");
    }
    assert!(points.len() > 60 && reached * 10 > points.len() * 9, "{reached} of {}", points.len());
}

fn number(data: &Value, pointer: &str) -> u64 {
    data.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("{pointer}: {data:#}"))
}

/// Two at once over many files, several times.
#[test]
fn two_cleanups_at_once_do_everything_once() {
    const OLD: usize = 300;
    const BIG: usize = 12;
    const SMALL: usize = 200;
    let (mut waited, mut looked) = (0, 0);
    for round in 0..4 {
        let phase = Phase::new();
        phase.env.expect(0, &["status"]);
        let home = phase.env.home();
        let old: Vec<PathBuf> = (0..OLD).map(|number| capture(home, number, 700, 25)).collect();
        let big: Vec<PathBuf> = (OLD..OLD + BIG).map(|number| capture(home, number, LARGE, 2)).collect();
        let small: Vec<PathBuf> =
            (OLD + BIG..OLD + BIG + SMALL).map(|number| capture(home, number, 700, 2)).collect();
        let terminals: Vec<PathBuf> = (0..20).map(|number| terminal(home, number, 700, 25)).collect();
        let ran: Vec<Ran> = thread::scope(|scope| {
            let clean = || finish(phase.env.command(&["cleanup", "--json"]), PATIENCE);
            let both: Vec<_> = (0..2).map(|_| scope.spawn(clean)).collect();
            both.into_iter().map(|one| one.join().unwrap()).collect()
        });
        let documents: Vec<Value> =
            ran.iter().map(|ran| serde_json::from_str(&ran.stdout).unwrap()).collect();
        let sum = |pointer: &str| documents.iter().map(|one| number(one, pointer)).sum::<u64>();
        assert_eq!(sum("/data/storage/captures/removed"), OLD as u64, "round {round}");
        assert_eq!(sum("/data/storage/captures/compressed"), BIG as u64, "round {round}");
        assert_eq!(sum("/data/storage/terminals/removed"), 20, "round {round}");
        for (ran, document) in ran.iter().zip(&documents) {
            let busy = document["data"]["another_cleanup"] == true;
            assert_eq!(ran.code, Some(if busy { 4 } else { 0 }), "{}", ran.stdout);
            looked += usize::from(busy);
            waited += usize::from(!busy && number(document, "/data/storage/captures/expired") == 0);
        }
        assert!(old.iter().chain(&terminals).all(|path| !path.exists()), "round {round}");
        for (number, path) in (OLD..).zip(&big) {
            assert_eq!(versions(path), (None, Some(content(number, LARGE))), "round {round}");
        }
        for (number, path) in (OLD + BIG..).zip(&small) {
            assert_eq!(versions(path), (Some(content(number, 700)), None), "round {round}");
        }
        assert_eq!(names(&home.join("captures")).len(), BIG + SMALL, "round {round}");
        assert!(big.iter().all(|path| packed(path).exists()));
    }
    println!("two cleanups at once: rounds=4, one waited for the other={waited}, one only looked={looked}");
}
