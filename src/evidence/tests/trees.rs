//! Which tree of files tests ran on: a command may put another in its place, before them or after them,
//! and bring back what was there.

use super::places::{Origin, Walk, is_in, moved};
use crate::evidence::shell::{Command, Git, Step};

/// What a step is known to do to the files of the checkout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Nothing,
    /// Writes some of them.
    Written,
    /// Puts others in their place.
    Tree,
    /// Does that until they are brought back.
    Stashed,
    BroughtBack,
}

/// What each step of a command did, by its exit code and by what it printed. `checkouts` are other copies
/// of the project.
pub(super) fn changes(
    line: &str,
    exit_code: Option<i64>,
    text: &str,
    origin: &Origin,
    checkouts: &[String],
) -> Vec<Change> {
    let command = Command::parse(line);
    let mut walk = Walk::default();
    let mut all = Vec::new();
    for step in &command.steps {
        walk.follow(step);
        // What may have been passed over is not known to have happened.
        let ran = exit_code.is_some() && !step.or && !command.chooses && (!step.and || exit_code == Some(0));
        let is_here = |path: &str| {
            let path = origin.below(&moved(&walk.here, path));
            let known = !path.starts_with(['/', '~', '$', '-']) && !path.contains(['$', '`', '*']);
            known && !path.starts_with("..") && !checkouts.iter().any(|checkout| is_in(&path, checkout))
        };
        all.push(if ran { change(step, text, is_here) } else { Change::Nothing });
    }
    all
}

fn change(step: &Step, text: &str, is_here: impl Fn(&str) -> bool) -> Change {
    if let Some(git) = step.git() {
        return of_git(git, text, is_here);
    }
    let words: Vec<&str> =
        step.args().iter().map(String::as_str).filter(|arg| !arg.starts_with('-')).collect();
    let is_written = match step.program() {
        // What is moved away is gone.
        "mv" => words.iter().any(|path| is_here(path)),
        "cp" | "install" | "rsync" | "ln" => {
            words.len() > 1 && words.last().is_some_and(|path| is_here(path))
        }
        "sed" | "perl" => {
            let in_place =
                step.args().iter().any(|arg| arg.starts_with("-i") || arg.starts_with("--in-place"));
            in_place && words.last().is_some_and(|path| is_here(path))
        }
        "patch" => is_here(""),
        _ => false,
    };
    let is_output = |file: &String| !file.starts_with("/dev/") && is_here(file);
    let puts_out = matches!(step.program(), "echo" | "printf" | "cat") && step.writes.iter().any(is_output);
    if is_written || puts_out { Change::Written } else { Change::Nothing }
}

/// What git was asked for. Where it says that there was nothing to do, it did nothing.
fn of_git(git: Git<'_>, text: &str, is_here: impl Fn(&str) -> bool) -> Change {
    if !is_here(&git.directory().unwrap_or_default()) {
        return Change::Nothing;
    }
    let rest: Vec<&str> = git.rest.iter().map(String::as_str).collect();
    let has = |wanted: &[&str]| rest.iter().any(|arg| wanted.contains(arg));
    let says = |words: &[&str]| words.iter().any(|words| text.contains(words));
    let named = || rest.iter().find(|arg| !arg.starts_with('-')).copied();
    let changes = match git.verb {
        "stash" => {
            return match named() {
                _ if says(&["No local changes to save", "No stash entries found"]) => Change::Nothing,
                None | Some("push" | "save") => Change::Stashed,
                Some("pop" | "apply") => Change::BroughtBack,
                Some("branch") => Change::Tree,
                Some(_) => Change::Nothing,
            };
        }
        "checkout" => {
            let makes = has(&["-b", "-B", "--orphan"]) && rest.len() < 3;
            !makes && !rest.is_empty() && !says(&["Already on ", "Updated 0 paths"])
        }
        "switch" => {
            let makes = has(&["-c", "-C", "--create", "--orphan"]) && rest.len() < 3;
            !makes && !rest.is_empty() && !says(&["Already on "])
        }
        "restore" => !has(&["--staged", "-S"]) || has(&["--worktree", "-W"]),
        "reset" => has(&["--hard", "--keep", "--merge"]),
        "apply" => !has(&["--check", "--stat", "--numstat", "--summary", "--cached"]),
        "merge" | "pull" | "rebase" => !says(&["Already up to date", "is up to date."]),
        "revert" | "cherry-pick" | "am" | "bisect" => true,
        "read-tree" | "checkout-index" => true,
        _ => false,
    };
    if changes { Change::Tree } else { Change::Nothing }
}

/// Whether steps put another tree there, and others what is to be there after it.
pub(super) fn is_between(before: &[Change], after: &[Change]) -> bool {
    let is_tree = |change: &Change| matches!(change, Change::Tree | Change::Stashed);
    let puts_back = |change: &Change| *change != Change::Nothing;
    before.iter().any(is_tree) && after.iter().any(puts_back)
}

/// The trees that were there one after the other, by numbers.
#[derive(Debug)]
pub(super) struct Trees {
    /// The one that is there, on top of those that are to be brought back.
    stack: Vec<u64>,
    last: u64,
}

impl Default for Trees {
    fn default() -> Self {
        Self { stack: vec![0], last: 0 }
    }
}

impl Trees {
    pub(super) fn now(&self) -> u64 {
        self.stack.last().copied().unwrap_or_default()
    }

    /// Whether one waits to be brought back.
    pub(super) fn any_stashed(&self) -> bool {
        self.stack.len() > 1
    }

    pub(super) fn follow(&mut self, change: Change) {
        match change {
            Change::Nothing | Change::Written => return,
            Change::BroughtBack if self.any_stashed() => {
                self.stack.pop();
                return;
            }
            // More are not told apart.
            Change::Stashed if self.stack.len() < 8 => {}
            Change::Tree | Change::Stashed | Change::BroughtBack => drop(self.stack.pop()),
        }
        self.last += 1;
        self.stack.push(self.last);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::evidence::{Changed, Gathered, TestResults};
    use crate::model::{Event, ItemStatus, Timestamp};

    const RED: &str = "F.                                      [100%]\n=========== short test summary info ============\nFAILED test_a.py::x - assert 1 == 2\n1 failed, 1 passed in 0.02s\n";
    const GREEN: &str = "..                                      [100%]\n2 passed in 0.01s\n";
    const NEVER: Changed = Changed::Known { at: None, by: None };

    /// What is told of tests after commands that took a second each, and whether an error is left.
    fn after(commands: &[(&str, i64, &str)], changed: Changed) -> (TestResults, bool) {
        let mut gathered = Gathered::new(Path::new("/home/dev/shop"), Path::new("/home/dev/shop"));
        for (at, (line, code, text)) in commands.iter().enumerate() {
            let (item, command) = (at.to_string(), format!("/bin/bash -lc '{line}'"));
            let time = |ms| Timestamp::from_millis(1000 * i64::try_from(at).unwrap() + ms);
            let started = Event::CommandStarted { item: item.clone(), command: command.clone() };
            gathered.note(&started, None, time(0));
            let (exit_code, status) = (Some(*code), ItemStatus::Completed);
            let ended = Event::CommandEnded { item, command, exit_code, output_bytes: 0, status };
            gathered.note(&ended, Some(text), time(900));
        }
        let (tests, errors) = gathered.finish(changed, None);
        (tests.unwrap(), errors.is_some())
    }

    #[track_caller]
    fn check_stale(line: &str, code: i64, text: &str, stale: Option<bool>) {
        assert_eq!(after(&[(line, code, text)], NEVER).0.stale, stale, "{line}");
    }

    #[test]
    fn tests_on_a_tree_that_another_took_the_place_of_are_stale() {
        for line in [
            "git stash; pytest -q; git stash pop",
            "git stash -q && pytest -q; git stash pop",
            "git stash push -u -m x; pytest -q; git stash apply",
            "git checkout HEAD~1 -- src; pytest -q; git checkout HEAD -- src",
            "git -C . checkout main; pytest -q; git checkout -",
            "cp a.py /tmp; git checkout a.py; pytest -q; cp /tmp/a.py a.py",
            "git apply -R p; pytest -q; git apply p",
            "pytest -q; git stash",
            "pytest -q; git restore a.py",
            "pytest -q; git reset --hard",
            "pytest -q; git revert --no-edit HEAD",
            "pytest -q; git cherry-pick x",
            "pytest -q; git merge x",
            "pytest -q; git rebase main",
            "pytest -q; cd /home/dev/shop/src && git pull",
        ] {
            for text in [RED, GREEN] {
                check_stale(line, 0, text, Some(true));
            }
        }
        for line in [
            "pytest -q; git checkout -b new",
            "pytest -q; git switch -c new",
            "pytest -q; git restore --staged a.py",
            "pytest -q; git reset HEAD a.py",
            "pytest -q; git apply --check p",
            "pytest -q; git commit -qam x",
            "pytest -q; git stash list",
            "pytest -q || git stash pop",
            "pytest -q; cd /tmp/base && git stash pop",
            "git worktree add -q .base; pytest -q; git -C .base checkout x",
            "git stash pop; pytest -q",
            "git checkout main; pytest -q",
        ] {
            check_stale(line, 0, GREEN, Some(false));
        }
        // The tests failed, so nothing was brought back.
        check_stale("git stash && pytest -q && git stash pop", 1, RED, Some(false));
        check_stale("git stash && pytest -q && git stash pop", 0, GREEN, Some(true));
        let nothing = format!("No local changes to save\n{GREEN}No stash entries found.\n");
        check_stale("git stash; pytest -q; git stash pop", 1, &nothing, Some(false));
        check_stale("pytest -q; git pull", 0, &format!("{GREEN}Already up to date.\n"), Some(false));
    }

    #[test]
    fn what_is_written_after_tests_makes_them_stale_where_a_file_changed() {
        let within = Changed::Known { at: Some(Timestamp::from_millis(500)), by: None };
        for line in [
            "pytest -q; sed -i s/a/b/ a.py",
            "pytest -q; cp /tmp/a.py a.py",
            "pytest -q; mv a.py /tmp",
            "pytest -q; patch -p1 < a.diff",
            "pytest -q; echo X > a.py",
        ] {
            for (changed, stale) in
                [(within, Some(true)), (Changed::Unknown, Some(true)), (NEVER, Some(false))]
            {
                assert_eq!(after(&[(line, 0, GREEN)], changed).0.stale, stale, "{line}");
            }
        }
        for line in ["pytest -q; cp a.py /tmp", "pytest -q; echo X > /tmp/a", "pytest -q; ./gen"] {
            assert_eq!(after(&[(line, 0, GREEN)], within).0.stale, None, "{line}");
        }
    }

    /// How many fail, whether that is stale, how many runs are told, and whether an error is.
    #[track_caller]
    fn check(commands: &[(&str, i64, &str)], expected: (Option<u64>, Option<bool>, usize, bool)) {
        let (tests, has_error) = after(commands, NEVER);
        assert_eq!((tests.failed, tests.stale, tests.runs.len(), has_error), expected, "{commands:?}");
    }

    #[test]
    fn a_look_at_another_tree_takes_nothing_back() {
        let (red, green) = (("pytest -q", 1, RED), ("pytest -q", 0, GREEN));
        let (stash, pop) = (("git stash", 0, "Saved\n"), ("git stash pop", 0, "Dropped\n"));
        let line = "git stash; pytest -q; git stash pop";
        check(&[green, (line, 0, RED)], (Some(0), Some(false), 2, false));
        check(&[red, (line, 0, GREEN)], (Some(1), Some(false), 2, true));
        let strict = "git stash && pytest -q && git stash pop";
        check(&[red, (strict, 0, GREEN)], (Some(1), Some(false), 2, true));
        // The same, one command after the other.
        check(&[green, stash, red, pop], (Some(0), Some(false), 2, false));
        check(&[red, stash, green, pop], (Some(1), Some(false), 2, true));
        check(&[stash, red, pop], (None, Some(true), 1, false));
        check(&[stash, red, pop, green], (Some(0), Some(false), 2, false));
        // What is never brought back is not there.
        check(&[green, stash, red], (Some(1), Some(false), 1, true));
        check(&[red, stash, green], (Some(0), Some(false), 1, false));
        // Another checkout.
        let away = "git worktree add ../x; cd ../x; pytest -q";
        check(&[green, (away, 1, RED)], (Some(0), Some(false), 2, false));
        check(&[red, (away, 0, GREEN)], (Some(1), Some(false), 2, true));
    }
}
