//! `replay`: plays a recorded Codex stream, for demonstrations and tests that
//! must not need an agent.
//!
//! Our own binary is the program: its hidden command `play` prints the
//! recording, and Codex's reader reads it. The task names the recording.

mod play;
mod recordings;
mod task;

use std::time::Duration;

use super::codex::CodexReader;
use super::{Agent, Files, Finding, Plan, Probe, Reader};
use crate::model::{CommandSpec, FailureCode, Fault, Reach, Request, Signal, Stdin, Stdout, Stop};

pub(crate) use play::play;
pub(crate) use task::{BadRecording, check_task};

use task::Playback;

pub(crate) struct Replay;

impl Agent for Replay {
    fn probes(&self, _request: &Request) -> Vec<Probe> {
        Vec::new()
    }

    fn command(&self, request: &Request, _: &str, _: &Files, _: &[Finding]) -> Result<Plan, Fault> {
        let playback: Playback = request
            .task
            .parse()
            .map_err(|bad: BadRecording| Fault::new(FailureCode::Spawn, bad.to_string()).hint(bad.hint()))?;
        let mut args = vec!["play".to_owned()];
        args.extend(playback.into_args());
        let spec = CommandSpec {
            program: request.program.clone(),
            args,
            cwd: request.cwd.clone(),
            env: Vec::new(),
            stdin: Stdin::Text(String::new()),
            stdout: Stdout::Events,
            stop: Stop { signal: Signal::Terminate, reach: Reach::Process, grace: Duration::from_secs(1) },
            on_orphaned: Signal::Kill,
        };
        Ok(Plan { spec, warnings: Vec::new(), agent_version: None })
    }

    fn reader(&self, request: &Request, _prompt: &str) -> Box<dyn Reader> {
        Box::new(CodexReader::new(request))
    }
}
