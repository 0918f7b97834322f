//! What a caller may say about an autopilot task, and what follows from it.

use serde::Deserialize;

use crate::context::Context;
use crate::model::{Autopilot, Planner, ThinkingLevel};

const MAX_AGENTS: usize = 3;
const MAX_PARALLEL: usize = 2;

/// How to plan and run the jobs of a task.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(crate) struct AutopilotRequest {
    pub(crate) planner: Planner,
    /// The most jobs of the plan.
    pub(crate) max_agents: Option<usize>,
    /// The most jobs that run at the same time.
    pub(crate) max_parallel: Option<usize>,
    pub(crate) plan_only: bool,
}

impl AutopilotRequest {
    /// The largest plan, and the most jobs at the same time, that may be asked for.
    pub(crate) const MOST: usize = 16;

    pub(super) fn resolve(self, context: &Context) -> Autopilot {
        let [low, medium, high] =
            ThinkingLevel::ALL.map(|level| context.config.thinking_level(level, &context.env));
        Autopilot {
            planner: self.planner,
            max_agents: self.max_agents.unwrap_or(MAX_AGENTS).clamp(1, Self::MOST),
            max_parallel: self.max_parallel.unwrap_or(MAX_PARALLEL).clamp(1, Self::MOST),
            plan_only: self.plan_only,
            low,
            medium,
            high,
        }
    }
}
