//! How tests were run: what passes in one way has not passed in another that asks for more.

use super::Framework;
use super::scope::Scope;
use super::words::lists;

/// Options that let tests pass more easily than without them.
fn easing(framework: Framework) -> &'static [&'static str] {
    match framework {
        Framework::CargoTest => &["--test-threads 1"],
        Framework::Nextest => &["--test-threads 1", "-j 1", "--retries"],
        Framework::Pytest => &[
            "--python",
            "--pythonwarnings ignore*",
            "--reruns",
            "-W ignore*",
            "-p no:randomly",
            "-p no:random_order",
            "-p no:warnings",
            "-p no:xdist",
        ],
        Framework::Unittest => &["--python"],
        _ => &[],
    }
}

/// Ways that may let a test fail as well as pass.
fn cuts_both_ways(framework: Framework, way: &str) -> bool {
    let heads: &[&str] = match framework {
        Framework::CargoTest | Framework::Nextest => &["--release", "-r", "--profile", "--cargo-profile"],
        Framework::Pytest => &["--import-mode"],
        _ => &[],
    };
    heads.contains(&way.split([' ', '=']).next().unwrap_or_default())
}

/// Whether a word sets a variable that does as much.
pub(crate) fn is_easing(word: &str) -> bool {
    match word.split_once('=') {
        Some(("PYTHONHASHSEED", seed)) => seed != "random",
        Some(("RUST_TEST_THREADS", count)) => count == "1",
        _ => false,
    }
}

/// Whether a word sets a variable that changes how tests are shown, and not which pass.
pub(crate) fn only_shows(word: &str) -> bool {
    word.starts_with("CI=") || word.starts_with("NODE_ENV=")
}

impl Scope {
    /// Whether an option, which has this value, is one that eases; then it is kept as that.
    pub(super) fn takes_ease(&mut self, option: &str, value: Option<&str>) -> bool {
        let is_one = lists(easing(self.framework), option, value);
        if is_one {
            self.eases.push([option, value.unwrap_or_default()].join(" "));
        }
        is_one
    }

    /// What is known of how it is run, once all words are read.
    pub(super) fn compare_runs(&mut self) {
        let both = self.runs.iter().filter(|way| cuts_both_ways(self.framework, way));
        self.eases.extend(both.cloned().collect::<Vec<_>>());
        self.eases.sort();
        self.eases.dedup();
    }

    /// Those of some variables that do not ease; the others are kept as that.
    pub(super) fn without_eases<'a>(&mut self, context: Vec<&'a String>) -> Vec<&'a String> {
        let (eases, others): (Vec<_>, Vec<_>) = context.into_iter().partition(|word| is_easing(word));
        self.eases.extend(eases.into_iter().cloned());
        others
    }

    /// Whether `other` was run in a way that tests may fail of, and this was not.
    pub(crate) fn lacks(&self, other: &Self) -> bool {
        other.runs.iter().any(|way| !self.runs.contains(way))
            || self.eases.iter().any(|ease| !other.eases.contains(ease))
    }

    /// What failed in `other` as well fails in both ways.
    pub(super) fn fails_as(&mut self, other: &Self) {
        self.runs.retain(|way| other.runs.contains(way));
        self.eases.extend(
            other.eases.iter().filter(|ease| !self.eases.contains(ease)).cloned().collect::<Vec<_>>(),
        );
    }
}
