//! What is tracked and not checked out: there the index alone says what a path
//! is, and what it says after a run may be something else.

use crate::git::differences::Changed;
use crate::git::file_state::State;
use crate::git::index_changes::{IndexNow, Reading};
use crate::git::object::Oid;

/// What stands for a path that has no file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Stands<'a> {
    /// What there was before, though it was not checked out then either.
    Same,
    /// The same, and it was checked out.
    Hidden,
    Other(&'a State),
    Nothing,
}

/// Where the file of a path was before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Was {
    Outside,
    /// In the working tree, not as the index said where that is known.
    CheckedOut {
        indexed: Option<Oid>,
    },
}

/// Decides what stands for a path that was `old` and has no file now, where the
/// index keeps `kept` for it.
pub(super) fn stands<'a>(old: &State, was: Was, kept: Option<&'a State>) -> Stands<'a> {
    match (kept, was) {
        (None, _) => Stands::Nothing,
        (Some(kept), Was::Outside) if old.is_same(kept) => Stands::Same,
        (Some(kept), Was::CheckedOut { .. }) if old.is_same(kept) => Stands::Hidden,
        // Changes that were in no commit are gone for good.
        (Some(kept), Was::CheckedOut { indexed }) if kept.oid == indexed => Stands::Nothing,
        (Some(kept), _) => Stands::Other(kept),
    }
}

/// The changes with what stands for those that have no file, and how many of
/// them only are not checked out any more.
pub(super) fn settled<'k>(
    changed: Vec<Changed>,
    was: impl Fn(&[u8]) -> Was,
    kept: impl Fn(&[u8]) -> Option<&'k State>,
) -> (Vec<Changed>, usize) {
    let mut hidden = 0;
    let settle = |one: Changed| match &one.old {
        Some(old) if one.new.is_none() => match stands(old, was(&one.path), kept(&one.path)) {
            Stands::Same => None,
            Stands::Hidden => {
                hidden += 1;
                None
            }
            Stands::Other(new) => Some(Changed { new: Some(new.clone()), ..one }),
            Stands::Nothing => Some(one),
        },
        Some(_) | None => Some(one),
    };
    (changed.into_iter().filter_map(settle).collect(), hidden)
}

impl IndexNow {
    /// Whether a path that was not checked out is kept as it was: `None` where
    /// that is not known.
    pub(super) fn keeps(&self, path: &[u8], old: &State) -> Option<bool> {
        match self.reading {
            Reading::Same => Some(true),
            Reading::All => Some(self.skipped.get(path).is_some_and(|kept| old.is_same(kept))),
            Reading::Part => None,
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
        let (one, two, out) = (state("0a"), state("0b"), Was::CheckedOut { indexed: None });
        let dirty = Was::CheckedOut { indexed: Some(oid("0b")) };
        assert_eq!(stands(&one, Was::Outside, Some(&one)), Stands::Same);
        assert_eq!(stands(&one, Was::Outside, Some(&two)), Stands::Other(&two));
        assert_eq!(stands(&one, Was::Outside, None), Stands::Nothing);
        assert_eq!(stands(&one, out, Some(&one)), Stands::Hidden);
        assert_eq!(stands(&one, out, Some(&two)), Stands::Other(&two));
        assert_eq!(stands(&one, dirty, Some(&two)), Stands::Nothing);
        let executable = State::outside(0o100755, oid("0a"));
        assert_eq!(stands(&one, out, Some(&executable)), Stands::Other(&executable));
    }
}
