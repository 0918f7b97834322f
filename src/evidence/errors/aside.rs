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
    /// Whether it takes the changes back.
    is_back: bool,
}

impl Moves {
    /// Whether the tree that was without the changes is there no more, where it ended with this code.
    pub(super) fn ends_bare_tree(self, exit_code: Option<i64>) -> bool {
        self.is_back && self.to == Tree::Own && (exit_code == Some(0) || self.on == Tree::Bare)
    }
}

impl Tree {
    /// As a command finds it and leaves it, which printed `text`.
    pub(super) fn moved(self, done: &Done, text: &str) -> Moves {
        // Then there is nothing that could be taken back.
        if text.contains("No local changes to save") {
            return Moves { on: self, to: self, is_back: false };
        }
        let mut here = self;
        let (mut on, mut is_back) = (None, false);
        for (step, work) in done.command.steps.iter().zip(&done.works) {
            match kind(step) {
                Some(tree) => {
                    is_back |= tree == Tree::Own;
                    here = tree;
                }
                // Where one of them is on the run's own tree, all are.
                None if work.is_some() && on != Some(Tree::Own) => on = Some(here),
                None => {}
            }
        }
        Moves { on: on.unwrap_or(here), to: here, is_back }
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

#[cfg(test)]
mod tests {
    use crate::evidence::tests::Origin;
    use crate::evidence::{EarlierErrors, ErrorEvidence, Errors};
    use crate::model::{Change, ChangeKind, Event, ItemStatus};

    const RED: &str = "a.c:1:5: error: no\n";

    /// What is told after these; a line without a code is an edit of a file of that name.
    fn told(lines: &[(&str, Option<i64>, &str)]) -> (Option<ErrorEvidence>, EarlierErrors) {
        let root = "/home/dev/shop";
        let mut errors = Errors::where_all_is_there(root, Origin::new(root, root));
        for (line, code, text) in lines {
            let changes = vec![Change { path: (*line).to_owned(), kind: ChangeKind::Update }];
            match code {
                Some(_) => errors.note_command(line, *code, text),
                None => errors.note_event(&Event::Edited {
                    item: "1".to_owned(),
                    changes,
                    status: ItemStatus::Completed,
                }),
            }
        }
        errors.told(None)
    }

    #[test]
    fn what_failed_without_the_changes_is_told_as_before_them() {
        let (stash, make) = (("git stash", Some(0), "Saved\n"), ("make", Some(2), RED));
        let pop = ("git stash pop", Some(0), "Dropped\n");
        let (errors, earlier) = told(&[stash, make, pop]);
        let since = earlier.list.first().and_then(|one| one.succeeded_since.as_deref());
        assert_eq!((errors.is_none(), earlier.list.len(), since), (true, 1, Some("git stash pop")));
        // It may be taken back later, or it was the tree to work on.
        assert!(told(&[stash, make]).0.is_some());
        assert!(told(&[stash, make, ("a.c", None, ""), ("ls", Some(0), ""), pop]).0.is_some());
        assert!(told(&[stash, ("a.c", None, ""), make, pop]).0.is_some());
        assert!(told(&[stash, make, ("git stash pop", Some(1), "CONFLICT (content): a.c\n")]).0.is_some());
        assert!(told(&[("git stash", Some(0), "No local changes to save\n"), make, pop]).0.is_some());
        // What fails without them as well fails with them.
        assert!(told(&[make, stash, make, pop]).0.is_some());
    }
}
