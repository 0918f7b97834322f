//! The files that an agent reported to have changed, for runs outside git.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use crate::model::{Change, ChangeKind, Event, ItemStatus};

/// No run that anyone can review changes more.
const MOST: usize = 4_096;

/// The net change of every named path.
#[derive(Debug, Default)]
pub(crate) struct Edits {
    directory: PathBuf,
    /// The same file gets the same name, however the agent spelled it.
    paths: BTreeMap<String, ChangeKind>,
    left_out: u64,
    started: u64,
    ended: u64,
    refused: u64,
    /// How many commands had ended when it last reported an edit.
    last: Option<u64>,
    commands: u64,
}

impl Edits {
    /// For a run that works in `directory`.
    pub(crate) fn new(directory: &str) -> Self {
        Self { directory: directory.into(), ..Self::default() }
    }

    pub(crate) fn note(&mut self, event: &Event) {
        self.commands += u64::from(matches!(event, Event::CommandEnded { .. }));
        match event {
            Event::Edited { changes, status: ItemStatus::Completed, .. } => {
                self.last = Some(self.commands);
                changes.iter().for_each(|change| self.change(change));
            }
            Event::CommandStarted { .. } | Event::ToolStarted { .. } => self.started += 1,
            Event::CommandEnded { status, .. } | Event::ToolEnded { status, .. } => match status {
                ItemStatus::Declined => self.refused += 1,
                ItemStatus::Running | ItemStatus::Completed | ItemStatus::Failed => self.ended += 1,
            },
            Event::Edited { .. }
            | Event::Thread { .. }
            | Event::TurnStarted
            | Event::Message { .. }
            | Event::Reasoning { .. }
            | Event::Plan { .. }
            | Event::Warning { .. }
            | Event::Retry { .. }
            | Event::Question { .. }
            | Event::TurnCompleted { .. }
            | Event::TurnFailed { .. }
            | Event::Other { .. } => {}
        }
    }

    fn change(&mut self, change: &Change) {
        let path = without_content(&self.directory, &change.path);
        let before = self.paths.get(&path).copied();
        if before.is_none() && self.paths.len() >= MOST {
            self.left_out += 1;
            return;
        }
        let now = match (before, change.kind) {
            // It was created and removed again: no net change.
            (Some(ChangeKind::Add), ChangeKind::Delete) => {
                self.paths.remove(&path);
                return;
            }
            (Some(ChangeKind::Add), ChangeKind::Add | ChangeKind::Update) => ChangeKind::Add,
            (Some(ChangeKind::Delete), ChangeKind::Add) => ChangeKind::Update,
            (_, kind) => kind,
        };
        self.paths.insert(path, now);
    }

    /// How many commands had ended when the agent last reported an edit.
    pub(crate) fn last_edit(&self) -> Option<u64> {
        self.last
    }

    pub(crate) fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Whether commands or tools ran that may have changed anything.
    pub(crate) fn did_more(&self) -> bool {
        self.ended > 0 || self.started > self.refused
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, ChangeKind)> {
        self.paths.iter().map(|(path, kind)| (path.as_str(), *kind))
    }
}

/// `named` relative to `directory`, resolved by its words alone. A URL stays unchanged, so that redaction
/// recognizes a password in it.
fn without_content(directory: &Path, named: &str) -> String {
    if named.contains("://") {
        return named.to_owned();
    }
    let mut path = PathBuf::new();
    for part in directory.join(named).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(path.pop()),
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => path.push(part),
        }
    }
    path.to_string_lossy().into_owned()
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
    fn an_address_is_no_path() {
        let address = "postgres://app:pw@db/x/../y";
        assert_eq!(without_content(Path::new("/srv"), address), address);
    }

    #[test]
    fn one_file_has_one_name_however_it_is_called() {
        let mut edits = Edits::new("/srv/shop");
        let names = ["a", "./a", "/srv/shop/a", "d/../a", "../other/b", "/srv/shop/../other/b"];
        let changes = names.map(|path| Change { path: path.to_owned(), kind: ChangeKind::Update });
        let (changes, status) = (changes.to_vec(), ItemStatus::Completed);
        edits.note(&Event::Edited { item: "1".to_owned(), changes, status });
        let paths: Vec<&str> = edits.iter().map(|(path, _)| path).collect();
        assert_eq!(paths, ["/srv/other/b", "/srv/shop/a"]);
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
