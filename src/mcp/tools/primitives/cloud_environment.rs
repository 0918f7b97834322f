//! What the cloud needs before a task: `_codex_cloud_list_environments` and `_codex_cloud_github_setup`.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::mcp::protocol::{Call, Reply, arguments, failure};
use crate::mcp::tools::field::{Field, Kind};
use crate::mcp::tools::start::Format;
use crate::mcp::tools::{Effect, FORMAT, Tool};
use crate::reply::{Category, Envelope, EnvironmentList, GitHubSetup, RegistryMeta, advertised};
use crate::tasks::{environments, github_setup};

pub(crate) const LIST: Tool = Tool {
    name: "_codex_cloud_list_environments",
    title: "List environments of Codex Cloud",
    about: "Lists known environments for _codex_cloud_submit, each with its source: listed here, or seen in the cloud; \
            Codex has no full list. Like an address book. Returns ids such as env_myproject.",
    search_hint: "list codex cloud environments",
    at_hand: false,
    internal: true,
    fields: &[FORMAT],
    category: Some(Category::RegistryInfo),
    output: advertised::<Envelope<RegistryMeta, EnvironmentList>>,
    effect: Effect::Reads,
    waits: false,
    answer: list,
};

pub(crate) const GITHUB_SETUP: Tool = Tool {
    name: "_codex_cloud_github_setup",
    title: "Guide to GitHub for Codex Cloud",
    about: "Guides through giving Codex Cloud access to a GitHub repository, like a checklist; changes nothing. Returns \
            steps and a verification task for _codex_cloud_submit. repository: owner/name.",
    search_hint: "set up github access for codex cloud",
    fields: &[
        Field::new("repository", Kind::Text, "owner/name or its address. Default: the git remote on GitHub.")
            .also(&["repo_url", "repo"]),
        Field::new("tech_stack", Kind::Text, "node, python, rust, go, … Default: found from the files."),
        FORMAT,
    ],
    output: advertised::<Envelope<RegistryMeta, GitHubSetup>>,
    answer: guide,
    ..LIST
};

#[derive(Debug, Deserialize)]
struct Ask {
    repository: Option<String>,
    tech_stack: Option<String>,
    #[serde(default)]
    format: Format,
}

fn list(call: &mut Call, given: Map<String, Value>) -> Result<Reply, Failure> {
    let asked: Ask = arguments(call.tool, given)?;
    let known = environments::list(&call.context).map_err(|error| failure(&error))?;
    let (meta, data) = EnvironmentList::of(&known);
    let meta = RegistryMeta { notice: call.notice(&[]), ..meta };
    let next = data.next();
    let text = data.page(call.tool.name, &meta, &next);
    Ok(call.envelope(meta, data, text)?.suggesting(&next).in_format(asked.format))
}

fn guide(call: &mut Call, given: Map<String, Value>) -> Result<Reply, Failure> {
    let asked: Ask = arguments(call.tool, given)?;
    let guide = github_setup::guide(&call.context, asked.repository.as_deref(), asked.tech_stack.as_deref());
    let (meta, data) = GitHubSetup::of(guide.map_err(|error| failure(&error))?);
    let meta = RegistryMeta { notice: call.notice(&[]), ..meta };
    let next = data.next();
    let text = data.page(call.tool.name, &meta, &next);
    Ok(call.envelope(meta, data, text)?.suggesting(&next).in_format(asked.format).whole())
}
