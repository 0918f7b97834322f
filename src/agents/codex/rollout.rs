//! The record that Codex keeps of a thread beside the events that it prints: where each command ran.
//!
//! The events name no directory, and a model may set one beside every command. The record has the
//! same commands in the same order, each once it is over, and is written before the event is.

use std::path::PathBuf;

use percent_encoding::percent_decode_str;
use serde::Deserialize;

use crate::model::Timestamp;

/// A command that came to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ran {
    words: Vec<String>,
    exit_code: Option<i64>,
    pub(crate) directory: PathBuf,
    pub(crate) ended_at: Timestamp,
}

#[derive(Deserialize)]
struct Line {
    payload: Payload,
}

#[derive(Deserialize)]
struct Payload {
    #[serde(rename = "type")]
    kind: String,
    thread_id: String,
    item: Item,
    completed_at_ms: i64,
}

#[derive(Deserialize)]
struct Item {
    #[serde(rename = "type")]
    kind: String,
    command: Vec<String>,
    cwd: String,
    exit_code: Option<i64>,
}

impl Ran {
    /// The command that a line of the record of `thread` tells of, where it does.
    pub(crate) fn read(line: &[u8], thread: &str) -> Option<Self> {
        let Line { payload } = serde_json::from_slice(line).ok()?;
        let item = payload.item;
        let is_end = payload.kind == "item_completed" && item.kind == "CommandExecution";
        let directory = directory(&item.cwd).filter(|_| is_end && payload.thread_id == thread)?;
        let ended_at = Timestamp::from_millis(payload.completed_at_ms);
        Some(Self { words: item.command, exit_code: item.exit_code, directory, ended_at })
    }

    /// Whether it is the command of an event, which has the words quoted for a shell.
    pub(crate) fn is(&self, command: &str, exit_code: Option<i64>) -> bool {
        let bare = |text: &str| text.replace(['\'', '"', '\\'], "");
        self.exit_code == exit_code && bare(command) == bare(&self.words.join(" "))
    }
}

/// `file:///home/dev/my%20shop`; a bare path in case that changes.
fn directory(cwd: &str) -> Option<PathBuf> {
    let path = match cwd.strip_prefix("file://") {
        Some(path) => percent_decode_str(path).decode_utf8().ok()?.into_owned(),
        None => cwd.to_owned(),
    };
    path.starts_with('/').then(|| path.into())
}

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// The folders below Codex's home that the record of `thread` may be in. They are named after the day that
/// the thread began, by whatever clock was on the wall; its id has the moment.
pub(crate) fn rollout_folders(thread: &str) -> Vec<String> {
    let hex: String = thread.chars().filter(|c| *c != '-').collect();
    let is_id = hex.len() == 32 && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    let Some(began) = hex.get(..12).filter(|_| is_id).and_then(|hex| i64::from_str_radix(hex, 16).ok())
    else {
        return Vec::new();
    };
    let day = |day: i64| Timestamp::from_millis(began + day * DAY_MS).to_string()[..10].replace('-', "/");
    [0, 1, -1].map(|offset| format!("sessions/{}", day(offset))).into()
}

/// Whether a file of that name is the record of `thread`.
pub(crate) fn is_rollout_of(thread: &str, name: &str) -> bool {
    name.starts_with("rollout-") && name.strip_suffix(".jsonl").is_some_and(|name| name.ends_with(thread))
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREAD: &str = "01a1e42f-f448-77f1-aa66-5b7e5d109407";
    const LINE: &str = r#"{"timestamp":"2026-11-16T11:48:30.908Z","ordinal":11,"type":"event_msg","payload":{"type":"item_completed","thread_id":"01a1e42f-f448-77f1-aa66-5b7e5d109407","turn_id":"01a1e42f-f47b-7063-82ef-13316ab1c3cf","item":{"type":"CommandExecution","id":"call_9d","process_id":"56411","command":["/bin/bash","-lc","echo \"a b\" 'c' $HOME \\\\ | cat"],"cwd":"file:///home/dev/x%20y%25%C3%BC'q","parsed_cmd":[{"type":"unknown","cmd":"pwd"}],"source":"unified_exec_startup","status":"failed","aggregated_output":"a\n","exit_code":1,"duration":{"secs":0,"nanos":41254469}},"started_at_ms":1794829710828,"completed_at_ms":1794829710870}}"#;

    #[test]
    fn a_command_is_read_with_its_directory() {
        let ran = Ran::read(LINE.as_bytes(), THREAD).unwrap();
        assert_eq!(ran.directory, PathBuf::from("/home/dev/x y%ü'q"));
        assert_eq!(ran.ended_at.as_millis(), 1_794_829_710_870);
        let event = "/bin/bash -lc \"echo \\\"a b\\\" 'c' \"'$HOME '\"\\\\\\\\ | cat\"";
        assert!(ran.is(event, Some(1)) && !ran.is(event, Some(0)) && !ran.is(event, None));
        assert!(!ran.is("/bin/bash -lc 'echo a b d'", Some(1)));
    }

    #[test]
    fn what_is_something_else_is_passed_over() {
        for (from, to) in [
            ("\"item_completed\"", "\"item_started\""),
            ("CommandExecution", "UserMessage"),
            ("5b7e5d109407\",\"turn", "5b7e5d109408\",\"turn"),
            ("file:///home", "file://host/home"),
            ("file:///home", "home"),
            ("x%20y%25%C3%BC", "%ff"),
            ("[\"/bin/bash\"", "[7,\"/bin/bash\""),
            ("\"cwd\":", "\"cwd\":\"/a\",\"cwd\":"),
            ("\"completed_at_ms\":1794829710870", "\"completed_at_ms\":\"now\""),
        ] {
            let line = LINE.replacen(from, to, 1);
            assert_ne!(line, LINE);
            assert_eq!(Ran::read(line.as_bytes(), THREAD), None, "{to}");
        }
        for line in ["", "{", "[]", "null", "{\"payload\":{}}"] {
            assert_eq!(Ran::read(line.as_bytes(), THREAD), None, "{line}");
        }
    }

    #[test]
    fn a_record_is_where_its_thread_began() {
        let folders = ["sessions/2026/11/16", "sessions/2026/11/17", "sessions/2026/11/15"];
        assert_eq!(rollout_folders(THREAD), folders);
        for thread in ["", "../../x", "01a1e42f", "01a1e42f-f448-77f1-aa66-5b7e5d10940g", "é"] {
            assert!(rollout_folders(thread).is_empty(), "{thread}");
        }
        assert!(is_rollout_of(THREAD, &format!("rollout-2026-11-16T11-48-30-{THREAD}.jsonl")));
        assert!(!is_rollout_of(THREAD, &format!("other-{THREAD}.jsonl")));
        assert!(!is_rollout_of(THREAD, &format!("rollout-{THREAD}.jsonl.tmp")));
    }
}
