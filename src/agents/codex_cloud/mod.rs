//! The `codex_cloud` agent: hosted work through `codex cloud`.
//!
//! The program has no cancel and prints JSON for `list` alone, so an id is taken from the printed
//! address and a state from the first line of `status`.

use serde::Deserialize;

use crate::agents::{
    Abilities, Edits, HostedAgent, HostedAnswer, HostedCall, Program, RemoteJob, RemoteState, TaskText,
};
use crate::model::{FailureCode, Fault, Request, WorkKind};
use crate::text::plain;

const LONGEST_MESSAGE: usize = 300;

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
};

pub(crate) struct CodexCloud;

impl HostedAgent for CodexCloud {
    fn submit(&self, request: &Request, prompt: &str) -> HostedCall {
        let env = request.env_id.as_deref().unwrap_or_default();
        // The service titles a task by its first line, and `list` shows nothing else of ours.
        let stdin = format!("{}\n\n{prompt}", title_mark(request));
        let mut args = vec!["exec", "--env", env];
        let attempts = request.attempts.map(|attempts| attempts.to_string());
        args.extend(attempts.iter().flat_map(|attempts| ["--attempts", attempts]));
        // The program would look for the branch where it stands, which is in no repository.
        args.extend(request.branch.iter().flat_map(|branch| ["--branch", branch]));
        args.push("-");
        HostedCall { stdin, ..call(&args) }
    }

    fn submitted(&self, answer: &HostedAnswer) -> Result<RemoteJob, Fault> {
        let url = answer.stdout.split_whitespace().find(|word| word.contains("/tasks/"));
        match url {
            Some(url) if answer.exit.succeeded() => Ok(job(url)),
            _ => Err(refused("submit", answer)),
        }
    }

    fn list(&self, request: &Request) -> HostedCall {
        let env = request.env_id.as_deref().unwrap_or_default();
        call(&["list", "--env", env, "--limit", "20", "--json"])
    }

    fn find(&self, request: &Request, answer: &HostedAnswer) -> Result<Option<RemoteJob>, Fault> {
        let listed: Listed = serde_json::from_str(&answer.stdout).map_err(|_| refused("list", answer))?;
        let mark = title_mark(request);
        let found = listed.tasks.into_iter().find(|task| task.title.contains(&mark));
        Ok(found.map(|task| RemoteJob { id: task.id, url: task.url }))
    }

    fn poll(&self, job: &RemoteJob) -> HostedCall {
        call(&["status", &job.id])
    }

    fn polled(&self, answer: &HostedAnswer) -> Result<RemoteState, Fault> {
        // The exit code is 1 for pending tasks too; only the first line tells.
        let summary = plain::line(answer.stdout.lines().next().unwrap_or_default(), LONGEST_MESSAGE);
        let ended = |result| Ok(RemoteState::Ended { result, summary: summary.clone() });
        match summary.split_once(']').map(|(state, _)| state) {
            Some("[PENDING") => Ok(RemoteState::Working(summary)),
            Some("[READY" | "[APPLIED") => ended(Ok(())),
            Some("[ERROR") => ended(Err(Fault::new(FailureCode::ToolError, "the cloud task failed")
                .hint("its page tells why; start the task again"))),
            _ => Err(refused("poll", answer)),
        }
    }

    fn fetch(&self, job: &RemoteJob) -> HostedCall {
        call(&["diff", &job.id])
    }

    fn fetched(&self, answer: &HostedAnswer) -> Result<Option<String>, Fault> {
        match answer.exit.succeeded() {
            true => Ok(Some(answer.stdout.clone()).filter(|diff| !diff.trim().is_empty())),
            false if answer.stderr.contains("No diff available") => Ok(None),
            false => Err(refused("fetch the changes of", answer)),
        }
    }
}

#[derive(Debug, Deserialize)]
struct Listed {
    tasks: Vec<ListedTask>,
}

#[derive(Debug, Deserialize)]
struct ListedTask {
    id: String,
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    title: String,
}

fn call(args: &[&str]) -> HostedCall {
    let args = ["cloud"].iter().chain(args).map(|&arg| arg.to_owned()).collect();
    HostedCall { args, stdin: String::new() }
}

fn title_mark(request: &Request) -> String {
    format!("[{}]", request.task_id)
}

fn job(url: &str) -> RemoteJob {
    let id = url.rsplit('/').next().unwrap_or(url);
    RemoteJob { id: id.to_owned(), url: Some(url.to_owned()) }
}

fn refused(what: &str, answer: &HostedAnswer) -> Fault {
    let said = [&answer.stderr, &answer.stdout].into_iter().find_map(|text| plain::last_line(text));
    let said = said.unwrap_or_else(|| "it said nothing".to_owned());
    let message = format!("Codex could not {what} the cloud task: {}", plain::line(&said, LONGEST_MESSAGE));
    if said.contains("Not signed in") || said.contains("401") {
        return Fault::new(FailureCode::Auth, message).hint("run `codex login`");
    }
    let code = if said.contains("429") { FailureCode::RateLimited } else { FailureCode::ToolError };
    Fault::new(code, message)
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
    fn a_submission_is_known_by_the_printed_address() {
        let printed = answer(0, "https://chatgpt.com/codex/tasks/task_e_000001\n", "");
        assert_eq!(CodexCloud.submitted(&printed).unwrap().id, "task_e_000001");
        let refused = CodexCloud.submitted(&answer(1, "", "Not signed in. Please run 'codex login'"));
        assert_eq!(refused.unwrap_err().code, FailureCode::Auth);
    }

    #[test]
    fn a_state_is_the_first_line_whatever_the_exit_code() {
        let polled = |code, line: &str| CodexCloud.polled(&answer(code, line, "Error: 500"));
        assert!(matches!(polled(1, "[PENDING] fix it"), Ok(RemoteState::Working(_))));
        assert!(matches!(polled(0, "[READY] fix it\n+1/-0"), Ok(RemoteState::Ended { result: Ok(()), .. })));
        assert!(matches!(polled(1, "[ERROR] fix it"), Ok(RemoteState::Ended { result: Err(_), .. })));
        assert!(polled(1, "").is_err());
    }

    #[test]
    fn a_lost_submission_is_found_by_its_title() {
        let request = request();
        let listed = |title: &str| {
            let tasks =
                serde_json::json!({ "tasks": [{ "id": "task_e_7", "title": title }], "cursor": null });
            CodexCloud.find(&request, &answer(0, &tasks.to_string(), "")).unwrap()
        };
        let title = CodexCloud.submit(&request, "fix it").stdin.lines().next().unwrap().to_owned();
        assert_eq!(listed(&title).unwrap().id, "task_e_7");
        assert_eq!(listed("another task"), None);
    }
}
