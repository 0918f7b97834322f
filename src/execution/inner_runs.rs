//! The runs inside a run. They belong to it and end with it, each in its own way and with its own record.
//!
//! A task submitted from inside a run leaves a note in the directory of every enclosing run before it gets a
//! row. So a run finds the runs inside it without a database, whoever started them and wherever they run.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::time::Duration;

use crate::context::{Context, TaskError};
use crate::execution::control::{self, Message};
use crate::execution::recover;
use crate::host::{Lock, lock};
use crate::host::{clock, files};
use crate::model::{Outcome, Request, RunId, RunResult};
use crate::reading::enclosing_runs;
use crate::runs::RunDir;

/// How long an outermost run waits for the runs inside it. Each run gives those inside it less time than it
/// has, so that it can still record its own end.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often to check them while waiting.
const LOOK: Duration = Duration::from_millis(5);

/// Leaves the notes of a task that is about to be submitted.
pub(crate) fn note(dir: &RunDir, request: &Request) -> io::Result<()> {
    for run in &request.within {
        let notes = dir.of(run).inner();
        match files::ensure_dir(&notes) {
            // A run of another home, or one that is gone, needs no note.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            made => made?,
        }
        files::create_log(&notes.join(request.run_id.as_str()))?;
    }
    Ok(())
}

/// The runs inside one run, for a process that ends that run.
#[derive(Debug)]
pub(crate) struct InnerRuns<'a> {
    dir: &'a RunDir,
    reason: String,
    patience: Duration,
    asked: HashSet<RunId>,
    /// The runs that had not ended when we started.
    found: HashSet<RunId>,
}

impl<'a> InnerRuns<'a> {
    /// The runs inside `run`, which is itself inside `depth` others.
    pub(crate) fn of(dir: &'a RunDir, run: &RunId, depth: usize) -> Self {
        Self {
            dir,
            reason: enclosing_runs::reason(run),
            patience: patience(depth),
            asked: HashSet::new(),
            found: HashSet::new(),
        }
    }

    fn all(&self) -> Vec<RunId> {
        let notes = fs::read_dir(self.dir.inner()).into_iter().flatten().flatten();
        notes.filter_map(|note| note.file_name().to_str()?.parse().ok()).collect()
    }

    /// Asks all of them to end. Returns whether any has not ended yet.
    pub(crate) fn ask(&mut self) -> bool {
        let mut open = false;
        for run in self.all() {
            if self.advance(&run) {
                self.found.insert(run);
                open = true;
            }
        }
        open
    }

    /// Asks them to end and waits for the last of them, or until the time is up. Returns how many had to be
    /// ended; `None` if there never was one.
    pub(crate) fn end(&mut self) -> Option<u32> {
        let give_up = clock::monotonic() + self.patience;
        while self.ask() && clock::monotonic() < give_up {
            std::thread::sleep(LOOK);
        }
        let ended = u32::try_from(self.found.len()).unwrap_or(u32::MAX);
        (!self.all().is_empty()).then_some(ended)
    }

    /// Moves one of them towards its end. Returns whether it has not ended.
    fn advance(&mut self, run: &RunId) -> bool {
        let dir = self.dir.of(run);
        match next(look(&dir)) {
            Next::Nothing => false,
            Next::Ask => {
                if self.asked.insert(run.clone()) {
                    // If the file fails, the message may still work, and the reverse.
                    if !dir.cancel().exists() {
                        let _ = dir.write_cancel(Some(&self.reason));
                    }
                    control::send(&dir, &Message::Cancel { reason: Some(self.reason.clone()) });
                }
                true
            }
            Next::Take => {
                let sealed = self.seal(&dir);
                self.found.extend(sealed.is_ok_and(|sealed| sealed).then(|| run.clone()));
                // If another process was faster, the next check sees it.
                look(&dir).held
            }
        }
    }

    /// Ends a run that has no supervisor. If it had not started, it never will. If it had, it is lost, and
    /// recovery records that.
    fn seal(&self, dir: &RunDir) -> io::Result<bool> {
        let Some(_lock) = Lock::take_existing(&dir.lock())? else { return Ok(false) };
        let Seen { sealed, started, .. } = look(dir);
        let Ok(Some(request)) = dir.read_request() else { return Ok(false) };
        if sealed || started {
            return Ok(false);
        }
        let outcome = Outcome::Cancelled { reason: Some(self.reason.clone()) };
        // Its claims do not count: none of them reached the agent.
        dir.seal(&RunResult::bare(request.task_id, request.run_id, 0, outcome, clock::now()))?;
        Ok(true)
    }

    /// Finishes the rows of sealed runs whose supervisor could not update the registry.
    pub(crate) fn finish(&self, context: &mut Context) -> Result<(), TaskError> {
        for run in self.all() {
            let dir = self.dir.of(&run);
            // A run whose lock is held finishes its own row.
            let Ok(Some(result)) = dir.read_result() else { continue };
            if lock::is_held(&dir.lock()).unwrap_or(true) {
                continue;
            }
            let row = context.registry.task(&result.task_id)?;
            if row.is_some_and(|row| !row.state.is_final()) {
                recover::finish(context, &result)?;
            }
        }
        Ok(())
    }
}

fn patience(depth: usize) -> Duration {
    PATIENCE / u32::try_from(depth).unwrap_or(u32::MAX).saturating_add(1)
}

/// What can be seen of a run from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seen {
    /// The task was accepted, as far as its directory shows.
    there: bool,
    held: bool,
    sealed: bool,
    started: bool,
}

fn look(dir: &RunDir) -> Seen {
    Seen {
        there: dir.request().exists(),
        held: lock::is_held(&dir.lock()).unwrap_or(true),
        sealed: dir.result().exists(),
        started: dir.started().exists(),
    }
}

/// What to do about a run.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    Nothing,
    /// Its lock is held: ask the holder to end it.
    Ask,
    /// Its lock is free: whoever takes it decides.
    Take,
}

fn next(seen: Seen) -> Next {
    match seen {
        Seen { there: false, .. } | Seen { held: false, sealed: true, .. } => Next::Nothing,
        // Only a run's own supervisor knows whether a record that exists is genuine.
        Seen { held: true, .. } => Next::Ask,
        Seen { held: false, sealed: false, .. } => Next::Take,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::testing::request;
    use crate::model::State;

    fn run(number: u8) -> RunId {
        RunId::from_parts("2026-11-15_093000123", [number; 6])
    }

    /// The directories of a run and of one inside it, whose notes are there.
    fn outer_and_inner(home: &tempfile::TempDir) -> (RunDir, RunDir) {
        let [outer, inner] = [1, 2].map(|n| RunDir::at(home.path().join(run(n).as_str())));
        outer.create().unwrap();
        inner.create().unwrap();
        // One of another home has no directory here.
        let request = Request { run_id: run(2), within: vec![run(9), run(1)], ..request() };
        note(&inner, &request).unwrap();
        inner.write_request(&request).unwrap();
        (outer, inner)
    }

    fn inside(outer: &RunDir, patience: Duration) -> InnerRuns<'_> {
        InnerRuns { patience, ..InnerRuns::of(outer, &run(1), 0) }
    }

    #[test]
    fn who_is_at_a_run_is_asked_and_whom_nobody_is_at_is_taken() {
        let seen = |held, sealed| Seen { there: true, held, sealed, started: false };
        assert_eq!(next(seen(true, false)), Next::Ask);
        assert_eq!(next(seen(true, true)), Next::Ask, "what is there may have been planted");
        assert_eq!(next(seen(false, true)), Next::Nothing);
        assert_eq!(next(seen(false, false)), Next::Take);
        assert_eq!(next(Seen { there: false, ..seen(true, false) }), Next::Nothing);
    }

    #[test]
    fn each_run_grants_those_inside_it_less_than_it_is_granted() {
        let all: Vec<_> = (0..5).map(patience).collect();
        assert!(all.windows(2).all(|pair| pair[0] > pair[1] + Duration::from_secs(1)), "{all:?}");
        assert!(all.iter().all(|one| *one > Duration::from_secs(5)), "more than an agent's grace: {all:?}");
    }

    #[test]
    fn one_that_waits_is_cancelled_and_its_record_names_the_run_around_it() {
        let home = tempfile::tempdir().unwrap();
        let (outer, inner) = outer_and_inner(&home);
        drop(Lock::take(&inner.lock()).unwrap());
        assert_eq!(inside(&outer, PATIENCE).end(), Some(1));
        let result = inner.read_result().unwrap().unwrap();
        assert_eq!(result.state(), State::Cancelled);
        assert!(result.summary.contains(run(1).as_str()), "{}", result.summary);
        assert_eq!(inside(&outer, PATIENCE).end(), Some(0), "it has ended");
    }

    #[test]
    fn one_that_had_started_and_is_gone_is_left_to_recovery() {
        let home = tempfile::tempdir().unwrap();
        let (outer, inner) = outer_and_inner(&home);
        drop(Lock::take(&inner.lock()).unwrap());
        fs::write(inner.started(), b"{}").unwrap();
        assert_eq!(inside(&outer, PATIENCE).end(), Some(0));
        assert!(!inner.result().exists());
    }

    #[test]
    fn one_that_goes_on_is_asked_and_waited_for_within_bounds() {
        let home = tempfile::tempdir().unwrap();
        let (outer, inner) = outer_and_inner(&home);
        let held = Lock::take(&inner.lock()).unwrap();
        assert_eq!(inside(&outer, Duration::ZERO).end(), Some(1));
        assert!(inner.read_cancel().unwrap().unwrap().contains(run(1).as_str()));
        assert!(!inner.result().exists());
        let waiting = std::thread::spawn(move || inside(&outer, PATIENCE).end());
        drop(held);
        assert!(waiting.join().unwrap().is_some());
    }

    #[test]
    fn without_notes_there_is_nothing_to_end() {
        let home = tempfile::tempdir().unwrap();
        let outer = RunDir::at(home.path().join(run(1).as_str()));
        outer.create().unwrap();
        assert_eq!(inside(&outer, PATIENCE).end(), None);
    }
}
