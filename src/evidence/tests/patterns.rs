//! Words that a runner takes for patterns of paths, where they name test files.
//!
//! jest and vitest run every file whose path has the word in it, so one word may
//! find another's file: `m.test.js` finds `src/m.test.js`, and `m.test.jsx` too.

use super::relation::{Relation, filters};

const ENDS: [&str; 8] = ["js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts"];

/// Two choices by such words, and by options that leave tests out.
pub(super) fn patterns(a: &[String], b: &[String]) -> Relation {
    match filters(a, b) {
        Relation::Unclear if all_in(b, a) => Relation::Covers,
        Relation::Unclear if all_in(a, b) => Relation::Within,
        Relation::Unclear => match (stems(a), stems(b)) {
            (Some(a), Some(b)) if !a.iter().any(|a| b.iter().any(|b| may_find_one_file(a, b))) => {
                Relation::Apart
            }
            _ => Relation::Unclear,
        },
        known => known,
    }
}

/// Each word finds its own, whatever stands beside it; an option takes from all of them.
fn all_in(inner: &[String], outer: &[String]) -> bool {
    let words = |list: &[String]| list.iter().all(|word| !word.starts_with('-'));
    words(inner) && words(outer) && inner.iter().all(|word| outer.contains(word))
}

/// The files that are named, without their extensions; `None` where anything else chooses files.
fn stems(choice: &[String]) -> Option<Vec<&str>> {
    let by_test =
        |word: &&String| ["-t ", "-t=", "--testNamePattern"].iter().any(|option| word.starts_with(option));
    let stems: Vec<&str> =
        choice.iter().filter(|word| !by_test(word)).map(|word| stem(word)).collect::<Option<_>>()?;
    (!stems.is_empty()).then_some(stems)
}

/// `src/m.test` of `src/m.test.js`; `None` of what may be more than one test file.
fn stem(word: &str) -> Option<&str> {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '/' | '_' | '-' | '@');
    let (stem, end) = word.rsplit_once('.')?;
    let (folders, name) = stem.rsplit_once('/').unwrap_or(("", stem));
    let marked = [".test", ".spec"].iter().any(|mark| name.len() > mark.len() && name.ends_with(mark));
    let in_folder = !name.is_empty() && folders.split('/').any(|folder| folder == "__tests__");
    (!word.starts_with('-') && word.chars().all(plain) && ENDS.contains(&end) && (marked || in_folder))
        .then_some(stem)
}

/// Whether the path of one file may end like both. jest takes a dot for any
/// character, and large letters for small ones.
fn may_find_one_file(a: &str, b: &str) -> bool {
    let alike = |(a, b): (char, char)| a == '.' || b == '.' || a.to_lowercase().eq(b.to_lowercase());
    a.chars().rev().zip(b.chars().rev()).all(alike)
}
