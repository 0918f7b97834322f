//! Writes the request for the task of a job. Pure.

use crate::autopilot::planner;
use crate::model::{EarlierResult, Job, Level, Plan, Request, Sandbox, SkillsMode, WorkKind};
use crate::submit::{Caller, Isolation, ParentTask, RequestedLimits, StartRequest};
use crate::worktrees::BranchPoint;

/// The request for `job` of the plan that `request` asked for. It gets no more access than that.
/// With `branch`, it works in a worktree.
pub(super) fn job_request(
    request: &Request,
    job: &Job,
    earlier: Vec<EarlierResult>,
    branch: Option<BranchPoint>,
) -> StartRequest {
    let shared = StartRequest {
        caller: Caller::of(request),
        agent: Some(job.agent),
        task: job.task.clone(),
        cwd: Some(request.cwd.clone()),
        skip_git_repo_check: request.skip_git_repo_check,
        idempotency_key: Some(request.job_key(job)),
        env_from: request.env_from.clone(),
        job_of: Some(ParentTask { task_id: request.task_id.clone(), within: request.within.clone() }),
        earlier,
        isolation: if branch.is_some() { Isolation::Worktree } else { Isolation::None },
        branch_point: branch,
        ..StartRequest::default()
    };
    let abilities = job.agent.abilities();
    if !abilities.takes_prompt() {
        return shared;
    }
    let sandbox = job.sandbox.map_or(request.sandbox, |sandbox| sandbox.min(request.sandbox));
    let Some(settings) = &request.autopilot else {
        return StartRequest { sandbox: Some(sandbox), ..shared };
    };
    let (skills, skills_mode) = (&request.skills, job.skills_mode.unwrap_or(request.skills.mode));
    let writes = sandbox > Sandbox::ReadOnly;
    let level = job.thinking_level.map_or_else(Level::default, |level| settings.level(level).clone());
    let seconds = |limit: Option<std::time::Duration>| limit.map(|limit| limit.as_secs_f64());
    let (idle_s, command_s) = (seconds(request.limits.idle), seconds(request.limits.command));
    StartRequest {
        sandbox: (abilities.work == WorkKind::Child).then_some(sandbox),
        role: Some(request.role.clone()),
        network: writes && request.network,
        add_dirs: if writes { request.add_dirs.clone() } else { Vec::new() },
        model: request.model.clone().or(level.model),
        reasoning_effort: request.reasoning_effort.clone().or(level.reasoning_effort),
        config_overrides: request
            .config_overrides
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect(),
        skills_mode: Some(skills_mode),
        skills: if skills_mode == SkillsMode::Explicit { skills.names.clone() } else { Vec::new() },
        max_skills: job.max_skills.or(Some(skills.max)),
        include_repo_skills: Some(skills.include_repo),
        include_global_skills: Some(skills.include_global),
        limits: RequestedLimits { idle_s, command_s, hard_s: None },
        output_schema: (job.id == Plan::PLANNER).then(|| planner::schema(settings)),
        ..shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::testing::request;
    use crate::autopilot::decide;
    use crate::model::{Autopilot, Planner};

    fn of_plan() -> Request {
        let level = |model: &str, effort: &str| Level {
            model: Some(model.to_owned()),
            reasoning_effort: Some(effort.to_owned()),
        };
        let settings = Autopilot {
            planner: Planner::Rules,
            max_agents: 3,
            max_parallel: 2,
            plan_only: false,
            low: level("small", "low"),
            medium: level("small", "medium"),
            high: level("large", "high"),
        };
        Request {
            autopilot: Some(Box::new(settings)),
            sandbox: Sandbox::WorkspaceWrite,
            network: true,
            add_dirs: vec!["/srv/data".into()],
            ..request()
        }
    }

    fn jobs(request: &Request) -> Vec<StartRequest> {
        let jobs = decide::plan("mend it", 3, Sandbox::DangerFullAccess, &request.skills);
        jobs.iter().map(|job| job_request(request, job, Vec::new(), None)).collect()
    }

    #[test]
    fn a_job_gets_the_access_of_its_plan_and_the_model_of_its_level() {
        let told = |one: &StartRequest| {
            let model = one.model.as_deref().unwrap_or("-");
            let effort = one.reasoning_effort.as_deref().unwrap_or("-");
            format!("{} {} {} {model} {effort}", one.sandbox.unwrap(), one.network, one.add_dirs.len())
        };
        let all = |request: &Request| jobs(request).iter().map(told).collect::<Vec<_>>();
        assert_eq!(
            all(&of_plan()),
            [
                "read-only false 0 small low",
                "workspace-write true 1 large high",
                "workspace-write true 1 small low"
            ]
        );
        let asked = Request {
            model: Some("mine".into()),
            reasoning_effort: Some("xhigh".into()),
            sandbox: Sandbox::ReadOnly,
            ..of_plan()
        };
        assert_eq!(all(&asked), ["read-only false 0 mine xhigh"; 3]);
    }

    #[test]
    fn only_the_planner_answers_in_the_form_of_a_plan() {
        let request = of_plan();
        assert!(jobs(&request).iter().all(|one| one.output_schema.is_none()));
        let planner = planner::job("mend it", request.autopilot.as_ref().unwrap(), request.sandbox);
        assert!(job_request(&request, &planner, Vec::new(), None).output_schema.is_some());
    }
}
