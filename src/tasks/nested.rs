//! Whether we are inside a run, and inside which.
//!
//! Two witnesses: the mark that agents hand down in their environment, and the
//! supervisors among our ancestors, which a scrubbed environment cannot hide.

use std::path::PathBuf;

use crate::host::env::{self, Env};
use crate::host::{lock, proc};
use crate::model::RunId;
use crate::runs::RunDir;

/// The runs we are in, outermost first. Empty for a client or a person.
pub(crate) fn within(env: &Env) -> Vec<RunId> {
    let marked: Vec<RunId> =
        env.text(env::RUNS).unwrap_or_default().split(':').filter_map(|run| run.parse().ok()).collect();
    let mut above: Vec<RunId> = supervisors_above();
    above.reverse();
    if above.len() > marked.len() { above } else { marked }
}

/// The runs of the live supervisors above us, nearest first.
fn supervisors_above() -> Vec<RunId> {
    proc::ancestors().into_iter().filter_map(|process| supervised(&proc::arguments(process.pid))).collect()
}

/// The run that a process with these arguments supervises: only one whose lock
/// is held is real.
fn supervised(arguments: &[String]) -> Option<RunId> {
    if arguments.get(1).is_none_or(|verb| verb != "supervise") {
        return None;
    }
    let dir = arguments.iter().rev().find(|argument| !argument.is_empty()).map(PathBuf::from)?;
    let run = dir.file_name()?.to_str()?.parse().ok()?;
    lock::is_held(&RunDir::at(dir).lock()).is_ok_and(|held| held).then_some(run)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::lock::Lock;

    #[test]
    fn the_mark_names_the_runs_outermost_first() {
        let (outer, inner) = ("2026-11-15_093000123_0a1b2c3d4e5f", "2026-11-15_093000124_0a1b2c3d4e5f");
        let env = Env::of(&[(env::RUNS, &format!("{outer}:{inner}:junk"))]);
        assert_eq!(within(&env), [outer.parse().unwrap(), inner.parse().unwrap()]);
        assert!(within(&Env::of(&[])).is_empty());
    }

    #[test]
    fn a_supervisor_is_one_that_holds_its_lock() {
        let dir = tempfile::tempdir().unwrap();
        let run = dir.path().join("2026-11-15_093000123_0a1b2c3d4e5f");
        std::fs::create_dir(&run).unwrap();
        let arguments: Vec<String> =
            ["delegator", "supervise", run.to_str().unwrap(), ""].map(str::to_owned).to_vec();
        assert_eq!(supervised(&arguments), None);
        let _lock = Lock::take(&RunDir::at(run).lock()).unwrap();
        assert!(supervised(&arguments).is_some());
        assert_eq!(supervised(&["delegator".into(), "status".into()]), None);
    }
}
