//! What a look at a tree could not find out, in words.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::evidence::Edits;
use crate::git;
use crate::git::{Differences, Left, Touched, TreeBefore};
use crate::model::Request;
use crate::text::plain;

/// Named one by one; of more only their number is told.
const MOST_NAMED: usize = 3;
const LONGEST_NAME: usize = 120;

/// What is not known of the tree itself.
pub(crate) fn in_tree(before: &TreeBefore, found: &Differences) -> Vec<String> {
    let mut gaps = Vec::new();
    match before.left() {
        Left::Whole => {}
        Left::Elsewhere => gaps.push("`.git` leads to no repository any more, what it led to is there".into()),
        Left::Nothing => gaps.push(
            "the repository is gone, with all that it held: what was committed is not known, nor the lines of \
             files that were tracked; what is ignored is told by the rules from before"
                .into(),
        ),
    }
    if before.unread > 0 {
        let first = match (&before.first_unread, before.unread) {
            (None, _) => String::new(),
            (Some(path), 1) => format!(": {}", name(path)),
            (Some(path), unread) => format!(": {} and {} more", name(path), unread - 1),
        };
        gaps.push(format!("what {} held before the run was not kept{first}", files(before.unread as usize)));
    }
    if before.unseen > 0 {
        gaps.push(format!("{} could not be looked at before the run", files(before.unseen as usize)));
    }
    if let Some(reason) = &before.unlisted {
        let reason = plain::line(reason, 2 * LONGEST_NAME);
        gaps.push(format!(
            "which files were there before the run without being tracked is not known: git was asked, and \
             {reason}; those that are younger than its start are told as added"
        ));
    }
    if let Some(reason) = &found.unlisted {
        let reason = plain::line(reason, 2 * LONGEST_NAME);
        gaps.push(format!("new files could not be looked for everywhere: git was asked, and {reason}"));
    }
    if before.has_unread_references() {
        gaps.push("commits and branches are not known: their reftable could not be read".into());
    }
    if let Some(reason) = &found.no_index {
        gaps.push(format!("what was added to the index is not known: {reason}"));
    }
    if found.outside_unknown {
        gaps.push("what became of files that are tracked and not checked out is not known".into());
    }
    if found.ignored.is_none() {
        gaps.push("what became of ignored files is not known: git could not list them".into());
    }
    gaps.extend(
        named(found.unseen.iter().map(|path| name(path)).collect())
            .map(|list| format!("whether these changed is not known, they could not be compared: {list}")),
    );
    let of = |wanted: Touched| {
        let nested = found.nested.iter().filter(move |(_, touched)| *touched == wanted);
        nested.map(|(path, _)| name(path)).collect::<Vec<_>>()
    };
    gaps.extend(inside("something changed in", of(Touched::Yes)));
    gaps.extend(inside("whether something changed is not known of", of(Touched::Unknown)));
    gaps.extend(
        named(found.dissolved.iter().map(|path| name(path)).collect())
            .map(|list| format!("no repositories of their own any more, and not compared: {list}")),
    );
    gaps
}

fn inside(what: &str, paths: Vec<String>) -> Option<String> {
    Some(format!("{what} repositories of their own, which are not looked into: {}", named(paths)?))
}

/// What is not known of places outside the tree at `root` that the run could
/// write to, or says it wrote to.
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
        changed.map(|list| format!("something changed in directories that are not looked into: {list}")),
        unknown.map(|list| format!("whether something changed is not known of directories outside: {list}")),
        reported.map(|list| format!("the agent reports changes outside the repository: {list}")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The first of them, and how many more; `None` where there are none.
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
