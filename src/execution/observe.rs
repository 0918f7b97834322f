//! Gathers the evidence of a run: takes a snapshot before its agent starts, and compares when nothing of the
//! run is left.
//!
//! Errors here cost evidence, and the evidence says so; they never fail the run.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::agents;
use crate::evidence::{Account, ChangeOf, Changed, Edits, Evidence, Files, Observed, Refusals, settle};
use crate::execution::evidence_gaps;
use crate::execution::overlap;
use crate::execution::overlap::Present;
use crate::git;
use crate::git::{Differences, Git, History, Installed, Time, TreeBefore};
use crate::host::Env;
use crate::host::{clock, paths, trim_memory};
use crate::ledger::EditsAndRefusals;
use crate::ledger::read;
use crate::model::{FailureCode, Fault, Outcome, Request, Timestamp};
use crate::runs::RunDir;

/// How long taking or comparing a snapshot may take. A larger tree gets no file evidence.
const LIMIT: Duration = Duration::from_secs(20);
/// The same if a process that only wanted to read is waiting.
const LIMIT_LATER: Duration = Duration::from_secs(5);

/// Later than any command.
const FOREVER: Timestamp = Timestamp::from_millis(i64::MAX);

const LOOKED_LATER: &str =
    "the supervisor died, so the files were compared later; changes made by others since then are included";

/// What was observed before the agent starts.
#[derive(Debug)]
pub(crate) struct Watch<'a> {
    dir: &'a RunDir,
    before: Result<TreeBefore, Unlooked>,
    present: Option<Present<'a>>,
    second: Second,
}

/// Why there is no snapshot to compare with.
#[derive(Debug, Clone)]
enum Unlooked {
    /// The run can only read, so no snapshot is needed.
    Reads,
    Because(String),
}

/// Who compares with the snapshot, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Second {
    /// The supervisor, as soon as nothing of the run is left.
    AtItsEnd,
    /// Whoever recovers the run after its supervisor was killed.
    Later,
}

impl<'a> Watch<'a> {
    /// Takes a snapshot of the checkout that `request` works in, if any. `path` is the user's search path for
    /// programs.
    pub(crate) fn begin(env: &Env, dir: &'a RunDir, request: &Request, path: Option<&OsStr>) -> Self {
        if only_reads(request) {
            return Self { dir, before: Err(Unlooked::Reads), present: None, second: Second::AtItsEnd };
        }
        let present = Present::enter(dir, request);
        let Some(root) = &request.git_root else {
            return Self::outside_git(dir, request, present, Second::AtItsEnd);
        };
        let before =
            look(env, dir, request, root, path).map_err(|trouble| Unlooked::Because(trouble.to_string()));
        // A large tree used much memory, and the run may take hours.
        trim_memory::release_freed();
        Self { dir, before, present, second: Second::AtItsEnd }
    }

    /// Continues from what a killed supervisor left.
    pub(crate) fn resume(env: &Env, dir: &'a RunDir, request: &Request) -> Self {
        if only_reads(request) {
            return Self { dir, before: Err(Unlooked::Reads), present: None, second: Second::Later };
        }
        let present = Present::left_behind(dir, request);
        let Some(root) = &request.git_root else {
            return Self::outside_git(dir, request, present, Second::Later);
        };
        let before = git_for(request, root, env.get("PATH"))
            .and_then(|program| TreeBefore::found(root, &dir.tree(), dir.home(), program))
            .map_err(|_| {
                Unlooked::Because("the snapshot from before the run was lost with its supervisor".into())
            });
        Self { dir, before, present, second: Second::Later }
    }

    fn outside_git(dir: &'a RunDir, request: &Request, present: Option<Present<'a>>, second: Second) -> Self {
        let reason = match paths::unreadable_git(&request.cwd) {
            Some((git, error)) => format!("`{}` could not be read: {error}", git.display()),
            None => "it did not work in a git repository".into(),
        };
        Self { dir, before: Err(Unlooked::Because(reason)), present, second }
    }

    /// Compares with the snapshot and writes the evidence. `Err` says why it could not be written.
    pub(crate) fn end(
        self,
        request: &Request,
        told: EditsAndRefusals,
        outcome: &Outcome,
    ) -> std::io::Result<Evidence> {
        let EditsAndRefusals { edits, refusals } = told;
        let edits = &edits;
        let (mut files, changed) = match &self.before {
            Ok(before) => {
                let (mut files, changed) = tell(before, self.dir, request, self.second)
                    .unwrap_or_else(|reason| (without_git(request, edits, reason), Changed::Unknown));
                files.incomplete.extend(evidence_gaps::outside(before, request, edits));
                (files, changed)
            }
            Err(Unlooked::Reads) => (Files::of_a_reader(), Changed::Known { at: None, by: None }),
            Err(Unlooked::Because(reason)) => (without_git(request, edits, reason.clone()), Changed::Unknown),
        };
        files.overlapped_with = self.present.as_ref().map(Present::others).unwrap_or_default();
        let fault = match outcome {
            Outcome::Failed { fault } => Some(fault.clone()),
            Outcome::TimedOut { limit, .. } => {
                Some(Fault::new(FailureCode::Timeout, format!("ended by its {limit} limit")))
            }
            Outcome::Completed | Outcome::Cancelled { .. } => None,
        };
        // What a recording reports did not happen here.
        let (entries, refusals, fault) = match request.agent.abilities().edits {
            agents::Edits::Replayed => (Vec::new(), Refusals::default(), None),
            agents::Edits::Reported | agents::Edits::Unreported => (read::entries(self.dir), refusals, fault),
        };
        let changed = seen_at(changed, self.second);
        let Account { counts, tests, errors, earlier } =
            settle(&entries, refusals, edits.last_edit(), changed, fault.as_ref());
        let evidence =
            Evidence { version: Evidence::VERSION, files, commands: Some(counts), tests, errors, earlier };
        evidence.write(&self.dir.evidence()).map(|()| evidence)
    }
}

/// Whether a run cannot change its checkout. For a recording, the run that was recorded counts.
fn only_reads(request: &Request) -> bool {
    request.agent.abilities().edits != agents::Edits::Replayed && !overlap::may_write(request)
}

fn look(
    env: &Env,
    dir: &RunDir,
    request: &Request,
    root: &Path,
    path: Option<&OsStr>,
) -> Result<TreeBefore, git::SnapshotError> {
    let installed = Installed::find(env, path, &writable(request, root))?;
    TreeBefore::take(root, &dir.tree(), dir.home(), &installed, clock::monotonic() + LIMIT)
}

/// A git program that the run could not have put there.
fn git_for(request: &Request, root: &Path, path: Option<&OsStr>) -> Result<PathBuf, git::SnapshotError> {
    Git::find(path, &writable(request, root)).ok_or(git::SnapshotError::NoGit)
}

/// Where a run may write.
fn writable<'r>(request: &'r Request, root: &'r Path) -> Vec<&'r Path> {
    [root, &request.cwd].into_iter().chain(request.add_dirs.iter().map(|dir| dir.as_path())).collect()
}

/// Compares the tree with the snapshot.
fn tell(
    before: &TreeBefore,
    dir: &RunDir,
    request: &Request,
    second: Second,
) -> Result<(Files, Changed), String> {
    let (limit, mut incomplete) = match second {
        Second::AtItsEnd => (LIMIT, Vec::new()),
        Second::Later => (LIMIT_LATER, vec![LOOKED_LATER.to_owned()]),
    };
    let until = clock::monotonic() + limit;
    let found = before.compare(until).map_err(|trouble| trouble.to_string())?;
    incomplete.extend(evidence_gaps::in_tree(before, &found));
    let changes = before.explain(&found.changed, until).unwrap_or_else(|trouble| {
        incomplete.push(format!("lines and renames are unknown: {trouble}"));
        git::without_content(&found.changed)
    });
    let history = before
        .history(until, |tree| overlap::is_anothers(dir, &request.run_id, tree))
        .unwrap_or_else(|(head, trouble)| {
            incomplete.push(format!("commits are unknown: {trouble}"));
            History { head, ..History::default() }
        });
    let unsettled = unsettled(&found);
    let files = Files::from_git(Observed {
        root: before.root().to_owned(),
        before: before.head.clone(),
        history,
        changes,
        ignored: found.ignored.unwrap_or_default(),
        nested: found.nested.into_iter().map(|(path, _)| path).collect(),
        hidden: found.hidden,
        incomplete,
    });
    let changed = changed(&files, before.root(), unsettled);
    Ok((files, changed))
}

/// The latest time of a possible change that is not listed.
fn unsettled(found: &Differences) -> Option<Timestamp> {
    let moment = |(seconds, nanos): Time| {
        Timestamp::from_millis(seconds.saturating_mul(1000).saturating_add(i64::from(nanos / 1_000_000)))
    };
    // It is unknown whether these changed, and when.
    let uncompared = !found.unseen.is_empty() || found.unlisted.is_some();
    found.put_back.max(found.inside).map(moment).max(uncompared.then_some(FOREVER))
}

/// When files changed, as far as this comparison can tell: a late one knows that they changed, but not
/// whether before or after a command ended.
fn seen_at(changed: Changed, second: Second) -> Changed {
    match (second, changed) {
        (Second::AtItsEnd, changed) => changed,
        (Second::Later, Changed::Known { at, by }) => Changed::Known { at: None, by: at.max(by) },
        (Second::Later, Changed::Unknown) => Changed::Known { at: None, by: Some(FOREVER) },
    }
}

/// When the files that the run changed were last changed. Uses the inode's time: the time of the content can
/// be set, and copying may preserve it.
fn changed(files: &Files, root: &Path, unsettled: Option<Timestamp>) -> Changed {
    let within = |path: Vec<u8>| root.join(OsStr::from_bytes(&path));
    let time = |path: &Path| {
        let found = std::fs::symlink_metadata(path).ok()?;
        let millis = found.ctime().saturating_mul(1000).saturating_add(found.ctime_nsec() / 1_000_000);
        Some(Timestamp::from_millis(millis))
    };
    // A removed file went at the latest when its directory last changed.
    let gone = |path: &Path| path.ancestors().skip(1).find_map(time);
    // Changes that are not listed have an unknown time.
    let mut by = unsettled.max((files.left_out > 0).then_some(FOREVER));
    let mut at = None;
    for change in &files.changes {
        let path = within(change.path_bytes());
        match time(&path) {
            // The time of changes inside it was already taken into account.
            Some(_) if change.kind == ChangeOf::Submodule => {}
            Some(time) => at = at.max(Some(time)),
            None => by = by.max(gone(&path)),
        }
        let old = change.old_path_bytes().filter(|_| change.kind == ChangeOf::Renamed);
        by = by.max(old.and_then(|old| gone(&within(old))));
    }
    Changed::Known { at, by }
}

fn without_git(request: &Request, edits: &Edits, reason: String) -> Files {
    match request.agent.abilities().edits {
        agents::Edits::Reported => Files::from_events(edits, &request.cwd, reason),
        agents::Edits::Unreported => Files::unknown(reason),
        agents::Edits::Replayed => Files::unknown("a recording was replayed; nothing happened here".into()),
    }
}
