//! A plan: jobs that a coordinator runs as tasks of their own, each after those it depends on.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::model::AgentName;

const MOST_JOBS: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plan {
    /// In submission order.
    pub(crate) jobs: Vec<Job>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Job {
    /// Unique in the plan.
    pub(crate) id: String,
    pub(crate) task: String,
    pub(crate) agent: AgentName,
    /// The jobs that must complete first, all of them earlier in the plan.
    #[serde(default)]
    pub(crate) after: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadPlan {
    #[error(
        "the plan is not valid JSON of the form {{\"jobs\": [{{\"id\", \"task\", \"agent\", \"after\"}}]}}: {0}"
    )]
    Json(String),
    #[error("the plan has {0} jobs; it needs 1 to {MOST_JOBS}")]
    JobCount(usize),
    #[error("the plan has two jobs named `{0}`")]
    Duplicate(String),
    #[error("job `{job}` comes after `{after}`, which is not an earlier job of the plan")]
    UnknownJob { job: String, after: String },
}

impl Plan {
    pub(crate) fn parse(text: &str) -> Result<Self, BadPlan> {
        let plan: Plan = serde_json::from_str(text).map_err(|error| BadPlan::Json(error.to_string()))?;
        if plan.jobs.is_empty() || plan.jobs.len() > MOST_JOBS {
            return Err(BadPlan::JobCount(plan.jobs.len()));
        }
        let mut earlier = BTreeSet::new();
        for job in &plan.jobs {
            if let Some(after) = job.after.iter().find(|after| !earlier.contains(after.as_str())) {
                return Err(BadPlan::UnknownJob { job: job.id.clone(), after: after.clone() });
            }
            if !earlier.insert(job.id.as_str()) {
                return Err(BadPlan::Duplicate(job.id.clone()));
            }
        }
        Ok(plan)
    }
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
        check(r#"{"id":"b","task":"true","agent":"command","after":["a"]}"#, "not an earlier job");
        check(r#"{"id":"b","task":"true","agent":"command","after":["b"]}"#, "not an earlier job");
        check(&format!("{a},{a}"), "two jobs named `a`");
        check("", "0 jobs");
        check(r#"{"id":"a","task":"true","agent":"nobody"}"#, "not valid JSON");
    }
}
