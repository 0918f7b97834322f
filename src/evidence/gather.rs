//! Everything that a run's events and outputs tell, as they come.
//!
//! What is kept does not grow with what is printed.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use super::lines;
use super::tests::Origin;
use super::{Changed, EarlierErrors, Edits, ErrorEvidence, Errors, TestResults, Tests};
use crate::model::{Event, Fault, ItemStatus, Timestamp};
use crate::progress::plain;

/// Codex hands over about 1 MiB of a command's output, and leaves out the middle.
const MOST_PRINTED: usize = 1_000_000;
/// As much of a command as errors tell.
const LONGEST_COMMAND: usize = 200;
/// What a run that is one command calls it.
const ONLY: &str = "command";

#[derive(Debug)]
pub(crate) struct Gathered {
    /// Where its commands start, unless they are known to start elsewhere.
    cwd: PathBuf,
    edits: Edits,
    /// Nothing, once reading them failed: a mistake of ours that a strange
    /// command line brings to light costs what is told of commands, not the run.
    commands: Option<Commands>,
    /// Commands that started elsewhere: how each was run, by what errors would tell of it. `None` where
    /// that may be one of several.
    elsewhere: HashMap<String, Option<String>>,
}

/// What the commands of a run came to.
#[derive(Debug)]
struct Commands {
    tests: Tests,
    errors: Errors,
}

/// What the commands of a run tell in the end.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Told {
    pub(crate) tests: Option<TestResults>,
    pub(crate) errors: Option<ErrorEvidence>,
    pub(crate) earlier: EarlierErrors,
}

/// What a command printed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Printed<'a> {
    pub(crate) text: &'a str,
    /// Whether that is all of it.
    pub(crate) is_whole: bool,
}

impl<'a> Printed<'a> {
    pub(crate) fn whole(text: &'a str) -> Self {
        // Blocks may be missing in the middle of what is as long as that.
        Self { text, is_whole: text.len() < MOST_PRINTED }
    }
}

impl Gathered {
    /// Of a run whose commands start in `cwd`, a directory of `checkout`.
    pub(crate) fn new(cwd: &Path, checkout: &Path) -> Self {
        let (root, checkout) = (cwd.to_string_lossy(), checkout.to_string_lossy());
        let origin = Origin::new(&root, &checkout);
        let (tests, errors) = (Tests::new(origin.clone()), Errors::new(&root, origin));
        let commands = Some(Commands { tests, errors });
        let (cwd, elsewhere) = (cwd.to_owned(), HashMap::new());
        Self { cwd, edits: Edits::new(&root), commands, elsewhere }
    }

    /// Lets what is known of commands be read on, as long as that goes well.
    fn read(&mut self, read: impl FnOnce(&mut Commands)) {
        let commands = self.commands.take();
        self.commands = commands.and_then(|commands| {
            unbroken(commands, |mut commands| {
                read(&mut commands);
                commands
            })
        });
    }

    /// One event, with what was printed where it is the end of a command.
    pub(crate) fn note(&mut self, event: &Event, printed: Option<&str>, at: Timestamp) {
        self.note_printed(event, printed.map(Printed::whole), at);
    }

    fn note_printed(&mut self, event: &Event, printed: Option<Printed>, at: Timestamp) {
        self.edits.note(event);
        self.read(|commands| commands.note(event, printed, at));
    }

    /// The same of a command that is known to have started in `directory`: as if it had gone there first.
    pub(crate) fn note_in(
        &mut self,
        directory: Option<&Path>,
        event: &Event,
        printed: Option<Printed>,
        at: Timestamp,
    ) {
        let directory = directory.filter(|directory| *directory != self.cwd);
        let quoted = directory.map(|directory| directory.to_string_lossy().replace('\'', "'\\''"));
        match quoted {
            Some(quoted) => self.note_from(|_| format!("'{quoted}'"), event, printed, at),
            None => self.note_printed(event, printed, at),
        }
    }

    /// The same of a command that started nobody knows where: only the same words are taken to have
    /// started there again, unless it says itself where it goes.
    pub(crate) fn note_somewhere(&mut self, event: &Event, printed: Option<Printed>, at: Timestamp) {
        let unknown = |command: &str| {
            let mut hasher = DefaultHasher::new();
            command.hash(&mut hasher);
            format!("\"$UNKNOWN_{:x}\"", hasher.finish())
        };
        self.note_from(unknown, event, printed, at);
    }

    /// The same of a command that started where `place` says, as a shell reads it.
    fn note_from(
        &mut self,
        place: impl FnOnce(&str) -> String,
        event: &Event,
        printed: Option<Printed>,
        at: Timestamp,
    ) {
        let mut event = event.clone();
        if let Event::CommandEnded { command, status, .. } = &mut event
            && *status != ItemStatus::Declined
        {
            let there = format!("cd {} && {command}", place(command));
            let run = Some(plain::line(command, LONGEST_COMMAND));
            let known =
                self.elsewhere.entry(plain::line(&there, LONGEST_COMMAND)).or_insert_with(|| run.clone());
            if *known != run {
                *known = None;
            }
            *command = there;
        }
        self.note_printed(&event, printed, at);
    }

    /// A run that is one command is about to begin.
    pub(crate) fn note_only_started(&mut self, command: &str, at: Timestamp) {
        self.read(|commands| commands.tests.note_only_started(ONLY, command, at));
    }

    /// A run that is one command, with the end of what it printed. `whole` where
    /// that is all of it: counts may be missing otherwise.
    pub(crate) fn note_only_command(
        &mut self,
        command: &str,
        exit_code: Option<i64>,
        text: &str,
        whole: bool,
        at: Timestamp,
    ) {
        self.read(|commands| commands.note_only(command, exit_code, text, whole, at));
    }

    /// The command that has been running for longest, where one is.
    pub(crate) fn oldest_running(&self) -> Option<&str> {
        self.commands.as_ref()?.tests.oldest_running()
    }

    pub(crate) fn edits(&self) -> &Edits {
        &self.edits
    }

    /// What it all came to, if that could be read. `changed` is when files last
    /// changed; `fault` is why the run failed.
    pub(crate) fn told(self, changed: Changed, fault: Option<&Fault>) -> Option<Told> {
        unbroken(self.commands?, |mut commands| {
            let mended = commands.tests.mended();
            commands.errors.settle_tests_of(&mended, commands.tests.only_success());
            commands.errors.leave_out_mended(&commands.tests.fates());
            let (mut errors, mut earlier) = commands.errors.told(fault);
            if let Some(errors) = &mut errors {
                tell_as_run(errors, &self.elsewhere);
            }
            earlier.rename(|told| {
                if let Some(Some(run)) = self.elsewhere.get(told) {
                    told.clone_from(run);
                }
            });
            Told { tests: commands.tests.finish(changed), errors, earlier }
        })
    }

    /// As [`told`](Self::told), of what must be readable.
    #[cfg(test)]
    pub(crate) fn finish(
        self,
        changed: Changed,
        fault: Option<&Fault>,
    ) -> (Option<TestResults>, Option<ErrorEvidence>) {
        let told = self.told(changed, fault).expect("it can be read");
        (told.tests, told.errors)
    }
}

impl Commands {
    fn note(&mut self, event: &Event, printed: Option<Printed>, at: Timestamp) {
        self.tests.note_event(event, at);
        self.errors.note_event(event);
        let Event::CommandEnded { item, command, exit_code, status, .. } = event else { return };
        // What was refused did not run, whatever stands where its output would.
        if let Some(Printed { text, is_whole }) = printed.filter(|_| *status != ItemStatus::Declined) {
            let bounded = lines::bounded(text);
            let text = bounded.as_deref().unwrap_or(text);
            let is_answered = match is_whole && bounded.is_none() {
                true => self.tests.note_command(item, command, *exit_code, text, at),
                false => self.tests.note_partly_seen(item, command, *exit_code, text, at),
            };
            if is_answered && !self.tests.was_on_other_tree() {
                self.errors.settle_tests_of(std::slice::from_ref(command), Some(command));
            }
            self.errors.note_command(command, *exit_code, text);
        } else {
            self.tests.note_unseen(item);
        }
    }

    fn note_only(&mut self, command: &str, exit_code: Option<i64>, text: &str, whole: bool, at: Timestamp) {
        let bounded = lines::bounded(text);
        let (text, whole) = (bounded.as_deref().unwrap_or(text), whole && bounded.is_none());
        match exit_code {
            None => self.tests.note_killed(ONLY, command, text, whole, at),
            Some(_) => {
                let is_answered = match whole {
                    true => self.tests.note_command(ONLY, command, exit_code, text, at),
                    false => self.tests.note_partly_seen(ONLY, command, exit_code, text, at),
                };
                if is_answered && !self.tests.was_on_other_tree() {
                    self.errors.settle_tests_of(&[command.to_owned()], Some(command));
                }
            }
        }
        self.errors.note_command(command, exit_code, text);
    }
}

/// What comes of it, unless it panics: then nobody sees any of it again.
fn unbroken<T, R>(value: T, read: impl FnOnce(T) -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(|| read(value))).ok()
}

/// Nobody ran the `cd` that commands are compared with.
fn tell_as_run(errors: &mut ErrorEvidence, elsewhere: &HashMap<String, Option<String>>) {
    let Some(told) = &mut errors.command else { return };
    if let Some(Some(run)) = elsewhere.get(told) {
        errors.suggestions.iter_mut().for_each(|text| *text = text.replace(told.as_str(), run));
        told.clone_from(run);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSED: &str = "running 1 test\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";

    fn ended(status: ItemStatus) -> Event {
        let (item, command) = ("1".to_owned(), "cargo test".to_owned());
        Event::CommandEnded { item, command, exit_code: Some(0), output_bytes: 0, status }
    }

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    fn started(command: &str) -> Event {
        Event::CommandStarted { item: "1".to_owned(), command: command.to_owned() }
    }

    const NEVER: Changed = Changed::Known { at: None, by: None };

    fn after(event: &Event, printed: Option<&str>) -> Option<TestResults> {
        let mut gathered = Gathered::new(Path::new("/home/dev/shop"), Path::new("/home/dev/shop"));
        gathered.note(event, printed, at(10));
        gathered.finish(NEVER, None).0
    }

    #[test]
    fn a_mistake_of_ours_costs_what_is_told_of_commands() {
        let mut gathered = Gathered::new(Path::new("/home/dev/shop"), Path::new("/home/dev/shop"));
        gathered.read(|_| panic!("a mistake"));
        gathered.note(&ended(ItemStatus::Completed), Some(PASSED), at(10));
        assert_eq!(gathered.oldest_running(), None);
        assert_eq!(gathered.told(NEVER, None), None);
    }

    #[test]
    fn the_same_command_that_passes_whole_has_no_error_left() {
        let errors = |lines: &[(&str, i64, &str)]| {
            let mut gathered = Gathered::new(Path::new("/home/dev/shop"), Path::new("/home/dev/shop"));
            for (line, code, text) in lines {
                gathered.note_only_command(line, Some(*code), text, true, at(1));
            }
            gathered.finish(NEVER, None).1
        };
        let line = "pytest -q a; pytest -q b";
        let red = "==== short test summary info ====\nFAILED a/test_a.py::x - no\n1 failed in 0.1s\n1 passed in 0.1s\n";
        assert!(errors(&[(line, 0, red)]).is_some());
        assert_eq!(errors(&[(line, 0, red), (line, 0, "1 passed in 0.1s\n1 passed in 0.1s\n")]), None);
        assert!(errors(&[(line, 0, red), (line, 0, "1 passed in 0.1s\n")]).is_some());
        assert!(errors(&[(line, 0, red), ("pytest -q b", 0, "1 passed in 0.1s\n")]).is_some());
    }

    /// What is told to have failed before something succeeded.
    fn earlier(lines: &[(Option<&str>, &str, i64, &str)]) -> Vec<(String, String, Option<String>)> {
        let mut gathered = Gathered::new(Path::new("/home/dev/shop"), Path::new("/home/dev/shop"));
        for (directory, line, code, text) in lines {
            let (item, command, exit_code) = ("1".into(), (*line).to_owned(), Some(*code));
            let status = ItemStatus::Completed;
            let ended = Event::CommandEnded { item, command, exit_code, output_bytes: 0, status };
            gathered.note_in(directory.map(Path::new), &ended, Some(Printed::whole(text)), at(1));
        }
        let told = gathered.told(NEVER, None).expect("it can be read").earlier;
        told.list.into_iter().map(|one| (one.command, one.error_message, one.succeeded_since)).collect()
    }

    #[test]
    fn what_something_succeeded_after_is_told_with_that() {
        let red = "E       assert 1 == 2\n\na.py:4: AssertionError\n==== short test summary info ====\nFAILED a.py::x - assert 1 == 2\n1 failed in 0.1s\n";
        let green = "1 passed in 0.1s\n";
        let error = "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n    x\nKeyError: 1\n";
        let told = |command: &str, message: &str, since: Option<&str>| {
            vec![(command.to_owned(), message.to_owned(), since.map(str::to_owned))]
        };
        let lines = [(None, "pytest -q", 1, red), (None, "pytest", 0, green)];
        assert_eq!(earlier(&lines), told("pytest -q", "assert 1 == 2", Some("pytest")));
        // On another tree than the one that failed: it fails still.
        let lines = [(None, "pytest -q", 1, red), (None, "git stash; pytest -q; git stash pop", 0, green)];
        assert_eq!(earlier(&lines), []);
        let lines = [(None, "python3 a.py", 1, error), (None, "python3 a.py", 0, "")];
        assert_eq!(earlier(&lines), told("python3 a.py", "1", Some("python3 a.py")));
        // In one line, tried until it succeeded.
        let both = format!("{red}{green}");
        for line in ["pytest -q || pytest -q", "pytest -q; sed -i s/1/2/ a.py; pytest -q"] {
            let lines = [(None, line, 0, both.as_str())];
            assert_eq!(earlier(&lines), told(line, "a.py::x failed", Some(line)));
        }
        // Each of its tests, by one command after the other.
        let two =
            "==== short test summary info ====\nFAILED a.py::x - no\nFAILED b.py::x - no\n2 failed in 0.1s\n";
        let one = |file: &str| format!("{file}::x PASSED [100%]\n1 passed in 0.1s\n");
        let (a, b) = (one("a.py"), one("b.py"));
        let lines = [
            (None, "pytest -v", 1, two),
            (None, "pytest -v a.py", 0, a.as_str()),
            (None, "pytest -v b.py", 0, b.as_str()),
        ];
        assert_eq!(earlier(&lines), told("pytest -v", "no", None));
        // It is told as it was run.
        let api = Some("/home/dev/shop/api");
        let lines = [(api, "pytest -q", 1, red), (api, "pytest -q", 0, green)];
        assert_eq!(earlier(&lines), told("pytest -q", "assert 1 == 2", Some("pytest -q")));
        // What still fails, or fails again, is no earlier error.
        let again = (None, "pytest -q", 1, red);
        assert_eq!(earlier(&[again, (None, "ls", 0, "")]), []);
        assert_eq!(earlier(&[again, (None, "pytest -q", 0, green), again]), []);
        assert_eq!(earlier(&[(None, "pytest -q", 0, green)]), []);
    }

    /// Whether `cargo test` that failed in one directory is told to, after it passed in another.
    fn is_left(commands: &[(Option<&str>, &str, i64, &str)]) -> (bool, bool) {
        let mut gathered = Gathered::new(Path::new("/home/dev/shop"), Path::new("/home/dev/shop"));
        for (directory, line, code, text) in commands {
            let (item, command, exit_code) = ("1".into(), format!("/bin/bash -lc '{line}'"), Some(*code));
            let status = ItemStatus::Completed;
            let ended = Event::CommandEnded { item, command, exit_code, output_bytes: 0, status };
            let printed = Some(Printed::whole(text));
            match directory {
                Some("?") => gathered.note_somewhere(&ended, printed, at(1)),
                directory => gathered.note_in(directory.map(Path::new), &ended, printed, at(1)),
            }
        }
        let (tests, errors) = gathered.finish(NEVER, None);
        (tests.is_some_and(|tests| !tests.failed_tests.is_empty()), errors.is_some())
    }

    #[test]
    fn the_same_words_in_two_directories_are_two_commands() {
        let red = "==== short test summary info ====\nFAILED test_a.py::x - no\n1 failed in 0.1s\n";
        let (failed, passed) = ((1, red), (0, "1 passed in 0.1s\n"));
        let both = |a: Option<&'static str>, b: Option<&'static str>, line: &'static str| {
            is_left(&[(a, line, failed.0, failed.1), (b, line, passed.0, passed.1)])
        };
        let (here, api, web) = ("/home/dev/shop", "/home/dev/shop/api", "/home/dev/shop/it's a web");
        for line in ["pytest -q", "cd . && pytest -q", "pytest -q test_a.py"] {
            for (a, b) in [(api, web), (web, api), (api, "/home/dev/other"), ("/tmp/a", "/tmp/b")] {
                assert_eq!(both(Some(a), Some(b), line), (true, true), "{a}, {b}: {line}");
            }
            for (a, b) in [(api, api), (web, web), (here, here), (api, "/home/dev/shop/web/../api")] {
                assert_eq!(both(Some(a), Some(b), line), (false, false), "{a}, {b}: {line}");
            }
            assert_eq!(both(None, None, line), (false, false), "{line}");
            assert_eq!(both(Some(here), None, line), (false, false), "{line}");
        }
        // Any other program, and what the command itself says of where it goes.
        let error = "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n    x\nKeyError: 1\n";
        let two = |a, b, first, second| is_left(&[(Some(a), first, 1, error), (Some(b), second, 0, "")]).1;
        assert!(two(api, web, "python a.py", "python a.py"));
        assert!(!two(api, api, "python a.py", "python a.py"));
        assert!(!two(here, api, "cd api && python a.py", "python a.py"));
        assert!(two(here, web, "cd api && python a.py", "python a.py"));
    }

    #[test]
    fn what_started_nobody_knows_where_mends_only_its_own_words() {
        let red = "==== short test summary info ====\nFAILED test_a.py::x - no\n1 failed in 0.1s\n";
        let error = "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n    x\nKeyError: 1\n";
        let (here, unknown) = (Some("/home/dev/shop"), Some("?"));
        let tests = |a, b, first, second| {
            is_left(&[(a, first, 1, red), (b, second, 0, "1 passed in 0.1s\n")]) == (true, true)
        };
        let program = |a, b, first, second| is_left(&[(a, first, 1, error), (b, second, 0, "")]).1;
        for (a, b) in [(here, unknown), (unknown, here)] {
            assert!(tests(a, b, "pytest -q", "pytest -q"), "{a:?}");
            assert!(program(a, b, "python a.py", "python a.py"), "{a:?}");
            // It says itself where it goes.
            assert!(!tests(a, b, "cd /home/dev/shop && pytest -q", "cd /home/dev/shop && pytest -q"));
            let goes = "cd /home/dev/shop && python a.py";
            assert!(!program(a, b, goes, goes), "{a:?}");
        }
        assert!(!tests(unknown, unknown, "pytest -q", "pytest -q"));
        assert!(!program(unknown, unknown, "python a.py", "python a.py"));
        assert!(tests(unknown, unknown, "pytest -q test_a.py", "pytest -q"));
        assert!(program(unknown, unknown, "cargo build", "cargo test"));
        // It is told as it was run, and counted.
        let mut gathered = Gathered::new(Path::new("/home/dev/shop"), Path::new("/home/dev/shop"));
        let (item, command, exit_code) = ("1".into(), "pytest -q".to_owned(), Some(1));
        let status = ItemStatus::Completed;
        let ended = Event::CommandEnded { item, command, exit_code, output_bytes: 0, status };
        gathered.note_somewhere(&ended, Some(Printed::whole(red)), at(1));
        let (tests, errors) = gathered.finish(NEVER, None);
        assert_eq!((tests.unwrap().failed, errors.unwrap().command), (Some(1), Some("pytest -q".to_owned())));
    }

    #[test]
    fn a_command_is_told_as_it_was_run() {
        let told = |directory: &str, lines: &[&str]| {
            let mut gathered = Gathered::new(Path::new("/home/dev/shop"), Path::new("/home/dev/shop"));
            for line in lines {
                let (item, command, exit_code) = ("1".into(), (*line).to_owned(), Some(2));
                let status = ItemStatus::Completed;
                let ended = Event::CommandEnded { item, command, exit_code, output_bytes: 0, status };
                let text = "a.ts(1,2): error TS2322: no\na.ts(2,2): error TS2322: no\n";
                gathered.note_in(Some(Path::new(directory)), &ended, Some(Printed::whole(text)), at(1));
            }
            let errors = gathered.finish(NEVER, None).1.unwrap();
            (errors.command.unwrap(), errors.suggestions.join("\n"))
        };
        let long = format!("tsc {}", "a.ts ".repeat(80));
        for directory in ["/home/dev/shop", "/home/dev/shop/it's a web", &"/d".repeat(200)] {
            let (command, suggestions) = told(directory, &["tsc  -p ."]);
            assert_eq!(command, "tsc -p .");
            assert!(suggestions.ends_with("in the output of `tsc -p .`"), "{suggestions}");
            assert_eq!(told(directory, &[&long]).0, plain::line(&long, LONGEST_COMMAND));
        }
        // Where the beginning is all there is, it may be that of another.
        assert!(told(&"/d".repeat(200), &["tsc -p a", "tsc -p b"]).0.starts_with("cd '/d/d"));
    }

    #[test]
    fn only_commands_that_ran_and_printed_tell_of_tests() {
        assert_eq!(after(&ended(ItemStatus::Completed), Some(PASSED)).unwrap().passed, Some(1));
        assert_eq!(after(&ended(ItemStatus::Declined), Some(PASSED)), None);
        assert_eq!(after(&ended(ItemStatus::Completed), None), None);
    }

    #[test]
    fn tests_that_were_cut_off_are_there_without_counts() {
        let one =
            "==== short test summary info ====\nFAILED a/test_a.py::x - no\n1 failed, 1 passed in 0.1s\n";
        let after = |command: &str, cut: &str| {
            let mut gathered = Gathered::new(Path::new("/home/dev/shop"), Path::new("/home/dev/shop"));
            gathered.note_only_command(command, Some(1), one, true, at(1));
            gathered.note(&started(cut), None, at(2));
            assert_eq!(gathered.oldest_running(), Some(cut));
            gathered.finish(NEVER, None).0.unwrap()
        };
        // What it holds has no other word now, and may fail still.
        let found = after("pytest -q a", "pytest -v");
        assert_eq!((found.passed, found.failed, found.complete), (None, None, false));
        assert_eq!((found.failed_tests.len(), found.earlier_runs, found.runs.len()), (1, 1, 1));
        for (before, cut) in [
            ("pytest -q a", "pip install x && pytest"),
            ("npm test", "npm test"),
            ("npm test", "cd /home/dev/shop && npm test"),
            ("make check", "make check"),
            ("npm test", "npx pytest"),
            ("pytest a", "make check"),
        ] {
            let found = after(before, cut);
            assert_eq!((found.passed, found.complete, found.failed_tests.len()), (None, false, 1), "{cut}");
        }
        // Others say nothing of these.
        for cut in ["sleep 60", "cat a/test_a.py", "cd /tmp/base && pytest"] {
            assert_eq!(after("pytest -q a", cut).passed, Some(1), "{cut}");
        }
        let beside = after("pytest -q a", "pytest b");
        assert_eq!((beside.passed, beside.runs[0].passed, beside.complete), (None, Some(1), false));
        let alone = |command: &str, end: Option<ItemStatus>, text| {
            let mut gathered = Gathered::new(Path::new("/home/dev/shop"), Path::new("/home/dev/shop"));
            match end {
                Some(status) => {
                    gathered.note(&started(command), None, at(1));
                    gathered.note(&ended(status), None, at(2));
                }
                None => gathered.note_only_command(command, None, text, true, at(2)),
            }
            gathered.finish(NEVER, None).0.map(|found| (found.passed, found.complete))
        };
        for command in
            ["pytest -v x", "npm test", "cargo test", "cd a && pytest", "tox", "pytest a && npx jest"]
        {
            assert_eq!(alone(command, None, "a PASSED\n"), Some((None, false)), "{command}");
        }
        assert_eq!(alone("pytest a && npx jest", None, "1 passed in 0.1s\n"), Some((None, false)));
        // It may not have come so far, or be something else.
        for command in
            ["cargo build && cargo test", "make check", "npm run verify", "sleep 60; pytest", "./x"]
        {
            assert_eq!(alone(command, None, ""), None, "{command}");
        }
        for status in [ItemStatus::Declined, ItemStatus::Completed] {
            assert_eq!(alone("pytest", Some(status), ""), None);
        }
    }

    #[test]
    fn a_file_that_changed_after_the_tests_makes_them_stale() {
        let stale = |command: &str, changed| {
            let mut gathered = Gathered::new(Path::new("/home/dev/shop"), Path::new("/home/dev/shop"));
            gathered.note(&started(command), None, at(5));
            let (item, command, status) = ("1".into(), command.into(), ItemStatus::Completed);
            let ended = Event::CommandEnded { item, command, exit_code: Some(0), output_bytes: 0, status };
            gathered.note(&ended, Some(PASSED), at(10));
            gathered.finish(changed, None).0.unwrap().stale
        };
        let file = |ms| Changed::Known { at: Some(at(ms)), by: None };
        let gone = |ms| Changed::Known { at: None, by: Some(at(ms)) };
        for (command, changed, expected) in [
            ("cargo test", NEVER, Some(false)),
            ("cargo test", file(10), Some(false)),
            ("cargo test", file(11), Some(true)),
            ("cargo test", gone(10), Some(false)),
            // Its folder changed, for whatever reason.
            ("cargo test", gone(11), None),
            ("cargo test", Changed::Unknown, Some(false)),
            // Before the tests, or after them?
            ("cargo test; rm a", file(8), None),
            ("cargo test; rm a", gone(8), None),
            ("cargo test; rm a", file(4), Some(false)),
            ("cargo test; rm a", NEVER, Some(false)),
            ("cargo test; rm a", Changed::Unknown, None),
            ("sed -i s/a/b/ a; cargo test", file(8), Some(false)),
        ] {
            assert_eq!(stale(command, changed), expected, "{command} {changed:?}");
        }
    }

    #[test]
    fn an_output_as_long_as_any_may_lack_its_middle() {
        let long = format!("{}\n{PASSED}", "x".repeat(MOST_PRINTED));
        let tests = after(&ended(ItemStatus::Completed), Some(&long)).unwrap();
        assert_eq!((tests.passed, tests.complete), (Some(1), false));
    }

    #[test]
    fn counts_of_which_the_beginning_is_missing_are_not_the_whole_run() {
        for whole in [true, false] {
            let mut gathered = Gathered::new(Path::new("/"), Path::new("/"));
            gathered.note_only_command("cargo test", Some(0), PASSED, whole, at(0));
            assert_eq!(gathered.finish(NEVER, None).0.unwrap().complete, whole);
        }
    }

    #[test]
    fn tests_that_were_over_when_their_command_was_killed_were_seen_whole() {
        let pytest = "==== 1 failed, 2 passed in 0.01s ====\n";
        let jest = "Test Suites: 1 passed, 1 total\nTests:       3 passed, 3 total\n";
        let complete = |command: &str, text: &str, whole| {
            let mut gathered = Gathered::new(Path::new("/"), Path::new("/"));
            gathered.note_only_command(command, None, text, whole, at(0));
            gathered.finish(NEVER, None).0.unwrap().complete
        };
        for command in
            ["pytest; sleep 60", "cd a && pytest -q 2>&1 | tail -3; sleep 60", "pytest && sleep 60"]
        {
            assert!(complete(command, pytest, true), "{command}");
            assert!(!complete(command, pytest, false), "{command}");
        }
        assert!(complete("npx jest; sleep 60", jest, true));
        assert!(complete("pytest a.py; pytest b.py; sleep 60", &pytest.repeat(2), true));
        for (command, text) in [
            // It may have had more to say, or to run.
            ("pytest", pytest),
            ("pytest 2>&1 | tee o.log", pytest),
            ("cargo test; sleep 60", PASSED),
            ("npm test; sleep 60", jest),
            ("for f in *.py; do pytest $f; sleep 60; done", pytest),
            ("pytest a.py; pytest b.py; sleep 60", pytest),
            ("pytest a.py; sleep 60; pytest b.py", pytest),
            ("pytest a.py; pytest b.py", &pytest.repeat(2)),
            ("pytest; ./more", pytest),
        ] {
            assert!(!complete(command, text, true), "{command}");
        }
    }
}
