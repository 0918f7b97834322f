//! Limits the size and the characters of a request's fields.

use crate::context::TaskError;
use crate::model::{AgentName, RunId, TaskId, ThreadId, WorkKind};

use crate::submit::caller::Caller;
use crate::submit::isolation::Isolation;
use crate::submit::start_request::StartRequest;
use crate::text::plain;

const LONGEST_TASK: usize = 1 << 20;
/// Linux's limit for one argument, without the final NUL byte.
const LONGEST_ARGUMENT: usize = (128 << 10) - 1;
const LONGEST_NAME: usize = 200;
const LONGEST_ITEM: usize = 4096;
const MOST_ITEMS: usize = 64;
const LARGEST_SCHEMA: usize = 256 << 10;

pub(crate) fn check(ask: &StartRequest, agent: AgentName) -> Result<(), TaskError> {
    check_task(ask, agent)?;
    let names = [
        ("role", &ask.role),
        ("alias", &ask.alias),
        ("idempotency_key", &ask.idempotency_key),
        ("model", &ask.model),
        ("reasoning_effort", &ask.reasoning_effort),
        ("env_id", &ask.env_id),
    ];
    let given = || names.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?)));
    given().try_for_each(|(name, value)| check_size(name, value))?;
    ask.alias.as_deref().map_or(Ok(()), check_alias)?;
    given().try_for_each(|(name, value)| check_plain(name, value))?;
    check_list("config_overrides", ask.config_overrides.iter().map(String::len))?;
    check_list("env_from", ask.env_from.iter().map(String::len))?;
    check_list("skills", ask.skills.iter().map(String::len))?;
    ask.check_skills()?;
    check_list("add_dirs", ask.add_dirs.iter().map(|dir| dir.as_os_str().len()))?;
    match &ask.output_schema {
        Some(schema) => check_length("output_schema", schema.to_string().len(), LARGEST_SCHEMA),
        None => Ok(()),
    }
}

fn check_task(ask: &StartRequest, agent: AgentName) -> Result<(), TaskError> {
    let continues = ask.resume.is_some() && agent.abilities().resumes;
    if ask.task.trim().is_empty() && !continues {
        return Err(TaskError::EmptyTask);
    }
    let limit = if agent.abilities().is_command_line() { LONGEST_ARGUMENT } else { LONGEST_TASK };
    if ask.task.len() > limit {
        return Err(TaskError::LongTask { bytes: ask.task.len(), limit });
    }
    if agent.abilities().is_command_line() && ask.task.contains('\0') {
        return Err(TaskError::NulInTask);
    }
    Ok(())
}

fn check_size(name: &'static str, value: &str) -> Result<(), TaskError> {
    if value.is_empty() {
        Err(TaskError::EmptyField { name })
    } else {
        check_length(name, value.len(), LONGEST_NAME)
    }
}

/// A name is printed in lists and passed to programs: it must be readable, and must not look like an option.
fn check_plain(name: &'static str, value: &str) -> Result<(), TaskError> {
    let shown = plain::text(value) == value && !value.contains(['\n', '\t']);
    // Passed as an argument of its own.
    let option = matches!(name, "model" | "env_id") && value.starts_with('-');
    if shown && !option { Ok(()) } else { Err(TaskError::OddField { name }) }
}

fn check_length(name: &'static str, bytes: usize, limit: usize) -> Result<(), TaskError> {
    if bytes > limit { Err(TaskError::LongField { name, bytes, limit }) } else { Ok(()) }
}

fn check_list(
    name: &'static str,
    mut lengths: impl ExactSizeIterator<Item = usize>,
) -> Result<(), TaskError> {
    if lengths.len() > MOST_ITEMS {
        return Err(TaskError::LongList { name, count: lengths.len(), limit: MOST_ITEMS });
    }
    lengths.try_for_each(|bytes| check_length(name, bytes, LONGEST_ITEM))
}

/// An alias is accepted wherever an id is, and is printed in lists.
fn check_alias(alias: &str) -> Result<(), TaskError> {
    let is_id = alias.parse::<TaskId>().is_ok()
        || alias.parse::<RunId>().is_ok()
        || alias.parse::<ThreadId>().is_ok();
    // The beginning of an id means the task that it is unique to.
    let is_id = is_id || TaskId::begins(alias);
    if is_id || alias.trim() != alias || plain::line(alias, LONGEST_NAME) != alias {
        return Err(TaskError::BadAlias(alias.to_owned()));
    }
    Ok(())
}

/// No field is silently ignored: one that the agent does not support is refused.
pub(crate) fn check_supported(agent: AgentName, ask: &StartRequest) -> Result<(), TaskError> {
    let abilities = agent.abilities();
    let hosted = abilities.work == WorkKind::Hosted;
    if ask.isolation != Isolation::None && !abilities.work.is_child() {
        return Err(TaskError::Unsupported { agent, field: "isolation" });
    }
    let of_hosted = [
        ("env_id", ask.env_id.is_some()),
        ("attempts", ask.attempts.is_some()),
        ("branch", ask.branch.is_some()),
        ("starting_diff", ask.starting_diff),
    ];
    if let Some((field, _)) = of_hosted.into_iter().find(|(_, given)| *given && !hosted) {
        return Err(TaskError::Unsupported { agent, field });
    }
    if let Some(field) = ask.autopilot.as_ref().and_then(|_| unsupported_by_autopilot(ask)) {
        return Err(TaskError::Unsupported { agent, field });
    }
    if !ask.skills.is_empty() && !abilities.reads_skills && ask.autopilot.is_none() {
        return Err(TaskError::Unsupported { agent, field: "skills" });
    }
    if ask.autopilot.is_some() || abilities.takes_prompt() && !hosted {
        return Ok(());
    }
    let jailed = abilities.is_command_line() && matches!(ask.caller, Caller::Client(_));
    let given = [
        // First, because a resumed task inherits the other fields.
        ("resume", ask.resume.is_some()),
        ("command_limit", abilities.is_command_line() && ask.limits.command_s.is_some()),
        ("idle", hosted && ask.limits.idle_s.is_some()),
        ("env_from", hosted && !ask.env_from.is_empty()),
        ("sandbox", ask.sandbox.is_some() && !jailed),
        ("network", ask.network),
        ("model", ask.model.is_some()),
        ("reasoning_effort", ask.reasoning_effort.is_some()),
        ("config_overrides", !ask.config_overrides.is_empty()),
        ("output_schema", ask.output_schema.is_some()),
        ("add_dirs", !ask.add_dirs.is_empty()),
        ("role", ask.role.is_some() && !hosted),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        Some((field, _)) => Err(TaskError::Unsupported { agent, field }),
        None => Ok(()),
    }
}

/// Its jobs answer in a form of their own, and no thread has all of them.
fn unsupported_by_autopilot(ask: &StartRequest) -> Option<&'static str> {
    let given = [("resume", ask.resume.is_some()), ("output_schema", ask.output_schema.is_some())];
    given.into_iter().find(|(_, given)| *given).map(|(field, _)| field)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask() -> StartRequest {
        StartRequest { task: "look".into(), ..StartRequest::default() }
    }

    #[test]
    fn a_name_is_what_it_looks_like() {
        for odd in ["a\u{1b}[31mb", "a\u{202e}b", "a\nb", "a\tb", "a\u{0}", "\u{200b}"] {
            for named in [
                StartRequest { role: Some(odd.into()), ..ask() },
                StartRequest { model: Some(odd.into()), ..ask() },
                StartRequest { alias: Some(odd.into()), ..ask() },
                StartRequest { reasoning_effort: Some(odd.into()), ..ask() },
                StartRequest { idempotency_key: Some(odd.into()), ..ask() },
            ] {
                assert!(check(&named, AgentName::Codex).is_err(), "{named:?}");
            }
        }
        assert!(check(&StartRequest { model: Some("--yolo".into()), ..ask() }, AgentName::Codex).is_err());
        let plain = StartRequest { role: Some("a careful  reviewer – für Tests".into()), ..ask() };
        assert!(check(&plain, AgentName::Codex).is_ok());
    }

    #[test]
    fn an_alias_is_no_id() {
        for alias in ["T-local-0123456789ab", " a", "a  b"] {
            assert!(
                check(&StartRequest { alias: Some(alias.into()), ..ask() }, AgentName::Codex).is_err(),
                "{alias}"
            );
        }
    }

    #[test]
    fn lists_and_what_is_in_them_have_limits() {
        let many = vec!["x".to_owned(); MOST_ITEMS + 1];
        assert!(check(&StartRequest { env_from: many.clone(), ..ask() }, AgentName::Codex).is_err());
        assert!(check(&StartRequest { config_overrides: many, ..ask() }, AgentName::Codex).is_err());
        let long = StartRequest { add_dirs: vec!["x".repeat(LONGEST_ITEM + 1).into()], ..ask() };
        assert!(check(&long, AgentName::Codex).is_err());
        let large = serde_json::json!({ "description": "x".repeat(LARGEST_SCHEMA) });
        assert!(check(&StartRequest { output_schema: Some(large), ..ask() }, AgentName::Codex).is_err());
    }

    #[test]
    fn a_sandbox_is_for_commands_of_clients_alone() {
        let asked = |caller| StartRequest { sandbox: Some(crate::model::Sandbox::ReadOnly), caller, ..ask() };
        let client = Caller::Client(crate::submit::caller::Client::default());
        assert!(check_supported(AgentName::Command, &asked(Caller::Person)).is_err());
        assert!(check_supported(AgentName::Command, &asked(client.clone())).is_ok());
        assert!(check_supported(AgentName::Replay, &asked(client)).is_err());
    }
}
