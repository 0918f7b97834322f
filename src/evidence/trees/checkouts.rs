//! Other copies of a project that a command makes: worktrees and clones.

use crate::evidence::shell::{Command, Git};
use crate::evidence::tests::{Walk, moved};

/// Where they are, as seen from where the command starts.
pub(super) fn made_by(command: &Command) -> Vec<String> {
    let mut walk = Walk::default();
    let mut made = Vec::new();
    for step in &command.steps {
        walk.follow(step);
        let made_here = step.git().and_then(checkout);
        made.extend(made_here.map(|path| moved(&walk.here, &path)));
    }
    made
}

fn checkout(git: Git<'_>) -> Option<String> {
    let valued = ["-b", "-B", "-c", "--branch", "--depth", "-o", "--origin", "--reason", "-j"];
    let mut words = vec![git.verb];
    let mut args = git.rest.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        match arg {
            arg if valued.contains(&arg) => drop(args.next()),
            arg if arg.starts_with('-') => {}
            arg => words.push(arg),
        }
    }
    let path = match words.as_slice() {
        ["worktree", "add", path, ..] | ["clone", _, path, ..] => *path,
        ["clone", url] => {
            let name = url.trim_end_matches('/').rsplit(['/', ':']).next()?;
            name.strip_suffix(".git").unwrap_or(name)
        }
        _ => return None,
    };
    Some(moved(&git.directory().unwrap_or_default(), path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worktrees_and_clones_are_noticed() {
        for (line, expected) in [
            ("git worktree add /tmp/base HEAD", "/tmp/base"),
            ("git worktree add -b fix ../wt && cd ../wt", "../wt"),
            ("git -C sub worktree add --detach wt main", "sub/wt"),
            ("cd vendor && git clone --depth 1 https://example.com/a/lib.git", "vendor/lib"),
            ("bash -lc 'git clone . .base'", ".base"),
        ] {
            assert_eq!(made_by(&Command::parse(line)), [expected], "{line}");
        }
        let none = Command::parse("git worktree list; git clone --help");
        assert_eq!(made_by(&none), Vec::<String>::new());
    }
}
