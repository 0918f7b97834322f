//! Shows the end of what the last failed command printed: often the only place that says why a run failed.

use crate::evidence::{CommandOutcome, LedgerEntry};
use crate::ledger::read;
use crate::progress::inner_command;
use crate::reading::excerpt::Excerpt;
use crate::reading::view::View;
use crate::redact;
use crate::text::plain;
use crate::text::without_marks;

/// The most and the fewest bytes shown of its command line.
const LONGEST: usize = 200;
const SHORTEST: usize = 60;
/// Begins the line that names the command.
pub(crate) const LAST_FAILED: &str = "last failed command";

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FailedCommand {
    command: String,
    exit_code: Option<i64>,
    printed: String,
}

/// The last failed command, if the agent reports its commands.
pub(crate) fn last_failed(view: &View) -> Option<FailedCommand> {
    if view.row.agent.abilities().is_command_line() {
        return None;
    }
    let failed = |entry: &LedgerEntry| {
        entry.outcome == CommandOutcome::Failed || entry.exit_code.is_some_and(|code| code != 0)
    };
    let last = read::entries(&view.dir).into_iter().rfind(failed)?;
    let printed = last.output.map(|span| read::text_in_span(&view.dir, span)).unwrap_or_default();
    Some(FailedCommand { command: last.line, exit_code: last.exit_code, printed })
}

impl FailedCommand {
    /// Its command line and the end of its output in `most` bytes. The output gets most of them.
    pub(crate) fn excerpt(&self, most: u64) -> Excerpt {
        let exit = self.exit_code.map(|code| format!(", exit {code}")).unwrap_or_default();
        let begins = format!("{LAST_FAILED}{exit}: ");
        let left =
            usize::try_from(most).unwrap_or(usize::MAX).saturating_sub(self.printed.len() + begins.len() + 1);
        let command = redact::text(&self.command).into_owned();
        let command = without_marks(line_of_bytes(inner_command(&command), left.clamp(SHORTEST, LONGEST)));
        let heading = format!("{begins}{command}\n");
        let printed = Excerpt::end_of(self.printed.as_bytes(), most.saturating_sub(heading.len() as u64));
        let text = if self.printed.is_empty() { "(it printed nothing)\n" } else { &printed.text };
        Excerpt { text: heading + text, ..printed }
    }
}

/// Cuts a line to `most` bytes. It must already be redacted.
fn line_of_bytes(text: &str, most: usize) -> String {
    let line = plain::line(text, most);
    if line.len() <= most {
        return line;
    }
    let room = most.saturating_sub('…'.len_utf8());
    format!("{}…", line[..line.floor_char_boundary(room)].trim_end_matches('…'))
}
