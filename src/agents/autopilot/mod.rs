//! The `autopilot` agent: coordinates the jobs of a plan. It has no process of its own; each job is
//! a task.

use crate::agents::{Abilities, Edits, Program, TaskText, codex};
use crate::model::WorkKind;

pub(super) const ABILITIES: Abilities = Abilities {
    work: WorkKind::Coordinator,
    task: TaskText::Plan,
    program: Program::Own,
    resumes: false,
    needs_git: false,
    has_own_sandbox: false,
    // For its jobs.
    environment: codex::ENVIRONMENT,
    edits: Edits::Unreported,
    keeps_rollouts: false,
    reads_skills: false,
};
