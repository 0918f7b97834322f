//! `registry_info` about the environments of Codex Cloud.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::environments::{self, Environments};
use crate::model::Timestamp;
use crate::reply::next_steps::{NextCall, next_line};
use crate::reply::registry_info::RegistryMeta;
use crate::text::plain;

/// The known environments.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EnvironmentList {
    pub(crate) environments: Vec<Environment>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Environment {
    /// What `env_id` takes.
    pub(crate) id: String,
    pub(crate) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) repository: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tech_stack: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<Timestamp>,
    /// How it became known: the user listed it, or a task of it was in the cloud's list.
    #[schemars(extend("enum" = ["environments.json", "codex cloud list"]))]
    pub(crate) source: &'static str,
}

/// What was done to the user's list.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EnvironmentChange {
    #[schemars(extend("enum" = ["add", "remove"]))]
    operation: &'static str,
    environment: Environment,
    /// The command that undoes it.
    pub(crate) undo: String,
}

impl Environment {
    pub(crate) fn of(known: &environments::Environment) -> Self {
        let line = |text: &String| plain::line(text, usize::MAX);
        Self {
            id: line(&known.id),
            name: line(&known.name),
            repository: known.repository.as_ref().map(line),
            tech_stack: known.tech_stack.as_ref().map(line),
            created_at: known.created_at,
            source: known.source.as_str(),
        }
    }
}

impl EnvironmentList {
    pub(crate) fn of(known: &Environments) -> (RegistryMeta, Self) {
        let environments: Vec<Environment> = known.rows.iter().map(Environment::of).collect();
        let meta = RegistryMeta {
            count: Some(environments.len()),
            source: Some(known.source.to_string_lossy().into_owned()),
            ..RegistryMeta::default()
        };
        (meta, Self { environments })
    }

    /// A task in the first environment, or how to get one.
    pub(crate) fn next(&self) -> Vec<NextCall> {
        vec![match self.environments.first() {
            Some(first) => NextCall::new(
                "_codex_cloud_submit",
                json!({ "env_id": first.id, "task": "..." }),
                "sends a task to the first one",
            ),
            None => {
                let arguments = json!({ "repository": "..." });
                NextCall::new("_codex_cloud_github_setup", arguments, "tells how to set one up")
            }
        }]
    }

    /// The whole reply as text.
    pub(crate) fn page(&self, tool: &str, meta: &RegistryMeta, next: &[NextCall]) -> String {
        let line = |one: &Environment| {
            let more =
                [&one.repository, &one.tech_stack].into_iter().flatten().map(|more| format!(", {more}"));
            format!("- {}: {}{} (from {})\n", one.id, one.name, more.collect::<String>(), one.source)
        };
        let lines: String = self.environments.iter().map(line).collect();
        let listed = if lines.is_empty() { String::new() } else { format!("environments:\n{lines}") };
        let source = meta.source.as_deref().unwrap_or_default();
        let notice = meta.notice.iter().map(|notice| format!("notice: {notice}\n")).collect::<String>();
        let known = self.environments.len();
        format!("{tool}\nstatus: {known} known\nsource: {source}\n{listed}{notice}{}", next_line(next))
    }
}

impl EnvironmentChange {
    pub(crate) fn added(added: &environments::Environment) -> Self {
        let environment = Environment::of(added);
        let undo = format!("delegator environments remove {}", quoted(&environment.id));
        Self { operation: "add", environment, undo }
    }

    pub(crate) fn removed(removed: &environments::Environment) -> Self {
        let environment = Environment::of(removed);
        let options = [
            ("name", Some(&environment.name)),
            ("repository", environment.repository.as_ref()),
            ("tech-stack", environment.tech_stack.as_ref()),
        ];
        let options: String = options
            .iter()
            .filter_map(|(name, value)| Some(format!(" --{name} {}", quoted((*value)?))))
            .collect();
        let undo = format!("delegator environments add {}{options}", quoted(&environment.id));
        Self { operation: "remove", environment, undo }
    }

    /// The whole reply as text.
    pub(crate) fn text(&self) -> String {
        let done = if self.operation == "add" { "listed" } else { "no longer listed" };
        format!("{}: {done}\nundo: `{}`\n", self.environment.id, self.undo)
    }
}

/// One word of a shell's command line.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@".contains(c);
    let plain = !text.is_empty() && text.chars().all(is_plain);
    if plain { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}
