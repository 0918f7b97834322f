//! `get_terminal_output`: reads a terminal that the user recorded, or the output of an agent's command.

use crate::reading;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::context::TaskError;
use crate::failure::Failure;
use crate::host::clock;
use crate::mcp::protocol::{Call, Reply, arguments, failure, refused};
use crate::mcp::tools::field::{Field, Kind};
use crate::mcp::tools::start::Format;
use crate::mcp::tools::{Effect, FORMAT, Tool};
use crate::reply::{Budget, Category, Envelope, RegistryMeta, TerminalOutput, advertised};
use crate::terminals::{PartRequest, PartSelector, TerminalError, TextForm};

const LINES: u64 = 100;
/// Characters of output in a reply.
const ROOM: usize = 12_000;
/// The least output to ask for.
const LEAST_ROOM: usize = 500;
/// Characters of a reply besides its data.
const AROUND: usize = 1_500;

pub(crate) const TOOL: Tool = Tool {
    name: "get_terminal_output",
    title: "Read a recorded terminal",
    about: "Reads what a terminal recorded with `delegator terminal` showed, or what an agent's command printed. Like a \
           look over somebody's shoulder. Takes term-0123456789ab, or T-local-0123456789ab/item_3.",
    search_hint: "read the user's terminal output, or the output of a command",
    at_hand: false,
    internal: true,
    fields: &[
        Field::new(
            "terminal_id",
            Kind::Text,
            "A terminal's id, the beginning of it, or its name; or a task, with /item for one of its commands. Default: \
             this project's most recently used terminal, else the last command.",
        ),
        Field::new(
            "mode",
            Kind::Choice(&["head", "tail", "all", "since"]),
            "The part to read. Default: tail.",
        ),
        Field::new(
            "lines",
            Kind::Integer { least: 1, most: 10_000 },
            "Number of lines for head or tail. Default: 100.",
        ),
        Field::new("since_timestamp", Kind::Text, "For since: 2026-11-15T09:30:00Z, or 90s, 10m, 2h ago."),
        Field::new(
            "cursor",
            Kind::Text,
            "Cursor of an earlier reply, to continue where it ended. Replaces mode.",
        ),
        Field::new("strip", Kind::Flag, "Remove escape sequences. Default: true."),
        FORMAT.hidden(),
    ],
    category: Some(Category::RegistryInfo),
    output: advertised::<Envelope<RegistryMeta, TerminalOutput>>,
    effect: Effect::Reads,
    waits: false,
    answer,
};

#[derive(Debug, Deserialize)]
struct Look {
    terminal_id: Option<String>,
    mode: Option<String>,
    lines: Option<u64>,
    since_timestamp: Option<String>,
    cursor: Option<String>,
    strip: Option<bool>,
    #[serde(default)]
    format: Format,
}

impl Look {
    fn part(&self) -> Result<(PartSelector, &'static str), Failure> {
        let lines = self.lines.unwrap_or(LINES);
        let usual = if self.since_timestamp.is_some() { "since" } else { "tail" };
        let told = |error: TerminalError| failure(&TaskError::from(error));
        if let Some(cursor) = &self.cursor {
            return Ok((PartSelector::after(cursor).map_err(told)?, "all"));
        }
        let mode = self.mode.as_deref().unwrap_or(usual);
        if self.since_timestamp.is_some() && mode != "since" {
            // A field without effect is probably a mistake.
            let hint = "leave it out, or ask with mode `since`";
            return Err(refused(format!("`since_timestamp` has no effect with mode `{mode}`"), hint));
        }
        Ok(match mode {
            "head" => (PartSelector::Head(lines), "head"),
            "all" => (PartSelector::All, "all"),
            "since" => {
                let moment = self.since_timestamp.as_deref().ok_or_else(|| {
                    refused("`since_timestamp` is missing", "give a time, for example 2026-11-15T09:30:00Z")
                })?;
                (PartSelector::since(moment, clock::now()).map_err(told)?, "since")
            }
            _ => (PartSelector::Tail(lines), "tail"),
        })
    }
}

fn answer(call: &mut Call, given: Map<String, Value>) -> Result<Reply, Failure> {
    let look: Look = arguments(call.tool, given)?;
    let (part, mode) = look.part()?;
    let form = if look.strip.unwrap_or(true) { TextForm::Plain } else { TextForm::Raw };
    let project = call.context.project();
    let told = |error: TerminalError| failure(&TaskError::from(error));
    let screens = reading::open_terminal(&mut call.context, look.terminal_id.as_deref(), Some(&project))
        .map_err(|error| failure(&error))?;
    let notice = call.notice(&[]);
    let mut room = ROOM;
    loop {
        let piece = screens.reader.read(&PartRequest { part, form, room }).map_err(told)?;
        let mut data = TerminalOutput::of(&screens, piece, mode, form);
        if look.cursor.is_some() {
            data = data.alone();
        }
        // A cursor continues after the shown text, so none of that text may be cut later. Other parts are dropped
        // first; then less is asked for.
        let most = Budget::MOST.chars - AROUND;
        let mut length = data.length();
        while length > most && data.terminals.pop().is_some() {
            length = data.length();
        }
        if length > most && room > LEAST_ROOM {
            room = (room * most / length * 9 / 10).max(LEAST_ROOM);
            continue;
        }
        let text = data.text(call.tool.name, notice.as_deref());
        let meta = RegistryMeta { notice, ..RegistryMeta::default() };
        let next = data.calls(call.tool.name);
        return Ok(call.envelope(meta, data, text)?.suggesting(&next).in_format(look.format).whole());
    }
}
