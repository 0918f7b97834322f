//! Finds the output that a terminal reference means: a recorded terminal, or a command that an agent ran.

use std::path::Path;

use crate::context::{Context, TaskError};
use crate::reading::agent_commands::{self, AgentCommand, PrintedCommand};
use crate::reading::view::find;
use crate::terminals::{self, Reader, Terminal, TerminalError};

/// Where an output comes from.
#[derive(Debug)]
pub(crate) enum OutputSource {
    Recorded(Box<Terminal>),
    Command { command: Box<AgentCommand>, incomplete: Option<String> },
}

impl OutputSource {
    /// Why bytes are missing, if they are.
    pub(crate) fn incomplete(&self) -> Option<&str> {
        match self {
            OutputSource::Recorded(terminal) => terminal.incomplete.as_deref(),
            OutputSource::Command { incomplete, .. } => incomplete.as_deref(),
        }
    }
}

/// An output, open for reading, and the others of its kind.
#[derive(Debug)]
pub(crate) struct OpenOutput {
    pub(crate) screen: OutputSource,
    pub(crate) reader: Reader,
    pub(crate) others: Vec<OutputSource>,
}

/// Opens the terminal that `reference` names, or else the command, referred to by its task or as `task/item`.
/// Without a reference, opens the terminal that was written to last; if none was recorded, the last command
/// of the last run.
pub(crate) fn open_terminal(
    context: &mut Context,
    reference: Option<&str>,
    project: Option<&Path>,
) -> Result<OpenOutput, TaskError> {
    let found = match reference {
        Some(reference) => terminals::find(&context.home, reference, project),
        None => terminals::active(&context.home, project),
    };
    match (found, reference) {
        (Ok(terminal), _) => {
            let reader = terminal.open()?;
            let mut others = list_terminals(context, project);
            others.retain(|other| !matches!(other, OutputSource::Recorded(other) if other.id == terminal.id));
            Ok(OpenOutput { screen: OutputSource::Recorded(Box::new(terminal)), reader, others })
        }
        (Err(none @ TerminalError::None { .. }), _) => {
            agent_commands::latest(context, project)?.map(screens).ok_or_else(|| none.into())
        }
        (Err(missing @ TerminalError::NotFound(_)), Some(reference)) => {
            command(context, reference)?.map(screens).ok_or_else(|| missing.into())
        }
        (Err(error), _) => Err(error.into()),
    }
}

/// The recorded terminals, the last written to first.
pub(crate) fn list_terminals(context: &Context, project: Option<&Path>) -> Vec<OutputSource> {
    let all = terminals::list(&context.home, project).into_iter();
    all.map(|terminal| OutputSource::Recorded(Box::new(terminal))).collect()
}

/// The commands that the agent of a task ran, newest first.
pub(crate) fn list_commands_of(context: &mut Context, task: &str) -> Result<Vec<OutputSource>, TaskError> {
    let row = find(context, task)?;
    Ok(agent_commands::list(context, row)?.into_iter().map(of_command).collect())
}

fn command(context: &mut Context, reference: &str) -> Result<Option<PrintedCommand>, TaskError> {
    let (task, item) = match reference.split_once('/') {
        Some((task, item)) => (task, Some(item)),
        None => (reference, None),
    };
    match find(context, task) {
        Ok(row) => agent_commands::find(context, row, item).map(Some),
        Err(TaskError::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn screens(ran: PrintedCommand) -> OpenOutput {
    let PrintedCommand { command, reader, incomplete, others } = ran;
    OpenOutput {
        screen: OutputSource::Command { command: Box::new(command), incomplete },
        reader,
        others: others.into_iter().map(of_command).collect(),
    }
}

fn of_command(command: AgentCommand) -> OutputSource {
    OutputSource::Command { command: Box::new(command), incomplete: None }
}
