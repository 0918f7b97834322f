//! The commands that an agent ran: which there were, and what one printed.
//!
//! The stream of events tells both; what was long is an artifact as well. A run
//! of the `command` agent is itself one command, and prints what the run does.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use crate::agents;
use crate::host::files;
use crate::host::joined::Stretch;
use crate::model::{AgentName, Event, ItemStatus, Request, Stdout, TaskId, Timestamp};
use crate::progress::plain;
use crate::registry::Row;
use crate::runs::ArtifactName;
use crate::supervisor::Lines;
use crate::tasks::stream::{self, Stream};
use crate::tasks::{Context, TaskError, Unprinted, View, view};
use crate::terminals::{Moments, Reader, TerminalError};

/// What a run is called that is one command: its standard output, and what it
/// printed to standard error.
const ITSELF: &str = "command";
const STDERR: &str = "stderr";
/// The last ones; of what came before them, each is known by its own name.
const MOST: usize = 1000;
const LONGEST: usize = 200;
/// How many of the last runs are asked for a command.
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
    /// No byte of it came later.
    pub(crate) written: Timestamp,
    pub(crate) life: CommandLife,
    pub(crate) bytes: u64,
    /// Where all that it printed is, and nothing else.
    pub(crate) file: Option<PathBuf>,
    /// Where this is one of the two streams of a run.
    pub(crate) stream: Option<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandLife {
    Running,
    Ended {
        status: Option<i32>,
    },
    /// By a policy, a sandbox, or a person.
    Refused,
    /// The run was over before the agent told of its end.
    Lost,
}

/// A command with what it printed.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) command: AgentCommand,
    pub(crate) reader: Reader,
    /// Why bytes are missing.
    pub(crate) incomplete: Option<String>,
    /// The others of its run, the last first.
    pub(crate) others: Vec<AgentCommand>,
}

impl AgentCommand {
    /// How it is asked for.
    pub(crate) fn id(&self) -> String {
        format!("{}/{}", self.task, self.item)
    }
}

/// Every command of a task, the last first.
pub(super) fn all(context: &mut Context, row: Row) -> Result<Vec<AgentCommand>, TaskError> {
    let view = view(context, row)?;
    match view.unprinted() {
        Some(why @ Unprinted::Gone) => return Err(TaskError::Unprinted { task: view.row.id, why }),
        Some(Unprinted::Queued | Unprinted::NeverStarted) => return Ok(Vec::new()),
        None => {}
    }
    let mut streams = streams(&view);
    streams.retain(|stream| stream.item == ITSELF || stream.bytes > 0);
    if !streams.is_empty() {
        return Ok(streams);
    }
    Ok(scan(&view, None).map(|scan| scan.commands(&view)).unwrap_or_default())
}

/// The command of a task that is called `item`; else the last that has ended,
/// or that runs.
pub(super) fn ran(context: &mut Context, row: Row, item: Option<&str>) -> Result<Ran, TaskError> {
    let view = view(context, row)?;
    if let Some(why) = view.unprinted() {
        return Err(TaskError::Unprinted { task: view.row.id, why });
    }
    let missing = |there: &[AgentCommand]| TaskError::NoCommand {
        task: view.row.id.clone(),
        item: item.map(str::to_owned),
        there: there.iter().take(RUNS as usize).map(|command| command.item.clone()).collect(),
    };
    let mut streams = streams(&view);
    if !streams.is_empty() {
        let stream = match item {
            Some(item) => streams.iter().position(|stream| stream.item == item),
            None => Some(best(&streams)),
        };
        let path = stream.and_then(|at| streams[at].file.clone());
        let opened = path.and_then(|path| stream::open_at(&path, Stdout::Text).ok());
        let (Some(at), Some(Stream { stretches, written, gap })) = (stream, opened) else {
            return Err(missing(&streams));
        };
        let itself = streams.remove(at);
        streams.retain(|other| other.bytes > 0);
        let failed = |source| TerminalError::Read { id: itself.id(), source };
        // Where its end is apart, or was, there are none.
        let times = stream::plain(&view.dir.times(Stdout::Text)).ok().filter(|_| itself.item == ITSELF);
        let reader = Reader::over(itself.id(), stretches, written, times).map_err(failed)?;
        let incomplete = gap.filter(|gap| gap.dropped > 0).map(|_| {
            "the output passed `max_stream_bytes`: its beginning and its end are here, and the end moves on".to_owned()
        });
        return Ok(Ran { command: itself, reader, incomplete, others: streams });
    }
    let mut scan = scan(&view, item).ok_or_else(|| missing(&[]))?;
    let (found, text) = scan.found.take().map_or((None, None), |(found, text)| (Some(found), Some(text)));
    let found = match item {
        Some(item) => found.or_else(|| Told::by_its_file(&view, item)),
        None => found.or_else(|| scan.recent.back().cloned()),
    };
    let mut others = scan.commands(&view);
    let Some(found) = found else { return Err(missing(&others)) };
    others.retain(|other| other.item != found.item);
    let command = found.placed(&view, scan.written);
    let failed = |source| TerminalError::Read { id: command.id(), source };
    let stretch = match (text, &command.file) {
        (Some(text), _) => Stretch::Text(text.into_bytes()),
        (None, Some(file)) => Stretch::File(stream::plain(file).map_err(failed)?),
        (None, None) => Stretch::Text(Vec::new()),
    };
    let reader = Reader::over(command.id(), vec![stretch], command.written, None).map_err(failed)?;
    Ok(Ran { command, reader, incomplete: None, others })
}

/// The last command of the last run that ran one.
pub(super) fn latest(context: &mut Context, project: Option<&Path>) -> Result<Option<Ran>, TaskError> {
    let belongs = |row: &Row| project.is_none_or(|project| row.project == project);
    let mut rows: Vec<Row> = context.registry.working()?.into_iter().filter(belongs).collect();
    rows.reverse();
    let name = project.map(|project| project.to_string_lossy().into_owned());
    rows.extend(context.registry.finished(name.as_deref(), RUNS)?);
    for row in rows.into_iter().take(RUNS as usize) {
        match ran(context, row, None) {
            Err(TaskError::NoCommand { .. } | TaskError::Unprinted { .. }) => {}
            ran => return ran.map(Some),
        }
    }
    Ok(None)
}

/// Which stream is meant where none is named. While the run goes on it is always
/// the same: a cursor leads on from it.
fn best(streams: &[AgentCommand]) -> usize {
    let printed = |stream: &AgentCommand| stream.bytes > 0 || stream.life == CommandLife::Running;
    streams.iter().position(printed).unwrap_or(0)
}

/// The run as the one command that it is, by its streams; none of a run that is not.
fn streams(view: &View) -> Vec<AgentCommand> {
    match view.row.agent {
        AgentName::Command => {}
        AgentName::Codex | AgentName::Replay => return Vec::new(),
    }
    vec![
        stream_of(view, ITSELF, "standard output", view.dir.stdout()),
        stream_of(view, STDERR, "standard error", view.dir.stderr()),
    ]
}

fn stream_of(view: &View, item: &str, name: &'static str, file: PathBuf) -> AgentCommand {
    let found = std::fs::symlink_metadata(&file).ok();
    let life = match (&view.result, view.row.state.is_final()) {
        (Some(result), _) => CommandLife::Ended { status: result.exit.map(|exit| exit.status()) },
        (None, true) => CommandLife::Lost,
        (None, false) => CommandLife::Running,
    };
    let started_at = view.row.started_at.unwrap_or(view.row.created_at);
    AgentCommand {
        task: view.row.id.clone(),
        item: item.to_owned(),
        command: plain::line(
            view.request.as_ref().map_or(&view.row.instruction, |request| &request.task),
            LONGEST,
        ),
        cwd: cwd(view),
        started_at: Some(started_at),
        written: found.as_ref().map_or(started_at, files::modified),
        life,
        bytes: found.map_or(0, |found| found.len()),
        file: Some(file),
        stream: Some(name),
    }
}

fn cwd(view: &View) -> PathBuf {
    view.request.as_ref().map_or_else(|| view.row.project.clone(), |request| request.cwd.clone())
}

/// A command as the stream tells of it.
#[derive(Debug, Clone)]
struct Told {
    item: String,
    command: String,
    life: CommandLife,
    bytes: u64,
    started: Option<Timestamp>,
    /// When the last was told of it.
    written: Option<Timestamp>,
}

impl Told {
    /// One whose line the stream had no room for.
    fn by_its_file(view: &View, item: &str) -> Option<Self> {
        let file = view.dir.file(ArtifactName::of_command(item)?.as_str());
        let bytes = std::fs::symlink_metadata(file).ok()?.len();
        let command = "(its line in the stream was left out)".to_owned();
        let (life, started, written) = (CommandLife::Ended { status: None }, None, None);
        Some(Self { item: item.to_owned(), command, life, bytes, started, written })
    }

    fn placed(self, view: &View, written: Timestamp) -> AgentCommand {
        let name = ArtifactName::of_command(&self.item);
        let file = name.map(|name| view.dir.file(name.as_str()));
        let found = file.as_ref().and_then(|file| std::fs::symlink_metadata(file).ok());
        let life = match self.life {
            CommandLife::Running if view.row.state.is_final() => CommandLife::Lost,
            life => life,
        };
        AgentCommand {
            task: view.row.id.clone(),
            item: self.item,
            command: self.command,
            cwd: cwd(view),
            started_at: self.started,
            written: found.as_ref().map_or(self.written.unwrap_or(written), files::modified),
            life,
            bytes: self.bytes,
            file: file.filter(|_| found.is_some()),
            stream: None,
        }
    }
}

struct Scan {
    recent: VecDeque<Told>,
    /// The one that is looked for, or the last that ended, and its text.
    found: Option<(Told, String)>,
    written: Timestamp,
}

/// Goes through the events of a run; `None` where there are none.
fn scan(view: &View, item: Option<&str>) -> Option<Scan> {
    let request: &Request = view.request.as_ref()?;
    let mut stream = stream::open(&view.dir, Stdout::Events).ok()?;
    let mut reader = agents::agent(request.agent).reader(request, "");
    let mut scan = Scan { recent: VecDeque::new(), found: None, written: stream.written };
    let moments = moments(view, &stream);
    let (mut lines, mut at) = (Lines::default(), 0);
    let mut line = |raw: &[u8], end: u64| {
        let reading = reader.line(raw);
        let mut output = reading.output;
        for event in reading.events {
            let text = output.take_if(|output| is_of(&event, &output.item)).map(|output| output.text);
            let last = end.saturating_sub(1);
            let when = When { moments: moments.as_ref(), last };
            scan.note(event, text.unwrap_or_default(), item, &when);
        }
    };
    // What cannot be read any further was read as far as it goes.
    let _ = stream.read(|bytes| {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            at += part.len() as u64;
            lines.feed(part, |raw| line(raw, at));
        }
    });
    lines.finish(|raw| line(raw, at));
    Some(scan)
}

/// The moments of a stream, where they are known.
fn moments(view: &View, stream: &Stream) -> Option<Moments> {
    let times = stream::plain(&view.dir.times(Stdout::Events)).ok()?;
    let lengths = stream.stretches.iter().map(|stretch| stretch.length().unwrap_or(0));
    Some(Moments::open(times, lengths.sum(), stream.written))
}

/// When a line came, told by its last byte.
struct When<'a> {
    moments: Option<&'a Moments>,
    last: u64,
}

fn is_of(event: &Event, wanted: &str) -> bool {
    matches!(event, Event::CommandEnded { item, .. } if item == wanted)
}

impl Scan {
    fn note(&mut self, event: Event, text: String, wanted: Option<&str>, when: &When) {
        let (item, command, life, bytes) = match event {
            Event::CommandStarted { item, command } => (item, command, CommandLife::Running, 0),
            Event::CommandEnded { item, command, exit_code, output_bytes, status } => {
                let life = match status {
                    ItemStatus::Running => CommandLife::Running,
                    ItemStatus::Declined => CommandLife::Refused,
                    ItemStatus::Completed | ItemStatus::Failed => {
                        CommandLife::Ended { status: exit_code.and_then(|code| i32::try_from(code).ok()) }
                    }
                };
                (item, command, life, output_bytes)
            }
            Event::Thread { .. }
            | Event::TurnStarted
            | Event::Message { .. }
            | Event::Reasoning { .. }
            | Event::Edited { .. }
            | Event::ToolStarted { .. }
            | Event::ToolEnded { .. }
            | Event::Plan { .. }
            | Event::Warning { .. }
            | Event::Retry { .. }
            | Event::Question { .. }
            | Event::TurnCompleted { .. }
            | Event::TurnFailed { .. }
            | Event::Other { .. } => return,
        };
        let (item, command) = (item.as_str(), plain::line(&command, LONGEST));
        let written =
            when.moments.and_then(|moments| moments.after(when.last)).map(|at| at.min(self.written));
        let mut told =
            Told { item: plain::line(item, LONGEST), command, life, bytes, started: None, written };
        let same = |one: &&mut Told| one.item == told.item && one.life == CommandLife::Running;
        let known = self.recent.iter_mut().rev().find(same);
        told.started = match &known {
            Some(known) => known.started,
            None if life == CommandLife::Running => when.moments.and_then(|moments| moments.of(when.last)),
            None => None,
        };
        let is_wanted = match wanted {
            Some(wanted) => wanted == item || wanted == told.item,
            None => life != CommandLife::Running,
        };
        if is_wanted {
            self.found = Some((told.clone(), text));
        }
        match known {
            Some(known) => *known = told,
            None => self.recent.push_back(told),
        }
        if self.recent.len() > MOST {
            self.recent.pop_front();
        }
    }

    fn commands(&self, view: &View) -> Vec<AgentCommand> {
        self.recent.iter().rev().map(|told| told.clone().placed(view, self.written)).collect()
    }
}
