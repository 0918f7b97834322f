//! The `replay` agent: plays a recorded Codex stream, for demonstrations and tests without an
//! agent.
//!
//! Our hidden command `play` prints the recording, and Codex's reader reads it. The task names the
//! recording.

pub(crate) mod play;
mod reader;
mod recordings;
mod task;

use std::time::Duration;

use crate::agents::{
    Abilities, Agent, AgentFiles, AgentPlan, Edits, Probe, ProbeAnswer, Program, Reader, TaskText,
};
use crate::model::{
    CommandSpec, FailureCode, Fault, Request, Signal, SignalTarget, Stdin, Stdout, Stop, WorkKind,
};

pub(crate) use play::play;
pub(crate) use task::{BadRecording, check_task, is_shipped};

use reader::ReplayReader;
use task::Playback;

pub(crate) struct Replay;

pub(super) const ABILITIES: Abilities = Abilities {
    work: WorkKind::Child,
    task: TaskText::Recording,
    program: Program::Own,
    resumes: false,
    needs_git: false,
    has_own_sandbox: false,
    environment: &[],
    edits: Edits::Replayed,
    keeps_rollouts: false,
    reads_skills: false,
};

impl Agent for Replay {
    fn probes(&self, _request: &Request) -> Vec<Probe> {
        Vec::new()
    }

    fn command(
        &self,
        request: &Request,
        _: &str,
        _: &AgentFiles,
        _: &[ProbeAnswer],
    ) -> Result<AgentPlan, Fault> {
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
            stdin: Stdin::Open(Vec::new()),
            stdout: Stdout::Events,
            stop: Stop {
                signal: Signal::Terminate,
                reach: SignalTarget::Process,
                grace: Duration::from_secs(1),
            },
            on_orphaned: Signal::Kill,
        };
        Ok(AgentPlan { spec, warnings: Vec::new(), agent_version: None, leftover_dirs: Vec::new() })
    }

    fn reader(&self, request: &Request, _prompt: &str) -> Box<dyn Reader> {
        Box::new(ReplayReader::new(request))
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::agents::testing::request;
    use crate::agents::{AgentEnd, Verdict};
    use crate::model::Exit;

    fn planned(task: &str) -> Result<AgentPlan, Fault> {
        let files = AgentFiles { schema: PathBuf::new(), last_message: PathBuf::new() };
        Replay.command(&Request { task: task.to_owned(), ..request() }, "", &files, &[])
    }

    /// Plays `task` like the supervisor would.
    fn judged(task: &str) -> Verdict {
        let args = planned(task).unwrap().spec.args;
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let status = play(&args[1..], &mut std::io::empty(), &mut out, &mut err, &mut |_| {});
        let mut reader = Replay.reader(&request(), "");
        for line in out.split(|byte| *byte == b'\n') {
            reader.line(line);
        }
        let stderr_tail = String::from_utf8(err).unwrap();
        reader.verdict(&AgentEnd {
            exit: Exit::Code(status),
            stderr_tail,
            last_line: String::new(),
            last_error: String::new(),
            last_message: None,
        })
    }

    #[track_caller]
    fn check(task: &str, code: Option<FailureCode>, deliverables: Option<usize>) {
        let verdict = judged(task);
        assert_eq!(verdict.result.as_ref().err().map(|fault| fault.code), code);
        assert_eq!(verdict.answer.map(|answer| answer.deliverables.len()), deliverables);
        assert_eq!(verdict.warnings, [""; 0]);
    }

    #[test]
    fn shipped_recordings_end_as_their_names_say() {
        check("fix-test", None, Some(2));
        check("quick --instant", None, Some(0));
        check("fails --speed 2", Some(FailureCode::RateLimited), None);
    }

    #[test]
    fn an_unknown_recording_is_no_command_line() {
        let fault = planned("nosuch").unwrap_err();
        assert_eq!(
            (fault.code, fault.message.as_str()),
            (FailureCode::Spawn, "there is no recording `nosuch`")
        );
        assert!(fault.hint.unwrap().contains("`fix-test`"));
    }
}
