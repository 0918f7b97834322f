//! How much of its packages cargo is told to build: which targets, and with which features.

use super::relation::Relation;
use super::scope::Scope;

const ALL_TARGETS: &str = "--all-targets";
const TESTS: &str = "--tests";
const ALL_FEATURES: &str = "--all-features";
const FEATURES: &str = "--features ";

impl Scope {
    /// Whether all that `other` builds is built.
    pub(crate) fn builds_at_least(&self, other: &Self) -> bool {
        let (mut own, mut others) = (self.clone(), other.clone());
        if self.has_mode(ALL_TARGETS) {
            (own, others) = (own.of_any_target(), others.of_any_target());
        }
        // Without its default features a package may be quite another.
        if self.has_mode(ALL_FEATURES) {
            (own, others) = (own.of_any_features(), others.of_any_features());
        }
        matches!(own.relation(&others), Relation::Same | Relation::Covers)
    }

    /// Whether all that `other` builds is built where these tests are.
    pub(crate) fn tests_need(&self, other: &Self) -> bool {
        self.builds_at_least(&other.clone().without_mode(TESTS).without_mode("--examples"))
    }

    /// Whether it is built with features that `other` may be built without.
    pub(crate) fn has_more_features(&self, other: &Self) -> bool {
        self.has_mode(ALL_FEATURES) && !other.has_mode(ALL_FEATURES)
    }

    /// Features that are asked for, each in one way, however they are written: `-F a,b`.
    pub(super) fn add_features(&mut self, features: &str) {
        let names = features.split([',', ' ']).filter(|name| !name.is_empty());
        self.modes.extend(names.map(|name| format!("{FEATURES}{name}")));
    }

    fn has_mode(&self, mode: &str) -> bool {
        self.modes.iter().any(|own| own == mode)
    }

    fn without_mode(mut self, mode: &str) -> Self {
        self.modes.retain(|own| own != mode);
        self
    }

    /// The same, whatever targets of its packages are built.
    fn of_any_target(mut self) -> Self {
        self.targets.clear();
        self.modes.retain(|mode| !matches!(mode.as_str(), ALL_TARGETS | TESTS | "--benches" | "--examples"));
        self
    }

    /// The same, whatever features were added to the default ones.
    fn of_any_features(mut self) -> Self {
        self.modes.retain(|mode| mode != ALL_FEATURES && !mode.starts_with(FEATURES));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::super::Framework;
    use super::Scope;

    #[track_caller]
    fn check(expected: bool, pairs: &[(&str, &str)]) {
        let scope = |line: &str| {
            let words: Vec<String> = line.split_ascii_whitespace().map(str::to_owned).collect();
            Scope::new(Framework::CargoTest, "", &words)
        };
        for (a, b) in pairs {
            assert_eq!(scope(a).builds_at_least(&scope(b)), expected, "`{a}`, `{b}`");
        }
    }

    #[test]
    fn more_targets_features_and_packages_are_at_least_as_much() {
        check(
            true,
            &[
                ("", ""),
                ("--all-features", ""),
                ("--all-features", "--features a"),
                ("--all-features", "-F a,b"),
                ("--all-features", "--all-features"),
                ("--workspace --all-targets --all-features", "-p a --lib --features=a"),
                ("--all --all-features", ""),
                ("--features a,b", "-F b --features a"),
            ],
        );
        check(
            false,
            &[
                ("", "--all-features"),
                ("", "--features a"),
                ("--features a", ""),
                ("--all-features", "--no-default-features"),
                ("--all-features", "--no-default-features --features a"),
                ("--all-features", "--all-targets"),
                ("--all-features -p a", "-p b"),
                ("--all-targets", "--features a"),
            ],
        );
    }
}
