//! Writes to standard output and standard error. If the reader has closed its end, the program exits quietly,
//! like other programs in a pipeline.

use std::io;
use std::io::{ErrorKind, IsTerminal, Write};

use serde::Serialize;

use crate::failure::Exit;
use crate::model::TaskId;
use crate::redact;

/// Prints text for people, with secrets redacted.
pub(super) fn out(text: &str) {
    bytes(redact::text(text).as_bytes());
}

/// Prints the id of an accepted task, on standard error if standard output fails.
pub(super) fn id(id: &TaskId) {
    let mut stdout = io::stdout().lock();
    if let Err(error) = writeln!(stdout, "{id}").and_then(|()| stdout.flush()) {
        note(&format!("delegator: the task was accepted as {id}"));
        give_up(&error);
    }
}

pub(super) fn bytes(bytes: &[u8]) {
    let mut stdout = io::stdout().lock();
    if let Err(error) = stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        give_up(&error);
    }
}

/// Prints one JSON document and nothing else.
pub(super) fn document(value: &impl Serialize) {
    let redacted = serde_json::to_value(value).and_then(|mut value| {
        redact::value(&mut value);
        serde_json::to_string_pretty(&value)
    });
    match redacted {
        Ok(text) => bytes((text + "\n").as_bytes()),
        Err(error) => give_up(&error.into()),
    }
}

/// Asks on the terminal; `None` if there is none. Only `y` and `yes` agree.
pub(super) fn confirmed(question: &str) -> Option<bool> {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return None;
    }
    note_part(&format!("{question} [y/N] "));
    let mut answer = String::new();
    let read = io::stdin().read_line(&mut answer);
    Some(read.is_ok() && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// The width of standard output in columns, or `None` if it is not a terminal.
pub(super) fn width() -> Option<usize> {
    let stdout = io::stdout();
    let size = stdout.is_terminal().then(|| rustix::termios::tcgetwinsize(&stdout).ok())?;
    Some(size.map_or(0, |size| usize::from(size.ws_col)))
        .map(|columns| if columns == 0 { 80 } else { columns })
}

/// Prints a line to standard error, with secrets redacted.
pub(super) fn note(line: &str) {
    // If even this fails, there is nowhere left to report it.
    let _ = writeln!(io::stderr(), "{}", redact::text(line));
}

/// Prints part of a line to standard error. The text must not contain secrets.
pub(super) fn note_part(part: &str) {
    let mut stderr = io::stderr();
    let _ = stderr.write_all(part.as_bytes()).and_then(|()| stderr.flush());
}

fn give_up(error: &io::Error) -> ! {
    if error.kind() == ErrorKind::BrokenPipe {
        std::process::exit(Exit::Done as i32);
    }
    note(&format!("delegator: failed to write the output: {error}"));
    std::process::exit(Exit::Machine as i32)
}
