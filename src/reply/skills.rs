//! `registry_info` about skills: what was found, and what would be chosen.

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::SkillEntry;
use crate::reply::registry_info::RegistryMeta;
use crate::reply::report::Skill;
use crate::tasks::skills::FoundSkills;

/// The skills that were found, or those that would be chosen for a task.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SkillList {
    /// All of them, unless a task was given.
    pub(crate) skills: Vec<Skill>,
    /// What would be chosen, if a task was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) selection: Option<SkillChoice>,
    /// What could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<String>,
}

/// The skills that would be chosen for a task.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SkillChoice {
    #[schemars(extend("enum" = ["auto", "explicit", "none"]))]
    pub(crate) mode: &'static str,
    /// The score that a skill needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) threshold: Option<f64>,
    /// Best first.
    pub(crate) chosen: Vec<ScoredSkill>,
    /// The best of the others.
    pub(crate) passed_over: Vec<ScoredSkill>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ScoredSkill {
    #[serde(flatten)]
    pub(crate) skill: Skill,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) score: Option<f64>,
    /// The words of the task that are in its name or description.
    pub(crate) matched: Vec<String>,
}

impl SkillList {
    pub(crate) fn of(found: &FoundSkills) -> (RegistryMeta, Self) {
        let meta = RegistryMeta { count: Some(found.library.skills.len()), ..RegistryMeta::default() };
        let listed = found.library.skills.iter().filter(|_| found.selection.is_none());
        let skills = listed.map(|skill| Skill::of(&skill.entry())).collect();
        let scored = |entries: &[SkillEntry]| entries.iter().map(ScoredSkill::of).collect();
        let selection = found.selection.as_ref().map(|selection| SkillChoice {
            mode: selection.mode.as_str(),
            threshold: selection.threshold,
            chosen: scored(&selection.selected_skills),
            passed_over: scored(&selection.passed_over),
            warnings: selection.warnings.clone(),
        });
        (meta, Self { skills, selection, warnings: found.library.warnings.clone() })
    }
}

impl ScoredSkill {
    fn of(entry: &SkillEntry) -> Self {
        Self { skill: Skill::of(entry), score: entry.score, matched: entry.matched.clone() }
    }
}
