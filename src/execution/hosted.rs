//! A run whose work is done by a service: submits it once, polls it, and fetches its result.
//!
//! `remote.json` says how far the submission came, so a new supervisor goes on where a dead one
//! stopped and never submits twice.

use std::io::Write;
use std::time::Duration;

use crate::agents::{HostedAgent, HostedAnswer, HostedCall, RemoteState, Submitted};
use crate::environments;
use crate::evidence::Evidence;
use crate::execution::child::{self, Inside};
use crate::execution::control::Listener;
use crate::execution::supervise::{bare, storage};
use crate::execution::{attached, cloud_changes, supervise};
use crate::host::AgentLaunch;
use crate::host::Env;
use crate::host::{Home, Links, OpenedDirs, clock, files, ids, paths};
use crate::model::{
    CommandSpec, Exit, FailureCode, Fault, Limit, Limits, Outcome, Remote, RemoteJob, RemoteRecord, Request,
    RunResult, Signal, SignalTarget, Stdin, Stdout, Stop, StopReason,
};
use crate::prompts::{self, Prompt};
use crate::runs::{RunDir, StartRecord};
use crate::supervisor;
use crate::supervisor::{Observed, Observer, ProcessTree, RunMark, Stream};

/// How long one call of the local program may take if the request does not say. It has no limit of its own.
const CALL: Duration = Duration::from_secs(60);
/// How often in a row the service may fail to answer: a quarter of an hour, because a job goes on without us.
const MOST_FAILURES: u32 = 60;
/// How often to look for a job whose submission was answered with an error. The list may lag behind.
const MOST_SEARCHES: u32 = 5;
/// How far back to look: 200 jobs.
const MOST_PAGES: u32 = 10;
const LONGEST_ANSWER: usize = 16 << 20;
/// How the summary of a job ends that changed nothing.
const NO_CHANGES: &str = "no diff";

/// Drives the job to its end. Always a record.
pub(super) fn run(
    env: &Env,
    dir: &RunDir,
    request: &Request,
    attempt: u32,
    agent: &dyn HostedAgent,
    listener: &mut Listener,
) -> RunResult {
    let mark = RunMark::of(&request.run_id, paths::identify(dir.home()));
    let tree = ProcessTree::prepare(mark, request.kill_level);
    let opened = files::ensure_dir(&dir.scratch())
        .and_then(|()| OpenedDirs::open(&dir.scratch(), &[], Links::Followed).map_err(|error| error.source));
    let begun = opened.and_then(|ground| Ok((ground, attached::begin(dir, attempt, Some(&tree))?)));
    let failed = |fault| bare(request, attempt, Outcome::Failed { fault });
    let (ground, started) = match begun {
        Ok(begun) => begun,
        Err(error) => return failed(storage(&error)),
    };
    let environment = match child::environment(dir, request) {
        Ok(environment) => environment,
        Err(fault) => return failed(fault),
    };
    let mut driver = Driver { env, dir, request, agent, listener, ground, environment, started, tree };
    let (outcome, fetched) = match driver.run() {
        Ok(fetched) => (Outcome::Completed, fetched),
        Err(reason) => (attached::stopped(reason, &driver.started), Fetched::default()),
    };
    let Fetched { summary, evidence, warning } = fetched;
    let result = attached::end(dir, request, &driver.started, outcome, summary);
    let warnings = warning.into_iter().chain(goes_on(dir, &result.outcome)).collect();
    RunResult { warnings, evidence, ..result }
}

/// What came back of a job that succeeded.
#[derive(Default)]
struct Fetched {
    summary: String,
    /// Whether the evidence was written.
    evidence: bool,
    warning: Option<String>,
}

/// A warning that the service goes on with a job that we stopped following.
fn goes_on(dir: &RunDir, outcome: &Outcome) -> Option<String> {
    match (dir.read_remote().ok().flatten()?, outcome) {
        (_, Outcome::Completed) => None,
        (Remote::Submitted { job }, Outcome::Cancelled { .. } | Outcome::TimedOut { .. }) => {
            Some(format!("the cloud task goes on, and its end is not followed any more: {}", job.page()))
        }
        (Remote::Submitted { job }, Outcome::Failed { .. }) => {
            Some(format!("the cloud task: {}", job.page()))
        }
        (Remote::Submitting { answer: None }, _) => {
            Some("the service may have the task all the same: look at its own list".to_owned())
        }
        (Remote::Submitting { answer: Some(_) }, _) => None,
    }
}

struct Driver<'a> {
    env: &'a Env,
    dir: &'a RunDir,
    request: &'a Request,
    agent: &'a dyn HostedAgent,
    listener: &'a mut Listener,
    ground: OpenedDirs,
    environment: Vec<(String, String)>,
    started: StartRecord,
    tree: ProcessTree,
}

impl Driver<'_> {
    fn run(&mut self) -> Result<Fetched, StopReason> {
        let job = self.job()?;
        let summary = self.follow(&job)?;
        let attempts = self.request.attempts.unwrap_or(1);
        let (mut with_changes, mut evidence) = (0, false);
        for attempt in 1..=attempts {
            let fetched =
                self.ask_patiently(&self.agent.fetch(&job, attempt), |agent, answer| agent.fetched(answer))?;
            if let Some(diff) = fetched {
                with_changes += 1;
                let path = self.dir.changes(attempt);
                self.dir.write_text(path, &diff).map_err(|error| stop(storage(&error)))?;
                if !evidence {
                    let which = if attempts > 1 { format!("attempt {attempt}, ") } else { String::new() };
                    let files = cloud_changes::of_diff(&diff, format!("{which}not applied here"));
                    let written = Evidence::of_files(files).write(&self.dir.evidence());
                    written.map_err(|error| stop(storage(&error)))?;
                    evidence = true;
                }
            }
        }
        // A job may well change nothing, and then says so.
        let missing = with_changes == 0 && !summary.ends_with(NO_CHANGES);
        let warning = missing.then(|| {
            format!("its changes could not be fetched from the cloud; its page may have them: {}", job.page())
        });
        let of_attempts = match attempts {
            1 => String::new(),
            _ => format!(" ({attempts} attempts, {with_changes} with changes)"),
        };
        Ok(Fetched { summary: format!("{summary}{of_attempts}"), evidence, warning })
    }

    /// The job at the service, submitted now or before.
    fn job(&mut self) -> Result<RemoteJob, StopReason> {
        let remote = self.dir.read_remote();
        let found = match remote.map_err(|error| stop(Fault::new(FailureCode::Storage, error.to_string())))? {
            Some(Remote::Submitted { job }) => return Ok(job),
            Some(Remote::Submitting { answer }) => self.search(answer)?,
            None => {
                // An order to stop may have come first.
                self.pause(Duration::ZERO)?;
                self.record(Remote::Submitting { answer: None })?;
                let prompt = prompts::render(&Prompt { request: self.request, skills: &[], earlier: &[] });
                let answer = self.ask(&self.agent.submit(self.request, &prompt))?;
                match self.agent.submitted(&answer) {
                    Submitted::Job(job) => job,
                    Submitted::Refused(fault) => {
                        self.record(Remote::Submitting { answer: Some(fault.clone()) })?;
                        return Err(stop(fault));
                    }
                    // Ended by our limit, it said nothing that could be told later.
                    Submitted::Unknown(_) if matches!(answer.exit, Exit::Signal(_)) => self.search(None)?,
                    Submitted::Unknown(fault) => {
                        self.record(Remote::Submitting { answer: Some(fault.clone()) })?;
                        self.search(Some(fault))?
                    }
                }
            }
        };
        self.submitted(found)
    }

    fn submitted(&mut self, job: RemoteJob) -> Result<RemoteJob, StopReason> {
        self.record(Remote::Submitted { job: job.clone() })?;
        attached::note(self.dir, &format!("submitted as {}", job.url.as_deref().unwrap_or(&job.id)));
        Ok(job)
    }

    /// Finds the job of a submission of which nobody knows whether it arrived. It is not submitted again, because the
    /// service may have it. Without an answer to it, the search goes on as long as the run may.
    fn search(&mut self, answer: Option<Fault>) -> Result<RemoteJob, StopReason> {
        for nth in 0.. {
            attached::write_progress(
                self.dir,
                "looking for the submission in the service's list",
                Vec::new(),
            );
            let found = self.look().map_err(|reason| never_listed(reason, answer.as_ref()))?;
            match (found, &answer) {
                (Some(job), _) => return Ok(job),
                (None, Some(fault)) if nth + 1 == MOST_SEARCHES => return Err(stop(fault.clone())),
                (None, _) => {}
            }
            let paused = self.pause(poll_interval(nth, ids::jitter()));
            paused.map_err(|reason| never_listed(reason, answer.as_ref()))?;
        }
        Err(stop(Fault::new(FailureCode::Internal, "the search ended")))
    }

    /// Looks through the service's list once. Remembers the environments in it.
    fn look(&mut self) -> Result<Option<RemoteJob>, StopReason> {
        let mut after = None;
        for _ in 0..MOST_PAGES {
            let call = self.agent.list(self.request, after.as_deref());
            let page = self.ask_patiently(&call, |agent, answer| agent.find(self.request, answer))?;
            // Only a hint for later requests.
            let _ = Home::open(self.env).map(|home| environments::remember(&home, page.environments));
            match (page.job, page.next) {
                (Some(job), _) => return Ok(Some(job)),
                (None, Some(next)) => after = Some(next),
                (None, None) => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Polls until the job has ended.
    fn follow(&mut self, job: &RemoteJob) -> Result<String, StopReason> {
        let mut last = String::new();
        for nth in 0.. {
            self.pause(poll_interval(nth, ids::jitter()))?;
            let state = self.ask_patiently(&self.agent.poll(job), |agent, answer| agent.polled(answer))?;
            let (RemoteState::Working(line) | RemoteState::Ended { summary: line, .. }) = &state;
            if *line != last {
                attached::note(self.dir, line);
                attached::write_progress(self.dir, line, Vec::new());
                last.clone_from(line);
            }
            if let RemoteState::Ended { result, summary } = state {
                return result.map(|()| summary).map_err(stop);
            }
        }
        Err(stop(Fault::new(FailureCode::Internal, "polling ended")))
    }

    /// Asks again if the service fails to answer, up to a limit.
    fn ask_patiently<T>(
        &mut self,
        call: &HostedCall,
        read: impl Fn(&dyn HostedAgent, &HostedAnswer) -> Result<T, Fault>,
    ) -> Result<T, StopReason> {
        let mut failures = 0;
        loop {
            let answer = self.ask(call)?;
            let fault = match read(self.agent, &answer) {
                Ok(read) => return Ok(read),
                Err(fault) => fault,
            };
            failures += 1;
            let Fault { message, hint, .. } = &fault;
            if failures == MOST_FAILURES {
                return Err(stop(fault));
            }
            attached::note(self.dir, message);
            let told = match hint {
                Some(cure) => format!("{cure}; it goes on by itself then: {message}"),
                None => format!("asked again automatically, nothing to do: {message}"),
            };
            attached::write_progress(self.dir, &told, Vec::new());
            self.pause(poll_interval(failures, ids::jitter()))?;
        }
    }

    /// Calls the local program, within the limits of the run.
    fn ask(&mut self, call: &HostedCall) -> Result<HostedAnswer, StopReason> {
        let spec = CommandSpec {
            program: self.request.program.clone(),
            args: call.args.clone(),
            cwd: self.dir.scratch(),
            env: Vec::new(),
            stdin: Stdin::Text(call.stdin.clone()),
            stdout: Stdout::Text,
            stop: Stop {
                signal: Signal::Terminate,
                reach: SignalTarget::Group,
                grace: Duration::from_secs(1),
            },
            on_orphaned: Signal::Kill,
        };
        let launch = AgentLaunch { spec: &spec, environment: &self.environment, ground: &self.ground };
        let left = attached::time_left(self.request, &self.started);
        let most = self.request.limits.command.unwrap_or(CALL);
        let limits =
            Limits { idle: None, hard: Some(left.map_or(most, |left| left.min(most))), command: None };
        let mut printed = Printed::default();
        let mut inner = Inside::of(self.env, self.dir, self.request);
        let ended = supervisor::run(launch, limits, &mut self.tree, self.listener, &mut printed, &mut inner);
        let ended = ended.map_err(|error| stop(supervise::not_started(&spec.program, &error)))?;
        let Printed { stdout, stderr } = printed;
        self.keep(&stdout, &stderr)?;
        match ended.reason {
            None | Some(StopReason::Limit(Limit::Hard)) => {}
            Some(reason) => return Err(reason),
        }
        if let Some(reason) = attached::passed_limit(self.request, &self.started) {
            return Err(reason);
        }
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ok(HostedAnswer { exit: ended.exit, stdout: text(stdout), stderr: text(stderr) })
    }

    /// Raw answers reach the disk before they are read.
    fn keep(&self, stdout: &[u8], stderr: &[u8]) -> Result<(), StopReason> {
        for (path, bytes) in [(self.dir.stdout(), stdout), (self.dir.stderr(), stderr)] {
            let kept = files::create_log(&path).and_then(|mut log| log.write_all(bytes));
            kept.map_err(|error| stop(storage(&error)))?;
        }
        Ok(())
    }

    fn record(&self, remote: Remote) -> Result<(), StopReason> {
        let record = RemoteRecord { version: RemoteRecord::VERSION, remote };
        self.dir.write_state(&self.dir.remote(), &record).map_err(|error| stop(storage(&error)))
    }

    /// Sleeps, unless the run must stop.
    fn pause(&mut self, duration: Duration) -> Result<(), StopReason> {
        let until = clock::monotonic() + duration;
        loop {
            let left = until.saturating_sub(clock::monotonic());
            attached::sleep(self.listener, self.request, &self.started, left)?;
            if left.is_zero() {
                return Ok(());
            }
        }
    }
}

fn stop(fault: Fault) -> StopReason {
    StopReason::Fault(fault)
}

/// A search that the run's limit ended says that nothing was found.
fn never_listed(reason: StopReason, answer: Option<&Fault>) -> StopReason {
    match (reason, answer) {
        (StopReason::Limit(Limit::Hard), Some(fault)) => stop(fault.clone()),
        (StopReason::Limit(Limit::Hard), None) => {
            let message = "the submission was cut off, and the service does not list the job";
            let hint = "look at chatgpt.com/codex; start the task again if it is not there";
            stop(Fault::new(FailureCode::Lost, message).hint(hint))
        }
        (reason, _) => reason,
    }
}

/// The time before the `nth` poll: 2 s, 5 s, 10 s, then 15 s, varied by a fifth.
fn poll_interval(nth: u32, jitter: f64) -> Duration {
    let seconds = match nth {
        0 => 2.0,
        1 => 5.0,
        2 => 10.0,
        _ => 15.0 / 1.2,
    };
    Duration::from_secs_f64(seconds * (1.0 + jitter.clamp(-1.0, 1.0) / 5.0))
}

/// Collects what the program prints, up to a limit.
#[derive(Default)]
struct Printed {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Observer for Printed {
    fn output(&mut self, stream: Stream, bytes: &[u8]) -> Observed {
        let kept = match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        };
        let room = LONGEST_ANSWER.saturating_sub(kept.len()).min(bytes.len());
        kept.extend_from_slice(&bytes[..room]);
        Observed::default()
    }

    fn tick(&mut self) -> Option<StopReason> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polls_slow_down_and_are_spread() {
        let seconds = |nth, jitter| poll_interval(nth, jitter).as_secs_f64();
        assert_eq!([0, 1, 2].map(|nth| seconds(nth, 0.0)), [2.0, 5.0, 10.0]);
        assert_eq!([seconds(0, -1.0), seconds(0, 1.0)], [1.6, 2.4]);
        assert!((3..9).all(|nth| seconds(nth, 1.0) <= 15.001));
    }
}
