//! Files that git keeps in another form than they have here, because a program
//! of the user's rewrites them on their way in. None of these is ever run: such
//! a file is compared with what it was itself.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::git::index;
use crate::git::repository::bounded;
use crate::git::runner::Question;
use crate::git::snapshot::Before;
use crate::git::tree_walk::{Found, WorkTree};
use crate::host::{clock, files};

/// No list of attributes is longer.
const LARGEST: u64 = 1 << 20;
const LIMIT: Duration = Duration::from_secs(5);
const ATTRIBUTES: &[u8] = b".gitattributes";
/// Says that there are attributes at all.
const SOME: &str = "attributes";
/// Says that files may be kept in another encoding.
const ENCODED: &str = "encodings";
/// What stands for this filter in git is known without running it.
const KNOWN: &[u8] = b"lfs";

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Filtered {
    /// Kept elsewhere (Git LFS).
    pub(super) elsewhere: Vec<Vec<u8>>,
    pub(super) rewritten: Vec<Vec<u8>>,
}

impl Before {
    /// Begins to ask which tracked files have a filter, where any list of
    /// attributes speaks of one.
    pub(super) fn ask_filters(&self, tree: &mut WorkTree, index: &[u8], until: Duration) -> Option<Question> {
        let mut lists = vec![ATTRIBUTES.to_owned()];
        let mut paths = Vec::new();
        // An index that cannot be read is somebody else's trouble.
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
            // Of one that is longer, all that reading brings is its name.
            let is_short = matches!(tree.look(path), Found::File(stat) if stat.size <= LARGEST);
            let read = is_short && in_time();
            let content = read.then(|| tree.read(path, self.store.format(), LARGEST, in_time).ok()).flatten();
            hear(&content.and_then(|content| content.bytes).unwrap_or_default());
        }
        let (of_filters, of_encodings) = speaks_of;
        let there = |path: &Path| path.metadata().is_ok_and(|found| found.len() > 0);
        if lists.iter().any(|path| there(&self.path(path))) || there(&self.git.file("info/attributes")) {
            // Without it, attributes cost nobody a question.
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
        // A pipe in the place of a list would keep git for ever.
        let until = until.min(clock::monotonic() + LIMIT);
        self.git.begin(&args, &self.repository.root, &self.index(), paths, until).ok()
    }

    /// Whether there are any attributes, before or among `paths`.
    pub(super) fn has_attributes<'p>(&self, mut paths: impl Iterator<Item = &'p [u8]>) -> bool {
        self.git.file(SOME).exists() || paths.any(is_list)
    }

    /// Whether there is a list of attributes now, where most are.
    pub(super) fn has_list(&self) -> bool {
        self.path(ATTRIBUTES).metadata().is_ok_and(|found| found.len() > 0)
    }

    /// Whether attributes spoke of encodings.
    pub(super) fn has_encodings(&self) -> bool {
        self.git.file(ENCODED).exists()
    }

    /// Files whose content is kept elsewhere, as they were noted.
    pub(super) fn kept_elsewhere(&self) -> HashSet<Vec<u8>> {
        let noted = files::read(&self.git.file("elsewhere")).unwrap_or_default();
        noted.split(|&byte| byte == 0).map(<[u8]>::to_owned).collect()
    }
}

/// Whether a path is that of a list of attributes.
pub(super) fn is_list(path: &[u8]) -> bool {
    path.rsplit(|&byte| byte == b'/').next() == Some(ATTRIBUTES)
}

/// Reads path, attribute and value, each with a zero behind it.
pub(super) fn parse(said: &[u8]) -> Filtered {
    let fields: Vec<&[u8]> = said.split(|&byte| byte == 0).collect();
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
        let said = b"a\0filter\0unspecified\0b.nb\0filter\0strip\0c.bin\0filter\0lfs\0d\0filter\0unset\0";
        let filtered = Filtered { elsewhere: vec![b"c.bin".to_vec()], rewritten: vec![b"b.nb".to_vec()] };
        assert_eq!(parse(said), filtered);
        assert_eq!(parse(b""), Filtered::default());
    }
}
