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

/// What cargo does here where no package is named, by its manifest; `None` where that is not known.
pub(super) fn default_of(manifest: &str) -> Option<Packages> {
    let manifest: toml::Table = manifest.parse().ok()?;
    let workspace = manifest.get("workspace");
    if workspace.is_some_and(|workspace| workspace.get("default-members").is_some()) {
        return None;
    }
    match manifest.get("package") {
        Some(package) => Some(Packages::Named(vec![package.get("name")?.as_str()?.to_owned()])),
        None => workspace.map(|_| Packages::All),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Framework, Origin, Scope};
    use super::*;

    #[track_caller]
    fn check(manifest: &str, later: &str, earlier: &str, expected: Relation) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("Cargo.toml"), manifest).unwrap();
        let root = dir.path().to_str().unwrap();
        let scope = |line: &str| {
            let words: Vec<String> = line.split_ascii_whitespace().map(str::to_owned).collect();
            Scope::new(Framework::CargoTest, "", &words).seen_from(&Origin::new(root, root))
        };
        assert_eq!(scope(later).relation(&scope(earlier)), expected, "`{later}` to `{earlier}`: {manifest}");
    }

    #[test]
    fn a_manifest_says_which_packages_need_no_name() {
        let alone = "[package]\nname = \"a\"\n";
        check(alone, "", "-p a", Relation::Same);
        check(alone, "-p a", "", Relation::Same);
        check(alone, "", "-p b", Relation::Apart);
        let all = "[workspace]\nmembers = [\"a\", \"b\"]\n";
        check(all, "", "-p a", Relation::Covers);
        check(all, "-p a", "", Relation::Within);
        check(all, "", "--workspace", Relation::Same);
        let root = "[workspace]\nmembers = [\"b\"]\n[package]\nname = \"a\"\n";
        check(root, "", "-p a", Relation::Same);
        check(root, "", "-p b", Relation::Apart);
        check(root, "--workspace", "", Relation::Covers);
        for unknown in
            ["[workspace]\nmembers = [\"a\"]\ndefault-members = [\"a\"]\n", "", "x = ", "[package]\n"]
        {
            check(unknown, "", "-p a", Relation::Unclear);
            check(unknown, "", "", Relation::Same);
        }
    }
}
