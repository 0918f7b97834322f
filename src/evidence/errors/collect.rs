//! The errors of a whole run, from its commands and events as they come.
//!
//! A command that failed is told as earlier once everything that it did is done without
//! failing, or more: what was mended is no reason. Words about quotas and
//! keys in an output mean nothing here; only the agent's own faults do.

use std::cell::LazyCell;

use serde::{Deserialize, Serialize};

use super::behind::Seen;
use super::blame;
use super::cargo;
use super::codes;
use super::diagnose::{Diagnosis, Found, diagnose};
use super::earlier::EarlierErrors;
use super::failing;
use super::failure::{Failure, told};
use super::halfway::without_git;
use super::marked::without_marks;
use super::place::{Location, is_there};
use super::refusals::Refusals;
use super::said::Speakers;
use super::thrown;
use super::timed::without_times;
use super::whereabouts::Whereabouts;
use super::work::{Done, Work};
use crate::evidence::refused::without_refused;
use crate::evidence::tests::Origin;
use crate::evidence::trees::{Ran, Trees};
use crate::model::{Change, Event, FailureCode, Fault, ItemStatus};

const MOST_FAILURES: usize = 16;
/// Of an output, as much as tells how it ended.
const LONGEST_END: usize = 4096;
pub(super) const LONGEST_COMMAND: usize = 200;

/// Collects while a run goes on.
#[derive(Debug)]
pub(crate) struct Errors {
    /// Where the run works; what is below it is told without it.
    pub(super) directory: String,
    pub(super) origin: Origin,
    /// Commands that failed and were not mended, oldest first.
    pub(super) failures: Vec<Failure>,
    /// Those that something succeeded after.
    pub(super) earlier: EarlierErrors,
    refusals: Refusals,
    trees: Trees,
    /// Where the command that is read did its work.
    ran: Ran,
    /// Whether a file is below a directory.
    pub(super) is_there: fn(&str, &str) -> bool,
}

/// Why a run failed, as far as can be observed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ErrorEvidence {
    /// The agent's own reason where it gave one, else the first error.
    pub(crate) error_message: String,
    /// Of the first error; of a fault of account, sandbox or start, what that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error_type: Option<String>,
    /// The first error of the first command that still failed, where `error_message` is another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) first_error: Option<String>,
    /// The command that it is from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) command: Option<String>,
    pub(crate) failed_files: Vec<String>,
    pub(crate) error_locations: Vec<Location>,
    pub(crate) suggestions: Vec<String>,
    /// Actions that a sandbox or a policy refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) refused: Vec<String>,
}

impl Errors {
    pub(crate) fn new(directory: &str, origin: Origin) -> Self {
        let directory = format!("{}/", directory.trim_end_matches('/'));
        let (failures, refusals) = (Vec::new(), Refusals::default());
        let (trees, ran) = (Trees::new(origin.clone()), Ran::default());
        let earlier = EarlierErrors::default();
        Self { directory, origin, failures, earlier, refusals, trees, ran, is_there }
    }

    /// Where every file is that somebody names.
    #[cfg(test)]
    pub(crate) fn where_all_is_there(directory: &str, origin: Origin) -> Self {
        Self::where_some_are_there(directory, origin, |_, _| true)
    }

    /// Where these files are.
    #[cfg(test)]
    pub(crate) fn where_some_are_there(
        directory: &str,
        origin: Origin,
        is_there: fn(&str, &str) -> bool,
    ) -> Self {
        Self { is_there, ..Self::new(directory, origin) }
    }

    /// What the agent itself says was refused, and what it wrote.
    pub(crate) fn note_event(&mut self, event: &Event) {
        match event {
            Event::Edited { changes, status: ItemStatus::Completed, .. } => self.work_here(changes),
            other => self.refusals.note(other),
        }
    }

    /// The tree that is worked on is the run's own, whatever was put aside before.
    fn work_here(&mut self, changes: &[Change]) {
        self.note_changes(changes);
        self.trees.note_edit();
        self.failures.iter_mut().for_each(|failure| failure.is_bare = false);
    }

    /// A command came to its end, with all that it printed.
    pub(crate) fn note_command(&mut self, command: &str, exit_code: Option<i64>, text: &str) {
        let text = &*without_times(command, text);
        let text = &*without_marks(command, text);
        let done = self.asked(command, text).ended(exit_code);
        self.note_files(command, &done, exit_code, text);
        let root = self.directory.trim_end_matches('/');
        let astray = done.astray(root, text).or_else(|| done.misread(root, text));
        if astray.is_none() && done.is_idle() {
            return;
        }
        self.ran = self.trees.run(&done.command, exit_code, text, |at| done.does_on_files(at));
        // All that was printed is gone through for it, and once is enough.
        let proven = LazyCell::new(|| done.proven(command, text));
        let unproven = match exit_code {
            Some(0) => done.unproven_builds(&proven),
            _ => Vec::new(),
        };
        let built = cargo::failure(text, &unproven);
        let is_built = built.is_some();
        let found = match exit_code {
            Some(124) if done.too_slow(text).is_some() => done.too_slow(text),
            Some(127) if done.shows_other_text() => {
                failing::before_text(command, exit_code, text).or_else(|| failing::missing(text, &done))
            }
            // Nobody can say whose words a text shown beside has. A failure of tests is one all the same.
            Some(0) | None if done.shows_other_text() => failing::before_text(command, exit_code, text),
            Some(_) if done.shows_other_text() && !done.ends_with_tests() => {
                failing::before_text(command, exit_code, text)
            }
            Some(code) if done.shows_other_text() => failing::beside_text(command, code, text, &done),
            Some(0) if done.repeats_itself() => failing::to_the_end(command, exit_code, text),
            Some(0) if built.is_some() => built,
            Some(0) if done.ends_with_tests() => failing::before_another(command, text, &done),
            Some(0) => {
                let hides = done.hides_exit() || (!done.tests().is_empty() && cargo::could_not_compile(text));
                let built = hides.then(|| diagnose(text, &Speakers::default())).flatten();
                let built = built.filter(|found| found.is_of_a_compiler() || done.may_have_said(found));
                let built = built.or_else(|| failing::before_another(command, text, &done));
                let missing = || failing::missing_tool(text, &done).filter(|_| done.hides_exit());
                built.or_else(missing).or_else(|| thrown::behind_a_pipe(text, &done))
            }
            // What failed first may be mended, unless it is told of again.
            Some(_) | None if done.repeats_itself() => {
                let twice = diagnose(text, &done.speakers(exit_code)).filter(Found::tells_twice);
                twice.or_else(|| failing::to_the_end(command, exit_code, text))
            }
            Some(_) | None => diagnose(text, &done.speakers(exit_code))
                .filter(|found| !found.is_vague || !failing::are_counted(command, exit_code, text))
                .or_else(|| thrown::at_the_end(text, &done))
                .or_else(|| exit_code.and_then(|code| failing::test(command, code, text))),
        };
        let (found, unheard) = match astray {
            Some((found, works)) => (Some(found), Some(works)),
            None => done.or_unheard(found, exit_code, text),
        };
        let conflict = done.conflict(text);
        let found = found.filter(|found| conflict.is_none() || !found.is_of_series());
        // The same question, and the new answer tells of nothing.
        let is_answered = match exit_code {
            _ if found.is_some() => false,
            Some(0 | 1) if done.looks_for_errors() && text.trim().is_empty() => !done.is_limited(),
            Some(0) => done.shows_all_that_failed(&proven, text),
            Some(1) => done.ends_with_an_answer() && done.shows_all_that_failed(&proven, text),
            Some(_) | None => false,
        };
        if is_answered {
            self.settle(command, |failure| failure.line == command);
        }
        if exit_code == Some(0) && !self.ran.is_other {
            self.failures.iter_mut().for_each(|failure| failure.note_proven(&proven));
            self.settle(command, |failure| failure.left.is_empty());
        }
        // What a look at the end of tests showed to fail, the same look shows to pass.
        if exit_code == Some(0) && found.is_none() && self.failures.iter().any(|old| old.found.is_glimpse) {
            let (tests, is_green) = (done.tests(), failing::look_green(command, text));
            let is_clean = Seen::new(command, text).is_clean;
            let is_mended = |failed: &Work| is_green && tests.iter().any(|work| work.mends(failed));
            self.settle(command, |old| {
                let again = is_clean && (is_green || !done.is_limited()) && old.line == command;
                old.found.is_glimpse && (again || old.works.iter().all(is_mended))
            });
        }
        if let Some(built) = cargo::built(&done.works(), found.as_ref(), text) {
            self.settle(command, |failure| failure.works.iter().all(|failed| built.mends(failed)));
        }
        if exit_code == Some(0) && found.is_none() && !done.shows_other_text() {
            // Tried until it succeeded.
            let earlier = failing::on_the_way(command, text);
            let failed = earlier.map(|found| Failure::inside(command, found));
            failed.into_iter().for_each(|failure| self.earlier.add(failure.earlier(Some(command))));
        }
        let is_halfway = conflict.is_some();
        conflict.into_iter().for_each(|conflict| self.note_conflict(command, conflict, &done));
        if let Some(mut found) = found {
            let by_tests = done.works().len() > 1
                && !done.tests().is_empty()
                && exit_code.is_some_and(|code| blame::is_of_tests(&found, command, code, text));
            let (root, origin, is_there) = (&self.directory, &self.origin, self.is_there);
            Whereabouts { root, origin, done: &done, is_there }.tell(&mut found);
            // Whatever followed them is not what has to be done again.
            let works = match exit_code {
                _ if unheard.is_some() => unheard.unwrap_or_default(),
                Some(0) if is_built => unproven,
                Some(0) if !done.tests().is_empty() => done.tests(),
                Some(_) if by_tests => done.tests(),
                _ if is_halfway => without_git(done.to_do(text)),
                _ => done.to_do(text),
            };
            let works = cargo::to_do_again(done.each_turn(works), text);
            let may_lack_code = cargo::may_lack_code(text);
            let is_bare = self.ran.is_bare;
            let sounds_fine = self.sounds_fine(command, text);
            let failure =
                Failure { may_lack_code, by_tests, sounds_fine, is_bare, ..Failure::inside(command, found) };
            self.keep(failure.of(works));
        }
        if self.ran.is_back {
            let of_that = self.failures.extract_if(.., |failure| failure.is_bare);
            of_that.for_each(|failure| self.earlier.add(failure.without_changes()));
        }
        // What came back in pieces is what there is to work on.
        if !self.trees.any_stashed() {
            self.failures.iter_mut().for_each(|failure| failure.is_bare = false);
        }
    }

    /// What a command was to do, whatever it was told that it does not know.
    fn asked(&self, command: &str, text: &str) -> Done {
        Done::new(&without_refused(command, text), self.directory.trim_end_matches('/'), &self.origin)
    }

    /// Whether nothing would be heard of a failure with this output behind a pipe that lets its end through.
    fn sounds_fine(&self, command: &str, text: &str) -> bool {
        let text = &text[text.floor_char_boundary(text.len().saturating_sub(LONGEST_END))..];
        let line = format!("{command} 2>&1 | cat");
        let piped = Done::new(&line, self.directory.trim_end_matches('/'), &self.origin).ended(Some(0));
        // Behind another pipe nobody says with what it ended.
        let text = &codes::without_own_words(&piped.command, text);
        Seen::new(&line, text).is_clean && piped.or_unheard(None, Some(0), text).0.is_none()
    }

    /// Commands whose tests were seen to pass since, however they were run.
    pub(crate) fn settle_tests_of(&mut self, lines: &[String], by: Option<&str>) {
        self.settle_all(by, |failure| lines.contains(&failure.line) && failure.is_of_tests());
    }

    /// Some failures are earlier ones now, since the command that is read succeeded. What it did on files
    /// that did not stay settles nothing.
    fn settle(&mut self, by: &str, is_settled: impl Fn(&Failure) -> bool) {
        if !self.ran.is_other {
            self.settle_all(Some(by), is_settled);
        }
    }

    pub(super) fn settle_all(&mut self, by: Option<&str>, is_settled: impl Fn(&Failure) -> bool) {
        for failure in self.failures.extract_if(.., |failure| is_settled(failure)) {
            self.earlier.add(failure.earlier(by));
        }
    }

    pub(super) fn keep(&mut self, new: Failure) {
        // The newest state of a failing program, in the place of the first one.
        match self.failures.iter().position(|old| old.works == new.works) {
            // It is known to fail on the run's own tree.
            Some(at) if new.is_bare && !self.failures[at].is_bare => {}
            // What says more of it stays.
            Some(at) if new.found.says_less_than(&self.failures[at].found) => {}
            Some(at) => self.failures[at] = new,
            None if self.failures.len() < MOST_FAILURES => self.failures.push(new),
            None => match self.failures.iter_mut().find(|old| old.found.is_bare) {
                // A reason is told before what only ended badly.
                Some(old) if !new.found.is_bare => *old = new,
                _ => {}
            },
        }
    }

    /// What it all came to; `None` where nothing is known to have failed.
    #[cfg(test)]
    pub(crate) fn finish(self, fault: Option<&Fault>) -> Option<ErrorEvidence> {
        self.told(fault).0
    }

    /// The same, and what failed before another command succeeded.
    pub(crate) fn told(mut self, fault: Option<&Fault>) -> (Option<ErrorEvidence>, EarlierErrors) {
        let mut earlier = std::mem::take(&mut self.earlier);
        self.failures.iter().for_each(|failure| earlier.without(&failure.command, &failure.message()));
        (self.left(fault), earlier)
    }

    fn left(self, fault: Option<&Fault>) -> Option<ErrorEvidence> {
        let first = self.failures.iter().find(|failure| !failure.found.is_only_said());
        let first = first.or(self.failures.first());
        let mut evidence = match fault.map(|fault| (fault, type_of(fault.code))) {
            // The account or the sandbox is the reason, whatever else failed.
            Some((fault, Some(kind))) => ErrorEvidence { error_type: Some(kind.to_owned()), ..told(fault) },
            Some((fault, None)) => match first {
                Some(failure) => failure.evidence(Some(fault)),
                // That a limit was reached is no error.
                None if fault.code == FailureCode::Timeout && self.refusals.list.is_empty() => return None,
                None => told(fault),
            },
            None => match (first, self.refusals.count) {
                (Some(failure), _) => failure.evidence(None),
                (None, 0) => return None,
                (None, _) => ErrorEvidence { error_message: self.refusals.told(), ..Default::default() },
            },
        };
        evidence.refused = self.refusals.list;
        Some(evidence)
    }
}

impl Found {
    /// Whether its first error came up again.
    fn tells_twice(&self) -> bool {
        let mut errors = self.errors.iter();
        errors.next().is_some_and(|first| errors.any(|error| error.is_same(first)))
    }

    /// Whether it is a look at the end of what `other` tells with its reason.
    fn says_less_than(&self, other: &Self) -> bool {
        let is_of_compiler = |found: &Self| found.errors.first().is_some_and(Diagnosis::is_fixed_in_place);
        let is_part = self.is_glimpse || self.is_cut_off();
        let is_less = self.is_bare || (is_part && is_of_compiler(self) == is_of_compiler(other));
        is_less && !other.is_vague
    }

    /// Whether only the heads of errors came through, or what cargo says of them at its end.
    pub(super) fn is_cut_off(&self) -> bool {
        self.is_vague && self.errors.first().is_some_and(Diagnosis::is_fixed_in_place)
    }

    /// Whether all that is known of it is that cargo could not compile.
    pub(super) fn is_last_word_of_cargo(&self) -> bool {
        self.errors.first().is_some_and(|error| error.message.starts_with("could not compile `"))
    }
}

/// What a fault is called that no failed command can explain.
fn type_of(code: FailureCode) -> Option<&'static str> {
    match code {
        FailureCode::Auth => Some("authentication failure"),
        FailureCode::RateLimited => Some("rate limit or quota"),
        FailureCode::Sandbox => Some("sandbox refusal"),
        FailureCode::Spawn => Some("start failure"),
        FailureCode::Budget => Some("budget exceeded"),
        FailureCode::Storage => Some("storage failure"),
        FailureCode::Schema => Some("schema violation"),
        FailureCode::Internal => Some("internal error"),
        FailureCode::ToolError | FailureCode::Lost | FailureCode::Timeout => None,
    }
}

/// The kind and the message of the error that is left after these commands.
#[cfg(test)]
pub(in crate::evidence) fn left_by(commands: &[(&str, i64, &str)]) -> Option<(String, String)> {
    let root = "/home/dev/project";
    let mut errors = Errors::where_all_is_there(root, Origin::new(root, root));
    commands.iter().for_each(|(line, code, text)| errors.note_command(line, Some(*code), text));
    errors.finish(None).map(|left| (left.error_type.unwrap_or_default(), left.error_message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Change, ChangeKind};

    const BROKEN: &str = "error[E0308]: mismatched types\n --> src/a.rs:2:5\n  |\nhelp: use a number\n\nerror: could not compile `a` (lib) due to 1 previous error\n";
    const PANIC: &str = "thread 'main' panicked at src/main.rs:4:5:\nno settings\n";

    fn collected(commands: &[(&str, i64, &str)]) -> Errors {
        let root = "/home/dev/project";
        let mut errors = Errors::where_all_is_there(root, Origin::new(root, root));
        for (command, exit_code, text) in commands {
            errors.note_command(command, Some(*exit_code), text);
        }
        errors
    }

    #[track_caller]
    fn check(commands: &[(&str, i64, &str)], expected: Option<(&str, &str)>) {
        let evidence = collected(commands).finish(None);
        let told =
            evidence.as_ref().map(|told| (told.error_type.as_deref().unwrap(), told.error_message.as_str()));
        assert_eq!(told, expected);
    }

    #[test]
    fn the_first_error_of_a_cascade_is_the_cause() {
        let evidence =
            collected(&[("cargo build", 101, BROKEN), ("cargo run", 101, PANIC)]).finish(None).unwrap();
        assert_eq!(evidence.error_message, "no settings");
        let evidence =
            collected(&[("cargo build", 101, BROKEN), ("./app", 101, PANIC)]).finish(None).unwrap();
        assert_eq!(evidence.error_type.as_deref(), Some("compile error E0308"));
        assert_eq!(evidence.failed_files, ["src/a.rs"]);
        assert_eq!(
            evidence.suggestions,
            [
                "fix src/a.rs:2 first: E0308 mismatched types",
                "rustc suggests: use a number",
                "`rustc --explain E0308` explains it"
            ]
        );
    }

    #[test]
    fn what_a_program_caught_is_not_what_it_died_of() {
        let caught = "Traceback (most recent call last):\n  File \"a.py\", line 2, in <module>\n    1/0\nZeroDivisionError: division by zero\n";
        let died = "Traceback (most recent call last):\n  File \"a.py\", line 7, in <module>\n    open('x')\nFileNotFoundError: no x\n";
        let chain = "\nDuring handling of the above exception, another exception occurred:\n\n";
        let zero = Some(("ZeroDivisionError", "division by zero"));
        check(
            &[("python3 a.py", 1, &format!("{caught}going on\n{died}"))],
            Some(("FileNotFoundError", "no x")),
        );
        check(&[("python3 a.py", 1, &format!("{caught}{died}"))], Some(("FileNotFoundError", "no x")));
        check(&[("python3 a.py", 1, &format!("{caught}{chain}{died}"))], zero);
        check(&[("python3 a.py", 1, &format!("{caught}{died}and on it went\n"))], zero);
        check(&[("python3 a.py; python3 b.py", 1, &format!("{caught}{died}"))], zero);
    }

    #[test]
    fn a_file_of_tests_that_could_not_run_is_the_reason() {
        let text = "FAIL t/c.test.js\n  ● Test suite failed to run\n\n    suite fails\n\n    > 1 | throw new Error('suite fails');\n        |       ^\n      2 |\n\n      at Object.<anonymous> (t/c.test.js:1:7)\n\nTest Suites: 1 failed, 1 total\n";
        check(&[("npx jest", 1, text)], Some(("test suite failure", "suite fails")));
        let told = collected(&[("npx jest", 1, text)]).finish(None).unwrap();
        assert_eq!(told.failed_files, ["t/c.test.js"]);
    }

    #[test]
    fn what_fails_again_is_still_a_reason() {
        let line = "python3 a.py; python3 a.py";
        check(&[(line, 101, PANIC)], Some(("error", "exited with code 101")));
        check(&[(line, 101, &PANIC.repeat(2))], Some(("panic", "no settings")));
        check(&[(line, 0, &PANIC.repeat(2))], None);
    }

    #[test]
    fn a_file_has_one_name() {
        let text = "../bad.c:1:5: error: expected ';'\n";
        let told = collected(&[("cd sub; gcc -c ../bad.c", 1, text)]).finish(None).unwrap();
        assert_eq!(told.failed_files, ["bad.c"]);
    }

    #[test]
    fn a_success_in_other_surroundings_mends_nothing() {
        let broken = [("SUITE=a ./app", 101, PANIC), ("SUITE=b ./app", 0, "")];
        check(&broken, Some(("panic", "no settings")));
        check(&[broken[0], ("SUITE=a ./app", 0, "")], None);
        check(&[broken[0], ("NO_COLOR=1 SUITE=a ./app", 0, "")], None);
    }

    #[test]
    fn what_a_program_only_says_gives_way_to_an_error() {
        let said = ("rm a", 1, "rm: cannot remove 'a': No such file or directory\n");
        check(&[said], Some(("error", "cannot remove 'a': No such file or directory")));
        let broken = Some(("compile error E0308", "mismatched types"));
        check(&[said, ("cargo build", 101, BROKEN)], broken);
        check(&[("ls missing", 2, "ls: cannot access 'missing': No such file\n")], None);
    }

    #[test]
    fn what_passing_tests_print_is_no_reason() {
        let logged =
            "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n    x\nKeyError: 'a'\n";
        let failed =
            "Traceback (most recent call last):\n  File \"t.py\", line 9, in t\n    y\nAssertionError: no\n";
        let rule = "=".repeat(70);
        let unittest = format!("{logged}.F\n{rule}\nFAIL: t (t.T.t)\n{failed}\n");
        check(&[("python3 -m unittest", 1, &unittest)], Some(("AssertionError", "no")));
        let panicked = "thread 'a' panicked at src/a.rs:1:2:\nmeant to\n";
        let shown = format!("successes:\n{panicked}\nfailures:\n\n---- b stdout ----\n{PANIC}");
        check(&[("cargo test -- --show-output", 101, &shown)], Some(("panic", "no settings")));
        // Where nothing is told after it, it is all that there is.
        let bare = format!("{PANIC}\nfailures:\n    b\n");
        check(&[("cargo test -- --nocapture", 101, &bare)], Some(("panic", "no settings")));
    }

    #[test]
    fn what_was_mended_is_no_reason() {
        check(&[("cargo build", 101, BROKEN), ("cargo test", 0, "")], None);
        check(&[("cargo test", 101, PANIC), ("cargo build", 0, "")], Some(("panic", "no settings")));
        check(
            &[("cargo build", 101, BROKEN), ("cargo fmt", 0, "")],
            Some(("compile error E0308", "mismatched types")),
        );
        check(&[("python3 a.py", 1, "Error: no\n"), ("python3 b.py", 0, "")], Some(("error", "no")));
        check(&[("cargo build", 101, BROKEN), ("cargo build 2>&1 | tail -5", 0, "Finished\n")], None);
        check(&[("npm ci && npm run build", 1, "Error: no\n"), ("npm ci && npm run build", 0, "")], None);
        let raised =
            "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n    x\nKeyError: 'a'\n";
        check(&[("python3 -m pytest", 1, raised), ("pytest -q", 0, "1 passed in 0.01s\n")], None);
    }

    #[test]
    fn a_name_with_a_word_of_failure_in_it_is_no_failure() {
        let build = ("cargo build", 101, BROKEN);
        let end = "    Finished `dev` profile [unoptimized + debuginfo] target(s) in 0.10s\n";
        for before in [
            "   Compiling errors v0.1.0 (/home/dev/failover)\n",
            "    Checking thiserror v2.0.0\n    Checking panic-halt v1.0.0\n",
            "warning: unused import: `std::error::Error`\n --> src/lib.rs:1:5\n  |\n1 | use std::error::Error;\n  |     ^^^^^^^^^^^^^^^^^\n",
        ] {
            check(&[build, ("cargo build 2>&1 | tail -20", 0, &format!("{before}{end}"))], None);
            check(&[build, ("cargo build; ls", 0, &format!("{before}{end}src\n"))], None);
        }
        let broken = Some(("compile error E0308", "mismatched types"));
        for (line, text) in [
            (
                "cargo build 2>&1 | tail -1",
                "error: could not compile `errors` (lib) due to 1 previous error\n",
            ),
            ("cargo build 2>&1 | tail -1", "warning: build failed, waiting for other jobs to finish...\n"),
            ("cargo build 2>&1 | tail -1; cargo doc", end),
            ("cargo doc && cargo build 2>&1 | wc -l", end),
            ("make docs && cargo build 2>&1 | wc -l", end),
            ("cargo build; ls", "src\n"),
            ("cargo build; echo Finished", "Finished\n"),
        ] {
            let told = collected(&[build, (line, 0, text)]).finish(None);
            assert!(
                told.is_some_and(|told| told
                    .error_type
                    .as_deref()
                    .unwrap_or_default()
                    .starts_with("compile error")),
                "{line}"
            );
        }
        check(&[build, ("cargo build -p b; ls", 0, &format!("{end}src\n"))], broken);
        let lint = (
            "npm run lint",
            1,
            "a.js\n  1:1  error  x is not defined  no-undef\n\n✖ 3 problems (1 error, 2 warnings)\n",
        );
        let after = |count: &str| {
            collected(&[
                lint,
                ("npm run lint 2>&1 | tail -1", 0, &format!("✖ 2 problems ({count}, 2 warnings)\n")),
            ])
        };
        assert!(after("0 errors").finish(None).is_none());
        assert!(after("10 errors").finish(None).is_some() && after("1 error").finish(None).is_some());
    }

    #[test]
    fn a_success_that_the_command_itself_printed_is_one() {
        let trace = "Traceback (most recent call last):\n  File \"app.py\", line 1, in <module>\nZeroDivisionError: division by zero\n";
        let (zero, broken) = (
            Some(("ZeroDivisionError", "division by zero")),
            Some(("compile error E0308", "mismatched types")),
        );
        let app = ("python3 app.py", 1, trace);
        check(&[app, ("python3 app.py; echo $?", 0, "1\n0\n")], None);
        check(&[app, ("python3 app.py; echo $?", 0, &format!("{trace}1\n"))], zero);
        check(&[app, ("python3 b.py; echo $?", 0, "0\n")], zero);
        check(&[app, ("python3 app.py 2>&1 | wc -l; echo $?", 0, "3\n0\n")], zero);
        let build = ("cargo build", 101, BROKEN);
        let line = "cargo build >/dev/null 2>&1 && echo OK || echo NO";
        check(&[build, (line, 0, "OK\n")], None);
        check(&[build, (line, 0, "NO\n")], broken);
        let quiet = "cargo build -q; echo \"exit $?\"";
        check(&[(quiet, 0, &format!("{BROKEN}exit 101\n"))], broken);
        check(&[(quiet, 0, &format!("{BROKEN}exit 101\n")), (quiet, 0, "exit 0\n")], None);
    }

    #[test]
    fn what_nobody_waited_for_or_did_not_run_is_no_success() {
        let trace = "Traceback (most recent call last):\n  File \"app.py\", line 1, in <module>\nZeroDivisionError: division by zero\n";
        let zero = Some(("ZeroDivisionError", "division by zero"));
        let app = ("python3 app.py", 1, trace);
        let printed = format!("{trace}exit 0\n");
        for (line, text) in [
            ("python3 app.py > o.log 2>&1 &", ""),
            ("nohup python3 app.py > o.log 2>&1 &", ""),
            ("if [ -f nothing ]; then python3 app.py; fi", ""),
            ("case x in y) python3 app.py ;; esac", ""),
            ("while read f; do python3 app.py; done < /dev/null", ""),
            ("bash -c \"python3 app.py; echo exit $?\"", printed.as_str()),
        ] {
            check(&[app, (line, 0, text)], zero);
        }
        check(&[app, ("python3 app.py", 0, "")], None);
        // Nothing is said by what was ended before it could say anything.
        let broken = Some(("compile error E0308", "mismatched types"));
        let build = "timeout 2 cargo build 2>&1 | grep ^error -A5";
        check(&[(build, 0, BROKEN), (build, 1, "")], broken);
        let tests = "timeout 5 cargo test 2>&1 | tail -1";
        let failed = Some(("test failure", "test failed, to rerun pass `--lib`"));
        check(&[(tests, 0, "error: test failed, to rerun pass `--lib`\n"), (tests, 0, "")], failed);
    }

    #[test]
    fn a_search_for_errors_that_finds_none_is_an_answer() {
        let broken = Some(("compile error E0308", "mismatched types"));
        for filter in
            ["grep -E \"^error\" -A5", "grep -E '^(warning|error)' -A5", "grep -A5 error | head -20"]
        {
            let line = format!("cargo build 2>&1 | {filter}");
            let red = (line.as_str(), 0, BROKEN);
            check(&[red], broken);
            for code in [0, 1] {
                check(&[red, (&line, code, "")], None);
                check(&[red, (&line, code, BROKEN)], broken);
            }
            check(&[red, ("cargo build 2>&1 | grep -E \"^error\" -A9", 1, "")], broken);
            check(&[red, (&line, 2, "")], broken);
            check(&[red, (&line, 1, "bash: line 1: cd: x: No such file or directory\n")], broken);
        }
        // What these do not show may be an error all the same.
        for filter in
            ["grep -A5 E0308", "grep -v error", "grep -q error", "tail -5 | grep error", "grep error | wc -l"]
        {
            let line = format!("cargo build 2>&1 | {filter}");
            check(&[(&line, 0, BROKEN), (&line, 1, "")], broken);
        }
    }

    #[test]
    fn the_same_line_that_tells_of_nothing_now_has_nothing_left() {
        let line = "python3 -m py_compile a.py; npm run build";
        let red = "  File \"a.py\", line 1\n    x = (\n        ^\nSyntaxError: '(' was never closed\nTypeError: no\n    at f (b.js:1:1)\n";
        let told = Some(("SyntaxError", "'(' was never closed"));
        check(&[(line, 1, red)], told);
        check(&[(line, 1, red), (line, 0, "built\n")], None);
        check(&[(line, 1, red), (line, 0, red)], told);
        check(&[(line, 1, red), ("npm run build", 0, "built\n")], told);
        // It may not have begun, or had nothing to say it with.
        for line in [
            "test -f a && python3 -m py_compile a.py; npm run build",
            "python3 -m py_compile a.py 2>/dev/null; npm run build",
            "python3 -m py_compile a.py 2>&1 | head -1; npm run build",
            "if true; then python3 -m py_compile a.py; fi; npm run build",
        ] {
            check(&[(line, 1, red), (line, 0, "built\n")], told);
        }
    }

    #[test]
    fn what_a_pipe_leaves_out_was_not_seen_to_succeed() {
        let broken = Some(("compile error E0308", "mismatched types"));
        let build = ("cargo build", 101, BROKEN);
        for (pipe, text) in [
            ("grep -c '^error'", "2\n"),
            ("wc -l", "7\n"),
            ("grep -oE 'E0[0-9]+' | sort | uniq -c", "      1 E0308\n"),
            ("grep -- '-->'", " --> src/a.rs:2:5\n"),
            ("cut -c1-3", "err\n"),
            ("sed -n 2p", " --> src/a.rs:2:5\n"),
            ("awk '{print $1}'", "-->\n"),
            ("head -1", "   Compiling a v0.1.0\n"),
            ("wc -l && git add -A", "7\n"),
            ("wc -l | cat", "7\n"),
        ] {
            check(&[build, (&format!("cargo build 2>&1 | {pipe}"), 0, text)], broken);
        }
        check(&[build, ("cargo build 2>/dev/null | tail -3", 0, "")], broken);
        let passed =
            "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
        let (denied, lint) =
            (Some(("compile error", "unneeded `return` statement")), "cargo clippy -- -D warnings");
        let failed = (lint, 101, DENIED);
        let after = |pipe: &str| format!("{lint} 2>&1 | {pipe}");
        check(&[failed, (&after("grep -c '^error'"), 0, "1\n")], denied);
        check(&[failed, (&after("wc -l && cargo test"), 0, &format!("9\n{passed}"))], denied);
        check(&[failed, (&format!("cargo check; {}", after("wc -l")), 0, "    Finished `dev`\n9\n")], denied);
        let import = (
            "python3 -c 'import nope'",
            1,
            "Traceback (most recent call last):\n  File \"<string>\", line 1, in <module>\nModuleNotFoundError: No module named 'nope'\n",
        );
        check(
            &[import, ("python3 -c 'import nope' 2>&1 | wc -l", 0, "3\n")],
            Some(("ModuleNotFoundError", "No module named 'nope'")),
        );
        let node = ("node a.js", 1, "a.js:1\nError: no\n    at f (a.js:1:7)\n");
        check(&[node, ("node a.js 2>&1 | tail -1", 0, "Node.js v22.1.0\n")], Some(("Error", "no")));
        // These were.
        for (pipe, text) in [
            ("grep -E 'warning|Finished'", "    Finished `dev` profile [unoptimized] target(s) in 0.1s\n"),
            ("tail -3", ""),
            ("tee build.log | head -20", "    Finished `dev`\n"),
            ("cat", "warning: unused\n"),
        ] {
            check(&[build, (&format!("cargo build 2>&1 | {pipe}"), 0, text)], None);
            check(&[failed, (&after(pipe), 0, text)], None);
        }
        check(&[build, ("set -o pipefail; cargo build 2>&1 | wc -l", 0, "7\n")], None);
        check(&[build, ("cargo test 2>&1 | grep 'test result'", 0, passed)], None);
        let both = format!("    Finished `dev`\ntest errors ... ok\n{passed}");
        check(&[failed, (&after("tail -1 && cargo test 2>&1 | tail -5"), 0, &both)], None);
        check(&[import, ("python3 -c 'import nope' | tail -3", 0, "fine\n")], None);
    }

    const DENIED: &str = "error: unneeded `return` statement\n --> src/main.rs:2:30\n  |\n  = note: `-D clippy::needless-return` implied by `-D warnings`\n\nerror: could not compile `a` (bin \"a\") due to 1 previous error\n";

    #[test]
    fn what_only_builds_does_not_show_that_a_program_runs_or_that_nothing_is_denied() {
        let panic = Some(("panic", "no settings"));
        let denied = Some(("compile error", "unneeded `return` statement"));
        for green in [
            "cargo build",
            "cargo check",
            "cargo test",
            "cargo run -- x",
            "cargo clippy",
            "cargo run --bin b",
        ] {
            check(&[("cargo run", 101, PANIC), (green, 0, "")], panic);
            check(&[("cargo clippy -- -D warnings", 101, DENIED), (green, 0, "")], denied);
            // What did not even compile does so by now.
            check(&[("cargo run --bin b", 101, BROKEN), ("cargo build", 0, "")], None);
            check(&[("cargo clippy -- -D warnings", 101, BROKEN), ("cargo check", 0, "")], None);
        }
        check(&[("cargo run -- x", 101, PANIC), ("cargo run -- x y", 0, "")], panic);
        check(&[("cargo run --bin a", 101, PANIC), ("cargo run", 0, "")], panic);
        check(&[("cargo run -q -- x", 101, PANIC), ("cargo run -- x", 0, "")], None);
        check(&[("cargo build", 101, BROKEN), ("cargo run", 0, ""), ("cargo clippy", 0, "")], None);
        let lint = ("cargo clippy -- -D warnings", 101, DENIED);
        check(&[lint, ("cargo clippy -q -- -D warnings", 0, "")], None);
        check(&[lint, ("cargo clippy -- -D warnings -D clippy::pedantic", 0, "")], None);
        check(&[lint, ("cargo clippy -- -D warnings -A clippy::needless_return", 0, "")], denied);
        check(&[lint, ("cargo clippy -p b -- -D warnings", 0, "")], denied);
    }

    #[test]
    fn a_wider_look_mends_what_a_narrower_one_found() {
        let denied = Some(("compile error", "unneeded `return` statement"));
        for (red, green) in [
            ("cargo clippy -- -D warnings", "cargo clippy --all-targets -- -D warnings"),
            ("cargo clippy --lib -- -D warnings", "cargo clippy --all-targets -- -D warnings"),
            ("cargo clippy --tests -- -D warnings", "cargo clippy --all-targets -- -D warnings"),
            ("cargo clippy -p a -- -D warnings", "cargo clippy --workspace --all-targets -- -D warnings"),
            ("cargo clippy -- -D warnings", "cargo clippy --all-features -- -D warnings"),
            ("cargo clippy --features x -- -D warnings", "cargo clippy --all-features -- -D warnings"),
            (
                "cargo clippy -p a --lib -- -D warnings",
                "cargo clippy --all --all-targets --all-features -- -D warnings",
            ),
            ("cargo clippy -- -D warnings", "cargo clippy -- -Dwarnings"),
            ("cargo clippy -- --deny=warnings", "cargo clippy -- -D warnings"),
            ("cargo clippy -- -Dclippy::needless-return", "cargo clippy -- --deny clippy::needless_return"),
        ] {
            check(&[(red, 101, DENIED), (green, 0, "")], None);
        }
        for (red, green) in [
            ("cargo clippy --all-targets -- -D warnings", "cargo clippy -- -D warnings"),
            ("cargo clippy -- -D warnings", "cargo clippy --tests -- -D warnings"),
            ("cargo clippy -- -D warnings", "cargo clippy -p b --all-targets -- -D warnings"),
            ("cargo clippy -- -D warnings", "cargo clippy --all-targets -- -Awarnings"),
            ("cargo clippy -- -D warnings", "cargo clippy --all-targets -- -D warnings -Adead_code"),
            ("cargo clippy -- -D warnings", "cargo clippy -- -W warnings -D clippy::all"),
            ("cargo clippy --all-features -- -D warnings", "cargo clippy -- -D warnings"),
            (
                "cargo clippy --no-default-features -- -D warnings",
                "cargo clippy --all-features -- -D warnings",
            ),
            ("cargo clippy -- -D warnings", "cargo clippy --features x -- -D warnings"),
        ] {
            check(&[(red, 101, DENIED), (green, 0, "")], denied);
        }
        check(&[("cargo build", 101, BROKEN), ("cargo build --all-targets", 0, "")], None);
        check(&[("cargo build", 101, BROKEN), ("cargo check --all-features", 0, "")], None);
        // What more features bring in may be just what was missing.
        let lacks = [
            BROKEN.replace("E0308]: mismatched types", "E0432]: unresolved import `extra`"),
            BROKEN.replace("error[E0308]: mismatched types", "error: function `helper` is never used"),
        ];
        for text in &lacks {
            for (line, is_mended) in [
                ("cargo build --all-features", false),
                ("cargo build --all-targets", true),
                ("cargo build", true),
            ] {
                let told = collected(&[("cargo build", 101, text), (line, 0, "")]).finish(None);
                assert_eq!(told.is_none(), is_mended, "{line}: {told:?}");
            }
        }
        // Tests of documentation are no target.
        check(
            &[("cargo test", 101, PANIC), ("cargo test --all-targets", 0, "")],
            Some(("panic", "no settings")),
        );
    }

    #[test]
    fn what_is_denied_stays_so_where_nothing_says_by_what() {
        let denied = Some(("compile error", "unneeded `return` statement"));
        let end = "error: could not compile `a` (lib) due to 2 previous errors\n";
        let cut = format!("error: unneeded `return` statement\n --> src/a.rs:4:5\n  |\n\n{end}");
        let short = format!(
            "src/a.rs:1:5: error: unneeded `return` statement\nsrc/a.rs:4:5: error: unneeded `return` statement\n{end}"
        );
        let lint = "cargo clippy -- -D warnings";
        for (line, code, text) in [
            (format!("{lint} 2>&1 | tail -20"), 0, &cut),
            (format!("{lint} 2>&1 | grep -A3 '^error'"), 0, &cut),
            ("cargo clippy --message-format=short -- -D warnings".to_owned(), 101, &short),
        ] {
            for green in ["cargo test", "cargo build"] {
                check(&[(&line, code, text), (green, 0, "")], denied);
            }
        }
        check(&[(&format!("{lint} 2>&1 | tail -20"), 0, &cut), (lint, 0, "")], None);
        // One that is of no lint, beside others that were cut off or are of another package.
        let mixed = BROKEN.replace("1 previous error", "3 previous errors");
        let broken = Some(("compile error E0308", "mismatched types"));
        check(&[(lint, 101, &mixed), ("cargo build", 0, "")], broken);
        check(
            &[(lint, 101, &format!("{BROKEN}{}", end.replace("`a`", "`b`"))), ("cargo build", 0, "")],
            broken,
        );
        // Told once for the library and its tests.
        let twice = format!("{BROKEN}{}", BROKEN.lines().last().unwrap().replace("(lib)", "(lib test)"));
        check(&[(lint, 101, &twice), ("cargo build", 0, "")], None);
    }

    #[test]
    fn errors_that_a_pipe_left_out_are_told_by_what_cargo_says_of_them() {
        let end = "error: could not compile `a` (lib) due to 4 previous errors\n";
        let help = "  = note: `-D clippy::len-zero` implied by `-D warnings`\n  = help: to override `-D warnings` add `#[allow(clippy::len_zero)]`\n\n";
        let told = Some(("compile error", "could not compile `a` (lib) due to 4 previous errors"));
        let lint = "cargo clippy --workspace 2>&1 | tail -5";
        for text in [end.to_owned(), format!("{help}{end}")] {
            for (line, code) in [
                (lint, 0),
                ("cargo clippy --workspace 2>&1 | tail -5; cargo test", 0),
                ("cargo build 2>&1 | tail -2 && git add -A", 0),
                ("cargo test --workspace 2>&1 | tail -1", 0),
                ("make lint 2>&1 | tail -5", 0),
                ("set -o pipefail; cargo clippy 2>&1 | tail -5", 101),
                ("make lint", 2),
            ] {
                check(&[(line, code, &text)], told);
            }
            check(&[(lint, 0, &text), ("cargo build --workspace", 0, "")], told);
            check(&[(lint, 0, &text), ("cargo clippy --workspace", 0, "")], None);
            check(&[(lint, 0, &text), (lint, 0, "    Finished `dev` profile\n")], None);
        }
        // What came through of one says more, and so does another command's.
        let short = format!("a/src/lib.rs:3:38: error: length comparison to zero\n{end}");
        let known = Some(("compile error", "length comparison to zero"));
        check(&[("cargo clippy --message-format=short 2>&1 | tail -2", 0, &short)], known);
        check(&[(lint, 0, end), ("./app", 101, PANIC)], Some(("panic", "no settings")));
        // In a text that is shown, or mended in between.
        check(&[("cat lint.log | tail -5", 0, end), ("grep -rn error .", 0, end)], None);
        check(&[("cargo build; git stash pop; cargo test", 0, end)], None);
    }

    #[test]
    fn what_cargo_failed_of_is_told_whatever_succeeded_after_it() {
        let panic = Some(("panic", "no settings"));
        let denied = Some(("compile error", "unneeded `return` statement"));
        let passed = "running 1 test\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
        let line = "cargo clippy -- -D warnings; cargo test";
        check(&[(line, 0, &format!("{DENIED}{passed}"))], denied);
        check(&[(line, 0, &format!("{DENIED}{passed}")), ("cargo clippy -- -D warnings", 0, "")], None);
        check(&[("cargo run; cargo build", 0, PANIC)], panic);
        check(&[("cargo build; echo $?", 0, BROKEN)], Some(("compile error E0308", "mismatched types")));
        check(&[("cargo run; cargo build", 0, PANIC), ("cargo run", 0, "")], None);
        // It was mended in between, or is what tests had printed.
        check(&[("cargo build; git stash pop; cargo test", 0, BROKEN)], None);
        check(&[("cargo build; cargo test -- --nocapture", 0, PANIC)], None);
        check(&[("cargo clippy; cargo test -- --nocapture", 0, &PANIC.replace("main'", "tests::a'"))], None);
        check(&[("cargo run; cargo test", 0, "listening\n")], None);
    }

    #[test]
    fn what_something_else_did_mends_nothing() {
        let broken = Some(("compile error E0308", "mismatched types"));
        let error = Some(("error", "no"));
        check(&[("cargo build -p a", 101, BROKEN), ("cargo build -p b", 0, "")], broken);
        check(&[("cargo build", 101, BROKEN), ("cargo build -p b", 0, "")], broken);
        check(&[("npm run build", 1, "Error: no\n"), ("npm run lint", 0, "")], error);
        check(&[("make a", 2, "Error: no\n"), ("make b", 0, "")], error);
        check(&[("npm ci && npm run build", 1, "Error: no\n"), ("npm ci && npm run lint", 0, "")], error);
        // Only the last of them is known to have succeeded.
        check(&[("cargo build", 101, BROKEN), ("cargo build; true", 0, "")], broken);
        check(
            &[("cargo test", 101, PANIC), ("cargo test | tail -3", 0, "1 failed\n")],
            Some(("panic", "no settings")),
        );
    }

    #[test]
    fn files_are_those_of_the_directory_that_the_command_worked_in() {
        let gcc = "bad.c:1:19: error: 'y' undeclared\n";
        let place = |command: &str, text: &str| {
            let evidence = collected(&[(command, 1, text)]).finish(None).unwrap();
            evidence.error_locations.first().map(|place| place.file.clone())
        };
        assert_eq!(place("gcc -c bad.c", gcc).as_deref(), Some("bad.c"));
        assert_eq!(place("cd d && gcc -c bad.c", gcc).as_deref(), Some("d/bad.c"));
        assert_eq!(place("cd /home/dev/project/d; cd e; gcc -c bad.c", gcc).as_deref(), Some("d/e/bad.c"));
        assert_eq!(place("make -C d", gcc).as_deref(), Some("d/bad.c"));
        let entered = format!("make: Entering directory '/home/dev/project/e'\n{gcc}");
        assert_eq!(place("make -C d all", &entered).as_deref(), Some("e/bad.c"));
        // In one of them, and nobody says in which.
        assert_eq!(place("gcc -c a.c; cd d; gcc -c bad.c", gcc), None);
        assert_eq!(place("(cd d; gcc -c bad.c)", gcc).as_deref(), Some("d/bad.c"));
        assert_eq!(place("(cd d; true); gcc -c bad.c", gcc).as_deref(), Some("bad.c"));
        assert_eq!(place("cd $D && gcc -c bad.c", gcc), None);
        // A member of a workspace, or the workspace itself?
        assert_eq!(place("cd web && cargo build", BROKEN), None);
        assert_eq!(place("cd src && cargo build", BROKEN).as_deref(), Some("src/a.rs"));
    }

    #[test]
    fn nobody_is_sent_into_the_standard_library() {
        let text = "\
def test_j():
>       json.loads(\"{\")

test_pj.py:3:
_ _ _ _ _ _ _ _ _ _ _ _ _ _

E           json.decoder.JSONDecodeError: Expecting property name

/root/.pyenv/versions/3.11.7/lib/python3.11/json/decoder.py:353: JSONDecodeError
";
        let evidence = collected(&[("pytest -q test_pj.py", 1, text)]).finish(None).unwrap();
        assert_eq!(evidence.failed_files, ["test_pj.py"]);
        assert!(evidence.suggestions[0].starts_with("start at test_pj.py:3: "), "{:?}", evidence.suggestions);
        for file in ["<string>", "<stdin>", "/usr/lib/python3.11/unittest/loader.py"] {
            let text = format!(
                "Traceback (most recent call last):\n  File \"{file}\", line 1, in <module>\nKeyError: 'a'\n"
            );
            let evidence = collected(&[("python3 -m unittest nomod", 1, &text)]).finish(None).unwrap();
            assert!(evidence.error_locations.is_empty() && evidence.suggestions.is_empty(), "{evidence:?}");
        }
    }

    #[test]
    fn what_is_shown_is_not_what_happened() {
        check(&[("cat build.log; false", 1, BROKEN), ("grep -rn error .", 1, BROKEN)], None);
        check(&[("cargo build", 0, BROKEN)], None);
        check(
            &[("cargo build 2>&1 | tail -50", 0, BROKEN)],
            Some(("compile error E0308", "mismatched types")),
        );
        let mended = format!("{BROKEN}bad.c:2:3: error: 'y' undeclared\n");
        check(&[("gcc -c bad.c; touch bad.c; gcc -c bad.c; exit 1", 1, &mended)], None);
        let ended = Some(("error", "exited with code 101"));
        check(&[("cargo build", 101, ""), ("ls missing", 2, "ls: cannot access 'missing'\n")], ended);
    }

    #[test]
    fn tests_that_failed_beside_a_text_failed() {
        let text = format!(
            "{BROKEN}==== short test summary info ====\nFAILED a.py::x - assert 0\n1 failed in 0.01s\n1 passed in 0.02s\n"
        );
        // Which of the two summaries is its own is not known, nor whose the name is.
        let failed = Some(("test failure", "the tests ended with exit code 1"));
        check(&[("cat build.log; pytest -q", 1, &text)], failed);
        check(&[("cat build.log && pytest -q", 1, &text)], failed);
        check(&[("git diff; pytest -q >/dev/null", 1, "+ a\n")], failed);
        let own = "def x(): assert 0\n==== short test summary info ====\nFAILED a.py::x\n1 failed in 0.01s\n";
        check(&[("cat a.py; pytest -q --tb=no", 1, own)], Some(("test failure", "a.py::x failed")));
        // The exit code is not that of the tests, and what is shown is no reason.
        check(&[("pytest -q; cat build.log missing", 1, &text)], None);
        let passed = "+ a\n1 passed in 0.01s\n";
        check(&[("cat build.log; pytest -q", 1, &text), ("pytest -q && git diff", 0, passed)], None);
        check(&[("pytest -q", 1, &text[BROKEN.len()..]), ("cat a.py && pytest -q", 0, passed)], None);
        check(&[("cat build.log; pytest -q", 1, &text), ("pytest -q; git diff", 0, passed)], failed);
    }

    #[test]
    fn tests_that_failed_did_so_whatever_is_shown_after_them() {
        let own =
            "F.\n==== short test summary info ====\nFAILED a.py::x - assert 0\n1 failed, 1 passed in 0.01s\n";
        let failed = Some(("test failure", "a.py::x failed"));
        let shown = format!("{own}+ a\n+ error[E0308]: no\n");
        for (command, code, text) in [
            ("pytest -q; git diff", 0, own),
            ("pytest -q; git diff HEAD", 0, shown.as_str()),
            ("pytest -q; git diff --exit-code", 1, &shown),
            ("pytest -q > out.log; cat out.log", 0, own),
            ("pytest -q > out.log 2>&1 || tail -n 5 out.log", 0, own),
        ] {
            check(&[(command, code, text)], failed);
            check(&[(command, code, text), ("pytest -q", 0, "2 passed in 0.01s\n")], None);
        }
        let cargo = "test a ... FAILED\ntest b ... ok\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
        let line = "cargo test --workspace 2>&1 | grep -E 'test |result'";
        check(&[(line, 0, cargo)], Some(("test failure", "a failed")));
        check(&[(line, 0, cargo), ("cargo test --workspace", 0, "")], None);
        // Of another time, or by another.
        for command in [
            "pytest -q; cat old.log",
            "pytest -q; git show HEAD:old.log",
            "cat old.log; pytest -q; cat older.log",
        ] {
            assert_eq!(collected(&[(command, 0, own)]).finish(None), None, "{command}");
        }
        // One of them may have passed since.
        check(&[("for i in 1 2; do pytest -q | tail -4; done", 0, &own[3..])], None);
        check(&[("pytest -q; git diff", 0, "+FAILED a.py::x - assert 0\n+1 failed in 0.01s\n")], None);
    }

    #[test]
    fn tests_that_were_never_reached_did_not_fail() {
        let log = "==== 1 failed in 0.01s ====\n1 failed in 0.02s\n";
        for (command, code, text) in [
            ("grep -rn zzz t && pytest -q t", 1, ""),
            ("grep -q zzz f && pytest", 1, ""),
            ("cat nope && pytest -q", 1, "cat: nope: No such file or directory\n"),
            ("cat nope && npx jest", 1, "cat: nope: No such file or directory\n"),
            ("cat nope && npm test", 1, "cat: nope: No such file or directory\n"),
            ("cat nope && cargo test", 1, "cat: nope: No such file or directory\n"),
            ("cat nope 2>/dev/null && cargo test", 1, ""),
            ("git diff --exit-code && pytest -q", 1, "+ a\n"),
            ("git diff HEAD~5 && pytest -q", 128, "fatal: ambiguous argument 'HEAD~5'\n"),
            ("cat a.py && false && pytest -q", 1, "a\n"),
            ("cat a.py && python3 -c 'import sys; sys.exit(3)' && pytest -q", 3, "a\n"),
            ("set -e; cat nope; pytest -q", 1, "cat: nope: No such file or directory\n"),
            ("cat a.log && false && pytest -q", 1, log),
            // One summary, which ends like that of a test run.
            ("cat a.log && false && pytest -q", 1, "==== 1 failed in 0.01s ====\n"),
        ] {
            let told = collected(&[(command, code, text)]).finish(None);
            assert_eq!(told, None, "{command}");
        }
    }

    #[test]
    fn a_program_that_was_not_there_is_told_beside_a_text() {
        let text = "def test_a(): pass\nbash: line 1: mypy_missing: command not found\n";
        let missing = Some(("error", "mypy_missing: command not found"));
        check(&[("cat t/test_a.py && mypy_missing . && pytest -q t", 127, text)], missing);
        // In the text that is shown, or of another time.
        let bare = |code: i64| format!("exited with code {code}");
        check(&[("cat t/test_a.py && pytest -q t", 127, text)], Some(("error", &bare(127))));
        check(&[("cat a.log && mypy_missing . && pytest -q t", 1, text)], Some(("error", &bare(1))));
    }

    #[test]
    fn a_test_that_failed_is_told_where_nothing_says_why() {
        let mocha =
            "  1 passing (3ms)\n  1 failing\n\n  1) sums\n       breaks:\n     something of its own\n\n";
        check(&[("npx mocha", 1, mocha)], Some(("test failure", "sums > breaks failed")));
        check(&[("npm run build", 1, mocha)], Some(("error", "exited with code 1")));
        check(&[("npx mocha", 0, mocha)], None);
    }

    #[test]
    fn tests_without_names_failed_until_all_of_them_pass() {
        let jest = "Test Suites: 1 failed, 1 passed, 2 total\nTests:       1 failed, 3 passed, 4 total\n";
        let green = "Test Suites: 1 passed, 1 total\nTests:       2 passed, 2 total\n";
        let cargo = "test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
        let passed = cargo.replace("FAILED", "ok").replace("2 failed", "0 failed");
        let go = "ok  \ta/b\t0.1s\nFAIL\ta/c\t0.1s\nFAIL\n";
        for (red, text, other, all, passed, told) in [
            ("npx jest 2>&1 | tail -5", jest, "npx jest src/m.test.js", "npx jest", green, "1 test failed"),
            (
                "pytest -q 2>&1 | tail -1",
                "2 failed, 1 passed in 0.1s\n",
                "pytest -q tests/unit -k test_y",
                "pytest",
                "3 passed in 0.1s\n",
                "2 tests failed",
            ),
            (
                "cargo test 2>&1 | grep 'test result'",
                cargo,
                "cargo test u 2>&1 | grep 'test result'",
                "cargo test",
                &passed,
                "2 tests failed",
            ),
            (
                "go test ./... | tail -20",
                go,
                "go test ./b",
                "go test ./...",
                "ok  \ta/c\t0.1s\n",
                "1 package failed",
            ),
        ] {
            let failed = Some(("test failure", told));
            check(&[(red, 0, text)], failed);
            check(&[(red, 0, text), (other, 0, passed)], failed);
            check(&[(red, 0, text), (all, 0, passed)], None);
            check(&[(all, 1, text)], failed);
        }
    }

    #[test]
    fn tests_that_failed_before_a_pipe_failed() {
        let failed = "==== FAILURES ====\n____ test_b ____\n\n    def test_b():\n>       assert 1 == 2\nE       assert 1 == 2\n\na.py:4: AssertionError\n==== short test summary info ====\nFAILED a.py::test_b - assert 1 == 2\n1 failed in 0.01s\n";
        let why = Some(("AssertionError", "assert 1 == 2"));
        check(&[("pytest -q 2>&1 | tail -30", 0, failed)], why);
        let end = &failed[failed.find("FAILED").unwrap()..];
        let named = Some(("test failure", "a.py::test_b failed"));
        check(&[("pytest -q | tail -2 && git add -A", 0, end)], named);
        check(&[("pytest -q --tb=no; echo $?", 0, end)], named);
        check(
            &[("pytest -q | tail -2 && git add -A", 0, end), ("pytest -q", 0, "1 passed in 0.01s\n")],
            None,
        );
        check(
            &[("pytest --tb=no | tail -2", 0, "FAILED a.py::test_b\n1 failed in 0.01s\n")],
            Some(("test failure", "a.py::test_b failed")),
        );
        check(
            &[("pytest -q | tail -30", 0, failed), ("pytest -q | tail -3", 0, "1 passed in 0.01s\n")],
            None,
        );
        check(&[("pytest -q | tail -30; touch a; pytest -q | tail -30", 0, failed)], None);
        check(&[("pytest -q | tail -30; git add -A", 0, "1 passed in 0.01s\n")], None);
        // Nobody knows whether that is how they ended.
        check(&[("cat a.log | tail -30", 0, failed), ("./x | tail -3", 0, failed)], None);
    }

    const PYTEST: &str = "==== FAILURES ====\n____ test_b ____\n\n    def test_b():\n>       assert 1 == 2\nE       assert 1 == 2\n\na.py:4: AssertionError\n==== short test summary info ====\nFAILED a.py::test_b - assert 1 == 2\n1 failed in 0.01s\n";
    const JEST: &str = "FAIL src/m.test.js\n  ● m\n\n    expect(received).toBe(expected) // Object.is equality\n\n    Expected: 2\n    Received: 1\n\n      at Object.toBe (src/m.test.js:1:42)\n\nTest Suites: 1 failed, 1 total\nTests:       1 failed, 2 passed, 3 total\n";

    #[test]
    fn tests_of_two_kinds_that_failed_are_told_whatever_follows_them() {
        let why = Some(("AssertionError", "assert 1 == 2"));
        let both = format!("{PYTEST}{JEST}");
        for line in ["cd api; pytest -q; cd ../web; npx jest; true", "make -k test || true"] {
            check(&[(line, 0, &both)], why);
            // One of them.
            check(
                &[(line, 0, &format!("{PYTEST}PASS src/m.test.js\n\nTests:       3 passed, 3 total\n"))],
                why,
            );
            check(
                &[(line, 0, "1 passed in 0.01s\nPASS src/m.test.js\n\nTests:       3 passed, 3 total\n")],
                None,
            );
        }
        let mended = format!("{PYTEST}1 passed in 0.01s\n");
        check(&[("pytest -q; touch a; pytest -q; true", 0, &mended)], None);
        // The exit code is that of the last, and of no other.
        let line = "cd api; pytest -q; cd ../web; npx jest";
        check(&[(line, 0, &format!("{PYTEST}PASS src/m.test.js\n\nTests:       3 passed, 3 total\n"))], why);
        check(&[("npx jest; pytest -q", 0, PYTEST), ("npm test", 0, JEST)], None);
    }

    #[test]
    fn tests_that_failed_are_told_where_others_of_their_kind_passed_after_them() {
        let passed = format!("{PYTEST}1 passed in 0.01s\n");
        let why = Some(("AssertionError", "assert 1 == 2"));
        for between in [";", "||"] {
            let line = format!("pytest -q tests/unit {between} pytest -q tests/test_z.py");
            check(&[(&line, 0, &passed)], why);
            check(&[(&line, 0, &passed), ("pytest -q tests", 0, "2 passed in 0.01s\n")], None);
            // The same, or more.
            for again in ["tests/unit", "tests", "", "tests/unit/test_a.py"] {
                check(&[(&format!("pytest -q tests/unit {between} pytest -q {again}"), 0, &passed)], None);
            }
        }
        let jest = format!(
            "{JEST}PASS src/n.test.js\n\nTest Suites: 1 passed, 1 total\nTests:       3 passed, 3 total\n"
        );
        let told = collected(&[("npx jest src/m.test.js; npx jest src/n.test.js", 0, &jest)]).finish(None);
        assert!(told.as_ref().is_some_and(|told| told.error_message.contains("toBe")), "{told:?}");
    }

    #[test]
    fn a_turn_of_a_loop_that_failed_is_told_whatever_turn_passed_after_it() {
        let passed = format!("{PYTEST}1 passed in 0.01s\n");
        let why = Some(("AssertionError", "assert 1 == 2"));
        for line in [
            "for f in tests/*.py; do pytest -q $f; done",
            "for f in tests/*.py; do pytest -q \"$f\" | tail -30; done",
            "for f in tests/*.py; do echo $f; pytest -q $f; done; echo done",
            "for f in tests/*.py; do pytest -q $f || break; done",
            "for d in api web; do (cd $d && pytest -q); done",
            "find tests -name 'test_*.py' -exec pytest -q {} \\;",
        ] {
            check(&[(line, 0, &passed)], why);
            check(&[(line, 0, "1 passed in 0.01s\n2 passed in 0.01s\n")], None);
        }
        let line = "for f in tests/*.py; do pytest -q $f --no-summary | tail -1; done";
        check(
            &[(line, 0, "2 failed, 1 passed in 0.01s\n1 passed in 0.01s\n")],
            Some(("test failure", "2 tests failed")),
        );
        let jest = format!("{JEST}PASS src/n.test.js\n\nTests:       3 passed, 3 total\n");
        let told = collected(&[("for f in src/*.test.js; do npx jest $f; done", 0, &jest)]).finish(None);
        assert!(told.as_ref().is_some_and(|told| told.error_message.contains("toBe")), "{told:?}");
        // Once more, and then it passed.
        for line in
            ["for i in 1 2; do pytest -q; done", "for f in a b; do pytest -q $f || pytest -q $f; done"]
        {
            check(&[(line, 0, &passed)], None);
        }
    }

    #[test]
    fn what_was_mended_in_a_script_does_not_hide_what_fails_at_its_end() {
        let line = "cd api\npytest -q || true\ntouch m.py\npytest -q\ncd ../web\nnpx jest";
        let text = format!("{PYTEST}1 passed in 0.01s\n{JEST}");
        let told = collected(&[(line, 1, &text)]).finish(None).unwrap();
        assert!(told.error_message.contains("toBe"), "{told:?}");
        let bare = "1 failed in 0.01s\n1 passed in 0.01s\n  1 passing (3ms)\n  1 failing\n\n  1) sums\n       breaks:\n     of its own\n\n";
        check(&[(&line.replace("jest", "mocha"), 1, bare)], Some(("test failure", "sums > breaks failed")));
        // Its last word is not known to be that of tests.
        let deploy = line.replace("npx jest", "./deploy");
        let ended = Some(("error", "exited with code 1"));
        check(&[(&deploy, 1, &format!("{PYTEST}1 passed in 0.01s\n"))], ended);
    }

    #[test]
    fn what_is_told_of_again_has_the_same_calls() {
        let panic = |file: &str| {
            format!(
                "panic: no luck\n\ngoroutine 1 [running]:\nmain.main()\n\t/home/dev/project/{file}:3 +0x2e\nexit status 2\n"
            )
        };
        let thrown = |file: &str| {
            format!(
                "Exception in thread \"main\" a.b.SomeException: no luck\n\tat com.example.App.main({file}:5)\n"
            )
        };
        for (line, told, one, other) in [
            ("go run . || go run .", "panic", panic("a.go"), panic("b.go")),
            ("java App || java App", "SomeException", thrown("A.java"), thrown("B.java")),
        ] {
            check(&[(line, 1, &format!("{one}{one}"))], Some((told, "no luck")));
            check(&[(line, 1, &format!("{one}{other}"))], Some(("error", "exited with code 1")));
        }
    }

    #[test]
    fn files_of_a_script_are_told_where_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().to_str().unwrap();
        for file in ["api/tests/test_x.py", "web/a.py", "a.py", "tool/b.py", "svc/pkg/a_test.go"] {
            let file = dir.path().join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
        }
        let told = |command: &str, text: &str| {
            let mut errors = Errors::new(root, Origin::new(root, root));
            errors.note_command(command, Some(1), text);
            let told = errors.finish(None).unwrap();
            assert_eq!(told.failed_files.is_empty(), told.suggestions.is_empty(), "{told:?}");
            told.failed_files.into_iter().next()
        };
        let raised = |file: &str| {
            format!(
                "Traceback (most recent call last):\n  File \"{file}\", line 3, in f\n    x\nKeyError: 'a'\n"
            )
        };
        let file =
            |command: &str, before: &str, file: &str| told(command, &format!("{before}{}", raised(file)));
        assert_eq!(file("make test", "", "tests/test_x.py"), None);
        let echoed = "cd api && pytest -q\n";
        assert_eq!(file("make test", echoed, "tests/test_x.py").as_deref(), Some("api/tests/test_x.py"));
        assert_eq!(file("npm test", "> test\n> cd tool && x\n", "b.py").as_deref(), Some("tool/b.py"));
        // Here, or there?
        assert_eq!(file("make test", "cd web && pytest\n", "a.py"), None);
        assert_eq!(file("make test", "", "a.py").as_deref(), Some("a.py"));
        assert_eq!(file("make -C tool", "", "b.py").as_deref(), Some("tool/b.py"));
        assert_eq!(file("sh run.sh", "", "b.py"), None);
        assert_eq!(file("./run.sh", "", "../outside.py"), None);
        // Whoever ran it themselves knows where it is, there or not any more.
        assert_eq!(file("python3 gone.py", "", "gone.py").as_deref(), Some("gone.py"));
    }

    #[test]
    fn an_error_whose_file_is_not_known_is_not_looked_for_in_those_of_another_tool() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().to_str().unwrap();
        for file in ["api/a.py", "src/m.test.js"] {
            let file = dir.path().join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
        }
        let told = |code: i64, text: &str| {
            let mut errors = Errors::new(root, Origin::new(root, root));
            errors.note_command("make -k test", Some(code), text);
            let told = errors.finish(None).unwrap();
            (told.error_message, told.failed_files, told.error_locations.len())
        };
        let files = |list: &[&str]| list.iter().map(|file| (*file).to_owned()).collect::<Vec<_>>();
        let (pytest, both) = ("assert 1 == 2".to_owned(), format!("{PYTEST}{JEST}"));
        assert_eq!(told(2, &both), (pytest.clone(), Vec::new(), 0));
        let shown = format!("cd api && pytest -q\n{both}");
        assert_eq!(told(2, &shown), (pytest.clone(), files(&["api/a.py", "src/m.test.js"]), 2));
        // Another error of the same tool is told.
        let again = PYTEST.replace("a.py:4", "api/a.py:9").replace("1 == 2", "3 == 4");
        assert_eq!(told(2, &format!("{PYTEST}{again}{JEST}")), (pytest, files(&["api/a.py"]), 1));
        let (message, found, count) = told(2, JEST);
        assert!(message.contains("toBe"), "{message}");
        assert_eq!((found, count), (files(&["src/m.test.js"]), 1));
    }

    #[test]
    fn a_file_of_a_javascript_project_is_looked_for_from_its_root() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().to_str().unwrap();
        std::fs::create_dir_all(dir.path().join("web/src")).unwrap();
        std::fs::write(dir.path().join("web/src/price.js"), "").unwrap();
        let told = |command: &str, file: &str| {
            let text = format!("TypeError: x is not a function\n    at f ({file}:1:36)\n");
            let mut errors = Errors::new(root, Origin::new(root, root));
            errors.note_command(command, Some(1), &text);
            errors.finish(None).unwrap().failed_files.into_iter().next()
        };
        for command in ["cd web && npx jest", "cd web/src && npx jest"] {
            assert_eq!(told(command, "src/price.js").as_deref(), Some("web/src/price.js"), "{command}");
        }
        assert_eq!(told("cd web && npx jest", "src/gone.js"), None);
        assert_eq!(told("npx jest", "src/price.js"), None);
        assert_eq!(told("npx jest", "web/src/price.js").as_deref(), Some("web/src/price.js"));
    }

    #[test]
    fn a_file_of_a_go_package_is_looked_for_in_that_package() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().to_str().unwrap();
        for file in ["svc/pkg/a_test.go", "svc/x_test.go", "svc/pkg/x_test.go"] {
            let file = dir.path().join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
        }
        let told = |command: &str, file: &str| {
            let text = format!(
                "--- FAIL: TestA (0.00s)\n    {file}:6: got 1\nFAIL\nFAIL\texample.com/x/pkg\t0.002s\nok  \texample.com/x/q\t0.002s\nFAIL\n"
            );
            let mut errors = Errors::new(root, Origin::new(root, root));
            errors.note_command(command, Some(1), &text);
            let told = errors.finish(None).unwrap();
            assert_eq!(told.error_message, "got 1");
            told.failed_files.into_iter().next()
        };
        assert_eq!(told("cd svc && go test ./...", "a_test.go").as_deref(), Some("svc/pkg/a_test.go"));
        assert_eq!(told("go test ./...", "a_test.go"), None);
        // Of the package, or of the module's root?
        assert_eq!(told("cd svc && go test ./...", "x_test.go"), None);
        assert_eq!(told("cd svc && go test ./pkg", "x_test.go").as_deref(), Some("svc/pkg/x_test.go"));
        assert_eq!(told("cd svc/pkg && go test -run A .", "x_test.go").as_deref(), Some("svc/pkg/x_test.go"));
        assert_eq!(told("cd svc/pkg && go test", "a_test.go").as_deref(), Some("svc/pkg/a_test.go"));
        assert_eq!(told("cd svc && go test ./pkg ./q", "x_test.go"), None);
    }

    #[test]
    fn tests_and_builds_that_took_too_long_failed() {
        let late = Some(("timeout", "`timeout` ended it: it took too long"));
        check(&[("timeout 2 pytest -q", 124, "..")], late);
        check(&[("cd a && timeout -k 5 60 cargo build", 124, "")], late);
        check(&[("cat a.py; timeout 2 npm test", 124, "a\n")], late);
        check(&[("timeout 2 bash -c 'npx jest'", 124, "")], late);
        check(&[("timeout 2 pytest -q", 124, ".."), ("pytest -q", 0, "1 passed in 0.01s\n")], None);
        // Another's exit code, or what was meant to go on for ever.
        check(&[("pytest -q", 124, "..")], None);
        check(&[("timeout 2 pytest -q; ./x", 124, "..")], None);
        check(&[("timeout 5 node server.js", 124, "listening\n")], None);
        check(&[("timeout 5 cargo run", 124, "listening\n")], None);
        check(&[("timeout 5 cargo nextest run", 124, "")], late);
    }

    #[test]
    fn words_about_quotas_in_an_output_mean_nothing() {
        let text = "error: 429 Too Many Requests: rate limit, insufficient_quota; 401 unauthorized\n";
        let evidence = collected(&[("./client", 1, text)]).finish(None).unwrap();
        assert_eq!(evidence.error_type.as_deref(), Some("error"));
    }

    #[test]
    fn a_fault_of_the_account_is_the_reason_whatever_else_failed() {
        let fault = Fault::new(FailureCode::RateLimited, "usage limit").hint("wait");
        let evidence = collected(&[("cargo build", 101, BROKEN)]).finish(Some(&fault)).unwrap();
        assert_eq!(evidence.error_type.as_deref(), Some("rate limit or quota"));
        assert_eq!(
            (evidence.error_message.as_str(), evidence.suggestions.as_slice()),
            ("usage limit", &["wait".to_owned()][..])
        );
        assert!(evidence.error_locations.is_empty() && evidence.first_error.is_none());
    }

    #[test]
    fn the_error_of_a_command_is_told_beside_the_reason_that_an_agent_tells() {
        for code in [FailureCode::ToolError, FailureCode::Lost, FailureCode::Timeout] {
            let fault = Fault::new(code, "stream disconnected").hint("try again");
            let evidence = collected(&[("cargo build", 101, BROKEN)]).finish(Some(&fault)).unwrap();
            let alone = collected(&[("cargo build", 101, BROKEN)]).finish(None).unwrap();
            let suggestions = ["try again".to_owned()].into_iter().chain(alone.suggestions.clone());
            let expected = ErrorEvidence {
                error_message: "stream disconnected".to_owned(),
                first_error: Some("mismatched types".to_owned()),
                suggestions: suggestions.collect(),
                ..alone
            };
            assert_eq!(evidence, expected);
            assert!(!evidence.error_locations.is_empty() && !evidence.failed_files.is_empty());
        }
        let fault = Fault::new(FailureCode::ToolError, "stream disconnected");
        assert_eq!(collected(&[]).finish(Some(&fault)).unwrap().error_type, None);
        // That a limit was reached is told elsewhere.
        let limit = Fault::new(FailureCode::Timeout, "it took too long");
        assert_eq!(collected(&[]).finish(Some(&limit)), None);
    }

    #[test]
    fn refused_actions_are_named() {
        let mut errors = Errors::new("/", Origin::new("/", "/"));
        let change = Change { path: "/etc/passwd".to_owned(), kind: ChangeKind::Update };
        let edit = |status| Event::Edited { item: "1".to_owned(), changes: vec![change.clone()], status };
        errors.note_event(&edit(ItemStatus::Declined));
        errors.note_event(&edit(ItemStatus::Completed));
        let fault = Fault::new(FailureCode::Sandbox, "refused");
        assert_eq!(errors.finish(Some(&fault)).unwrap().refused, ["a change of /etc/passwd"]);
        // Also where the run completed all the same.
        let mut errors = Errors::new("/", Origin::new("/", "/"));
        errors.note_event(&edit(ItemStatus::Declined));
        let evidence = errors.finish(None).unwrap();
        assert_eq!(
            (evidence.error_message.as_str(), evidence.refused.len(), evidence.error_type),
            ("1 action was refused", 1, None)
        );
    }

    #[test]
    fn files_below_the_directory_are_told_from_there() {
        let text = "Traceback (most recent call last):\n  File \"/home/dev/project/app/main.py\", line 3, in f\n    x\nKeyError: 'a'\n";
        let evidence = collected(&[("python3 app/main.py", 1, text)]).finish(None).unwrap();
        assert_eq!(evidence.failed_files, ["app/main.py"]);
        assert_eq!(evidence.suggestions, ["start at app/main.py:3: KeyError: 'a'"]);
    }
}
