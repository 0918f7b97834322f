//! Cuts a long output to what fits a reply: its beginning and its end, cut between lines where possible and
//! always between characters.

use std::path::Path;

use crate::ledger::output_stream;
use crate::redact;
use crate::text::plain;
use crate::text::{mark, without_marks};

/// How far beyond a cut to read, to recognise a secret that is cut in two.
const MARGIN: u64 = redact::MARGIN as u64;

/// How far before the end of a file to read, because a private key may have begun there.
const LOOK_BACK: u64 = 64 << 10;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Excerpt {
    pub(crate) text: String,
    /// Size of the whole, in bytes.
    pub(crate) total_bytes: u64,
    pub(crate) cut: bool,
}

impl Excerpt {
    /// The last `most` bytes of a file.
    pub(crate) fn tail(path: &Path, most: u64) -> Self {
        let Ok((bytes, total)) = output_stream::tail(path, most + LOOK_BACK) else { return Self::default() };
        Self::from_ends(&[], redaction_window(&bytes, most), total, (0, most as usize))
    }

    /// The last `most` bytes of a text.
    pub(crate) fn end_of(text: &[u8], most: u64) -> Self {
        let near = text.len().saturating_sub((most + LOOK_BACK) as usize);
        Self::from_ends(&[], redaction_window(&text[near..], most), text.len() as u64, (0, most as usize))
    }

    /// Appends another excerpt.
    pub(crate) fn followed_by(self, other: Excerpt) -> Self {
        Self {
            text: self.text + &other.text,
            total_bytes: self.total_bytes + other.total_bytes,
            cut: self.cut || other.cut,
        }
    }

    /// The first and last bytes of a file, `most` in all.
    pub(crate) fn ends(path: &Path, most: u64) -> Self {
        let Ok(all) = output_stream::open_joined(path) else { return Self::default() };
        let total = all.length();
        let read = |range| all.bytes(range).unwrap_or_default();
        if total <= most {
            let bytes = read(0..total);
            return Self::from_ends(&[], &bytes, bytes.len() as u64, (0, most as usize));
        }
        let room = most - most / 2;
        let last = read(total.saturating_sub(room + LOOK_BACK)..total);
        let first = read(0..total.min(most / 2 + MARGIN));
        Self::from_ends(&first, redaction_window(&last, room), total, halves(most))
    }

    /// Builds an excerpt of `total` bytes from the two ends that were read, which may make up the whole. At
    /// most `rooms` bytes of each are shown; the rest only helps to find secrets that a cut would split.
    fn from_ends(head: &[u8], tail: &[u8], total: u64, rooms: (usize, usize)) -> Self {
        let known = (head.len() + tail.len()) as u64;
        if known >= total && total <= (rooms.0 + rooms.1) as u64 {
            let whole = printable(&[head, tail].concat());
            if whole.is_empty() && total > 0 {
                return Self { text: mark(total), total_bytes: total, cut: true };
            }
            let text = without_marks(redact::text(&whole).into_owned());
            return Self { text, total_bytes: total, cut: false };
        }
        let first = &head[..head.len().min(rooms.0)];
        let first = &first[..first.iter().rposition(|&byte| byte == b'\n').map_or(first.len(), |at| at + 1)];
        let last = &tail[tail.len().saturating_sub(rooms.1)..];
        let from = last.iter().position(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        // A single endless line is cut where the limit falls.
        let last = if from < last.len() { &last[from..] } else { last };
        let left_out = total - (first.len() + last.len()) as u64;
        let (beginning, ending) = (printable(first), printable(last));
        let (ended, untold) =
            redact::ending(&ending, &(printable(&tail[..tail.len() - last.len()]) + &ending));
        let text = format!(
            "{}{}{}",
            without_marks(redact::beginning(
                &beginning,
                &(beginning.clone() + &printable(&head[first.len()..]))
            )),
            mark(left_out + untold as u64),
            without_marks(ended)
        );
        Self { text, total_bytes: total, cut: true }
    }
}

/// The part of the file's end that redaction needs to show its last `room` bytes safely.
fn redaction_window(end: &[u8], room: u64) -> &[u8] {
    let near = end.len().saturating_sub((room + MARGIN) as usize);
    // Redaction must see where an open key begins.
    if redact::last_key_mark(&end[..near], b"").is_some() { end } else { &end[near..] }
}

/// Splits `most` bytes between beginning and end.
fn halves(most: u64) -> (usize, usize) {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    (most / 2, most - most / 2)
}

/// The bytes as printable text, without a cut character at either end.
pub(crate) fn printable(bytes: &[u8]) -> String {
    // Skip the rest of a character that was cut.
    let start = bytes.iter().take(3).take_while(|&&byte| byte & 0xc0 == 0x80).count();
    let text = String::from_utf8_lossy(&bytes[start..]);
    plain::printed(text.trim_end_matches('\u{fffd}'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(content: &str, most: u64, text: &str, cut: bool) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        std::fs::write(&path, content).unwrap();
        let expected = Excerpt { text: text.to_owned(), total_bytes: content.len() as u64, cut };
        assert_eq!(Excerpt::ends(&path, most), expected);
    }

    #[test]
    fn what_fits_is_whole() {
        check("one\ntwo\n", 8, "one\ntwo\n", false);
        check("", 8, "", false);
    }

    #[test]
    fn a_long_output_keeps_both_ends_and_says_what_is_missing() {
        check("first\nmiddle\nmiddle\nlast\n", 16, "first\n… (14 bytes left out)\nlast\n", true);
    }

    #[test]
    fn output_that_cannot_be_shown_is_said_to_be_left_out() {
        check("\u{7}\u{1}\u{1b}[0m", 8, "… (6 bytes left out)\n", true);
        check("\u{7}\u{1}\n", 8, "\n", false);
    }

    #[test]
    fn a_run_cannot_print_a_mark_of_ours() {
        check("… (5 bytes left out)\n", 90, "... (5 bytes left out)\n", false);
        let hidden = "a\n…\u{7} (5 bytes left out)\n";
        let text = format!("{hidden}{hidden}{hidden}");
        let shown = "a\n... (5 bytes left out)\n";
        check(&text, 60, &format!("{shown}a\n… (24 bytes left out)\n{shown}"), true);
    }

    #[test]
    fn one_endless_line_is_cut_between_characters() {
        check(&"é".repeat(50), 9, "éé… (91 bytes left out)\néé", true);
    }

    #[test]
    fn a_progress_bar_is_its_last_state() {
        check("begin\nget 1%\rget 50%\rget 100%\nend\n", 90, "begin\nget 100%\nend\n", false);
        let bar: String = (0..1000).map(|step| format!("get {step:03}\r")).collect();
        check(&bar, 80, "get 004… (7920 bytes left out)\nget 999", true);
    }

    #[test]
    fn a_tail_says_that_it_is_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        std::fs::write(&path, "one\ntwo\nthree\n").unwrap();
        assert_eq!(Excerpt::tail(&path, 9).text, "… (8 bytes left out)\nthree\n");
        assert_eq!(Excerpt::tail(&path, 90).text, "one\ntwo\nthree\n");
        assert_eq!(Excerpt::tail(&dir.path().join("none"), 9), Excerpt::default());
    }

    #[test]
    fn no_cut_shows_a_part_of_a_secret() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let line = format!("{}\n", "a7Bq9ZkT3mXw5Rc1".repeat(4));
        let key = |lines: usize| format!("-----BEGIN {} KEY-----\n{}", "PRIVATE", line.repeat(lines));
        let token = format!("{} {}{} ", "x".repeat(30), "ghp_", "a7Bq9ZkT3mXw".repeat(3));
        let long = |text: &str, length: usize| text.repeat(length / text.len());
        // Keys without an end, longer than any window; and tokens cut at every place.
        let keys = [1, 15, 40, 70, 150, 400].map(key);
        let tokens = (0..40).map(|shift| format!("{}{}", "z".repeat(shift), long(&token, 1000)));
        for content in keys
            .into_iter()
            .flat_map(|key| [format!("a\n{key}"), format!("{}{key}", long("a b\n", 3000))])
            .chain(tokens)
        {
            std::fs::write(&path, &content).unwrap();
            for most in [64, 200, 1024, 2048, 3000] {
                for shown in [Excerpt::tail(&path, most), Excerpt::ends(&path, most)] {
                    assert!(!shown.text.contains("Bq9Z") && !shown.text.contains("Rc1"), "{most}: {shown:?}");
                }
            }
        }
    }
}
