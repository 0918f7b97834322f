//! Test cases in files: a JSON array a line. Lines that begin otherwise are comments.

use serde::de::DeserializeOwned;

pub(crate) fn test_rows<T: DeserializeOwned>(file: &str) -> impl Iterator<Item = T> {
    let rows = file.lines().filter(|line| line.starts_with('['));
    rows.map(|row| serde_json::from_str(row).unwrap_or_else(|error| panic!("{error}: {row}")))
}
