//! What failed, and something succeeded after it that is taken for the same.
//!
//! Whether that was the same work, on the same tree, is for the reader to say:
//! what happened is told, with the command that succeeded.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde::{Deserialize, Serialize};

const MOST: usize = 16;
/// Of more than these, one that comes again is counted again.
const MOST_UNLISTED: usize = 1000;

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
    /// Whether that has the same words, of which only the first may be told.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) same_command: bool,
    /// Whether nothing succeeded, and the run's changes were put aside when it failed: that tree is gone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) without_changes: bool,
}

/// All of them, oldest first, and how many there was no room for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EarlierErrors {
    #[serde(rename = "earlier_errors", default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) list: Vec<EarlierError>,
    #[serde(rename = "earlier_errors_left_out", default, skip_serializing_if = "is_zero")]
    pub(crate) left_out: usize,
    /// Which these are, as far as they are told apart.
    #[serde(skip)]
    pub(crate) unlisted: BTreeSet<u64>,
}

impl EarlierErrors {
    /// One more. Of what failed in the same way again, the newest success is told.
    pub(super) fn add(&mut self, new: EarlierError) {
        let is_same =
            |old: &EarlierError| old.command == new.command && old.error_message == new.error_message;
        match self.list.iter().position(is_same) {
            Some(at) => self.list[at] = new,
            None if self.list.len() < MOST => self.list.push(new),
            None => self.leave_out(key(&new.command, &new.error_message)),
        }
    }

    /// Counts what there is no room for once, however often it comes.
    fn leave_out(&mut self, key: u64) {
        let is_new = match self.unlisted.len() < MOST_UNLISTED {
            true => self.unlisted.insert(key),
            false => !self.unlisted.contains(&key),
        };
        self.left_out += usize::from(is_new);
    }

    /// What fails now as it did before is told as that alone.
    pub(super) fn without(&mut self, command: &str, error_message: &str) {
        self.list.retain(|old| old.command != command || old.error_message != error_message);
        let was_counted = self.unlisted.remove(&key(command, error_message));
        self.left_out -= usize::from(was_counted);
    }

    /// Tells each command by other words.
    pub(crate) fn rename(&mut self, name: impl Fn(&mut String)) {
        for error in &mut self.list {
            name(&mut error.command);
            error.succeeded_since.iter_mut().for_each(&name);
        }
    }
}

fn key(command: &str, error_message: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (command, error_message).hash(&mut hasher);
    hasher.finish()
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
            same_command: false,
            without_changes: false,
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
    fn what_there_is_no_room_for_is_counted_once() {
        let mut errors = EarlierErrors::default();
        for _ in 0..3 {
            (0..20).for_each(|at| errors.add(error(&format!("make {at}"), "no", "make")));
        }
        assert_eq!((errors.list.len(), errors.left_out), (MOST, 20 - MOST));
        errors.without("make 19", "no");
        errors.without("make 19", "no");
        errors.without("make 21", "no");
        assert_eq!((errors.list.len(), errors.left_out), (MOST, 20 - MOST - 1));
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
