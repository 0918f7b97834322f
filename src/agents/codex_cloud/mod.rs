//! The `codex_cloud` agent: hosted work through `codex cloud`.
//!
//! The program has no cancel and prints JSON for `list` alone, so an id is taken from the printed
//! address and a state from the first line of `status`.

mod refusals;

use serde::Deserialize;

use crate::agents::codex_cloud::refusals::{Certainty, interruption, refusal};
use crate::agents::{
    Abilities, Edits, HostedAgent, HostedAnswer, HostedCall, Listed, Program, RemoteState, Submitted,
    TaskText,
};
use crate::environments::Label;
use crate::model::{FailureCode, Fault, RemoteJob, Request, TaskId, WorkKind};
use crate::text::plain;

const LONGEST_LINE: usize = 300;
const LONGEST_TITLE: usize = 80;

pub(super) const ABILITIES: Abilities = Abilities {
    work: WorkKind::Hosted,
    task: TaskText::Prompt,
    program: Program::Codex,
    resumes: false,
    needs_git: false,
    has_own_sandbox: true,
    environment: &["CODEX_HOME"],
    edits: Edits::Unreported,
    keeps_rollouts: false,
    reads_skills: false,
};

pub(crate) struct CodexCloud;

impl HostedAgent for CodexCloud {
    fn submit(&self, request: &Request, prompt: &str) -> HostedCall {
        let env = request.env_id.as_deref().unwrap_or_default();
        let attempts = request.attempts.map(|attempts| attempts.to_string());
        let mut args = vec!["exec", "--env", env];
        args.extend(attempts.iter().flat_map(|attempts| ["--attempts", attempts]));
        // The program would look for a branch where it stands, which is in no repository.
        args.extend(request.branch.iter().flat_map(|branch| ["--branch", branch]));
        args.push("-");
        // The service titles a task by its first line, and `list` shows nothing else of ours.
        let title = plain::line(&request.task, LONGEST_TITLE);
        let stdin = format!("{} {title}\n\n{prompt}", title_mark(request));
        HostedCall { stdin, ..call(&args) }
    }

    fn submitted(&self, answer: &HostedAnswer) -> Submitted {
        let url = answer.stdout.split_whitespace().find(|word| word.contains("/tasks/"));
        if let Some(url) = url {
            return Submitted::Job(job(url));
        }
        match refusal(answer) {
            (fault, Certainty::Refused) => Submitted::Refused(fault),
            (fault, Certainty::Unknown) => Submitted::Unknown(fault),
        }
    }

    fn list(&self, request: &Request, after: Option<&str>) -> HostedCall {
        let env = request.env_id.as_deref().unwrap_or_default();
        let mut args = vec!["list", "--env", env, "--limit", "20", "--json"];
        args.extend(after.iter().flat_map(|after| ["--cursor", after]));
        call(&args)
    }

    fn find(&self, request: &Request, answer: &HostedAnswer) -> Result<Listed, Fault> {
        let listed: TaskList =
            serde_json::from_str(&answer.stdout).map_err(|_| interruption("list the cloud tasks", answer))?;
        let mark = title_mark(request);
        let found = listed.tasks.iter().find(|task| task.title.contains(&mark));
        let job = found.map(|task| RemoteJob { id: task.id.clone(), url: task.url.clone() });
        let label =
            |task: ListedTask| Some(Label { id: task.environment_id, label: task.environment_label? });
        let environments = listed.tasks.into_iter().filter_map(label).collect();
        Ok(Listed { job, environments, next: listed.cursor.filter(|cursor| !cursor.starts_with('-')) })
    }

    fn poll(&self, job: &RemoteJob) -> HostedCall {
        call(&["status", &job.id])
    }

    fn polled(&self, answer: &HostedAnswer) -> Result<RemoteState, Fault> {
        // The exit code is 1 for pending tasks too; only the first line tells.
        let mut lines = answer.stdout.lines();
        let first = plain::line(lines.next().unwrap_or_default(), LONGEST_LINE);
        let (state, title) = first.split_once("] ").unwrap_or((first.trim_end_matches(']'), ""));
        let title = without_mark(title);
        // The environment and the age change all the time; the last line counts the changes.
        let changes =
            lines.last().map(|line| plain::line(line, LONGEST_LINE)).filter(|line| !line.is_empty());
        let summary = changes.map_or_else(|| title.to_owned(), |changes| format!("{title}: {changes}"));
        let ended = |result| Ok(RemoteState::Ended { result, summary: summary.clone() });
        match state {
            "[PENDING" => Ok(RemoteState::Working(format!("pending in the cloud: {title}"))),
            "[READY" | "[APPLIED" => ended(Ok(())),
            "[ERROR" => {
                ended(Err(Fault::new(FailureCode::ToolError, "the cloud task failed or was stopped there")
                    .hint("its page tells why")))
            }
            _ => Err(interruption("poll the cloud task", answer)),
        }
    }

    fn fetch(&self, job: &RemoteJob, attempt: u32) -> HostedCall {
        match attempt {
            1 => call(&["diff", &job.id]),
            other => call(&["diff", "--attempt", &other.to_string(), &job.id]),
        }
    }

    fn fetched(&self, answer: &HostedAnswer) -> Result<Option<String>, Fault> {
        match answer.exit.succeeded() {
            true => Ok(Some(answer.stdout.clone()).filter(|diff| !diff.trim().is_empty())),
            false if answer.stderr.contains("No diff available") => Ok(None),
            false => Err(interruption("fetch the changes of the cloud task", answer)),
        }
    }
}

#[derive(Debug, Deserialize)]
struct TaskList {
    tasks: Vec<ListedTask>,
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Debug, Deserialize)]
struct ListedTask {
    id: String,
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    title: String,
    #[serde(default)]
    environment_id: Option<String>,
    #[serde(default)]
    environment_label: Option<String>,
}

fn call(args: &[&str]) -> HostedCall {
    let args = ["cloud"].iter().chain(args).map(|&arg| arg.to_owned()).collect();
    HostedCall { args, stdin: String::new() }
}

fn title_mark(request: &Request) -> String {
    format!("[{}]", request.task_id)
}

/// The title as the user knows it.
fn without_mark(title: &str) -> &str {
    let marked = title.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    marked.filter(|(mark, _)| TaskId::begins(mark)).map_or(title, |(_, rest)| rest)
}

fn job(url: &str) -> RemoteJob {
    let id = url.trim_end_matches('/').rsplit('/').next().unwrap_or(url);
    RemoteJob { id: id.to_owned(), url: Some(url.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::testing::request;
    use crate::model::Exit;

    fn answer(code: i32, stdout: &str, stderr: &str) -> HostedAnswer {
        HostedAnswer { exit: Exit::Code(code), stdout: stdout.into(), stderr: stderr.into() }
    }

    #[test]
    fn a_submission_says_all_that_was_asked_for() {
        let request = Request {
            env_id: Some("env_1".into()),
            attempts: Some(3),
            branch: Some("feature/x".into()),
            ..request()
        };
        let call = CodexCloud.submit(&request, "fix it");
        let args = ["cloud", "exec", "--env", "env_1", "--attempts", "3", "--branch", "feature/x", "-"];
        assert_eq!(call.args, args);
        assert!(call.stdin.ends_with("\n\nfix it"), "{}", call.stdin);
    }

    #[test]
    fn a_submission_is_known_by_the_printed_address() {
        let address = "https://chatgpt.com/codex/tasks/task_e_000001\n";
        // Also if the program was ended by a limit after it printed that.
        let killed = HostedAnswer { exit: Exit::Signal(9), ..answer(0, address, "") };
        for printed in [answer(0, address, ""), killed] {
            let Submitted::Job(job) = CodexCloud.submitted(&printed) else { panic!("{printed:?}") };
            assert_eq!(job.id, "task_e_000001");
        }
    }

    #[test]
    fn a_state_is_the_first_line_whatever_the_exit_code() {
        let polled = |code, text: &str| CodexCloud.polled(&answer(code, text, "Error: 500"));
        assert!(matches!(polled(1, "[PENDING] fix it"), Ok(RemoteState::Working(_))));
        let Ok(RemoteState::Ended { result: Ok(()), summary }) =
            polled(0, "[READY] [T-cloud-0123456789ab] fix it\ne  •  4s ago\n+1/-0 • 1 file")
        else {
            panic!("not ready")
        };
        assert_eq!(summary, "fix it: +1/-0 • 1 file");
        assert!(matches!(polled(1, "[ERROR] fix it"), Ok(RemoteState::Ended { result: Err(_), .. })));
        assert!(polled(1, "").is_err());
    }

    #[test]
    fn a_lost_submission_is_found_by_its_title() {
        let request = request();
        let listed = |title: &str| {
            let tasks = serde_json::json!({
                "tasks": [{ "id": "task_e_7", "title": title, "environment_id": null, "environment_label": "shop" }],
                "cursor": "more",
            });
            CodexCloud.find(&request, &answer(0, &tasks.to_string(), "")).unwrap()
        };
        let title = CodexCloud.submit(&request, "fix it").stdin.lines().next().unwrap().to_owned();
        assert_eq!(listed(&title).job.unwrap().id, "task_e_7");
        let other = listed("another task");
        let next = CodexCloud.list(&request, other.next.as_deref());
        assert_eq!(next.args.last().unwrap(), "more");
        assert_eq!((other.job, other.environments), (None, vec![Label { id: None, label: "shop".into() }]));
    }
}
