//! What a program said that was set in, or marked, line by line, on its way: `make 2>&1 | sed 's/^/  /'`.

use std::borrow::Cow;

use crate::evidence::shell::{Command, Step};

/// What was printed, as it was said.
pub(super) fn without_marks<'t>(command: &str, text: &'t str) -> Cow<'t, str> {
    if !command.contains("/^/") {
        return Cow::Borrowed(text);
    }
    let command = Command::parse(command);
    let Some(mark) = command.steps.iter().find_map(mark) else { return Cow::Borrowed(text) };
    Cow::Owned(text.split_inclusive('\n').map(|line| line.strip_prefix(mark).unwrap_or(line)).collect())
}

/// What a step puts before each line that it reads.
pub(super) fn mark(step: &Step) -> Option<&str> {
    let [script] = step.args() else { return None };
    let mark = script.strip_prefix("s/^/").and_then(|rest| rest.strip_suffix('/'))?;
    let is_plain = !mark.is_empty() && !mark.contains(['/', '\\', '&', '$']);
    (step.program() == "sed" && step.piped && is_plain).then_some(mark)
}
