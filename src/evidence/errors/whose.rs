//! Whose word the error of a chain is: the part that says so has failed, and those after it did not run.

use super::complaints::{complains, would_complain};
use super::work::Done;
use crate::evidence::calls::verb;
use crate::evidence::shell::Step;

impl Done {
    /// The step that failed, where each waited for the one before it and `text` leaves no other.
    pub(super) fn failed_at(&self, text: &str) -> Option<usize> {
        let steps = &self.command.steps;
        let works = |at: &usize| self.works[*at].is_some();
        let all: Vec<usize> = (0..steps.len()).filter(works).collect();
        let first = *all.first()?;
        let waits = steps[first + 1..].iter().all(|step| step.and && !step.background);
        if !self.failed || !waits || !self.command.is_clear() {
            return None;
        }
        let one = |fits: &dyn Fn(&Step) -> bool| {
            let mut found = all.iter().copied().filter(|at| fits(&steps[*at]));
            found.next().filter(|_| found.next().is_none())
        };
        let has_last_word = all.iter().any(|at| says_that_it_failed(&steps[*at], text));
        match has_last_word {
            true => one(&|step| says_that_it_failed(step, text)),
            false => one(&|step| !would_have_said_so(step)),
        }
    }
}

/// Words that a program ends with where it failed, and only there.
fn last_words(step: &Step) -> &'static [&'static str] {
    match step.program() {
        "make" | "gmake" => &["make: *** "],
        "ninja" => &["ninja: build stopped"],
        "cmake" => &["CMake Error"],
        "npm" => &["npm ERR!", "npm error "],
        "pnpm" => &[" ELIFECYCLE "],
        "yarn" => &["error Command failed with exit code"],
        "tsc" | "vue-tsc" => &["error TS"],
        "cc" | "gcc" | "clang" | "c++" | "g++" | "clang++" => {
            &[": error: ", ": fatal error: ", "ld returned ", "clang: error: ", "gcc: error: "]
        }
        "cargo" => &["error: could not compile", "error: failed to ", "error: process didn't exit"],
        _ => &[],
    }
}

fn says_that_it_failed(step: &Step, text: &str) -> bool {
    last_words(step).iter().any(|words| text.contains(words))
        || (would_complain(step) && complains(step, text))
}

/// Whether a program has such words whenever it fails. One that can be told to be silent has not.
fn would_have_said_so(step: &Step) -> bool {
    matches!(
        step.program(),
        "make" | "gmake" | "ninja" | "tsc" | "vue-tsc" | "cc" | "gcc" | "clang" | "c++" | "g++" | "clang++"
    ) || would_complain(step)
        || (step.program() == "cargo" && matches!(verb(step), "b" | "build" | "c" | "check" | "clippy"))
}
