//! File changes from a diff in git's format, which a service made of its own checkout.

use crate::evidence::{ChangeOf, FileRecord, Files, Source};

/// More are counted, but not listed.
const MOST_LISTED: usize = 10_000;

/// The changes of a diff that is applied nowhere; `reason` says so.
pub(super) fn of_diff(diff: &str, reason: String) -> Files {
    let mut changes = parsed(diff);
    let sum = |of: fn(&FileRecord) -> Option<u64>| Some(changes.iter().filter_map(of).sum());
    let mut files = Files { source: Source::Cloud, reason: Some(reason), ..Files::default() };
    files.totals.files = changes.len();
    files.totals.lines_added = sum(|one| one.lines_added);
    files.totals.lines_removed = sum(|one| one.lines_removed);
    files.left_out = changes.len().saturating_sub(MOST_LISTED);
    changes.truncate(MOST_LISTED);
    Files { changes, ..files }
}

fn parsed(diff: &str) -> Vec<FileRecord> {
    let mut changes: Vec<FileRecord> = Vec::new();
    // How many old and new lines of the current hunk are still to come. They may look like headers.
    let (mut old, mut new) = (0_u64, 0_u64);
    for line in diff.lines() {
        if let Some(named) = line.strip_prefix("diff --git ").filter(|_| (old, new) == (0, 0)) {
            changes.push(FileRecord::bare(path_of_header(named), ChangeOf::Modified));
            continue;
        }
        let Some(change) = changes.last_mut() else { continue };
        if (old, new) != (0, 0) {
            match line.as_bytes().first() {
                Some(b'+') => {
                    new = new.saturating_sub(1);
                    *change.lines_added.get_or_insert(0) += 1;
                }
                Some(b'-') => {
                    old = old.saturating_sub(1);
                    *change.lines_removed.get_or_insert(0) += 1;
                }
                Some(b'\\') => {}
                Some(_) | None => (old, new) = (old.saturating_sub(1), new.saturating_sub(1)),
            }
        } else if let Some(hunk) = line.strip_prefix("@@ ") {
            (old, new) = lengths(hunk);
        } else if line.starts_with("new file mode") {
            change.kind = ChangeOf::Added;
        } else if line.starts_with("deleted file mode") {
            change.kind = ChangeOf::Deleted;
        } else if let Some(from) = line.strip_prefix("rename from ") {
            (change.kind, change.old_path) = (ChangeOf::Renamed, Some(from.to_owned()));
        } else if let Some(to) = line.strip_prefix("rename to ") {
            to.clone_into(&mut change.path);
        }
    }
    changes
}

/// The path after a change, from `a/PATH b/PATH`. A quoted path stays quoted.
fn path_of_header(named: &str) -> String {
    match (named.rsplit_once(" b/"), named.rsplit_once(" \"b/")) {
        (_, Some((_, quoted))) => format!("\"{quoted}"),
        (Some((_, plain)), None) => plain.to_owned(),
        (None, None) => named.to_owned(),
    }
}

/// The lengths of both sides, from `-1,4 +1,6 @@ …`.
fn lengths(hunk: &str) -> (u64, u64) {
    let mut sides = hunk.split(' ').map(|side| match side.split_once(',') {
        Some((_, length)) => length.parse().unwrap_or(0),
        None => 1,
    });
    (sides.next().unwrap_or(0), sides.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "\
diff --git a/src/a b.rs b/src/a b.rs
index 1..2 100644
--- a/src/a b.rs
+++ b/src/a b.rs
@@ -1,3 +1,3 @@ fn main() {
 one
--- two
+++ three
 four
@@ -9 +9,0 @@
-gone
\\ No newline at end of file
diff --git a/new b/new
new file mode 100644
--- /dev/null
+++ b/new
@@ -0,0 +1 @@
+diff --git a/x b/x
diff --git a/old b/moved
similarity index 100%
rename from old
rename to moved
diff --git \"a/caf\\303\\251\" \"b/caf\\303\\251\"
deleted file mode 100644
Binary files differ
";

    #[test]
    fn lines_are_counted_within_hunks_alone() {
        let files = of_diff(DIFF, "not applied here".into());
        let told: Vec<_> = files
            .changes
            .iter()
            .map(|one| (one.kind, one.path.as_str(), one.lines_added, one.lines_removed))
            .collect();
        let expected = [
            (ChangeOf::Modified, "src/a b.rs", Some(1), Some(2)),
            (ChangeOf::Added, "new", Some(1), None),
            (ChangeOf::Renamed, "moved", None, None),
            (ChangeOf::Deleted, "\"caf\\303\\251\"", None, None),
        ];
        assert_eq!(told, expected);
        assert_eq!(files.changes[2].old_path.as_deref(), Some("old"));
        let totals = files.totals;
        assert_eq!((totals.files, totals.lines_added, totals.lines_removed), (4, Some(2), Some(2)));
    }
}
