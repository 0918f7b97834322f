//! Handles files that are tracked but not checked out: only the index describes them, and it may
//! change during a run.

use crate::git::differences::Changed;
use crate::git::file_state::State;
use crate::git::index_changes::{IndexKnowledge, IndexNow};
use crate::git::object::Oid;

/// What a path without a file means.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum MissingFile<'a> {
    /// Unchanged, and not checked out before either.
    Same,
    /// Unchanged, but it was checked out before.
    Hidden,
    Other(&'a State),
    Nothing,
}

/// Where the file of a path was before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileLocation {
    Outside,
    /// In the working tree. `indexed` is its index entry if that differed or is known.
    CheckedOut {
        indexed: Option<Oid>,
    },
}

/// Decides what a path means that was `old` and has no file now, if the index entry is `kept`.
pub(super) fn classify_missing<'a>(
    old: &State,
    was: FileLocation,
    kept: Option<&'a State>,
) -> MissingFile<'a> {
    match (kept, was) {
        (None, _) => MissingFile::Nothing,
        (Some(kept), FileLocation::Outside) if old.is_same(kept) => MissingFile::Same,
        (Some(kept), FileLocation::CheckedOut { .. }) if old.is_same(kept) => MissingFile::Hidden,
        // Uncommitted changes are lost.
        (Some(kept), FileLocation::CheckedOut { indexed }) if kept.oid == indexed => MissingFile::Nothing,
        (Some(kept), _) => MissingFile::Other(kept),
    }
}

/// Resolves the changes without a file. Also returns how many files are merely no longer checked
/// out.
pub(super) fn resolve_missing<'k>(
    changed: Vec<Changed>,
    was: impl Fn(&[u8]) -> FileLocation,
    kept: impl Fn(&[u8]) -> Option<&'k State>,
) -> (Vec<Changed>, usize) {
    let mut hidden = 0;
    let settle = |one: Changed| match &one.old {
        Some(old) if one.new.is_none() => match classify_missing(old, was(&one.path), kept(&one.path)) {
            MissingFile::Same => None,
            MissingFile::Hidden => {
                hidden += 1;
                None
            }
            MissingFile::Other(new) => Some(Changed { new: Some(new.clone()), ..one }),
            MissingFile::Nothing => Some(one),
        },
        Some(_) | None => Some(one),
    };
    (changed.into_iter().filter_map(settle).collect(), hidden)
}

impl IndexNow {
    /// Whether the index still has `old` for a path that is not checked out; `None` if unknown.
    pub(super) fn keeps(&self, path: &[u8], old: &State) -> Option<bool> {
        match self.reading {
            IndexKnowledge::Same => Some(true),
            IndexKnowledge::All => Some(self.skipped.get(path).is_some_and(|kept| old.is_same(kept))),
            IndexKnowledge::Part => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_index_keeps_stands_for_a_path_unless_the_user_had_changed_it() {
        let oid = |text: &str| Oid::from_hex(&text.repeat(20)).unwrap();
        let state = |text: &str| State::outside(0o100644, oid(text));
        let (one, two, out) = (state("0a"), state("0b"), FileLocation::CheckedOut { indexed: None });
        let dirty = FileLocation::CheckedOut { indexed: Some(oid("0b")) };
        assert_eq!(classify_missing(&one, FileLocation::Outside, Some(&one)), MissingFile::Same);
        assert_eq!(classify_missing(&one, FileLocation::Outside, Some(&two)), MissingFile::Other(&two));
        assert_eq!(classify_missing(&one, FileLocation::Outside, None), MissingFile::Nothing);
        assert_eq!(classify_missing(&one, out, Some(&one)), MissingFile::Hidden);
        assert_eq!(classify_missing(&one, out, Some(&two)), MissingFile::Other(&two));
        assert_eq!(classify_missing(&one, dirty, Some(&two)), MissingFile::Nothing);
        let executable = State::outside(0o100755, oid("0a"));
        assert_eq!(classify_missing(&one, out, Some(&executable)), MissingFile::Other(&executable));
    }
}
