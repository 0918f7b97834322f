//! The names of the run files that a caller may read. A name from a caller or an agent must be one
//! of these; it never becomes part of a path otherwise.

use std::borrow::Cow;
use std::fmt;

/// In listing order. Secrets and internal files (`env.json`, locks, sockets) are not included.
const FIXED: &[&str] = &[
    "changes.diff",
    "changes-2.diff",
    "changes-3.diff",
    "changes-4.diff",
    "result.json",
    "last_message.json",
    "transcript.log",
    "commands.jsonl",
    "events.jsonl",
    "stdout.log",
    "stderr.log",
    "autopilot_aggregate.json",
    "autopilot_decision.json",
    "autopilot_plan.json",
    "plan.json",
    "remote.json",
    "evidence.json",
    "progress.json",
    "request.json",
    "skills_index.json",
    "selected_skills.json",
    "subagent_prompt.txt",
    "subagent_output.schema.json",
    "command.json",
    "thread.json",
    "started.json",
    "supervisor.log",
];

/// Older versions kept the output of each command in a file of its own.
const COMMAND: (&str, &str) = ("command-", ".log");
const LONGEST_ITEM: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ArtifactName(Cow<'static, str>);

impl ArtifactName {
    /// The fixed names, whether or not the files exist.
    pub(crate) fn fixed() -> impl Iterator<Item = Self> {
        FIXED.iter().map(|name| Self(Cow::Borrowed(name)))
    }

    /// The output file of the command `item`; `None` if the name is not fit for a file.
    pub(crate) fn of_command(item: &str) -> Option<Self> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let fit = (1..=LONGEST_ITEM).contains(&item.len()) && item.bytes().all(plain);
        fit.then(|| Self(Cow::Owned(format!("{}{item}{}", COMMAND.0, COMMAND.1))))
    }

    /// `None` if no artifact has this name.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        if let Some(fixed) = FIXED.iter().find(|fixed| **fixed == name) {
            return Some(Self(Cow::Borrowed(fixed)));
        }
        Self::of_command(name.strip_prefix(COMMAND.0)?.strip_suffix(COMMAND.1)?)
    }

    /// The agent's name of the command whose output this is.
    pub(crate) fn item(&self) -> Option<&str> {
        self.0.strip_prefix(COMMAND.0)?.strip_suffix(COMMAND.1)
    }

    /// Whether its text comes from the agent or from what it ran.
    pub(crate) fn is_agents(&self) -> bool {
        let streams = [
            "last_message.json",
            "transcript.log",
            "commands.jsonl",
            "events.jsonl",
            "stdout.log",
            "stderr.log",
        ];
        self.item().is_some() || self.is_changes() || streams.contains(&self.as_str())
    }

    /// Whether it is a diff of a task in the cloud.
    pub(crate) fn is_changes(&self) -> bool {
        self.0.starts_with("changes")
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Sorts `item_2` before `item_10`.
    pub(super) fn order(&self) -> (usize, &str) {
        (self.0.len(), &self.0)
    }
}

impl fmt::Display for ArtifactName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_of_ours_or_none() {
        for name in ["stdout.log", "command-item_3.log", "command-a-B_9.log"] {
            assert_eq!(ArtifactName::parse(name).unwrap().as_str(), name);
        }
        let long = format!("command-{}.log", "x".repeat(65));
        for name in [
            "",
            "env.json",
            "run.lock",
            "command-.log",
            "command-../x.log",
            "command-a/b.log",
            "command-a\n.log",
            "command-é.log",
            "command.json/",
            "Stdout.log",
            &long,
        ] {
            assert_eq!(ArtifactName::parse(name), None, "{name}");
        }
        assert_eq!(ArtifactName::parse("command-item_3.log").unwrap().item(), Some("item_3"));
        assert_eq!(ArtifactName::parse("command.json").unwrap().item(), None);
    }
}
