//! Applies the one line-end rule that git does not report: if git guesses what is text, a file that
//! it stores with CRLF stays as it is.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;

use crate::git::changed_content::LARGE;
use crate::git::conversion::Conversion;
use crate::git::index;
use crate::git::object::Oid;
use crate::host::BoundedRunError;

/// How much of git's objects is read at once, and in all.
const MOST_AT_ONCE: u64 = 64 << 20;
const MOST: u64 = 512 << 20;
const ATTRIBUTES: [&str; 3] = ["text", "crlf", "eol"];

/// Which paths the rule applies to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct LeftAlone<'p> {
    pub(super) alone: HashSet<&'p [u8]>,
    /// Git could not say, or not in time.
    pub(super) unknown: HashSet<&'p [u8]>,
}

/// Which of `paths` the rule applies to. `index` says what git stores.
pub(super) fn left_alone<'p>(conversion: &Conversion<'_>, paths: &[&'p [u8]], index: &[u8]) -> LeftAlone<'p> {
    let Ok(guessed) = guessed(conversion, paths) else {
        return LeftAlone { unknown: paths.iter().copied().collect(), ..LeftAlone::default() };
    };
    let wanted: HashSet<&[u8]> = paths.iter().copied().filter(|path| guessed.contains(*path)).collect();
    if wanted.is_empty() {
        return LeftAlone::default();
    }
    let mut names: HashMap<Vec<u8>, Oid> = HashMap::new();
    // In an unfinished merge our own side counts.
    let _ = index::read(index, conversion.format, |entry| {
        if matches!(entry.stage, 0 | 2) && wanted.contains(entry.path) {
            names.insert(entry.path.to_owned(), entry.oid);
        }
    });
    let (with_both, unread) = with_both(conversion, names.values().copied().collect());
    let among = |these: &HashSet<Oid>| {
        let is_one = |path: &&[u8]| names.get(*path).is_some_and(|oid| these.contains(oid));
        paths.iter().copied().filter(is_one).collect()
    };
    LeftAlone { alone: among(&with_both), unknown: among(&unread) }
}

/// Those of `paths` that no attribute marks as text or binary.
fn guessed(conversion: &Conversion<'_>, paths: &[&[u8]]) -> Result<HashSet<Vec<u8>>, BoundedRunError> {
    let args: Vec<&OsStr> =
        ["check-attr", "-z", "--stdin"].into_iter().chain(ATTRIBUTES).map(OsStr::new).collect();
    let input: Vec<u8> = paths.iter().flat_map(|path| [path, b"\0".as_slice()].concat()).collect();
    let Conversion { git, root, index, until, .. } = conversion;
    let output = git.ask(&args, root, index, input, *until)?;
    let fields: Vec<&[u8]> = output.split(|&byte| byte == 0).collect();
    // Three attributes per path, three fields each.
    let records = fields.chunks_exact(9).filter(|record| is_guessed(record[2], record[5], record[8]));
    Ok(records.map(|record| record[0].to_owned()).collect())
}

/// As in git: `crlf` is the old name of `text`, and setting `eol` implies text.
fn is_guessed(text: &[u8], crlf: &[u8], eol: &[u8]) -> bool {
    let output = |value: &[u8]| matches!(value, b"set" | b"unset" | b"input" | b"auto");
    match (text, crlf) {
        (text, _) if output(text) => text == b"auto",
        (_, crlf) if output(crlf) => crlf == b"auto",
        _ => !matches!(eol, b"lf" | b"crlf"),
    }
}

/// The objects among `names` that contain CRLF, and those that could not be read. Does not retry.
fn with_both(conversion: &Conversion<'_>, names: HashSet<Oid>) -> (HashSet<Oid>, HashSet<Oid>) {
    let lines = |names: &[Oid]| names.iter().map(|oid| format!("{oid}\n")).collect::<String>().into_bytes();
    let ask = |args: &[&str], names: &[Oid]| conversion.git.ask_objects(args, lines(names), conversion.until);
    let all: Vec<Oid> = names.iter().copied().collect();
    let Ok(sizes) = ask(&["cat-file", "--batch-check=%(objectname) %(objectsize)"], &all) else {
        return (HashSet::new(), names);
    };
    let sized = |line: &str| {
        let (name, size) = line.split_once(' ')?;
        Some((Oid::from_hex(name)?, size.parse::<u64>().ok().filter(|size| *size <= LARGE)?))
    };
    let sized: Vec<(Oid, u64)> = String::from_utf8_lossy(&sizes).lines().filter_map(sized).collect();
    // The rule does not apply to larger or missing objects.
    let mut unread: HashSet<Oid> = sized.iter().map(|(name, _)| *name).collect();
    let mut found = HashSet::new();
    for part in parts(&sized) {
        let Ok(output) = ask(&["cat-file", "--batch"], &part) else { break };
        found.extend(read(&output));
        for name in &part {
            unread.remove(name);
        }
    }
    (found, unread)
}

/// Groups objects for reading at once, up to the total limit.
fn parts(sized: &[(Oid, u64)]) -> Vec<Vec<Oid>> {
    let mut parts: Vec<(u64, Vec<Oid>)> = Vec::new();
    let mut all = 0;
    for (name, size) in sized {
        all += size;
        if all > MOST {
            break;
        }
        match parts.last_mut() {
            Some((of_part, part)) if *of_part + size <= MOST_AT_ONCE => {
                *of_part += size;
                part.push(*name);
            }
            Some(_) | None => parts.push((*size, vec![*name])),
        }
    }
    parts.into_iter().map(|(_, part)| part).collect()
}

/// Records of `<name> <kind> <size>`, a newline, the bytes, and another newline.
fn read(output: &[u8]) -> Vec<Oid> {
    let mut found = Vec::new();
    let mut rest = output;
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
    use crate::git::testing::{conversion, world};

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
    fn objects_are_read_in_parts_and_not_without_end() {
        let sized: Vec<(Oid, u64)> =
            (0..100).map(|at| (Oid::from_bytes(&[at; 20]).unwrap(), 10 << 20)).collect();
        let parts = parts(&sized);
        assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), [6, 6, 6, 6, 6, 6, 6, 6, 3]);
    }

    #[test]
    fn what_is_not_said_in_time_is_not_known() {
        let (dir, git) = world(&["a"]);
        let conversion = conversion(&git, dir.path(), std::time::Duration::ZERO);
        let paths = [&b"a"[..]];
        let unknown = HashSet::from(paths);
        assert_eq!(left_alone(&conversion, &paths, b""), LeftAlone { unknown, ..LeftAlone::default() });
        let name = Oid::from_bytes(&[7; 20]).unwrap();
        assert_eq!(with_both(&conversion, HashSet::from([name])), (HashSet::new(), HashSet::from([name])));
    }

    #[test]
    fn objects_are_told_apart_whatever_is_in_them() {
        let (one, two, three) = ("0a".repeat(20), "0b".repeat(20), "0c".repeat(20));
        let output = format!("{one} blob 5\na\r\nb\n\n{two} blob 3\na\nb\n{three} blob 0\n\n{one} missing\n");
        assert_eq!(read(output.as_bytes()), [Oid::from_hex(&one).unwrap()]);
        assert_eq!(read(b"nonsense"), []);
        assert_eq!(read(format!("{one} blob 50\n\r\n").as_bytes()), []);
    }
}
