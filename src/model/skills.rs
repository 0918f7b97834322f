//! Skills of a run: what was asked for, and what was chosen.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// How the skills of a run are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SkillsMode {
    /// By their relevance to the task.
    #[default]
    Auto,
    /// By name.
    Explicit,
    None,
}

impl SkillsMode {
    pub(crate) const NAMES: [&'static str; 3] = ["auto", "explicit", "none"];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            SkillsMode::Auto => Self::NAMES[0],
            SkillsMode::Explicit => Self::NAMES[1],
            SkillsMode::None => Self::NAMES[2],
        }
    }
}

/// Which skills a run may be told about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct SkillsRequest {
    pub(crate) mode: SkillsMode,
    /// For the explicit mode.
    pub(crate) names: Vec<String>,
    /// For the automatic mode.
    pub(crate) max: usize,
    pub(crate) include_repo: bool,
    pub(crate) include_global: bool,
}

impl Default for SkillsRequest {
    fn default() -> Self {
        let mode = SkillsMode::default();
        Self { mode, names: Vec::new(), max: 6, include_repo: true, include_global: true }
    }
}

impl SkillsRequest {
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SkillOrigin {
    Repo,
    Global,
}

impl SkillOrigin {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            SkillOrigin::Repo => "repo",
            SkillOrigin::Global => "global",
        }
    }
}

/// A skill as records and prompts name it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SkillEntry {
    pub(crate) name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
    pub(crate) origin: SkillOrigin,
    /// Its `SKILL.md`.
    pub(crate) path: PathBuf,
    /// How well it fits the task, if it was ranked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) score: Option<f64>,
    /// The words of the task that are in its name or description.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) matched: Vec<String>,
}

/// The skills that were chosen, and why. Stored in `selected_skills.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Selection {
    pub(crate) version: u32,
    pub(crate) mode: SkillsMode,
    pub(crate) max_skills: usize,
    /// The score that a skill needed, if they were ranked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) threshold: Option<f64>,
    pub(crate) selected_skills: Vec<SkillEntry>,
    /// The best of those that were ranked but not chosen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) passed_over: Vec<SkillEntry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<String>,
}

impl Selection {
    pub(crate) const VERSION: u32 = 1;
}
