//! What is said once and holds for many steps: what is piped into them, and what stands around them.

use super::Command;
use super::step::Step;

/// How many bytes steps may be given of what is said of others.
const MOST_KEPT: usize = 1024 * 1024;

/// What is said once and holds for many steps, by its bytes.
#[derive(Debug, Default)]
pub(super) struct Kept(usize);

impl Kept {
    /// Whether so many steps may be given these words as well.
    pub(super) fn takes<'a>(&mut self, words: impl IntoIterator<Item = &'a String>, steps: usize) -> bool {
        let bytes: usize = words.into_iter().map(|word| word.len() + size_of::<String>()).sum();
        self.0 = self.0.saturating_add(bytes.saturating_mul(steps));
        !self.is_full()
    }

    pub(super) fn is_full(&self) -> bool {
        self.0 > MOST_KEPT
    }
}

impl Command {
    /// What is piped into a step is what it reads.
    pub(super) fn feed(&mut self, kept: &mut Kept) {
        let said = |step: &Step| [&step.context[..], &step.words, &step.input].concat().join(" ");
        let said: Vec<String> = self.steps.iter().map(said).collect();
        for (at, step) in self.steps.iter_mut().enumerate() {
            let Some(from) = step.fed_from.filter(|from| *from < at) else { continue };
            if kept.takes(&said[from..at], 1) {
                step.input.extend(said[from..at].iter().cloned());
            }
        }
    }
}
