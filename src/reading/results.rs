//! Gathers everything that a reply may say about one task: its record, its files, and as much output as was
//! asked for.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::ledger::open_joined;
use crate::ledger::tail as end_of;
use crate::model::{FailureCode, SkillEntry, State, WorkKind};
use crate::reading::answer::{self, AgentAnswer};
use crate::reading::excerpt::Excerpt;
use crate::reading::failed_output::{FailedCommand, last_failed};
use crate::reading::subruns::{self, Tree};
use crate::reading::view::View;
use crate::runs::ArtifactName;
use crate::text::{self, plain};

/// How much of its output a failed run shows without being asked.
const STDERR_TAIL: u64 = 1024;
const OUTPUT_TAIL: u64 = 2048;
/// How much of the transcript is shown beside the output of a failed command.
const ACCOUNT_TAIL: u64 = 1024;
const MOST_EVENTS: usize = 50;
/// How much of the end of the stream is searched for the last events. One event may be a megabyte long.
const EVENTS_TAIL: u64 = 4 << 20;
const LONGEST_STRING: usize = 200;
const MOST_ITEMS: usize = 20;

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ResultsRequest {
    /// The most bytes of both streams together.
    pub(crate) output: Option<u64>,
    pub(crate) events: bool,
}

#[derive(Debug)]
pub(crate) struct Results {
    pub(crate) view: View,
    pub(crate) artifacts: Vec<Artifact>,
    /// The answer to a caller's own schema.
    pub(crate) answer: Option<AgentAnswer>,
    /// The skills that the agent was told about.
    pub(crate) skills: Vec<SkillEntry>,
    /// Whether each deliverable of a finished run is missing.
    pub(crate) missing: Vec<bool>,
    /// Absent if it was not asked for and nothing went wrong.
    pub(crate) output: Option<Output>,
    /// The last events, if they were asked for.
    pub(crate) events: Option<Vec<Value>>,
    /// How far a run came that was cut short.
    pub(crate) partial: Option<Partial>,
    /// The jobs of a coordinator.
    pub(crate) tree: Option<Tree>,
}

impl Results {
    /// The diffs of a task in the cloud.
    pub(crate) fn changes(&self) -> impl Iterator<Item = &Artifact> {
        self.artifacts.iter().filter(|file| file.name.is_changes())
    }
}

#[derive(Debug)]
pub(crate) struct Artifact {
    pub(crate) name: ArtifactName,
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
}

#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) max_bytes: u64,
    pub(crate) stdout: Excerpt,
    pub(crate) stderr: Excerpt,
}

#[derive(Debug)]
pub(crate) struct Partial {
    pub(crate) last_events: Vec<Value>,
    pub(crate) last_output: Excerpt,
    pub(crate) file: PathBuf,
}

/// Gathers what belongs to `view`. A file that cannot be read counts as empty, because the rest is still
/// worth showing.
pub(crate) fn gather(view: View, ask: ResultsRequest) -> Results {
    let state = view.state();
    let wrong = matches!(state, State::Failed | State::TimedOut);
    let failing = if wrong { last_failed(&view) } else { None };
    let output = match ask.output {
        Some(most) => Some(asked_for(&view, failing.as_ref(), most)),
        None if wrong => Some(unasked(&view, failing.as_ref())),
        None => None,
    };
    let cut_short = state == State::TimedOut || view.row.code.as_deref() == Some(FailureCode::Lost.as_str());
    let partial = cut_short.then(|| Partial {
        last_events: last_events(&view.dir.events()),
        last_output: last_output(&view, OUTPUT_TAIL),
        file: view.dir.transcript(),
    });
    let events = ask.events.then(|| last_events(&view.dir.events()));
    let artifacts = artifacts(&view);
    let (answer, missing) = (answer::parsed(&view), answer::missing(&view));
    let is_coordinator = view.row.agent.abilities().work == WorkKind::Coordinator;
    let tree = if is_coordinator { subruns::tree(&view.dir) } else { None };
    let skills =
        view.dir.read_selected_skills().map(|selection| selection.selected_skills).unwrap_or_default();
    Results { view, artifacts, answer, skills, missing, output, events, partial, tree }
}

/// The output shown when a run failed and nobody asked for output.
fn unasked(view: &View, failing: Option<&FailedCommand>) -> Output {
    let (account, words) = match failing {
        Some(_) => (ACCOUNT_TAIL, OUTPUT_TAIL),
        None => (OUTPUT_TAIL, 0),
    };
    Output {
        max_bytes: STDERR_TAIL + account + words,
        stdout: followed(last_output(view, account), failing, words),
        stderr: Excerpt::tail(&view.dir.stderr(), STDERR_TAIL),
    }
}

fn asked_for(view: &View, failing: Option<&FailedCommand>, most: u64) -> Output {
    let words = failing.map_or(0, |_| OUTPUT_TAIL);
    let printed = |path: &Path| open_joined(path).map_or(0, |all| all.length());
    let (stdout, stderr) = shares(printed(&output(view)) + words, printed(&view.dir.stderr()), most);
    let words = words.min(stdout / 2);
    let stdout = Excerpt::ends(&output(view), stdout - words);
    let stderr = Excerpt::ends(&view.dir.stderr(), stderr);
    Output { max_bytes: most, stdout: followed(stdout, failing, words), stderr }
}

/// Appends the output of the failed command.
fn followed(printed: Excerpt, failing: Option<&FailedCommand>, most: u64) -> Excerpt {
    match failing {
        Some(failing) => printed.followed_by(failing.excerpt(most)),
        None => printed,
    }
}

/// Splits `most` bytes: each stream gets half, plus what the other does not need.
fn shares(stdout: u64, stderr: u64, most: u64) -> (u64, u64) {
    let for_stderr = stderr.min(most / 2);
    let for_stdout = stdout.min(most - for_stderr);
    (for_stdout, stderr.min(most - for_stdout))
}

/// The transcript of an agent, or the standard output of a command.
fn output(view: &View) -> PathBuf {
    if view.row.agent.abilities().is_command_line() { view.dir.stdout() } else { view.dir.transcript() }
}

fn last_output(view: &View, most: u64) -> Excerpt {
    Excerpt::tail(&output(view), most)
}

/// The last events as the agent wrote them, with long values shortened.
fn last_events(path: &Path) -> Vec<Value> {
    let Ok((bytes, _)) = end_of(path, EVENTS_TAIL) else { return Vec::new() };
    let parsed = bytes.rsplit(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
    let mut events: Vec<Value> = parsed.take(MOST_EVENTS).map(shortened).collect();
    events.reverse();
    events
}

fn shortened(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(text::cut(&plain::text(&text), LONGEST_STRING)),
        Value::Array(items) => Value::Array(items.into_iter().take(MOST_ITEMS).map(shortened).collect()),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(name, one)| (name, shortened(one))).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

fn length(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |found| found.len())
}

/// The files that exist now.
fn artifacts(view: &View) -> Vec<Artifact> {
    let artifact = |(name, path): (ArtifactName, PathBuf)| {
        let bytes = length(&path);
        Artifact { name, path, bytes }
    };
    // While the run is going, a record in its directory may have been planted.
    let is_known =
        |(name, _): &(ArtifactName, PathBuf)| view.state().is_final() || name.as_str() != "result.json";
    view.dir.artifacts().into_iter().filter(is_known).map(artifact).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_gets_what_the_other_leaves_over() {
        assert_eq!(shares(10, 20, 100), (10, 20));
        assert_eq!(shares(500, 20, 100), (80, 20));
        assert_eq!(shares(20, 500, 100), (20, 80));
        assert_eq!(shares(500, 500, 100), (50, 50));
    }

    #[test]
    fn the_last_events_are_short_and_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("events.jsonl");
        let line = |n: usize| format!("{}\n", serde_json::json!({ "n": n, "text": "x".repeat(5000) }));
        std::fs::write(&path, (0..60).map(line).collect::<String>() + "broken").unwrap();
        let events = last_events(&path);
        assert_eq!(events.len(), MOST_EVENTS);
        assert_eq!((&events[0]["n"], &events[49]["n"]), (&10.into(), &59.into()));
        assert!(events[0]["text"].as_str().unwrap().chars().count() <= LONGEST_STRING);
    }
}
