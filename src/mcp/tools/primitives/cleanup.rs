//! `_codex_cleanup_registry`: removes old runs and recovers those whose supervisor died.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::host::clock;
use crate::mcp::protocol::{Call, Reply, arguments, failure, refused};
use crate::mcp::tools::field::{Field, Kind};
use crate::mcp::tools::start::Format;
use crate::mcp::tools::{Effect, FORMAT, Tool};
use crate::reply::{Category, Cleanup, Envelope, NextCall, RegistryMeta, advertised, next_line};
use crate::tasks::{self, CleanupRequest};

/// Told, but without effect: age does not decide whether a run is alive.
const STUCK_S: f64 = 3600.0;

pub(crate) const TOOL: Tool = Tool {
    name: "_codex_cleanup_registry",
    title: "Remove old runs",
    about: "Removes this project's old finished runs, captures and terminals and recovers dead tasks, like tidying a desk; \
           dry_run only reports. Keeps what is live or pinned. To end one: _codex_local_cancel.",
    search_hint: "clean up old delegated runs",
    at_hand: false,
    internal: true,
    fields: &[
        Field::new("dry_run", Kind::Flag, "Only report what would be removed. Default: false."),
        Field::new(
            "old_threshold_hours",
            Kind::Number,
            "Age in hours from which finished runs are removed; the configuration sets it for the rest. Default: 720.",
        ),
        Field::new(
            "stuck_threshold_seconds",
            Kind::Number,
            "Has no effect: a task is stuck if its supervisor is dead, at any age. Default: 3600.",
        ),
        FORMAT,
    ],
    category: Some(Category::RegistryInfo),
    output: advertised::<Envelope<RegistryMeta, Cleanup>>,
    effect: Effect::Ends,
    waits: false,
    answer: clean_up,
};

#[derive(Debug, Deserialize)]
struct CleanUp {
    #[serde(default)]
    dry_run: bool,
    old_threshold_hours: Option<f64>,
    stuck_threshold_seconds: Option<f64>,
    #[serde(default)]
    format: Format,
}

fn clean_up(call: &mut Call, given: Map<String, Value>) -> Result<Reply, Failure> {
    let mut again = given.clone();
    let asked: CleanUp = arguments(call.tool, given)?;
    let older_than = match asked.old_threshold_hours.map(|hours| Duration::try_from_secs_f64(hours * 3600.0))
    {
        None => None,
        Some(Ok(age)) => Some(age),
        Some(Err(_)) => {
            return Err(refused("`old_threshold_hours` is too large", "leave it out for 720 hours"));
        }
    };
    let ask = CleanupRequest { older_than, dry_run: asked.dry_run };
    let cleaned = tasks::cleanup(&mut call.context, ask).map_err(|error| failure(&error))?;
    let (meta, data) = Cleanup::of(&cleaned, ask, &call.context.config, clock::now());
    let status = if asked.dry_run { "dry run" } else { "done" };
    let text =
        format!("{}\nstatus: {status}\nsummary: {}\n{}", call.tool.name, data.summary, data.storage.text());
    let is_idle = cleaned.found.is_empty() && cleaned.stuck.is_empty() && cleaned.outputs.expired() == 0;
    let next = match (asked.dry_run, is_idle) {
        (true, true) => Vec::new(),
        (true, false) => {
            again.retain(|name, _| !["dry_run", "dryRun", "format"].contains(&name.as_str()));
            vec![NextCall::new(call.tool.name, Value::Object(again), "removes them")]
        }
        (false, _) => {
            vec![NextCall::new("delegate_status", json!({}), "lists the tasks that are left")]
        }
    };
    let notice = call.notice(&[]);
    let text = notice.iter().fold(text, |text, notice| format!("{text}notice: {notice}\n"));
    let text = text + &next_line(&next);
    let stuck_threshold_seconds = Some(asked.stuck_threshold_seconds.unwrap_or(STUCK_S));
    let meta = RegistryMeta { notice, stuck_threshold_seconds, ..meta };
    Ok(call.envelope(meta, data, text)?.suggesting(&next).in_format(asked.format))
}
