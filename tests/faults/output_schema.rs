//! Output schemas that cost more than they look: refused when the task is submitted, or checked where
//! limits and `cancel` reach, and never checked again.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::phase::Phase;
use crate::support::agent::install;
use crate::support::env::{PATIENCE, Ran, Submitted, acknowledged, wait_for};
use crate::support::kill;

/// What a command may take that checks no answer, also on a busy machine.
const AT_ONCE: Duration = Duration::from_secs(20);

fn with_codex() -> Phase {
    let phase = Phase::new();
    let codex = install(&phase.env, "codex");
    phase.env.configure(&format!("max_concurrent = 1\ncodex_path = {:?}\n", codex.to_str().unwrap()));
    phase
}

/// Hands in a task with this schema, whose agent answers `answer` and then touches the file `answered`.
fn run(phase: &Phase, options: &[&str], schema: &Value, answer: &str) -> Ran {
    let (file, answered) = (phase.env.work().join("schema.json"), answered(phase));
    fs::write(&file, schema.to_string()).unwrap();
    let message = json!({ "type": "item.completed", "item": { "id": "item_0", "type": "agent_message", "text": answer } });
    let completed = json!({ "type": "turn.completed", "usage": { "input_tokens": 1, "cached_input_tokens": 0, "output_tokens": 1 } });
    let script = format!(
        "SCRIPT:\nturn first\nsay {message}\nsay {completed}\ntouch {}\nexit 0\nEND",
        answered.display()
    );
    let base = ["run", "--agent", "codex", "--skip-git-repo-check", "--json", "--output-schema"];
    let args: Vec<&str> = base
        .iter()
        .chain(&[file.to_str().unwrap()])
        .chain(options)
        .chain(&[script.as_str()])
        .copied()
        .collect();
    phase.env.run(&args)
}

fn answered(phase: &Phase) -> PathBuf {
    phase.env.work().join("answered")
}

/// Each definition applies the next one twice to the same value.
fn doubling(definitions: usize) -> Value {
    let next = |n: usize| json!({ "$ref": format!("#/$defs/d{}", n + 1) });
    let mut all: serde_json::Map<String, Value> =
        (0..definitions).map(|n| (format!("d{n}"), json!({ "allOf": [next(n), next(n)] }))).collect();
    all.insert(format!("d{definitions}"), json!({ "type": "object" }));
    json!({ "$ref": "#/$defs/d0", "$defs": all })
}

/// Doubles with each level of the answer, which no look at the schema alone can tell.
fn doubling_with_depth() -> Value {
    let deeper = json!({ "properties": { "a": { "$ref": "#/$defs/d" } } });
    json!({ "$ref": "#/$defs/d", "$defs": { "d": { "allOf": [deeper, deeper] } } })
}

fn deep(levels: usize) -> String {
    format!("{}{{}}{}", r#"{"a":"#.repeat(levels), "}".repeat(levels))
}

/// A run whose answer would take years to check, after its agent has ended.
fn checking(phase: &Phase, options: &[&str]) -> Submitted {
    let ran = run(phase, options, &doubling_with_depth(), &deep(60));
    let task = acknowledged(&ran.stdout).unwrap_or_else(|| panic!("{}{}", ran.stdout, ran.stderr));
    wait_for("the answer", PATIENCE, || answered(phase).exists().then_some(()));
    task
}

#[test]
fn a_schema_that_expands_without_end_or_measure_is_refused() {
    let phase = with_codex();
    let endless = json!({ "$ref": "#/$defs/a", "$defs": { "a": { "anyOf": [{ "$ref": "#/$defs/b" }] }, "b": { "not": { "$ref": "#/$defs/a" } } } });
    let chain: serde_json::Map<String, Value> =
        (0..4000).map(|n| (format!("d{n}"), json!({ "$ref": format!("#/$defs/d{}", n + 1) }))).collect();
    let long = json!({ "$ref": "#/$defs/d0", "$defs": chain });
    let patterns: serde_json::Map<String, Value> =
        (0..5000).map(|n| (format!("p{n}"), json!({ "pattern": format!("[\\p{{L}}{n}]{{200}}") }))).collect();
    let costly = json!({ "properties": patterns });
    for (schema, word) in [
        (doubling(40), "the limit is"),
        (endless, "applies itself"),
        (long, "a chain of more than"),
        (costly, "too much"),
    ] {
        let ran = run(&phase, &[], &schema, "{}");
        assert_eq!(ran.code, Some(2), "{}{}", ran.stdout, ran.stderr);
        let error: Value = serde_json::from_str(&ran.stdout).unwrap();
        let told = error.to_string();
        assert!(told.contains("VALIDATION") && told.contains("output") && told.contains(word), "{told}");
    }
    assert!(phase.rows_if_any().is_empty());
    // What is recursive as trees are, or merely large, is taken.
    let tree = json!({ "type": "object", "properties": { "children": { "type": "array", "items": { "$ref": "#" } } } });
    for schema in [tree, doubling(10)] {
        let task = acknowledged(&run(&phase, &[], &schema, "{}").stdout).unwrap();
        assert_eq!(phase.env.await_final(&task.task_id), "completed");
    }
    phase.settle();
}

#[test]
fn cancel_reaches_a_run_whose_answer_is_being_checked() {
    let phase = with_codex();
    let task = checking(&phase, &[]);
    let begun = Instant::now();
    phase.env.expect(0, &["cancel", &task.task_id]);
    assert_eq!(phase.env.await_final(&task.task_id), "cancelled");
    assert!(begun.elapsed() < AT_ONCE, "{:?}", begun.elapsed());
    // The supervisor itself ends a moment after it has recorded that.
    wait_for("nobody to be left", PATIENCE, || kill::mentioning(phase.env.root()).is_empty().then_some(()));
    phase.settle();
}

#[test]
fn the_hard_limit_reaches_a_run_whose_answer_is_being_checked() {
    let phase = with_codex();
    let task = checking(&phase, &["--hard", "3"]);
    assert_eq!(phase.env.await_final(&task.task_id), "timed_out");
    phase.settle();
}

#[test]
fn a_check_that_takes_too_long_ends_the_run_honestly_and_the_queue_moves() {
    let phase = with_codex();
    let task = checking(&phase, &[]);
    let next = phase.submit("true");
    assert_eq!(phase.env.await_final(&next.task_id), "completed");
    let row = phase.row(&task);
    assert_eq!((row.state.as_str(), row.code.as_deref()), ("failed", Some("SCHEMA")));
    let told = phase.env.json(&["results", &task.task_id, "--json"]).to_string();
    assert!(told.contains("could not be checked"), "{told}");
    assert!(told.contains(r#"{\"a\":{\"a\":"#), "the answer is kept: {told}");
    phase.settle();
}

#[test]
fn recovery_does_not_check_an_answer() {
    let phase = with_codex();
    let task = checking(&phase, &[]);
    let supervisor = kill::supervisor_of(&phase.env.run_dir(&task.run_id)).unwrap();
    kill::send(supervisor, libc::SIGKILL);
    wait_for("the supervisor to die", PATIENCE, || (!kill::alive(supervisor)).then_some(()));
    let begun = Instant::now();
    phase.env.expect(0, &["status"]);
    assert_eq!(phase.env.await_final(&task.task_id), "failed");
    assert_eq!(phase.row(&task).code.as_deref(), Some("LOST"));
    phase.env.expect(1, &["results", &task.task_id]);
    assert!(begun.elapsed() < AT_ONCE, "{:?}", begun.elapsed());
    assert!(kill::mentioning(phase.env.root()).is_empty());
    phase.settle();
}
