//! Which packages of a workspace a command asks for.

use super::relation::{Relation, sets};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Packages {
    /// Whatever is tested here without being named.
    Default,
    Named(Vec<String>),
    All,
}

impl Packages {
    pub(super) fn add(&mut self, package: &str) {
        match self {
            Self::Named(names) => {
                names.push(package.to_owned());
                names.sort();
                names.dedup();
            }
            Self::Default => *self = Self::Named(vec![package.to_owned()]),
            Self::All => {}
        }
    }

    pub(super) fn relation(&self, other: &Self) -> Relation {
        match (self, other) {
            (Self::Default, Self::Default) | (Self::All, Self::All) => Relation::Same,
            (Self::All, _) => Relation::Covers,
            (_, Self::All) => Relation::Within,
            (Self::Named(a), Self::Named(b)) => sets(a, b, |a, b| a == b),
            // What is tested without a name depends on the manifest.
            (Self::Default, Self::Named(_)) | (Self::Named(_), Self::Default) => Relation::Unclear,
        }
    }
}
