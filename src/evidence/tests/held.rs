//! What a folder holds, or the run without a word, by the names of files.
//!
//! A runner that is given a file takes it as it is called; one that looks for files
//! itself takes only those that are called as it wants them to be.

use super::relation::{Relation, contains};

/// Whether tests are among others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    Surely,
    Perhaps,
    Not,
}

impl Held {
    fn surely(is: bool) -> Self {
        if is { Self::Surely } else { Self::Perhaps }
    }
}

/// Two choices of places, none of them empty, and what a place of either holds of the other's.
pub(super) fn choices(
    (a, of_a): (&[String], impl Fn(&str, &str) -> Held),
    (b, of_b): (&[String], impl Fn(&str, &str) -> Held),
) -> Relation {
    let covers = b.iter().all(|one| a.iter().any(|other| of_a(other, one) == Held::Surely));
    let within = a.iter().all(|one| b.iter().any(|other| of_b(other, one) == Held::Surely));
    match (covers, within) {
        (true, true) => Relation::Same,
        (true, false) => Relation::Covers,
        (false, true) => Relation::Within,
        (false, false) => {
            let touch = a.iter().any(|one| {
                b.iter().any(|other| of_a(one, other) != Held::Not || of_b(other, one) != Held::Not)
            });
            if touch { Relation::Unclear } else { Relation::Apart }
        }
    }
}

/// What of `inner` comes after `outer`, where it is below it.
fn rest<'a>(outer: &str, inner: &'a str) -> Option<&'a str> {
    match outer {
        "" => Some(inner),
        outer => inner.strip_prefix(outer)?.strip_prefix('/'),
    }
}

/// pytest: `test_*.py` and `*_test.py`, and not in folders that it leaves alone.
pub(super) fn of_pytest(outer: &str, inner: &str) -> Held {
    if outer == inner || (outer.contains("::") && contains(outer, inner, &["::", "["])) {
        return Held::Surely;
    }
    if outer.ends_with(".py") || outer.contains("::") {
        let is_inside = contains(outer, inner, &["::"]);
        return if is_inside { Held::Surely } else { Held::Not };
    }
    let path = inner.split("::").next().unwrap_or(inner);
    let Some(path) = rest(outer, path) else { return Held::Not };
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let left_alone = |folder: &str| {
        let known = ["_darcs", "build", "CVS", "dist", "node_modules", "venv", "{arch}"];
        folder.starts_with('.') || folder.ends_with(".egg") || known.contains(&folder)
    };
    let found = match name.strip_suffix(".py") {
        Some(stem) => stem.starts_with("test_") || stem.ends_with("_test"),
        None => !name.contains('.') && !left_alone(name),
    };
    Held::surely(found && !folders.split('/').any(left_alone))
}

/// mocha: what stands in the folder itself, and below it only where it was asked to go there.
pub(super) fn of_mocha(outer: &str, inner: &str, recursive: bool) -> Held {
    if outer == inner {
        return Held::Surely;
    }
    let extension = |path: &str| {
        ["js", "cjs", "mjs"].iter().any(|end| path.rsplit_once('.').is_some_and(|(_, found)| found == *end))
    };
    match rest(if outer == "." { "" } else { outer }, inner) {
        Some(path) => Held::surely(extension(path) && (recursive || !path.contains('/'))),
        // The folder may be missing, and then a file of its name is meant.
        None if inner.strip_prefix(outer).is_some_and(|end| end.starts_with('.')) => Held::Perhaps,
        None => Held::Not,
    }
}

/// node: everything below a folder `test`, and elsewhere what is called a test.
pub(super) fn of_node(outer: &str, inner: &str) -> Held {
    if outer == inner {
        return Held::Surely;
    }
    let Some(path) = rest(if outer == "." { "" } else { outer }, inner) else { return Held::Not };
    let (folders, name) = inner.rsplit_once('/').unwrap_or(("", inner));
    let Some((stem, end)) = name.rsplit_once('.') else { return Held::Perhaps };
    let is_known = matches!(end, "js" | "cjs" | "mjs");
    let left_alone = |folder: &str| folder == "node_modules" || folder.starts_with('.');
    // Patterns, and types that only some versions take for tests.
    if !is_known && !matches!(end, "ts" | "cts" | "mts")
        || path.split('/').any(left_alone)
        || inner.contains(['?', '[', '(', '!', '+', '@'])
    {
        return Held::Perhaps;
    }
    let named = stem == "test"
        || stem.starts_with("test-")
        || ["-test", ".test", "_test"].iter().any(|mark| stem.ends_with(mark));
    match named || folders.split('/').any(|folder| folder == "test") {
        true => Held::Surely,
        false if is_known && outer.is_empty() => Held::Not,
        false => Held::Perhaps,
    }
}

/// Programs that print TAP: what stands in a folder, of the kinds that they are written in.
pub(super) fn of_tap(outer: &str, inner: &str) -> Held {
    if outer == inner {
        return Held::Surely;
    }
    let kinds = [".t", ".bats"];
    match rest(outer, inner) {
        // Where they look without a word is their own.
        _ if outer.is_empty() || inner.is_empty() => Held::Perhaps,
        Some(path) => Held::surely(!path.contains('/') && kinds.iter().any(|kind| path.ends_with(kind))),
        None => Held::Not,
    }
}

/// unittest: what a module or a class holds. What is in a package is not run with it.
pub(super) fn of_unittest(outer: &str, inner: &str, packages: bool) -> Held {
    match contains(outer, inner, &["."]) {
        true => Held::surely(outer == inner || !packages),
        false => Held::Not,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(held: impl Fn(&str, &str) -> Held, expected: Held, pairs: &[(&str, &str)]) {
        for (outer, inner) in pairs {
            assert_eq!(held(outer, inner), expected, "`{inner}` in `{outer}`");
        }
    }

    #[test]
    fn pytest_finds_files_by_their_names() {
        check(
            of_pytest,
            Held::Surely,
            &[
                ("", "tests"),
                ("", "tests/test_a.py"),
                ("", "tests/a_test.py::test_x"),
                ("tests", "tests/unit/test_a.py::T::x[1]"),
                ("tests/check.py", "tests/check.py::test_x"),
                ("build", "build/test_a.py"),
                ("a.py::x", "a.py::x[1]"),
            ],
        );
        check(
            of_pytest,
            Held::Perhaps,
            &[
                ("", "e2e/check_login.py"),
                ("", "tests/check.py::test_x"),
                ("", "build/test_a.py"),
                ("", ".hidden/test_a.py"),
                ("", "node_modules"),
                ("tests", "tests/a.txt"),
            ],
        );
        check(
            of_pytest,
            Held::Not,
            &[("tests", "tests2/test_a.py"), ("a.py", "b.py"), ("a.py::x", "a.py::y")],
        );
    }

    #[test]
    fn mocha_looks_into_one_folder() {
        let plain = |outer: &str, inner: &str| of_mocha(outer, inner, false);
        check(plain, Held::Surely, &[("test", "test/a.js"), ("test", "test"), ("e2e", "e2e/a.mjs")]);
        check(
            plain,
            Held::Perhaps,
            &[("test", "test/unit/a.js"), ("test", "test/a.ts"), ("test", "test.js")],
        );
        check(plain, Held::Not, &[("test", "e2e/a.js"), ("test", "e2e"), ("test", "testing/a.js")]);
        check(|outer, inner| of_mocha(outer, inner, true), Held::Surely, &[("test", "test/unit/a.js")]);
    }

    #[test]
    fn node_finds_files_by_their_names_or_their_folder() {
        check(
            of_node,
            Held::Surely,
            &[
                ("", "a.test.mjs"),
                ("", "src/a_test.js"),
                ("", "test/a.js"),
                ("", "x/test/y/a.cjs"),
                ("", "test-a.js"),
                ("", "test.mjs"),
            ],
        );
        check(of_node, Held::Not, &[("", "e2e/login.mjs"), ("", "latest.js"), ("e2e", "test/a.js")]);
        check(
            of_node,
            Held::Perhaps,
            &[("", "e2e"), ("", "login.ts"), ("", "node_modules/a/a.test.js"), ("", "a.test.[jm]s")],
        );
    }
}
