//! Which skills a caller asks for.

use crate::context::TaskError;
use crate::model::{SkillsMode, SkillsRequest};
use crate::submit::start_request::StartRequest;

impl StartRequest {
    /// Names alone mean that these skills are wanted.
    pub(crate) fn skills(&self) -> SkillsRequest {
        let usual = SkillsRequest::default();
        let unsaid = if self.skills.is_empty() { usual.mode } else { SkillsMode::Explicit };
        SkillsRequest {
            mode: self.skills_mode.unwrap_or(unsaid),
            names: self.skills.clone(),
            max: self.max_skills.unwrap_or(usual.max),
            include_repo: self.include_repo_skills.unwrap_or(usual.include_repo),
            include_global: self.include_global_skills.unwrap_or(usual.include_global),
        }
    }

    /// Refuses names that the mode would ignore.
    pub(crate) fn check_skills(&self) -> Result<(), TaskError> {
        match self.skills().mode {
            mode @ (SkillsMode::Auto | SkillsMode::None) if !self.skills.is_empty() => {
                Err(TaskError::SkillsNotExplicit(mode))
            }
            SkillsMode::Auto | SkillsMode::Explicit | SkillsMode::None => Ok(()),
        }
    }
}
