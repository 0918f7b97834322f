//! Parses and writes resource addresses: `delegator://tasks`, a task below it, and the artifacts of its run
//! below that.
//!
//! Beyond this file no text can be mistaken for a path: an artifact is one of the known names, and a task is
//! looked up.

use percent_encoding::percent_decode_str;

use crate::runs::ArtifactName;

pub(crate) const TASKS: &str = "delegator://tasks";
pub(crate) const TASK_TEMPLATE: &str = "delegator://tasks/{task_id}";
pub(crate) const ARTIFACT_TEMPLATE: &str = "delegator://tasks/{task_id}/{artifact}";
/// Longer than any id or alias in any encoding.
const LONGEST: usize = 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) subject: Subject,
    /// Present only below a task.
    pub(crate) artifact: Option<ArtifactName>,
}

/// What a subscription follows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Subject {
    /// The tasks of the client's project.
    List,
    /// One task, by any of its names.
    Task(String),
}

impl Address {
    /// `None` for any address that is not exactly one of ours.
    pub(crate) fn parse(uri: &str) -> Option<Self> {
        if uri == TASKS {
            return Some(Self { subject: Subject::List, artifact: None });
        }
        let rest = uri.strip_prefix(TASKS)?.strip_prefix('/').filter(|rest| rest.len() <= LONGEST)?;
        let (task, artifact) = match rest.split_once('/') {
            Some((task, given)) => (task, Some(ArtifactName::parse(given)?)),
            None => (rest, None),
        };
        let task = percent_decode_str(task).decode_utf8().ok()?;
        let plain = !task.is_empty() && task.trim() == task && !task.chars().any(char::is_control);
        plain.then(|| Self { subject: Subject::Task(task.into_owned()), artifact })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::test_rows;

    const ID: &str = "T-local-0a1b2c3d4e5f";

    #[track_caller]
    fn check(uri: &str, task: &str, artifact: Option<&str>) {
        let artifact = artifact.and_then(ArtifactName::parse);
        let subject = Subject::Task(task.to_owned());
        assert_eq!(Address::parse(uri), Some(Address { subject, artifact }), "{uri}");
    }

    #[test]
    fn what_is_listed_is_understood() {
        assert_eq!(Address::parse(TASKS), Some(Address { subject: Subject::List, artifact: None }));
        check(&format!("{TASKS}/{ID}"), ID, None);
        check(&format!("{TASKS}/{ID}/stdout.log"), ID, Some("stdout.log"));
    }

    #[test]
    fn a_task_goes_by_any_name_it_has() {
        check("delegator://tasks/my%20alias", "my alias", None);
        check("delegator://tasks/feature%2Fx/stderr.log", "feature/x", Some("stderr.log"));
    }

    #[test]
    fn nothing_leads_out_of_the_index() {
        let rows = include_str!("../../../tests/data/unknown_addresses.jsonl");
        for [uri] in test_rows::<[String; 1]>(rows) {
            let uri = uri.replace("{task}", &format!("{TASKS}/{ID}"));
            assert_eq!(Address::parse(&uri), None, "{uri}");
        }
        assert_eq!(Address::parse(&format!("{TASKS}/{}", "x".repeat(5000))), None);
    }
}
