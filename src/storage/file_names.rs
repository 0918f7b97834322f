//! The file names of captures and terminals. Files with other names are left alone.

use crate::model::TerminalId;
use crate::storage::captures;

/// Suffix of a compressed file.
pub(crate) const PACKED: &str = ".gz";
/// Suffix of a compressed file being written by the holder of the cleanup lock.
pub(crate) const UNFINISHED: &str = ".gz.tmp";
/// Suffix of a file that is checked once more before it is deleted.
pub(crate) const ASIDE: &str = ".aside";
/// Suffix of a terminal that is being deleted.
pub(crate) const GONE: &str = ".gone";
/// Suffix of the mark that keeps a capture regardless of its age.
const PINNED: &str = ".pin";
const TEMPORARY: &str = ".tmp";

/// The role of a file that belongs to a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileRole {
    Plain,
    Packed,
    Pin,
    Unfinished,
    Aside,
    /// Being written, or left unfinished.
    Temporary,
}

/// The capture that a file belongs to, and the file's role.
pub(crate) fn capture(name: &str) -> Option<(&str, FileRole)> {
    let suffixes = [
        (UNFINISHED, FileRole::Unfinished),
        (PACKED, FileRole::Packed),
        (PINNED, FileRole::Pin),
        (ASIDE, FileRole::Aside),
        (TEMPORARY, FileRole::Temporary),
    ];
    let found = suffixes.iter().find_map(|(suffix, part)| Some((name.strip_suffix(suffix)?, *part)));
    let (base, part) = match found {
        // Preceded by process id and a number.
        Some((rest, FileRole::Temporary)) => (rest.rsplit_once('.')?.0, FileRole::Temporary),
        Some(found) => found,
        None => (name, FileRole::Plain),
    };
    is_capture(base).then_some((base, part))
}

fn is_capture(name: &str) -> bool {
    captures::is_name(name) && !name.ends_with(PACKED)
}

pub(crate) fn is_terminal(name: &str) -> bool {
    name.parse::<TerminalId>().is_ok_and(|id| id.as_str() == name)
}

/// The name of a capture's mark.
pub(crate) fn pin_of(capture: &str) -> String {
    format!("{capture}{PINNED}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminals;

    #[test]
    fn a_file_is_known_by_its_name() {
        let name = "tool-delegate_results-0a1b.txt";
        for (suffix, part) in [
            ("", FileRole::Plain),
            (".gz", FileRole::Packed),
            (".pin", FileRole::Pin),
            (".gz.tmp", FileRole::Unfinished),
            (".aside", FileRole::Aside),
            (".4711-0.tmp", FileRole::Temporary),
        ] {
            assert_eq!(capture(&format!("{name}{suffix}")), Some((name, part)), "{suffix}");
        }
        assert_eq!(capture("tool-x-0.json.gz"), Some(("tool-x-0.json", FileRole::Packed)));
        assert_eq!(capture("tool-x-0.log.gz"), Some(("tool-x-0.log", FileRole::Packed)));
        assert_eq!(capture(&pin_of(name)), Some((name, FileRole::Pin)));
        for foreign in
            ["", "notes.txt", "tool-.txt", "tool-a.txt.zip", "tool-../x.txt", "tool-a\n.txt", ".tmp"]
        {
            assert_eq!(capture(foreign), None, "{foreign}");
        }
    }

    #[test]
    fn a_terminal_is_compressed_under_the_name_it_is_read_by() {
        assert_eq!(format!("{}{PACKED}", terminals::OUTPUT), terminals::PACKED);
    }

    #[test]
    fn a_terminal_is_known_by_its_name() {
        assert!(is_terminal("term-0a1b2c3d4e5f"));
        for foreign in
            ["", "term-", "term-0a/..", "term-0a1b2c3d4e5f.gone", "TERM-0A1B2C3D4E5F", "T-local-0a1b2c3d4e5f"]
        {
            assert!(!is_terminal(foreign), "{foreign}");
        }
    }
}
