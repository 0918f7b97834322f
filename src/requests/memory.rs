//! What is remembered between two requests of a project: the choices that were offered, and requests that wait for
//! a confirmation. Both for ten minutes, as files that any server finds.

use std::fs;
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::context::{Context, TaskError};
use crate::host::{Durability, clock, files, ids};
use crate::model::{TaskId, Timestamp};

/// How long both are remembered.
pub(super) const KEPT_MS: u64 = 10 * 60 * 1000;

/// The operation of a list from which the task is chosen that work begins after.
pub(super) const AFTER: &str = "after";

/// The tasks that a request could have meant, in the order in which they were offered.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Offered {
    at: Timestamp,
    /// What was to be done with the chosen one, as a hint names it.
    pub(super) operation: String,
    pub(super) tasks: Vec<TaskId>,
    /// What was to follow.
    pub(super) then: Option<String>,
}

impl Offered {
    /// Whether `then` is the work that waits for the choice.
    pub(super) fn is_work(&self) -> bool {
        ["run", AFTER].contains(&self.operation.as_str())
    }
}

/// A request that waits for a confirmation.
#[derive(Debug, Serialize, Deserialize)]
struct Asked {
    at: Timestamp,
    project: PathBuf,
    /// What is to be done, as a hint names it. The same words may mean something else later.
    operation: String,
    /// The request and everything that came with it.
    request: String,
    tasks: Vec<TaskId>,
}

pub(super) fn offer(
    context: &Context,
    operation: &str,
    tasks: Vec<TaskId>,
    then: Option<String>,
) -> Result<(), TaskError> {
    write(
        context,
        &offers(context),
        &Offered { at: clock::now(), operation: operation.to_owned(), tasks, then },
    )
}

pub(super) fn offered(context: &Context) -> Option<Offered> {
    read::<Offered>(&offers(context)).filter(|offered| is_kept(offered.at))
}

pub(super) fn forget_offer(context: &Context) {
    let _ = fs::remove_file(offers(context));
}

/// Remembers a request and returns the token that confirms it.
pub(super) fn ask(
    context: &Context,
    operation: &str,
    request: &str,
    tasks: Vec<TaskId>,
) -> Result<String, TaskError> {
    let token = ids::secret()?;
    forget_old(context);
    let (project, operation, request) = (context.project(), operation.to_owned(), request.to_owned());
    let asked_now = Asked { at: clock::now(), project, operation, request, tasks };
    write(context, &asked(context, &token), &asked_now)?;
    Ok(token)
}

/// Whether `token` was given out for this request.
pub(super) fn is_asked(context: &Context, token: &str, request: &str) -> bool {
    read_asked(context, token).is_some_and(|asked| asked.request == request)
}

/// The tasks that `token` confirms this operation for. Valid once.
pub(super) fn confirmed(
    context: &Context,
    token: &str,
    operation: &str,
    request: &str,
) -> Option<Vec<TaskId>> {
    let asked_then = read_asked(context, token)?;
    let fits = asked_then.request == request && asked_then.operation == operation;
    // Of two that use it at once, one removes the file.
    (fits && fs::remove_file(asked(context, token)).is_ok()).then_some(asked_then.tasks)
}

fn read_asked(context: &Context, token: &str) -> Option<Asked> {
    let is_token = token.len() == 32 && token.bytes().all(|byte| byte.is_ascii_hexdigit());
    let asked = read::<Asked>(&asked(context, token)).filter(|_| is_token)?;
    (asked.project == context.project() && is_kept(asked.at)).then_some(asked)
}

fn offers(context: &Context) -> PathBuf {
    let digest = Sha256::digest(context.project().as_os_str().as_encoded_bytes());
    let name: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    context.home.asked().join(format!("offered-{name}.json"))
}

fn asked(context: &Context, token: &str) -> PathBuf {
    context.home.asked().join(format!("confirm-{token}.json"))
}

fn is_kept(at: Timestamp) -> bool {
    clock::now().millis_since(at) <= KEPT_MS
}

/// Removes what nobody may use any more.
fn forget_old(context: &Context) {
    for file in fs::read_dir(context.home.asked()).into_iter().flatten().flatten() {
        if files::modified_at(&file.path()).is_some_and(|at| !is_kept(at)) {
            let _ = fs::remove_file(file.path());
        }
    }
}

fn write(context: &Context, path: &PathBuf, value: &impl Serialize) -> Result<(), TaskError> {
    let bytes = serde_json::to_vec(value).unwrap_or_default();
    let written =
        files::ensure_dir(&context.home.asked()).and_then(|()| files::write(path, &bytes, Durability::Whole));
    written.map_err(TaskError::write(path))
}

fn read<T: DeserializeOwned>(path: &PathBuf) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}
