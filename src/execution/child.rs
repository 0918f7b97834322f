//! Runs work that is a process of ours: prepares it, drives it to its end and judges it.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use crate::agents::{self, Agent, AgentFiles, AgentPlan, Reader};
use crate::context::{Context, WorktreeError, one_line};
use crate::execution::choose_skills;
use crate::execution::control::Listener;
use crate::execution::inner_runs::InnerRuns;
use crate::execution::observe::Watch;
use crate::execution::probes::ask_all;
use crate::execution::pump;
use crate::execution::record::Recorder;
use crate::execution::schema_check;
use crate::execution::summary::{observed, summary};
use crate::execution::supervise::{bare, not_started, storage};
use crate::host::AgentLaunch;
use crate::host::EmptyDirCleanup;
use crate::host::Env;
use crate::host::{Links, OpenDirError, OpenedDirs, opened_dirs};
use crate::host::{clock, paths, processes};
use crate::ledger::EditsAndRefusals;
use crate::ledger::RolloutMerge;
use crate::model::{FailureCode, Fault, JailKind, Outcome, Request, RunId, RunResult, Sandbox, StopReason};
use crate::prompts::{self, Prompt};
use crate::reading::enclosing_runs;
use crate::runs::{CommandRecord, RunDir, StartRecord};
use crate::supervisor;
use crate::supervisor::{
    ChildEnded, Control, ControlOrder, LaunchedSupervisor, Observer, ProcessTree, RunMark, RunRelation,
    Scope, SubrunControl,
};
use crate::worktrees::{self, Ground};

/// Runs the agent, or finds out why it cannot run. Always returns a record.
pub(super) fn run(
    env: &Env,
    dir: &RunDir,
    request: &Request,
    attempt: u32,
    agent: &dyn Agent,
    listener: &mut Listener,
) -> RunResult {
    let tree =
        ProcessTree::prepare(RunMark::of(&request.run_id, paths::identify(dir.home())), request.kill_level);
    let mut stop = None;
    let prepared = prepare(env, dir, request, agent, &mut || {
        if let Some(ControlOrder::Stop(reason)) = listener.receive() {
            stop = Some(reason);
        }
        stop.is_some()
    });
    // The program may have left something behind when it was probed.
    tree.sweep(Scope::Own);
    let outcome = match prepared {
        Err(fault) => match stop {
            Some(StopReason::Cancelled { reason }) => Outcome::Cancelled { reason },
            _ => Outcome::Failed { fault },
        },
        Ok(prepared) => match stop.map(ControlOrder::Stop).or_else(|| listener.receive()) {
            Some(ControlOrder::Stop(StopReason::Cancelled { reason })) => Outcome::Cancelled { reason },
            _ => return prepared.run(env, dir, request, attempt, tree, listener),
        },
    };
    if let Some(worktree) = request.worktree.as_ref().filter(|_| request.resume.is_none()) {
        // Its agent has not started, so nothing is lost. What cannot be removed now is removed by `discard`.
        let _ = worktrees::discard_unused(env, worktree);
    }
    bare(request, attempt, outcome)
}

struct Prepared<'a> {
    plan: AgentPlan,
    environment: Vec<(String, String)>,
    reader: Box<dyn Reader>,
    watch: Watch<'a>,
    ground: OpenedDirs,
}

/// Everything without side effects: until `started.json` exists, another process may start the task again.
fn prepare<'a>(
    env: &Env,
    dir: &'a RunDir,
    request: &Request,
    agent: &dyn Agent,
    is_stopped: &mut dyn FnMut() -> bool,
) -> Result<Prepared<'a>, Fault> {
    let environment = environment(dir, request)?;
    let noted = match &request.worktree {
        Some(worktree) => {
            let ground = Ground { env, dir, request, environment: &environment };
            worktrees::create(&ground, worktree, is_stopped).map_err(|error| no_worktree(&error))?
        }
        None => Vec::new(),
    };
    let ground = open_ground(request)?;
    let path = environment.iter().find(|(name, _)| name == "PATH").map(|(_, value)| OsStr::new(value));
    // Changes after this snapshot belong to the run. The probes read the user's settings, not the tree.
    let look = || Watch::begin(env, dir, request, path);
    let (findings, watch) =
        ask_all(&agent.probes(request), request, &ground.cwd(), &environment, &dir.agent_answers(), look);
    let selection = choose_skills::choose(dir, request, &environment).map_err(|error| storage(&error))?;
    let skills = selection.as_ref().map_or(&[][..], |selection| &selection.selected_skills);
    let prompt = prompts::render(&Prompt { request, skills, earlier: &request.earlier });
    let files = AgentFiles { schema: dir.schema(), last_message: dir.last_message() };
    let mut plan = agent.command(request, &prompt, &files, &findings)?;
    plan.warnings.extend(selection.into_iter().flat_map(|selection| selection.warnings));
    plan.warnings.splice(0..0, noted);
    write_inputs(dir, request, &prompt, &plan, &environment).map_err(|error| storage(&error))?;
    Ok(Prepared { plan, reader: agent.reader(request, &prompt), watch, ground, environment })
}

/// The values of the agent's environment, with the markers of its run.
pub(super) fn environment(dir: &RunDir, request: &Request) -> Result<Vec<(String, String)>, Fault> {
    let internal = |message: String| Fault::new(FailureCode::Internal, message);
    let values =
        dir.read_env().map_err(|error| internal(format!("failed to read the environment: {error}")))?;
    let values = values.ok_or_else(|| internal("the task's environment is missing".into()))?;
    let marks = enclosing_runs::run_markers(dir, &request.within, &request.run_id);
    Ok(values.into_iter().chain(marks.map(|(name, value)| (name.to_owned(), value))).collect())
}

/// Opens the directories that the run may write to, as resolved at submit.
fn open_ground(request: &Request) -> Result<OpenedDirs, Fault> {
    let links = if request.sandbox == Sandbox::WorkspaceWrite { Links::Refused } else { Links::Followed };
    OpenedDirs::open(&request.cwd, &request.add_dirs, links).map_err(|error| {
        let OpenDirError { path, source } = &error;
        match source.kind() {
            _ if opened_dirs::is_swapped(source) => swapped(path),
            io::ErrorKind::NotFound => gone(path),
            _ => Fault::new(FailureCode::Spawn, one_line(&error)),
        }
    })
}

/// A link or another directory replaced it.
fn swapped(place: &Path) -> Fault {
    Fault::new(FailureCode::Sandbox, format!("`{}` was replaced after it was checked", place.display()))
        .hint("start the task again with the directory that it now leads to")
}

/// Once it has started, the agent itself uses the paths.
fn swapped_while_working(place: &Path) -> Fault {
    let message = format!(
        "`{}` was replaced while the agent worked, so some of its changes may be in another directory",
        place.display()
    );
    Fault::new(FailureCode::Sandbox, message)
        .hint("find out who replaced it; the evidence describes the directory that is there now")
}

fn no_worktree(error: &WorktreeError) -> Fault {
    let fault =
        Fault::new(FailureCode::Spawn, format!("the worktree could not be made: {}", one_line(error)));
    match error {
        WorktreeError::Setup(_) => fault.hint("`worktree_setup.log` in the run directory has its output"),
        _ => fault,
    }
}

fn gone(place: &Path) -> Fault {
    Fault::new(FailureCode::Spawn, format!("the directory `{}` is gone", place.display()))
        .hint("start the task again with an existing directory")
}

fn write_inputs(
    dir: &RunDir,
    request: &Request,
    prompt: &str,
    plan: &AgentPlan,
    environment: &[(String, String)],
) -> io::Result<()> {
    if !prompt.is_empty() {
        let schema = request.output_schema.clone().unwrap_or_else(agents::answer_schema);
        dir.write_text(dir.schema(), &format!("{schema:#}\n"))?;
        dir.write_text(dir.prompt(), prompt)?;
    }
    dir.write_command(&CommandRecord {
        version: 1,
        program: &plan.spec.program,
        args: &plan.spec.args,
        cwd: &plan.spec.cwd,
        env_names: environment.iter().map(|(name, _)| name.as_str()).collect(),
        agent_version: plan.agent_version.as_deref(),
    })?;
    dir.set_reserve()
}

impl Prepared<'_> {
    fn run(
        self,
        env: &Env,
        dir: &RunDir,
        request: &Request,
        attempt: u32,
        mut tree: ProcessTree,
        listener: &mut Listener,
    ) -> RunResult {
        let mut started = StartRecord {
            version: 1,
            attempt,
            started_at: clock::now(),
            supervisor_pid: processes::own_pid(),
            boot_id: processes::boot_id(),
            started_up_ms: None,
            kill_level: tree.level(),
            cgroup: tree.cgroup_path().map(ToOwned::to_owned),
        };
        let ready = Recorder::create(dir, request, self.reader, self.plan.spec.stdout).and_then(|recorder| {
            dir.write_started(&started)?;
            dir.delete_env()?;
            Ok(recorder)
        });
        let mut recorder = match ready {
            Ok(recorder) => recorder,
            Err(error) => return bare(request, attempt, Outcome::Failed { fault: storage(&error) }),
        };
        recorder.tick();
        let leftover_dirs = EmptyDirCleanup::expect(&request.cwd, &self.plan.leftover_dirs);
        let mut inner = Inside::of(env, dir, request);
        let mut warnings = self.plan.warnings;
        let mut run = |tree: &mut ProcessTree| {
            let launch =
                AgentLaunch { spec: &self.plan.spec, environment: &self.environment, ground: &self.ground };
            supervisor::run(launch, request.limits, tree, listener, &mut recorder, &mut inner)
        };
        let hard_at = request.limits.hard.map(|limit| clock::monotonic() + limit);
        let mut ended = run(&mut tree);
        if ended.as_ref().is_err_and(|error| tree.cgroup_path().is_some() && is_no_entry(error)) {
            tree.leave_group();
            started = StartRecord { kill_level: tree.level(), cgroup: None, ..started };
            warnings.push(format!(
                "no process could enter the run's control group; used kill level `{}` instead",
                tree.level().as_str()
            ));
            ended = dir.write_started(&started).and_then(|()| run(&mut tree));
        }
        // Codex cleans up after itself, unless it is stopped.
        let stopped = ended.as_ref().is_ok_and(|ended| ended.reason.is_some());
        if stopped || request.jail.as_ref().is_some_and(|jail| jail.kind == JailKind::Bwrap) {
            leftover_dirs.clear();
        }
        match ended {
            Ok(ended) => {
                let check = |answer: &str| {
                    let schema = request.output_schema.as_ref()?;
                    schema_check::check_answer(schema, answer, listener, hard_at)
                };
                let swapped = self.ground.swapped();
                let (mut result, told) = judge(warnings, request, &started, recorder, ended, swapped, check);
                let (environment, started_at) = (&self.environment, started.started_at);
                let thread = result.thread_id.as_deref();
                result
                    .warnings
                    .extend(RolloutMerge { dir, request, environment, thread, started_at }.merge());
                match self.watch.end(request, told, &result.outcome) {
                    Ok(evidence) => {
                        result.evidence = true;
                        result.summary = observed(request, &result.outcome, result.summary, &evidence);
                    }
                    Err(error) => {
                        result.warnings.push(format!("failed to write the evidence: {error}"));
                    }
                }
                if let Some(worktree) = &request.worktree {
                    let (end, notes) = worktrees::finish(env, dir, request, worktree);
                    result.worktree = end;
                    result.warnings.extend(notes);
                }
                result
            }
            Err(error) => {
                let fault = if opened_dirs::is_swapped(&error) {
                    swapped(self.ground.swapped().unwrap_or(&request.cwd))
                } else {
                    not_started(&self.plan.spec.program, &error)
                };
                bare(request, attempt, Outcome::Failed { fault })
            }
        }
    }
}

/// The kernel may let us create a control group but let no process enter it. A program that may not be
/// executed fails the same way, and fails again without a group.
fn is_no_entry(error: &io::Error) -> bool {
    use io::ErrorKind::{PermissionDenied, ResourceBusy, Unsupported};
    matches!(error.kind(), PermissionDenied | ResourceBusy | Unsupported)
}

fn judge(
    noted: Vec<String>,
    request: &Request,
    started: &StartRecord,
    recorder: Recorder,
    ended: ChildEnded,
    swapped: Option<&Path>,
    check: impl FnOnce(&str) -> Option<StopReason>,
) -> (RunResult, EditsAndRefusals) {
    let recorded = recorder.finish(ended.exit);
    let verdict = recorded.verdict;
    let mut warnings = [noted, verdict.warnings, recorded.warnings].concat();
    let mut reason = ended.reason.or(recorded.stop);
    if let Some(fault) = swapped.map(swapped_while_working) {
        match reason {
            Some(_) => warnings.push(fault.message),
            None => reason = Some(StopReason::Fault(fault)),
        }
    }
    let reason = reason.or_else(|| verdict.unchecked.as_deref().and_then(check));
    let now = clock::now();
    let duration_ms = now.millis_since(started.started_at);
    let outcome = match (reason, verdict.result) {
        (Some(StopReason::Cancelled { reason }), _) => Outcome::Cancelled { reason },
        (Some(StopReason::Limit(limit)), _) => Outcome::TimedOut { limit, elapsed_ms: duration_ms },
        (Some(StopReason::Fault(fault)), _) | (None, Err(fault)) => Outcome::Failed { fault },
        (None, Ok(())) => Outcome::Completed,
    };
    let summary = summary(request, &outcome, verdict.summary, recorded.running.as_deref());
    if ended.processes_left > 0 {
        warnings.push(format!("failed to end {}: stuck in a system call", processes(ended.processes_left)));
    }
    if ended.runs_ended > 0 {
        let count = if ended.runs_ended == 1 { "1 run".into() } else { format!("{} runs", ended.runs_ended) };
        warnings.push(format!("{count} started by this run ended with it"));
    }
    if ended.processes_ended > 0 && outcome == Outcome::Completed {
        warnings.push(format!("ended what it left running: {}", processes(ended.processes_ended)));
    }
    let result = RunResult {
        started_at: Some(started.started_at),
        finished_at: now,
        duration_ms,
        exit: Some(ended.exit),
        thread_id: verdict.thread_id,
        model: verdict.model.or_else(|| request.model.clone()),
        usage: verdict.usage,
        usage_total: verdict.usage_total,
        summary,
        answer: verdict.answer,
        warnings,
        progress: Some(recorded.progress),
        stdout: recorded.stdout,
        stderr: recorded.stderr,
        processes_ended: ended.processes_ended,
        ..bare(request, started.attempt, outcome)
    };
    (result, recorded.told)
}

/// The runs inside ours, and those waiting with them.
pub(super) struct Inside<'a> {
    env: &'a Env,
    run: &'a RunId,
    runs: InnerRuns<'a>,
}

impl<'a> Inside<'a> {
    pub(super) fn of(env: &'a Env, dir: &'a RunDir, request: &'a Request) -> Self {
        let runs = InnerRuns::of(dir, &request.run_id, request.within.len());
        Self { env, run: &request.run_id, runs }
    }
}

impl SubrunControl for Inside<'_> {
    /// Starts a queued task for a run inside ours, which must not do it itself.
    fn pump(&mut self) -> Vec<LaunchedSupervisor> {
        let relation = |within: &[RunId]| {
            if within.contains(self.run) { RunRelation::Inner } else { RunRelation::Unrelated }
        };
        let context = Context::open(self.env.clone());
        let pumped = context.and_then(|mut context| pump::pump_in(&mut context, self.run));
        let launched = pumped.unwrap_or_default().into_iter();
        launched.map(|one| LaunchedSupervisor { pid: one.pid, relation: relation(&one.within) }).collect()
    }

    fn ask(&mut self) {
        self.runs.ask();
    }

    fn end(&mut self) -> Option<u32> {
        self.runs.end()
    }
}

fn processes(count: u32) -> String {
    if count == 1 { "1 process".into() } else { format!("{count} processes") }
}
