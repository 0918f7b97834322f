//! Requests for tests of adapters.

use std::path::PathBuf;

use crate::model::{AgentName, Limits, Request, Resumed, RunId, Sandbox, TaskId, Timestamp, Usage, WorkKind};

/// A plain Codex request in a git repository.
pub(crate) fn request() -> Request {
    Request {
        version: Request::VERSION,
        task_id: TaskId::from_random([0; 8]),
        run_id: RunId::from_parts("2026-11-15_093000123", [0; 6]),
        created_at: Timestamp::from_millis(0),
        home: None,
        agent: AgentName::Codex,
        work: WorkKind::Child,
        env_id: None,
        attempts: None,
        branch: None,
        starting_diff: None,
        job_of: None,
        autopilot: None,
        earlier: Vec::new(),
        by_client: false,
        skills: crate::model::SkillsRequest::default(),
        program: PathBuf::from("/opt/codex"),
        task: "fix the test".to_owned(),
        role: "specialist".to_owned(),
        cwd: PathBuf::from("/home/dev/project"),
        after: None,
        worktree: None,
        git_root: Some(PathBuf::from("/home/dev/project")),
        sandbox: Sandbox::ReadOnly,
        network: false,
        skip_git_repo_check: false,
        add_dirs: Vec::new(),
        temporary: true,
        jail: None,
        model: None,
        reasoning_effort: None,
        config_overrides: Vec::new(),
        output_schema: None,
        limits: Limits { idle: None, hard: None, command: None },
        alias: None,
        idempotency_key: None,
        resume: None,
        env_from: Vec::new(),
        env_names: Vec::new(),
        within: Vec::new(),
        kill_level: None,
        max_stream_bytes: 1 << 30,
        inline: crate::model::InlineLimits::default(),
        user: "dev".to_owned(),
    }
}

/// A request that resumes `thread`.
pub(crate) fn resumed(thread: &str, usage_before: Option<Usage>) -> Request {
    let thread_id = thread.parse().expect("a thread id");
    Request { resume: Some(Resumed { thread_id, parent_task_id: None, usage_before }), ..request() }
}
