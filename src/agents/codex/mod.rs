//! The Codex adapter: `codex exec --json` with new or resumed threads.
//!
//! Based on measurements of the real program. Runs nothing itself: it requests what it must know of
//! the installed version as probes.

mod answer;
mod cli_options;
mod command;
mod events;
mod failure_causes;
mod locate;
mod reader;
mod recursion_guard;
mod rollout;
mod stderr;
mod stream_line;
mod unreported;
mod verdict;

use crate::agents::{
    Abilities, Agent, AgentFiles, AgentPlan, Edits, Probe, ProbeAnswer, Program, Reader, TaskText,
};
use crate::model::{Fault, Request, WorkKind};

pub(crate) use answer::{NOTHING_SAID, answer_schema};
pub(crate) use cli_options::parse_version;
pub(crate) use locate::{Platform, native_candidates};
pub(super) use reader::CodexReader;
pub(crate) use rollout::{
    CommandFingerprint, RolloutCommand, RolloutLine, is_older_than, is_rollout_of, rollout_folders,
};
pub(crate) use stderr::tells_of_refusal;
pub(crate) use unreported::{Unreported, UnreportedFinder};

pub(crate) struct Codex;

/// The variables that Codex needs.
pub(super) const ENVIRONMENT: &[&str] =
    &["CODEX_HOME", "CODEX_API_KEY", "OPENAI_API_KEY", "CODEX_CA_CERTIFICATE"];

pub(super) const ABILITIES: Abilities = Abilities {
    work: WorkKind::Child,
    task: TaskText::Prompt,
    program: Program::Codex,
    resumes: true,
    needs_git: true,
    has_own_sandbox: true,
    environment: ENVIRONMENT,
    edits: Edits::Reported,
    keeps_rollouts: true,
    reads_skills: true,
};

impl Agent for Codex {
    fn probes(&self, request: &Request) -> Vec<Probe> {
        command::probes(request)
    }

    fn command(
        &self,
        request: &Request,
        prompt: &str,
        files: &AgentFiles,
        findings: &[ProbeAnswer],
    ) -> Result<AgentPlan, Fault> {
        command::plan(request, prompt, files, findings)
    }

    fn reader(&self, request: &Request, _prompt: &str) -> Box<dyn Reader> {
        Box::new(CodexReader::new(request))
    }
}
