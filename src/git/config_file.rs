//! Parses git configuration files that use only the common syntax: `[section]`, and `name = value`
//! without quotes. Anything else is left to git, which costs a process.

/// Whether a section is used here. Values in other sections need not be parsed.
fn is_of_interest(section: &str) -> bool {
    ["core", "extensions", "include"].contains(&section) || section.starts_with("includeif.")
}

/// All settings in order, as `section.name` and value; `None` if only git can parse the file.
pub(super) fn plain(bytes: &[u8]) -> Option<Vec<(String, String)>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mut section: Option<String> = None;
    let mut settings = Vec::new();
    for line in text.lines().map(|line| line.trim_matches([' ', '\t'])) {
        // A line continuation, or a control character.
        if line.ends_with('\\') || line.chars().any(|c| c.is_control() && c != '\t') {
            return None;
        }
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(header) = line.strip_prefix('[') {
            section = Some(named(header.strip_suffix(']')?)?);
            continue;
        }
        let section = section.as_deref()?;
        if is_of_interest(section) {
            let (name, value) = line.split_once('=').unwrap_or((line, "true"));
            let (name, value) = (name.trim_end(), value.trim());
            if !is_name(name) || value.contains(['"', '\\', '#', ';']) {
                return None;
            }
            settings.push((format!("{section}.{}", name.to_ascii_lowercase()), value.to_owned()));
        }
    }
    Some(settings)
}

/// Names and addresses of remotes. Lines that only git can parse are skipped.
pub(super) fn remote_urls(bytes: &[u8]) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(bytes);
    let mut remote: Option<String> = None;
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            let section = header.strip_suffix(']').and_then(named);
            remote = section.and_then(|section| Some(section.strip_prefix("remote.")?.to_owned()));
            continue;
        }
        let (Some(remote), Some((name, value))) = (&remote, line.split_once('=')) else { continue };
        let value = value.trim();
        let value = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
        if name.trim().eq_ignore_ascii_case("url") && !value.contains(['"', '\\']) {
            found.push((remote.clone(), value.to_owned()));
        }
    }
    found
}

/// The name of a section such as `core` or `remote "origin"`.
fn named(header: &str) -> Option<String> {
    let Some((name, of)) = header.split_once([' ', '\t']) else {
        return is_name(header).then(|| header.to_ascii_lowercase());
    };
    let of = of.trim_start().strip_prefix('"')?.strip_suffix('"')?;
    let plain = is_name(name) && !of.contains(['"', '\\']);
    plain.then(|| format!("{}.{of}", name.to_ascii_lowercase()))
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::test_rows;

    #[track_caller]
    fn check(text: &str, expected: Option<&[(&str, &str)]>) {
        let found = plain(text.as_bytes());
        let told =
            found.as_ref().map(|all| all.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect::<Vec<_>>());
        assert_eq!(told.as_deref(), expected, "{text}");
    }

    #[test]
    fn a_usual_file_is_read_without_git() {
        let usual = "[core]\n\trepositoryformatversion = 0\n\tfileMode = true\n\tbare\n# a comment\n\
                     [remote \"origin\"]\n\turl = \"a;b\" # c\n[Core]\r\n autocrlf=input \r\n";
        let expected = [
            ("core.repositoryformatversion", "0"),
            ("core.filemode", "true"),
            ("core.bare", "true"),
            ("core.autocrlf", "input"),
        ];
        check(usual, Some(&expected));
        check("", Some(&[]));
        check("[alias]\n\tx = !f() { echo \"a\"; }; f\n", Some(&[]));
        check("[extensions]\nobjectFormat =sha256\n", Some(&[("extensions.objectformat", "sha256")]));
    }

    #[test]
    fn whatever_is_written_in_another_way_is_left_to_git() {
        let rows = include_str!("../../tests/data/configuration_for_git.jsonl");
        test_rows::<[String; 1]>(rows).for_each(|[text]| check(&text, None));
        assert_eq!(plain(b"[core]\n\xff = 1\n"), None);
    }

    #[test]
    fn a_condition_is_kept_as_it_is_written() {
        check(
            "[include]\n\tpath = a\n[includeIf \"gitdir:~/Work/\"]\n\tPath = ~/b\n",
            Some(&[("include.path", "a"), ("includeif.gitdir:~/Work/.path", "~/b")]),
        );
    }

    #[test]
    fn remotes_have_names_and_addresses() {
        let text = b"[core]\n\turl = none\n[remote \"origin\"]\n\tURL = git@github.com:o/r.git\n\tfetch = +a:b\n\
                     [remote \"fork\"]\n\tpushurl = x\n\turl = \"https://github.com/f/r\"\n[branch \"main\"]\n\turl = no\n";
        let told = |name: &str, url: &str| (name.to_owned(), url.to_owned());
        let expected = [told("origin", "git@github.com:o/r.git"), told("fork", "https://github.com/f/r")];
        assert_eq!(remote_urls(text), expected);
    }

    #[test]
    fn a_section_of_a_section_is_another_one() {
        check("[core \"x\"]\n\tautocrlf = true\n[core.y]\n\tautocrlf = true\n", Some(&[]));
    }
}
