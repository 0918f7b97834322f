//! Writing to the two streams. A reader that has gone away is no error: the
//! program ends quietly, as everything else in a pipeline does.

use std::io;
use std::io::{ErrorKind, IsTerminal, Write};

use serde::Serialize;

use crate::failure::Exit;
use crate::model::TaskId;
use crate::redact;

/// Text for people, without the secrets that somebody else may have put in it.
pub(super) fn out(text: &str) {
    bytes(redact::text(text).as_bytes());
}

/// The id of a task that was taken in, which has to be told somewhere.
pub(super) fn id(id: &TaskId) {
    let mut stdout = io::stdout().lock();
    if let Err(error) = writeln!(stdout, "{id}").and_then(|()| stdout.flush()) {
        note(&format!("delegator: the task was taken in as {id}"));
        give_up(&error);
    }
}

pub(super) fn bytes(bytes: &[u8]) {
    let mut stdout = io::stdout().lock();
    if let Err(error) = stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        give_up(&error);
    }
}

/// One document, and nothing around it.
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

/// How many columns standard output shows, or `None` when it is no terminal.
pub(super) fn width() -> Option<usize> {
    let stdout = io::stdout();
    let size = stdout.is_terminal().then(|| rustix::termios::tcgetwinsize(&stdout).ok())?;
    Some(size.map_or(0, |size| usize::from(size.ws_col)))
        .map(|columns| if columns == 0 { 80 } else { columns })
}

/// One line on standard error, which may quote what somebody else wrote.
pub(super) fn note(line: &str) {
    // Nobody is left to tell when even this cannot be written.
    let _ = writeln!(io::stderr(), "{}", redact::text(line));
}

/// A piece of a line on standard error, which quotes no secret.
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
