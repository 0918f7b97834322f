//! `inspect_output`: reads part of a run's file or of a long reply.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::context::TaskError;
use crate::failure::{Failure, Voice};
use crate::inspect::{MOST_CONTEXT, MOST_MATCHES, Question, Wanted};
use crate::mcp::protocol::{Call, Reply, arguments, failure, refused};
use crate::mcp::tools::field::{Field, Kind};
use crate::mcp::tools::start::Format;
use crate::mcp::tools::{Effect, FORMAT, TASK_ID, Tool};
use crate::reading::{self, InspectTarget};
use crate::reply::{Budget, Category, Envelope, Inspection, RegistryMeta, advertised};

const MOST_LINES: i64 = 10_000;
/// Characters of a reply besides the shown text: envelope, paths, names.
const AROUND: usize = 2_500;

pub(crate) const TOOL: Tool = Tool {
    name: "inspect_output",
    title: "Read part of a long output",
    about: "Reads part of a long output: first or last lines, a range, matches or a summary of a run's file or a \
           full_output_file. Returns a cursor to go on, like paging through a log; for the result use \
           delegate_results. Takes task_id (T-local-0123456789ab) and artifact (stdout.log), or file_path.",
    search_hint: "read head, tail, grep or range of the output of a delegated run",
    at_hand: false,
    internal: false,
    fields: &[
        TASK_ID,
        Field::new(
            "artifact",
            Kind::Text,
            "Name of the file, as listed by delegate_results. Default: the run's output.",
        ),
        Field::new("file_path", Kind::Text, "A full_output_file from a reply, instead of a task's file.")
            .also(&["path", "file"]),
        Field::new(
            "mode",
            Kind::Choice(&["head", "tail", "range", "grep", "summary"]),
            "Default: grep with a pattern, range with start_line, else head.",
        ),
        Field::new(
            "lines",
            Kind::Integer { least: 1, most: MOST_LINES },
            "Number of lines for head or tail. Default: 50.",
        ),
        Field::new(
            "start_line",
            Kind::Integer { least: 1, most: i64::MAX },
            "First line of a range, counted from 1.",
        ),
        Field::new(
            "end_line",
            Kind::Integer { least: 1, most: i64::MAX },
            "Last line of a range. Default: start_line + 49.",
        ),
        Field::new("pattern", Kind::Text, "Regular expression for grep."),
        Field::new(
            "context_lines",
            Kind::Integer { least: 0, most: MOST_CONTEXT as i64 },
            "Lines to show around each match. Default: 3.",
        ),
        Field::new(
            "max_matches",
            Kind::Integer { least: 1, most: MOST_MATCHES as i64 },
            "Maximum number of matches, or of json_path values. Default: 50.",
        ),
        Field::new("case_sensitive", Kind::Flag, "Default: false."),
        Field::new(
            "json_path",
            Kind::Text,
            "Path of the values to show from JSON or JSONL, such as $.item.type. Replaces mode.",
        ),
        Field::new("cursor", Kind::Text, "next_cursor of an earlier reply, to continue the same query."),
        FORMAT.hidden(),
    ],
    category: Some(Category::RegistryInfo),
    output: advertised::<Envelope<RegistryMeta, Inspection>>,
    effect: Effect::Reads,
    waits: false,
    answer,
};

#[derive(Debug, Deserialize)]
struct Inspect {
    task_id: Option<String>,
    artifact: Option<String>,
    file_path: Option<String>,
    #[serde(flatten)]
    question: Question,
    #[serde(default)]
    format: Format,
}

fn answer(call: &mut Call, given: Map<String, Value>) -> Result<Reply, Failure> {
    let inspect: Inspect = arguments(call.tool, given.clone())?;
    let of = inspect.of()?;
    let mut ask = inspect
        .question
        .ask(Budget::MOST.chars - AROUND)
        .map_err(|error| failure(&TaskError::Inspect(error)))?;
    let unwanted = call.unwanted.clone();
    let wanted = Wanted::as_long_as(move || !unwanted.is_cancelled());
    let notice = call.notice(&[]);
    loop {
        let inspected =
            reading::inspect(&call.context, &of, &ask, wanted.clone()).map_err(|error| failure(&error))?;
        let data = Inspection::of(inspected, &ask, Voice::Tools);
        // Quotes and line breaks take two characters in JSON. Asking again for less loses nothing between this
        // piece and the next.
        let length = serde_json::to_string(&data).map_or(0, |json| json.chars().count());
        let most = Budget::MOST.chars - AROUND;
        if length > most && ask.room > LEAST_ROOM {
            ask.room = (ask.room * most / length * 9 / 10).max(LEAST_ROOM);
            continue;
        }
        let next = data.next(call.tool.name, &given);
        let text = data.text(call.tool.name, notice.as_deref(), &next);
        let meta = RegistryMeta { notice, ..RegistryMeta::default() };
        return Ok(call.envelope(meta, data, text)?.suggesting(&next).in_format(inspect.format).whole());
    }
}

const LEAST_ROOM: usize = 500;

impl Inspect {
    fn of(&self) -> Result<InspectTarget, Failure> {
        match (&self.task_id, &self.file_path) {
            (Some(reference), None) => {
                Ok(InspectTarget::Task { reference: reference.clone(), artifact: self.artifact.clone() })
            }
            (None, Some(path)) if self.artifact.is_none() => Ok(InspectTarget::File(path.clone())),
            (None, None) => {
                Err(refused("`task_id` is missing", "give `task_id` and `artifact`, or `file_path`"))
            }
            (Some(_), Some(_)) | (None, Some(_)) => Err(refused(
                "`file_path` cannot be combined with `task_id` or `artifact`",
                "give `task_id` and `artifact`, or `file_path`",
            )),
        }
    }
}
