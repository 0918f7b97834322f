//! Files as a program names them, by one name each: as seen from where it runs.

use crate::evidence::tests::{below, moved};

/// Where a program runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Here<'a> {
    /// The run's directory.
    pub(crate) root: &'a str,
    /// Where in it.
    pub(crate) directory: &'a str,
}

impl Here<'_> {
    /// Where nothing is known of that.
    pub(crate) const ANYWHERE: Self = Here { root: "", directory: "" };

    /// A program that is a file: with a slash, as a shell wants it.
    pub(crate) fn program(&self, word: &str) -> String {
        let path = self.path(word).unwrap_or_else(|| word.to_owned());
        if path.starts_with(['/', '~', '$']) { path } else { format!("./{path}") }
    }

    /// A word that may be a file, or an option with one.
    pub(crate) fn word(&self, word: &str) -> String {
        match word.split_once('=').filter(|(key, _)| key.starts_with('-')) {
            Some((key, value)) => format!("{key}={}", self.word_alone(value)),
            None => self.word_alone(word),
        }
    }

    /// The same where a word without a dot before it is a name, and no file.
    pub(crate) fn name(&self, word: &str) -> String {
        match word.starts_with(['.', '/']) && !is_file(word) {
            true => self.path(word).map_or_else(|| word.to_owned(), |path| dotted(&path)),
            false if is_file(word) => self.word_alone(word),
            false => word.to_owned(),
        }
    }

    /// What it reads; nothing where nothing is in it.
    pub(crate) fn input(&self, input: &str) -> Option<String> {
        match input.strip_prefix("< ") {
            Some("/dev/null") => None,
            Some(file) => Some(format!("< {}", self.word_alone(file))),
            None => Some(input.to_owned()),
        }
    }

    fn word_alone(&self, word: &str) -> String {
        let is_path = word.starts_with(['.', '/']) || word.contains('/');
        self.path(word).filter(|_| is_path).unwrap_or_else(|| word.to_owned())
    }

    /// Named from where it runs where it is there, else from above all; `None` where it is not known to
    /// be a path.
    fn path(&self, word: &str) -> Option<String> {
        let is_known =
            !word.contains(['$', '`', '*', '?', '{', ':', ' ', '\n', '~']) && !word.contains("...");
        (is_known && !word.starts_with('-') && !word.is_empty()).then_some(())?;
        let path = below(self.root, &moved(self.directory, word));
        let inside = match self.directory {
            "" => Some(path.as_str()).filter(|path| !path.starts_with('/')),
            directory => match path.strip_prefix(directory) {
                Some("") => Some(""),
                rest => rest.and_then(|rest| rest.strip_prefix('/')),
            },
        };
        Some(match inside {
            Some("") => ".".to_owned(),
            Some(inside) => inside.to_owned(),
            None if path.starts_with('/') => path,
            None => format!("{}/{path}", self.root),
        })
    }
}

/// A list of what to install, or a source: a file wherever it stands.
fn is_file(word: &str) -> bool {
    word.ends_with(".txt") || word.ends_with(".go")
}

fn dotted(path: &str) -> String {
    if path == "." || path.starts_with('/') { path.to_owned() } else { format!("./{path}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_has_one_name() {
        let here = |directory: &'static str| Here { root: "/home/dev/shop", directory };
        for (word, root, web) in [
            ("a.py", "a.py", "a.py"),
            ("./a.py", "a.py", "a.py"),
            ("./x/../a.py", "a.py", "a.py"),
            ("/home/dev/shop/web/a.py", "web/a.py", "a.py"),
            ("../a.py", "/home/dev/a.py", "/home/dev/shop/a.py"),
            ("/tmp/a.py", "/tmp/a.py", "/tmp/a.py"),
            ("./", ".", "."),
            ("/home/dev/shop", ".", "/home/dev/shop/"),
            ("./$A/b", "./$A/b", "./$A/b"),
            ("--out=./a", "--out=a", "--out=a"),
            ("a b/c", "a b/c", "a b/c"),
            ("https://x/y", "https://x/y", "https://x/y"),
        ] {
            assert_eq!(
                (here("").word(word), here("web").word(word)),
                (root.to_owned(), web.to_owned()),
                "{word}"
            );
        }
        let name = |word| here("").name(word);
        assert_eq!(
            [name("cmd"), name("./cmd/"), name("./a.go"), name("a.go")],
            ["cmd", "./cmd", "a.go", "a.go"]
        );
        assert_eq!([here("").program("a"), here("").program("/bin/a")], ["./a", "/bin/a"]);
    }
}
