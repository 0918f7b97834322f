//! Resolves `include` and `includeIf` in the user's git configuration.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use regex::bytes::RegexBuilder;

use crate::git::repository::Repository;

/// What include conditions refer to.
pub(super) struct IncludeContext<'a> {
    pub(super) repository: &'a Repository,
    pub(super) home: Option<&'a Path>,
    pub(super) branch: Option<String>,
    /// The URLs of its remotes; read only on demand.
    pub(super) urls: OnceCell<Vec<String>>,
}

impl IncludeContext<'_> {
    /// The file that a setting in `from` includes, if any.
    pub(super) fn included(
        &self,
        key: &str,
        value: &str,
        from: &Path,
        urls: impl FnOnce() -> Vec<String>,
    ) -> Option<PathBuf> {
        let condition = match key {
            "include.path" => None,
            _ => Some(key.strip_prefix("includeif.")?.strip_suffix(".path")?),
        };
        let holds = condition.is_none_or(|condition| self.holds(condition, from, urls));
        holds.then(|| expanded(value, self.home, from.parent())).flatten()
    }

    /// As in git, an unknown condition does not hold.
    fn holds(&self, condition: &str, from: &Path, urls: impl FnOnce() -> Vec<String>) -> bool {
        let (kind, pattern) = condition.split_once(':').unwrap_or((condition, ""));
        match kind {
            "gitdir" => self.is_at(pattern, from, Case::Counts),
            "gitdir/i" => self.is_at(pattern, from, Case::IsIgnored),
            "onbranch" => {
                let matches = |branch: &String| matches(&whole(pattern), branch, Case::Counts);
                self.branch.as_ref().is_some_and(matches)
            }
            "hasconfig" => pattern.strip_prefix("remote.*.url:").is_some_and(|pattern| {
                let urls = self.urls.get_or_init(urls);
                urls.iter().any(|url| matches(&whole(pattern), url, Case::Counts))
            }),
            _ => false,
        }
    }

    fn is_at(&self, pattern: &str, from: &Path, case: Case) -> bool {
        let text = |path: &Path| path.to_str().map(str::to_owned);
        let below = |dir: &Path, rest: &str| Some(format!("{}/{rest}", escaped(&text(dir)?)));
        let pattern = match (pattern.strip_prefix("~/"), pattern.strip_prefix("./")) {
            (Some(rest), _) => self.home.and_then(|home| below(home, rest)),
            (_, Some(rest)) => from.parent().and_then(|dir| below(dir, rest)),
            _ if pattern.starts_with('/') => Some(pattern.to_owned()),
            _ => Some(format!("**/{pattern}")),
        };
        let Some(pattern) = pattern.map(|pattern| whole(&pattern)) else { return false };
        let dir = &self.repository.dir;
        let real = std::fs::canonicalize(dir).ok();
        let names = [real.as_deref(), Some(dir.as_path())].into_iter().flatten().filter_map(text);
        names.into_iter().any(|name| matches(&pattern, &name, case))
    }
}

/// A path from a configuration file; a relative one is below `dir`.
pub(super) fn expanded(value: &str, home: Option<&Path>, dir: Option<&Path>) -> Option<PathBuf> {
    match value.strip_prefix("~/") {
        Some(rest) => Some(home?.join(rest)),
        None => Some(dir.unwrap_or(Path::new("")).join(value)).filter(|path| path.is_absolute()),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    Counts,
    IsIgnored,
}

/// A pattern that ends in a slash matches everything below.
fn whole(pattern: &str) -> String {
    if pattern.ends_with('/') { format!("{pattern}**") } else { pattern.to_owned() }
}

/// Escapes a path for use in a pattern.
fn escaped(path: &str) -> String {
    let special = |c: char| matches!(c, '*' | '?' | '[' | '\\');
    path.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c])).collect()
}

/// Whether `pattern` matches `text` by git's rules: `*` stays within a directory, `**` as a whole
/// name does not.
fn matches(pattern: &str, text: &str, case: Case) -> bool {
    let built = RegexBuilder::new(&expression(pattern))
        .unicode(false)
        .dot_matches_new_line(true)
        .case_insensitive(case == Case::IsIgnored)
        .build();
    built.is_ok_and(|built| built.is_match(text.as_bytes()))
}

fn expression(pattern: &str) -> String {
    let mut found = String::from("^");
    let mut rest = pattern;
    let mut starts_name = true;
    while let Some(c) = rest.chars().next() {
        let (part, length) = match rest {
            _ if starts_name && rest.starts_with("**/") => ("(?:.*/)?".to_owned(), 3),
            "**" if starts_name => (".*".to_owned(), 2),
            _ if c == '*' => ("[^/]*".to_owned(), 1),
            _ if c == '?' => ("[^/]".to_owned(), 1),
            _ if c == '[' => class(rest).unwrap_or_else(|| ("\\[".to_owned(), 1)),
            _ if c == '\\' && rest.len() > 1 => {
                let next = rest[1..].chars().next().map(String::from).unwrap_or_default();
                (regex::escape(&next), 1 + next.len())
            }
            _ => (regex::escape(&c.to_string()), c.len_utf8()),
        };
        // `**/` is followed by the start of a name.
        starts_name = rest[..length].ends_with('/');
        found += &part;
        rest = &rest[length..];
    }
    found + "$"
}

/// The character class at the start of `text`, and its length. It never matches a slash.
fn class(text: &str) -> Option<(String, usize)> {
    let inner = &text[1..];
    let (not, items) = inner.strip_prefix(['!', '^']).map_or(("", inner), |items| ("^", items));
    let (mut found, mut rest) = (String::new(), items);
    // A `]` in first place is an ordinary character.
    while found.is_empty() || !rest.starts_with(']') {
        let named = rest.starts_with("[:").then(|| rest.find(":]")).flatten();
        let (part, length) = match (named, rest.strip_prefix('\\')) {
            // Classes such as `[:alpha:]` have the same syntax here.
            (Some(end), _) => (rest[..end + 2].to_owned(), end + 2),
            (None, Some(behind)) => {
                let c = behind.chars().next()?;
                (regex::escape(&c.to_string()), 1 + c.len_utf8())
            }
            (None, None) => match rest.chars().next()? {
                '-' => ("-".to_owned(), 1),
                c => (regex::escape(&c.to_string()), c.len_utf8()),
            },
        };
        found += &part;
        rest = &rest[length..];
    }
    Some((format!("[[{not}{found}]&&[^/]]"), text.len() - rest.len() + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::test_rows;

    #[test]
    fn patterns_are_read_as_git_reads_them() {
        let rows = include_str!("../../tests/data/include_patterns.jsonl");
        for (pattern, yes, no) in test_rows::<(String, Vec<String>, Vec<String>)>(rows) {
            for (texts, expected) in [(yes, true), (no, false)] {
                for text in texts {
                    assert_eq!(matches(&pattern, &text, Case::Counts), expected, "{pattern} {text}");
                }
            }
        }
        assert!(matches("**/WORK/**", "/a/work/.git", Case::IsIgnored));
    }

    #[test]
    fn a_condition_is_about_where_the_repository_is() {
        let repository = Repository {
            root: "/home/me/src/x".into(),
            dir: "/home/me/src/x/.git".into(),
            common: "/home/me/src/x/.git".into(),
        };
        let place = IncludeContext {
            repository: &repository,
            home: Some(Path::new("/home/me")),
            branch: Some("feat/one".into()),
            urls: OnceCell::new(),
        };
        let holds = |condition: &str| {
            let key = format!("includeif.{condition}.path");
            let urls = || vec!["https://example.org/a/b.git".to_owned()];
            place.included(&key, "f", Path::new("/home/me/.gitconfig"), urls) == Some("/home/me/f".into())
        };
        let rows = include_str!("../../tests/data/include_conditions.jsonl");
        for (condition, expected) in test_rows::<(String, bool)>(rows) {
            assert_eq!(holds(&condition), expected, "{condition}");
        }
    }
}
