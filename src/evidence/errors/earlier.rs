//! What failed, and something succeeded after it that is taken for the same.
//!
//! Whether that was the same work, on the same tree, is for the reader to say:
//! what happened is told, with the command that succeeded.

use serde::{Deserialize, Serialize};

const MOST: usize = 16;

/// A command that failed before another succeeded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EarlierError {
    /// The command that failed.
    pub(crate) command: String,
    /// Its first error.
    pub(crate) error_message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error_type: Option<String>,
    /// The command that succeeded after it. `None` where several together did.
    pub(crate) succeeded_since: Option<String>,
}

/// All of them, oldest first, and how many there was no room for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EarlierErrors {
    #[serde(rename = "earlier_errors", default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) list: Vec<EarlierError>,
    #[serde(rename = "earlier_errors_left_out", default, skip_serializing_if = "is_zero")]
    pub(crate) left_out: usize,
}

impl EarlierErrors {
    /// One more. Of what failed in the same way again, the newest success is told.
    pub(super) fn add(&mut self, new: EarlierError) {
        let is_same =
            |old: &EarlierError| old.command == new.command && old.error_message == new.error_message;
        match self.list.iter().position(is_same) {
            Some(at) => self.list[at].succeeded_since = new.succeeded_since,
            None if self.list.len() < MOST => self.list.push(new),
            None => self.left_out += 1,
        }
    }

    /// What fails now as it did before is told as that alone.
    pub(super) fn without(&mut self, command: &str, error_message: &str) {
        self.list.retain(|old| old.command != command || old.error_message != error_message);
    }

    /// Tells each command by other words.
    pub(crate) fn rename(&mut self, name: impl Fn(&mut String)) {
        for error in &mut self.list {
            name(&mut error.command);
            error.succeeded_since.iter_mut().for_each(&name);
        }
    }
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(command: &str, message: &str, since: &str) -> EarlierError {
        EarlierError {
            command: command.to_owned(),
            error_message: message.to_owned(),
            error_type: None,
            succeeded_since: Some(since.to_owned()),
        }
    }

    #[test]
    fn what_there_is_no_room_for_is_counted() {
        let mut errors = EarlierErrors::default();
        (0..20).for_each(|at| errors.add(error(&format!("make {at}"), "no", "make")));
        assert_eq!((errors.list.len(), errors.left_out), (MOST, 20 - MOST));
        assert_eq!(errors.list[0].command, "make 0");
    }

    #[test]
    fn the_same_failure_is_told_once() {
        let mut errors = EarlierErrors::default();
        for since in ["make a", "make b"] {
            errors.add(error("make", "no", since));
        }
        errors.add(error("make", "never", "make c"));
        assert_eq!(errors.list, [error("make", "no", "make b"), error("make", "never", "make c")]);
        errors.without("make", "never");
        assert_eq!(errors.list.len(), 1);
    }
}
