//! Stores captures: files below the home named after their source and content, so that the same
//! text is stored once.

use std::io;
use std::path::PathBuf;

use memchr::memchr_iter;
use sha2::{Digest, Sha256};

use crate::host::Home;
use crate::host::{Durability, files};
use crate::inspect::ContentType;

/// Enough to detect the type of a text.
const SAMPLE: usize = 256 << 10;

/// The directory of captures.
#[derive(Debug, Clone)]
pub(crate) struct Captures {
    dir: PathBuf,
}

/// A stored text and its size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredCapture {
    pub(crate) path: PathBuf,
    pub(crate) lines: u64,
    pub(crate) bytes: u64,
    pub(crate) content_type: ContentType,
}

impl Captures {
    pub(crate) fn of(home: &Home) -> Self {
        Self { dir: home.captures() }
    }

    /// Stores `text`, a reply of `source`.
    pub(crate) fn keep(&self, text: &str, source: &str) -> io::Result<StoredCapture> {
        files::ensure_dir(&self.dir)?;
        // Unguessable: only those who know the text can compute the name.
        let digest = Sha256::digest(text);
        let id: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        let sample = &text.as_bytes()[..text.len().min(SAMPLE)];
        let content_type = ContentType::of(sample, sample.len() == text.len());
        let extension = if content_type == ContentType::Json { "json" } else { "txt" };
        let path = self.dir.join(format!("tool-{source}-{id}.{extension}"));
        // Rewritten if it exists, so that its modification time shows the last use.
        files::write(&path, text.as_bytes(), Durability::Whole)?;
        Ok(StoredCapture { path, lines: lines(text), bytes: text.len() as u64, content_type })
    }
}

/// Whether `name` can be the name of a capture, compressed or not.
pub(crate) fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let stem = name.strip_suffix(".gz").unwrap_or(name);
    let stem = stem.strip_suffix(".txt").or_else(|| stem.strip_suffix(".json"));
    let rest = stem.and_then(|stem| stem.strip_prefix("tool-")).unwrap_or_default();
    (1..=128).contains(&rest.len()) && rest.bytes().all(plain)
}

/// Counts lines like `inspect_output`: text after the last newline is a line too.
fn lines(text: &str) -> u64 {
    let ended = memchr_iter(b'\n', text.as_bytes()).count() as u64;
    ended + u64::from(!text.is_empty() && !text.ends_with('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, lines: u64, content_type: &str) {
        let dir = tempfile::tempdir().unwrap();
        let captures = Captures { dir: dir.path().join("captures") };
        let kept = captures.keep(text, "delegate_results").unwrap();
        assert_eq!(std::fs::read_to_string(&kept.path).unwrap(), text);
        assert_eq!(
            (kept.lines, kept.bytes, kept.content_type.as_str()),
            (lines, text.len() as u64, content_type)
        );
        let name = kept.path.file_name().unwrap().to_str().unwrap().to_owned();
        assert!(name.starts_with("tool-delegate_results-"), "{name}");
    }

    #[test]
    fn a_text_is_kept_as_it_is_and_counted() {
        check(&"line\n".repeat(500), 500, "text");
        check("no newline at its end", 1, "text");
        check("é\n\nü", 3, "text");
        check(r#"{ "a": [1, 2] }"#, 1, "json");
        check("", 0, "unknown");
        check("2026-11-15T10:00:00Z one\n2026-11-15T10:00:01Z two\n", 2, "log");
    }

    #[test]
    fn the_same_text_is_kept_once() {
        let dir = tempfile::tempdir().unwrap();
        let captures = Captures { dir: dir.path().to_owned() };
        let kept: Vec<_> = ["x", "x", "y"].map(|text| captures.keep(text, "a").unwrap().path).into();
        assert!(kept[0] == kept[1] && kept[0] != kept[2]);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
    }
}
