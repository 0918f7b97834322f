//! Finds files that a user's filter program rewrites when git stores them, such as Git LFS. The
//! program is never run; such a file is compared with its own earlier content.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::git::index;
use crate::git::repository::bounded;
use crate::git::runner::PendingAnswer;
use crate::git::snapshot::TreeBefore;
use crate::git::tree_walk::{PathEntry, WorkTree};
use crate::host::{clock, files};

/// Longer attribute files are ignored.
const LARGEST: u64 = 1 << 20;
const LIMIT: Duration = Duration::from_secs(5);
const ATTRIBUTES: &[u8] = b".gitattributes";
/// Marker file: the tree has attributes.
const SOME: &str = "attributes";
/// Marker file: attributes mention encodings.
const ENCODED: &str = "encodings";
/// The result of this filter is known without running it.
const KNOWN: &[u8] = b"lfs";

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Filtered {
    /// Content kept elsewhere (Git LFS).
    pub(super) elsewhere: Vec<Vec<u8>>,
    pub(super) rewritten: Vec<Vec<u8>>,
}

impl TreeBefore {
    /// Starts asking git which tracked files have a filter, if any attribute file mentions one.
    pub(super) fn ask_filters(
        &self,
        tree: &mut WorkTree,
        index: &[u8],
        until: Duration,
    ) -> Option<PendingAnswer> {
        let mut lists = vec![ATTRIBUTES.to_owned()];
        let mut paths = Vec::new();
        // An unreadable index is reported elsewhere.
        index::read(index, self.store.format(), |entry| {
            if is_list(entry.path) {
                lists.push(entry.path.to_owned());
            }
        })
        .ok()?;
        let mut speaks_of = (false, false);
        let mut hear = |bytes: &[u8]| {
            speaks_of.0 |= memchr::memmem::find(bytes, b"filter").is_some();
            speaks_of.1 |= memchr::memmem::find(bytes, b"working-tree-encoding").is_some();
        };
        let settings = self.git.settings().iter();
        let of_user = settings.filter_map(|setting| setting.strip_prefix("core.attributesFile="));
        for path in of_user.map(PathBuf::from).chain([self.git.file("info/attributes")]) {
            hear(&bounded(&path, LARGEST).unwrap_or_default());
        }
        let in_time = || clock::monotonic() < until;
        for path in &lists {
            // Of a longer file only the name would be read.
            let is_short = matches!(tree.look(path), PathEntry::File(stat) if stat.size <= LARGEST);
            let read = is_short && in_time();
            let content = read.then(|| tree.read(path, self.store.format(), LARGEST, in_time).ok()).flatten();
            hear(&content.and_then(|content| content.bytes).unwrap_or_default());
        }
        let (of_filters, of_encodings) = speaks_of;
        let there = |path: &Path| path.metadata().is_ok_and(|found| found.len() > 0);
        if lists.iter().any(|path| there(&self.path(path))) || there(&self.git.file("info/attributes")) {
            // Without this marker nobody asks about attributes.
            let _ = files::write_in_place(self.git.file(SOME), b"");
        }
        if of_encodings {
            let _ = files::write_in_place(self.git.file(ENCODED), b"");
        }
        if !of_filters {
            return None;
        }
        index::read(index, self.store.format(), |entry| {
            paths.extend(entry.path);
            paths.push(0);
        })
        .ok()?;
        let args = ["check-attr", "-z", "--stdin", "filter"].map(OsStr::new);
        // A pipe in place of an attribute file would block git for ever.
        let until = until.min(clock::monotonic() + LIMIT);
        self.git.begin(&args, &self.repository.root, &self.index(), paths, until).ok()
    }

    /// Whether there were attributes before, or are any among `paths`.
    pub(super) fn has_attributes<'p>(&self, mut paths: impl Iterator<Item = &'p [u8]>) -> bool {
        self.git.file(SOME).exists() || paths.any(is_list)
    }

    /// Whether there is an attribute file at the root now.
    pub(super) fn has_list(&self) -> bool {
        self.path(ATTRIBUTES).metadata().is_ok_and(|found| found.len() > 0)
    }

    /// Whether attributes mention encodings.
    pub(super) fn has_encodings(&self) -> bool {
        self.git.file(ENCODED).exists()
    }

    /// The recorded files whose content is kept elsewhere.
    pub(super) fn kept_elsewhere(&self) -> HashSet<Vec<u8>> {
        let noted = files::read(&self.git.file("elsewhere")).unwrap_or_default();
        noted.split(|&byte| byte == 0).map(<[u8]>::to_owned).collect()
    }
}

/// Whether `path` is an attribute file.
pub(super) fn is_list(path: &[u8]) -> bool {
    path.rsplit(|&byte| byte == b'/').next() == Some(ATTRIBUTES)
}

/// Parses records of path, attribute and value, each NUL-terminated.
pub(super) fn parse(output: &[u8]) -> Filtered {
    let fields: Vec<&[u8]> = output.split(|&byte| byte == 0).collect();
    let mut filtered = Filtered::default();
    for record in fields.chunks_exact(3) {
        match record[2] {
            b"unspecified" | b"unset" | b"set" | b"" => {}
            KNOWN => filtered.elsewhere.push(record[0].to_owned()),
            _ => filtered.rewritten.push(record[0].to_owned()),
        }
    }
    filtered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_one_name() {
        assert!(is_list(b".gitattributes") && is_list(b"a/.gitattributes"));
        assert!(!is_list(b"x.gitattributes") && !is_list(b"a/.gitattributes/b"));
    }

    #[test]
    fn only_files_with_a_filter_are_named() {
        let output = b"a\0filter\0unspecified\0b.nb\0filter\0strip\0c.bin\0filter\0lfs\0d\0filter\0unset\0";
        let filtered = Filtered { elsewhere: vec![b"c.bin".to_vec()], rewritten: vec![b"b.nb".to_vec()] };
        assert_eq!(parse(output), filtered);
        assert_eq!(parse(b""), Filtered::default());
    }
}
