//! Finds out whether this process is inside a run, inside which, and whether those runs are still alive.
//!
//! There are two sources: the variable that agents pass down in their environment, and the supervisors among
//! our ancestors, which a cleared environment cannot hide.

use std::path::PathBuf;

use crate::context::Context;
use crate::host::{Env, env};
use crate::host::{lock, paths, processes, spawn};
use crate::model::RunId;
use crate::runs::RunDir;

/// The runs that this process is inside of.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct EnclosingRuns {
    /// Outermost first. Empty for a client or a person.
    pub(crate) runs: Vec<RunId>,
    /// The greater depth of the two sources.
    pub(crate) depth: usize,
}

pub(crate) fn detect(env: &Env) -> EnclosingRuns {
    // Only the nearest supervisor above us is sure to belong to a run we are in: another run's supervisor may
    // have started it for the queue.
    let nearest = supervisors_above().into_iter().next();
    weigh(marked(env), nearest.map(|(run, dir)| chain(run, &dir)).unwrap_or_default())
}

/// The runs around `run`, then `run` itself.
fn chain(run: RunId, dir: &RunDir) -> Vec<RunId> {
    let request = dir.read_request().ok().flatten();
    request.map(|request| request.within).unwrap_or_default().into_iter().chain([run]).collect()
}

/// A variable can be forged, an ancestor cannot: the variable is trusted only if it names all runs found
/// above us.
fn weigh(marked: Vec<RunId>, above: Vec<RunId>) -> EnclosingRuns {
    let depth = marked.len().max(above.len());
    let honest = above.iter().all(|run| marked.contains(run));
    EnclosingRuns { runs: if honest { marked } else { above }, depth }
}

/// The run whose supervisor has to start queued tasks for us: the outermost that is alive. Anything we start
/// ourselves would be a child of our run and end with it.
pub(crate) fn queue_starter(context: &Context) -> Option<RunId> {
    let above = supervisors_above().into_iter().rev().map(|(run, _)| run);
    let mut runs = above.chain(marked(&context.env));
    runs.find(|run| lock::is_held(&context.dir(run).lock()).is_ok_and(|held| held))
}

/// The outermost of `within` that has ended, judged from `dir`, the directory of a run inside them. Runs of
/// another home are not checked.
pub(crate) fn ended<'a>(dir: &RunDir, within: &'a [RunId]) -> Option<&'a RunId> {
    let over = |dir: RunDir| dir.path().exists() && lock::is_held(&dir.lock()).is_ok_and(|held| !held);
    within.iter().find(|run| over(dir.of(run)))
}

/// Why a run started from `outer` is cancelled.
pub(crate) fn reason(outer: &RunId) -> String {
    format!("run {outer}, which started it, has ended")
}

/// The environment variables that mark the processes of `run`, whose directory is `dir`.
pub(crate) fn run_markers(dir: &RunDir, within: &[RunId], run: &RunId) -> [(&'static str, String); 2] {
    let home = paths::identify(dir.home()).map(|home| home.to_string()).unwrap_or_default();
    let is_here = |one: &RunId| one == run || dir.of(one).path().exists();
    let of = |one: &RunId| if is_here(one) { home.clone() } else { "-".to_owned() };
    let runs = || within.iter().chain([run]);
    let names: Vec<&str> = runs().map(RunId::as_str).collect();
    let homes: Vec<String> = runs().map(of).collect();
    [(env::RUNS, names.join(":")), (env::RUN_HOMES, homes.join(":"))]
}

fn marked(env: &Env) -> Vec<RunId> {
    env.text(env::RUNS).unwrap_or_default().split(':').filter_map(|run| run.parse().ok()).collect()
}

/// The runs of the live supervisors above us, nearest first.
fn supervisors_above() -> Vec<(RunId, RunDir)> {
    let supervisors = processes::ancestors(spawn::PROCESS_NAME).into_iter();
    supervisors.filter_map(|process| supervised(&processes::arguments(process))).collect()
}

/// The run that a process with these arguments supervises. It counts only if the run's lock is held.
pub(crate) fn supervised(arguments: &[String]) -> Option<(RunId, RunDir)> {
    if arguments.get(1).is_none_or(|verb| verb != "supervise") {
        return None;
    }
    let dir = arguments.iter().rev().find(|argument| !argument.is_empty()).map(PathBuf::from)?;
    let run = dir.file_name()?.to_str()?.parse().ok()?;
    let dir = RunDir::at(dir);
    lock::is_held(&dir.lock()).is_ok_and(|held| held).then_some((run, dir))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::testing::request;
    use crate::host::Lock;
    use crate::model::Request;

    fn run(number: u8) -> RunId {
        RunId::from_parts("2026-11-15_093000123", [number; 6])
    }

    fn runs(numbers: &[u8]) -> Vec<RunId> {
        numbers.iter().map(|&number| RunId::from_parts("2026-11-15_093000123", [number; 6])).collect()
    }

    #[test]
    fn the_mark_names_the_runs_outermost_first() {
        let [outer, inner] = &runs(&[1, 2])[..] else { unreachable!("two") };
        let env = Env::of(&[(env::RUNS, &format!("{outer}:{inner}:junk"))]);
        assert_eq!(detect(&env), EnclosingRuns { runs: runs(&[1, 2]), depth: 2 });
        assert_eq!(detect(&Env::of(&[])), EnclosingRuns::default());
    }

    #[track_caller]
    fn check(marked: &[u8], above: &[u8], expected: &[u8], depth: usize) {
        assert_eq!(weigh(runs(marked), runs(above)), EnclosingRuns { runs: runs(expected), depth });
    }

    #[test]
    fn a_mark_that_hides_a_process_above_is_not_believed() {
        check(&[1, 2], &[1], &[1, 2], 2);
        check(&[], &[1], &[1], 1);
        check(&[9], &[1], &[1], 1);
        // The deeper of the two sources still sets the depth.
        check(&[8, 9], &[1], &[1], 2);
    }

    #[test]
    fn a_supervisor_is_one_that_holds_its_lock() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(run(1).as_str());
        std::fs::create_dir(&path).unwrap();
        let arguments: Vec<String> =
            ["delegator", "supervise", path.to_str().unwrap(), ""].map(str::to_owned).to_vec();
        assert!(supervised(&arguments).is_none());
        let _lock = Lock::take(&RunDir::at(path).lock()).unwrap();
        assert!(supervised(&arguments).is_some_and(|(found, _)| found == run(1)));
        assert!(supervised(&["delegator".into(), "status".into()]).is_none());
    }

    #[test]
    fn a_run_is_inside_those_of_its_request_and_of_no_other_supervisor() {
        let dir = tempfile::tempdir().unwrap();
        let inner = RunDir::at(dir.path().join(run(2).as_str()));
        inner.create().unwrap();
        assert_eq!(chain(run(2), &inner), [run(2)]);
        inner.write_request(&Request { within: vec![run(1)], ..request() }).unwrap();
        assert_eq!(chain(run(2), &inner), [run(1), run(2)]);
    }

    #[test]
    fn a_run_has_ended_when_its_lock_is_free() {
        let dir = tempfile::tempdir().unwrap();
        let [outer, middle, inner] = [1, 2, 3].map(|n| RunDir::at(dir.path().join(run(n).as_str())));
        let within = [run(1), run(2)];
        assert_eq!(ended(&inner, &within), None, "those of another home cannot be told of");
        outer.create().unwrap();
        middle.create().unwrap();
        let held = [outer.lock(), middle.lock()].map(|path| Lock::take(&path).unwrap());
        assert_eq!(ended(&inner, &within), None);
        let [outer, _middle] = held;
        drop(outer);
        assert_eq!(ended(&inner, &within), Some(&run(1)));
    }
}
