//! The files that an agent said it changed, for where there is no git to ask.

use std::collections::BTreeMap;

use crate::model::{Change, ChangeKind, Event, ItemStatus};

/// No run that can be read by anybody changes more.
const MOST: usize = 4_096;

/// What came of every path that was named, whatever was done to it on the way.
#[derive(Debug, Default)]
pub(crate) struct Edits {
    paths: BTreeMap<String, ChangeKind>,
    left_out: u64,
}

impl Edits {
    pub(crate) fn note(&mut self, event: &Event) {
        if let Event::Edited { changes, status: ItemStatus::Completed, .. } = event {
            changes.iter().for_each(|change| self.change(change));
        }
    }

    fn change(&mut self, change: &Change) {
        let before = self.paths.get(&change.path).copied();
        if before.is_none() && self.paths.len() >= MOST {
            self.left_out += 1;
            return;
        }
        let now = match (before, change.kind) {
            // It was made and removed again: nothing came of it.
            (Some(ChangeKind::Add), ChangeKind::Delete) => {
                self.paths.remove(&change.path);
                return;
            }
            (Some(ChangeKind::Add), ChangeKind::Add | ChangeKind::Update) => ChangeKind::Add,
            (Some(ChangeKind::Delete), ChangeKind::Add) => ChangeKind::Update,
            (_, kind) => kind,
        };
        self.paths.insert(change.path.clone(), now);
    }

    pub(crate) fn left_out(&self) -> u64 {
        self.left_out
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, ChangeKind)> {
        self.paths.iter().map(|(path, kind)| (path.as_str(), *kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kinds: &[ChangeKind], expected: Option<ChangeKind>) {
        let mut edits = Edits::default();
        for kind in kinds {
            let changes = vec![Change { path: "a".to_owned(), kind: *kind }];
            edits.note(&Event::Edited { item: "1".to_owned(), changes, status: ItemStatus::Completed });
        }
        assert_eq!(edits.iter().next().map(|(_, kind)| kind), expected, "{kinds:?}");
    }

    #[test]
    fn a_path_is_told_by_what_came_of_it() {
        use ChangeKind::{Add, Delete, Update};
        check(&[Add, Update], Some(Add));
        check(&[Add, Delete], None);
        check(&[Update, Delete], Some(Delete));
        check(&[Delete, Add], Some(Update));
        check(&[Add, Delete, Add], Some(Add));
    }

    #[test]
    fn what_was_refused_did_not_happen() {
        let mut edits = Edits::default();
        let changes = vec![Change { path: "a".to_owned(), kind: ChangeKind::Add }];
        for status in [ItemStatus::Running, ItemStatus::Failed, ItemStatus::Declined] {
            edits.note(&Event::Edited { item: "1".to_owned(), changes: changes.clone(), status });
        }
        assert_eq!(edits.iter().next(), None);
    }
}
