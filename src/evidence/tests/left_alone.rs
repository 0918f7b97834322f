//! What pytest does not look into unless it is asked for that, or for what is in it, by name.
//!
//! A rule that cannot be read may leave out anything below the folder that it is for.

use super::places::{below, is_known, moved};

/// One rule. Paths are named from the root.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LeftAlone {
    /// A file or a folder.
    Path(String),
    /// Paths of this form, in which a star stands for folders too.
    Glob(String),
    /// Folders whose names are of this form, wherever they are.
    Folder(String),
    /// Perhaps anything below a folder.
    Below(String),
}

impl LeftAlone {
    /// `--ignore=web` or `--ignore web`, of a pytest that is started in `directory`; `None` of any other.
    pub(super) fn by_option(root: &str, directory: &str, option: &str) -> Option<Self> {
        match option.split_once(['=', ' '])? {
            ("--ignore", path) => Some(Self::path(root, directory, path)),
            ("--ignore-glob", glob) => Some(Self::glob(root, directory, glob)),
            _ => None,
        }
    }

    /// A path as it is named in `directory`.
    fn path(root: &str, directory: &str, path: &str) -> Self {
        let own = below(root, &moved(directory, path));
        match is_known(&own) && !own.starts_with('/') && !own.starts_with("..") {
            true => Self::Path(own),
            false => Self::anything(),
        }
    }

    /// A form of paths as they are named in `directory`.
    fn glob(root: &str, directory: &str, glob: &str) -> Self {
        let glob = glob.strip_prefix("./").unwrap_or(glob).trim_end_matches('/');
        let own = moved(directory, glob);
        let own = own.strip_prefix(root).and_then(|rest| rest.strip_prefix('/')).unwrap_or(&own);
        match is_plain(own) && !own.starts_with('/') && !own.split('/').any(|part| part == "..") {
            true => Self::Glob(own.to_owned()),
            false => Self::anything(),
        }
    }

    /// A word of `norecursedirs`. Of several folders the last is enough: what is above may be the
    /// way to the root.
    pub(super) fn folder(word: &str) -> Self {
        let name = word.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        if is_plain(name) && !name.is_empty() { Self::Folder(name.to_owned()) } else { Self::anything() }
    }

    fn anything() -> Self {
        Self::Below(String::new())
    }

    fn has(&self, path: &str) -> bool {
        match self {
            Self::Path(own) => own == path,
            Self::Glob(form) => is_like(form, path),
            Self::Folder(form) => {
                !path.ends_with(".py") && is_like(form, path.rsplit('/').next().unwrap_or(path))
            }
            Self::Below(folder) => is_below(path, folder),
        }
    }

    /// Whether it leaves out `place`, or what holds it, where `from` is what was asked for.
    pub(super) fn is_between(&self, from: &str, place: &str) -> bool {
        let place = place.split("::").next().unwrap_or_default();
        let ends = place.match_indices('/').map(|(at, _)| at).chain([place.len()]);
        ends.map(|end| &place[..end]).any(|path| is_below(path, from) && self.has(path))
    }

    /// Whether it may leave out something below a folder.
    pub(super) fn reaches_into(&self, folder: &str) -> bool {
        match self {
            Self::Path(own) => is_below(own, folder),
            Self::Below(own) => own == folder || is_below(own, folder) || is_below(folder, own),
            Self::Glob(_) | Self::Folder(_) => true,
        }
    }
}

/// What a `conftest.py` says, where that is written out.
pub(super) fn of_conftest(root: &str, folder: &str, text: &str) -> Vec<LeftAlone> {
    let mut found = Vec::new();
    let mut is_clear = !["pytest_ignore_collect", "pytest_collect_"].iter().any(|hook| text.contains(hook));
    for (at, name) in text.match_indices("collect_ignore") {
        let is_alone = at == 0 || text[..at].ends_with('\n');
        let after = &text[at + name.len()..];
        let (is_glob, after) = after.strip_prefix("_glob").map_or((false, after), |after| (true, after));
        match list(after).filter(|_| is_alone) {
            Some(list) if is_glob => {
                found.extend(list.into_iter().map(|glob| LeftAlone::glob(root, folder, glob)));
            }
            Some(list) => found.extend(list.into_iter().map(|path| LeftAlone::path(root, folder, path))),
            None => is_clear = false,
        }
    }
    found.extend((!is_clear).then(|| LeftAlone::Below(folder.to_owned())));
    found
}

/// The words of ` = ["a", 'b']`, where that is all.
fn list(text: &str) -> Option<Vec<&str>> {
    let list = text.trim_start().strip_prefix('=')?.trim_start().strip_prefix('[')?;
    let (words, after) = list.split_once(']')?;
    let rest = after.lines().next().unwrap_or_default().trim();
    let is_all = rest.is_empty() || rest.starts_with('#');
    let words = words.split(',').map(str::trim).filter(|word| !word.is_empty());
    is_all.then(|| words.map(unquoted).collect()).flatten()
}

fn unquoted(word: &str) -> Option<&str> {
    let inner = ['"', '\''].iter().find_map(|mark| word.strip_prefix(*mark)?.strip_suffix(*mark))?;
    Some(inner).filter(|inner| !inner.contains(['"', '\'', '\\']))
}

fn is_below(path: &str, folder: &str) -> bool {
    match folder {
        "" => !path.is_empty(),
        folder => path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')),
    }
}

/// Whether a form has no marks but `*` and `?`.
fn is_plain(form: &str) -> bool {
    !form.contains('[')
}

/// Whether a text is of a form in which `*` is anything and `?` one letter.
fn is_like(form: &str, text: &str) -> bool {
    let (form, text): (Vec<char>, Vec<char>) = (form.chars().collect(), text.chars().collect());
    let (mut at, mut seen) = (0, 0);
    // The last star, and how much of the text it has taken.
    let mut star: Option<(usize, usize)> = None;
    while seen < text.len() {
        match form.get(at) {
            Some('*') => {
                star = Some((at, seen));
                at += 1;
            }
            Some(letter) if *letter == '?' || *letter == text[seen] => (at, seen) = (at + 1, seen + 1),
            _ => {
                let Some((back, taken)) = star else { return false };
                star = Some((back, taken + 1));
                (at, seen) = (back + 1, taken + 1);
            }
        }
    }
    form[at..].iter().all(|letter| *letter == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        for (form, text) in [
            ("*", ""),
            ("w*b", "web"),
            ("*/x/*", "a/b/x/c"),
            ("a?c", "abc"),
            ("*.egg", "a.egg"),
            ("**a", "bca"),
        ] {
            assert!(is_like(form, text), "{form} {text}");
        }
        for (form, text) in [("", "a"), ("w*b", "webs"), ("a?c", "ac"), ("*ab", "aba"), ("web", "Web")] {
            assert!(!is_like(form, text), "{form} {text}");
        }
    }

    #[test]
    fn a_form_that_cannot_be_read_may_be_anything() {
        let anything = LeftAlone::anything();
        for glob in ["[ab]*", "../x*", "/elsewhere/*", "x/../*"] {
            assert_eq!(LeftAlone::glob("/shop", "", glob), anything, "{glob}");
        }
        assert_eq!(LeftAlone::glob("/shop", "web", "/shop/a*"), LeftAlone::Glob("a*".into()));
        assert_eq!(LeftAlone::glob("/shop", "web", "./a*/"), LeftAlone::Glob("web/a*".into()));
        for path in ["/elsewhere", "../x", "~/x", "$X"] {
            assert_eq!(LeftAlone::path("/shop", "", path), anything, "{path}");
        }
        assert_eq!(LeftAlone::path("/shop", "web", "../a/"), LeftAlone::Path("a".into()));
        assert_eq!(LeftAlone::folder("x[ab]"), anything);
    }
}
