//! Gathers the evidence of a run: looks before its agent starts, and again
//! when nothing of it is left.
//!
//! Trouble here costs evidence, and the evidence says so; it never costs the
//! run.

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
use crate::git::{Differences, Git, History, Time, TreeBefore, User};
use crate::host::Env;
use crate::host::{clock, paths, trim_memory};
use crate::ledger::EditsAndRefusals;
use crate::ledger::read;
use crate::model::{FailureCode, Fault, Outcome, Request, Timestamp};
use crate::runs::RunDir;

/// How long either look may take. A tree that needs more is not looked at.
const LIMIT: Duration = Duration::from_secs(20);
/// The same where somebody waits who only asked how things are.
const LIMIT_LATER: Duration = Duration::from_secs(5);

/// Later than any command.
const FOREVER: Timestamp = Timestamp::from_millis(i64::MAX);

const LOOKED_LATER: &str = "the run's supervisor died, and the tree was looked at later: what others changed since is among the changes";

/// The state of things before the agent starts.
#[derive(Debug)]
pub(crate) struct Watch<'a> {
    dir: &'a RunDir,
    before: Result<TreeBefore, Unlooked>,
    present: Option<Present<'a>>,
    second: Second,
}

/// Why there is no tree to compare with.
#[derive(Debug, Clone)]
enum Unlooked {
    /// The run can only read: nobody needs to look.
    Reads,
    Because(String),
}

/// Who takes the second look, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Second {
    /// The supervisor, as soon as nothing of the run is left.
    AtItsEnd,
    /// Whoever found that the supervisor was killed.
    Later,
}

impl<'a> Watch<'a> {
    /// Looks at the checkout that `request` works in, if it does. `path` is
    /// where the user's programs are.
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
        // A large tree took much, and its run may take hours.
        trim_memory::release_freed();
        Self { dir, before, present, second: Second::AtItsEnd }
    }

    /// Goes on from what a supervisor left that was killed.
    pub(crate) fn take_up(env: &Env, dir: &'a RunDir, request: &Request) -> Self {
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
                Unlooked::Because("what the tree was like before the run is lost with its supervisor".into())
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

    /// Looks again, and writes down what there is to tell. `Err` says why that
    /// could not be written.
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

/// Whether a run can change nothing in its checkout. A recording is looked at as what it was recorded from.
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
    let program = git_for(request, root, path)?;
    let system = Git::own(path, &writable(request, root)).unwrap_or_else(|| program.clone());
    let user =
        User { home: env.path("HOME"), config: env.path("XDG_CONFIG_HOME"), system: git::of_system(&system) };
    TreeBefore::take(root, &dir.tree(), dir.home(), program, &user, clock::monotonic() + LIMIT)
}

/// A git that the run could not have put there.
fn git_for(request: &Request, root: &Path, path: Option<&OsStr>) -> Result<PathBuf, git::SnapshotError> {
    Git::find(path, &writable(request, root)).ok_or(git::SnapshotError::NoGit)
}

/// Where a run may have put anything.
fn writable<'r>(request: &'r Request, root: &'r Path) -> Vec<&'r Path> {
    [root, &request.cwd].into_iter().chain(request.add_dirs.iter().map(|dir| dir.as_path())).collect()
}

/// The tree now against the tree before.
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
        incomplete.push(format!("lines and renames are not known: {trouble}"));
        git::without_content(&found.changed)
    });
    let history = before
        .history(until, |tree| overlap::is_anothers(dir, &request.run_id, tree))
        .unwrap_or_else(|(head, trouble)| {
            incomplete.push(format!("commits are not known: {trouble}"));
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

/// Until when something may have changed that is not among the changes.
fn unsettled(found: &Differences) -> Option<Timestamp> {
    let moment = |(seconds, nanos): Time| {
        Timestamp::from_millis(seconds.saturating_mul(1000).saturating_add(i64::from(nanos / 1_000_000)))
    };
    // Nobody knows what became of these, let alone when.
    let uncompared = !found.unseen.is_empty() || found.unlisted.is_some();
    found.put_back.max(found.inside).map(moment).max(uncompared.then_some(FOREVER))
}

/// What a look tells of when files changed: a later one knows that they did, and
/// not whether that was before a command ended or after it.
fn seen_at(changed: Changed, second: Second) -> Changed {
    match (second, changed) {
        (Second::AtItsEnd, changed) => changed,
        (Second::Later, Changed::Known { at, by }) => Changed::Known { at: None, by: at.max(by) },
        (Second::Later, Changed::Unknown) => Changed::Known { at: None, by: Some(FOREVER) },
    }
}

/// When the files that changed in the run did so last. The time of the inode: that
/// of the content can be set, and is kept by those who copy.
fn changed(files: &Files, root: &Path, unsettled: Option<Timestamp>) -> Changed {
    let within = |path: Vec<u8>| root.join(OsStr::from_bytes(&path));
    let time = |path: &Path| {
        let found = std::fs::symlink_metadata(path).ok()?;
        let millis = found.ctime().saturating_mul(1000).saturating_add(found.ctime_nsec() / 1_000_000);
        Some(Timestamp::from_millis(millis))
    };
    // Of what is gone, the folder that it was in tells when it can have gone at the latest.
    let gone = |path: &Path| path.ancestors().skip(1).find_map(time);
    // Of changes that are not listed nothing is known.
    let mut by = unsettled.max((files.left_out > 0).then_some(FOREVER));
    let mut at = None;
    for change in &files.changes {
        let path = within(change.path_bytes());
        match time(&path) {
            // What changed in it and when was looked for already.
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
        agents::Edits::Replayed => Files::unknown("what a recording tells did not happen here".into()),
    }
}
