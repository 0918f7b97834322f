//! `registry_info` about recorded terminals: a part of what one showed, and
//! which there are.

use schemars::JsonSchema;
use serde::Serialize;

use super::text::fence;
use crate::model::{TerminalId, Timestamp};
use crate::progress::plain;
use crate::terminals::{Form, Life, Piece, Terminal};

/// Most of the other terminals that a reply names.
const OTHERS: usize = 10;
const LONGEST: usize = 200;
/// Paths and reasons are of little use cut; but a row must stay a row.
const LONGEST_PATH: usize = 500;

/// One recorded terminal.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TerminalRow {
    pub(crate) terminal_id: TerminalId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// It is being recorded right now.
    pub(crate) live: bool,
    /// `lost`: its recorder was killed, and how it ended is not known.
    #[schemars(extend("enum" = ["live", "ended", "lost"]))]
    pub(crate) state: &'static str,
    pub(crate) command: String,
    /// Where its shell stands, or where it was started.
    pub(crate) cwd: String,
    pub(crate) started_at: Timestamp,
    /// When it was last written to.
    pub(crate) last_activity: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended_at: Option<Timestamp>,
    /// As a shell gives it: 128 and the signal where one ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) exit_status: Option<i32>,
    pub(crate) total_bytes: u64,
    /// Every byte that the terminal was sent.
    pub(crate) file_path: String,
    /// Why the later bytes are missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) incomplete: Option<String>,
}

/// The recorded terminals, the last written to first.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TerminalList {
    /// The one last written to.
    pub(crate) active: Option<TerminalId>,
    pub(crate) terminals: Vec<TerminalRow>,
}

/// A part of what a terminal showed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TerminalOutput {
    #[serde(flatten)]
    pub(crate) terminal: TerminalRow,
    #[schemars(extend("enum" = ["head", "tail", "all", "since"]))]
    pub(crate) mode: &'static str,
    pub(crate) content: String,
    /// Escape sequences were taken out.
    pub(crate) stripped: bool,
    /// Of `content`, counted by line feeds; 0 where there is none.
    pub(crate) start_line: u64,
    pub(crate) end_line: u64,
    pub(crate) total_lines: u64,
    /// There is more of what was asked for than `content` has room for.
    pub(crate) truncated: bool,
    /// Goes on where `content` ends: now, or when more was written.
    pub(crate) cursor: String,
    /// The others, the last written to first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) terminals: Vec<TerminalRow>,
    /// What can be done now.
    pub(crate) next: String,
}

impl TerminalRow {
    pub(crate) fn of(terminal: &Terminal) -> Self {
        let (state, ended_at, exit_status) = match terminal.life {
            Life::Live => ("live", None, None),
            Life::Ended { at, status } => ("ended", Some(at), status),
            Life::Lost => ("lost", None, None),
        };
        Self {
            terminal_id: terminal.id.clone(),
            name: terminal.name.as_deref().map(|name| plain::line(name, LONGEST)),
            live: terminal.is_live(),
            state,
            command: plain::line(&terminal.command.join(" "), LONGEST),
            cwd: plain::line(&terminal.cwd.to_string_lossy(), LONGEST_PATH),
            started_at: terminal.started_at,
            last_activity: terminal.last_activity,
            ended_at,
            exit_status,
            total_bytes: terminal.bytes,
            file_path: terminal.file().to_string_lossy().into_owned(),
            incomplete: terminal.incomplete.as_deref().map(|why| plain::line(why, LONGEST_PATH)),
        }
    }

    /// How it is, in a word or two.
    pub(crate) fn told(&self) -> String {
        match self.exit_status {
            Some(status) => format!("{} (exit {status})", self.state),
            None => self.state.to_owned(),
        }
    }
}

impl TerminalList {
    pub(crate) fn of(terminals: &[Terminal]) -> Self {
        Self {
            active: terminals.first().map(|terminal| terminal.id.clone()),
            terminals: terminals.iter().map(TerminalRow::of).collect(),
        }
    }
}

impl TerminalOutput {
    pub(crate) fn of(
        terminal: &Terminal,
        piece: Piece,
        mode: &'static str,
        form: Form,
        others: &[Terminal],
    ) -> Self {
        let row = TerminalRow::of(terminal);
        let others = others.iter().filter(|other| other.id != terminal.id).take(OTHERS);
        let cursor = format!("b{}", piece.bytes.end);
        let next = match (piece.cut, mode, terminal.is_live()) {
            (true, "tail", _) => "the lines before these: mode `all` reads from the beginning".to_owned(),
            (true, _, _) => format!("more is there: call again with cursor `{cursor}`"),
            (false, _, true) => format!("it is live: cursor `{cursor}` gives what comes after this"),
            (false, _, false) => "this is the end of it".to_owned(),
        };
        Self {
            mode,
            content: match form {
                Form::Plain => plain::text(&piece.text),
                Form::Raw => piece.text,
            },
            stripped: form == Form::Plain,
            start_line: piece.start_line,
            end_line: piece.end_line,
            total_lines: piece.total_lines,
            truncated: piece.cut,
            cursor,
            terminals: others.map(TerminalRow::of).collect(),
            next,
            terminal: TerminalRow {
                total_bytes: piece.total_bytes,
                incomplete: piece.damage.map(|why| plain::line(&why, LONGEST_PATH)).or(row.incomplete),
                ..row
            },
        }
    }

    /// How many characters it has as JSON.
    pub(crate) fn length(&self) -> usize {
        serde_json::to_string(self).map_or(0, |json| json.chars().count())
    }

    /// All of it as text.
    pub(crate) fn text(&self, tool: &str, notice: Option<&str>) -> String {
        let row = &self.terminal;
        let name = row.name.as_ref().map(|name| format!("name: {name}\n")).unwrap_or_default();
        let lines = match (self.start_line, self.end_line) {
            (0, _) => format!("none of {}", self.total_lines),
            (first, last) => format!("{first}-{last} of {}", self.total_lines),
        };
        let incomplete =
            row.incomplete.as_ref().map(|why| format!("incomplete: {why}\n")).unwrap_or_default();
        let content = match self.content.trim_end_matches('\n') {
            "" => "(nothing)\n".to_owned(),
            text => {
                let fence = fence(text);
                format!("{fence}\n{text}\n{fence}\n")
            }
        };
        let notice = notice.map(|notice| format!("notice: {notice}\n")).unwrap_or_default();
        let others: String = self.terminals.iter().map(other).collect();
        let others = if others.is_empty() { others } else { format!("other terminals:\n{others}") };
        format!(
            "{tool}\nterminal_id: {}\n{name}status: {}\ncommand: {}\ncwd: {}\nlast_activity: {}\nfile: {}\n{incomplete}\
             lines: {lines}\noutput (as the terminal showed it):\n{content}{others}{notice}next: {}\n",
            row.terminal_id,
            row.told(),
            row.command,
            row.cwd,
            row.last_activity,
            row.file_path,
            self.next,
        )
    }
}

fn other(row: &TerminalRow) -> String {
    let name = row.name.as_ref().map(|name| format!(" [{name}]")).unwrap_or_default();
    format!("- {}{name}: {}, last written to {}\n", row.terminal_id, row.told(), row.last_activity)
}
