//! `delegator inspect`: a part of a file that a run left, as `head`, `tail`,
//! `sed -n` and `grep -n` would print it.

use clap::Args;

use super::call::Call;
use super::print;
use crate::failure::{Exit, Failure};
use crate::inspect::{Ask, Case, Mode, Pattern};
use crate::reply::{Inspection, RegistryMeta};
use crate::tasks::{self, Of, TaskError};

const LINES: u64 = 50;
/// More than a person reads at once; beyond it there is a cursor.
const ROOM: usize = 1 << 20;

#[derive(Debug, Args)]
pub(super) struct Inspect {
    /// Whose file
    #[arg(required_unless_present = "file")]
    id: Option<String>,
    /// Which file of the run, as `delegator results --json` lists them [default: what it printed]
    artifact: Option<String>,
    /// Instead of a task: a file below the home that a reply named
    #[arg(long, value_name = "PATH", conflicts_with_all = ["id", "artifact"])]
    file: Option<String>,
    /// The first lines [default: 50]
    #[arg(long, value_name = "LINES", group = "mode", num_args = 0..=1, default_missing_value = "50", value_parser = lines)]
    head: Option<u64>,
    /// The last lines
    #[arg(long, value_name = "LINES", group = "mode", num_args = 0..=1, default_missing_value = "50", value_parser = lines)]
    tail: Option<u64>,
    /// These lines, counted from 1, such as 100:150
    #[arg(long, value_name = "FROM:TO", group = "mode", value_parser = range)]
    range: Option<(u64, u64)>,
    /// The lines that match this regular expression
    #[arg(long, value_name = "PATTERN", group = "mode")]
    grep: Option<String>,
    /// The file as a whole: counts, times, what repeats, its shape
    #[arg(long, group = "mode")]
    summary: bool,
    /// The values that this path leads to in JSON or JSONL, such as $.item.type
    #[arg(long, value_name = "PATH", group = "mode")]
    json_path: Option<String>,
    /// Lines around each match
    #[arg(short = 'C', long, value_name = "LINES", default_value_t = 0, requires = "grep", value_parser = clap::value_parser!(u16).range(0..=1000))]
    context: u16,
    /// Stop after so many matches, or values
    #[arg(short = 'm', long = "max", value_name = "MATCHES", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    max_matches: u32,
    /// Tell capital letters from small ones
    #[arg(long, requires = "grep")]
    case_sensitive: bool,
    /// Go on where an earlier answer ended
    #[arg(long)]
    cursor: Option<String>,
}

impl Inspect {
    pub(super) fn run(self, call: &Call) -> Result<Exit, Failure> {
        let context = call.open_to_look()?;
        let ask = self.ask()?;
        let inspected = tasks::inspect(&context, &self.of(), &ask)?;
        let data = Inspection::of(inspected, &ask);
        let next = data.next_cursor.clone();
        if call.json {
            call.whole(RegistryMeta::default(), data)?;
        } else {
            let shown = data.plain();
            print::out(&shown);
            if let Some(warning) = &data.warning {
                print::note(&format!("delegator: {warning}"));
            }
            if shown.is_empty() {
                print::note("delegator: nothing was found");
            }
        }
        if let Some(next) = next.filter(|_| !call.json) {
            print::note(&format!("delegator: there is more: add `--cursor {next}`"));
        }
        Ok(Exit::Done)
    }

    fn of(&self) -> Of {
        match (&self.id, &self.file) {
            (_, Some(path)) => Of::File(path.clone()),
            (id, None) => {
                Of::Task { reference: id.clone().unwrap_or_default(), artifact: self.artifact.clone() }
            }
        }
    }

    fn ask(&self) -> Result<Ask, Failure> {
        let mode = match (self.tail, self.range, &self.grep, &self.json_path) {
            _ if self.summary => Mode::Summary,
            (Some(lines), ..) => Mode::Tail { lines },
            (_, Some((start, end)), ..) => Mode::Range { start, end },
            (.., Some(path)) => Mode::Select {
                path: path.parse().map_err(TaskError::Inspect)?,
                max_values: self.max_matches as usize,
            },
            (_, _, Some(pattern), _) => {
                let case = if self.case_sensitive { Case::Kept } else { Case::Ignored };
                Mode::Grep {
                    pattern: Pattern::new(pattern, case).map_err(TaskError::Inspect)?,
                    context: usize::from(self.context),
                    max_matches: self.max_matches as usize,
                }
            }
            (None, None, None, None) => Mode::Head { lines: self.head.unwrap_or(LINES) },
        };
        let cursor = self.cursor.as_deref().map(str::parse).transpose().map_err(TaskError::Inspect)?;
        Ok(Ask { mode, cursor, room: ROOM })
    }
}

fn lines(text: &str) -> Result<u64, String> {
    text.parse().ok().filter(|lines| *lines > 0).ok_or_else(|| "not a number of lines above zero".to_owned())
}

fn range(text: &str) -> Result<(u64, u64), String> {
    let wrong = || "not two line numbers such as 100:150".to_owned();
    let (start, end) = text.split_once([':', '-', ',']).ok_or_else(wrong)?;
    let (start, end): (u64, u64) =
        (start.trim().parse().map_err(|_| wrong())?, end.trim().parse().map_err(|_| wrong())?);
    if start == 0 || end < start { Err(wrong()) } else { Ok((start, end)) }
}
