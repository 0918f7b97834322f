//! The files of the checkout that a run created or changed, as S2's `artifacts`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::evidence::FileRecord;
use crate::reading::View;
use crate::reply::file_operations::path;

const MOST: usize = 20;

/// A file of the checkout, with its new content.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ChangedFile {
    #[serde(rename = "type")]
    #[schemars(extend("enum" = ["file"]))]
    kind: &'static str,
    /// Its path, relative as in `file_operations`.
    #[serde(rename = "ref")]
    path: String,
    size: u64,
    /// Absent for very large files.
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
}

/// The first files, and how many more there are.
pub(super) fn changed_files(view: &View) -> (Vec<ChangedFile>, usize) {
    let changes = view.evidence.as_ref().map_or(&[][..], |evidence| &evidence.files.changes);
    let file = |change: &FileRecord| {
        let (size, sha256) = (change.size?, change.sha256.clone());
        Some(ChangedFile { kind: "file", path: path(&change.path_bytes()), size, sha256 })
    };
    let mut files: Vec<ChangedFile> = changes.iter().filter_map(file).collect();
    let left_out = files.len().saturating_sub(MOST);
    files.truncate(MOST);
    (files, left_out)
}
