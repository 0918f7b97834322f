//! What is done to one thing, and by that to others that are in it.

use crate::evidence::tests::contains_package;

/// What those words of a call are that are no options.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Reach {
    /// Anything.
    #[default]
    Words,
    /// Files and folders.
    Places,
    /// Patterns of packages: `./a/...`.
    Packages,
    /// Names of what is to be made.
    Targets,
    /// Where something goes to or comes from: another way is as good.
    Anything,
}

impl Reach {
    /// Whether what is done to `outer` is done to `inner`.
    pub(super) fn holds(self, outer: &str, inner: &str) -> bool {
        match self {
            _ if outer == inner => true,
            Self::Places if outer == "." => !inner.starts_with('/'),
            Self::Places if outer.contains('*') => is_one_of(outer, inner),
            Self::Places => inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/')),
            Self::Packages => inner.starts_with('.') && contains_package(outer, inner),
            Self::Anything => true,
            Self::Words | Self::Targets => false,
        }
    }
}

/// Whether a pattern of a shell with one star stands for a file.
fn is_one_of(pattern: &str, file: &str) -> bool {
    let Some((head, tail)) = pattern.split_once('*') else { return false };
    let rest = file.strip_prefix(head).and_then(|rest| rest.strip_suffix(tail));
    !tail.contains(['*', '?', '[']) && rest.is_some_and(|rest| !rest.contains('/'))
}
