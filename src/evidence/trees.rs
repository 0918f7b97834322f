//! Which tree of files a command ran on: one may put another in its place, before its work or after it,
//! and bring back what was there.
//!
//! The one place that follows this; what fails and what passes on a tree is for others to tell.

mod checkouts;

use super::shell::{Command, Git, Step};
use super::tests::{Origin, Walk, is_in, moved};

/// Other checkouts that are told apart.
const MOST_CHECKOUTS: usize = 64;
/// Trees that wait to be brought back.
const MOST_STASHED: usize = 8;

/// What a step is known to do to the files of the checkout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Nothing,
    /// Writes some of them.
    Written,
    /// Puts others in their place.
    Tree,
    /// Does that until they are brought back.
    Stashed,
    BroughtBack,
    /// Brings them back, and not as they were.
    Conflict,
}

impl Change {
    /// Whether more than some files are others after it.
    fn is_of_trees(self) -> bool {
        !matches!(self, Self::Nothing | Self::Written)
    }
}

/// What a step is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Does {
    Nothing,
    Work,
    Tests,
}

/// On what trees the work of a command was done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Ran {
    /// Whether all of it was done while changes were put aside.
    pub(crate) is_bare: bool,
    /// Whether some of it was done on files that did not stay.
    pub(crate) is_other: bool,
    /// Whether all that was put aside is back as it was.
    pub(crate) is_back: bool,
}

/// The trees that were there one after the other, by numbers.
#[derive(Debug)]
pub(crate) struct Trees {
    origin: Origin,
    /// Other checkouts that commands made.
    checkouts: Vec<String>,
    /// The one that is there, on top of those that are to be brought back.
    stack: Vec<u64>,
    last: u64,
    /// One that files were edited on: it is the run's own, whatever was put aside before.
    worked_on: Option<u64>,
}

impl Default for Trees {
    fn default() -> Self {
        Self::new(Origin::default())
    }
}

impl Trees {
    pub(crate) fn new(origin: Origin) -> Self {
        Self { origin, checkouts: Vec::new(), stack: vec![0], last: 0, worked_on: None }
    }

    pub(crate) fn now(&self) -> u64 {
        self.stack.last().copied().unwrap_or_default()
    }

    /// Whether one waits to be brought back.
    pub(crate) fn any_stashed(&self) -> bool {
        self.stack.len() > 1
    }

    pub(crate) fn checkouts(&self) -> &[String] {
        &self.checkouts
    }

    /// Files are edited on the tree that is there.
    pub(crate) fn note_edit(&mut self) {
        self.worked_on = Some(self.now());
    }

    /// Follows a command that ended; `does` says what each of its steps does.
    pub(crate) fn run(
        &mut self,
        command: &Command,
        exit_code: Option<i64>,
        text: &str,
        does: impl Fn(usize) -> Does,
    ) -> Ran {
        let changes = self.changes(command, exit_code, text);
        let (mut on, mut ran) = (Vec::new(), Ran::default());
        for (at, change) in changes.iter().enumerate() {
            // What puts files aside is at work on both.
            let does = if command.steps[at].git_verb() == "stash" { Does::Nothing } else { does(at) };
            let (before, after) = (&changes[..at], &changes[at + 1..]);
            ran.is_other |= match does {
                Does::Nothing => false,
                Does::Tests => is_between(before, after),
                // What is written after it is mostly what it made.
                Does::Work => is_between(before, after) && after.iter().any(|change| change.is_of_trees()),
            };
            if does != Does::Nothing {
                on.push(self.any_stashed() && self.worked_on != Some(self.now()));
            }
            ran.is_back |= self.any_stashed() && *change == Change::BroughtBack;
            self.follow(*change);
        }
        ran.is_bare = !on.is_empty() && !on.contains(&false);
        ran.is_other |= self.any_stashed();
        ran.is_back &= !self.any_stashed();
        ran
    }

    /// What each step of a command did, by its exit code and by what it printed.
    pub(crate) fn changes(&mut self, command: &Command, exit_code: Option<i64>, text: &str) -> Vec<Change> {
        self.note_checkouts(command);
        let mut walk = Walk::default();
        let mut all = Vec::new();
        for (at, step) in command.steps.iter().enumerate() {
            walk.follow(step);
            let is_last = at + 1 == command.steps.len();
            let said = Said { text, failed: is_last && matches!(exit_code, Some(1 | 128)) };
            // What may have been passed over is not known to have happened, unless it says so.
            let waited = exit_code == Some(0) || !step.and || said.tells_of_stash(step);
            let ran = exit_code.is_some() && !step.or && !command.chooses && waited;
            let is_here = |path: &str| self.is_here(&moved(&walk.here, path));
            all.push(if ran { change(step, said, is_here) } else { Change::Nothing });
        }
        all
    }

    /// Whether a path, as commands name it, is of this checkout.
    fn is_here(&self, path: &str) -> bool {
        let path = self.origin.below(path);
        let known = !path.starts_with(['/', '~', '$', '-']) && !path.contains(['$', '`', '*']);
        known && !path.starts_with("..") && !self.checkouts.iter().any(|checkout| is_in(&path, checkout))
    }

    /// What a command makes that is another copy of the project: nothing there says anything of this one.
    fn note_checkouts(&mut self, command: &Command) {
        for path in checkouts::made_by(command) {
            let path = self.origin.below(&path);
            if self.checkouts.len() < MOST_CHECKOUTS && !path.is_empty() && !self.checkouts.contains(&path) {
                self.checkouts.push(path);
            }
        }
    }

    pub(crate) fn follow(&mut self, change: Change) {
        match change {
            Change::Nothing | Change::Written => return,
            Change::BroughtBack if self.any_stashed() => {
                self.stack.pop();
                return;
            }
            // More are not told apart.
            Change::Stashed if self.stack.len() < MOST_STASHED => {}
            Change::Conflict if self.any_stashed() => self.stack.truncate(self.stack.len() - 2),
            Change::Tree | Change::Stashed | Change::BroughtBack | Change::Conflict => {
                self.stack.pop();
            }
        }
        self.last += 1;
        self.stack.push(self.last);
    }
}

/// What a command printed, and whether the step that is looked at is its last and failed, by a code that
/// git ends with.
#[derive(Debug, Clone, Copy)]
struct Said<'a> {
    text: &'a str,
    failed: bool,
}

impl Said<'_> {
    fn has(&self, words: &[&str]) -> bool {
        words.iter().any(|words| self.text.contains(words))
    }

    /// Whether git says that it did what a step asks of the stash.
    fn tells_of_stash(&self, step: &Step) -> bool {
        let Some(git) = step.git().filter(|git| git.verb == "stash") else { return false };
        match stash_verb(git.rest.iter().map(String::as_str)) {
            None | Some("push" | "save") => self.has(&["Saved working directory "]),
            Some("pop") => self.has(&["Dropped refs/stash"]),
            Some(_) => false,
        }
    }
}

/// What of the stash is asked for; nothing where it is to be filled.
fn stash_verb<'a>(mut rest: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    rest.find(|arg| !arg.starts_with('-'))
}

fn change(step: &Step, said: Said<'_>, is_here: impl Fn(&str) -> bool) -> Change {
    if let Some(git) = step.git() {
        return of_git(git, said, is_here);
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
fn of_git(git: Git<'_>, said: Said<'_>, is_here: impl Fn(&str) -> bool) -> Change {
    if !is_here(&git.directory().unwrap_or_default()) {
        return Change::Nothing;
    }
    // How much it tells, and that no branch is followed, changes no file.
    let is_said =
        |arg: &&str| !matches!(*arg, "-q" | "--quiet" | "--progress" | "--no-progress" | "--detach");
    let rest: Vec<&str> = git.rest.iter().map(String::as_str).filter(is_said).collect();
    let has = |wanted: &[&str]| rest.iter().any(|arg| wanted.contains(arg));
    let changes = match git.verb {
        "stash" => return of_stash(stash_verb(rest.iter().copied()), said),
        "checkout" => {
            let makes = has(&["-b", "-B", "--orphan"]) && rest.len() < 3;
            !makes && !rest.is_empty() && !said.has(&["Already on ", "Updated 0 paths"])
        }
        "switch" => {
            let makes = has(&["-c", "-C", "--create", "--orphan"]) && rest.len() < 3;
            !makes && !rest.is_empty() && !said.has(&["Already on "])
        }
        "restore" => !has(&["--staged", "-S"]) || has(&["--worktree", "-W"]),
        "reset" => has(&["--hard", "--keep", "--merge"]),
        "apply" => !has(&["--check", "--stat", "--numstat", "--summary", "--cached"]),
        "merge" | "pull" | "rebase" => !said.has(&["Already up to date", "is up to date."]),
        "revert" | "cherry-pick" | "am" | "bisect" => true,
        "read-tree" | "checkout-index" => true,
        _ => false,
    };
    if changes { Change::Tree } else { Change::Nothing }
}

fn of_stash(verb: Option<&str>, said: Said<'_>) -> Change {
    // What git says where it leaves the files as they are.
    let left_alone = said.has(&[
        "No local changes to save",
        "No stash entries found",
        "would be overwritten by merge",
        "already exists, no checkout",
    ]);
    match verb {
        Some("pop" | "apply") if said.has(&["CONFLICT ("]) => Change::Conflict,
        _ if left_alone || said.failed => Change::Nothing,
        None | Some("push" | "save") => Change::Stashed,
        Some("pop" | "apply") => Change::BroughtBack,
        Some("branch") => Change::Tree,
        Some(_) => Change::Nothing,
    }
}

/// Whether steps put another tree there, and others what is to be there after it.
pub(crate) fn is_between(before: &[Change], after: &[Change]) -> bool {
    let is_tree = |change: &Change| matches!(change, Change::Tree | Change::Stashed);
    let puts_back = |change: &Change| *change != Change::Nothing;
    before.iter().any(is_tree) && after.iter().any(puts_back)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::evidence::tests::Origin;
    use crate::evidence::{Changed, EarlierErrors, ErrorEvidence, Errors, Gathered, TestResults};
    use crate::model::{Change as Edit, ChangeKind, Event, ItemStatus, Timestamp};

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
            "pytest -q; git checkout -q -b new",
            "pytest -q; git checkout --quiet --detach",
            "pytest -q; git switch -q -c new",
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

    const BROKEN: &str = "a.c:1:5: error: no\n";

    /// What is told of errors after these; a line without a code is an edit of a file of that name.
    fn errors_after(lines: &[(&str, Option<i64>, &str)]) -> (Option<ErrorEvidence>, EarlierErrors) {
        let root = "/home/dev/shop";
        let mut errors = Errors::where_all_is_there(root, Origin::new(root, root));
        for (line, code, text) in lines {
            let changes = vec![Edit { path: (*line).to_owned(), kind: ChangeKind::Update }];
            match code {
                Some(_) => errors.note_command(line, *code, text),
                None => errors.note_event(&Event::Edited {
                    item: "1".to_owned(),
                    changes,
                    status: ItemStatus::Completed,
                }),
            }
        }
        errors.told(None)
    }

    #[test]
    fn what_failed_without_the_changes_is_told_as_before_them() {
        let (stash, make) = (("git stash", Some(0), "Saved\n"), ("make", Some(2), BROKEN));
        let pop = ("git stash pop", Some(0), "Dropped\n");
        let (errors, earlier) = errors_after(&[stash, make, pop]);
        let [one] = earlier.list.as_slice() else { panic!("{earlier:?}") };
        assert_eq!((errors, one.succeeded_since.as_deref(), one.without_changes), (None, None, true));
        // It may be taken back later, or it was the tree to work on.
        assert!(errors_after(&[stash, make]).0.is_some());
        assert!(errors_after(&[stash, make, ("a.c", None, ""), ("ls", Some(0), ""), pop]).0.is_some());
        assert!(errors_after(&[stash, ("a.c", None, ""), make, pop]).0.is_some());
        assert!(
            errors_after(&[stash, make, ("git stash pop", Some(1), "CONFLICT (content): a.c\n")]).0.is_some()
        );
        assert!(errors_after(&[("git stash", Some(0), "No local changes to save\n"), make, pop]).0.is_some());
        // Whatever git is told of itself.
        for own in ["-C .", "-c a.b=c", "-C /home/dev/shop --no-pager"] {
            let (stash, pop) = (format!("git {own} stash"), format!("git {own} stash pop"));
            let (errors, earlier) = errors_after(&[(&stash, Some(0), ""), make, (&pop, Some(0), "")]);
            assert_eq!((errors, earlier.list.len()), (None, 1), "{own}");
        }
        // Another project's.
        assert!(errors_after(&[("git -C /tmp/x stash", Some(0), ""), make, pop]).0.is_some());
        // Nothing came back.
        for text in [
            "No stash entries found.\n",
            "error: Your local changes to the following files would be overwritten by merge:\n\ta.c\nPlease commit your changes or stash them before you merge.\nAborting\nThe stash entry is kept in case you need it again.\n",
        ] {
            assert!(
                errors_after(&[stash, make, ("git stash pop || true", Some(0), text)]).0.is_some(),
                "{text}"
            );
        }
        // What was waited for failed.
        for line in ["git stash && make && git stash pop", "cd . && git stash && make && git stash pop"] {
            let chain = (
                line,
                Some(2),
                "Saved working directory and index state WIP on main: 1 a\na.c:1:5: error: no\n",
            );
            assert!(errors_after(&[chain]).0.is_some(), "{line}");
            let (errors, earlier) = errors_after(&[chain, pop]);
            assert_eq!((errors, earlier.list.len()), (None, 1), "{line}");
        }
        // What succeeds without them mends nothing with them.
        assert!(errors_after(&[make, ("git stash; make; git stash pop", Some(0), "")]).0.is_some());
        assert!(errors_after(&[make, stash, ("make", Some(0), ""), pop]).0.is_some());
        assert!(errors_after(&[make, ("git checkout x; make; git checkout -", Some(0), "")]).0.is_some());
        // What is written after a build is mostly what it made.
        assert!(errors_after(&[make, ("git apply p && make && cp a.out bin", Some(0), "")]).0.is_none());
        assert!(errors_after(&[make, stash, pop, ("make", Some(0), "")]).0.is_none());
        // They came back in pieces: that is what there is to work on.
        let pieces = ("git stash pop", Some(1), "CONFLICT (content): Merge conflict in a.c\n");
        assert!(errors_after(&[stash, make, pieces, stash, pop]).0.is_some());
        assert!(errors_after(&[stash, make, pieces, ("git add a.c && make", Some(0), "")]).0.is_none());
        // What fails without them as well fails with them.
        assert!(errors_after(&[make, stash, make, pop]).0.is_some());
    }
}
