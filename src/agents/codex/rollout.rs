//! Reads the rollout file that Codex writes for a thread, to learn in which directory each command
//! ran.
//!
//! The events contain no directory, but a model may set one for every command. The rollout lists
//! the same commands in the same order, each when it ends and before its event is printed.

use std::hash::{DefaultHasher, Hasher};
use std::path::PathBuf;

use memchr::memmem;
use percent_encoding::percent_decode_str;
use serde::Deserialize;

use crate::model::Timestamp;

/// Longest line of a command: its output may be included, up to 1 MiB before JSON escaping.
const LONGEST_LINE: usize = 2 << 20;
/// Longest path.
const LONGEST_DIRECTORY: usize = 4 << 10;

/// Identifies a command in both the events and the rollout. Contains a hash of the words without
/// quotes, because events quote them for a shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CommandFingerprint {
    words: u64,
    exit_code: Option<i64>,
}

impl CommandFingerprint {
    pub(crate) fn of(command: &str, exit_code: Option<i64>) -> Self {
        Self::of_words([command].into_iter(), exit_code)
    }

    fn of_words<'a>(words: impl Iterator<Item = &'a str>, exit_code: Option<i64>) -> Self {
        let mut hasher = DefaultHasher::new();
        for (at, word) in words.enumerate() {
            let space = (at > 0).then_some(b' ');
            let bare = word.bytes().filter(|byte| !matches!(byte, b'\'' | b'"' | b'\\'));
            space.into_iter().chain(bare).for_each(|byte| hasher.write_u8(byte));
        }
        Self { words: hasher.finish(), exit_code }
    }
}

/// A command that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RolloutCommand {
    /// The id of the model's call.
    pub(crate) id: String,
    pub(crate) mark: CommandFingerprint,
    pub(crate) directory: PathBuf,
    pub(crate) ended_at: Timestamp,
}

/// What a line of a rollout says about commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RolloutLine {
    Nothing,
    Ended(RolloutCommand),
    /// A command ended, but which one or where is unreadable.
    Unclear,
}

#[derive(Deserialize)]
struct Line<P> {
    payload: P,
}

/// The fields needed to classify a line.
#[derive(Deserialize)]
struct Outline {
    #[serde(rename = "type")]
    kind: String,
    thread_id: String,
    item: Kind,
}

#[derive(Deserialize)]
struct Kind {
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct Payload {
    item: Item,
    completed_at_ms: i64,
}

#[derive(Deserialize)]
struct Item {
    id: String,
    command: Vec<String>,
    cwd: String,
    exit_code: Option<i64>,
}

#[derive(Deserialize)]
struct Written {
    timestamp: Timestamp,
}

impl RolloutLine {
    /// Parses a line of the rollout of `thread`.
    pub(crate) fn read(line: &[u8], thread: &str) -> Self {
        if !is_end(line, thread) {
            return Self::Nothing;
        }
        // The words of a longer line might not fit into memory.
        let ended = Some(line).filter(|line| line.len() <= LONGEST_LINE).and_then(RolloutCommand::read);
        ended.map_or(Self::Unclear, Self::Ended)
    }
}

/// Whether a line reports the end of a command of `thread`.
fn is_end(line: &[u8], thread: &str) -> bool {
    const COMMAND: &str = "CommandExecution";
    memmem::find(line, COMMAND.as_bytes()).is_some()
        && serde_json::from_slice(line).is_ok_and(|Line::<Outline> { payload }| {
            payload.kind == "item_completed" && payload.thread_id == thread && payload.item.kind == COMMAND
        })
}

impl RolloutCommand {
    fn read(line: &[u8]) -> Option<Self> {
        let Line::<Payload> { payload } = serde_json::from_slice(line).ok()?;
        let Item { id, command, cwd, exit_code } = payload.item;
        let mark = CommandFingerprint::of_words(command.iter().map(String::as_str), exit_code);
        let ended_at = Timestamp::from_millis(payload.completed_at_ms);
        Some(Self { id, mark, directory: directory(&cwd)?, ended_at })
    }
}

/// Whether a line was written before `moment`.
pub(crate) fn is_older_than(moment: Timestamp, line: &[u8]) -> bool {
    serde_json::from_slice(line).is_ok_and(|Written { timestamp }| timestamp < moment)
}

/// Parses `file:///home/dev/my%20shop`, or a bare path.
fn directory(cwd: &str) -> Option<PathBuf> {
    let path = match cwd.strip_prefix("file://") {
        Some(path) => percent_decode_str(path).decode_utf8().ok()?.into_owned(),
        None => cwd.to_owned(),
    };
    (path.starts_with('/') && path.len() <= LONGEST_DIRECTORY).then(|| path.into())
}

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// The folders in Codex's home that may contain the rollout of `thread`. They are named after the
/// local date of the thread's start; the id contains the time.
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

/// Whether `name` is the rollout file of `thread`.
pub(crate) fn is_rollout_of(thread: &str, name: &str) -> bool {
    name.starts_with("rollout-") && name.strip_suffix(".jsonl").is_some_and(|name| name.ends_with(thread))
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREAD: &str = "01a1e42f-f448-77f1-aa66-5b7e5d109407";
    const LINE: &str = r#"{"timestamp":"2026-11-16T11:48:30.908Z","ordinal":11,"type":"event_msg","payload":{"type":"item_completed","thread_id":"01a1e42f-f448-77f1-aa66-5b7e5d109407","turn_id":"01a1e42f-f47b-7063-82ef-13316ab1c3cf","item":{"type":"CommandExecution","id":"call_9d","process_id":"56411","command":["/bin/bash","-lc","echo \"a b\" 'c' $HOME \\\\ | cat"],"cwd":"file:///home/dev/x%20y%25%C3%BC'q","parsed_cmd":[{"type":"unknown","cmd":"pwd"}],"source":"unified_exec_startup","status":"failed","aggregated_output":"a\n","exit_code":1,"duration":{"secs":0,"nanos":41254469}},"started_at_ms":1794829710828,"completed_at_ms":1794829710870}}"#;

    fn told(line: &str) -> RolloutLine {
        RolloutLine::read(line.as_bytes(), THREAD)
    }

    #[test]
    fn a_command_is_read_with_its_directory() {
        let RolloutLine::Ended(ran) = told(LINE) else { panic!("{:?}", told(LINE)) };
        assert_eq!(ran.directory, PathBuf::from("/home/dev/x y%ü'q"));
        assert_eq!(ran.ended_at.as_millis(), 1_794_829_710_870);
        let event = "/bin/bash -lc \"echo \\\"a b\\\" 'c' \"'$HOME '\"\\\\\\\\ | cat\"";
        let is = |command: &str, exit_code| CommandFingerprint::of(command, exit_code) == ran.mark;
        assert!(is(event, Some(1)) && !is(event, Some(0)) && !is(event, None));
        assert!(!is("/bin/bash -lc 'echo a b d'", Some(1)));
    }

    #[test]
    fn what_is_something_else_is_passed_over() {
        for (from, to) in [
            ("\"item_completed\"", "\"item_started\""),
            ("CommandExecution", "UserMessage"),
            ("5b7e5d109407\",\"turn", "5b7e5d109408\",\"turn"),
        ] {
            let line = LINE.replacen(from, to, 1);
            assert_ne!(line, LINE);
            assert_eq!(told(&line), RolloutLine::Nothing, "{to}");
        }
        for line in ["", "{", "[]", "null", "{\"payload\":{}}", "{\"payload\":\"CommandExecution\"}"] {
            assert_eq!(told(line), RolloutLine::Nothing, "{line}");
        }
    }

    /// If it were skipped, later commands would be matched wrongly.
    #[test]
    fn a_command_that_cannot_be_read_is_there() {
        let long = |most: usize| format!("file:///{}", "d".repeat(most));
        let words = |bytes: usize| format!("[{}\"/bin/bash\"", "\"\",".repeat(bytes / 3));
        for (from, to) in [
            ("file:///home", "file://host/home"),
            ("file:///home", "home"),
            ("file:///home/dev/x%20y", &long(LONGEST_DIRECTORY)),
            ("x%20y%25%C3%BC", "%ff"),
            ("[\"/bin/bash\"", "[7,\"/bin/bash\""),
            ("[\"/bin/bash\"", &words(LONGEST_LINE)),
            ("\"cwd\":", "\"cwd\":\"/a\",\"cwd\":"),
            ("\"completed_at_ms\":1794829710870", "\"completed_at_ms\":\"now\""),
        ] {
            let line = LINE.replacen(from, to, 1);
            assert_ne!(line, LINE);
            assert_eq!(told(&line), RolloutLine::Unclear, "{}", &to[..to.len().min(80)]);
        }
        let line = LINE.replacen("[\"/bin/bash\"", &words(LONGEST_LINE / 2), 1);
        assert!(matches!(told(&line), RolloutLine::Ended(_)));
    }

    #[test]
    fn a_line_says_when_it_was_written() {
        let at: Timestamp = "2026-11-16T11:48:30.908Z".parse().unwrap();
        assert!(is_older_than(Timestamp::from_millis(at.as_millis() + 1), LINE.as_bytes()));
        for line in [LINE, "{\"timestamp\":0}", "{}", "no json"] {
            assert!(!is_older_than(at, line.as_bytes()), "{line}");
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
