//! What the last command printed that failed: often the only place that says
//! why the work did.

use crate::evidence::{CommandOutcome, LedgerEntry};
use crate::ledger::read;
use crate::progress::inner_command;
use crate::reading::excerpt::Excerpt;
use crate::reading::view::View;
use crate::redact;
use crate::text::plain;
use crate::text::without_marks;

/// Of its command line, so many bytes.
const LONGEST: usize = 200;
const SHORTEST: usize = 60;
/// Begins the line that says whose words follow.
pub(crate) const LAST_FAILED: &str = "last failed command";

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Failing {
    command: String,
    exit_code: Option<i64>,
    printed: String,
}

/// The last failing command of an agent that tells of its commands.
pub(crate) fn last_failing(view: &View) -> Option<Failing> {
    if view.row.agent.abilities().is_command_line() {
        return None;
    }
    let failed = |entry: &LedgerEntry| {
        entry.outcome == CommandOutcome::Failed || entry.exit_code.is_some_and(|code| code != 0)
    };
    let last = read::entries(&view.dir).into_iter().rfind(failed)?;
    let printed = last.output.map(|span| read::text_in_span(&view.dir, span)).unwrap_or_default();
    Some(Failing { command: last.line, exit_code: last.exit_code, printed })
}

impl Failing {
    /// Its command line and the end of what it printed, `most` bytes of both:
    /// what it printed says more.
    pub(crate) fn told(&self, most: u64) -> Excerpt {
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

/// As much of a line as `most` bytes hold. Nothing in it is secret.
fn line_of_bytes(text: &str, most: usize) -> String {
    let line = plain::line(text, most);
    if line.len() <= most {
        return line;
    }
    let room = most.saturating_sub('…'.len_utf8());
    format!("{}…", line[..line.floor_char_boundary(room)].trim_end_matches('…'))
}
