//! Writes a guide: how Codex Cloud gets to work with a repository on GitHub. Nothing is changed by it.

mod repository;
mod tech_stacks;

use std::path::Path;

use crate::context::{Context, TaskError};
use crate::git;
use crate::host::paths;
use crate::tasks::github_setup::repository::GitHubRepository;
use crate::tasks::github_setup::tech_stacks::TechStack;

const VERIFICATION: &str = "Create a branch `codex/access-check`, add a file `ACCESS_CHECK.md` with today's date, commit it, push the \
     branch, and open a draft pull request titled `Access check`. Say which of these steps failed, with the command and its error. Change \
     nothing else.";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SetupGuide {
    /// `https://github.com/owner/name`.
    pub(crate) repository: String,
    pub(crate) tech_stack: String,
    /// All of it, as Markdown.
    pub(crate) guide: String,
    pub(crate) steps: Vec<SetupStep>,
    /// A task for the cloud that shows whether it worked.
    pub(crate) verification_task: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SetupStep {
    pub(crate) step: u32,
    pub(crate) title: String,
    pub(crate) instructions: String,
}

/// The guide for `repository`, or for the remote of the caller's checkout; and for `tech_stack`, or for what its files
/// look like.
pub(crate) fn guide(
    context: &Context,
    repository: Option<&str>,
    tech_stack: Option<&str>,
) -> Result<SetupGuide, TaskError> {
    let root = paths::git_root(&context.place);
    let of_checkout = || {
        let remotes = root.as_deref().map(git::remotes).unwrap_or_default();
        GitHubRepository::of_remotes(&remotes).ok_or_else(|| TaskError::NoGitHubRemote(context.place.clone()))
    };
    let repository = match repository {
        Some(named) => named_repository(named)?,
        None => of_checkout()?,
    };
    let files = root.as_deref().unwrap_or(&context.place);
    let stack = match tech_stack {
        Some(named) => named_stack(named, files)?,
        None => tech_stacks::detect(files),
    };
    Ok(written(&repository, stack))
}

/// Refuses what [`guide`] would refuse.
pub(crate) fn check(
    context: &Context,
    repository: Option<&str>,
    tech_stack: Option<&str>,
) -> Result<(), TaskError> {
    repository.map(named_repository).transpose()?;
    tech_stack.map(|named| named_stack(named, &context.place)).transpose()?;
    Ok(())
}

fn named_repository(named: &str) -> Result<GitHubRepository, TaskError> {
    GitHubRepository::parse(named).ok_or_else(|| TaskError::BadRepository(named.to_owned()))
}

fn named_stack(named: &str, files: &Path) -> Result<&'static TechStack, TaskError> {
    let known = || TaskError::BadTechStack { given: named.to_owned(), known: tech_stacks::names() };
    tech_stacks::named(named, files).ok_or_else(known)
}

fn written(repository: &GitHubRepository, stack: &TechStack) -> SetupGuide {
    let steps: Vec<SetupStep> = steps(repository, stack)
        .into_iter()
        .zip(1..)
        .map(|((title, instructions), step)| SetupStep { step, title: title.to_owned(), instructions })
        .collect();
    let parts =
        steps.iter().map(|step| format!("## Step {}: {}\n\n{}", step.step, step.title, step.instructions));
    let head = format!("# Codex Cloud and {repository}\n\nFor a project in {}.", stack.title);
    let guide = [head].into_iter().chain(parts).collect::<Vec<_>>().join("\n\n") + "\n";
    SetupGuide {
        repository: repository.url(),
        tech_stack: stack.name.to_owned(),
        guide,
        steps,
        verification_task: VERIFICATION.to_owned(),
    }
}

fn steps(repository: &GitHubRepository, stack: &TechStack) -> Vec<(&'static str, String)> {
    let GitHubRepository { owner, name } = repository;
    vec![
        (
            "Connect the repository to Codex",
            format!(
                "Open https://chatgpt.com/codex/settings/connectors and connect GitHub. Install the ChatGPT Codex Connector for \
                 `{owner}`, and give it access to `{name}` alone (**Only select repositories**). With this, Codex Cloud checks the \
                 repository out and opens pull requests from its page. The token below is needed only if the agent itself is to \
                 push or to use the GitHub API."
            ),
        ),
        (
            "Create a fine-grained token",
            format!(
                "Open https://github.com/settings/personal-access-tokens/new and set:\n\n\
                 - **Token name**: `codex-cloud-{name}`\n\
                 - **Resource owner**: `{owner}`\n\
                 - **Expiration**: 90 days or less\n\
                 - **Repository access**: **Only select repositories**, `{owner}/{name}`\n\
                 - **Repository permissions**:\n\
                 \x20 - Contents: **Read and write** (clone, commit, push)\n\
                 \x20 - Pull requests: **Read and write** (open and update)\n\
                 \x20 - Issues: **Read-only** (leave it out if tasks do not refer to issues)\n\
                 \x20 - Workflows: **Read and write** only if tasks change `.github/workflows`\n\
                 \x20 - Metadata: **Read-only** (set by GitHub)\n\n\
                 Leave all other permissions at **No access**. If `{owner}` is an organization, an owner may have to approve \
                 the token. Copy it; GitHub shows it once."
            ),
        ),
        (
            "Create the environment",
            format!(
                "Open https://chatgpt.com/codex/settings/environments, choose **Create environment**, and select \
                 `{owner}/{name}`. Add:\n\n\
                 | kind | name | value |\n| --- | --- | --- |\n\
                 | secret | `GITHUB_TOKEN` | the token of step 2 |\n\
                 | environment variable | `GITHUB_REPOSITORY` | `{owner}/{name}` |\n{}\n\
                 Secrets exist only while the setup script runs. The agent can still use what that script leaves on disk, so the \
                 token must allow nothing that the agent may not do.\n\n\
                 Under **Agent internet access**, choose **On** with **Common dependencies**, and add `github.com` and \
                 `api.github.com`. Pushing needs all HTTP methods.",
                stack
                    .variables
                    .iter()
                    .map(|(name, value)| format!("| environment variable | `{name}` | `{value}` |\n"))
                    .collect::<String>(),
            ),
        ),
        (
            "Add the setup script",
            format!(
                "It runs once in a new container, with internet access:\n\n```bash\nset -euo pipefail\n\
                 git config --global credential.helper store\n\
                 echo \"https://x-access-token:$GITHUB_TOKEN@github.com\" > ~/.git-credentials\n\
                 chmod 600 ~/.git-credentials\n\
                 git remote get-url origin > /dev/null 2>&1 || git remote add origin {}.git\n{}\n```",
                repository.url(),
                stack.setup,
            ),
        ),
        (
            "Add the maintenance script",
            format!(
                "It runs whenever a cached container is used again, after the branch is checked out:\n\n```bash\n\
                 set -euo pipefail\n{}\n```",
                stack.maintenance,
            ),
        ),
        (
            "Check that it works",
            format!(
                "List the environment here, so that it has a name (its id is at the end of the address of its settings):\n\n\
                 ```\ndelegator environments add ENV_ID --name {name} --repository {} --tech-stack {}\n```\n\n\
                 Then submit this task to it with `delegator run --agent codex_cloud --env-id ENV_ID --wait`:\n\n\
                 > {VERIFICATION}\n\n\
                 The project's own check in the container is `{}`. Close the pull request and delete the branch afterwards.",
                repository.url(),
                stack.name,
                stack.check,
            ),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_has_every_step_of_the_structure() {
        let repository = GitHubRepository::parse("octo/shop").unwrap();
        for name in tech_stacks::names() {
            let stack = tech_stacks::named(name, Path::new("/nowhere")).unwrap();
            let guide = written(&repository, stack);
            assert_eq!(guide.tech_stack, name);
            for (at, step) in guide.steps.iter().enumerate() {
                assert_eq!(step.step as usize, at + 1);
                assert!(
                    guide
                        .guide
                        .contains(&format!("## Step {}: {}\n\n{}", step.step, step.title, step.instructions))
                );
            }
            assert!(guide.guide.contains(stack.setup) && guide.guide.contains(stack.maintenance), "{name}");
            assert!(guide.guide.contains("`octo/shop`") && guide.guide.contains(&guide.verification_task));
        }
    }
}
