//! Decides whether a task is worth several runs, and plans those by fixed rules. Pure.

use crate::model::{AgentName, Decision, Job, Sandbox, SkillsMode, SkillsRequest, ThinkingLevel};

/// A task of so many words may be one small step.
const FEW_WORDS: usize = 12;

const QUESTION_WORDS: [&str; 17] = [
    "what", "why", "how", "when", "where", "who", "which", "is", "are", "was", "does", "do", "did", "can",
    "explain", "describe", "tell",
];
/// Changes that need no look around and no separate check.
const SMALL_CHANGES: [&str; 7] = ["typo", "rename", "bump", "comment", "whitespace", "spelling", "reword"];

/// Several runs pay off for work that is neither a question nor one small change.
pub(super) fn decide(task: &str) -> Decision {
    let words: Vec<String> = task
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
        .filter(|word| !word.is_empty())
        .collect();
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let is_one_line = task.trim().lines().count() == 1;
    let asks = words.first().is_some_and(|first| QUESTION_WORDS.contains(&first.as_str()));
    let no = |reason: &str| Decision { should_delegate: false, reason: reason.to_owned() };
    if is_one_line && (task.trim().ends_with('?') || asks && !words.iter().any(|word| word == "then")) {
        return no("the task is a question: one run answers it");
    }
    if is_one_line && words.len() <= FEW_WORDS && has(&SMALL_CHANGES) {
        return no("the task is one small change: one run makes it");
    }
    let reason = "the task changes something: it is looked at, done and checked in separate runs";
    Decision { should_delegate: true, reason: reason.to_owned() }
}

/// Look, change, check. With fewer agents, the change is the last to go and the look the first.
pub(super) fn plan(task: &str, max_agents: usize, sandbox: Sandbox, skills: &SkillsRequest) -> Vec<Job> {
    let job = |id: &str, title: &str, what: &str, sandbox: Sandbox, level| Job {
        id: id.to_owned(),
        title: title.to_owned(),
        task: format!("{what}\n\nThe task of all steps together:\n\n{}", task.trim()),
        agent: AgentName::Codex,
        after: Vec::new(),
        sandbox: Some(sandbox),
        thinking_level: Some(level),
        // Whoever checks needs no instructions for making.
        skills_mode: Some(if id == "verify" { SkillsMode::None } else { skills.mode }),
        max_skills: Some(skills.max),
    };
    let mut jobs = vec![
        job("scan", "Repo scan + approach", SCAN, Sandbox::ReadOnly, ThinkingLevel::Low),
        job("implement", "Implement requested change", IMPLEMENT, sandbox, ThinkingLevel::High),
        job("verify", "Verify via tests/lint/build", VERIFY, sandbox, ThinkingLevel::Low),
    ];
    if max_agents < 3 {
        jobs.remove(0);
    }
    jobs.truncate(max_agents);
    let ids: Vec<String> = jobs.iter().map(|job| job.id.clone()).collect();
    for (job, before) in jobs.iter_mut().skip(1).zip(ids) {
        job.after.push(before);
    }
    jobs
}

const SCAN: &str = "\
First step of several: look around for the task below, and change nothing. Report which files matter and why, the \
approach you recommend, what could go wrong, and which commands test, lint and build this project.";
const IMPLEMENT: &str = "\
Do the task below completely. If earlier results are given, check what you rely on. Run the tests that your change \
touches.";
const VERIFY: &str = "\
Last step of several: check that the task below is done. Read the change, run the project's tests, linter and \
build as far as they exist, and report each command and its result. Correct what is plainly broken and small; \
report everything else.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_and_small_changes_are_not_worth_several_runs() {
        for (task, expected) in [
            ("What does the parser do with trailing commas?", false),
            ("explain how the queue works", false),
            ("Fix the typo in README.md", false),
            ("Rename `foo` to `bar`", false),
            ("Add a retry to the HTTP client and test it", true),
            ("Implement the search page", true),
            ("Find out why the build is slow, then fix it", true),
            ("Is the cache right?\nIf not, mend it and add tests.", true),
            (
                "Rename the module, move its tests, change all callers and update the documentation of both",
                true,
            ),
        ] {
            assert_eq!(decide(task).should_delegate, expected, "{task}");
        }
    }

    #[test]
    fn a_plan_has_as_many_jobs_as_allowed() {
        let told = |most, sandbox| {
            let jobs = plan(" mend it ", most, sandbox, &SkillsRequest::default());
            let told = |job: &Job| format!("{}<{} {}", job.id, job.after.join(","), job.sandbox.unwrap());
            jobs.iter().map(told).collect::<Vec<_>>().join("; ")
        };
        assert_eq!(
            told(5, Sandbox::WorkspaceWrite),
            "scan< read-only; implement<scan workspace-write; verify<implement workspace-write"
        );
        assert_eq!(told(2, Sandbox::ReadOnly), "implement< read-only; verify<implement read-only");
        assert_eq!(told(1, Sandbox::WorkspaceWrite), "implement< workspace-write");
        assert!(
            plan(" mend it ", 1, Sandbox::ReadOnly, &SkillsRequest::default())[0]
                .task
                .ends_with(":\n\nmend it")
        );
    }
}
