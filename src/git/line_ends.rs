//! The one rule about line ends that git does not tell: where it only guesses
//! what is text, a file that it has with both bytes at the end of a line stays
//! as it is.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;

use super::content::LARGE;
use super::conversion::Conversion;
use super::index;
use super::object::Oid;

/// Most that is read of git's objects at a time.
const MOST: u64 = 64 << 20;
const ATTRIBUTES: [&str; 3] = ["text", "crlf", "eol"];

/// Of `paths`, those that the rule is about, where `index` says what git has.
pub(super) fn left_alone<'p>(
    conversion: &Conversion<'_>,
    paths: &[&'p [u8]],
    index: &[u8],
) -> HashSet<&'p [u8]> {
    let guessed = guessed(conversion, paths);
    let wanted: HashSet<&[u8]> = paths.iter().copied().filter(|path| guessed.contains(*path)).collect();
    if wanted.is_empty() {
        return HashSet::new();
    }
    let mut names: HashMap<Vec<u8>, Oid> = HashMap::new();
    // While a merge is unfinished, what counts is our own side of it.
    let _ = index::read(index, conversion.format, |entry| {
        if matches!(entry.stage, 0 | 2) && wanted.contains(entry.path) {
            names.insert(entry.path.to_owned(), entry.oid);
        }
    });
    let with_both = with_both(conversion, names.values().copied().collect());
    let is_left = |path: &&[u8]| names.get(*path).is_some_and(|oid| with_both.contains(oid));
    paths.iter().copied().filter(is_left).collect()
}

/// Of `paths`, those of which no attribute says that they are text or are not.
fn guessed(conversion: &Conversion<'_>, paths: &[&[u8]]) -> HashSet<Vec<u8>> {
    let args: Vec<&OsStr> =
        ["check-attr", "-z", "--stdin"].into_iter().chain(ATTRIBUTES).map(OsStr::new).collect();
    let input: Vec<u8> = paths.iter().flat_map(|path| [path, b"\0".as_slice()].concat()).collect();
    let Conversion { git, root, index, until, .. } = conversion;
    let said = git.ask(&args, root, index, input, *until).unwrap_or_default();
    let fields: Vec<&[u8]> = said.split(|&byte| byte == 0).collect();
    // Three attributes of each path, of three fields each.
    let records = fields.chunks_exact(9).filter(|record| is_guessed(record[2], record[5], record[8]));
    records.map(|record| record[0].to_owned()).collect()
}

/// As git reads them: `crlf` is what `text` was called once, and who says how
/// lines end says that there are some.
fn is_guessed(text: &[u8], crlf: &[u8], eol: &[u8]) -> bool {
    let said = |value: &[u8]| matches!(value, b"set" | b"unset" | b"input" | b"auto");
    match (text, crlf) {
        (text, _) if said(text) => text == b"auto",
        (_, crlf) if said(crlf) => crlf == b"auto",
        _ => !matches!(eol, b"lf" | b"crlf"),
    }
}

/// Of `names`, those of objects that have both bytes at the end of a line.
fn with_both(conversion: &Conversion<'_>, names: HashSet<Oid>) -> HashSet<Oid> {
    let lines = |names: &[Oid]| names.iter().map(|oid| format!("{oid}\n")).collect::<String>().into_bytes();
    let ask = |args: &[&str], names: &[Oid]| {
        conversion.git.ask_objects(args, lines(names), conversion.until).unwrap_or_default()
    };
    let names: Vec<Oid> = names.into_iter().collect();
    let sizes = ask(&["cat-file", "--batch-check=%(objectname) %(objectsize)"], &names);
    let sized = |line: &str| {
        let (name, size) = line.split_once(' ')?;
        Some((Oid::from_hex(name)?, size.parse::<u64>().ok().filter(|size| *size <= LARGE)?))
    };
    let mut parts: Vec<(u64, Vec<Oid>)> = Vec::new();
    for (name, size) in String::from_utf8_lossy(&sizes).lines().filter_map(sized) {
        match parts.last_mut() {
            Some((all, part)) if *all + size <= MOST => {
                *all += size;
                part.push(name);
            }
            Some(_) | None => parts.push((size, vec![name])),
        }
    }
    parts.iter().flat_map(|(_, part)| read(&ask(&["cat-file", "--batch"], part))).collect()
}

/// `<name> <kind> <size>`, a line end, so many bytes, and another line end.
fn read(said: &[u8]) -> Vec<Oid> {
    let mut found = Vec::new();
    let mut rest = said;
    while let Some(end) = memchr::memchr(b'\n', rest) {
        let head = String::from_utf8_lossy(&rest[..end]).into_owned();
        let [name, _, size] = head.split(' ').collect::<Vec<_>>()[..] else { break };
        let (Some(name), Ok(size)) = (Oid::from_hex(name), size.parse::<usize>()) else { break };
        let Some((bytes, after)) = rest[end + 1..].split_at_checked(size) else { break };
        if memchr::memmem::find(bytes, b"\r\n").is_some() {
            found.push(name);
        }
        rest = after.strip_prefix(b"\n").unwrap_or_default();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_attribute_calls_text_is_not_guessed() {
        let unspecified = b"unspecified".as_slice();
        for (text, crlf, eol, expected) in [
            (unspecified, unspecified, unspecified, true),
            (b"auto", unspecified, unspecified, true),
            (b"auto", unspecified, b"crlf", true),
            (unspecified, b"auto", unspecified, true),
            (b"other", unspecified, unspecified, true),
            (b"set", unspecified, unspecified, false),
            (b"unset", b"auto", unspecified, false),
            (unspecified, b"set", unspecified, false),
            (unspecified, b"input", unspecified, false),
            (unspecified, unspecified, b"crlf", false),
            (unspecified, unspecified, b"lf", false),
        ] {
            assert_eq!(is_guessed(text, crlf, eol), expected, "{text:?} {crlf:?} {eol:?}");
        }
    }

    #[test]
    fn objects_are_told_apart_whatever_is_in_them() {
        let (one, two, three) = ("0a".repeat(20), "0b".repeat(20), "0c".repeat(20));
        let said = format!("{one} blob 5\na\r\nb\n\n{two} blob 3\na\nb\n{three} blob 0\n\n{one} missing\n");
        assert_eq!(read(said.as_bytes()), [Oid::from_hex(&one).unwrap()]);
        assert_eq!(read(b"nonsense"), []);
        assert_eq!(read(format!("{one} blob 50\n\r\n").as_bytes()), []);
    }
}
