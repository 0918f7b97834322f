//! `delegator inspect`: prints part of a run's file, as `head`, `tail`, `sed -n` and `grep -n` would.

use clap::Args;

use crate::cli::invocation::Call;
use crate::cli::print;
use crate::cli::usage_errors::bad;
use crate::context::TaskError;
use crate::failure::{Exit, Failure, Voice};
use crate::inspect::{Ask, MOST_CONTEXT, MOST_MATCHES, ModeName, Question, Wanted};
use crate::reading::{self, InspectTarget};
use crate::reply::{Inspection, RegistryMeta};

/// The longest answer; the rest is reached with a cursor.
const ROOM: usize = 1 << 20;

#[derive(Debug, Args)]
pub(super) struct Inspect {
    /// The task whose file to read
    #[arg(required_unless_present = "file")]
    id: Option<String>,
    /// Name of the file, as listed by `delegator results --json` [default: the run's output]
    artifact: Option<String>,
    /// Read this file, named by a reply, instead of a task's file
    #[arg(long, value_name = "PATH", conflicts_with_all = ["id", "artifact"])]
    file: Option<String>,
    /// Show the first lines [default: 50]
    #[arg(long, value_name = "LINES", group = "mode", num_args = 0..=1, default_missing_value = "50", allow_negative_numbers = true)]
    head: Option<String>,
    /// Show the last lines [default: 50]
    #[arg(long, value_name = "LINES", group = "mode", num_args = 0..=1, default_missing_value = "50", allow_negative_numbers = true)]
    tail: Option<String>,
    /// Show these lines, counted from 1, such as 100:150
    #[arg(long, value_name = "FROM:TO", group = "mode", allow_hyphen_values = true)]
    range: Option<String>,
    /// Show the lines that match this regular expression
    #[arg(long, value_name = "PATTERN", group = "mode", allow_hyphen_values = true)]
    grep: Option<String>,
    /// Summarise the file: counts, times, repeated lines, structure
    #[arg(long, group = "mode")]
    summary: bool,
    /// Show the values at this path of JSON or JSONL, such as $.item.type
    #[arg(long, value_name = "PATH", group = "mode")]
    json_path: Option<String>,
    /// Show this many lines around each match [default: 3]
    #[arg(short = 'C', long, value_name = "LINES", requires = "grep", allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(0..=i64::from(MOST_CONTEXT)))]
    context: Option<u16>,
    /// Stop after this many matches or values [default: 50]
    #[arg(short = 'm', long = "max", value_name = "MATCHES", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_MATCHES)))]
    max_matches: Option<u32>,
    /// Match case-sensitively
    #[arg(long, requires = "grep")]
    case_sensitive: bool,
    /// Continue where an earlier answer ended
    #[arg(long)]
    cursor: Option<String>,
}

impl Inspect {
    pub(super) fn run(self, call: &Call) -> Result<Exit, Failure> {
        let context = call.open_to_look()?;
        let ask = self.ask()?;
        let inspected = reading::inspect(&context, &self.of(), &ask, Wanted::always())?;
        let data = Inspection::of(inspected, &ask, Voice::Shell);
        let (next, rest) = (data.next_cursor.clone(), data.rest().map(str::to_owned));
        if call.json {
            print::document(&call.envelope(RegistryMeta::default(), data)?);
        } else {
            let shown = data.plain();
            print::out(&shown);
            if let Some(warning) = &data.warning {
                print::note(&format!("delegator: {warning}"));
            }
            let read = data.artifact().filter(|_| self.artifact.is_none() && self.file.is_none());
            match (read, shown.is_empty()) {
                (Some(read), true) => print::note(&format!("delegator: nothing found in {read}")),
                (None, true) => print::note("delegator: nothing found"),
                (Some(read @ "stderr.log"), false) => {
                    print::note(&format!("delegator: showing {read}, because the run printed nothing else"));
                }
                (_, false) => {}
            }
        }
        if let Some(rest) = rest.filter(|_| !call.json) {
            print::note(&format!("delegator: {rest}"));
        }
        if let Some(next) = next.filter(|_| !call.json) {
            print::note(&format!("delegator: to read on, add `--cursor {next}`"));
        }
        Ok(Exit::Done)
    }

    fn of(&self) -> InspectTarget {
        match (&self.id, &self.file) {
            (_, Some(path)) => InspectTarget::File(path.clone()),
            (id, None) => InspectTarget::Task {
                reference: id.clone().unwrap_or_default(),
                artifact: self.artifact.clone(),
            },
        }
    }

    fn ask(&self) -> Result<Ask, Failure> {
        let (mode, lines) = match (&self.head, &self.tail) {
            _ if self.summary => (Some(ModeName::Summary), None),
            (Some(given), _) => (Some(ModeName::Head), Some(lines("--head", given)?)),
            (_, Some(given)) => (Some(ModeName::Tail), Some(lines("--tail", given)?)),
            (None, None) => (None, None),
        };
        let (start_line, end_line) = self.range.as_deref().map(range).transpose()?.unzip();
        let question = Question {
            mode,
            lines,
            start_line,
            end_line,
            pattern: self.grep.clone(),
            context_lines: self.context.map(usize::from),
            max_matches: self.max_matches.map(|most| most as usize),
            case_sensitive: self.case_sensitive,
            json_path: self.json_path.clone(),
            cursor: self.cursor.clone(),
        };
        Ok(question.ask(ROOM).map_err(TaskError::Inspect)?)
    }
}

fn lines(option: &str, given: &str) -> Result<u64, Failure> {
    given.parse().ok().filter(|lines| *lines > 0).ok_or_else(|| {
        bad(
            format!("invalid value `{given}` for `{option}`: expected a number of lines above zero"),
            format!("for example `{option} 50`; a task's id goes before it, or after `{option}=50`"),
        )
    })
}

fn range(given: &str) -> Result<(u64, u64), Failure> {
    let numbers = given.split_once([':', ',']).or_else(|| given.split_once('-'));
    let number = |text: &str| text.trim().parse().ok().filter(|line| *line > 0);
    let range: Option<(u64, u64)> = numbers.and_then(|(start, end)| Some((number(start)?, number(end)?)));
    let wrong = match range {
        Some((start, end)) if start <= end => return Ok((start, end)),
        Some(_) => "the end is before the start",
        None => "expected two line numbers",
    };
    Err(bad(
        format!("invalid value `{given}` for `--range`: {wrong}"),
        "give the first and the last line, counted from 1, for example `--range 100:150`; `--tail 50` counts from the end",
    ))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Alone {
        #[command(flatten)]
        _inspect: Inspect,
    }

    #[test]
    fn as_much_may_be_asked_for_as_over_mcp() {
        for (option, most) in [("-C", u32::from(MOST_CONTEXT)), ("-m", MOST_MATCHES)] {
            for (given, is_taken) in [(most, true), (most + 1, false)] {
                let parsed = Alone::try_parse_from(["", "fix", "--grep", "a", option, &given.to_string()]);
                assert_eq!(parsed.is_ok(), is_taken, "{option} {given}");
            }
        }
    }

    #[test]
    fn a_range_has_two_ends() {
        for given in ["100:150", "100-150", "100, 150"] {
            assert_eq!(range(given).ok(), Some((100, 150)), "{given}");
        }
        for given in ["5:", ":5", "5", "-5:-1", "10:5", "0:5", "1:99999999999999999999999", "-", ""] {
            let refused = range(given).unwrap_err();
            let wrong =
                if given == "10:5" { "the end is before the start" } else { "expected two line numbers" };
            assert_eq!(refused.message, format!("invalid value `{given}` for `--range`: {wrong}"));
            assert!(refused.hint.is_some_and(|hint| hint.contains("--range 100:150")));
        }
    }
}
