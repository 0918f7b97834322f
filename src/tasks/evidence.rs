//! Gathers the evidence of a run: looks before its agent starts, and again
//! when nothing of it is left.
//!
//! Trouble here costs evidence, and the evidence says so; it never costs the
//! run.

use std::ffi::OsStr;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::evidence::{ChangeOf, Edits, Evidence, Files, Gathered, Observed, Source};
use crate::git::{self, Before, Git, History, User};
use crate::host::env::Env;
use crate::host::{clock, memory};
use crate::model::{AgentName, Outcome, Request, Timestamp};
use crate::runs::RunDir;
use crate::tasks::overlap::Present;

/// How long either look may take. A tree that needs more is not looked at.
const LIMIT: Duration = Duration::from_secs(20);

/// The state of things before the agent starts.
#[derive(Debug)]
pub(super) struct Watch<'a> {
    dir: &'a RunDir,
    before: Result<Before, String>,
    present: Option<Present<'a>>,
}

impl<'a> Watch<'a> {
    /// Looks at the checkout that `request` works in, if it does. `path` is
    /// where the user's programs are.
    pub(super) fn begin(env: &Env, dir: &'a RunDir, request: &Request, path: Option<&OsStr>) -> Self {
        let Some(root) = &request.git_root else {
            return Self { dir, before: Err("it did not work in a git repository".into()), present: None };
        };
        let present = Present::enter(dir, &request.run_id, root);
        let before = look(env, dir, request, root, path).map_err(|trouble| trouble.to_string());
        // A large tree took much, and its run may take hours.
        memory::release_freed();
        Self { dir, before, present }
    }

    /// Looks again, and writes down what there is to tell. `Err` says why that
    /// could not be written.
    pub(super) fn end(self, request: &Request, gathered: Gathered, outcome: &Outcome) -> std::io::Result<()> {
        let edits = gathered.edits();
        let mut files = match &self.before {
            Ok(before) => tell(before).unwrap_or_else(|reason| without_git(request, edits, reason)),
            Err(reason) => without_git(request, edits, reason.clone()),
        };
        files.overlapped_with = self.present.as_ref().map(Present::others).unwrap_or_default();
        let fault = match outcome {
            Outcome::Failed { fault } => Some(fault),
            Outcome::Completed | Outcome::Cancelled { .. } | Outcome::TimedOut { .. } => None,
        };
        let (tests, errors) = match request.agent {
            AgentName::Codex | AgentName::Command => gathered.finish(changed_at(&files), fault),
            // What a recording reports did not happen here.
            AgentName::Replay => (None, None),
        };
        Evidence { version: Evidence::VERSION, files, tests, errors }.write(&self.dir.evidence())
    }
}

fn look(
    env: &Env,
    dir: &RunDir,
    request: &Request,
    root: &Path,
    path: Option<&OsStr>,
) -> Result<Before, git::Trouble> {
    let writable: Vec<&Path> =
        [root, &request.cwd].into_iter().chain(request.add_dirs.iter().map(|dir| dir.as_path())).collect();
    let program = Git::find(path, &writable).ok_or(git::Trouble::NoGit)?;
    let user = User { home: env.path("HOME"), config: env.path("XDG_CONFIG_HOME") };
    Before::take(root, &dir.tree(), program, &user, clock::monotonic() + LIMIT)
}

/// The tree now against the tree before.
fn tell(before: &Before) -> Result<Files, String> {
    let until = clock::monotonic() + LIMIT;
    let found = before.compare(until).map_err(|trouble| trouble.to_string())?;
    let mut incomplete = Vec::new();
    if before.unread > 0 {
        incomplete
            .push(format!("{} that were not committed before the run were not kept", files(before.unread)));
    }
    if let Some(reason) = &found.unlisted {
        incomplete.push(format!("new files could not be looked for: git was asked, and {reason}"));
    }
    if before.has_reftable() {
        incomplete.push("commits and branches are not known: they are kept in a reftable".into());
    }
    if found.unread > 0 {
        incomplete.push(format!("{} could not be read and count as changed", files(found.unread)));
    }
    let changes = before.explain(&found.changed, until).unwrap_or_else(|trouble| {
        incomplete.push(format!("lines and renames are not known: {trouble}"));
        git::plainly(&found.changed)
    });
    let history = before.history(until).unwrap_or_else(|(head, trouble)| {
        incomplete.push(format!("commits are not known: {trouble}"));
        History { head, ..History::default() }
    });
    Ok(Files::from_git(Observed {
        root: before.root().to_owned(),
        before: before.head.clone(),
        history,
        changes,
        ignored: found.ignored,
        nested: found.nested,
        incomplete,
    }))
}

/// When a file last changed of those that changed in the run and are still there.
fn changed_at(files: &Files) -> Option<Timestamp> {
    let root = files.root.as_ref().filter(|_| files.source == Source::Git)?;
    let there = files.changes.iter().filter(|change| change.kind != ChangeOf::Submodule);
    let found = there.filter_map(|change| std::fs::symlink_metadata(root.join(&change.path)).ok());
    let times = found.filter(|found| !found.is_dir()).filter_map(|found| found.modified().ok());
    let since = |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).ok();
    let millis = times.filter_map(since).map(|since| since.as_millis()).max()?;
    i64::try_from(millis).ok().map(Timestamp::from_millis)
}

fn without_git(request: &Request, edits: &Edits, reason: String) -> Files {
    match request.agent {
        AgentName::Codex => Files::from_events(edits, &request.cwd, reason),
        // A command reports nothing, and what a recording reports did not
        // happen here.
        AgentName::Command | AgentName::Replay => Files::unknown(reason),
    }
}

fn files(count: u32) -> String {
    if count == 1 { "1 file".into() } else { format!("{count} files") }
}
