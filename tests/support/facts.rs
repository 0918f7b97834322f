//! Compares the text of a reply with its structured content.
//!
//! Some clients show a model only one of the two. So every label of the text must correspond to a
//! field of the structured content, and vice versa. `next` says which tool to call; it exists
//! because some clients show only text.

use serde_json::{Value, json};

use super::said::{Entry, Said};
use super::{inspected, lines};

/// How the text states a field.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// Unchanged on one line that may be shortened; no line if empty.
    Line,
    /// Like `Line`, but `(none)` if empty.
    LineOrNone,
    /// Like `Line`, marked as written by an agent.
    Summary,
    /// Up to five lines, marked as written by an agent; `(none)` if empty.
    Reported,
    /// Up to five lines; no line if empty.
    ListIfAny,
    /// Suggestions other than the hint and the next call.
    Suggested,
    /// The number of changed files, and their names.
    Changed,
    /// `HEAD` before and after.
    Moved,
    /// The commits.
    Commits,
    /// Ignored files that were touched.
    Ignored,
    /// The failed tests.
    Failed,
    /// Token usage.
    Tokens,
    /// Progress.
    SoFar,
    /// The plan and its completed steps.
    Steps,
    /// Estimated remaining time.
    Left,
    /// The number of commands by outcome.
    Commands,
    /// The test results.
    Tests,
    /// One line for each.
    Each,
    /// The files worth opening.
    Files,
    /// Some of the run's own files.
    Own,
    /// The state and duration of one task, with remarks.
    State,
    /// The failure, unless it is the summary, and its code.
    Trouble,
    Hint,
    /// The proposed calls.
    Next,
    /// The number of tasks by kind.
    Counts,
    /// One line for each task.
    Tasks,
    /// The error and its code.
    Refusal,
    /// A file with content left out of the structured content.
    Kept,
    /// Totals for each kind of stored output.
    Stock,
}

use Kind::{
    Changed, Commands, Commits, Counts, Each, Failed, Files, Hint, Ignored, Kept, Left, Line, LineOrNone,
    ListIfAny, Moved, Next, Own, Refusal, Reported, SoFar, State, Steps, Stock, Suggested, Summary, Tasks,
    Tests, Tokens, Trouble,
};

/// Label, manner and field, in the order of the text.
type Places = &'static [(&'static str, Kind, &'static str)];

/// Replies of `delegate_run` and `delegate_resume`.
const REPORT: Places = &[
    ("status", State, "/status"),
    ("task_id", Line, "/task_id"),
    ("run_dir", Line, "/run_dir"),
    ("subagent_thread_id", LineOrNone, "/subagent_thread_id"),
    ("parent_task_id", Line, "/parent_task_id"),
    ("summary", Summary, "/summary"),
    ("page", Line, "/cloud/page"),
    ("eta", Left, "/eta"),
    ("error", Trouble, "/error"),
    ("hint", Hint, "/error_context/hint"),
    ("first_error", Line, "/error_context/first_error"),
    ("error_type", Line, "/error_context/error_type"),
    ("failed_command", Line, "/error_context/failed_command"),
    ("error_locations", ListIfAny, "/error_context/error_locations"),
    ("refused", ListIfAny, "/error_context/refused"),
    ("suggestions", ListIfAny, "/error_context/suggestions"),
    ("unresolved_error", Line, "/unresolved_error/error_message"),
    ("unresolved_type", Line, "/unresolved_error/error_type"),
    ("unresolved_command", Line, "/unresolved_error/failed_command"),
    ("unresolved_locations", ListIfAny, "/unresolved_error/error_locations"),
    ("unresolved_refused", ListIfAny, "/unresolved_error/refused"),
    ("unresolved_suggestions", ListIfAny, "/unresolved_error/suggestions"),
    ("earlier_errors", ListIfAny, "/earlier_errors"),
    ("files", Changed, "/file_operations"),
    ("head", Moved, "/file_operations/head"),
    ("commits", Commits, "/file_operations"),
    ("ignored", Ignored, "/file_operations"),
    ("not_known", ListIfAny, "/file_operations/incomplete"),
    ("branch", Line, "/worktree/branch"),
    ("apply", Line, "/worktree/apply"),
    ("commands", Commands, "/commands"),
    ("tests", Tests, "/test_results"),
    ("failed_tests", Failed, "/test_results"),
    ("tokens", Tokens, "/token_usage"),
    ("deliverables", Reported, "/deliverables"),
    ("open_questions", Reported, "/open_questions"),
    ("next_actions", Reported, "/next_actions"),
    ("pointers", Files, "/artifacts"),
    ("warnings", ListIfAny, "/warnings"),
    ("notice", Line, "/notice"),
    ("full_output_file", Kept, ""),
    ("next", Next, "/next"),
];

/// One task in an envelope.
const RESULT: Places = &[
    ("status", State, "/state"),
    ("task_id", Line, "/task_id"),
    ("run_dir", Line, "/run_dir"),
    ("subagent_thread_id", LineOrNone, "/metadata/thread_info/thread_id"),
    ("parent_task_id", Line, "/metadata/parent_task_id"),
    ("summary", Summary, "/summary"),
    ("page", Line, "/metadata/cloud/page"),
    ("progress", SoFar, "/progress"),
    ("eta", Left, "/progress/eta"),
    ("error", Trouble, "/metadata/error_context/error_message"),
    ("hint", Hint, "/metadata/error_context/suggestions/0"),
    ("steps", Steps, "/progress/steps"),
    ("first_error", Line, "/metadata/error_context/first_error"),
    ("error_type", Line, "/metadata/error_context/error_type"),
    ("failed_command", Line, "/metadata/error_context/failed_command"),
    ("error_locations", ListIfAny, "/metadata/error_context/error_locations"),
    ("refused", ListIfAny, "/metadata/error_context/refused"),
    ("suggestions", Suggested, "/metadata/error_context/suggestions"),
    ("unresolved_error", Line, "/metadata/unresolved_error/error_message"),
    ("unresolved_type", Line, "/metadata/unresolved_error/error_type"),
    ("unresolved_command", Line, "/metadata/unresolved_error/failed_command"),
    ("unresolved_locations", ListIfAny, "/metadata/unresolved_error/error_locations"),
    ("unresolved_refused", ListIfAny, "/metadata/unresolved_error/refused"),
    ("unresolved_suggestions", ListIfAny, "/metadata/unresolved_error/suggestions"),
    ("earlier_errors", ListIfAny, "/metadata/earlier_errors"),
    ("files", Changed, "/metadata/file_operations"),
    ("head", Moved, "/metadata/file_operations/head"),
    ("commits", Commits, "/metadata/file_operations"),
    ("ignored", Ignored, "/metadata/file_operations"),
    ("not_known", ListIfAny, "/metadata/file_operations/incomplete"),
    ("branch", Line, "/metadata/worktree/branch"),
    ("apply", Line, "/metadata/worktree/apply"),
    ("commands", Commands, "/metadata/commands"),
    ("tests", Tests, "/metadata/test_results"),
    ("failed_tests", Failed, "/metadata/test_results"),
    ("tokens", Tokens, "/metadata/thread_info/token_usage"),
    ("deliverables", Reported, "/deliverables"),
    ("open_questions", Reported, "/open_questions"),
    ("next_actions", Reported, "/next_actions"),
    ("pointers", Own, "/files"),
    ("warnings", ListIfAny, "/warnings"),
    ("notice", Line, "/notice"),
    ("full_output_file", Kept, ""),
    ("next", Next, "/next"),
];

/// An acknowledgement.
const ACK: Places = &[
    ("status", State, "/status"),
    ("task_id", Line, "/task_id"),
    ("subagent_thread_id", LineOrNone, "/thread_id"),
    ("started_at", Line, "/started_at"),
    ("taken_in_at", Line, "/taken_in_at"),
    ("queue_position", Line, "/queue_position"),
    ("estimated_start_ms", Line, "/estimated_start_ms"),
    ("expected_duration", Line, "/expected_duration"),
    ("warnings", ListIfAny, "/warnings"),
    ("notice", Line, "/notice"),
    ("full_output_file", Kept, ""),
    ("next", Next, "/next"),
];

const SNAPSHOT: Places = &[
    ("status", Counts, "/summary"),
    ("running", Tasks, "/tasks"),
    ("queued", Tasks, "/queue"),
    ("finished", Tasks, "/recently_completed"),
    ("warning", Each, "/warnings"),
    ("notice", Line, "/notice"),
    ("full_output_file", Kept, ""),
    ("next", Next, "/next"),
];

/// Several tasks of a wait.
const WAITED: Places = &[
    ("status", Counts, "/tasks"),
    ("tasks", Tasks, "/tasks"),
    ("notice", Line, "/notice"),
    ("full_output_file", Kept, ""),
    ("next", Next, "/next"),
];

const CANCELLED: Places = &[
    ("status", State, "/state"),
    ("task_id", Line, "/task_id"),
    ("reason", Line, "/reason"),
    ("processes_ended", Line, "/processes_ended"),
    ("message", Line, "/message"),
    ("notice", Line, "/notice"),
    ("full_output_file", Kept, ""),
    ("next", Next, "/next"),
];

const APPLIED: Places = &[
    ("task_id", Line, "/task_id"),
    ("message", Line, "/message"),
    ("branch", Line, "/branch"),
    ("repository", Line, "/repository"),
    ("files", ListIfAny, "/files"),
    ("conflicts", ListIfAny, "/conflicts"),
    ("warnings", ListIfAny, "/warnings"),
    ("undo", Line, "/undo"),
    ("next", Next, "/next"),
];

const CLEANED: Places = &[
    ("status", State, "/status"),
    ("summary", Line, "/summary"),
    ("storage", Stock, "/storage"),
    ("notice", Line, "/notice"),
    ("next", Next, "/next"),
];

const ENVIRONMENTS: Places = &[
    ("status", Line, "/status"),
    ("source", Line, "/source"),
    ("environments", ListIfAny, "/environments"),
    ("notice", Line, "/notice"),
    ("next", Next, "/next"),
];

const GUIDE: Places = &[
    ("status", Line, "/status"),
    ("repository", Line, "/repository"),
    ("tech_stack", Line, "/tech_stack"),
    ("verification_task", Line, "/verification_task"),
    ("notice", Line, "/notice"),
    ("next", Next, "/next"),
];

const REFUSED: Places = &[("error", Refusal, "/message"), ("hint", Line, "/hint"), ("next", Next, "/next")];

/// How the text of a reply of `tool` and its structured content differ, if they do.
pub fn agree(tool: &str, text: &str, content: &Value) -> Result<(), String> {
    if text.starts_with('{') {
        let document: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        return same(&document == content, || "`format: json` is not the structured content".into());
    }
    let (named, rest) = text.split_once('\n').ok_or("the text has one line")?;
    same(named == tool, || format!("the reply of `{tool}` is headed `{named}`"))?;
    if tool == "codex" && content.get("schema_id").is_none() {
        return plain_words_agree(rest, content);
    }
    if content["data"].get("mode").is_some() {
        let (data, notice) = (&content["data"], &content["meta"]["notice"]);
        return match data.get("terminal_id") {
            Some(_) => inspected::terminal_agrees(rest, data, notice),
            None => inspected::agree(rest, data, notice),
        };
    }
    let (places, facts) = stated(content);
    let known: Vec<&str> = places.iter().map(|(label, ..)| *label).collect();
    let noticed = facts["notice"].as_str().is_some_and(|notice| !unsaid(notice));
    let proposed = facts["next"].as_array().map_or(0, |calls| calls.len().max(1));
    let behind =
        [("next", proposed), ("full_output_file", lines::files_kept(&facts)), ("notice", noticed.into())];
    let said = Said::read(rest, &known, &behind)?;
    in_order(&said, &known)?;
    // The last line is never shortened.
    let ends = text.lines().last().is_some_and(|line| line.starts_with("next: "));
    let is_refusal = content["status"] == "error";
    same(ends || is_refusal && facts["next"].is_null(), || "its last line does not say what is next".into())?;
    let facts = Facts { all: &facts, said: &said };
    for (label, kind, place) in places {
        let entries: Vec<&Entry> = said.entries.iter().filter(|entry| entry.label == *label).collect();
        // Text that was left out cannot contradict.
        if !(entries.is_empty() && said.cut) {
            let fact = facts.all.pointer(place).filter(|fact| !fact.is_null());
            facts
                .check(*kind, &entries, fact)
                .map_err(|what| format!("`{label}`, which stands at `{place}`: {what}"))?;
        }
    }
    lines::output(&said, facts.all)
}

/// The text of `codex` has its message, its error, its task, its token and what is next.
fn plain_words_agree(text: &str, content: &Value) -> Result<(), String> {
    let is_whole = content.get("full_output_file").is_none();
    let message =
        content["userMessage"].as_str().filter(|_| is_whole).unwrap_or_default().replace('\n', "\n  ");
    let facts = [
        ("message", json!(message)),
        ("error", content["error"]["message"].clone()),
        ("hint", content["error"]["hint"].clone()),
        ("task_id", content["task"]["id"].clone()),
        ("status", content["task"]["status"].clone()),
        ("confirm", content["confirmation"]["confirm"].clone()),
        ("notice", content["notice"].clone()),
    ];
    for (label, fact) in facts {
        if let Some(fact) = fact.as_str().filter(|fact| !fact.is_empty()) {
            same(text.contains(&format!("{label}: {fact}")), || {
                format!("`{label}: {fact}` is not in the text")
            })?;
        }
    }
    let suggests = content["next"].as_array().is_some_and(|next| !next.is_empty());
    let ends = text.lines().last().is_some_and(|line| line.starts_with("next: "));
    same(suggests == ends, || "the last line does not say what is next".into())
}

/// What the structured content is about: the path of its facts, and the facts as one object.
fn stated(content: &Value) -> (Places, Value) {
    if content.get("schema_id").is_none() {
        return (REPORT, content.clone());
    }
    if content["status"] == "error" {
        let mut error = content["error"].clone();
        error["next"] = content["next"].clone();
        return (REFUSED, error);
    }
    let (data, meta) = (&content["data"], &content["meta"]);
    let (places, mut facts) = match content["tool_category"].as_str().unwrap_or_default() {
        "execution_ack" if data.get("result").is_some() => {
            let mut result = data["result"].clone();
            let own = |warnings: &Value| warnings.as_array().cloned().unwrap_or_default();
            result["warnings"] = [own(&data["warnings"]), own(&result["warnings"])].concat().into();
            result["deduplicated"] = data["deduplicated"].clone();
            (RESULT, result)
        }
        "execution_ack" => {
            let mut ack = data.clone();
            ack["status"] = json!(if data["accepted"] == true { "accepted" } else { "refused" });
            ack["queue_position"] = meta["queue_position"].clone();
            ack["estimated_start_ms"] = meta["estimated_start_ms"].clone();
            // The text has its own wording for the time of a queued task.
            if meta["queue_position"].as_u64().is_some_and(|position| position > 0) {
                ack["taken_in_at"] = ack["started_at"].take();
            }
            (ACK, ack)
        }
        "status_snapshot" => (SNAPSHOT, data.clone()),
        "wait_result" if data.get("tasks").is_some() => (WAITED, data.clone()),
        "wait_result" | "result_set" => (RESULT, data.clone()),
        _ if data["conflicts"].is_array() => {
            let lines = |list: &Value, of: fn(&Value) -> String| -> Value {
                list.as_array().into_iter().flatten().map(of).collect::<Vec<String>>().into()
            };
            let mut applied = data.clone();
            applied["files"] =
                lines(&data["files"], |one| format!("{} {}", plain(&one["change"]), plain(&one["path"])));
            applied["conflicts"] = lines(&data["conflicts"], |one| {
                format!("{}: {}", plain(&one["path"]), plain(&one["reason"]))
            });
            (APPLIED, applied)
        }
        _ if data.get("operation").is_some() => (CANCELLED, data.clone()),
        _ if data["environments"].is_array() => {
            let listed = data["environments"].as_array().into_iter().flatten();
            let more = |one: &Value, name: &str| one[name].as_str().map(|more| format!(", {more}"));
            let line = |one: &Value| {
                let more =
                    ["repository", "tech_stack"].map(|name| more(one, name).unwrap_or_default()).concat();
                format!(
                    "{}: {}{more} (from {})",
                    plain(&one["id"]),
                    plain(&one["name"]),
                    plain(&one["source"])
                )
            };
            let lines: Vec<String> = listed.map(line).collect();
            let status = format!("{} known", lines.len());
            (ENVIRONMENTS, json!({ "status": status, "source": meta["source"], "environments": lines }))
        }
        _ if data.get("guide").is_some() => {
            let mut guide = data.clone();
            guide["status"] = format!("{} steps", data["steps"].as_array().map_or(0, Vec::len)).into();
            for name in ["repository", "tech_stack"] {
                guide[name] = meta[name].clone();
            }
            (GUIDE, guide)
        }
        _ => {
            let mut cleaned = data.clone();
            cleaned["status"] = if meta["dry_run"] == true { "dry run" } else { "done" }.into();
            (CLEANED, cleaned)
        }
    };
    facts["notice"] = meta["notice"].clone();
    facts["next"] = content["next"].clone();
    (places, facts)
}

/// Labels that may occur on several lines.
const REPEATED: [&str; 3] = ["warning", "full_output_file", "next"];

/// No label is repeated unless allowed, and all are in the same order in every reply.
fn in_order(said: &Said, known: &[&str]) -> Result<(), String> {
    let at: Vec<_> =
        said.entries.iter().filter_map(|entry| known.iter().position(|one| *one == entry.label)).collect();
    let may_repeat =
        |pair: &[usize]| pair[0] < pair[1] || pair[0] == pair[1] && REPEATED.contains(&known[pair[0]]);
    same(at.windows(2).all(may_repeat), || "the labels are not in order".into())
}

struct Facts<'a> {
    all: &'a Value,
    said: &'a Said<'a>,
}

impl Facts<'_> {
    /// `entries` are all lines with a label, `fact` is the value of its field.
    fn check(&self, kind: Kind, entries: &[&Entry], fact: Option<&Value>) -> Result<(), String> {
        let entry = entries.first().copied();
        match (kind, entry) {
            (Line, None) => {
                let fact = fact.map(plain).filter(|fact| !unsaid(fact));
                same(fact.is_none(), || "it is not in the text".into())
            }
            (Line, Some(entry)) => says(entry.value, &fact.map(plain).unwrap_or_default()),
            (LineOrNone, Some(entry)) => says(entry.value, &fact.map_or("(none)".into(), plain)),
            (Summary, Some(entry)) => {
                let by_agent = self.all["report_by"] == "agent";
                same(entry.by_agent == by_agent, || "it does not say the same about who wrote it".into())?;
                says(entry.value, &fact.map(plain).unwrap_or_default())
            }
            (Reported, Some(entry)) => {
                let facts = texts(fact);
                same(entry.by_agent != facts.is_empty(), || "it is not marked as the agent's".into())?;
                self.list(entry, &facts)
            }
            (ListIfAny, None) => same(texts(fact).is_empty(), || "they are not in the text".into()),
            (ListIfAny, Some(entry)) => self.list(entry, &texts(fact)),
            // `next` shows whether they are complete.
            (Suggested, None) => Ok(()),
            (Suggested, Some(entry)) => {
                let facts = texts(fact);
                entry.items.iter().try_for_each(|item| {
                    let there = facts.iter().any(|fact| says(item, fact).is_ok());
                    same(there || self.cut(), || format!("nothing suggests `{item}`"))
                })
            }
            (SoFar, None) => {
                same(fact.and_then(lines::progress).is_none(), || "it is not in the text".into())
            }
            (SoFar, Some(entry)) => {
                let stated = fact.and_then(lines::progress).ok_or("nothing is known of it")?;
                same(entry.value == stated, || format!("it is `{stated}`"))
            }
            (Steps, _) => {
                let steps = lines::steps(fact);
                match entry {
                    Some(entry) => self.list(entry, &steps),
                    None => same(steps.is_empty(), || "they are not in the text".into()),
                }
            }
            (Left, Some(entry)) => says(entry.value, &lines::left(fact.ok_or("nothing is known of it")?)),
            (Changed | Commands | Left | Moved | Tests | Tokens, None) => {
                same(fact.is_none(), || "it is not in the text".into())
            }
            (Changed, Some(entry)) => {
                let fact = fact.ok_or("there are none")?;
                let stated = lines::changed(fact);
                same(entry.value == stated || self.cut(), || format!("it is `{stated}`"))?;
                self.some(entry, &lines::changed_files(fact), &fact["left_out"])
            }
            (Moved, Some(entry)) => says(entry.value, &lines::moved(fact.ok_or("it stayed")?)),
            (Tokens, Some(entry)) => says(entry.value, &lines::tokens(fact.ok_or("nothing is known of it")?)),
            (Commits | Ignored | Failed, _) => {
                let none = Value::Null;
                let fact = fact.unwrap_or(&none);
                let (names, left_out) = match kind {
                    Commits => (lines::commits(fact), &fact["commits_left_out"]),
                    Ignored => (lines::ignored(fact), &fact["ignored_left_out"]),
                    _ => (texts(fact.get("failed_tests")), &fact["failed_tests_left_out"]),
                };
                match entry {
                    Some(entry) => self.some(entry, &names, left_out),
                    None => same(names.is_empty(), || "they are not in the text".into()),
                }
            }
            (Commands, Some(entry)) => {
                let stated = lines::commands(fact.ok_or("none ran")?);
                same(entry.value == stated, || format!("it is {stated}"))
            }
            (Tests, Some(entry)) => {
                let stated = lines::tested(fact.ok_or("none ran")?);
                same(entry.value == stated || self.cut(), || format!("it is `{stated}`"))
            }
            (Each, _) => {
                let facts = texts(fact);
                same(entries.len() == facts.len() || self.cut(), || format!("{} lines", entries.len()))?;
                entries.iter().zip(&facts).try_for_each(|(entry, fact)| says(entry.value, fact))
            }
            (Files, None) => same(texts(fact).is_empty(), || "they are not in the text".into()),
            // None of them is worth opening yet.
            (Own, None) => Ok(()),
            (Files, Some(entry)) => {
                let files = fact.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
                let files: Vec<String> = files.iter().filter_map(lines::file).collect();
                same(entry.items == files || self.cut(), || format!("they are {files:?}"))
            }
            (Own, Some(entry)) => {
                let dir = plain(&self.all["run_dir"]);
                let files = texts(fact);
                let files: Vec<String> = files.iter().map(|name| format!("{name}: {dir}/{name}")).collect();
                let there = |item: &&str| files.iter().any(|file| file == item);
                same(entry.items.iter().all(there) || self.cut(), || format!("they are {files:?}"))
            }
            (State, Some(entry)) => {
                lines::state(entry.value, &plain(fact.unwrap_or(&json!("none"))), self.all)
            }
            (Trouble, None) => same(fact.is_none(), || "it is not in the text".into()),
            (Trouble, Some(entry)) => lines::trouble(entry.value, fact.ok_or("there is none")?, self.all),
            (Hint, None) => {
                // The first suggestion is a hint, or the errors' own.
                let suggested = self.suggested();
                let fact = fact
                    .map(plain)
                    .filter(|fact| suggested.first().is_none_or(|first| says(first, fact).is_err()));
                same(fact.is_none(), || "it is not in the text".into())
            }
            (Hint, Some(entry)) => says(entry.value, &fact.map(plain).unwrap_or_default()),
            (Next, None) => same(fact.is_none(), || "they are not in the text".into()),
            (Next, Some(_)) => self.next(entries, fact),
            (Counts, Some(entry)) => {
                let counted = lines::counted(fact.ok_or("there are none")?);
                same(entry.value == counted || self.cut(), || format!("the facts are {counted}"))
            }
            (Tasks, None) => same(fact.is_none(), || "they are not in the text".into()),
            (Tasks, Some(entry)) => {
                let tasks = fact.and_then(Value::as_array).ok_or("there are none")?;
                let all = entry.items.len() == tasks.len() || self.cut();
                same(all, || format!("{} tasks are {}", tasks.len(), entry.items.len()))?;
                // A shortened list is the same in both, and states the number of further entries.
                let counted =
                    lines::counted_as(entry.label).and_then(|name| self.all["summary"][name].as_u64());
                let told = (tasks.len() + entry.more) as u64;
                same(counted.is_none_or(|count| count == told), || format!("{told} are told of"))?;
                for (number, (item, task)) in entry.items.iter().zip(tasks).enumerate() {
                    lines::task(item, task, self.cut())?;
                    let below: Vec<&str> = entry
                        .below
                        .iter()
                        .filter(|(item, _)| *item == number)
                        .map(|(_, line)| *line)
                        .collect();
                    let last = texts(task.get("last_lines"));
                    same(below == last || self.cut(), || format!("its last lines are {last:?}"))?;
                }
                Ok(())
            }
            (Refusal, Some(entry)) => {
                let (message, code) = entry.value.rsplit_once(" (").ok_or("there is no code")?;
                let known = plain(&self.all["code"]);
                same(code == format!("{known})"), || format!("the code is {known}"))?;
                says(message, &fact.map(plain).unwrap_or_default())
            }
            (Kept, _) => {
                let files = lines::files_kept(self.all);
                same(entries.len() == files || self.cut(), || format!("{files} files are named"))?;
                entries.iter().try_for_each(|entry| lines::kept(entry.value, self.all))
            }
            (Stock, Some(entry)) => lines::stock(&entry.items, fact.ok_or("there is none")?),
            (_, None) => Err("it is not in the text".into()),
        }
    }

    /// The first five of `names` and the number of further ones, including those left out of both.
    fn some(&self, entry: &Entry, names: &[String], left_out: &Value) -> Result<(), String> {
        let all = names.len() + usize::try_from(left_out.as_u64().unwrap_or_default()).unwrap_or_default();
        let told = entry.items.len() + entry.more;
        same(told == all || self.cut(), || format!("{told} of {all} are told of"))?;
        entry.items.iter().zip(names).try_for_each(|(item, name)| match self.cut() {
            true => Ok(()),
            false => says(item, name),
        })
    }

    /// The first five and the number of further ones.
    fn list(&self, entry: &Entry, facts: &[String]) -> Result<(), String> {
        same((entry.value == "(none)") == facts.is_empty(), || "there is something".into())?;
        let told = entry.items.len() + entry.more;
        same(told == facts.len() || self.cut(), || format!("{} of {} are told of", told, facts.len()))?;
        entry.items.iter().zip(facts).try_for_each(|(item, fact)| says(item, fact))
    }

    /// The calls that the structured content proposes.
    fn next(&self, said: &[&Entry], calls: Option<&Value>) -> Result<(), String> {
        let calls = calls.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let stated: Vec<String> = calls.iter().map(lines::call).collect();
        same(calls.len() <= 3, || format!("{} calls are proposed", calls.len()))?;
        let said: Vec<&str> =
            said.iter().map(|entry| entry.value).filter(|value| *value != "(none)").collect();
        same(said == stated || self.cut(), || format!("proposed is {stated:?}"))?;
        if let Some(now) = self.all.pointer("/progress/next_actions").filter(|_| !self.cut()) {
            same(texts(Some(now)) == stated, || format!("the next actions are {now}"))?;
        }
        let hint = self.said.entries.iter().find(|entry| entry.label == "hint").map(|entry| entry.value);
        let suggested = self.suggested();
        let shortened = hint.iter().chain(&suggested).any(|one| one.ends_with('…'));
        let hints = hint.into_iter().chain(suggested).collect::<Vec<_>>().join("; ");
        if let Some(proposed) =
            self.all.pointer("/metadata/error_context/suggestions").filter(|_| !self.cut())
        {
            let proposed = texts(Some(proposed)).join("; ");
            same(hints == proposed || shortened, || format!("suggested is {proposed}"))?;
        }
        Ok(())
    }

    /// The suggestion of the errors, as in the text.
    fn suggested(&self) -> Vec<&str> {
        let found = self.said.entries.iter().find(|entry| entry.label == "suggestions");
        found.map(|entry| entry.items.clone()).unwrap_or_default()
    }

    /// One of the two was too long, and says so.
    fn cut(&self) -> bool {
        self.said.cut || self.all["notice"].as_str().is_some_and(|notice| notice.contains(SHORTENED))
    }
}

/// How the truncation notice of structured content begins. The text has a marker of its own.
const SHORTENED: &str = "shortened from ";

fn unsaid(fact: &str) -> bool {
    fact.starts_with(SHORTENED)
}

/// Whether the line states it, as far as neither is shortened.
pub fn says(said: &str, fact: &str) -> Result<(), String> {
    let fact = fact.split_once(&format!("; {SHORTENED}")).map_or(fact, |(fact, _)| fact);
    let (said, fact) = (one_line(said), one_line(fact));
    let begins = |whole: &str, cut: &str| {
        cut.strip_suffix('…')
            .is_some_and(|head| head.chars().count() >= LEAST && whole.starts_with(head.trim_end()))
    };
    same(said == fact || begins(&fact, &said) || begins(&said, &fact), || format!("it is `{fact}`"))
}

/// A shortened line keeps at least this much.
const LEAST: usize = 30;

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn plain(fact: &Value) -> String {
    fact.as_str().map_or_else(|| fact.to_string(), str::to_owned)
}

/// The items of a list as texts; a file with a remark is one item, as is a place in a file.
fn texts(list: Option<&Value>) -> Vec<String> {
    let items = list.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let text = |item: &Value| match (item.get("path"), item.get("line")) {
        (Some(path), _) => {
            let missing = if item["missing"] == true { " (not on disk)" } else { "" };
            format!("{}: {}{missing}", plain(path), plain(&item["description"]))
        }
        (None, Some(line)) => {
            let column = item.get("column").map(|column| format!(":{column}")).unwrap_or_default();
            format!("{}:{line}{column}", plain(&item["file"]))
        }
        (None, None) => plain(item),
    };
    items.iter().map(text).collect()
}

pub fn same(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}
