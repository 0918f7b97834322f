//! Records every interactive shell by a marked block at the top of its start-up file.
//!
//! It stands at the top so that the rest of the file is read once, by the inner shell. The inner
//! shell is a login shell if the outer one is, because profile code after this file must run in the
//! inner one. The block does nothing in a shell that runs a script or command, has no terminal, or
//! is already recorded. It first checks that the program works, so that a removed or broken program
//! locks nobody out.

use std::path::{Path, PathBuf};

use crate::host::{Env, env};
use crate::setup::{Change, Directory, SetupAction, SetupError, missing_directories, text_of};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
}

const BEGIN: &str = "# >>> delegator terminal";
const END: &str = "# <<< delegator terminal <<<\n";
/// Recorded in the first line, so that undo also removes the files and directories that setup
/// created.
const OWN_FILE: &str = " (a file of its own)";
const OWN_DIRECTORY: &str = " (a directory of its own)";
const OWN_DIRECTORIES: &str = " directories of its own)";

impl Shell {
    pub(crate) const ALL: [(&'static str, Shell); 3] =
        [("bash", Shell::Bash), ("zsh", Shell::Zsh), ("fish", Shell::Fish)];

    pub(crate) fn named(name: &str) -> Option<Shell> {
        Self::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, shell)| shell)
    }

    /// The user's own shell.
    fn usual(env: &Env) -> Result<Shell, SetupError> {
        let path = env.path("SHELL").ok_or(SetupError::NoShell)?;
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        Self::named(name).ok_or(SetupError::NoShell)
    }

    fn file(self, env: &Env) -> Result<PathBuf, SetupError> {
        let home = || env.path("HOME").ok_or(SetupError::NoHome);
        Ok(match self {
            Shell::Bash => home()?.join(".bashrc"),
            Shell::Zsh => env.path("ZDOTDIR").map_or_else(home, Ok)?.join(".zshrc"),
            Shell::Fish => {
                let config = env.path("XDG_CONFIG_HOME");
                config.map_or_else(|| home().map(|home| home.join(".config")), Ok)?.join("fish/config.fish")
            }
        })
    }

    /// The code between the markers.
    fn code(self, program: &str) -> String {
        let variable = env::TERMINAL;
        let program = quoted(program);
        match self {
            Shell::Bash | Shell::Zsh => {
                let (given, itself) = match self {
                    Shell::Bash => ("BASH_EXECUTION_STRING", "\"$BASH\" $(shopt -q login_shell && echo -l)"),
                    Shell::Zsh | Shell::Fish => ("ZSH_EXECUTION_STRING", "zsh $([[ -o login ]] && echo -l)"),
                };
                format!(
                    "if [[ $- == *i* && -z ${{{variable}-}} && -z ${{{given}-}} && -t 0 && -t 1 ]] &&\n  \
                     {program} --version >/dev/null 2>&1; then\n  exec {program} terminal -- {itself}\nfi\n"
                )
            }
            Shell::Fish => format!(
                "if status is-interactive; and not set -q {variable}; and test -t 0; and test -t 1\n  \
                 and {program} --version >/dev/null 2>&1\n  exec {program} terminal -- (status fish-path) (status is-login; and echo -l)\nend\n"
            ),
        }
    }
}

/// A word quoted for a shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// The change to the start-up file of a shell, by default the user's own.
pub(crate) fn shell(
    env: &Env,
    named: Option<Shell>,
    program: &Path,
    way: SetupAction,
) -> Result<Change, SetupError> {
    let shell = named.map_or_else(|| Shell::usual(env), Ok)?;
    let file = shell.file(env)?;
    let before = text_of(&file)?;
    if let Some(user) =
        env.path("HOME").filter(|user| before.is_none() && file.starts_with(user) && !user.is_dir())
    {
        return Err(SetupError::Nowhere(user));
    }
    let missing = missing_directories(&file);
    let not_understood = |why| SetupError::NotUnderstood { path: file.clone(), why };
    let found = block(before.as_deref().unwrap_or_default()).map_err(not_understood)?;
    let (after, step) = match way {
        SetupAction::SetUp => {
            let code = shell.code(&program.to_string_lossy());
            let new = match (&before, missing) {
                (Some(_), _) => String::new(),
                (None, 0) => OWN_FILE.to_owned(),
                (None, 1) => OWN_DIRECTORY.to_owned(),
                (None, several) => format!(" ({several}{OWN_DIRECTORIES}"),
            };
            put_in(before.as_deref(), found.clone(), &code, &new)
        }
        SetupAction::Undo => take_out(before.as_deref(), found.clone()),
    };
    let own = before.as_deref().zip(found).map_or("", |(text, range)| own(&text[range]));
    let directory = match way {
        SetupAction::SetUp if missing > 0 => Directory::Made,
        SetupAction::Undo if after.is_none() => Directory::Removed(directories(own)),
        SetupAction::SetUp | SetupAction::Undo => Directory::Stays,
    };
    let steps: Vec<String> = step.map(str::to_owned).into_iter().collect();
    Ok(Change { file, after, backup: None, directory, steps })
}

/// The range of our block in a text.
fn block(text: &str) -> Result<Option<std::ops::Range<usize>>, String> {
    let starts: Vec<usize> = text
        .match_indices(BEGIN)
        .map(|(at, _)| at)
        .filter(|&at| at == 0 || text[..at].ends_with('\n'))
        .collect();
    match starts[..] {
        [] => Ok(None),
        [start] => match text[start..].find(END) {
            Some(end) => Ok(Some(start..start + end + END.len())),
            None => Err(format!("`{BEGIN}` has no end marker")),
        },
        _ => Err(format!("`{BEGIN}` occurs more than once")),
    }
}

type Edited = (Option<String>, Option<&'static str>);

/// What setup created, as recorded in a block.
fn own(block: &str) -> &str {
    let said = block.lines().next().and_then(|line| line.strip_prefix(BEGIN)?.strip_suffix(" >>>"));
    let known = |said: &&str| *said == OWN_FILE || directories(said) > 0;
    said.filter(known).unwrap_or_default()
}

/// The number of directories that setup created, as recorded in a block.
fn directories(own: &str) -> usize {
    let several = || own.strip_prefix(" (")?.strip_suffix(OWN_DIRECTORIES)?.parse().ok();
    if own == OWN_DIRECTORY { 1 } else { several().unwrap_or(0) }
}

/// `new` says what setup creates.
fn put_in(before: Option<&str>, found: Option<std::ops::Range<usize>>, code: &str, new: &str) -> Edited {
    let block = |own: &str| {
        format!("{BEGIN}{own} >>>\n# To remove this block: delegator setup shell --undo\n{code}{END}")
    };
    let text = before.unwrap_or_default();
    match found {
        None => (Some(format!("{}{text}", block(new))), Some("added a marked block at the top of the file")),
        Some(range) => {
            let new = block(own(&text[range.clone()]));
            if text[range.clone()] == new {
                return (before.map(str::to_owned), None);
            }
            let mut after = text.to_owned();
            after.replace_range(range, &new);
            (Some(after), Some("updated the marked block"))
        }
    }
}

fn take_out(before: Option<&str>, found: Option<std::ops::Range<usize>>) -> Edited {
    let (Some(text), Some(range)) = (before, found) else { return (before.map(str::to_owned), None) };
    let is_own = !own(&text[range.clone()]).is_empty();
    let mut after = text.to_owned();
    after.replace_range(range, "");
    if is_own && after.is_empty() {
        return (None, Some("removed the file, which contained nothing else"));
    }
    (Some(after), Some("removed the marked block"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sets a shell up twice and undoes it, with this content of its file.
    #[track_caller]
    fn check(before: Option<&str>) {
        let home = tempfile::tempdir().unwrap();
        let env = Env::of(&[("HOME", home.path().to_str().unwrap()), ("SHELL", "/usr/bin/bash")]);
        let file = home.path().join(".bashrc");
        if let Some(before) = before {
            std::fs::write(&file, before).unwrap();
        }
        let run = |program: &str, way| {
            let change = shell(&env, None, Path::new(program), way).unwrap();
            change.make().unwrap();
            change.steps.len()
        };
        assert_eq!(run("/bin/it's", SetupAction::Undo), 0);
        assert_eq!(run("/bin/it's", SetupAction::SetUp), 1);
        let first = std::fs::read_to_string(&file).unwrap();
        assert!(
            first.contains("'/bin/it'\\''s' terminal -- \"$BASH\"") && first.ends_with(before.unwrap_or(""))
        );
        assert_eq!(run("/bin/it's", SetupAction::SetUp), 0);
        assert_eq!(run("/bin/other", SetupAction::SetUp), 1);
        assert_eq!(run("/bin/other", SetupAction::Undo), 1);
        assert_eq!(std::fs::read_to_string(&file).ok().as_deref(), before);
        assert_eq!(run("/bin/other", SetupAction::Undo), 0);
    }

    #[test]
    fn a_block_goes_in_once_and_comes_out_to_the_byte() {
        check(Some("alias ll='ls -l'\n"));
        check(Some("no line feed at the end"));
        check(Some("\n\n"));
        check(Some(""));
        check(None);
    }

    #[test]
    fn directories_that_were_made_go_with_the_file() {
        let home = tempfile::tempdir().unwrap();
        let env = Env::of(&[("HOME", home.path().to_str().unwrap())]);
        let run = |way| shell(&env, Some(Shell::Fish), Path::new("/bin/d"), way).unwrap().make().unwrap();
        let left = || std::fs::read_dir(home.path()).unwrap().count();
        let config = home.path().join(".config");
        run(SetupAction::SetUp);
        run(SetupAction::Undo);
        assert_eq!(left(), 0);
        // Directories that existed or have other content by now stay.
        std::fs::create_dir(&config).unwrap();
        run(SetupAction::SetUp);
        run(SetupAction::Undo);
        assert!(config.is_dir() && !config.join("fish").exists());
        std::fs::remove_dir(&config).unwrap();
        run(SetupAction::SetUp);
        std::fs::write(config.join("other"), "").unwrap();
        run(SetupAction::Undo);
        assert!(config.join("other").exists() && !config.join("fish").exists());
    }

    #[test]
    fn half_a_block_is_nobodys_to_remove() {
        assert!(block(&format!("{BEGIN} >>>\nx\n")).is_err());
        assert!(block(&format!("{BEGIN} >>>\n{END}{BEGIN} >>>\n{END}")).is_err());
        assert_eq!(block(&format!("echo '{BEGIN}'\n")), Ok(None));
    }

    #[test]
    fn a_shell_is_told_by_its_name() {
        let usual = |shell: &str| Shell::usual(&Env::of(&[("SHELL", shell)])).ok();
        assert_eq!(usual("/usr/bin/zsh"), Some(Shell::Zsh));
        assert_eq!(usual("/bin/sh"), None);
        let file = |shell: Shell, pairs: &[(&str, &str)]| shell.file(&Env::of(pairs)).unwrap();
        assert_eq!(file(Shell::Zsh, &[("HOME", "/h"), ("ZDOTDIR", "/z")]), Path::new("/z/.zshrc"));
        assert_eq!(file(Shell::Fish, &[("HOME", "/h")]), Path::new("/h/.config/fish/config.fish"));
    }
}
