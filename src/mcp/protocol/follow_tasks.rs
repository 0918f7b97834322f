//! Follows one task, or the tasks of a project, and reports which subscribed resources have changed.
//!
//! Each resource is reported at most once a second, and once more at the end. It sleeps on the same file
//! notifications as other waits.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::ErrorData;
use tokio::sync::mpsc::Sender;
use tokio_util::sync::CancellationToken;

use crate::context::Context;
use crate::host::clock;
use crate::mcp::protocol::dispatch::Incoming;
use crate::mcp::protocol::dispatch::protocol_error;
use crate::mcp::protocol::resource_address::Subject;
use crate::mcp::protocol::resources::{find, trouble, unknown};
use crate::mcp::tools::results;
use crate::model::TaskId;
use crate::reading::View;
use crate::registry::Row;
use crate::runs::ArtifactName;
use crate::tasks::{self, NextObservation, Until};

const AT_MOST: Duration = Duration::from_secs(1);
/// The number of finished tasks in the list.
const RECENT: u32 = 5;

/// A subscribed resource: its address and the file behind it.
pub(crate) type Wanted = (String, Option<ArtifactName>);

/// An open task or project, and the resources wanted from it.
pub(crate) struct Trail {
    context: Context,
    goal: Goal,
    pub(crate) followers: Followers,
}

enum Goal {
    /// A context of its own, because the other one is waiting.
    List(Box<Context>),
    Task(TaskId),
}

/// Opens what to follow. `None` if it can no longer change.
pub(crate) fn open(
    incoming: Incoming,
    subject: &Subject,
    wanted: Vec<Wanted>,
) -> Result<Option<Trail>, ErrorData> {
    let env = incoming.env.clone();
    let mut call = incoming.open(&results::TOOL).map_err(protocol_error)?;
    match subject {
        Subject::List => {
            let mut seen = Context::open(env).map_err(trouble)?;
            seen.place.clone_from(&call.context.place);
            let mark = mark_of_list(&mut seen);
            let goal = Goal::List(Box::new(seen));
            Ok(Some(Trail { context: call.context, goal, followers: Followers::of(wanted, |_| mark) }))
        }
        Subject::Task(reference) => {
            let name = || wanted.first().map(|(uri, _)| uri.clone()).unwrap_or_default();
            let row = find(&call, reference)?.ok_or_else(|| unknown(&name()))?;
            let view = tasks::view_task(&mut call.context, row).map_err(trouble)?;
            if view.state().is_final() {
                return Ok(None);
            }
            let goal = Goal::Task(view.row.id.clone());
            let followers = Followers::of(wanted, |artifact| mark(&view, artifact));
            Ok(Some(Trail { context: call.context, goal, followers }))
        }
    }
}

impl Trail {
    /// The canonical address.
    pub(crate) fn subject(&self) -> Subject {
        match &self.goal {
            Goal::List(_) => Subject::List,
            Goal::Task(id) => Subject::Task(id.to_string()),
        }
    }

    /// Follows it to its end, or until nobody is subscribed. Changes are reported to `tell`.
    pub(crate) fn follow(self, tell: &Sender<String>, unwanted: &CancellationToken) {
        let Self { mut context, goal, followers } = self;
        let (ids, mut list) = match goal {
            Goal::Task(id) => (vec![id], None),
            // Without a task to wait for, every commit wakes us, and there is no end.
            Goal::List(seen) => (Vec::new(), Some(seen)),
        };
        let mut observe = |views: &[View]| {
            if unwanted.is_cancelled() || tell.is_closed() {
                return NextObservation::NoMore;
            }
            let of_list = list.as_mut().map_or(0, |seen| mark_of_list(seen));
            let mark =
                |artifact: Option<&ArtifactName>| views.first().map_or(of_list, |view| mark(view, artifact));
            followers.look(clock::monotonic(), mark, |uri| tell.try_send(uri.to_owned()).is_ok());
            // Wakes regularly to notice growing files and closed subscriptions.
            NextObservation::Within(AT_MOST)
        };
        let waited = tasks::wait(&mut context, &ids, Until::Any, None, &mut observe);
        let last = followers.close();
        if !unwanted.is_cancelled() {
            // Waits for a slow client, as long as it is connected.
            let _ = last.into_iter().try_for_each(|uri| tell.blocking_send(uri));
        }
        drop(waited);
    }
}

/// The followed resources; empty once the end has been reported.
#[derive(Debug, Clone)]
pub(crate) struct Followers(Arc<Mutex<Option<BTreeMap<String, Pace>>>>);

/// What was last reported for one resource.
#[derive(Debug, Clone)]
struct Pace {
    artifact: Option<ArtifactName>,
    mark: u64,
    at: Option<Duration>,
}

impl Pace {
    fn is_due(&self, mark: u64, now: Duration) -> bool {
        self.mark != mark && self.at.is_none_or(|at| now >= at + AT_MOST)
    }
}

impl Followers {
    fn of(wanted: Vec<Wanted>, mark: impl Fn(Option<&ArtifactName>) -> u64) -> Self {
        let pace = |(uri, artifact): Wanted| {
            let mark = mark(artifact.as_ref());
            (uri, Pace { artifact, mark, at: None })
        };
        Self(Arc::new(Mutex::new(Some(wanted.into_iter().map(pace).collect()))))
    }

    /// Adds what `other` follows; `false` if the end has already been reported.
    pub(crate) fn join(&self, other: &Followers) -> bool {
        let new = other.open().clone().unwrap_or_default();
        match self.open().as_mut() {
            Some(followed) => {
                for (uri, pace) in new {
                    followed.entry(uri).or_insert(pace);
                }
                true
            }
            None => false,
        }
    }

    /// Removes one; `true` if none is left.
    pub(crate) fn leave(&self, uri: &str) -> bool {
        self.open().as_mut().is_none_or(|followed| {
            followed.remove(uri);
            followed.is_empty()
        })
    }

    pub(crate) fn is_over(&self) -> bool {
        self.open().is_none()
    }

    /// Reports the changes that are due. What `tell` does not accept is reported the next time.
    fn look(&self, now: Duration, mark: impl Fn(Option<&ArtifactName>) -> u64, tell: impl Fn(&str) -> bool) {
        for (uri, pace) in self.open().iter_mut().flatten() {
            let mark = mark(pace.artifact.as_ref());
            if pace.is_due(mark, now) && tell(uri) {
                (pace.mark, pace.at) = (mark, Some(now));
            }
        }
    }

    /// Reports everything once more at the end.
    fn close(&self) -> Vec<String> {
        self.open().take().unwrap_or_default().into_keys().collect()
    }

    fn open(&self) -> MutexGuard<'_, Option<BTreeMap<String, Pace>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A value that differs when the task, or one file of its run, has changed.
fn mark(view: &View, artifact: Option<&ArtifactName>) -> u64 {
    match artifact {
        None => hash((view.state().as_str(), serde_json::to_string(&view.progress).unwrap_or_default())),
        Some(name) => {
            let path = view.dir.file(name.as_str());
            // While the run is held nobody believes its record, so there is nothing to report yet.
            let is_early = path == view.dir.result() && !view.state().is_final();
            let found = std::fs::symlink_metadata(path).ok().filter(|_| !is_early);
            hash(found.map(|found| (found.len(), found.modified().ok())))
        }
    }
}

/// A value that differs when a task of the project was submitted, started, ended, or read.
fn mark_of_list(context: &mut Context) -> u64 {
    let project = context.project();
    let Ok(found) = tasks::status(context, Some(project), RECENT) else { return 0 };
    let running = found.running.iter().map(|view| &view.row);
    let rows = running.chain(found.queued.iter().map(|task| &task.row)).chain(&found.finished);
    let facts = |row: &Row| (row.id.to_string(), row.state.as_str(), row.unread);
    hash(rows.map(facts).collect::<Vec<_>>())
}

fn hash(facts: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    facts.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// At each moment the mark that is seen; who is told then.
    #[track_caller]
    fn check(steps: &[(u64, u64, &[&str])]) {
        let wanted = vec![("a".into(), None), ("b".into(), ArtifactName::parse("stdout.log"))];
        let followers = Followers::of(wanted, |_| 0);
        for (at_ms, mark, expected) in steps {
            let told = RefCell::new(Vec::new());
            // The file never changes.
            let marks = |artifact: Option<&ArtifactName>| if artifact.is_some() { 0 } else { *mark };
            followers.look(Duration::from_millis(*at_ms), marks, |uri| {
                told.borrow_mut().push(uri.to_owned());
                true
            });
            assert_eq!(told.into_inner(), *expected, "at {at_ms}");
        }
    }

    #[test]
    fn nothing_is_told_of_what_did_not_change() {
        check(&[(0, 0, &[]), (5_000, 0, &[])]);
    }

    #[test]
    fn a_change_is_told_at_once_and_the_next_a_second_later() {
        check(&[(0, 1, &["a"]), (500, 2, &[]), (999, 3, &[]), (1_000, 3, &["a"]), (3_000, 3, &[])]);
    }

    #[test]
    fn what_was_not_taken_is_told_again() {
        let followers = Followers::of(vec![("a".into(), None)], |_| 0);
        followers.look(Duration::ZERO, |_| 1, |_| false);
        let told = RefCell::new(0);
        followers.look(
            Duration::from_millis(1),
            |_| 1,
            |_| {
                *told.borrow_mut() += 1;
                true
            },
        );
        assert_eq!(told.into_inner(), 1);
    }

    #[test]
    fn after_the_end_nobody_can_join() {
        let one = Followers::of(vec![("a".into(), None)], |_| 0);
        let other = Followers::of(vec![("b".into(), None)], |_| 0);
        assert!(one.join(&other) && !one.is_over());
        assert!(!one.leave("a") && one.leave("b"));
        assert!(one.join(&other));
        assert_eq!(one.close(), ["b"]);
        assert!(!one.join(&other) && one.is_over() && one.close().is_empty());
    }
}
