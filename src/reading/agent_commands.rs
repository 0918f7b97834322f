//! Lists the commands that an agent ran, and opens what one of them printed, from the ledger and the
//! transcript.
//!
//! A run of the `command` agent counts as one command, whose output is the run's output.

use std::path::{Path, PathBuf};

use crate::context::{Context, MissingOutput, TaskError};
use crate::evidence::{CommandOutcome, LedgerEntry, Span};
use crate::host::files;
use crate::host::{FilePart, MultiFileReader};
use crate::ledger::{ONLY_COMMAND, read};
use crate::ledger::{Stream, output_stream};
use crate::model::{Stdout, TaskId, Timestamp};
use crate::reading::view::{View, view};
use crate::registry::Row;
use crate::terminals::{Reader, TerminalError};
use crate::text::plain;

/// At most this many commands are listed, the last ones.
const MOST: usize = 1000;
const LONGEST: usize = 200;
/// How many recent runs are searched for a command.
const RUNS: u32 = 10;

/// One command, as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AgentCommand {
    pub(crate) task: TaskId,
    /// The agent's own name for it.
    pub(crate) item: String,
    pub(crate) command: String,
    pub(crate) cwd: PathBuf,
    pub(crate) started_at: Option<Timestamp>,
    /// No byte was written later than this.
    pub(crate) written: Timestamp,
    pub(crate) life: CommandLife,
    pub(crate) bytes: u64,
    /// The transcript that contains its output. Absent for runs of older versions.
    pub(crate) file: Option<PathBuf>,
    /// Its first and last line there.
    pub(crate) lines: Option<(u64, u64)>,
    /// Whether the transcript has only a part of its output.
    pub(crate) cut: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandLife {
    Running,
    Ended {
        status: Option<i32>,
    },
    /// Refused by a policy, a sandbox, or a person.
    Refused,
    /// The run ended before the agent reported the command's end.
    Lost,
}

/// A command with what it printed.
#[derive(Debug)]
pub(crate) struct PrintedCommand {
    pub(crate) command: AgentCommand,
    pub(crate) reader: Reader,
    /// Why bytes are missing, if they are.
    pub(crate) incomplete: Option<String>,
    /// The other commands of the same run, newest first.
    pub(crate) others: Vec<AgentCommand>,
}

impl AgentCommand {
    /// The reference by which a caller asks for it.
    pub(crate) fn id(&self) -> String {
        format!("{}/{}", self.task, self.item)
    }
}

/// All commands of a task, newest first.
pub(crate) fn list(context: &mut Context, row: Row) -> Result<Vec<AgentCommand>, TaskError> {
    let view = view(context, row);
    match view.missing_output() {
        Some(why @ MissingOutput::Gone) => Err(TaskError::MissingOutput { task: view.row.id, why }),
        Some(MissingOutput::Queued | MissingOutput::NeverStarted) => Ok(Vec::new()),
        None => Ok(commands(&view).into_iter().map(|(command, _)| command).collect()),
    }
}

/// The command of a task named `item`. Without a name, the last one that ended, or else the one that is
/// running.
pub(crate) fn find(context: &mut Context, row: Row, item: Option<&str>) -> Result<PrintedCommand, TaskError> {
    let view = view(context, row);
    if let Some(why) = view.missing_output() {
        return Err(TaskError::MissingOutput { task: view.row.id, why });
    }
    let mut all = commands(&view);
    let is_wanted = |command: &AgentCommand| match item {
        Some(item) => command.item == item,
        None => command.life != CommandLife::Running,
    };
    let found = all.iter().position(|(command, _)| is_wanted(command));
    let found = found.or_else(|| (item.is_none() && !all.is_empty()).then_some(0));
    let Some((command, span)) = found.map(|at| all.remove(at)) else {
        let there = all.iter().take(RUNS as usize).map(|(command, _)| command.item.clone()).collect();
        return Err(TaskError::NoCommand { task: view.row.id.clone(), item: item.map(str::to_owned), there });
    };
    let others = all.into_iter().map(|(command, _)| command).collect();
    let failed = |source| TerminalError::Read { id: command.id(), source };
    if command.item == ONLY_COMMAND && view.row.agent.abilities().is_command_line() {
        let Stream { stretches, written, gap } =
            output_stream::open_at(&view.dir.transcript(), Stdout::Text).map_err(failed)?;
        // A split stream has no recorded times.
        let times = output_stream::open_plain_file(&view.dir.times()).ok();
        let reader = Reader::over(command.id(), stretches, written, times).map_err(failed)?;
        let incomplete = gap.filter(|gap| gap.dropped > 0).map(|_| {
            "the output exceeded `max_stream_bytes`: only its beginning and its latest end are kept"
                .to_owned()
        });
        return Ok(PrintedCommand { command, reader, incomplete, others });
    }
    let text = span.map(|span| read::text_in_span(&view.dir, span)).unwrap_or_default();
    let stretch = vec![FilePart::Text(text.into_bytes())];
    let reader = Reader::over(command.id(), stretch, command.written, None).map_err(failed)?;
    let incomplete = command.cut.then(|| "only a part of the output is here: the agent reported only a part, or the transcript left some out".to_owned());
    Ok(PrintedCommand { command, reader, incomplete, others })
}

/// The last command of the most recent run that ran one.
pub(crate) fn latest(
    context: &mut Context,
    project: Option<&Path>,
) -> Result<Option<PrintedCommand>, TaskError> {
    let belongs = |row: &Row| project.is_none_or(|project| row.project == project);
    let mut rows: Vec<Row> = context.registry.working()?.into_iter().filter(belongs).collect();
    rows.reverse();
    let name = project.map(|project| project.to_string_lossy().into_owned());
    rows.extend(context.registry.finished(name.as_deref(), RUNS)?);
    for row in rows.into_iter().take(RUNS as usize) {
        match find(context, row, None) {
            Err(TaskError::NoCommand { .. } | TaskError::MissingOutput { .. }) => {}
            ran => return ran.map(Some),
        }
    }
    Ok(None)
}

/// The commands of a run, newest first, each with the position of its output.
fn commands(view: &View) -> Vec<(AgentCommand, Option<Span>)> {
    if view.row.agent.abilities().is_command_line() {
        return vec![(itself(view), None)];
    }
    let is_over = view.row.state.is_final();
    let has_file = view.dir.transcript().exists();
    let running = view.progress.iter().flat_map(|progress| &progress.running).filter(|_| !is_over);
    let mut all: Vec<(AgentCommand, Option<Span>)> = read::entries(&view.dir)
        .into_iter()
        .filter(|entry| is_over || entry.outcome != CommandOutcome::Unfinished)
        .map(|entry| (ended(view, &entry, has_file), entry.output))
        .collect();
    let ended: Vec<String> = all.iter().map(|(command, _)| command.item.clone()).collect();
    // Progress may be a second old.
    let running = running.filter(|running| !ended.contains(&running.item));
    let file = has_file.then(|| view.dir.transcript());
    all.extend(running.map(|running| {
        let command = AgentCommand {
            task: view.row.id.clone(),
            item: running.item.clone(),
            command: plain::line(&running.command, LONGEST),
            cwd: cwd(view),
            started_at: running.since,
            written: running.since.unwrap_or(view.row.created_at),
            life: CommandLife::Running,
            bytes: 0,
            file: file.clone(),
            lines: None,
            cut: false,
        };
        (command, None)
    }));
    all.reverse();
    all.truncate(MOST);
    all
}

fn ended(view: &View, entry: &LedgerEntry, has_file: bool) -> AgentCommand {
    let status = entry.exit_code.and_then(|code| i32::try_from(code).ok());
    let written = || files::modified_at(&view.dir.transcript()).unwrap_or(view.row.created_at);
    AgentCommand {
        task: view.row.id.clone(),
        item: plain::line(&entry.item, LONGEST),
        command: plain::line(&entry.line, LONGEST),
        cwd: if entry.directory.is_empty() { cwd(view) } else { PathBuf::from(&entry.directory) },
        started_at: entry.started_at,
        written: entry.ended_at.unwrap_or_else(written),
        life: match entry.outcome {
            CommandOutcome::Refused => CommandLife::Refused,
            CommandOutcome::Unfinished => CommandLife::Lost,
            CommandOutcome::Passed | CommandOutcome::Failed | CommandOutcome::Unknown => {
                CommandLife::Ended { status }
            }
        },
        bytes: entry.output.map_or(0, |span| span.end - span.start),
        file: has_file.then(|| view.dir.transcript()),
        lines: entry.output.map(|span| (span.first_line, span.last_line)),
        cut: entry.output_cut,
    }
}

/// The command of a run that is a single command.
fn itself(view: &View) -> AgentCommand {
    let path = view.dir.transcript();
    let life = match (&view.result, view.row.state.is_final()) {
        (Some(result), _) => CommandLife::Ended { status: result.exit.map(|exit| exit.status()) },
        (None, true) => CommandLife::Lost,
        (None, false) => CommandLife::Running,
    };
    let started_at = view.row.started_at.unwrap_or(view.row.created_at);
    let all = output_stream::open_joined(&path).ok();
    AgentCommand {
        task: view.row.id.clone(),
        item: ONLY_COMMAND.to_owned(),
        command: plain::line(
            view.request.as_ref().map_or(&view.row.instruction, |request| &request.task),
            LONGEST,
        ),
        cwd: cwd(view),
        started_at: Some(started_at),
        written: files::modified_at(&path).unwrap_or(started_at),
        life,
        bytes: all.as_ref().map_or(0, MultiFileReader::length),
        lines: read::entries(&view.dir)
            .first()
            .and_then(|entry| entry.output)
            .map(|span| (span.first_line, span.last_line)),
        file: Some(path).filter(|path| path.exists()),
        cut: false,
    }
}

fn cwd(view: &View) -> PathBuf {
    view.request.as_ref().map_or_else(|| view.row.project.clone(), |request| request.cwd.clone())
}
