//! Finds failed commands that Codex reports in no event.
//!
//! If a command fails at once with a message about permissions, Codex assumes that the sandbox
//! refused it and prints no event. The rollout contains the model's call and the answer.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use memchr::memmem;
use serde::Deserialize;

use crate::model::Timestamp;

/// The tool with which a model runs commands.
const TOOL: &str = "exec_command";
/// Longest answer: Codex passes some 40 KB of output to a model.
const LONGEST_LINE: usize = 1 << 20;
/// Maximum number reported.
const MOST: usize = 200;
/// Maximum number of open calls. A model waits for each before the next few.
const MOST_CALLS: usize = 1_000;

/// A failed command without an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unreported {
    id: String,
    /// The shell command.
    pub(crate) words: String,
    /// As given by the model, relative to the run's directory.
    pub(crate) directory: PathBuf,
    pub(crate) exit_code: i64,
    /// The output that the model saw.
    pub(crate) text: String,
    /// Whether that is all of the output.
    pub(crate) is_whole: bool,
    pub(crate) ended_at: Timestamp,
    /// Number of reported commands that ended before.
    pub(crate) after: usize,
}

impl Unreported {
    /// The command as an event would contain it.
    pub(crate) fn command(&self) -> String {
        format!("/bin/bash -lc '{}'", self.words.replace('\'', "'\\''"))
    }
}

/// Collects unreported commands while a rollout is read.
#[derive(Debug, Default)]
pub(crate) struct UnreportedFinder {
    asked: HashMap<String, Asked>,
    reported: HashSet<String>,
    found: Vec<Unreported>,
}

impl UnreportedFinder {
    /// Reads a line. `after` is the number of commands reported before it.
    pub(crate) fn note(&mut self, line: &[u8], since: Timestamp, after: usize) {
        match RolloutMessage::read(line) {
            Some(RolloutMessage::Call { call_id, asked }) if self.asked.len() < MOST_CALLS => {
                self.asked.insert(call_id, asked);
            }
            Some(RolloutMessage::Answer { call_id, at, answer }) => {
                let is_new = at >= since && !self.reported.contains(&call_id) && self.found.len() < MOST;
                let asked = self.asked.remove(&call_id).filter(|_| is_new);
                let ended = asked.zip(Answer::read(&answer)).filter(|(_, answer)| answer.exit_code != 0);
                if let Some((Asked { cmd, workdir }, Answer { exit_code, text, is_whole })) = ended {
                    let (id, directory) = (call_id, workdir.unwrap_or_default());
                    let text = text.to_owned();
                    let (words, ended_at) = (cmd, at);
                    let new = Unreported { id, words, directory, exit_code, text, is_whole, ended_at, after };
                    self.found.push(new);
                }
            }
            Some(RolloutMessage::Call { .. }) | None => {}
        }
    }

    /// Notes that a call was reported.
    pub(crate) fn note_reported(&mut self, id: &str) {
        self.reported.insert(id.to_owned());
    }

    pub(crate) fn finish(mut self) -> Vec<Unreported> {
        self.found.retain(|found| !self.reported.contains(&found.id));
        self.found
    }
}

/// A message between the model and Codex.
enum RolloutMessage {
    Call { call_id: String, asked: Asked },
    Answer { call_id: String, at: Timestamp, answer: String },
}

#[derive(Debug, Deserialize)]
struct Asked {
    cmd: String,
    workdir: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Line {
    timestamp: Timestamp,
    payload: Payload,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Payload {
    FunctionCall { name: String, arguments: String, call_id: String },
    FunctionCallOutput { call_id: String, output: String },
}

impl RolloutMessage {
    fn read(line: &[u8]) -> Option<Self> {
        let may_be = line.len() <= LONGEST_LINE && memmem::find(line, b"\"function_call").is_some();
        let line: Line = may_be.then(|| serde_json::from_slice(line).ok()).flatten()?;
        match line.payload {
            Payload::FunctionCall { name, arguments, call_id } => {
                let asked = (name == TOOL).then(|| serde_json::from_str(&arguments).ok()).flatten()?;
                Some(Self::Call { call_id, asked })
            }
            Payload::FunctionCallOutput { call_id, output } => {
                Some(Self::Answer { call_id, at: line.timestamp, answer: output })
            }
        }
    }
}

/// Codex's answer about a command that ended.
#[derive(Debug, PartialEq, Eq)]
struct Answer<'a> {
    exit_code: i64,
    text: &'a str,
    is_whole: bool,
}

impl<'a> Answer<'a> {
    /// `None` if the command is still running or did not start.
    fn read(answer: &'a str) -> Option<Self> {
        let (head, text) = answer.split_once("\nOutput:\n")?;
        let code = head.lines().find_map(|line| line.strip_prefix("Process exited with code "))?;
        let exit_code = code.trim().parse().ok()?;
        let cut = text.strip_prefix("Warning: truncated output ").and_then(|rest| rest.split_once("\n\n"));
        Some(Self { exit_code, text: cut.map_or(text, |(_, text)| text), is_whole: cut.is_none() })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    fn line(seconds: i64, payload: Value) -> Vec<u8> {
        json!({ "timestamp": at(seconds), "type": "response_item", "payload": payload })
            .to_string()
            .into_bytes()
    }

    fn call(id: &str, name: &str, arguments: Value) -> Vec<u8> {
        let arguments = arguments.to_string();
        line(1, json!({ "type": "function_call", "name": name, "arguments": arguments, "call_id": id }))
    }

    fn answer(seconds: i64, id: &str, output: &str) -> Vec<u8> {
        line(seconds, json!({ "type": "function_call_output", "call_id": id, "output": output }))
    }

    fn found(lines: &[Vec<u8>], reported: &[&str]) -> Vec<Unreported> {
        let mut silence = UnreportedFinder::default();
        lines.iter().for_each(|line| silence.note(line, at(2), 7));
        reported.iter().for_each(|id| silence.note_reported(id));
        silence.finish()
    }

    const DENIED: &str = "Chunk ID: 2868e4\nWall time: 0.0000 seconds\nProcess exited with code 137\nOriginal token count: 5\nOutput:\nPermission denied\n";

    #[test]
    fn a_command_that_failed_without_an_event_is_found() {
        let asked = call("a", TOOL, json!({ "cmd": "echo 'x'", "workdir": "web" }));
        let ended = answer(3, "a", DENIED);
        let all = found(&[asked.clone(), ended.clone()], &["b"]);
        let [one] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!((one.exit_code, one.text.as_str(), one.is_whole), (137, "Permission denied\n", true));
        assert_eq!((one.directory.as_path(), one.after), (std::path::Path::new("web"), 7));
        assert_eq!((one.command().as_str(), one.ended_at), (r"/bin/bash -lc 'echo '\''x'\'''", at(3)));
        // Reported, too old, of another tool, still running, successful, or not started.
        assert!(found(&[asked.clone(), ended.clone()], &["a"]).is_empty());
        assert!(found(&[asked.clone(), answer(1, "a", DENIED)], &[]).is_empty());
        assert!(found(&[call("a", "other", json!({ "cmd": "x" })), ended.clone()], &[]).is_empty());
        assert!(found(std::slice::from_ref(&ended), &[]).is_empty());
        for text in [
            "Process running with session ID 7\nOutput:\nPermission denied\n",
            &DENIED.replace("137", "0"),
            "approval policy is Never; reject command",
            "",
        ] {
            assert!(found(&[asked.clone(), answer(3, "a", text)], &[]).is_empty(), "{text}");
        }
        for line in ["", "{", "{\"payload\":\"\\\"function_call\"}", "\"function_call\""] {
            assert!(found(&[asked.clone(), line.into()], &[]).is_empty());
        }
    }

    #[test]
    fn what_was_left_out_of_an_output_is_known_to_be() {
        let cut = "Process exited with code 3\nOutput:\nWarning: truncated output (original token count: 18)\nTotal output lines: 2\n\na…13 tokens truncated…b\n";
        let text = "a…13 tokens truncated…b\n";
        assert_eq!(Answer::read(cut), Some(Answer { exit_code: 3, text, is_whole: false }));
    }
}
