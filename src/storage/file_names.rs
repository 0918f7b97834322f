//! How the files of captures and terminals are called. What is called
//! otherwise is somebody else's, and left alone.

use crate::model::TerminalId;
use crate::storage::captures;

/// After the name of a file: its compressed version.
pub(crate) const PACKED: &str = ".gz";
/// The same while it is being written. Only who holds the lock makes one.
pub(crate) const UNFINISHED: &str = ".gz.tmp";
/// A file on its way out, until it is certain that it is the one that was meant.
pub(crate) const ASIDE: &str = ".aside";
/// After the name of a terminal: what is left of it is being removed.
pub(crate) const GONE: &str = ".gone";
/// After the name of a capture: it is kept whatever its age.
const PINNED: &str = ".pin";
const TEMPORARY: &str = ".tmp";

/// What a file beside a capture is to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Plain,
    Packed,
    Pin,
    Unfinished,
    Aside,
    /// One that is being written by whoever keeps a capture, or never was finished.
    Temporary,
}

/// The capture that a file belongs to, and what it is to it.
pub(crate) fn capture(name: &str) -> Option<(&str, Part)> {
    let suffixes = [
        (UNFINISHED, Part::Unfinished),
        (PACKED, Part::Packed),
        (PINNED, Part::Pin),
        (ASIDE, Part::Aside),
        (TEMPORARY, Part::Temporary),
    ];
    let found = suffixes.iter().find_map(|(suffix, part)| Some((name.strip_suffix(suffix)?, *part)));
    let (base, part) = match found {
        // The process and a number stand before it.
        Some((rest, Part::Temporary)) => (rest.rsplit_once('.')?.0, Part::Temporary),
        Some(found) => found,
        None => (name, Part::Plain),
    };
    is_capture(base).then_some((base, part))
}

fn is_capture(name: &str) -> bool {
    captures::is_name(name) && !name.ends_with(PACKED)
}

pub(crate) fn is_terminal(name: &str) -> bool {
    name.parse::<TerminalId>().is_ok_and(|id| id.as_str() == name)
}

/// The mark of a capture.
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
            ("", Part::Plain),
            (".gz", Part::Packed),
            (".pin", Part::Pin),
            (".gz.tmp", Part::Unfinished),
            (".aside", Part::Aside),
            (".4711-0.tmp", Part::Temporary),
        ] {
            assert_eq!(capture(&format!("{name}{suffix}")), Some((name, part)), "{suffix}");
        }
        assert_eq!(capture("tool-x-0.json.gz"), Some(("tool-x-0.json", Part::Packed)));
        assert_eq!(capture(&pin_of(name)), Some((name, Part::Pin)));
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
