//! Runs the operator's `worktree_setup` in a new worktree.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

use crate::context::WorktreeError;
use crate::host::{BoundedRun, BoundedRunError, clock, files};
use crate::text::plain;

/// How often to look whether the run is to stop.
const LOOK: Duration = Duration::from_millis(200);
/// Its output goes to a file.
const SCRIPT: &str = "exec >\"$1\" 2>&1; eval \"$2\"";

/// The command, where it runs and what it gets.
#[derive(Debug)]
pub(super) struct Setup<'a> {
    pub(super) command: &'a str,
    pub(super) limit: Duration,
    pub(super) cwd: &'a Path,
    pub(super) environment: &'a [(String, String)],
    pub(super) log: &'a Path,
}

impl Setup<'_> {
    /// `is_stopped` is asked again and again whether to give up.
    pub(super) fn run(self, is_stopped: &mut dyn FnMut() -> bool) -> Result<(), WorktreeError> {
        let args: [OsString; 5] =
            ["-c".into(), SCRIPT.into(), "sh".into(), self.log.into(), self.command.into()];
        let environment: Vec<(&str, &OsStr)> =
            self.environment.iter().map(|(name, value)| (name.as_str(), OsStr::new(value))).collect();
        let until = clock::monotonic() + self.limit;
        let shell = Path::new("/bin/sh");
        let run = BoundedRun::begin(shell, &args, self.cwd, &environment, Vec::new(), until, 0);
        let ended = run.and_then(|run| {
            run.finish_with(&mut |_| if is_stopped() { Err("cancelled".to_owned()) } else { Ok(LOOK) })
        });
        ended.map(drop).map_err(|error| {
            let why = match &error {
                BoundedRunError::Slow => format!("took longer than {} s", self.limit.as_secs()),
                BoundedRunError::Failed { status, .. } => format!("failed ({status})"),
                BoundedRunError::Start(_)
                | BoundedRunError::Broken(_)
                | BoundedRunError::TooMuch
                | BoundedRunError::GivenUp(_) => format!("did not end well: {error}"),
            };
            let printed = files::tail(self.log, 4096).map(|(bytes, _)| bytes).unwrap_or_default();
            let last = plain::last_line(&String::from_utf8_lossy(&printed));
            WorktreeError::Setup(last.map_or(why.clone(), |last| format!("{why}: {last}")))
        })
    }
}
