//! Suggests the call that helps after an error, where its details name one.

use serde_json::{Value, json};

use crate::failure::Failure;
use crate::reply::next_steps::NextCall;

/// At most one call; empty if no call is known to help.
pub(crate) fn next_after_error(failure: &Failure) -> Vec<NextCall> {
    let detail = |name: &str| failure.details.get(name).and_then(Value::as_str);
    let of = |tool, why| Some(NextCall::new(tool, json!({ "task_id": detail("task_id")? }), why));
    let lists = || Some(NextCall::new("delegate_status", json!({}), "lists the tasks of this project"));
    let next = match (detail("reason"), detail("field")) {
        (Some("no_task"), _) | (Some("missing"), Some("task_id")) => lists(),
        (Some("thread_busy"), _) => of("delegate_wait", "waits until the thread is free"),
        (Some("other_project"), _) => of("delegate_status", "shows that task"),
        (Some("key_used"), _) => of("delegate_results", "shows the task with that key"),
        (Some("no_artifact" | "no_command"), _) => of("delegate_results", "lists what it has"),
        _ => None,
    };
    next.into_iter().collect()
}
