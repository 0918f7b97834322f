//! Describes what a look at a tree could not determine.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::evidence::Edits;
use crate::git;
use crate::git::{Differences, Left, Touched, TreeBefore};
use crate::model::Request;
use crate::text::plain;

/// Only this many are named; the rest are counted.
const MOST_NAMED: usize = 3;
const LONGEST_NAME: usize = 120;

/// What is unknown about the tree itself.
pub(crate) fn in_tree(before: &TreeBefore, found: &Differences) -> Vec<String> {
    let mut gaps = Vec::new();
    match before.left() {
        Left::Whole => {}
        Left::Elsewhere => gaps.push("`.git` no longer leads to a repository; the repository itself still exists".into()),
        Left::Nothing => gaps.push(
            "the repository is gone: commits and the changed lines of tracked files are unknown; ignore rules are those \
             from before the run"
                .into(),
        ),
    }
    if before.unread > 0 {
        let first = match (&before.first_unread, before.unread) {
            (None, _) => String::new(),
            (Some(path), 1) => format!(": {}", name(path)),
            (Some(path), unread) => format!(": {} and {} more", name(path), unread - 1),
        };
        gaps.push(format!(
            "the content of {} before the run was not saved{first}",
            files(before.unread as usize)
        ));
    }
    if before.unseen > 0 {
        gaps.push(format!("{} could not be read before the run", files(before.unseen as usize)));
    }
    if let Some(reason) = &before.unlisted {
        let reason = plain::line(reason, 2 * LONGEST_NAME);
        gaps.push(format!(
            "unknown which untracked files existed before the run: git was asked, and \
             {reason}; files newer than its start are listed as added"
        ));
    }
    if let Some(reason) = &found.unlisted {
        let reason = plain::line(reason, 2 * LONGEST_NAME);
        gaps.push(format!("new files may be missing: git was asked, and {reason}"));
    }
    if before.has_unread_references() {
        gaps.push("commits and branches are unknown: their reftable could not be read".into());
    }
    if let Some(reason) = &found.no_index {
        gaps.push(format!("unknown what was added to the index: {reason}"));
    }
    if found.outside_unknown {
        gaps.push("unknown whether tracked files that are not checked out changed".into());
    }
    if found.ignored.is_none() {
        gaps.push("unknown whether ignored files changed: git could not list them".into());
    }
    gaps.extend(
        named(found.unseen.iter().map(|path| name(path)).collect())
            .map(|list| format!("could not compare these files: {list}")),
    );
    let of = |wanted: Touched| {
        let nested = found.nested.iter().filter(move |(_, touched)| *touched == wanted);
        nested.map(|(path, _)| name(path)).collect::<Vec<_>>()
    };
    gaps.extend(
        named(of(Touched::Yes)).map(|list| format!("something changed in these nested repositories: {list}")),
    );
    gaps.extend(
        named(of(Touched::Unknown))
            .map(|list| format!("unknown whether these nested repositories changed: {list}")),
    );
    gaps.extend(
        named(found.dissolved.iter().map(|path| name(path)).collect())
            .map(|list| format!("no longer nested repositories, and not compared: {list}")),
    );
    gaps
}

/// What is unknown about places outside the tree at `root` that the run could write to, or that the agent
/// reports to have written to.
pub(crate) fn outside(before: &TreeBefore, request: &Request, edits: &Edits) -> Vec<String> {
    let root = before.root();
    let mut left = git::MOST_TOUCHED;
    let places = request.add_dirs.iter().map(|dir| dir.as_path()).filter(|dir| !dir.starts_with(root));
    let touched: Vec<(Touched, String)> = places
        .map(|dir| (git::touched(dir, before.since(), &mut left), name(dir.as_os_str().as_bytes())))
        .collect();
    let of = |wanted: Touched| {
        let of_kind = touched.iter().filter(move |(touched, _)| *touched == wanted);
        named(of_kind.map(|(_, path)| path.clone()).collect())
    };
    let far = |path: &str| Path::new(path).is_absolute() && !Path::new(path).starts_with(root);
    let reported = edits.iter().map(|(path, _)| path).filter(|path| far(path));
    let reported = named(reported.map(|path| name(path.as_bytes())).collect());
    let changed = of(Touched::Yes);
    let unknown = of(Touched::Unknown);
    [
        changed.map(|list| format!("something changed in these directories outside the repository: {list}")),
        unknown
            .map(|list| format!("unknown whether these directories outside the repository changed: {list}")),
        reported.map(|list| format!("the agent reports changes outside the repository: {list}")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The first names, and how many more there are; `None` for an empty list.
fn named(names: Vec<String>) -> Option<String> {
    let more = names.len().saturating_sub(MOST_NAMED);
    let first = names.into_iter().take(MOST_NAMED).collect::<Vec<_>>().join(", ");
    match (first.is_empty(), more) {
        (true, _) => None,
        (false, 0) => Some(first),
        (false, more) => Some(format!("{first} and {more} more")),
    }
}

fn name(path: &[u8]) -> String {
    plain::name(path, LONGEST_NAME)
}

fn files(count: usize) -> String {
    if count == 1 { "1 file".into() } else { format!("{count} files") }
}
