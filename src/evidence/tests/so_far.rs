//! The tests of a command that still runs.

use super::{Changed, Tests};
use crate::model::Timestamp;

/// What a command that still runs has told of its tests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SoFar {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl SoFar {
    pub(crate) fn of(command: &str, text: &str) -> Self {
        let mut tests = Tests::default();
        tests.note_command("", command, None, text, Timestamp::from_millis(0));
        let told = tests.finish(Changed::Unknown).and_then(|told| told.passed.zip(told.failed));
        // What may overlap is not added up here either: nothing is known of it yet.
        told.map_or_else(Self::default, |(passed, failed)| Self { passed, failed })
    }
}
