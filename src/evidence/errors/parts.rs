//! What there is to be done again of a command line that failed.

use super::asks::is_question;
use super::work::{Done, Work};
use crate::evidence::calls::verb;
use crate::evidence::shell::Step;

impl Done {
    /// What failed, as `text` tells, or else all of its work without what only made ready for it: where
    /// the work succeeds, all was ready.
    pub(super) fn to_do(&self, text: &str) -> Vec<Work> {
        let steps = &self.command.steps;
        if let Some(work) = self.failed_at(text).and_then(|at| self.works[at].clone()) {
            return vec![work];
        }
        let is_for_more = |at: usize| {
            let mut behind = steps.iter().zip(&self.works).skip(at + 1).take_while(|(step, _)| !step.or);
            prepares(&steps[at]) && behind.any(|(step, work)| work.is_some() && !prepares(step))
        };
        let both = || self.works.iter().enumerate().filter(|(at, work)| work.is_some() && !is_for_more(*at));
        let does_any = both().any(|(at, _)| !only_looks(&steps[at]));
        let both = both().filter(|(at, _)| !does_any || !only_looks(&steps[*at]));
        both.filter_map(|(_, work)| work.clone()).collect()
    }
}

/// Whether what a step comes to is no part of the work: `git status`, `break`.
fn only_looks(step: &Step) -> bool {
    is_question(step) || (!matches!(step.program(), "" | "git" | "cargo") && !step.may_write())
}

/// Whether a step fetches, installs, or puts files in their place.
fn prepares(step: &Step) -> bool {
    match step.program() {
        "apt" | "apt-get" | "apk" | "brew" | "chmod" | "cp" | "dnf" | "ln" | "mv" | "rm" | "rustup"
        | "sed" | "touch" | "yum" => true,
        "npm" | "pnpm" | "yarn" | "bun" => matches!(verb(step), "" | "add" | "ci" | "i" | "install"),
        "pip" | "pip3" | "bundle" | "poetry" | "composer" => matches!(verb(step), "install"),
        "uv" => matches!(verb(step), "sync" | "pip" | "venv"),
        "cargo" => matches!(verb(step), "clean" | "fetch"),
        "make" | "gmake" => {
            let mut targets = step.args().iter().filter(|arg| !arg.starts_with('-')).peekable();
            targets.peek().is_some() && targets.all(|target| target.contains("clean"))
        }
        "go" => verb(step) == "mod",
        "git" => {
            matches!(step.git_verb(), "add" | "checkout" | "fetch" | "pull" | "reset" | "restore" | "switch")
        }
        program => program.starts_with("python") && step.args().get(1).is_some_and(|module| module == "pip"),
    }
}
