//! What a new file may have been before: something that is gone, and not of
//! quite another size. Everything else need not be compared.

use crate::git::file_state::State;

/// The sizes of what is not there any more. Git takes a new file for one of these
/// under another name only where neither is far larger.
#[derive(Debug, Default)]
pub(super) struct Gone {
    sizes: Vec<u64>,
    /// There is one that nobody knows the size of.
    unknown: bool,
}

impl Gone {
    pub(super) fn note(&mut self, old: Option<&State>, size: Option<u64>) {
        match size {
            _ if old.is_some_and(State::is_nested) => {}
            // Git writes this where it is not sure of a file.
            Some(0) | None => self.unknown = true,
            Some(size) => self.sizes.push(size),
        }
    }

    pub(super) fn settle(&mut self) {
        self.sizes.sort_unstable();
    }

    /// Whether one of them may be what is now a file of `size` bytes. For git
    /// neither is twice as large; line ends may make as much of a difference.
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
        let mut gone = Gone::default();
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
