//! Histories of commands (`tests/histories/rule.jsonl`), and what is told of each: they show the one rule.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use super::commands::{Account, CommandEnd, LedgerEntry, Printed, Refusals, judge, settle};
use super::tests::Changed;
use crate::model::{ItemStatus, Timestamp};

#[derive(Debug, Deserialize)]
struct History {
    /// What it shows.
    shows: String,
    /// Lines with their exit code and what they printed; a fourth member is the directory.
    commands: Vec<(String, Option<i64>, String, Option<String>)>,
    /// The number of commands that had ended when the agent last reported an edit.
    edited_after: Option<u64>,
    told: Value,
}

impl History {
    fn entries(&self) -> Vec<LedgerEntry> {
        let judged = self.commands.iter().zip(1..).map(|((line, exit_code, text, directory), number)| {
            let status = match exit_code {
                Some(0) => ItemStatus::Completed,
                Some(_) => ItemStatus::Failed,
                None => ItemStatus::Running,
            };
            let at = |moment: i64| Some(Timestamp::from_millis(moment));
            let end = CommandEnd {
                number,
                item: "1",
                line,
                directory: directory.as_deref().unwrap_or("/w"),
                root: "/w",
                started_at: at(number as i64 * 1000),
                ended_at: at(number as i64 * 1000 + 500),
                exit_code: *exit_code,
                status,
            };
            judge(&end, Printed { text, is_whole: true, span: None })
        });
        judged.collect()
    }

    /// In short what is told, in the form of the file.
    fn seen(&self) -> Value {
        let entries = self.entries();
        let changed = Changed::Known { at: None, by: None };
        let Account { tests, errors, earlier, .. } =
            settle(&entries, Refusals::default(), self.edited_after, changed, None);
        let outcomes: Vec<_> = entries.iter().map(|entry| json!(entry.outcome)).collect();
        let mut seen = json!({ "outcomes": outcomes });
        if let Some(tests) = tests {
            seen["tests"] = json!([tests.passed, tests.failed, tests.complete, tests.stale]);
            if !tests.not_run_again.is_empty() {
                seen["not_run_again"] =
                    tests.not_run_again.iter().map(|red| json!([red.command, red.tree_moved_by])).collect();
            }
        }
        if let Some(errors) = errors {
            seen["error"] = json!([errors.command, errors.error_message]);
        }
        let later = earlier.list.iter().map(|one| match (&one.succeeded_since, &one.tree_moved_by) {
            (Some(_), _) => json!([one.command, "passed later"]),
            (None, Some(by)) => json!([one.command, format!("passed after {by}")]),
            (None, None) if one.unknown_since => json!([one.command, "unknown since"]),
            (None, None) => json!([one.command, "not run again"]),
        });
        let later: Vec<Value> = later.collect();
        if !later.is_empty() {
            seen["earlier"] = Value::Array(later);
        }
        seen
    }
}

#[test]
fn histories_are_told_by_the_one_rule() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/histories/rule.jsonl");
    let text = fs::read_to_string(path).unwrap();
    let histories: Vec<History> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(histories.len() >= 40, "only {}", histories.len());
    let wrong: Vec<String> = histories
        .iter()
        .filter(|history| history.seen() != history.told)
        .map(|history| format!("{}: {}", history.shows, history.seen()))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
