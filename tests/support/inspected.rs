//! Compares the texts of `inspect_output` and `get_terminal_output` with their structured content.

use serde_json::Value;

use super::facts::same;

/// How the two differ, if they do. `rest` is the text after the tool's name.
pub fn agree(rest: &str, data: &Value, notice: &Value) -> Result<(), String> {
    let mut lines = rest.lines();
    let mut line = |label: &str| -> Result<&str, String> {
        let line = lines.next().ok_or_else(|| format!("no `{label}`"))?;
        let value = line.strip_prefix(label).and_then(|value| value.strip_prefix(": "));
        value.ok_or_else(|| format!("`{line}` stands where `{label}` should"))
    };
    let status = line("status")?;
    let counted = match data["match_count"].as_u64() {
        Some(number) => vec![number.to_string()],
        None => ["start_line", "end_line"]
            .iter()
            .filter_map(|name| data[*name].as_u64())
            .map(|number| number.to_string())
            .collect(),
    };
    same(counted.iter().all(|number| status.contains(number.as_str())), || {
        format!("`{status}` is not {counted:?}")
    })?;
    if let Some(task) = data["task_id"].as_str() {
        same(line("task_id")? == task, || "it is another task".into())?;
    }
    let path = data["file_path"].as_str().unwrap_or_default();
    same(line("file_path")? == path, || format!("the file is `{path}`"))?;
    let total = line("total")?;
    for (name, unit) in [("total_lines", " lines"), ("total_bytes", " bytes")] {
        let known = data[name].as_u64().map(|number| format!("{number}{unit}"));
        same(known.is_none_or(|known| total.contains(&known)), || format!("`{total}` has another {name}"))?;
    }
    same(total.ends_with(data["content_type"].as_str().unwrap_or_default()), || "another type".into())?;
    if let Some(warning) = data["warning"].as_str() {
        same(line("warning")? == warning, || "another warning".into())?;
    }
    let next = rest.trim_end().rsplit('\n').next().unwrap_or_default();
    let cursor = data["next_cursor"].as_str();
    // Whatever was left out must be available in a file.
    let left = data["remaining_lines"].as_u64();
    let left_after_range = left.filter(|left| *left > 0 && cursor.is_none() && data["mode"] == "range");
    let end = match (data["truncated"] == true, data["live"] == true) {
        (true, _) if data["mode"] == "summary" => " cut; ",
        (true, _) => "the range ",
        _ if left_after_range.is_some() => " left after the range, ",
        _ if data["mode"] == "range" && left.is_none() && data["end_line"].is_u64() => {
            "the range is complete; "
        }
        (false, true) => "next: no more yet",
        (false, false) => "next: end of the content",
    };
    let goes_on = cursor.map_or(end.to_owned(), |cursor| format!("\"{cursor}\""));
    same(next.starts_with("next: ") && next.contains(&goes_on), || {
        format!("`{next}` is not about {goes_on}")
    })?;
    if let Some(notice) = notice.as_str() {
        same(rest.contains(&format!("\nnotice: {notice}\n")), || "the notice is not in the text".into())?;
    }
    for shown in shown(data) {
        same(rest.contains(&shown), || format!("`{shown}` is not in the text"))?;
    }
    let marked = rest.contains("\ncontent (written by the agent's run):\n");
    let has_content = rest.contains("\ncontent");
    same(!has_content || marked == (data["report_by"] == "agent"), || "who wrote it is told otherwise".into())
}

/// The same for a recorded terminal.
pub fn terminal_agrees(rest: &str, data: &Value, notice: &Value) -> Result<(), String> {
    let has = |line: String| {
        same(format!("\n{rest}").contains(&format!("\n{line}")), || format!("no line `{line}`"))
    };
    for (label, name) in [
        ("terminal_id", "terminal_id"),
        ("name", "name"),
        ("status", "state"),
        ("command", "command"),
        ("cwd", "cwd"),
        ("last_activity", "last_activity"),
        ("file", "file_path"),
        ("next", "next"),
        ("incomplete", "incomplete"),
    ] {
        if let Some(value) = data[name].as_str() {
            has(format!("{label}: {value}"))?;
        }
    }
    has(match data["start_line"].as_u64() {
        Some(0) | None => format!("lines: none of {}", data["total_lines"]),
        Some(first) => format!("lines: {first}-{} of {}", data["end_line"], data["total_lines"]),
    })?;
    for other in data["terminals"].as_array().into_iter().flatten() {
        has(format!("- {}", other["terminal_id"].as_str().unwrap_or_default()))?;
    }
    if let Some(notice) = notice.as_str() {
        has(format!("notice: {notice}"))?;
    }
    let content = data["content"].as_str().unwrap_or_default().trim_end_matches('\n');
    same(rest.contains(content), || "the output is not in the text".into())
}

/// All matches, as they appear in the text.
fn shown(data: &Value) -> Vec<String> {
    if let Some(summary) = data.get("summary") {
        let counts = ["lines", "bytes", "error_count", "warning_count", "first_timestamp", "last_timestamp"];
        let said = counts
            .iter()
            .filter_map(|name| summary.get(*name).map(|value| format!("\n{name}: {}\n", plain(value))));
        return said.collect();
    }
    let Some(matches) = data["matches"].as_array() else {
        let content = data["content"].as_str().unwrap_or_default().trim_end_matches('\n');
        return Some(format!("\n{content}\n")).filter(|_| !content.is_empty()).into_iter().collect();
    };
    let one = |found: &Value| {
        let number = found["line_number"].as_u64().unwrap_or_default();
        let around = |name: &str| found[name].as_array().cloned().unwrap_or_default();
        let before = around("context_before");
        let first = number - before.len() as u64;
        let text = |line: &Value| line.as_str().unwrap_or_default().to_owned();
        let mut lines: Vec<String> =
            before.iter().zip(first..).map(|(line, at)| format!("{at}-{}", text(line))).collect();
        lines.push(format!("{number}:{}", text(&found["match"])));
        lines.extend(
            around("context_after").iter().zip(number + 1..).map(|(line, at)| format!("{at}-{}", text(line))),
        );
        lines
    };
    let lines: Vec<String> = matches.iter().flat_map(one).collect();
    // A matching line is shown as a match, even if it is context of another.
    let found: Vec<String> =
        lines.iter().filter(|line| is_match(line)).map(|line| line.replacen(':', "-", 1)).collect();
    lines.into_iter().filter(|line| !found.contains(line)).map(|line| format!("\n{line}\n")).collect()
}

fn is_match(line: &str) -> bool {
    line.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(':')
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
