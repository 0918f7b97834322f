//! Finds out what happened to ignored files, even if the ignore rules changed.
//!
//! Git lists what is ignored *now*, and lists a directory as one entry if all of it is ignored. A
//! path that is no longer listed may be there untouched, and a newly listed one may be old. The
//! disk is examined before anything is reported.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::git::differences::Changed;
use crate::git::ignored;
use crate::git::ignored::{IgnoredChange, IgnoredTrace, Traces};
use crate::git::index;
use crate::git::snapshot::TreeBefore;
use crate::git::tree_walk::Time;

struct Ignored<'a> {
    root: &'a Path,
    own: Option<&'a Path>,
    before: &'a Traces,
    after: &'a Traces,
    /// Changes to files that are not ignored.
    changed: &'a [Changed],
    /// Everything in the first snapshot is older than this.
    since: Time,
}

impl Ignored<'_> {
    /// The changes, sorted by path. `known` returns the paths that existed before without being
    /// ignored and that are in, or below, the given paths.
    fn compare(&self, known: impl FnOnce(&HashSet<&[u8]>) -> Vec<Vec<u8>>) -> Vec<(Vec<u8>, IgnoredChange)> {
        let told: HashSet<&[u8]> = self.changed.iter().map(|one| one.path.as_slice()).collect();
        let mut changes = BTreeMap::new();
        let mut new: HashSet<&[u8]> = HashSet::new();
        for (path, now) in self.after {
            match self.before.get(path) {
                Some(then) => changes.extend(self.between(*then, *now).map(|change| (path.clone(), change))),
                // Reported as part of the directory.
                None if parent_dirs(path).any(|dir| self.before.contains_key(dir)) => {}
                None if told.contains(path.as_slice()) => {}
                None => drop(new.insert(path)),
            }
        }
        let gone = self.before.iter().filter(|(path, _)| !self.after.contains_key(*path));
        for (path, then) in gone.filter(|(path, _)| !told.contains(path.as_slice())) {
            changes.extend(self.unlisted(path, *then).map(|change| (path.clone(), change)));
        }
        if !new.is_empty() {
            let known = known(&new);
            changes.extend(new.iter().filter_map(|path| Some((path.to_vec(), self.shown(path, &known)?))));
        }
        changes.into_iter().collect()
    }

    fn between(&self, then: IgnoredTrace, now: IgnoredTrace) -> Option<IgnoredChange> {
        match (then, now) {
            (_, IgnoredTrace::TooMuch { newest }) if newest > self.since => Some(IgnoredChange::Modified),
            (IgnoredTrace::TooMuch { .. }, _) | (_, IgnoredTrace::TooMuch { .. }) => {
                Some(IgnoredChange::Unknown)
            }
            (then, now) => (then != now).then_some(IgnoredChange::Modified),
        }
    }

    /// A path that was ignored and is no longer listed.
    fn unlisted(&self, path: &[u8], then: IgnoredTrace) -> Option<IgnoredChange> {
        if fs::symlink_metadata(self.root.join(OsStr::from_bytes(path))).is_err() {
            return Some(IgnoredChange::Deleted);
        }
        let all = ignored::trace(self.root, path, self.own).remove(path)?;
        if !path.ends_with(b"/") {
            return self.between(then, all);
        }
        let (IgnoredTrace::Seen { files: were, .. }, IgnoredTrace::Seen { files: are, .. }) = (then, all)
        else {
            return self.between(then, all);
        };
        let inside = self.after.iter().filter(|(one, _)| one.starts_with(path));
        let younger = |trace: &IgnoredTrace| match trace {
            IgnoredTrace::Seen { newest, .. } | IgnoredTrace::TooMuch { newest } => *newest > self.since,
        };
        let added = self.changed.iter().filter(|one| one.old.is_none() && one.path.starts_with(path)).count();
        let fewer = are.saturating_sub(added as u64) < were;
        (fewer || inside.map(|(_, trace)| trace).any(younger)).then_some(IgnoredChange::Modified)
    }

    /// A path that was not ignored before. `known` existed before.
    fn shown(&self, path: &[u8], known: &[Vec<u8>]) -> Option<IgnoredChange> {
        let below = |one: &Vec<u8>| one.as_slice() == path || path.ends_with(b"/") && one.starts_with(path);
        let ignored = self.before.iter().filter(|(one, _)| below(one));
        let (mut old, mut too_many) = (0, false);
        for trace in ignored.clone().map(|(_, trace)| trace) {
            match trace {
                IgnoredTrace::Seen { files, .. } => old += files,
                IgnoredTrace::TooMuch { .. } => too_many = true,
            }
        }
        let known: Vec<&Vec<u8>> = known.iter().filter(|one| below(one)).collect();
        if known.is_empty() && ignored.count() == 0 {
            return Some(IgnoredChange::Added);
        }
        // Changes to these are reported one by one.
        let there = |path: &&&Vec<u8>| {
            fs::symlink_metadata(self.root.join(OsStr::from_bytes(path))).is_ok_and(|found| !found.is_dir())
        };
        old += known.iter().filter(there).count() as u64;
        match self.after.get(path)? {
            IgnoredTrace::Seen { files, .. } if !too_many => {
                (*files > old).then_some(IgnoredChange::Modified)
            }
            IgnoredTrace::Seen { .. } | IgnoredTrace::TooMuch { .. } => Some(IgnoredChange::Unknown),
        }
    }
}

impl TreeBefore {
    /// What happened to ignored files between `then` and git's list `now`. `changed` is already
    /// reported, and the `untracked` paths existed before.
    pub(super) fn compare_ignored(
        &self,
        then: &Traces,
        now: &[u8],
        changed: &[Changed],
        untracked: &HashSet<Vec<u8>>,
    ) -> Vec<(Vec<u8>, IgnoredChange)> {
        let own = self.own_path();
        let after = ignored::trace(self.root(), now, own.as_deref());
        let (root, own, since) = (self.root(), own.as_deref(), self.since());
        let ignored = Ignored { root, own, before: then, after: &after, changed, since };
        ignored.compare(|wanted| {
            let mut index = Vec::new();
            let _ = index::read(&self.index_bytes().unwrap_or_default(), self.store.format(), |entry| {
                index.push(entry.path.to_owned());
            });
            at_or_below(wanted, index.iter().chain(untracked).map(Vec::as_slice))
        })
    }
}

/// The directories that contain `path`, each with its trailing slash.
pub(super) fn parent_dirs(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let inner = path.len().saturating_sub(1);
    let slashes = path[..inner].iter().enumerate().filter(|(_, byte)| **byte == b'/');
    slashes.map(|(at, _)| &path[..=at])
}

/// The `paths` that are in, or below, `wanted`.
fn at_or_below<'a>(wanted: &HashSet<&[u8]>, paths: impl Iterator<Item = &'a [u8]>) -> Vec<Vec<u8>> {
    let is = |path: &&[u8]| wanted.contains(path) || parent_dirs(path).any(|dir| wanted.contains(dir));
    paths.filter(is).map(<[u8]>::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: &str, work: &str, after: &str, known: &[&str], expected: &[(&str, IgnoredChange)]) {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        for path in ["logs/a.log", "logs/b.log", "secret"] {
            fs::create_dir_all(at(path).parent().unwrap()).unwrap();
            fs::write(at(path), "1").unwrap();
        }
        let listed = |paths: &str| ignored::trace(dir.path(), paths.replace(' ', "\0").as_bytes(), None);
        let then = listed(before);
        for step in work.split(' ').filter(|step| !step.is_empty()) {
            match step.strip_prefix('-') {
                Some(path) => fs::remove_file(at(path)).unwrap(),
                None => fs::write(at(step), "new").unwrap(),
            }
        }
        let now = listed(after);
        let ignored = Ignored {
            root: dir.path(),
            own: None,
            before: &then,
            after: &now,
            changed: &[],
            since: (i64::MAX, 0),
        };
        let known = known.iter().map(|path| path.as_bytes().to_vec()).collect();
        let told = ignored.compare(|_| known);
        let told: Vec<_> =
            told.iter().map(|(path, kind)| (std::str::from_utf8(path).unwrap(), *kind)).collect();
        assert_eq!(told, expected, "{before}: {work}: {after}");
    }

    #[test]
    fn what_is_listed_otherwise_is_not_changed() {
        check("logs/", "", "logs/a.log logs/b.log", &[], &[]);
        check("logs/a.log logs/b.log", "", "logs/", &[], &[]);
        check("logs/ secret", "", "", &[], &[]);
        check("", "", "secret logs/", &["secret", "logs/a.log", "logs/b.log"], &[]);
    }

    #[test]
    fn what_changed_is_told_however_it_is_listed() {
        use IgnoredChange::{Added, Deleted, Modified};
        check("logs/", "-logs/a.log", "logs/b.log", &[], &[("logs/", Modified)]);
        check("logs/a.log logs/b.log", "logs/c.log", "logs/", &[], &[("logs/", Modified)]);
        check("logs/a.log", "-logs/a.log", "", &[], &[("logs/a.log", Deleted)]);
        check("secret", "secret", "", &[], &[("secret", Modified)]);
        check("", "other", "other logs/", &["logs/a.log", "logs/b.log"], &[("other", Added)]);
        check("", "logs/c", "logs/", &["logs/a.log", "logs/b.log"], &[("logs/", Modified)]);
    }
}
