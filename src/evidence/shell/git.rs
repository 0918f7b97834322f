//! What git is asked for, behind what it is told of itself: `git -C web -c a.b=c commit`.

use super::Step;

/// The words of a call of git.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Git<'a> {
    /// What it is told before its verb.
    own: &'a [String],
    /// Empty where there is none.
    pub(crate) verb: &'a str,
    pub(crate) rest: &'a [String],
}

impl Step {
    /// `None` where this is another program.
    pub(crate) fn git(&self) -> Option<Git<'_>> {
        (self.program() == "git").then(|| Git::of(self.args()))
    }

    /// The verb of git; empty where this is another program, or there is none.
    pub(crate) fn git_verb(&self) -> &str {
        self.git().map_or("", |git| git.verb)
    }
}

impl<'a> Git<'a> {
    pub(crate) fn of(args: &'a [String]) -> Self {
        let mut at = 0;
        while let Some(option) = args.get(at).filter(|arg| arg.starts_with('-')) {
            at += words_of(option);
        }
        let (own, rest) = args.split_at(at.min(args.len()));
        match rest.split_first() {
            Some((verb, rest)) => Self { own, verb, rest },
            None => Self { own, ..Self::default() },
        }
    }

    /// Where it is told to work. Each option leads on from the one before it.
    pub(crate) fn directory(&self) -> Option<String> {
        self.options().filter(|words| words[0] == "-C").filter_map(|words| words.get(1)).fold(
            None,
            |from, to| match from {
                Some(from) if !to.starts_with('/') => Some(format!("{from}/{to}")),
                Some(_) | None => Some(to.clone()),
            },
        )
    }

    /// Without where it works, and without what changes only how it does.
    pub(crate) fn words(&self) -> Vec<String> {
        let is_manner = |word: &str| matches!(word, "-C" | "-c" | "-P" | "-p" | "--no-pager" | "--paginate");
        let own = self.options().filter(|words| !is_manner(&words[0])).flatten();
        let verb = Some(self.verb).filter(|verb| !verb.is_empty()).map(str::to_owned);
        own.cloned().chain(verb).chain(self.rest.iter().cloned()).collect()
    }

    /// Each option with its value.
    fn options(&self) -> impl Iterator<Item = &'a [String]> {
        let mut own = self.own;
        std::iter::from_fn(move || {
            let (option, rest) = own.split_at(words_of(own.first()?).min(own.len()));
            own = rest;
            Some(option)
        })
    }
}

/// How many words an option of git's own has.
fn words_of(option: &str) -> usize {
    const VALUED: [&str; 8] = [
        "-C",
        "-c",
        "--attr-source",
        "--config-env",
        "--git-dir",
        "--namespace",
        "--super-prefix",
        "--work-tree",
    ];
    if VALUED.contains(&option) { 2 } else { 1 }
}

#[cfg(test)]
mod tests {
    use crate::evidence::shell::Command;

    #[test]
    fn the_verb_stands_behind_what_git_is_told_of_itself() {
        for (line, directory, verb, rest, words) in [
            ("git push", None, "push", &[][..], "push"),
            ("git -C web push -f", Some("web"), "push", &["-f"], "push -f"),
            ("git -C web -C a push", Some("web/a"), "push", &[], "push"),
            ("git -C web -C /a push", Some("/a"), "push", &[], "push"),
            ("git -c a.b=c --no-pager commit -C x", None, "commit", &["-C", "x"], "commit -C x"),
            ("git --git-dir x --bare log", None, "log", &[], "--git-dir x --bare log"),
            ("git --git-dir=x log -p", None, "log", &["-p"], "--git-dir=x log -p"),
            ("git --version", None, "", &[], "--version"),
            ("git -C", None, "", &[], ""),
            ("git", None, "", &[], ""),
        ] {
            let command = Command::parse(line);
            let git = command.steps[0].git().unwrap();
            assert_eq!((git.directory().as_deref(), git.verb), (directory, verb), "{line}");
            assert_eq!(
                (git.rest.to_vec(), git.words().join(" ")),
                (rest.iter().map(|word| (*word).to_owned()).collect(), words.to_owned())
            );
        }
        assert_eq!(Command::parse("make -C web").steps[0].git(), None);
        assert_eq!(Command::parse("make -C web").steps[0].git_verb(), "");
    }
}
