//! A run whose work is done by a service: submits it once, polls it, and fetches its result.
//!
//! `remote.json` says how far the submission came, so a new supervisor goes on where a dead one
//! stopped and never submits twice.

use std::io::Write;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::agents::{HostedAgent, HostedAnswer, HostedCall, RemoteJob, RemoteState};
use crate::execution::child::{self, Inside};
use crate::execution::control::Listener;
use crate::execution::supervise::{bare, storage};
use crate::execution::{attached, supervise};
use crate::host::AgentLaunch;
use crate::host::Env;
use crate::host::{Links, OpenedDirs, clock, files, paths};
use crate::model::{
    CommandSpec, Exit, FailureCode, Fault, Limit, Limits, Outcome, Request, RunResult, Signal, SignalTarget,
    Stdin, Stdout, Stop, StopReason,
};
use crate::prompts;
use crate::runs::{RunDir, StartRecord};
use crate::supervisor;
use crate::supervisor::{Observed, Observer, ProcessTree, RunMark, Stream};

/// How long one call of the local program may take. It has no limit of its own.
const CALL: Duration = Duration::from_secs(60);
/// How often in a row the service may fail to answer.
const MOST_FAILURES: u32 = 5;
/// How often to look for a submission that was cut off. The list may lag behind.
const MOST_SEARCHES: u32 = 5;
const LONGEST_ANSWER: usize = 16 << 20;

/// The content of `remote.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
enum Remote {
    /// The submission has begun. Whether the service has the job is unknown.
    Submitting,
    Submitted {
        job: RemoteJob,
    },
}

#[derive(Serialize)]
struct RemoteRecord<'a> {
    version: u32,
    #[serde(flatten)]
    remote: &'a Remote,
}

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
    let (outcome, reported) = match driver.run() {
        Ok(summary) => (Outcome::Completed, summary),
        Err(reason) => (attached::stopped(reason, &driver.started), String::new()),
    };
    attached::end(dir, request, &driver.started, outcome, reported)
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
    /// Returns the summary of a job that succeeded.
    fn run(&mut self) -> Result<String, StopReason> {
        let job = self.job()?;
        let summary = self.follow(&job)?;
        let answer = self.ask_patiently(&self.agent.fetch(&job), |agent, answer| agent.fetched(answer))?;
        if let Some(diff) = answer {
            self.dir.write_text(self.dir.changes(), &diff).map_err(|error| stop(storage(&error)))?;
        }
        Ok(summary)
    }

    /// The job at the service, submitted now or before.
    fn job(&mut self) -> Result<RemoteJob, StopReason> {
        let remote = self.dir.read_state(&self.dir.remote());
        match remote.map_err(|error| stop(Fault::new(FailureCode::Storage, error.to_string())))? {
            Some(Remote::Submitted { job }) => Ok(job),
            Some(Remote::Submitting) => {
                let job = self.search()?;
                self.submitted(job)
            }
            None => {
                // An order to stop may have come first.
                self.pause(Duration::ZERO)?;
                self.record(&Remote::Submitting)?;
                let prompt = prompts::render(self.request);
                let answer = self.ask(&self.agent.submit(self.request, &prompt))?;
                let job = match answer.exit {
                    // It took too long: the service may have the job.
                    Exit::Signal(_) => self.search()?,
                    Exit::Code(_) => self.agent.submitted(&answer).map_err(stop)?,
                };
                self.submitted(job)
            }
        }
    }

    fn submitted(&mut self, job: RemoteJob) -> Result<RemoteJob, StopReason> {
        self.record(&Remote::Submitted { job: job.clone() })?;
        attached::note(self.dir, &format!("submitted as {}", job.url.as_deref().unwrap_or(&job.id)));
        Ok(job)
    }

    /// Finds the job of a submission that was cut off. It is not submitted again, because the
    /// service may have it.
    fn search(&mut self) -> Result<RemoteJob, StopReason> {
        for nth in 0..MOST_SEARCHES {
            attached::write_progress(self.dir, "looking for the submission that was cut off", Vec::new());
            let found = self.ask_patiently(&self.agent.list(self.request), |agent, answer| {
                agent.find(self.request, answer)
            })?;
            if let Some(job) = found {
                return Ok(job);
            }
            self.pause(poll_interval(nth, self.jitter()))?;
        }
        let message = "the submission was cut off, and the service does not list the job";
        let hint = "look at the service's own list; start the task again if the job is not there";
        Err(stop(Fault::new(FailureCode::Lost, message).hint(hint)))
    }

    /// Polls until the job has ended.
    fn follow(&mut self, job: &RemoteJob) -> Result<String, StopReason> {
        let mut last = String::new();
        for nth in 0.. {
            self.pause(poll_interval(nth, self.jitter()))?;
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
            // Waiting does not help somebody who is not signed in.
            if failures == MOST_FAILURES || fault.code == FailureCode::Auth {
                return Err(stop(fault));
            }
            attached::note(self.dir, &fault.message);
            self.pause(poll_interval(failures, self.jitter()))?;
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
        let limits =
            Limits { idle: None, hard: Some(left.map_or(CALL, |left| left.min(CALL))), command: None };
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

    fn record(&self, remote: &Remote) -> Result<(), StopReason> {
        let record = RemoteRecord { version: 1, remote };
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

    /// From -1 to 1, different for each run, so that many runs do not poll at the same moment.
    fn jitter(&self) -> f64 {
        let sum: u32 = self.request.run_id.as_str().bytes().map(u32::from).sum();
        f64::from(sum % 201) / 100.0 - 1.0
    }
}

fn stop(fault: Fault) -> StopReason {
    StopReason::Fault(fault)
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
