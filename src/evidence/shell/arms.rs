//! The parts of the one `if` of a command line: which way it went is told by what they print.

use super::step::{Arm, Step};

/// Where in an `if` a line is being read.
#[derive(Debug, Default)]
pub(super) struct Arms {
    now: Option<Arm>,
    /// Whether one began before.
    began: bool,
}

impl Arms {
    /// The part that a step is in which begins with `word`. Of several, none is known.
    pub(super) fn follow(&mut self, word: &str, before: &mut [Step]) -> Option<Arm> {
        if matches!(word, "if" | "elif") && std::mem::replace(&mut self.began, true) {
            before.iter_mut().for_each(|step| step.arm = None);
            self.now = None;
            return None;
        }
        self.now = match word {
            "if" => Some(Arm::If),
            "then" => self.now.map(|_| Arm::Then),
            "else" => self.now.map(|_| Arm::Else),
            "fi" => None,
            _ => self.now,
        };
        self.now
    }
}
