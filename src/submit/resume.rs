//! Continues a thread: a new task in a new run directory.

use std::path::Path;
use std::time::Duration;

use crate::config::Config;
use crate::context::{Context, TaskError};
use crate::execution::{Message, control};
use crate::host::clock;
use crate::model::{AgentName, Request, Resumed, Sandbox, State, TaskId, ThreadId};
use crate::reading::{View, find, look_up, view};
use crate::registry::{Row, TaskMatch};
use crate::submit::caller::Caller;
use crate::submit::isolation::Isolation;
use crate::submit::start::{Accepted, start};
use crate::submit::start_request::StartRequest;
use crate::submit::write_bounds::{WriteBounds, real};

/// The thread to continue, and what to change.
#[derive(Debug)]
pub(crate) struct ResumeRequest {
    /// A task reference or a thread id.
    pub(crate) of: String,
    /// An empty task means "continue".
    pub(crate) ask: StartRequest,
}

/// How long a supervisor may take to hand on an answer.
const HANDED_ON: Duration = Duration::from_secs(2);

/// Starts a task on the thread, or answers the question of a task that asks one. Directory, agent, model, effort, and sandbox come from the previous task
/// unless given, limited to what this caller may have now.
pub(crate) fn resume(context: &mut Context, resume: ResumeRequest) -> Result<Accepted, TaskError> {
    let parent = match look_up(context, &resume.of)? {
        TaskMatch::One(row) => Some(*row),
        TaskMatch::None => None,
        TaskMatch::Several(rows) => {
            let candidates = rows.into_iter().map(|row| row.id.to_string()).collect();
            return Err(TaskError::Ambiguous { reference: resume.of, candidates });
        }
    };
    if let Some(row) = parent.as_ref().filter(|row| !row.state.is_final()) {
        let view = view(context, row.clone());
        if let Some(question) = view.question() {
            return answer(&view, question, &resume.ask.task);
        }
    }
    let thread_id = thread(context, &resume.of, parent.as_ref())?;
    if let Some(task) = begun_by(context, &thread_id)? {
        return Err(TaskError::ThreadBusy { thread: thread_id.to_string(), task });
    }
    let before = parent.as_ref().map(|row| context.dir(&row.run_id).read_request()).transpose()?.flatten();
    // The thread may have gone on since the named task. If its last run has no total, no usage difference can
    // be computed.
    let last = context.registry.last_on(&thread_id)?;
    let resumed = Resumed {
        thread_id,
        usage_before: last.and_then(|row| row.usage_total),
        parent_task_id: parent.map(|row| row.id),
    };
    let (ask, lowered) = match &before {
        Some(before) => inherit(resume.ask, before, &Allowed::now(context)),
        None => {
            let resumes = || AgentName::OFFERED.into_iter().find(|agent| agent.abilities().resumes);
            (StartRequest { agent: resume.ask.agent.or_else(resumes), ..resume.ask }, Vec::new())
        }
    };
    let mut accepted = start(context, StartRequest { resume: Some(resumed), ..ask })?;
    accepted.warnings.splice(0..0, lowered);
    Ok(accepted)
}

/// The sandbox that a task takes over if it continues `of`; `None` if that only answers a question.
pub(crate) fn inherited_sandbox(
    context: &Context,
    of: &TaskId,
    caller: &Caller,
) -> Result<Option<Sandbox>, TaskError> {
    let row = find(context, of.as_str())?;
    let before = context.dir(&row.run_id).read_request()?;
    let has_question = !row.state.is_final() && view(context, row).question().is_some();
    let most = caller.max_sandbox(&context.config);
    Ok(before.filter(|_| !has_question).map(|before| before.sandbox.min(most)))
}

/// Answers the question of a running task, and waits until its agent has the answer.
fn answer(view: &View, question: &str, text: &str) -> Result<Accepted, TaskError> {
    if text.trim().is_empty() {
        return Err(TaskError::EmptyTask);
    }
    let sent = control::deliver(&view.dir, &Message::Answer { text: text.to_owned() });
    sent.map_err(TaskError::write(view.dir.socket()))?;
    let give_up = clock::monotonic() + HANDED_ON;
    let is_open = || view.dir.read_progress().is_some_and(|now| now.question.as_deref() == Some(question));
    while is_open() && clock::monotonic() < give_up {
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(Accepted::new(view.row.id.clone(), State::Working))
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

/// The task that started `thread` and is still running. The row gets the thread only at the end; until then
/// only the run directory has it.
fn begun_by(context: &Context, thread: &ThreadId) -> Result<Option<TaskId>, TaskError> {
    let working = context.registry.working()?.into_iter();
    let mut unknown = working.filter(|row| row.thread_id.is_none());
    let found =
        unknown.find(|row| context.dir(&row.run_id).read_thread().as_deref() == Some(thread.as_str()));
    Ok(found.map(|row| row.id))
}

/// What this caller may inherit now.
struct Allowed<'a> {
    config: &'a Config,
    bounds: WriteBounds,
}

impl<'a> Allowed<'a> {
    fn now(context: &'a Context) -> Self {
        Self { config: &context.config, bounds: WriteBounds::of(&context.env, &context.home) }
    }

    fn writes(&self, caller: &Caller, dir: &Path) -> bool {
        caller.check_write(self.config, &self.bounds, &real(dir)).is_ok()
    }
}

/// Inherits fields that were not given, and returns a warning for each that was more than allowed.
fn inherit(ask: StartRequest, before: &Request, allowed: &Allowed<'_>) -> (StartRequest, Vec<String>) {
    let mut lowered = Vec::new();
    let caller = &ask.caller;
    let most = caller.max_sandbox(allowed.config);
    if ask.sandbox.is_none() && before.sandbox > most {
        lowered
            .push(format!("the previous task had the sandbox `{}`; this one has `{most}`", before.sandbox));
    }
    let sandbox = ask.sandbox.unwrap_or(before.sandbox.min(most));
    let writes = sandbox > Sandbox::ReadOnly;
    let network = before.network && caller.check_network(allowed.config).is_ok();
    if before.network && !network && !ask.network {
        lowered.push("the previous task had network access; this one has none".to_owned());
    }
    let (add_dirs, lost): (Vec<_>, Vec<_>) = match (writes, ask.add_dirs.is_empty()) {
        (_, false) => (ask.add_dirs.clone(), Vec::new()),
        (false, true) => (Vec::new(), Vec::new()),
        (true, true) => before.add_dirs.iter().cloned().partition(|dir| allowed.writes(caller, dir)),
    };
    for dir in lost {
        lowered.push(format!("the previous task could write to `{}`; this one cannot", dir.display()));
    }
    // Work goes on where it was, unless another place is asked for.
    let worktree = before.worktree.clone().filter(|_| ask.cwd.is_none());
    let place = match &worktree {
        Some(worktree) => {
            worktree.repository.join(before.cwd.strip_prefix(&worktree.path).unwrap_or(Path::new("")))
        }
        None => before.cwd.clone(),
    };
    let ask = StartRequest {
        agent: ask.agent.or(Some(before.agent)),
        isolation: if worktree.is_some() { Isolation::Worktree } else { ask.isolation },
        worktree,
        cwd: ask.cwd.or(Some(place)),
        sandbox: Some(sandbox),
        network: ask.network || (network && writes),
        skip_git_repo_check: ask.skip_git_repo_check || before.skip_git_repo_check,
        add_dirs,
        model: ask.model.or_else(|| before.model.clone()),
        reasoning_effort: ask.reasoning_effort.or_else(|| before.reasoning_effort.clone()),
        role: ask.role.or_else(|| Some(before.role.clone())),
        output_schema: ask.output_schema.or_else(|| before.output_schema.clone()),
        ..ask
    };
    (ask, lowered)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::testing::request;
    use crate::submit::{Ceiling, Client};

    fn before() -> Request {
        Request {
            sandbox: Sandbox::DangerFullAccess,
            network: true,
            add_dirs: vec!["/srv/more".into()],
            env_from: vec!["KEY".into()],
            config_overrides: vec![("model_verbosity".into(), "3".into())],
            ..request()
        }
    }

    fn client(ceiling: Option<Ceiling>) -> Caller {
        Caller::Client(Client { roots: vec!["/home/dev/project".into()], ceiling, is_run: false })
    }

    fn inherited(ask: StartRequest, config: &Config) -> (StartRequest, Vec<String>) {
        inherit(ask, &before(), &Allowed { config, bounds: WriteBounds::default() })
    }

    fn generous() -> Config {
        let mut config = Config::default();
        config.max_sandbox = Sandbox::DangerFullAccess;
        config.allow_network = true;
        config
    }

    #[test]
    fn what_is_allowed_is_taken_over_as_it_was() {
        let (ask, lowered) = inherited(StartRequest::default(), &generous());
        assert_eq!((ask.sandbox, ask.network), (Some(Sandbox::DangerFullAccess), true));
        assert_eq!(ask.add_dirs, [Path::new("/srv/more")]);
        assert!(lowered.is_empty(), "{lowered:?}");
    }

    #[test]
    fn what_the_configuration_no_longer_allows_is_lowered_and_told() {
        let (ask, lowered) = inherited(StartRequest::default(), &Config::default());
        assert_eq!((ask.sandbox, ask.network), (Some(Sandbox::WorkspaceWrite), false));
        assert_eq!(lowered.len(), 2, "{lowered:?}");
    }

    #[test]
    fn a_client_takes_over_no_more_than_it_has_itself() {
        let (ask, lowered) =
            inherited(StartRequest { caller: client(None), ..StartRequest::default() }, &generous());
        assert_eq!((ask.sandbox, ask.network), (Some(Sandbox::DangerFullAccess), true));
        assert!(ask.add_dirs.is_empty() && lowered.len() == 1, "{lowered:?}");
        let lowest = client(Some(Ceiling::LOWEST));
        let (ask, lowered) =
            inherited(StartRequest { caller: lowest, ..StartRequest::default() }, &generous());
        assert_eq!((ask.sandbox, ask.network), (Some(Sandbox::ReadOnly), false));
        assert!(ask.add_dirs.is_empty() && lowered.len() == 2, "{lowered:?}");
    }

    #[test]
    fn variables_and_settings_are_never_taken_over() {
        let (ask, _) = inherited(StartRequest::default(), &generous());
        assert!(ask.env_from.is_empty() && ask.config_overrides.is_empty());
    }

    #[test]
    fn asking_to_read_leaves_behind_what_is_for_writing() {
        let asked = StartRequest { sandbox: Some(Sandbox::ReadOnly), ..StartRequest::default() };
        let (ask, lowered) = inherited(asked, &generous());
        assert!(!ask.network && ask.add_dirs.is_empty() && lowered.is_empty(), "{lowered:?}");
    }
}
