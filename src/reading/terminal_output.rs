//! Whose output somebody means who names a terminal: one that was recorded, or
//! a command that an agent ran.

use std::path::Path;

use crate::context::{Context, TaskError};
use crate::reading::agent_commands::{self, AgentCommand, Ran};
use crate::reading::view::find;
use crate::terminals::{self, Reader, Terminal, TerminalError};

/// What is looked at.
#[derive(Debug)]
pub(crate) enum Screen {
    Recorded(Box<Terminal>),
    Command { command: Box<AgentCommand>, incomplete: Option<String> },
}

impl Screen {
    /// Why bytes of it are missing.
    pub(crate) fn incomplete(&self) -> Option<&str> {
        match self {
            Screen::Recorded(terminal) => terminal.incomplete.as_deref(),
            Screen::Command { incomplete, .. } => incomplete.as_deref(),
        }
    }
}

/// That, open to be read, and the others of its kind.
#[derive(Debug)]
pub(crate) struct Screens {
    pub(crate) screen: Screen,
    pub(crate) reader: Reader,
    pub(crate) others: Vec<Screen>,
}

/// The terminal that `reference` names; else the command, as the task it ran in
/// or `task/item`. Without a reference the terminal last written to, and where
/// none was recorded, the last command of the last run.
pub(crate) fn terminal(
    context: &mut Context,
    reference: Option<&str>,
    project: Option<&Path>,
) -> Result<Screens, TaskError> {
    let found = match reference {
        Some(reference) => terminals::find(&context.home, reference, project),
        None => terminals::active(&context.home, project),
    };
    match (found, reference) {
        (Ok(terminal), _) => {
            let reader = terminal.open()?;
            let mut others = terminals(context, project);
            others.retain(|other| !matches!(other, Screen::Recorded(other) if other.id == terminal.id));
            Ok(Screens { screen: Screen::Recorded(Box::new(terminal)), reader, others })
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
pub(crate) fn terminals(context: &Context, project: Option<&Path>) -> Vec<Screen> {
    let all = terminals::list(&context.home, project).into_iter();
    all.map(|terminal| Screen::Recorded(Box::new(terminal))).collect()
}

/// The commands that the agent of a task ran, the last first.
pub(crate) fn terminals_of(context: &mut Context, task: &str) -> Result<Vec<Screen>, TaskError> {
    let row = find(context, task)?;
    Ok(agent_commands::all(context, row)?.into_iter().map(of_command).collect())
}

fn command(context: &mut Context, reference: &str) -> Result<Option<Ran>, TaskError> {
    let (task, item) = match reference.split_once('/') {
        Some((task, item)) => (task, Some(item)),
        None => (reference, None),
    };
    match find(context, task) {
        Ok(row) => agent_commands::ran(context, row, item).map(Some),
        Err(TaskError::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn screens(ran: Ran) -> Screens {
    let Ran { command, reader, incomplete, others } = ran;
    Screens {
        screen: Screen::Command { command: Box::new(command), incomplete },
        reader,
        others: others.into_iter().map(of_command).collect(),
    }
}

fn of_command(command: AgentCommand) -> Screen {
    Screen::Command { command: Box::new(command), incomplete: None }
}
