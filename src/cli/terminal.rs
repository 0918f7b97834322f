//! `delegator terminal`: records a shell or a command in a terminal, and lists and reads recordings.

use crate::reading;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::cli::invocation::Call;
use crate::cli::table::table;
use crate::cli::{print, usage_errors};
use crate::context::{TaskError, one_line};
use crate::failure::{Exit, Failure};
use crate::host::env;
use crate::host::{clock, spawn};
use crate::model::Timestamp;
use crate::reply::{RegistryMeta, TerminalList, TerminalOutput, TerminalRow, duration};
use crate::terminals::{self, PartRequest, PartSelector, Program, TerminalError, TextForm};
use crate::text::plain;

const LINES: u64 = 100;
/// Characters in one JSON document.
const ROOM: usize = 64 << 10;
const LONGEST_NAME: usize = 80;
/// The exit statuses that shells use for a program that does not exist and for one that cannot be started.
const NOT_FOUND: u8 = 127;
const NOT_STARTED: u8 = 126;

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    override_usage = "delegator terminal [--name NAME] [-- COMMAND...]\n       delegator terminal list [TASK]\n       delegator terminal read [ID] [OPTIONS]"
)]
pub(super) struct Terminal {
    #[command(subcommand)]
    look: Option<Look>,
    /// Name the recording
    #[arg(long)]
    name: Option<String>,
    /// Run this command instead of your shell
    #[arg(last = true)]
    command: Vec<OsString>,
}

#[derive(Debug, Subcommand)]
enum Look {
    /// List the recorded terminals, most recently used first
    List {
        /// List the commands that this task's agent ran instead
        task: Option<String>,
    },
    /// Print what a terminal showed or an agent's command printed
    Read(Read),
}

#[derive(Debug, Args)]
struct Read {
    /// The recording's id, the beginning of its id, or its name; or a task, with /ITEM for one of
    /// its commands [default: the most recently used terminal, else the last command]
    id: Option<String>,
    /// Print the first N lines
    #[arg(long, value_name = "N", group = "part")]
    head: Option<u64>,
    /// Print the last N lines [default: 100]
    #[arg(long, alias = "lines", value_name = "N", group = "part")]
    tail: Option<u64>,
    /// Print everything
    #[arg(long, group = "part")]
    all: bool,
    /// Print what was written since then: 2026-11-15T09:30:00Z, or 90s, 10m, 2h ago
    #[arg(long, value_name = "TIME", group = "part")]
    since: Option<String>,
    /// Continue where an earlier document ended
    #[arg(long, value_name = "CURSOR", group = "part")]
    cursor: Option<String>,
    /// Print the raw bytes, escape sequences included
    #[arg(long)]
    raw: bool,
}

impl Terminal {
    pub(super) fn run(self, call: &Call) -> Result<ExitCode, Failure> {
        match self.look {
            Some(Look::List { task }) => list(call, task.as_deref()),
            Some(Look::Read(read)) => read.run(call),
            None => record(call, self.name, &self.command),
        }
    }
}

fn record(call: &Call, name: Option<String>, words: &[OsString]) -> Result<ExitCode, Failure> {
    if call.json {
        let hint = "`terminal list` and `terminal read` accept it";
        return Err(usage_errors::bad("`--json` cannot be used to record a terminal", hint));
    }
    let name = name.map(checked).transpose()?;
    let command = Program::command(words);
    let is_shell = command.is_none();
    let program = command.unwrap_or_else(|| Program::shell(&call.env));
    if let Some(id) = terminals::surrounding(&call.env) {
        if !is_shell {
            print::note(&format!("delegator: already recording as {id}, so this is part of it"));
        }
        return Ok(instead(&program, (env::TERMINAL, id.as_str())));
    }
    match terminals::record(&call.env, name, &program) {
        Ok(recorded) => {
            if let Some(trouble) = recorded.trouble {
                print::note(&format!("delegator: {}", plain::line(&trouble, 400)));
            }
            Ok(ExitCode::from(u8::try_from(recorded.status).unwrap_or(u8::MAX)))
        }
        // A terminal without a recording is better than no terminal.
        Err(error @ TerminalError::NoPty(_)) => {
            print::note(&format!("delegator: not recorded: {}", one_line(&error)));
            Ok(instead(&program, (env::TERMINAL, env::UNRECORDED)))
        }
        Err(TerminalError::Spawn { program, source }) => {
            let code = not_started(&source);
            let error = TerminalError::Spawn { program, source };
            print::note(&format!("delegator: {}", plain::line(&one_line(&error), 400)));
            Ok(code)
        }
        Err(error) => Err(TaskError::from(error).into()),
    }
}

fn checked(name: String) -> Result<String, Failure> {
    if name.is_empty() || name.chars().count() > LONGEST_NAME || name.chars().any(char::is_control) {
        let hint = format!("use a short name of printable characters, at most {LONGEST_NAME}");
        return Err(usage_errors::bad("invalid name for a terminal", hint));
    }
    Ok(name)
}

/// Replaces this process with the program.
fn instead(program: &Program, variable: (&str, &str)) -> ExitCode {
    let error = spawn::exec_program(Path::new(&program.path), &program.args, variable);
    print::note(&format!("delegator: failed to start `{}`: {error}", program.path.display()));
    not_started(&error)
}

fn not_started(error: &io::Error) -> ExitCode {
    let missing = matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
    ExitCode::from(if missing { NOT_FOUND } else { NOT_STARTED })
}

fn list(call: &Call, task: Option<&str>) -> Result<ExitCode, Failure> {
    let mut context = call.open_to_look()?;
    let screens = match task {
        Some(task) => reading::list_commands_of(&mut context, task)?,
        None => reading::list_terminals(&context, None),
    };
    let data = TerminalList::of(&screens);
    let meta = RegistryMeta { count: Some(data.terminals.len()), ..RegistryMeta::default() };
    let none = match task {
        Some(_) => "its agent has run no commands\n",
        None => "no terminal was recorded\nnext: `delegator terminal` starts one\n",
    };
    call.answer(meta, data, |data| rows(data, none, clock::now()))?;
    Ok(done())
}

fn done() -> ExitCode {
    ExitCode::from(Exit::Done as u8)
}

fn rows(data: &TerminalList, none: &str, now: Timestamp) -> String {
    if data.terminals.is_empty() {
        return none.to_owned();
    }
    let head =
        ["TERMINAL", "NAME", "STATE", "WRITTEN", "BYTES", "COMMAND", "CWD"].map(str::to_owned).to_vec();
    let row = |row: &TerminalRow| {
        vec![
            row.terminal_id.clone(),
            row.name.clone().unwrap_or_default(),
            row.status(),
            format!("{} ago", duration(now.millis_since(row.last_activity))),
            row.total_bytes.to_string(),
            plain::line(&row.command, 40),
            row.cwd.clone(),
        ]
    };
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(data.terminals.iter().map(row)).collect();
    table(&rows, print::width())
}

impl Read {
    fn part(&self) -> Result<(PartSelector, &'static str), Failure> {
        let told = |error: TerminalError| Failure::from(TaskError::from(error));
        Ok(match self {
            Read { head: Some(lines), .. } => (PartSelector::Head(*lines), "head"),
            Read { all: true, .. } => (PartSelector::All, "all"),
            Read { since: Some(moment), .. } => {
                (PartSelector::since(moment, clock::now()).map_err(told)?, "since")
            }
            Read { cursor: Some(cursor), .. } => (PartSelector::after(cursor).map_err(told)?, "all"),
            Read { tail, .. } => (PartSelector::Tail(tail.unwrap_or(LINES)), "tail"),
        })
    }

    fn run(self, call: &Call) -> Result<ExitCode, Failure> {
        let told = |error: TerminalError| Failure::from(TaskError::from(error));
        let (part, mode) = self.part()?;
        let form = if self.raw { TextForm::Raw } else { TextForm::Plain };
        let mut context = call.open_to_look()?;
        let screens = reading::open_terminal(&mut context, self.id.as_deref(), None)?;
        let recording = &screens.reader;
        if call.json {
            let piece = recording.read(&PartRequest { part, form, room: ROOM }).map_err(told)?;
            let data = TerminalOutput::of(&screens, piece, mode, form);
            let data = if self.cursor.is_some() { data.alone() } else { data };
            let next = data.calls(call.tool);
            print::document(&call.envelope(RegistryMeta::default(), data)?.suggesting(next));
            return Ok(done());
        }
        // A recording that grows faster than it is printed is printed up to the end that it had at the start.
        let mut last = None;
        let mut show = |bytes: &[u8]| {
            last = bytes.last().copied().or(last);
            print::bytes(bytes);
        };
        let damage = recording.pages(part, form, &mut show).map_err(told)?;
        // End the line, so that the next prompt starts on its own.
        if form == TextForm::Plain && print::width().is_some() && last.is_some_and(|last| last != b'\n') {
            print::bytes(b"\n");
        }
        if let Some(why) = damage.or(screens.screen.incomplete()) {
            print::note(&format!("delegator: {}", plain::line(why, 400)));
        }
        Ok(done())
    }
}
