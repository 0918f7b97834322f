//! `registry_info` about terminals: what one showed, and a list of them. A command that an agent ran is shown
//! like a terminal.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::model::{TaskId, Timestamp};
use crate::reading::{AgentCommand, CommandLife, OpenOutput, OutputSource};
use crate::reply::next_steps::NextCall;
use crate::terminals::{Liveness, RecordingPart, Terminal, TextForm};
use crate::text::fence;
use crate::text::plain;

/// At most this many other terminals are named in a reply.
const OTHERS: usize = 5;
const OTHER_COMMANDS: usize = 10;
const LONGEST: usize = 200;
/// How much of another terminal's command is shown.
const LONGEST_MENTION: usize = 60;
/// Paths and reasons are of little use when cut, but a row must stay one line.
const LONGEST_PATH: usize = 500;

/// One recorded terminal, or one command that an agent ran.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TerminalRow {
    /// `term-…` for a recorded terminal; for a command, its task's id, `/`, and the agent's own name for it.
    pub(crate) terminal_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// For a command: the task that ran it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) task_id: Option<TaskId>,
    /// It is being recorded or is running now.
    pub(crate) live: bool,
    /// `lost`: its end was not seen. `refused`: the agent was not allowed to run it.
    #[schemars(extend("enum" = ["live", "ended", "lost", "refused"]))]
    pub(crate) state: &'static str,
    pub(crate) command: String,
    /// The shell's current directory, or where it was started.
    pub(crate) cwd: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) started_at: Option<Timestamp>,
    /// When it was last written to; for a command, at the latest.
    pub(crate) last_activity: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended_at: Option<Timestamp>,
    /// As a shell reports it: 128 plus the signal's number if a signal ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) exit_status: Option<i32>,
    pub(crate) total_bytes: u64,
    /// Pinned with `delegator pin`: kept at any age.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) pinned: bool,
    /// The file with every byte; for a command, the transcript of its run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file_path: Option<String>,
    /// For a command that printed something: its lines in that file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file_lines: Option<FileLines>,
    /// Why bytes are missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) incomplete: Option<String>,
}

/// The first and the last of some lines of a file.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FileLines {
    first: u64,
    last: u64,
}

/// Recorded terminals, last written first; or the commands of a task.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TerminalList {
    /// The terminal that was last written to.
    pub(crate) active: Option<String>,
    pub(crate) terminals: Vec<TerminalRow>,
}

/// Another terminal, with what identifies it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TerminalMention {
    pub(crate) terminal_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// `state` with the exit status.
    pub(crate) status: String,
    pub(crate) command: String,
    pub(crate) last_activity: Timestamp,
}

/// A part of what a terminal showed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TerminalOutput {
    #[serde(flatten)]
    pub(crate) terminal: TerminalRow,
    #[schemars(extend("enum" = ["head", "tail", "all", "since"]))]
    pub(crate) mode: &'static str,
    pub(crate) content: String,
    /// Whether escape sequences were removed.
    pub(crate) stripped: bool,
    /// Line numbers of `content`, counted by line feeds; 0 if it has no lines.
    pub(crate) start_line: u64,
    pub(crate) end_line: u64,
    pub(crate) total_lines: u64,
    /// More was asked for than `content` has space for.
    pub(crate) truncated: bool,
    /// Continues where `content` ends: now, or once more was written.
    pub(crate) cursor: String,
    /// Some others, last written first; absent if a cursor was given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) terminals: Vec<TerminalMention>,
    /// What can be done now.
    pub(crate) next: String,
    /// Whether `next` is another call with the cursor.
    #[serde(skip)]
    reads_on: bool,
}

impl TerminalRow {
    fn of(screen: &OutputSource) -> Self {
        match screen {
            OutputSource::Recorded(terminal) => Self::of_terminal(terminal),
            OutputSource::Command { command, incomplete } => Self::of_command(command, incomplete.as_deref()),
        }
    }

    fn of_terminal(terminal: &Terminal) -> Self {
        let (state, ended_at, exit_status) = match terminal.life {
            Liveness::Live => ("live", None, None),
            Liveness::Ended { at, status } => ("ended", Some(at), status),
            Liveness::Lost => ("lost", None, None),
        };
        Self {
            terminal_id: terminal.id.to_string(),
            name: terminal.name.as_deref().map(|name| plain::line(name, LONGEST)),
            task_id: None,
            live: terminal.is_live(),
            state,
            command: plain::line(&terminal.command.join(" "), LONGEST),
            cwd: plain::line(&terminal.cwd.to_string_lossy(), LONGEST_PATH),
            started_at: Some(terminal.started_at),
            last_activity: terminal.last_activity,
            ended_at,
            exit_status,
            total_bytes: terminal.bytes,
            pinned: terminal.pinned,
            file_path: Some(terminal.file().to_string_lossy().into_owned()),
            file_lines: None,
            incomplete: terminal.incomplete.as_deref().map(|why| plain::line(why, LONGEST_PATH)),
        }
    }

    fn of_command(command: &AgentCommand, incomplete: Option<&str>) -> Self {
        let (state, exit_status) = match command.life {
            CommandLife::Running => ("live", None),
            CommandLife::Ended { status } => ("ended", status),
            CommandLife::Refused => ("refused", None),
            CommandLife::Lost => ("lost", None),
        };
        Self {
            terminal_id: command.id(),
            name: None,
            task_id: Some(command.task.clone()),
            live: command.life == CommandLife::Running,
            state,
            command: plain::line(&command.command, LONGEST),
            cwd: plain::line(&command.cwd.to_string_lossy(), LONGEST_PATH),
            started_at: command.started_at,
            last_activity: command.written,
            ended_at: None,
            exit_status,
            total_bytes: command.bytes,
            pinned: false,
            file_path: command.file.as_ref().map(|file| file.to_string_lossy().into_owned()),
            file_lines: command.lines.map(|(first, last)| FileLines { first, last }),
            incomplete: incomplete.map(|why| plain::line(why, LONGEST_PATH)),
        }
    }

    /// The state with the exit status, in a few words.
    pub(crate) fn status(&self) -> String {
        let pinned = if self.pinned { ", pinned" } else { "" };
        match self.exit_status {
            Some(status) => format!("{} (exit {status}){pinned}", self.state),
            None => format!("{}{pinned}", self.state),
        }
    }

    fn mentioned(self) -> TerminalMention {
        TerminalMention {
            status: self.status(),
            command: plain::line(&self.command, LONGEST_MENTION),
            terminal_id: self.terminal_id,
            name: self.name,
            last_activity: self.last_activity,
        }
    }
}

impl TerminalList {
    pub(crate) fn of(screens: &[OutputSource]) -> Self {
        let terminals: Vec<TerminalRow> = screens.iter().map(TerminalRow::of).collect();
        Self { active: terminals.first().map(|terminal| terminal.terminal_id.clone()), terminals }
    }
}

impl TerminalOutput {
    pub(crate) fn of(screens: &OpenOutput, piece: RecordingPart, mode: &'static str, form: TextForm) -> Self {
        let row = TerminalRow::of(&screens.screen);
        let most = match &screens.screen {
            OutputSource::Recorded(_) => OTHERS,
            OutputSource::Command { .. } => OTHER_COMMANDS,
        };
        let others = screens.others.iter().take(most);
        // An incomplete character may still be completed while the terminal is live.
        let is_end = !row.live && !piece.more;
        let cursor = format!("b{}", if is_end { piece.total_bytes } else { piece.bytes.end });
        let (next, reads_on) = next(&row, &piece, mode, &cursor);
        Self {
            mode,
            next,
            reads_on,
            content: piece.text,
            stripped: form == TextForm::Plain,
            start_line: piece.start_line,
            end_line: piece.end_line,
            total_lines: piece.total_lines,
            truncated: piece.cut,
            cursor,
            terminals: others.map(|other| TerminalRow::of(other).mentioned()).collect(),
            terminal: TerminalRow {
                total_bytes: piece.total_bytes,
                incomplete: piece.damage.map(|why| plain::line(&why, LONGEST_PATH)).or(row.incomplete),
                ..row
            },
        }
    }

    /// Reads newer or further output, if there may be any.
    pub(crate) fn calls(&self, tool: &'static str) -> Vec<NextCall> {
        let arguments = json!({ "terminal_id": self.terminal.terminal_id, "cursor": self.cursor });
        self.reads_on.then(|| NextCall::new(tool, arguments, "reads on")).into_iter().collect()
    }

    /// Without the others: a caller with a cursor knows them.
    pub(crate) fn alone(self) -> Self {
        Self { terminals: Vec::new(), ..self }
    }

    /// The size in characters of JSON.
    pub(crate) fn length(&self) -> usize {
        serde_json::to_string(self).map_or(0, |json| json.chars().count())
    }

    /// The whole reply as text.
    pub(crate) fn text(&self, tool: &str, notice: Option<&str>) -> String {
        let row = &self.terminal;
        let line = |label: &str, value: Option<&String>| {
            value.map(|value| format!("{label}: {value}\n")).unwrap_or_default()
        };
        let name = line("name", row.name.as_ref());
        let file = row.file_path.as_ref().map(|file| match &row.file_lines {
            Some(FileLines { first, last }) => format!("file: {file} (lines {first}-{last})\n"),
            None => format!("file: {file}\n"),
        });
        let file = file.unwrap_or_default();
        let incomplete = line("incomplete", row.incomplete.as_ref());
        let lines = match (self.start_line, self.end_line) {
            (0, _) => format!("none of {}", self.total_lines),
            (first, last) => format!("{first}-{last} of {}", self.total_lines),
        };
        let content = match self.content.trim_end_matches('\n') {
            "" => "(nothing)\n".to_owned(),
            text => {
                let fence = fence(text);
                format!("{fence}\n{text}\n{fence}\n")
            }
        };
        let (whose, kind) = match row.task_id {
            Some(_) => ("as the agent's command printed it", "commands"),
            None => ("as the terminal showed it", "terminals"),
        };
        let notice = notice.map(|notice| format!("notice: {notice}\n")).unwrap_or_default();
        let others: String = self.terminals.iter().map(other).collect();
        let others = if others.is_empty() { others } else { format!("other {kind}:\n{others}") };
        format!(
            "{tool}\nterminal_id: {}\n{name}status: {}\ncommand: {}\ncwd: {}\nlast_activity: {}\n{file}{incomplete}\
             lines: {lines}\noutput ({whose}):\n{content}{others}{notice}next: {}\n",
            row.terminal_id,
            row.status(),
            row.command,
            row.cwd,
            row.last_activity,
            self.next,
        )
    }
}

/// What can be done now, and whether that is another call with the cursor.
fn next(row: &TerminalRow, piece: &RecordingPart, mode: &str, cursor: &str) -> (String, bool) {
    let reads_whole = row.file_path.is_some();
    if piece.cut && mode == "tail" {
        let anywhere = if reads_whole { "; inspect_output with this file_path reads any part" } else { "" };
        return (format!("earlier lines: mode `all` reads from the beginning{anywhere}"), false);
    }
    if piece.more {
        return (format!("there is more: call again with cursor `{cursor}`"), true);
    }
    // The output of a run that is a single command arrives while it runs.
    let waits = row.task_id.is_some() && !row.terminal_id.ends_with("/command");
    match (row.live, waits) {
        (true, true) => ("still running: the agent reports its output when it has ended".to_owned(), false),
        (true, false) => (format!("still live: call again with cursor `{cursor}` for newer output"), true),
        (false, _) => ("end of the output".to_owned(), false),
    }
}

fn other(row: &TerminalMention) -> String {
    let name = row.name.as_ref().map(|name| format!(" [{name}]")).unwrap_or_default();
    let TerminalMention { terminal_id, status, command, last_activity, .. } = row;
    format!("- {terminal_id}{name}: {status}, {command}, last written to {last_activity}\n")
}
