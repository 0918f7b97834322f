//! Goes on with a thread: a new task in a new directory.

use crate::model::{AgentName, Request, Resumed, TaskId, ThreadId};
use crate::registry::{Found, Row};
use crate::tasks::resolve::Ask;
use crate::tasks::view::look_up;
use crate::tasks::{Accepted, Context, TaskError, start};

/// What to go on with, and what to change.
#[derive(Debug)]
pub(crate) struct ResumeAsk {
    /// A task, in any spelling, or a thread id.
    pub(crate) of: String,
    /// An empty task means "continue".
    pub(crate) ask: Ask,
}

/// Starts a task on the thread. Directory, agent, model, effort, and sandbox
/// come from the task before unless given.
pub(crate) fn resume(context: &mut Context, resume: ResumeAsk) -> Result<Accepted, TaskError> {
    let parent = match look_up(context, &resume.of)? {
        Found::One(row) => Some(*row),
        Found::None => None,
        Found::Several(rows) => {
            let candidates = rows.into_iter().map(|row| row.id.to_string()).collect();
            return Err(TaskError::Ambiguous { reference: resume.of, candidates });
        }
    };
    let thread_id = thread(context, &resume.of, parent.as_ref())?;
    if let Some(task) = begun_by(context, &thread_id)? {
        return Err(TaskError::ThreadBusy { thread: thread_id.to_string(), task });
    }
    let before = parent.as_ref().map(|row| context.dir(&row.run_id).read_request()).transpose()?.flatten();
    // The thread may have gone on since the task that was named. Where its
    // last run left no total, no honest difference exists.
    let last = context.registry.last_on(&thread_id)?;
    let resumed = Resumed {
        thread_id,
        usage_before: last.and_then(|row| row.usage_total),
        parent_task_id: parent.map(|row| row.id),
    };
    let ask = Ask { resume: Some(resumed), ..inherit(resume.ask, before.as_ref()) };
    start(context, ask)
}

fn thread(context: &Context, of: &str, parent: Option<&Row>) -> Result<ThreadId, TaskError> {
    match parent {
        Some(row) => {
            let known = row.thread_id.clone().or_else(|| context.dir(&row.run_id).read_thread());
            let thread = known.and_then(|thread| thread.parse().ok());
            thread.ok_or_else(|| TaskError::NoThread(row.id.clone()))
        }
        None => of.parse().map_err(|_| TaskError::BadThread(of.to_owned())),
    }
}

/// The task that began `thread` and is still at it. Its row learns of the
/// thread at its end; until then only its directory knows.
fn begun_by(context: &Context, thread: &ThreadId) -> Result<Option<TaskId>, TaskError> {
    let working = context.registry.working()?.into_iter();
    let mut unknown = working.filter(|row| row.thread_id.is_none());
    let found =
        unknown.find(|row| context.dir(&row.run_id).read_thread().as_deref() == Some(thread.as_str()));
    Ok(found.map(|row| row.id))
}

fn inherit(ask: Ask, before: Option<&Request>) -> Ask {
    let Some(before) = before else { return Ask { agent: ask.agent.or(Some(AgentName::Codex)), ..ask } };
    Ask {
        agent: ask.agent.or(Some(before.agent)),
        cwd: ask.cwd.or_else(|| Some(before.cwd.clone())),
        sandbox: ask.sandbox.or(Some(before.sandbox)),
        network: ask.network || before.network,
        skip_git_repo_check: ask.skip_git_repo_check || before.skip_git_repo_check,
        add_dirs: if ask.add_dirs.is_empty() { before.add_dirs.clone() } else { ask.add_dirs },
        model: ask.model.or_else(|| before.model.clone()),
        reasoning_effort: ask.reasoning_effort.or_else(|| before.reasoning_effort.clone()),
        role: ask.role.or_else(|| Some(before.role.clone())),
        output_schema: ask.output_schema.or_else(|| before.output_schema.clone()),
        ..ask
    }
}
