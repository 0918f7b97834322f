//! Changes that are put aside for a while: `git stash`, and `git stash pop`. What fails between them
//! fails on another tree than the one that is left in the end.

use super::work::Done;
use crate::evidence::shell::Step;

/// Where the changes of a run are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Tree {
    #[default]
    Own,
    /// Without them.
    Bare,
}

/// What a command does to that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moves {
    /// The tree that its work is done on.
    pub(super) on: Tree,
    /// The tree that it leaves.
    pub(super) to: Tree,
}

impl Tree {
    /// As a command finds it and leaves it, which printed `text`.
    pub(super) fn moved(self, done: &Done, text: &str) -> Moves {
        // Then there is nothing that could be taken back.
        if text.contains("No local changes to save") {
            return Moves { on: self, to: self };
        }
        let mut here = self;
        let mut on = None;
        for (step, work) in done.command.steps.iter().zip(&done.works) {
            match kind(step) {
                Some(tree) => here = tree,
                // Where one of them is on the run's own tree, all are.
                None if work.is_some() && on != Some(Tree::Own) => on = Some(here),
                None => {}
            }
        }
        Moves { on: on.unwrap_or(here), to: here }
    }
}

/// The tree that a step leads to.
fn kind(step: &Step) -> Option<Tree> {
    let mut words = step.args().iter().map(String::as_str);
    let is_stash = step.program() == "git" && words.next() == Some("stash");
    match words.next().filter(|_| is_stash) {
        Some("pop" | "apply") => Some(Tree::Own),
        Some("push" | "save") => Some(Tree::Bare),
        Some(option) if option.starts_with('-') => Some(Tree::Bare),
        None if is_stash => Some(Tree::Bare),
        Some(_) | None => None,
    }
}
