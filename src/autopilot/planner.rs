//! The job in which an agent makes the plan: what it is asked, and what its answer means. Pure.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::model::{
    AgentName, Autopilot, Decision, FailureCode, Fault, Job, Plan, Sandbox, SkillsMode, SkillsRequest,
    ThinkingLevel,
};

/// The job that makes the plan.
pub(super) fn job(task: &str, settings: &Autopilot, sandbox: Sandbox) -> Job {
    let writes = match sandbox {
        Sandbox::ReadOnly => "Every job can only read.",
        Sandbox::WorkspaceWrite | Sandbox::DangerFullAccess => {
            "A job that changes files needs the sandbox workspace-write; jobs that only look get read-only."
        }
    };
    let most = settings.max_agents;
    let asked = format!(
        "Plan the task below for up to {most} agents that work in runs of their own, and do none of it yourself. Look at \
         the project as far as the plan needs it.\n\nIf one run does it as well (a question, one small change), \
         answer `should_delegate: false`, the reason, and no jobs. Otherwise give 1 to {most} jobs. Each has an `id` of \
         lower-case letters other than `plan` and `result`, a `title`, and a `task` that an agent understands which sees \
         nothing else but the reports of the jobs in `after`: those must complete first and stand earlier in the list. Jobs that do not need each other \
         run at the same time, so they must not change the same files. {writes} `thinking_level` is high for what is hard, \
         low for looking and checking. End with a job that checks the result.\n\nThe task:\n\n{}",
        task.trim()
    );
    Job {
        id: Plan::PLANNER.to_owned(),
        title: "Plan the task".to_owned(),
        task: asked,
        agent: AgentName::Codex,
        after: Vec::new(),
        sandbox: Some(Sandbox::ReadOnly),
        thinking_level: Some(ThinkingLevel::Medium),
        skills_mode: Some(SkillsMode::None),
        max_skills: None,
    }
}

/// The schema of the answer, in the subset that model services enforce.
pub(super) fn schema(settings: &Autopilot) -> Value {
    let text = json!({ "type": "string" });
    let object = |properties: Value| {
        let required: Vec<String> =
            properties.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
        json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
    };
    let job = object(json!({
        "id": text,
        "title": text,
        "task": text,
        "after": { "type": "array", "items": text },
        "sandbox": { "type": "string", "enum": [Sandbox::ReadOnly, Sandbox::WorkspaceWrite] },
        "thinking_level": { "type": "string", "enum": ThinkingLevel::ALL },
        "skills_mode": { "type": "string", "enum": ["auto", "none"] },
    }));
    object(json!({
        "should_delegate": { "type": "boolean" },
        "reason": text,
        "jobs": { "type": "array", "items": job, "maxItems": settings.max_agents },
    }))
}

#[derive(Deserialize)]
struct Answer {
    should_delegate: bool,
    reason: String,
    jobs: Vec<Job>,
}

/// The decision and the jobs in the planner's answer. No job gets more access than `sandbox`.
pub(super) fn read(
    answer: &str,
    settings: &Autopilot,
    sandbox: Sandbox,
    skills: &SkillsRequest,
) -> Result<(Decision, Vec<Job>), Fault> {
    let bad = |what: String| {
        Fault::new(FailureCode::Schema, format!("the planner's plan cannot be used: {what}"))
            .hint("start the task again, or with planner `rules`")
    };
    let answer: Answer = serde_json::from_str(answer).map_err(|error| bad(error.to_string()))?;
    let Answer { should_delegate, reason, jobs } = answer;
    let decision = Decision { should_delegate, reason };
    if !should_delegate {
        return Ok((decision, Vec::new()));
    }
    let clamp = |job: Job| Job {
        sandbox: Some(job.sandbox.unwrap_or(Sandbox::ReadOnly).min(sandbox)),
        // The planner does not choose other programs.
        agent: AgentName::Codex,
        // It chooses only where skills are left to choice.
        skills_mode: Some(if job.skills_mode == Some(SkillsMode::None) {
            SkillsMode::None
        } else {
            skills.mode
        }),
        max_skills: Some(skills.max),
        ..job
    };
    let plan = Plan { jobs: jobs.into_iter().map(clamp).collect() };
    let plan = plan.check(settings.max_agents).map_err(|error| bad(error.to_string()))?;
    let reserved = [Plan::PLANNER, Plan::RESULT];
    if let Some(job) = plan.jobs.iter().find(|job| reserved.contains(&job.id.as_str())) {
        return Err(bad(format!("the job id `{}` is reserved", job.id)));
    }
    Ok((decision, plan.jobs))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Level, Planner};

    fn settings() -> Autopilot {
        let level = Level::default;
        Autopilot {
            planner: Planner::Agent,
            max_agents: 2,
            max_parallel: 2,
            plan_only: false,
            low: level(),
            medium: level(),
            high: level(),
        }
    }

    fn answer(should_delegate: bool, jobs: &[(&str, &[&str], &str)]) -> String {
        let job = |(id, after, sandbox): &(&str, &[&str], &str)| {
            json!({
                "id": id, "title": "T", "task": "do it", "after": after, "sandbox": sandbox,
                "thinking_level": "high", "skills_mode": "auto",
            })
        };
        let jobs: Vec<Value> = jobs.iter().map(job).collect();
        json!({ "should_delegate": should_delegate, "reason": "because", "jobs": jobs }).to_string()
    }

    #[track_caller]
    fn check(answer: &str, expected: &str) {
        let told = match read(answer, &settings(), Sandbox::WorkspaceWrite, &SkillsRequest::default()) {
            Ok((decision, jobs)) => {
                let jobs: Vec<String> =
                    jobs.iter().map(|job| format!("{} {}", job.id, job.sandbox.unwrap())).collect();
                format!("{} {}", decision.should_delegate, jobs.join(", "))
            }
            Err(fault) => fault.message,
        };
        assert!(told.contains(expected), "{told}");
    }

    #[test]
    fn a_plan_is_checked_and_its_access_is_clamped() {
        let two: &[(&str, &[&str], &str)] = &[("a", &[], "danger-full-access"), ("b", &["a"], "read-only")];
        check(&answer(true, two), "true a workspace-write, b read-only");
        check(&answer(false, two), "false ");
        check(&answer(true, &[]), "0 jobs; it needs 1 to 2");
        check(&answer(true, &[("a", &["b"], "read-only"), ("b", &[], "read-only")]), "not an earlier job");
        check(&answer(true, &[("plan", &[], "read-only")]), "the job id `plan` is reserved");
        check(&answer(true, &[("result", &[], "read-only")]), "the job id `result` is reserved");
        check("{}", "cannot be used: missing field");
        let many: Vec<(&str, &[&str], &str)> =
            ["a", "b", "c"].iter().map(|id| (*id, &[] as &[&str], "read-only")).collect();
        check(&answer(true, &many), "3 jobs");
    }

    #[test]
    fn what_the_schema_accepts_can_be_read() {
        let answer = answer(true, &[("a", &[], "read-only")]);
        let value: Value = serde_json::from_str(&answer).unwrap();
        assert!(jsonschema::is_valid(&schema(&settings()), &value));
        assert!(!jsonschema::is_valid(&schema(&settings()), &json!({ "should_delegate": true })));
    }
}
