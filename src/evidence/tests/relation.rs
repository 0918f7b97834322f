//! How two choices of tests lie to each other.

use super::places::is_known;

/// How the tests of one run lie to those of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Relation {
    Same,
    /// All of the other's, and maybe more.
    Covers,
    /// Some of the other's, and no more.
    Within,
    /// None of the other's.
    Apart,
    Unclear,
}

/// One directory below another may hold a part of its tests, or others.
pub(super) fn directories(a: &str, b: &str) -> Relation {
    let known = |path: &str| is_known(path) && !path.split('/').any(|part| part == "..");
    let inside =
        |a: &str, b: &str| a.is_empty() || b.strip_prefix(a).is_some_and(|rest| rest.starts_with('/'));
    match (a == b, known(a) && known(b)) {
        (true, _) => Relation::Same,
        (false, true) if !inside(a, b) && !inside(b, a) => Relation::Apart,
        (false, _) => Relation::Unclear,
    }
}

pub(super) fn filters(a: &[String], b: &[String]) -> Relation {
    match (a.is_empty(), b.is_empty()) {
        _ if a == b => Relation::Same,
        (true, _) => Relation::Covers,
        (_, true) => Relation::Within,
        (false, false) => Relation::Unclear,
    }
}

/// Two choices; an empty one is everything.
pub(super) fn sets(a: &[String], b: &[String], contains: impl Fn(&str, &str) -> bool) -> Relation {
    let all_in = |inner: &[String], outer: &[String]| {
        outer.is_empty()
            || (!inner.is_empty() && inner.iter().all(|one| outer.iter().any(|other| contains(other, one))))
    };
    match (all_in(b, a), all_in(a, b)) {
        (true, true) => Relation::Same,
        (true, false) => Relation::Covers,
        (false, true) => Relation::Within,
        (false, false) => {
            let touch =
                a.iter().any(|one| b.iter().any(|other| contains(one, other) || contains(other, one)));
            if touch { Relation::Unclear } else { Relation::Apart }
        }
    }
}

/// What two choices come to together.
pub(super) fn both(a: Relation, b: Relation) -> Relation {
    match (a, b) {
        (Relation::Apart, _) | (_, Relation::Apart) => Relation::Apart,
        (Relation::Same, other) | (other, Relation::Same) => other,
        (a, b) if a == b => a,
        _ => Relation::Unclear,
    }
}

/// Whether `inner` is `outer` or inside of it.
pub(super) fn contains(outer: &str, inner: &str, separators: &[&str]) -> bool {
    outer == inner
        || inner
            .strip_prefix(outer)
            .is_some_and(|rest| separators.iter().any(|between| rest.starts_with(between)))
}

/// Whether a package is named by its folder.
pub(super) fn is_path(package: &str) -> bool {
    package.starts_with(['.', '/'])
}

/// Patterns of packages: `./a/...` is `./a` and all below it.
pub(crate) fn contains_package(outer: &str, inner: &str) -> bool {
    match outer.strip_suffix("...") {
        _ if outer == inner => true,
        Some(root) => {
            let rest = match root {
                "./" => Some(inner.trim_start_matches("./"))
                    .filter(|rest| !rest.starts_with(['/']) && !rest.starts_with("..")),
                root if inner == root.trim_end_matches('/') => Some(""),
                root => inner.strip_prefix(root),
            };
            // Folders that are not looked into, whatever is in them.
            let left_alone = |part: &str| {
                matches!(part, "testdata" | "vendor")
                    || part.starts_with('_')
                    || (part.starts_with('.') && !part.trim_matches('.').is_empty())
            };
            rest.is_some_and(|rest| !rest.split('/').any(left_alone))
        }
        None => false,
    }
}
