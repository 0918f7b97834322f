//! Learns how long each client waits before it gives up, and stores that in the home per client name.
//!
//! A client that cancels a wait, or disconnects during one, gets shorter waits. A person may have pressed a key,
//! so completed waits make the limit grow again: the fewer waits were given up, the sooner. A lost update costs
//! one more cancelled wait.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::host::Env;
use crate::host::Home;
use crate::host::clock;
use crate::host::{Durability, files};
use crate::reply::line;

/// No observed client gives up in less than 5 s.
const SHORTEST: Duration = Duration::from_secs(4);
/// A wait cancelled sooner than this says nothing about the client's limit.
const TOO_SOON: Duration = Duration::from_secs(1);
/// The factor by which a shortened wait grows.
const GROWTH: u32 = 4;
/// At most `GROWTH` to this power completed waits are needed before it grows.
const MOST_DOUBTS: u32 = 4;
const MOST_NAMES: usize = 64;
const LONGEST_NAME: usize = 64;
const VERSION: u32 = 1;

#[derive(Clone)]
pub(crate) struct Patience {
    file: Option<PathBuf>,
    closing: Arc<AtomicBool>,
}

/// One call of a client that may wait.
pub(crate) struct Sitting {
    patience: Patience,
    name: String,
    usual: Duration,
    limit: Duration,
    begun: Duration,
    is_waiting: bool,
}

/// The file's content. The most recently updated client is last.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    version: u32,
    clients: Vec<Lesson>,
}

/// What is known about one client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Lesson {
    name: String,
    limit_ms: u64,
    /// Number of waits that the client gave up.
    given_up: u32,
    /// Number of completed waits of this length.
    sat_out: u32,
}

impl Patience {
    pub(crate) fn new(env: &Env) -> Self {
        let file = Home::locate(env).ok().map(|home| home.join("patience.json"));
        Self { file, closing: Arc::default() }
    }

    /// A call of the client called `name`. Its waits may take `usual` if nothing is known about it.
    pub(crate) fn begin(&self, name: String, usual: Duration) -> Sitting {
        let limit = self.limit(&name, usual);
        Sitting { patience: self.clone(), name, usual, limit, begun: clock::monotonic(), is_waiting: false }
    }

    fn limit(&self, name: &str, usual: Duration) -> Duration {
        let lesson = self.file.as_deref().and_then(|file| take(&mut read(file), name));
        lesson.map_or(usual, |lesson| lesson.limit().min(usual))
    }

    /// Records that the client gave up after `waited` of at most `limit`.
    fn gave_up(&self, name: &str, limit: Duration, waited: Duration) {
        if waited >= TOO_SOON && !self.closing.load(Ordering::Relaxed) {
            self.change(name, |before| Some(given_up(before, name, limit, waited)));
        }
    }

    /// Records that the client accepted the answer after a wait of `limit`.
    fn held(&self, name: &str, limit: Duration, usual: Duration) {
        self.change(name, |before| before.and_then(|lesson| sat_out(lesson, limit, usual)));
    }

    /// From now on the server itself ends waits, which teaches nothing about clients.
    pub(crate) fn close(&self) {
        self.closing.store(true, Ordering::Relaxed);
    }

    fn change(&self, name: &str, change: impl FnOnce(Option<Lesson>) -> Option<Lesson>) {
        let Some(file) = &self.file else { return };
        let mut clients = read(file);
        let before = take(&mut clients, name);
        let after = change(before.clone());
        if before == after {
            return;
        }
        clients.extend(after);
        let forgotten = clients.len().saturating_sub(MOST_NAMES);
        let kept = Kept { version: VERSION, clients: clients.split_off(forgotten) };
        if let Ok(text) = serde_json::to_vec(&kept) {
            // If it cannot be stored, the next wait teaches it again.
            let _ = files::write(file, &text, Durability::Whole);
        }
    }
}

impl Sitting {
    /// The longest wait for this call.
    pub(crate) fn limit(&self) -> Duration {
        self.limit
    }

    /// Records that the call has begun to wait.
    pub(crate) fn waits(&mut self) {
        self.is_waiting = true;
    }

    pub(crate) fn is_waiting(&self) -> bool {
        self.is_waiting
    }

    /// Records that the client gave up at `when`.
    pub(crate) fn given_up(&self, when: Duration) {
        if self.is_waiting {
            self.patience.gave_up(&self.name, self.limit, when.saturating_sub(self.begun));
        }
    }

    /// There is an answer; `left` is since when nobody listens for it.
    pub(crate) fn answered(&self, left: Option<Duration>) {
        match left {
            Some(when) => self.given_up(when),
            None if self.is_waiting && clock::monotonic() - self.begun >= self.limit => {
                self.patience.held(&self.name, self.limit, self.usual);
            }
            None => {}
        }
    }
}

impl Lesson {
    fn limit(&self) -> Duration {
        Duration::from_millis(self.limit_ms).max(SHORTEST)
    }
}

/// Reads the file; empty if it is missing or not readable.
fn read(file: &Path) -> Vec<Lesson> {
    let kept = std::fs::read(file).ok().and_then(|text| serde_json::from_slice::<Kept>(&text).ok());
    kept.filter(|kept| kept.version == VERSION).map(|kept| kept.clients).unwrap_or_default()
}

/// Removes and returns what is known about the client called `name`.
fn take(clients: &mut Vec<Lesson>, name: &str) -> Option<Lesson> {
    let key = key(name);
    let at = clients.iter().position(|lesson| lesson.name == key)?;
    Some(clients.remove(at))
}

fn key(name: &str) -> String {
    line(&name.to_lowercase(), LONGEST_NAME)
}

/// The updated record after a wait of at most `limit` was given up after `waited`.
fn given_up(before: Option<Lesson>, name: &str, limit: Duration, waited: Duration) -> Lesson {
    let below = (waited * 4 / 5).min(limit).max(SHORTEST);
    let limit_ms = u64::try_from(below.as_millis()).unwrap_or(u64::MAX);
    match before {
        // Several waits given up together count once.
        Some(before) if before.limit() < limit => {
            Lesson { limit_ms: limit_ms.min(before.limit_ms), ..before }
        }
        before => {
            let given_up = before.map_or(0, |before| before.given_up).saturating_add(1);
            Lesson { name: key(name), limit_ms, given_up, sat_out: 0 }
        }
    }
}

/// The updated record after a completed wait of `limit`. `None` if the client waits as long as usual.
fn sat_out(before: Lesson, limit: Duration, usual: Duration) -> Option<Lesson> {
    if before.limit().min(usual) != limit {
        return Some(before);
    }
    let enough = GROWTH.pow(before.given_up.saturating_sub(1).min(MOST_DOUBTS));
    let sat_out = before.sat_out.saturating_add(1);
    if sat_out < enough {
        return Some(Lesson { sat_out, ..before });
    }
    let longer = before.limit_ms.saturating_mul(GROWTH.into());
    (limit < usual).then_some(Lesson { limit_ms: longer, sat_out: 0, ..before })
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Duration = Duration::from_secs(50);

    fn patience() -> (tempfile::TempDir, Patience) {
        let dir = tempfile::tempdir().unwrap();
        let file = Some(dir.path().join("patience.json"));
        (dir, Patience { file, closing: Arc::default() })
    }

    /// The limits of the next `count` waits of a client that gives up after `seconds`.
    #[track_caller]
    fn check(seconds: u64, expected: &[u64]) {
        let (_dir, patience) = patience();
        let waits = expected.iter().map(|_| {
            let limit = patience.limit("Client", USUAL);
            let most = Duration::from_secs(seconds);
            if limit < most {
                patience.held("client", limit, USUAL)
            } else {
                patience.gave_up("client", limit, most)
            }
            limit.as_secs()
        });
        assert_eq!(waits.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_client_that_waits_long_enough_teaches_nothing() {
        check(60, &[50, 50, 50]);
    }

    #[test]
    fn a_client_with_little_patience_is_tried_again_ever_more_seldom() {
        check(5, &[50, 4, 16, 4, 4, 4, 4, 16, 4, 4]);
        check(30, &[50, 24, 50, 24, 24, 24, 24, 50]);
    }

    #[test]
    fn a_person_who_cancelled_once_has_the_usual_wait_back_soon() {
        let (_dir, patience) = patience();
        patience.gave_up("x", USUAL, Duration::from_secs(2));
        let mut limits = Vec::new();
        for _ in 0..5 {
            let limit = patience.limit("x", USUAL);
            limits.push(limit.as_secs());
            patience.held("x", limit, USUAL);
        }
        assert_eq!(limits, [4, 16, 50, 50, 50]);
        assert!(read(patience.file.as_deref().unwrap()).is_empty(), "what was doubted is forgotten");
    }

    #[test]
    fn waits_that_are_given_up_together_are_one_lesson_and_a_moment_is_none() {
        let (_dir, patience) = patience();
        patience.gave_up("x", USUAL, Duration::from_millis(900));
        assert_eq!(patience.limit("x", USUAL), USUAL);
        for seconds in [10, 11, 12] {
            patience.gave_up("x", USUAL, Duration::from_secs(seconds));
        }
        let lessons = read(patience.file.as_deref().unwrap());
        assert_eq!((lessons.len(), lessons[0].given_up, lessons[0].limit_ms), (1, 1, 8000));
        patience.close();
        patience.gave_up("y", USUAL, Duration::from_secs(10));
        assert_eq!(patience.limit("y", USUAL), USUAL, "a server that ends teaches nothing");
    }

    #[test]
    fn the_file_is_bounded_and_may_hold_anything() {
        let (_dir, patience) = patience();
        let file = patience.file.clone().unwrap();
        for number in 0..MOST_NAMES + 3 {
            let name = format!("{number} {}", "n".repeat(1000));
            patience.gave_up(&name, USUAL, Duration::from_secs(10));
        }
        assert_eq!(read(&file).len(), MOST_NAMES);
        assert!(std::fs::metadata(&file).unwrap().len() < 20_000);
        for other in ["", "nonsense", r#"{"version":2,"clients":[]}"#, "[]"] {
            std::fs::write(&file, other).unwrap();
            assert_eq!(patience.limit("x", USUAL), USUAL);
        }
        patience.gave_up("x", USUAL, Duration::from_secs(10));
        assert_eq!(patience.limit("x", USUAL), Duration::from_secs(8));
    }
}
