//! Stores captures: files below the home named after their source, their time and their content, so
//! that the same text is stored once.

use std::fs;
use std::io;
use std::path::PathBuf;

use memchr::memchr_iter;
use sha2::{Digest, Sha256};

use crate::host::{Durability, files};
use crate::host::{Home, clock};
use crate::inspect::ContentType;
use crate::storage::file_names::{self, FileRole};

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
        let extension = match content_type {
            ContentType::Json | ContentType::Jsonl => "json",
            ContentType::Log => "log",
            ContentType::Text | ContentType::Binary | ContentType::Unknown => "txt",
        };
        let ending = format!("-{id}.{extension}");
        let name = self.stored(source, &ending);
        let path = self.dir.join(name.unwrap_or_else(|| {
            let time = clock::now().capture_stamp();
            format!("tool-{source}-{time}{ending}")
        }));
        // Rewritten if it exists, so that its modification time shows the last use.
        files::write(&path, text.as_bytes(), Durability::Whole)?;
        Ok(StoredCapture { path, lines: lines(text), bytes: text.len() as u64, content_type })
    }

    /// The name under which the same text of `source` was stored, as far as a cleanup has left it.
    fn stored(&self, source: &str, ending: &str) -> Option<String> {
        let beginning = format!("tool-{source}");
        let names = fs::read_dir(&self.dir).ok()?.flatten().map(|entry| entry.file_name());
        let same = names.filter_map(|name| {
            let (base, role) = file_names::capture(name.to_str()?)?;
            let is_same = base.starts_with(&beginning) && base.ends_with(ending);
            (is_same && role != FileRole::Temporary).then(|| base.to_owned())
        });
        // Two servers may have stored it at the same moment.
        same.max()
    }
}

/// Whether `name` can be the name of a capture, compressed or not.
pub(crate) fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let stem = name.strip_suffix(".gz").unwrap_or(name);
    let stem = [".txt", ".json", ".log"].iter().find_map(|extension| stem.strip_suffix(extension));
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
    fn check(text: &str, lines: u64, content_type: &str, extension: &str) {
        let dir = tempfile::tempdir().unwrap();
        let captures = Captures { dir: dir.path().join("captures") };
        let kept = captures.keep(text, "delegate_results").unwrap();
        assert_eq!(fs::read_to_string(&kept.path).unwrap(), text);
        assert_eq!(
            (kept.lines, kept.bytes, kept.content_type.as_str()),
            (lines, text.len() as u64, content_type)
        );
        let name = kept.path.file_name().unwrap().to_str().unwrap().to_owned();
        let rest = name.strip_prefix("tool-delegate_results-").unwrap();
        let (time, hash) = rest.split_at("2026-01-13T10-30-00".len());
        assert!(jiff::civil::DateTime::strptime("%Y-%m-%dT%H-%M-%S", time).is_ok(), "{name}");
        assert_eq!(hash.len(), "-.".len() + 32 + extension.len());
        assert!(name.ends_with(&format!(".{extension}")) && is_name(&name), "{name}");
    }

    #[test]
    fn a_text_is_kept_as_it_is_and_counted() {
        check(&"line\n".repeat(500), 500, "text", "txt");
        check("no newline at its end", 1, "text", "txt");
        check("é\n\nü", 3, "text", "txt");
        check(r#"{ "a": [1, 2] }"#, 1, "json", "json");
        check("", 0, "unknown", "txt");
        check("2026-11-15T10:00:00Z one\n2026-11-15T10:00:01Z two\n", 2, "log", "log");
    }

    #[test]
    fn the_same_text_is_kept_once() {
        let dir = tempfile::tempdir().unwrap();
        let captures = Captures { dir: dir.path().to_owned() };
        let kept: Vec<_> = ["x", "x", "y"].map(|text| captures.keep(text, "a").unwrap().path).into();
        assert!(kept[0] == kept[1] && kept[0] != kept[2]);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
        assert_ne!(captures.keep("x", "b").unwrap().path, kept[0]);
    }

    /// In which form it is stored now, and with the name of which release.
    #[test]
    fn a_text_that_was_stored_before_keeps_its_name() {
        let hash = "2d711642b726b04401627ca9fbac32f5";
        for base in [format!("tool-a-2026-01-13T10-30-00-{hash}.txt"), format!("tool-a-{hash}.txt")] {
            for suffix in ["", ".gz", ".aside", ".pin"] {
                let dir = tempfile::tempdir().unwrap();
                fs::write(dir.path().join(format!("{base}{suffix}")), "").unwrap();
                let captures = Captures { dir: dir.path().to_owned() };
                assert_eq!(captures.keep("x", "a").unwrap().path, dir.path().join(&base), "{suffix}");
            }
        }
    }
}
