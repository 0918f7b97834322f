//! Decides which new files may be renames: a file of similar size must have been deleted.

use crate::git::file_state::State;

/// The sizes of deleted files. Git accepts a rename only if neither side is much larger.
#[derive(Debug, Default)]
pub(super) struct RemovedSizes {
    sizes: Vec<u64>,
    /// The size of a deleted file is unknown.
    unknown: bool,
}

impl RemovedSizes {
    pub(super) fn note(&mut self, old: Option<&State>, size: Option<u64>) {
        match size {
            _ if old.is_some_and(State::is_nested) => {}
            // Git records 0 if it is unsure about a file.
            Some(0) | None => self.unknown = true,
            Some(size) => self.sizes.push(size),
        }
    }

    pub(super) fn settle(&mut self) {
        self.sizes.sort_unstable();
    }

    /// Whether a new file of `size` bytes may be one of these, renamed. Git allows a factor of two;
    /// line ends may account for as much again.
    pub(super) fn may_have_become(&self, size: u64) -> bool {
        let from = self.sizes.partition_point(|gone| gone.saturating_mul(4).saturating_add(64) < size);
        let first = self.sizes.get(from);
        self.unknown || first.is_some_and(|gone| *gone <= size.saturating_mul(4).saturating_add(64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_can_have_been_another_of_about_its_size() {
        let mut gone = RemovedSizes::default();
        assert!(!gone.may_have_become(0) && !gone.may_have_become(1000));
        [5000, 1000].into_iter().for_each(|size| gone.note(None, Some(size)));
        gone.settle();
        for (size, expected) in [(0, false), (500, true), (2000, true), (10_000, true), (30_000, false)] {
            assert_eq!(gone.may_have_become(size), expected, "{size}");
        }
        gone.note(None, Some(0));
        assert!(gone.may_have_become(30_000), "the size of one is not known");
    }
}
