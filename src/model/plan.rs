//! A plan: jobs that a coordinator runs as tasks of their own, each after those it depends on.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::model::{AgentName, Sandbox, SkillsMode};

const MOST_JOBS: usize = 100;
const LONGEST_ID: usize = 40;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plan {
    /// In submission order.
    pub(crate) jobs: Vec<Job>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Job {
    /// Unique in the plan.
    pub(crate) id: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) title: String,
    pub(crate) task: String,
    #[serde(default = "codex")]
    pub(crate) agent: AgentName,
    /// The jobs that must complete first, all of them earlier in the plan.
    #[serde(default)]
    pub(crate) after: Vec<String>,
    /// Absent for agents without one; the plan's own then applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sandbox: Option<Sandbox>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) thinking_level: Option<ThinkingLevel>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) skills_mode: Option<SkillsMode>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) max_skills: Option<usize>,
}

impl Job {
    pub(crate) fn writes(&self) -> bool {
        self.sandbox.is_some_and(|sandbox| sandbox > Sandbox::ReadOnly)
    }
}

/// How much thought a job needs. The configuration maps it to a model and a reasoning effort.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ThinkingLevel {
    Low,
    Medium,
    High,
}

impl ThinkingLevel {
    pub(crate) const ALL: [ThinkingLevel; 3] =
        [ThinkingLevel::Low, ThinkingLevel::Medium, ThinkingLevel::High];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            ThinkingLevel::Low => "low",
            ThinkingLevel::Medium => "medium",
            ThinkingLevel::High => "high",
        }
    }
}

fn codex() -> AgentName {
    AgentName::Codex
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadPlan {
    #[error(
        "the plan is not valid JSON of the form {{\"jobs\": [{{\"id\", \"task\", \"agent\", \"after\"}}]}}: {0}"
    )]
    Json(String),
    #[error("the plan has {count} jobs; it needs 1 to {most}")]
    JobCount { count: usize, most: usize },
    #[error("the plan has two jobs named `{0}`")]
    Duplicate(String),
    #[error("`{0}` is no job id: use 1 to {LONGEST_ID} lower-case letters, digits, `-` and `_`")]
    BadId(String),
    #[error("job `{0}` has no task")]
    NoTask(String),
    #[error("job `{job}` comes after `{after}`, which is not an earlier job of the plan")]
    UnknownJob { job: String, after: String },
}

impl Plan {
    /// The id of the job in which an agent makes the plan. No other job has it.
    pub(crate) const PLANNER: &'static str = "plan";
    /// Ends the name of the branch with the work of all jobs, where that of a job has its id.
    pub(crate) const RESULT: &'static str = "result";

    pub(crate) fn parse(text: &str) -> Result<Self, BadPlan> {
        let plan: Plan = serde_json::from_str(text).map_err(|error| BadPlan::Json(error.to_string()))?;
        plan.check(MOST_JOBS)
    }

    /// The plan, if it has at most `most` jobs and each can be started at some time.
    pub(crate) fn check(self, most: usize) -> Result<Self, BadPlan> {
        let count = self.jobs.len();
        if count == 0 || count > most {
            return Err(BadPlan::JobCount { count, most });
        }
        let mut earlier = BTreeSet::new();
        for job in &self.jobs {
            if !is_id(&job.id) {
                return Err(BadPlan::BadId(job.id.clone()));
            }
            if job.task.trim().is_empty() {
                return Err(BadPlan::NoTask(job.id.clone()));
            }
            if let Some(after) = job.after.iter().find(|after| !earlier.contains(after.as_str())) {
                return Err(BadPlan::UnknownJob { job: job.id.clone(), after: after.clone() });
            }
            if !earlier.insert(job.id.as_str()) {
                return Err(BadPlan::Duplicate(job.id.clone()));
            }
        }
        Ok(self)
    }
}

/// It becomes part of a path, of a branch and of a key.
fn is_id(text: &str) -> bool {
    let allowed =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
    (1..=LONGEST_ID).contains(&text.len()) && text.bytes().all(allowed) && !text.starts_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(jobs: &str, expected: &str) {
        let parsed = Plan::parse(&format!(r#"{{"jobs":[{jobs}]}}"#));
        let told = parsed.map_or_else(|bad| bad.to_string(), |plan| format!("{} jobs", plan.jobs.len()));
        assert!(told.contains(expected), "{told}");
    }

    #[test]
    fn a_job_comes_after_earlier_jobs_of_the_plan() {
        let a = r#"{"id":"a","task":"true","agent":"command"}"#;
        check(&format!(r#"{a},{{"id":"b","task":"true","agent":"command","after":["a"]}}"#), "2 jobs");
        // A cycle always has a job that comes after a later one.
        check(&format!(r#"{{"id":"b","task":"true","after":["a"]}},{a}"#), "not an earlier job");
        check(r#"{"id":"b","task":"true","agent":"command","after":["b"]}"#, "not an earlier job");
        check(&format!("{a},{a}"), "two jobs named `a`");
        check("", "0 jobs");
        check(r#"{"id":"a","task":"true","agent":"nobody"}"#, "not valid JSON");
        check(r#"{"id":"a","task":" "}"#, "`a` has no task");
    }

    #[test]
    fn an_id_is_safe_in_a_path_and_in_a_branch() {
        for id in ["", "..", "a/b", "-a", "A", "a b", "é", &"x".repeat(41)] {
            check(&format!(r#"{{"id":"{id}","task":"true"}}"#), "is no job id");
        }
        check(r#"{"id":"fix-2_a","task":"true"}"#, "1 jobs");
    }
}
