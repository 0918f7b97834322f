//! Which part of the tests a command asked for.

/// Options that change how tests are run or shown, not which.
const SAME_TESTS: [&str; 40] = [
    "--all",
    "--all-features",
    "--all-targets",
    "--ci",
    "--color",
    "--colors",
    "--coverage",
    "--failfast",
    "--fail-fast",
    "--forbid-only",
    "--frozen",
    "--keep-going",
    "--locked",
    "--no-capture",
    "--no-color",
    "--no-fail-fast",
    "--nocapture",
    "--no-coverage",
    "--offline",
    "--quiet",
    "--release",
    "--run",
    "--runInBand",
    "--silent",
    "--test",
    "--verbose",
    "--watch=false",
    "--watchAll=false",
    "--workspace",
    "-count=1",
    "-f",
    "-i",
    "-q",
    "-race",
    "-s",
    "-v",
    "-vv",
    "-x",
    "./...",
    "-json",
];

/// The same, with a value after `=`.
const SAME_TESTS_VALUED: [&str; 9] = [
    "--color=",
    "--jobs=",
    "--maxfail=",
    "--reporter=",
    "--tb=",
    "--test-reporter=",
    "--junitxml=",
    "--maxWorkers=",
    "--test-threads=",
];

/// The same, with the value as the next word.
const SAME_TESTS_BESIDE: [&str; 7] =
    ["-j", "--jobs", "-n", "--reporter", "-R", "--test-threads", "--message-format"];

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Scope {
    /// Where it ran, as far as the command itself says.
    directory: String,
    /// What narrows the choice; nothing asks for all tests.
    chosen: Vec<String>,
    /// Whether a failure does not end it.
    keeps_going: bool,
}

impl Scope {
    pub(super) fn new(directory: &str, args: &[String]) -> Self {
        let keeps_going = args.iter().any(|arg| arg == "--no-fail-fast");
        let mut chosen = Vec::new();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let arg = arg.as_str();
            if SAME_TESTS_BESIDE.contains(&arg) {
                args.next();
            } else if arg != "--"
                && !SAME_TESTS.contains(&arg)
                && !SAME_TESTS_VALUED.iter().any(|option| arg.starts_with(option))
            {
                chosen.push(arg.to_owned());
            }
        }
        Self { directory: directory.to_owned(), chosen, keeps_going }
    }

    /// The same scope, where `root` is the directory that commands start in.
    pub(super) fn seen_from(mut self, root: &str) -> Self {
        let below = |path: &str| {
            path.strip_prefix(root).filter(|rest| rest.is_empty() || rest.starts_with('/')).map(str::to_owned)
        };
        let directory = below(&self.directory).unwrap_or(self.directory);
        self.directory =
            directory.trim_matches('/').trim_start_matches("./").trim_end_matches('.').to_owned();
        self
    }

    /// Whether only some tests were asked for.
    pub(super) fn is_filtered(&self) -> bool {
        !self.chosen.is_empty()
    }

    pub(super) fn keeps_going(&self) -> bool {
        self.keeps_going
    }

    /// Whether all that `other` asked for was asked for here as well.
    pub(super) fn covers(&self, other: &Scope) -> bool {
        self.directory == other.directory && (self.chosen.is_empty() || self.chosen == other.chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(args: &str) -> Scope {
        Scope::new("", &args.split_ascii_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn how_tests_are_shown_does_not_change_which() {
        assert!(!scope("-q --no-fail-fast -j 4 --color=always -- --nocapture").is_filtered());
        assert_eq!(scope("-v a"), scope("a --tb=short"));
    }

    #[test]
    fn one_directory_has_many_names() {
        let seen = |directory: &str| Scope::new(directory, &[]).seen_from("/home/dev/shop");
        for name in ["", ".", "./", "/home/dev/shop", "/home/dev/shop/"] {
            assert_eq!(seen(name), scope(""), "{name}");
        }
        for name in ["web", "./web", "web/", "/home/dev/shop/web"] {
            assert_eq!(seen(name), Scope::new("web", &[]), "{name}");
        }
        assert_ne!(seen("/home/dev/shop2"), scope(""));
    }

    #[test]
    fn all_tests_cover_some_and_not_the_other_way_round() {
        assert!(scope("-q").covers(&scope("one")));
        assert!(scope("one").covers(&scope("one -v")));
        assert!(!scope("one").covers(&scope("two")) && !scope("one").covers(&scope("")));
        let elsewhere = Scope::new("web", &[]);
        assert!(!elsewhere.covers(&scope("one")));
    }
}
