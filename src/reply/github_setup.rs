//! `registry_info` with the guide to GitHub for Codex Cloud.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::reply::next_steps::{NextCall, next_line};
use crate::reply::registry_info::RegistryMeta;
use crate::reply::text_layout::{Page, Section};
use crate::tasks::github_setup;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct GitHubSetup {
    /// All steps, as Markdown.
    pub(crate) guide: String,
    steps: Vec<SetupStep>,
    /// A task for the cloud that shows whether it worked.
    verification_task: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SetupStep {
    step: u32,
    title: String,
    /// Markdown.
    instructions: String,
}

impl GitHubSetup {
    pub(crate) fn of(guide: github_setup::SetupGuide) -> (RegistryMeta, Self) {
        let step = |one: github_setup::SetupStep| SetupStep {
            step: one.step,
            title: one.title,
            instructions: one.instructions,
        };
        let meta = RegistryMeta {
            repository: Some(guide.repository),
            tech_stack: Some(guide.tech_stack),
            ..RegistryMeta::default()
        };
        let steps = guide.steps.into_iter().map(step).collect();
        (meta, Self { guide: guide.guide, steps, verification_task: guide.verification_task })
    }

    /// The task that shows whether the set-up works.
    pub(crate) fn next(&self) -> Vec<NextCall> {
        let arguments = json!({ "env_id": "...", "task": self.verification_task });
        vec![NextCall::new("_codex_cloud_submit", arguments, "checks the set-up, once the steps are done")]
    }

    /// The whole reply as text.
    pub(crate) fn page(&self, tool: &str, meta: &RegistryMeta, next: &[NextCall]) -> Page {
        let of = |name: &str, value: &Option<String>| match value {
            Some(value) => format!("{name}: {value}\n"),
            None => String::new(),
        };
        let head = format!(
            "{tool}\nstatus: {} steps\n{}{}verification_task: {}\n",
            self.steps.len(),
            of("repository", &meta.repository),
            of("tech_stack", &meta.tech_stack),
            self.verification_task,
        );
        let guide = Section { title: "guide", body: self.guide.clone() };
        Page { before: head, sections: vec![guide], after: of("notice", &meta.notice) + &next_line(next) }
    }
}
