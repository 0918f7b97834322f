//! Lines of a reply's text that state several facts.

use serde_json::Value;

use super::facts::{same, says};
use super::said::Said;

/// `completed (0.4 s, the same request as before)`; for a cancel `cancelled (was working)`.
pub fn state(said: &str, state: &str, facts: &Value) -> Result<(), String> {
    let (name, notes) = match said.split_once(" (") {
        Some((name, notes)) => (name, notes.strip_suffix(')').ok_or("the bracket stays open")?),
        None => (said, ""),
    };
    same(name == state, || format!("it is {state}"))?;
    if let Some(before) = facts["previous_state"].as_str() {
        return same(notes == format!("was {before}"), || format!("it was {before}"));
    }
    let notes: Vec<&str> = notes.split(", ").filter(|note| !note.is_empty()).collect();
    let odd = [("the wait timed out", "wait_exceeded"), ("the same request as before", "deduplicated")];
    for (note, member) in odd {
        let (told, holds) = (notes.contains(&note), facts[member] == true);
        same(told == holds, || format!("`{member}` says otherwise"))?;
    }
    let took: Vec<&str> =
        notes.into_iter().filter(|note| !odd.iter().any(|(known, _)| known == note)).collect();
    let stated = duration_ms(facts).map(duration);
    match took[..] {
        [] => same(stated.is_none_or(|stated| stated == duration(0)), || {
            "how long it took is not in the text".into()
        }),
        [took] => same(stated.as_deref() == Some(took), || format!("it took {stated:?}")),
        _ => Err(format!("{took:?} are unknown")),
    }
}

/// The duration of a finished run.
fn duration_ms(task: &Value) -> Option<u64> {
    if let Some(report) = task.get("timing") {
        return report["duration_ms"].as_u64();
    }
    let over = !matches!(task["state"].as_str(), Some("working" | "pending") | None);
    let seconds = task["duration_seconds"].as_f64().filter(|_| over)?;
    Some((seconds * 1000.0).round() as u64)
}

/// `0.4 s`, `42 s`, `2m05s`, `1h02m`.
fn duration(millis: u64) -> String {
    let tenths = (millis + 50) / 100;
    if tenths < 100 {
        return format!("{}.{} s", tenths / 10, tenths % 10);
    }
    let seconds = (millis + 500) / 1000;
    match seconds {
        ..60 => format!("{seconds} s"),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

/// `the first cause (CODE, may succeed if repeated)`, or only the code if the summary is the
/// cause.
pub fn trouble(said: &str, cause: &Value, facts: &Value) -> Result<(), String> {
    let context = facts.pointer("/metadata/error_context").unwrap_or(&facts["error_context"]);
    let code = context["code"].as_str().ok_or("its code has no place")?;
    let again = if context["retryable"] == true { ", may succeed if repeated" } else { "" };
    if said == format!("{code}{again}") {
        return same(cause == &facts["summary"], || format!("the cause is {cause}"));
    }
    let end = format!(" ({code}{again})");
    let message = said.strip_suffix(&end).ok_or_else(|| format!("it does not end in `{end}`"))?;
    says(message, cause.as_str().unwrap_or_default())
}

/// `3 changed, +10 -2 lines (git; includes changes that T-local-… made at the same time; incomplete)`.
pub fn changed(files: &Value) -> String {
    let reason = files["reason"].as_str().unwrap_or_default();
    if files["files_changed"].is_null() {
        return format!("unknown ({reason})");
    }
    let number = |name: &str| files[name].as_u64();
    let lines = match (number("lines_added"), number("lines_removed"), number("lines_changed")) {
        (None, None, None) => "lines unknown".to_owned(),
        (None, None, Some(0)) => "0 lines".to_owned(),
        (Some(added), Some(removed), Some(all)) if added + removed == all => {
            format!("+{added} -{removed} lines")
        }
        _ => "lines that do not add up".to_owned(),
    };
    let root = files["root"].as_str().filter(|_| files["files_changed"] != 0);
    let root = root.map(|root| format!("; paths relative to {root}")).unwrap_or_default();
    let hidden = files["no_longer_checked_out"].as_u64();
    let hidden = hidden.map(|hidden| format!(", {hidden} no longer checked out")).unwrap_or_default();
    let because = if reason.is_empty() { String::new() } else { format!("; {reason}") };
    let all = words(&files["overlapped_with"]);
    let more = all.len().saturating_sub(3);
    let more = if more > 0 { format!(", {more} more") } else { String::new() };
    let others = format!("{}{more}", all[..all.len().min(3)].join(", "));
    let shared = if others.is_empty() {
        String::new()
    } else {
        format!("; includes changes that {others} made at the same time")
    };
    let unknown = if words(&files["incomplete"]).is_empty() { "" } else { "; incomplete" };
    let source = files["source"].as_str().unwrap_or_default();
    let counted = |(kind, count): (&String, &Value)| format!("{count} {kind}");
    let kinds = files["by_kind"].as_object().map(|kinds| kinds.iter().map(counted).collect::<Vec<_>>());
    let kinds = kinds.map(|kinds| format!(" ({})", kinds.join(", "))).unwrap_or_default();
    let changed = &files["files_changed"];
    format!("{changed} changed{kinds}, {lines}{hidden} ({source}{root}{because}{shared}{unknown})")
}

/// The change of each file.
pub fn changed_files(files: &Value) -> Vec<String> {
    let of = |what: &str| {
        let named = words(&files[format!("{what}_files").as_str()]);
        named.into_iter().map(|file| format!("{what} {file}")).collect::<Vec<_>>()
    };
    let renamed = files["renamed_files"].as_array().into_iter().flatten();
    let text = |member: &Value| member.as_str().unwrap_or_default().to_owned();
    let renamed = renamed.map(|one| format!("renamed {} -> {}", text(&one["from"]), text(&one["to"])));
    let nested = files["submodules"].as_array().into_iter().flatten();
    let nested = nested.map(|one| {
        format!("submodule {} {} -> {}", text(&one["path"]), short(&one["from"]), short(&one["to"]))
    });
    let kinds = ["modified", "added", "deleted", "mode_changed", "type_changed"];
    kinds.map(of).concat().into_iter().chain(renamed).chain(nested).collect()
}

/// An abbreviated commit id.
fn short(commit: &Value) -> &str {
    commit.as_str().map_or("(none)", |name| &name[..name.len().min(10)])
}

/// `main 0a1b2c3d4e -> (no branch) 5f6a7b8c9d`.
pub fn moved(head: &Value) -> String {
    let at =
        |at: &Value| format!("{} {}", at["branch"].as_str().unwrap_or("(no branch)"), short(&at["commit"]));
    format!("{} -> {}", at(&head["from"]), at(&head["to"]))
}

/// `0a1b2c3d4e subject`, for each.
pub fn commits(files: &Value) -> Vec<String> {
    let made = files["commits"].as_array().into_iter().flatten();
    made.map(|one| format!("{} {}", short(&one["hash"]), one["subject"].as_str().unwrap_or_default()))
        .collect()
}

/// `modified build/`, for each.
pub fn ignored(files: &Value) -> Vec<String> {
    let touched = files["ignored"].as_array().into_iter().flatten();
    let text = |one: &Value, member: &str| one[member].as_str().unwrap_or_default().to_owned();
    touched.map(|one| format!("{} {}", text(one, "change"), text(one, "path"))).collect()
}

/// `1200 in (1000 from the cache), 300 out (200 for reasoning)`.
pub fn tokens(used: &Value) -> String {
    let [all, cached, out, reasoning] =
        ["input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens"]
            .map(|name| &used[name]);
    format!("{all} in ({cached} from the cache), {out} out ({reasoning} for reasoning)")
}

/// `3 passed, 1 failed, 1 unknown`: without zeros.
pub fn commands(commands: &Value) -> String {
    let all = ["passed", "failed", "unknown", "refused", "unfinished"];
    let told =
        all.iter().filter(|word| commands[**word] != 0).map(|word| format!("{} {word}", commands[*word]));
    told.collect::<Vec<_>>().join(", ")
}

/// `3 passed, 1 failed, 0 skipped (pytest; stale: files changed afterwards)`.
pub fn tested(tests: &Value) -> String {
    let mut notes = words(&tests["frameworks"]).join(", ");
    for (member, is, note) in [
        ("unit", Value::from("packages"), "counted in packages"),
        ("stale", true.into(), "stale: files changed afterwards"),
        ("stale", Value::Null, "possibly stale: unknown whether files changed afterwards"),
        ("complete", false.into(), "incomplete: a part of the test run was not seen"),
    ] {
        if tests[member] == is {
            notes = format!("{notes}; {note}");
        }
    }
    let red = tests["not_run_again"].as_array().cloned().unwrap_or_default();
    for one in &red {
        let failed = one["failed"].as_u64().map_or("failed".to_owned(), |failed| format!("{failed} failed"));
        let how = one["tree_moved_by"].as_str().map_or_else(
            || format!("{failed} when last run"),
            |by| format!("{failed}; passed only after `{by}` changed the files"),
        );
        let command = one["command"].as_str().expect("a command has a line");
        notes = format!("{notes}; `{command}`: {how}");
    }
    match (&tests["passed"], &tests["failed"], &tests["skipped"]) {
        (Value::Null, Value::Null, _) => format!("counts unknown ({notes})"),
        (Value::Null, failed, _) => format!("{failed} failed, passed unknown ({notes})"),
        (passed, failed, skipped) => format!("{passed} passed, {failed} failed, {skipped} skipped ({notes})"),
    }
}

fn words(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The summary's name for each state in a list.
pub fn counted_as(label: &str) -> Option<&'static str> {
    [("running", "running"), ("queued", "queued"), ("finished", "recently_completed")]
        .into_iter()
        .find_map(|(known, name)| (known == label).then_some(name))
}

/// `1 running, 0 queued, 5 recently finished`, or `3 of 4 done`.
pub fn counted(fact: &Value) -> String {
    match fact.as_array() {
        None => format!(
            "{} running, {} queued, {} recently finished",
            fact["running"], fact["queued"], fact["recently_completed"]
        ),
        Some(tasks) => {
            let done = tasks.iter().filter(|task| duration_ms(task).is_some()).count();
            format!("{done} of {} done", tasks.len())
        }
    }
}

/// A proposed call as in the text.
pub fn call(call: &Value) -> String {
    let arguments = call["arguments"].as_object().into_iter().flatten();
    let arguments: Vec<String> = arguments.map(|(name, value)| format!("\"{name}\": {value}")).collect();
    let text = |name: &str| call[name].as_str().unwrap_or_default().to_owned();
    format!("{} {{{}}} {}", text("tool"), arguments.join(", "), text("why"))
}

/// The name and the path of a run file as in the text.
pub fn file(file: &Value) -> Option<String> {
    Some(format!("{}: {}", file["name"].as_str()?, file["path"].as_str()?))
}

/// Every object that names a file with content that was left out.
fn all_kept(facts: &Value) -> Vec<&Value> {
    let own = facts["full_output_file"].is_string().then_some(facts);
    let below: Vec<&Value> = match facts {
        Value::Object(members) => members.values().collect(),
        Value::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    };
    own.into_iter().chain(below.into_iter().flat_map(all_kept)).collect()
}

pub fn files_kept(facts: &Value) -> usize {
    all_kept(facts).len()
}

/// `/path (name: 3 lines, 40 bytes)`.
pub fn kept(said: &str, facts: &Value) -> Result<(), String> {
    let told = |file: &&Value| {
        let about = format!(": {} lines, {} bytes)", file["total_lines"], file["total_bytes"]);
        let path = file["full_output_file"].as_str().unwrap_or_default();
        said.starts_with(&format!("{path} (")) && said.ends_with(&about)
    };
    same(all_kept(facts).iter().any(told), || format!("no such file is named: {said}"))
}

/// One of several tasks: its parts in order and nothing else. If something was shortened (`cut`),
/// as far as it goes.
pub fn task(said: &str, task: &Value, cut: bool) -> Result<(), String> {
    let text = |member: &str| task[member].as_str().unwrap_or_default();
    let (id, state, title, summary) = (text("task_id"), text("state"), text("title"), text("summary"));
    let parent = task["parent_task_id"].as_str().map(|parent| format!(" (parent {parent})"));
    let id = format!("{id}{}", parent.unwrap_or_default());
    let took = duration_ms(task).map(duration);
    let by = if task["report_by"] == "agent" { " (reported by the agent)" } else { "" };
    let is =
        |line: String| if cut { says(said, &line) } else { same(said == line, || format!("it is `{line}`")) };
    let fact = |name: &str| task[name].as_str().map(|line| format!("; {name}: {line}")).unwrap_or_default();
    let facts = ["progress", "files", "tests", "unresolved_error"].map(fact).concat();
    let page = task["page"].as_str().map(|page| format!("; {page}")).unwrap_or_default();
    if let Some(earlier) = task["waits_for"].as_str() {
        return is(format!("{id} waits for {earlier}: {title}"));
    }
    if let Some(position) = task.get("position") {
        let starts = task["estimated_start_ms"].as_u64();
        let starts = starts.map(|ms| format!(", starts in about {}", duration(ms))).unwrap_or_default();
        return is(format!("{id} at position {position}{starts}: {title}"));
    }
    if let Some(elapsed) = task["elapsed_seconds"].as_f64() {
        let progress = &task["progress"];
        let activity = progress["current_activity"].as_str().unwrap_or("starting");
        let steps = so_far(progress);
        let front = format!("{id} {state} for {elapsed:.0} s: {title} (");
        let doing = said.strip_prefix(&front).and_then(|rest| rest.strip_suffix(&format!("{steps}){page}")));
        return says(doing.ok_or_else(|| format!("it is `{front}{activity}{steps})`"))?, activity);
    }
    if let Some(unread) = task["unread"].as_bool() {
        let (took, unread) = (took.unwrap_or_default(), if unread { ", unread" } else { "" });
        return is(format!("{id} {state} after {took}{unread}: {title} -> {summary}{page}{by}{facts}"));
    }
    let took = took.map(|took| format!(" ({took})")).unwrap_or_default();
    // The text gives no time for a run that did not start.
    let began = said.starts_with(&format!("{id} {state} (")) || task["duration_seconds"] != 0.0;
    is(format!("{id} {state}{}: {summary}{by}{facts}", if began { took.as_str() } else { "" }))
}

/// `50%, 1 of 2 steps, 3 commands (1 failed), 1 changed file`: without zeros.
pub fn progress(progress: &Value) -> Option<String> {
    let number = |member: &str| progress["counters"][member].as_u64().unwrap_or_default();
    let counted = |member: &str, one: &str, many: &str| match number(member) {
        0 => None,
        1 => Some(format!("1 {one}")),
        number => Some(format!("{number} {many}")),
    };
    let failed = Some(number("commands_failed")).filter(|failed| *failed > 0);
    let failed = failed.map(|failed| format!(" ({failed} failed)")).unwrap_or_default();
    let planned = progress["total_steps"].as_u64().filter(|all| *all > 0);
    let parts = [
        progress["percent"].as_u64().map(|percent| format!("{percent}%")),
        planned.map(|all| format!("{} of {all} steps", progress["completed_steps"])),
        counted("commands", "command", "commands").map(|commands| commands + &failed),
        counted("files_changed", "changed file", "changed files"),
        counted("tool_calls", "tool call", "tool calls"),
        counted("messages", "message", "messages"),
        counted("retries", "retry", "retries"),
    ];
    let known: Vec<String> = parts.into_iter().flatten().collect();
    (!known.is_empty()).then(|| known.join(", "))
}

/// `[x] done step`, `[ ] open step`.
pub fn steps(steps: Option<&Value>) -> Vec<String> {
    let steps = steps.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let shown = |step: &Value| {
        format!(
            "[{}] {}",
            if step["done"] == true { "x" } else { " " },
            step["text"].as_str().unwrap_or_default()
        )
    };
    steps.iter().map(shown).collect()
}

/// `, 50%, 1/2 steps`, or without a plan `, 3 commands, 1 changed file`; and the estimated
/// remaining time.
fn so_far(progress: &Value) -> String {
    let counted = |member: &str, what: &str| match progress["counters"][member].as_u64().unwrap_or_default() {
        0 => String::new(),
        1 => format!(", 1 {what}"),
        number => format!(", {number} {what}s"),
    };
    let done = match progress["total_steps"].as_u64() {
        None | Some(0) => counted("commands", "command") + &counted("files_changed", "changed file"),
        Some(all) => {
            let percent = progress["percent"].as_u64().map(|percent| format!("{percent}%, "));
            format!(", {}{}/{all} steps", percent.unwrap_or_default(), progress["completed_steps"])
        }
    };
    let left = progress.get("eta").filter(|eta| !eta.is_null()).map(left);
    done + &left.map(|left| format!(", {left}")).unwrap_or_default()
}

/// `20 s to 1m05s left, based on 5 earlier runs`.
pub fn left(eta: &Value) -> String {
    let time = |member: &str| duration(eta[member].as_u64().unwrap_or_default() * 1000);
    format!("{} to {} left, based on {} earlier runs", time("low_s"), time("high_s"), eta["samples"])
}

/// The output of a run: the same in both, however much was left out, and with its size.
pub fn output(said: &Said, facts: &Value) -> Result<(), String> {
    let printed = &facts["output"];
    let counted = printed["original_size"].is_u64() == (printed["included"] == true);
    same(counted, || format!("its size is {}", printed["original_size"]))?;
    let mut rest = said.output;
    for name in ["answer", "stdout", "stderr", "events", "guide"] {
        let events = facts["events"]["items"].as_array().map(Vec::as_slice);
        let stated = match name {
            "answer" => facts
                .get("answer")
                .map(|answer| answer.as_str().map_or_else(|| format!("{answer:#}"), str::to_owned)),
            "guide" => facts["guide"].as_str().map(str::to_owned),
            "events" => events.map(|_| String::new()),
            stream => facts["output"][stream].as_str().filter(|text| !text.is_empty()).map(str::to_owned),
        };
        let Some(stated) = stated else { continue };
        let Some(body) = rest.strip_prefix(&format!("{name}:\n")) else {
            return same(said.cut, || format!("`{name}` is not in the text"));
        };
        let (fence, body) = body.split_once('\n').ok_or("no fence")?;
        same(fence.len() >= 3 && fence.trim_matches('`').is_empty(), || format!("`{fence}` is no fence"))?;
        // Nothing inside can close it; if the text was shortened, nothing does.
        let end = body.find(&format!("\n{fence}")).unwrap_or(body.len());
        same(end < body.len() || said.cut, || format!("`{name}` stays open"))?;
        match events.filter(|_| name == "events") {
            Some(events) => digest(&body[..end], events)?,
            None => {
                same(body[..end].trim_end() == stated.trim_end(), || format!("`{name}` differs: {stated}"))?
            }
        }
        rest = body[end..].strip_prefix(&format!("\n{fence}")).unwrap_or_default();
        rest = rest.strip_prefix('\n').unwrap_or(rest);
    }
    same(rest.is_empty(), || format!("`{rest}` is only in the text"))
}

/// One line for each event that begins with its type and is no JSON.
fn digest(shown: &str, events: &[Value]) -> Result<(), String> {
    let lines: Vec<&str> = shown.lines().collect();
    same(lines.len() == events.len(), || format!("{} events have {} lines", events.len(), lines.len()))?;
    lines.iter().zip(events).try_for_each(|(line, event)| {
        let kind = event["type"].as_str().unwrap_or("event");
        same(line.starts_with(kind), || format!("`{line}` is not about {kind}"))
    })
}

/// One line for each kind of stored output, with totals.
pub fn stock(items: &[&str], fact: &Value) -> Result<(), String> {
    let kinds = fact.as_object().into_iter().flatten().filter(|(_, stock)| stock.is_object()).count();
    same(items.len() == kinds, || format!("{} of {kinds} kinds are told of", items.len()))?;
    items.iter().try_for_each(|item| {
        let (name, rest) = item.split_once(": ").ok_or("no name")?;
        let known =
            ["count", "file_count", "total_bytes", "pinned", "live"].map(|part| fact[name][part].as_u64());
        let said: Vec<Option<u64>> =
            rest.split([' ', ';']).filter_map(|word| word.parse().ok()).map(Some).take(known.len()).collect();
        same(said == known, || format!("{name} has {known:?}"))
    })
}
