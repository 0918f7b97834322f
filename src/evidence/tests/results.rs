//! The tests of a whole run, from its commands and edits as they come.
//!
//! The last word on a test counts. A run takes the place of those whose tests it
//! ran again; runs that have no test in common add up; a run of some tests of
//! another corrects it. Where none of that is known, no count is told.

use super::again::{Asked, asked};
use super::echoed::Scripts;
use super::failed::{FailedCommands, Fates};
use super::kept::{Began, Changed, Kept};
use super::parts;
use super::places::{self, Origin};
use super::printed::{self, Told};
use super::relation::Relation;
use super::reports::Reports;
use super::scope::Scope;
use super::sum::Sum;
use super::unfinished::read_cut;
use super::{TestResults, TestRun, read};
use crate::evidence::shell::Command;
use crate::evidence::trees::{self, Change, Trees};
use crate::model::{Event, ItemStatus, Timestamp};

/// Runs that are told apart; the oldest go first.
const MOST_RUNS: usize = 32;
pub(super) const MOST_COMMANDS: usize = 64;
pub(super) const MOST_NAMES: usize = 50;

/// Later than any change.
const NEVER_ENDED: Timestamp = Timestamp::from_millis(i64::MAX);
/// Collects while a run goes on.
#[derive(Debug, Default)]
pub(crate) struct Tests {
    origin: Origin,
    /// Runs that no later one took the place of, oldest first.
    runs: Vec<Kept>,
    earlier: u64,
    /// Whether there were more than are told apart.
    lost: bool,
    edits: u64,
    commands: u64,
    running: Vec<Running>,
    /// Whether some never ended.
    any_cut: bool,
    /// What failed in which command, as it ran last.
    failed: FailedCommands,
    trees: Trees,
    scripts: Scripts,
    /// Runs while files are put aside: they are of another tree once these are brought back.
    aside: Vec<Kept>,
    /// Whether the tests of the last command ran on files that are there no more, or are to be replaced.
    on_other_tree: bool,
}

/// A command that is running.
#[derive(Debug, Clone)]
struct Running {
    item: String,
    command: String,
    began: Began,
    /// When, by the clock: what it writes is no older.
    since: Timestamp,
    /// Whether no other ran meanwhile: which of them wrote a file cannot be told.
    is_alone: bool,
}

/// A command that came to its end.
struct Ended<'a> {
    command: &'a str,
    exit_code: Option<i64>,
    text: &'a str,
}

impl Tests {
    pub(crate) fn new(origin: Origin) -> Self {
        Self { trees: Trees::new(origin.clone()), origin, ..Self::default() }
    }

    /// Commands that begin, and files that change.
    pub(crate) fn note_event(&mut self, event: &Event, at: Timestamp) {
        match event {
            Event::CommandStarted { item, command } => self.note_started(item, command, at),
            Event::CommandEnded { item, status: ItemStatus::Declined, .. } => self.note_unseen(item),
            Event::Edited { status: ItemStatus::Completed, .. } => self.edits += 1,
            _ => {}
        }
    }

    /// A command began, under the agent's own name for it.
    fn note_started(&mut self, item: &str, command: &str, at: Timestamp) {
        if self.running.len() == MOST_COMMANDS {
            self.running.remove(0);
        }
        self.runs.iter_mut().for_each(|kept| kept.next_at = kept.next_at.or(Some(at)));
        let began = Began { edits: self.edits, at: Some(at) };
        self.push_running(item, command, began, at);
    }

    /// The one command of a run is about to begin. All that changes in the run does so in it.
    pub(crate) fn note_only_started(&mut self, item: &str, command: &str, at: Timestamp) {
        let began = Began { edits: self.edits, at: None };
        self.push_running(item, command, began, at);
    }

    fn push_running(&mut self, item: &str, command: &str, began: Began, since: Timestamp) {
        let is_alone = self.running.is_empty();
        self.running.iter_mut().for_each(|other| other.is_alone = false);
        let (item, command) = (item.to_owned(), command.to_owned());
        self.running.push(Running { item, command, began, since, is_alone });
    }

    /// A command came to its end, and nothing is known of what it printed, or that it ran.
    pub(crate) fn note_unseen(&mut self, item: &str) {
        self.running.retain(|running| running.item != item);
    }

    /// A command came to its end, with all that it printed. Whether that takes back what failed when
    /// the same command ran before.
    pub(crate) fn note_command(
        &mut self,
        item: &str,
        command: &str,
        exit_code: Option<i64>,
        text: &str,
        at: Timestamp,
    ) -> bool {
        self.note_ended(item, &Ended { command, exit_code, text }, exit_code, at)
    }

    /// The same with a part of what it printed: whatever is counted there is not known to be all.
    pub(crate) fn note_partly_seen(
        &mut self,
        item: &str,
        command: &str,
        exit_code: Option<i64>,
        text: &str,
        at: Timestamp,
    ) -> bool {
        self.note_ended(item, &Ended { command, exit_code: None, text }, exit_code, at)
    }

    /// A report is whole though what was printed is not: its counts go with the `code` that there was.
    fn note_ended(&mut self, item: &str, ended: &Ended<'_>, code: Option<i64>, at: Timestamp) -> bool {
        let mut runs = read(ended.command, ended.exit_code, ended.text);
        let known = self.running.iter().find(|running| running.item == item);
        if let Some(running) = known.filter(|running| running.is_alone) {
            let reports = Reports::new(&self.origin, running.since, at);
            runs = reports.added_to(runs, ended.command, code, ended.text);
        }
        self.note_runs(item, ended, runs, at)
    }

    /// A command was killed, with what it had printed until then; `whole` where that is all.
    pub(crate) fn note_killed(&mut self, item: &str, command: &str, text: &str, whole: bool, at: Timestamp) {
        let mut runs = read_cut(command, text);
        runs.iter_mut().for_each(|run| run.complete &= whole);
        self.note_runs(item, &Ended { command, exit_code: None, text }, runs, at);
    }

    /// Whether what the last command did says nothing of the files that are there after all.
    pub(crate) fn was_on_other_tree(&self) -> bool {
        self.on_other_tree
    }

    /// The command that has been running for longest.
    pub(crate) fn oldest_running(&self) -> Option<&str> {
        self.running.first().map(|running| running.command.as_str())
    }

    fn note_runs(&mut self, item: &str, ended: &Ended<'_>, runs: Vec<TestRun>, at: Timestamp) -> bool {
        let Ended { command, text, .. } = *ended;
        let known = self.running.iter().position(|running| running.item == item);
        let unseen = Began { edits: self.edits, at: None };
        let began = known.map_or(unseen, |at| self.running.remove(at).began);
        self.commands += 1;
        self.origin = self.origin.of_one_command();
        let command_of_run = self.commands;
        let is_answered = !self.trees.any_stashed() && self.forget_what_is_answered(command, &runs);
        // Where nothing of it fails, what failed in it before is what there is to be seen to pass.
        if is_answered || runs.iter().any(TestRun::failed) {
            self.failed.forget(command);
        }
        let changes = self.trees.changes(&Command::parse(command), ended.exit_code, text);
        let mut done = 0;
        self.on_other_tree = false;
        for mut run in runs {
            self.scripts.meet(&mut run);
            run.scope = self.seen(run.scope).apart_from(self.trees.checkouts());
            let split = run.step.min(changes.len());
            changes[done.min(split)..split].iter().for_each(|change| self.trees.follow(*change));
            done = done.max(split);
            let (before, after) = changes.split_at(split);
            run.scope.other_tree |= run.scope.elsewhere().is_none() && trees::is_between(before, after);
            (run.told, run.listed) = self.told(&run, command, text);
            self.failed.note(command, &run);
            let touches = |old: &Kept| run.scope.relation(&old.run.scope) != Relation::Apart;
            // Where it did not begin, there is nothing to tell of it alone.
            if run.may_not_have_begun && !self.runs.iter().any(touches) {
                continue;
            }
            let line = command.to_owned();
            self.on_other_tree |= run.scope.other_tree;
            let (tree, written) = (self.trees.now(), after.contains(&Change::Written));
            let (ended_at, next_at, command) = (at, None, command_of_run);
            let kept = Kept { run, began, ended_at, next_at, command, line, tree, written };
            if self.trees.any_stashed() && kept.run.scope.elsewhere().is_none() {
                self.keep_aside(kept);
            } else {
                self.keep(kept);
            }
        }
        changes[done..].iter().for_each(|change| self.trees.follow(*change));
        self.on_other_tree |= self.trees.any_stashed();
        self.bring_back();
        is_answered
    }

    /// Forgets what failed when the same line ran before, where it is answered anew; whether all is.
    fn forget_what_is_answered(&mut self, line: &str, runs: &[TestRun]) -> bool {
        let before = self.runs.iter().filter(|old| old.line == line);
        let Asked { answered, is_all } =
            asked(&before.map(|old| (old.command, &old.run)).collect::<Vec<_>>(), runs);
        let kept = self.runs.len();
        let is_answered = |old: &Kept| answered.contains(&(old.command, old.run.framework));
        self.runs.retain(|old| !(old.run.may_have_failed() && is_answered(old)));
        self.earlier += (kept - self.runs.len()) as u64;
        is_all
    }

    /// Commands whose tests failed, and of which none is left that fails.
    pub(crate) fn mended(&mut self) -> Vec<String> {
        self.end_running();
        let sum = self.sum().1;
        if self.lost { Vec::new() } else { self.failed.mended(&sum) }
    }

    /// What became of the tests that failed in commands.
    pub(crate) fn fates(&mut self) -> Vec<Fates> {
        self.end_running();
        let sum = self.sum().1;
        if self.lost { Vec::new() } else { self.failed.fates(&sum) }
    }

    /// The command whose tests took the place of all others, and passed.
    pub(crate) fn only_success(&self) -> Option<&str> {
        match self.runs.as_slice() {
            [kept] if kept.run.passed() => Some(&kept.line),
            _ => None,
        }
    }

    /// What a command printed of tests that failed in it, or before.
    fn told(&self, run: &TestRun, command: &str, text: &str) -> (Vec<Told>, u64) {
        let same = self.runs.iter().filter(|old| old.run.framework == run.framework);
        let failed = same.flat_map(|old| old.run.failing.iter().map(|name| (&old.run.scope, name)));
        // A file may have another name where this ran.
        let names =
            failed.flat_map(|(scope, name)| [name.clone(), run.scope.name_here(&scope.full_name(name))]);
        let names: Vec<String> = names.chain(run.failing.iter().cloned()).collect();
        printed::told(run.framework, command, text, &names.iter().map(String::as_str).collect())
    }

    /// A scope from the root, by whatever name that was called.
    fn seen(&self, scope: Scope) -> Scope {
        let seen = scope.clone().seen_from(&self.origin);
        match seen.elsewhere().and_then(|place| places::other_name(&self.origin.root, place)) {
            Some(root) => scope.seen_from(&self.origin.called(root)),
            None => seen,
        }
    }

    /// Where the files that were put aside are there again, what ran without them was of another tree.
    fn bring_back(&mut self) {
        if !self.trees.any_stashed() {
            for mut kept in std::mem::take(&mut self.aside) {
                kept.run.scope.other_tree = true;
                self.keep(kept);
            }
        }
    }

    fn keep_aside(&mut self, new: Kept) {
        if self.aside.len() == MOST_RUNS {
            self.aside.remove(0);
            self.lost = true;
        }
        self.aside.push(new);
    }

    fn keep(&mut self, mut new: Kept) {
        let (mut replaced, mut others) = (Vec::<Kept>::new(), Vec::new());
        let mut ran_before = false;
        for mut old in std::mem::take(&mut self.runs) {
            old.run.compare_ways(&new.run);
            ran_before |= new.run.scope.relation(&old.run.scope) == Relation::Same;
            let is_done_again = new.replaces(&old) || (ran_before && new.run.takes_in(&old.run));
            if is_done_again { replaced.push(old) } else { others.push(old) }
        }
        self.runs = others;
        self.earlier += replaced.len() as u64;
        replaced.iter().for_each(|old| new.run.take_over(&old.run));
        if self.runs.len() == MOST_RUNS {
            self.runs.remove(0);
            self.lost = true;
        }
        self.runs.push(new);
        self.leave_out_wholes();
    }

    /// A run whose parts have all passed since has no word left to say.
    fn leave_out_wholes(&mut self) {
        let runs: Vec<&TestRun> = self.runs.iter().map(|kept| &kept.run).collect();
        let is_whole = |(at, run): (usize, &&TestRun)| {
            run.passed_in_parts(&runs[at + 1..], |scope| parts::files_of(&self.origin.root, scope))
        };
        let mut wholes = runs.iter().enumerate().map(is_whole).collect::<Vec<_>>().into_iter();
        let before = self.runs.len();
        self.runs.retain(|_| wholes.next() != Some(true));
        self.earlier += (before - self.runs.len()) as u64;
    }

    /// The end of commands that still run was not seen, so nothing came after it.
    fn end_running(&mut self) {
        self.any_cut |= !self.running.is_empty();
        while let Some(Running { item, command, .. }) = self.running.first().cloned() {
            self.note_killed(&item, &command, "", false, NEVER_ENDED);
        }
        // What was never brought back is not what is there.
        std::mem::take(&mut self.aside).into_iter().for_each(|kept| self.keep(kept));
    }

    /// The runs that count, and what they come to together.
    fn sum(&self) -> (Vec<&Kept>, Sum) {
        let here: Vec<&Kept> = self.runs.iter().filter(|kept| kept.run.scope.elsewhere().is_none()).collect();
        // Where all ran elsewhere, their names are all that there is to tell.
        let told: Vec<&Kept> = if here.is_empty() { self.runs.iter().collect() } else { here };
        let mut sum = Sum::default();
        let runs: Vec<&TestRun> = told.iter().map(|kept| &kept.run).collect();
        for (at, run) in runs.iter().enumerate() {
            sum.add(&runs[..at], run);
        }
        (told, sum)
    }

    /// What it all came to; `None` where no test ran.
    pub(crate) fn finish(mut self, changed: Changed) -> Option<TestResults> {
        self.end_running();
        if self.runs.is_empty() {
            return None;
        }
        let stale = |kept: &Kept| {
            let others = kept.command < self.commands || self.any_cut;
            let is_here = kept.run.scope.elsewhere().is_none();
            let is_gone = kept.run.scope.other_tree || (is_here && kept.tree != self.trees.now());
            if is_gone { Some(true) } else { kept.stale(self.edits, others, changed) }
        };
        let (told, sum) = self.sum();
        let any_here = told.iter().any(|kept| kept.run.scope.elsewhere().is_none());
        let counted = !self.lost && any_here && !sum.mixed;
        let counts = sum.counts.filter(|_| counted);
        let known = |kept: &&Kept| !kept.run.scope.is_of_any_framework();
        Some(TestResults {
            passed: counts.map(|counts| counts.passed),
            failed: sum.failed.filter(|_| counted),
            skipped: counts.map(|counts| counts.skipped),
            failed_tests: sum.failing.into_iter().map(|failing| failing.name).collect(),
            stale: match told.iter().map(|kept| stale(kept)).collect::<Vec<_>>() {
                all if all.contains(&Some(true)) => Some(true),
                all if all.contains(&None) => None,
                _ => Some(false),
            },
            complete: told.iter().all(|kept| kept.run.complete) && !self.lost,
            earlier_runs: self.earlier,
            runs: self.runs.iter().filter(known).map(|kept| kept.told(stale(kept))).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl TestResults {
        /// Whether tests ran to their end, all that ran passed, and nothing changed since.
        fn all_passed(&self) -> bool {
            self.passed > Some(0) && self.failed == Some(0) && self.complete && self.stale == Some(false)
        }
    }

    fn cargo(passed: u64, failing: &[&str]) -> String {
        let failed = failing.len() as u64;
        let names: String = failing.iter().map(|name| format!("test {name} ... FAILED\n")).collect();
        let verdict = if failed > 0 { "FAILED" } else { "ok" };
        let end = if failed > 0 { "error: test failed, to rerun pass `--lib`\n" } else { "" };
        format!(
            "running {} tests\n{names}\ntest result: {verdict}. {passed} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n{end}",
            passed + failed
        )
    }

    const NEVER: Changed = Changed::Known { at: None, by: None };

    fn pytest(passed: u64, failing: &[&str]) -> String {
        let names: String = failing.iter().map(|name| format!("FAILED {name} - assert 0\n")).collect();
        let head = if failing.is_empty() { "" } else { "==== short test summary info ====\n" };
        format!("{head}{names}==== {} failed, {passed} passed in 0.01s ====\n", failing.len())
    }

    enum Step<'a> {
        Run(&'a str, u64, &'a [&'a str]),
        Print(&'a str, i64, String),
        Edit,
    }
    use Step::{Edit, Print, Run};

    fn results(steps: &[Step<'_>]) -> TestResults {
        results_in("/home/dev/shop", steps)
    }

    fn results_in(cwd: &str, steps: &[Step<'_>]) -> TestResults {
        let mut tests = Tests::new(Origin::new(cwd, "/home/dev/shop"));
        let at = Timestamp::from_millis(0);
        for step in steps {
            match step {
                Edit => tests.edits += 1,
                Run(command, passed, failing) => {
                    tests.note_started("item", command, at);
                    let (exit, text) = match command.contains("pytest") {
                        true => (1, pytest(*passed, failing)),
                        false => (101, cargo(*passed, failing)),
                    };
                    let exit = if failing.is_empty() { 0 } else { exit };
                    tests.note_command("item", command, Some(exit), &text, at);
                }
                Print(command, exit, text) => {
                    tests.note_started("item", command, at);
                    tests.note_command("item", command, Some(*exit), text, at);
                }
            }
        }
        tests.finish(NEVER).unwrap()
    }

    /// Passed and failed as far as known, those that failed, and how many runs are history.
    #[track_caller]
    fn check(steps: &[Step<'_>], expected: (Option<u64>, Option<u64>, &[&str], u64)) {
        let found = results(steps);
        let names: Vec<&str> = found.failed_tests.iter().map(String::as_str).collect();
        let told = (found.passed, found.failed, names.as_slice(), found.earlier_runs);
        assert_eq!(told, expected);
    }

    #[test]
    fn the_last_run_counts_and_the_others_are_history() {
        let steps = [Run("cargo test", 3, &["a"]), Edit, Run("cargo test -q", 4, &[])];
        check(&steps, (Some(4), Some(0), &[], 1));
        assert_eq!(results(&steps).stale, Some(false));
    }

    #[test]
    fn a_file_that_changed_afterwards_makes_it_stale() {
        assert_eq!(results(&[Run("cargo test", 4, &[]), Edit]).stale, Some(true));
        assert!(results(&[Edit, Run("cargo test", 4, &[])]).all_passed());
    }

    #[test]
    fn a_file_that_changed_while_tests_ran_makes_them_stale() {
        let mut tests = Tests::new(Origin::new("/home/dev/shop", "/home/dev/shop"));
        let at = Timestamp::from_millis(0);
        let edited = |status| Event::Edited { item: "item_2".to_owned(), changes: Vec::new(), status };
        tests.note_event(&edited(ItemStatus::Completed), at);
        let (item, command) = ("item_1".to_owned(), "cargo test".to_owned());
        tests.note_event(&Event::CommandStarted { item, command }, at);
        tests.note_event(&edited(ItemStatus::Completed), at);
        tests.note_command("item_1", "cargo test", Some(0), &cargo(1, &[]), at);
        assert_eq!(tests.finish(NEVER).unwrap().stale, Some(true));
    }

    /// Files that changed at 15 of a command that ran from 10 to 20.
    #[test]
    fn what_a_command_changes_after_its_tests_may_make_them_stale_and_what_the_tests_change_does_not() {
        let stale = |command: &str, changed: i64| {
            let mut tests = Tests::new(Origin::new("/home/dev/shop", "/home/dev/shop"));
            let at = Timestamp::from_millis;
            let started = Event::CommandStarted { item: "1".to_owned(), command: command.to_owned() };
            tests.note_event(&started, at(10));
            tests.note_command("1", command, Some(0), &cargo(1, &[]), at(20));
            tests.finish(Changed::Known { at: Some(at(changed)), by: None }).unwrap().stale
        };
        // Snapshots, coverage, locks: the tests' own.
        for command in
            ["cargo test", "cargo test 2>&1 | tail -5", "cargo test; echo $?", "sed -i s/a/b/ a; cargo test"]
        {
            assert_eq!((stale(command, 15), stale(command, 25)), (Some(false), Some(true)), "{command}");
        }
        for (command, within) in [
            ("cargo test; sed -i s/a/b/ a", Some(true)),
            ("cargo test && cargo fmt", None),
            ("cargo test; echo x >a", Some(true)),
        ] {
            let stale = [stale(command, 5), stale(command, 15), stale(command, 25)];
            assert_eq!(stale, [Some(false), within, Some(true)], "{command}");
        }
    }

    /// A file that changed around 2000, when tests ended.
    #[test]
    fn a_change_as_old_as_the_end_of_the_tests_may_be_of_a_later_command() {
        let at = Timestamp::from_millis;
        let started = |item: &str, command: &str| {
            let (item, command) = (item.to_owned(), command.to_owned());
            Event::CommandStarted { item, command }
        };
        let stale = |later: &[(&str, bool)], changed| {
            let mut tests = Tests::new(Origin::new("/home/dev/shop", "/home/dev/shop"));
            tests.note_event(&started("1", "cargo test"), at(1000));
            for (item, _) in later.iter().filter(|(item, _)| *item == "0") {
                tests.note_event(&started(item, "./serve"), at(1500));
            }
            tests.note_command("1", "cargo test", Some(0), &cargo(1, &[]), at(2000));
            for (item, ends) in later {
                if *item != "0" {
                    tests.note_event(&started(item, "echo x >> a"), at(2001));
                }
                if *ends {
                    tests.note_command(item, "echo x >> a", Some(0), "", at(2010));
                }
            }
            tests.finish(changed).unwrap().stale
        };
        let file = |ms| Changed::Known { at: Some(at(ms)), by: None };
        let gone = |ms| Changed::Known { at: None, by: Some(at(ms)) };
        // One that ended, one that did not, and one that ran beside the tests.
        for later in [("2", true), ("2", false), ("0", false), ("0", true)] {
            for changed in [file(2000), file(1996), gone(2000), gone(1996), file(1990)] {
                assert_eq!(stale(&[later], changed), None, "{later:?} {changed:?}");
            }
            assert_eq!(stale(&[later], file(2001)), Some(true), "{later:?}");
            for changed in [file(900), gone(900), NEVER] {
                assert_eq!(stale(&[later], changed), Some(false), "{later:?} {changed:?}");
            }
            // What was read at once with the start of another may have ended long before.
            let expected = if later.0 == "2" { None } else { Some(false) };
            assert_eq!(stale(&[later], file(1900)), expected, "{later:?}");
        }
        assert_eq!((stale(&[], file(2000)), stale(&[], gone(1996))), (Some(false), Some(false)));
    }

    #[test]
    fn what_a_later_run_holds_is_not_counted_twice() {
        check(
            &[
                Run("pytest tests/test_a.py::test_x", 0, &["tests/test_a.py::test_x"]),
                Edit,
                Run("pytest tests/test_a.py", 5, &[]),
            ],
            (Some(5), Some(0), &[], 1),
        );
        check(
            &[
                Run("pytest tests/test_a.py", 4, &["tests/test_a.py::x"]),
                Run("pytest tests/test_a.py tests/test_b.py", 10, &[]),
            ],
            (Some(10), Some(0), &[], 1),
        );
        check(
            &[
                Run("pytest tests/test_a.py", 4, &["tests/test_a.py::test_x"]),
                Run("pytest tests/test_a.py::test_x", 1, &[]),
                Run("pytest tests/test_a.py", 5, &[]),
            ],
            (Some(5), Some(0), &[], 2),
        );
        check(
            &[Run("cargo test -p api", 3, &["m::x"]), Edit, Run("cargo test -p api -p web", 9, &[])],
            (Some(9), Some(0), &[], 1),
        );
    }

    #[test]
    fn a_narrower_run_erases_no_failure_of_a_wider_one() {
        let steps = [
            Print("go test ./...", 1, "ok  \ta\t0.1s\nFAIL\tb\t0.1s\n".to_owned()),
            Print("go test", 0, "ok  \ta\t0.1s\n".to_owned()),
        ];
        assert_eq!(results(&steps).failed, None);
        let member = [Run("cargo test --workspace", 3, &["member::x"]), Run("cargo test", 3, &[])];
        assert_eq!(
            (results(&member).failed_tests, results(&member).earlier_runs),
            (vec!["member::x".to_owned()], 0)
        );
        check(&[Run("cargo test -p a", 2, &["x"]), Run("cargo test", 3, &[])], (None, None, &["x"], 0));
        check(
            &[Run("cargo test -- --ignored", 0, &["slow"]), Run("cargo test", 3, &[])],
            (None, None, &["slow"], 0),
        );
        let jest = |passed: u64, failed: u64| {
            let total = passed + failed;
            format!(
                "Test Suites: 1 passed, 1 total\nTests:       {failed} failed, {passed} passed, {total} total\n"
            )
        };
        let steps = [Print("npx jest", 1, jest(20, 2)), Print("npx jest -f", 0, jest(1, 0))];
        check(&steps, (None, None, &[], 0));
    }

    #[test]
    fn parts_that_have_nothing_in_common_add_up() {
        check(
            &[Run("cargo test -p a", 3, &["x"]), Run("cargo test -p b", 4, &[])],
            (Some(7), Some(1), &["x"], 0),
        );
        let all = [
            Run("cargo test -p a", 3, &["x"]),
            Run("cargo test -p b", 4, &[]),
            Run("cargo test --workspace", 9, &[]),
        ];
        check(&all, (Some(9), Some(0), &[], 2));
        let same = [Run("cargo test", 3, &["x"]), Run("cd /home/dev/shop && cargo test", 4, &[])];
        check(&same, (Some(4), Some(0), &[], 1));
        // A folder may be a part of what is tested above it. None failed anywhere.
        check(&[Run("cd web && cargo test", 3, &[]), Run("cargo test", 4, &[])], (None, Some(0), &[], 0));
        check(
            &[Run("cd a && cargo test", 3, &[]), Run("cd b && cargo test", 4, &[])],
            (Some(7), Some(0), &[], 0),
        );
    }

    #[test]
    fn a_part_after_all_has_the_last_word() {
        check(
            &[Run("pytest", 9, &[]), Edit, Run("pytest test_a.py", 0, &["test_a.py::x"])],
            (Some(8), Some(1), &["test_a.py::x"], 0),
        );
        check(
            &[Run("pytest", 8, &["test_a.py::x"]), Edit, Run("pytest test_a.py::x", 1, &[])],
            (Some(9), Some(0), &[], 0),
        );
        check(
            &[Run("pytest", 8, &["test_a.py::x"]), Run("pytest test_a.py::x", 0, &["test_a.py::x"])],
            (Some(8), Some(1), &["test_a.py::x"], 0),
        );
        // Whether it ran again is not known.
        check(
            &[Run("pytest", 8, &["test_a.py::x"]), Run("pytest -k y", 1, &[])],
            (None, None, &["test_a.py::x"], 0),
        );
    }

    #[test]
    fn the_tests_of_one_command_are_told_apart() {
        let twice = pytest(0, &["test_f.py::f"]) + &pytest(1, &[]);
        check(
            &[Print("pytest -q test_f.py; touch test_f.py; pytest -q test_f.py", 0, twice)],
            (Some(1), Some(0), &[], 1),
        );
        let again = pytest(1, &[]).repeat(3);
        check(
            &[Print("pytest test_a.py; pytest test_a.py; pytest test_a.py", 0, again)],
            (Some(1), Some(0), &[], 2),
        );
        let wider = pytest(1, &[]) + &pytest(103, &[]);
        check(&[Print("pytest -q test_a.py; pytest -q", 0, wider)], (Some(103), Some(0), &[], 1));
        // Which of them ended first is not known.
        check(
            &[Print("pytest & pytest test_a.py; wait", 0, pytest(2, &["test_p.py::b"]) + &pytest(1, &[]))],
            (None, None, &["test_p.py::b"], 0),
        );
        let each = pytest(2, &["test_p.py::b"]) + &pytest(1, &[]);
        check(
            &[Print("(cd a && pytest); (cd b && pytest)", 0, each)],
            (Some(3), Some(1), &["test_p.py::b"], 0),
        );
        let loop_of = pytest(2, &["test_p.py::b"]) + &pytest(1, &[]);
        let line = "for f in test_p.py test_q.py; do pytest -q $f; done";
        check(&[Print(line, 0, loop_of.clone())], (None, None, &["test_p.py::b"], 0));
        check(
            &[Print("ls *.py | xargs -n1 pytest -q", 1, loop_of.clone())],
            (None, None, &["test_p.py::b"], 0),
        );
        // The same once more: whose summary each is cannot be told, but none is missing.
        let again = |text| [Print(line, 0, loop_of.clone()), Print(line, 0, text)];
        check(&again(pytest(3, &[]) + &pytest(1, &[])), (None, None, &[], 1));
        check(&again(pytest(3, &[])), (None, None, &["test_p.py::b"], 1));
        let until = "for i in 1 2; do pytest -q; done";
        check(
            &[Print(until, 0, loop_of.clone()), Print(until, 0, pytest(3, &[]) + &pytest(1, &[]))],
            (None, None, &[], 1),
        );
        check(
            &[Print(until, 0, loop_of.clone()), Print(until, 0, pytest(3, &[]))],
            (None, None, &["test_p.py::b"], 1),
        );
        let cargo_twice = |head: &str| format!("{head}{}{head}{}", cargo(3, &["x"]), cargo(4, &[]));
        let finished = "    Finished `test` profile [unoptimized] target(s) in 0.1s\n";
        check(&[Print("cargo test; cargo test", 0, cargo_twice(finished))], (Some(4), Some(0), &[], 1));
        // The first stopped at its failure, whatever the second was asked for.
        let line = "cargo test --lib; cargo test --test a";
        assert!(!results(&[Print(line, 0, cargo_twice(finished))]).complete);
        assert_eq!(results(&[Print("cargo test -q; cargo test -q", 0, cargo_twice(""))]).passed, None);
    }

    #[test]
    fn what_is_shown_again_is_not_counted_again() {
        let header = "     Running unittests src/lib.rs (target/debug/deps/a-01)\n";
        let once = format!("{header}{}", cargo(3, &[]));
        let last = once.lines().last().unwrap();
        let line = "cargo test 2>&1 | tee o.log; grep 'test result' o.log";
        check(&[Print(line, 0, format!("{once}{last}\n"))], (Some(3), Some(0), &[], 0));
        check(&[Print("cargo test 2>&1 | tee o.log; cat o.log", 0, once.repeat(2))], (None, None, &[], 0));
        let failed = pytest(1, &["test_a.py::x"]);
        let end = failed.lines().last().unwrap();
        let line = "pytest | tee o.log; tail -1 o.log";
        check(&[Print(line, 0, format!("{failed}{end}\n"))], (Some(1), Some(1), &["test_a.py::x"], 0));
    }

    const JEST: &str = "Tests:       5 passed, 5 total\nTime:        0.5 s\nRan all test suites.\n";
    const JEST_FAILED: &str =
        "  ● s › two\n\nTest Suites: 1 failed, 1 total\nTests:       1 failed, 4 passed, 5 total\n";

    #[test]
    fn two_test_files_one_after_another_add_up() {
        let passed = || format!("Test Suites: 1 passed, 1 total\n{JEST}");
        let two = |first, second| {
            let steps = [Print(first, 1, JEST_FAILED.to_owned()), Print(second, 0, passed())];
            let found = results(&steps);
            (found.passed, found.failed, found.complete, found.failed_tests.len())
        };
        let sum = (Some(9), Some(1), true, 1);
        assert_eq!(two("npx jest src/m.test.js", "npx jest src/z.test.js"), sum);
        for (first, second) in [
            ("npx jest src/m.test.js", "npx jest m.test.js"),
            ("npx jest src/m.test.js", "npx jest src"),
            ("npx jest m", "npx jest z"),
            ("npm test -- src/m.test.js", "npm test -- src/z.test.js"),
        ] {
            assert_eq!(two(first, second), (None, None, true, 1), "{first}, {second}");
        }
        let vitest =
            |passed: u64| format!(" Test Files  1 passed (1)\n      Tests  {passed} passed ({passed})\n");
        let both = |first, second| results(&[Print(first, 0, vitest(2)), Print(second, 0, vitest(3))]).passed;
        assert_eq!(both("npx vitest run src/m.test.ts", "npx vitest run src/z.test.ts"), Some(5));
        // Tests that import these may be the same.
        assert_eq!(both("npx vitest related m.test.ts", "npx vitest related z.test.ts"), None);
    }

    #[test]
    fn what_settings_name_runs_beside_every_file() {
        let two = |name: &str, settings: &str, later: &str| {
            let dir = tempfile::tempdir().unwrap();
            std::fs::write(dir.path().join(name), settings).unwrap();
            std::fs::create_dir(dir.path().join("web")).unwrap();
            let root = dir.path().to_str().unwrap();
            let mut tests = Tests::new(Origin::new(root, root));
            for line in ["cd web && mocha test/m.js", later] {
                tests.note_command("1", line, Some(0), "\n  2 passing (2ms)\n\n", Timestamp::from_millis(0));
            }
            let found = tests.finish(NEVER).unwrap();
            (found.passed, found.failed)
        };
        let (file, all) = ("cd web && mocha test/n.js", "cd web && mocha");
        for (name, settings) in [
            (".mocharc.json", r#"{"spec": ["test/*.js"]}"#),
            (".mocharc.yml", "require: x\nspec: test/*.js\n"),
            (".mocharc.cjs", "module.exports = { 'spec': 'test/*.js' };"),
            ("package.json", r#"{"mocha": {"spec": "test/*.js"}}"#),
        ] {
            for later in [file, all] {
                assert_eq!(two(name, settings, later), (None, Some(0)), "{name}: {later}");
            }
        }
        for (name, settings) in [
            (".mocharc.json", r#"{"reporter": "spec", "timeout": 5000}"#),
            ("package.json", r#"{"devDependencies": {"mocha": "12"}, "scripts": {"test": "mocha -R spec"}}"#),
            ("jest.config.js", "spec: 1"),
        ] {
            assert_eq!(two(name, settings, file), (Some(4), Some(0)), "{name}");
        }
    }

    #[test]
    fn a_script_that_is_asked_otherwise_takes_no_place() {
        let passed = || format!("Test Suites: 1 passed, 1 total\n{JEST}");
        let failed = || JEST_FAILED.to_owned();
        for (first, second) in [
            ("./run_tests.sh --unit", "./run_tests.sh --e2e"),
            ("npm test -w a", "npm test -w b"),
            ("npm test --workspace=a", "npm test --workspace=b"),
            ("pnpm --filter a test", "pnpm --filter b test"),
            ("pnpm --filter a jest", "pnpm --filter b jest"),
            ("yarn workspace a test", "yarn workspace b test"),
            ("npm test", "npm test -- --testNamePattern=foo"),
            ("npm test", "npm test -- --onlyFailures"),
            ("tox -epy311", "tox -epy312"),
            ("cargo xtask test --a", "cargo xtask test --b"),
            ("SUITE=a make test", "SUITE=b make test"),
            ("export SUITE=a; make test", "export SUITE=b; make test"),
            ("SUITE=a bash -c 'make test'", "SUITE=b bash -c 'make test'"),
            ("a/run_tests.sh", "b/run_tests.sh"),
            ("yarn workspace a jest", "yarn workspace b jest"),
            ("npx -w a jest", "npx -w b jest"),
            ("docker compose exec api npm test", "docker compose exec web npm test"),
            ("npx jest", "docker compose exec web npx jest"),
            ("npm exec -w a -- jest", "npm exec -w b -- jest"),
            ("F=a; npx jest $F", "F=b; npx jest $F"),
        ] {
            let steps = [Print(first, 1, failed()), Print(second, 0, passed())];
            let found = results(&steps);
            assert_eq!(
                (found.passed, found.failed, found.failed_tests.as_slice()),
                (None, None, &["s › two".to_owned()][..]),
                "{first}, {second}"
            );
            let again = results(&[Print(first, 1, failed()), Print(first, 0, passed())]);
            assert_eq!((again.passed, again.failed, again.earlier_runs), (Some(5), Some(0), 1), "{first}");
        }
        // In two directories they are known to be two.
        for (first, second) in [
            ("npm --prefix a test", "npm --prefix b test"),
            ("yarn --cwd a test", "yarn --cwd b test"),
            ("make --directory=a test", "make --directory=b test"),
            ("cd a && make test", "make -C b test"),
        ] {
            let found = results(&[Print(first, 1, failed()), Print(second, 0, passed())]);
            let told = (found.passed, found.failed, found.failed_tests.len());
            assert_eq!(told, (Some(9), Some(1), 1), "{first}, {second}");
        }
        let same = [
            ("npm test", "npm run test"),
            ("cd a && make test", "make -C a test"),
            ("bash run_tests.sh", "./run_tests.sh"),
            ("npm test", "NO_COLOR=1 npm --silent test"),
            ("npx jest", "CI=1 timeout 60 npx --yes jest"),
        ];
        for (first, second) in same {
            let found = results(&[Print(first, 1, failed()), Print(second, 0, passed())]);
            assert_eq!((found.failed, found.earlier_runs), (Some(0), 1), "{first}, {second}");
        }
    }

    #[test]
    fn surroundings_may_choose_tests() {
        for (first, second) in [
            ("PYTEST_ADDOPTS='-k a' pytest", "PYTEST_ADDOPTS='-k b' pytest"),
            ("pytest", "PYTEST_ADDOPTS=--lf pytest"),
            ("pytest", "export PYTEST_ADDOPTS=--lf && pytest"),
            ("pytest", "env PYTEST_ADDOPTS=--lf pytest"),
        ] {
            check(
                &[Run(first, 4, &["test_a.py::x"]), Run(second, 1, &[])],
                (None, None, &["test_a.py::x"], 0),
            );
        }
        check(
            &[Run("pytest", 4, &["test_a.py::x"]), Run("PYTHONPATH=. NO_COLOR=1 pytest", 5, &[])],
            (Some(5), Some(0), &[], 1),
        );
    }

    #[test]
    fn what_a_pipe_hides_of_a_script_is_not_counted() {
        let last = "1 passed in 0.01s\n";
        for line in ["make -k test 2>&1 | tail -1", "make test | grep passed", "npm test | head -1"] {
            let found = results(&[Print(line, 0, last.to_owned())]);
            assert_eq!((found.passed, found.failed, found.complete), (None, None, false), "{line}");
        }
        let seen = results(&[Print("make test 2>&1 | tail -40", 0, last.to_owned())]);
        assert_eq!((seen.passed, seen.failed), (Some(1), Some(0)));
        // One run has one summary, and it is at the end.
        let seen = results(&[Print("pytest 2>&1 | tail -1", 0, last.to_owned())]);
        assert_eq!((seen.passed, seen.complete), (Some(1), true));
        // Of cargo, the end is that of the last of many: it stops at one that fails.
        let block = cargo(0, &[]);
        let seen = results(&[Print("cargo test 2>&1 | tail -3", 0, block.clone())]);
        assert_eq!((seen.passed, seen.failed, seen.complete), (None, Some(0), false));
        assert_eq!(results(&[Print("cargo test 2>&1 | grep 'test result'", 0, block)]).failed, Some(0));
        for line in ["pytest | sed s/1/7/", "pytest | awk '{print}'", "pytest | python3 -c x"] {
            assert_eq!(results(&[Print(line, 0, last.to_owned())]).passed, None, "{line}");
        }
    }

    #[test]
    fn a_place_has_many_names() {
        let failed: &[&str] = &["tests/test_a.py::x"];
        for (first, second) in [
            ("pytest /home/dev/shop/tests/test_a.py", "pytest tests/test_a.py"),
            ("pytest tests/test_a.py", "pytest /home/dev/shop/tests/test_a.py"),
            ("pytest tests/test_a.py", "cd tests && pytest test_a.py"),
            ("pytest tests/test_a.py", "cd web && pytest ../tests/test_a.py"),
        ] {
            check(&[Run(first, 4, failed), Run(second, 5, &[])], (Some(5), Some(0), &[], 1));
        }
        let covered = [Run("pytest tests/test_a.py", 5, &[]), Run("pytest /home/dev/shop/tests", 10, &[])];
        check(&covered, (Some(10), Some(0), &[], 1));
        let go = |line, package: &str| Print(line, 0, format!("ok  \t{package}\t0.1s\n"));
        assert_eq!(results(&[go("go test ./a", "m/a"), go("go test m/a", "m/a")]).passed, None);
        assert_eq!(results(&[go("go test ./a", "m/a"), go("go test ./b", "m/b")]).passed, Some(2));
        let rule = "-".repeat(70);
        let unit = |line| Print(line, 0, format!(".....\n{rule}\nRan 5 tests in 0.001s\n\nOK\n"));
        let steps = [unit("python -m unittest tests.test_a"), unit("python -m unittest tests/test_a.py")];
        check(&steps, (Some(5), Some(0), &[], 1));
        let mocha = |line| Print(line, 0, "  5 passing (5ms)\n".to_owned());
        check(
            &[mocha("npx mocha /home/dev/shop/t/a.js"), mocha("npx mocha t/a.js")],
            (Some(5), Some(0), &[], 1),
        );
    }

    #[test]
    fn tests_of_another_checkout_say_nothing_of_this_one() {
        let failed: &[&str] = &["test_m.py::test_f"];
        for line in [
            "cd /tmp/base && pytest",
            "git worktree add /tmp/base HEAD && cd /tmp/base && pytest",
            "cd ../base && pytest",
            "pytest /tmp/base",
            "git worktree add .base HEAD && cd .base && pytest",
            "(cd /tmp/base && pytest)",
            "bash -c 'cd /tmp/base && pytest'",
            "git clone -q . .base && pytest .base/tests",
        ] {
            let found = results(&[Run("pytest", 1, &[]), Run(line, 0, failed)]);
            assert_eq!((found.passed, found.failed, found.complete), (Some(1), Some(0), true), "{line}");
            assert!(found.failed_tests.is_empty() && found.runs.len() == 2, "{line}");
            assert!(found.runs[1].elsewhere.is_some() && found.runs[0].elsewhere.is_none(), "{line}");
            // Where there is nothing else, its names are all that is known.
            let alone = results(&[Run(line, 0, failed)]);
            assert_eq!((alone.passed, alone.failed, alone.failed_tests.len()), (None, None, 1), "{line}");
            assert!(alone.complete, "{line}");
        }
        let unseen =
            [Run("cd /tmp/base && pytest", 0, failed), Print("cd /tmp/old && pytest", 1, String::new())];
        assert!(!results(&unseen).complete);
        // A worktree that an earlier command made.
        let steps = [
            Run("pytest", 1, &[]),
            Print("git worktree add .base HEAD", 0, String::new()),
            Run("cd .base && pytest", 0, failed),
        ];
        check(&steps, (Some(1), Some(0), &[], 0));
        // What holds this checkout may hold its tests.
        check(&[Run("pytest", 1, &[]), Run("cd .. && pytest", 0, failed)], (None, Some(1), failed, 0));
    }

    #[test]
    fn what_failed_stays_until_it_is_seen_to_pass() {
        let failed: &[&str] = &["a::x"];
        for line in [
            "cargo test 2>&1 | head -3",
            "cargo test 2>&1 | grep 'test result'",
            "cargo test --no-fail-fast 2>/dev/null | tail -3",
            "timeout 9 cargo test --workspace 2>&1 | tail -3",
        ] {
            let text = if line.contains("null") { String::new() } else { cargo(0, &[]) };
            check(&[Run("cargo test", 4, failed), Print(line, 0, text)], (None, None, failed, 1));
        }
        let silent = Print("cargo test >/dev/null", 0, String::new());
        check(&[Run("cargo test", 4, failed), silent], (None, Some(0), &[], 1));
        let broken = "error: could not compile `a` (lib test)\n".to_owned();
        check(&[Run("cargo test", 4, failed), Print("cargo test", 101, broken)], (None, None, failed, 1));
        let none = "no tests ran in 0.01s\n".to_owned();
        check(
            &[Run("pytest test_a.py", 4, failed), Print("pytest test_a.py", 5, none)],
            (None, None, failed, 1),
        );
        check(&[Run("cargo test", 4, failed), Run("cargo test", 5, &[])], (Some(5), Some(0), &[], 1));
        check(
            &[Run("pytest", 4, failed), Run("pytest", 4, &["test_a.py::b"])],
            (Some(4), Some(1), &["test_a.py::b"], 1),
        );
    }

    #[test]
    fn one_directory_may_have_two_names() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().canonicalize().unwrap().join("shop");
        std::fs::create_dir_all(real.join("web")).unwrap();
        let name = real.with_file_name("name");
        std::os::unix::fs::symlink(&real, &name).unwrap();
        let mut tests = Tests::new(Origin::new(real.to_str().unwrap(), real.to_str().unwrap()));
        let at = Timestamp::from_millis(0);
        for (line, passed) in [("pytest web", 4), (&format!("cd {}/web && pytest", name.display()), 5)] {
            tests.note_command("1", line, Some(0), &pytest(passed, &[]), at);
        }
        let found = tests.finish(NEVER).unwrap();
        assert_eq!((found.passed, found.earlier_runs, found.runs.len()), (Some(5), 1, 1));
    }

    /// Commands start in `api`, a directory of the checkout.
    #[test]
    fn tests_of_another_directory_of_the_checkout_count() {
        let told = |steps: &[Step<'_>]| {
            let found = results_in("/home/dev/shop/api", steps);
            assert!(found.complete && found.runs.iter().all(|run| run.elsewhere.is_none()), "{found:?}");
            (found.passed, found.failed, found.failed_tests, found.earlier_runs)
        };
        let one = |name: &str| vec![name.to_owned()];
        for (line, name) in [
            ("cd ../web && pytest -q", "test_web.py::x"),
            ("pytest -q ../web", "../web/test_web.py::x"),
            ("cd .. && pytest -q web", "web/test_web.py::x"),
            ("cd /home/dev/shop/web && pytest -q", "test_web.py::x"),
        ] {
            let failed: &[&str] = &[name];
            let found = told(&[Run("pytest -q", 1, &[]), Run(line, 0, failed)]);
            assert_eq!(found, (Some(1), Some(1), one(name), 0), "{line}");
            assert_eq!(told(&[Run(line, 0, failed)]), (Some(0), Some(1), one(name), 0), "{line}");
        }
        // The whole of it takes the place of a part.
        let wider = Run("cd .. && pytest -q", 1, &["web/test_web.py::x"]);
        let found = told(&[Run("pytest -q", 1, &[]), wider]);
        assert_eq!(found, (Some(1), Some(1), one("web/test_web.py::x"), 1));
        // Another checkout is another still.
        let other = Run("cd ../../shop2 && pytest", 0, &["test_a.py::x"]);
        let found = results_in("/home/dev/shop/api", &[Run("pytest -q", 1, &[]), other]);
        assert_eq!((found.passed, found.failed), (Some(1), Some(0)));
        assert_eq!(found.runs[1].elsewhere.as_deref(), Some("/home/dev/shop2"));
    }

    #[test]
    fn tests_that_are_looked_for_elsewhere_ran_in_that_directory() {
        let rule = "-".repeat(70);
        let end = format!("..\n{rule}\nRan 2 tests in 0.001s\n\nOK\n");
        for line in [
            "python3 -m unittest discover -s /home/dev/rs",
            "python3 -m unittest discover -s ../rs",
            "python3 -m unittest discover ../rs -v",
            "python3 -m unittest discover --start-directory=../rs",
            "cd web && python3 -m unittest discover -s ../../rs",
            "cd ../rs && python3 -m unittest discover -s tests",
            "cd ../rs && python3 -m unittest test_a",
        ] {
            let found = results(&[Print(line, 0, end.clone())]);
            assert_eq!(found.runs[0].elsewhere.as_deref(), Some("/home/dev/rs"), "{line}");
        }
    }

    #[test]
    fn a_test_that_was_mended_below_the_root_is_not_told_to_fail() {
        let (here, there) = ("tests/test_a.py::x", "api/tests/test_a.py::x");
        let steps = [Run("cd api && pytest", 1, &[here]), Run("cd api && pytest tests/test_a.py::x", 1, &[])];
        check(&steps, (Some(2), Some(0), &[], 0));
        let steps = [Run("pytest", 2, &[there]), Run("cd api && pytest", 2, &[])];
        check(&steps, (Some(3), Some(0), &[], 0));
        let steps = [Run("pytest", 2, &[there]), Run("cd api && pytest", 1, &[here])];
        check(&steps, (Some(2), Some(1), &[there], 0));
        // The same name in another directory is another test.
        let steps = [
            Run("cd api && pytest", 1, &[here]),
            Run("cd web && pytest", 1, &[here]),
            Run("cd api && pytest tests/test_a.py::x", 1, &[]),
        ];
        check(&steps, (Some(3), Some(1), &[here], 0));
        // From where the run started, as ever.
        let steps = [Run("pytest", 1, &[here]), Run("pytest tests/test_a.py::x", 1, &[])];
        let found = results_in("/home/dev/shop/api", &steps);
        assert_eq!((found.passed, found.failed, found.failed_tests.len()), (Some(2), Some(0), 0));
    }

    #[test]
    fn tests_that_ran_beside_a_text_ran() {
        let told = |line: &str, exit, text: &str| {
            let steps = [Run("pytest -q api", 1, &[]), Print(line, exit, text.to_owned())];
            let found = results(&steps);
            (found.passed, found.failed, found.complete, found.failed_tests.len(), found.earlier_runs)
        };
        let (known, unknown) = ((Some(1), Some(1), true, 1, 1), (None, None, false, 1, 1));
        let failed = pytest(1, &["web/test_a.py::x"]);
        let source = format!("def test_x():\n    assert 0\n{failed}");
        for line in [
            "cat web/test_a.py; pytest -q",
            "sed -n 1,9p web/test_a.py && pytest -q",
            "grep -n x a; pytest | tail -3",
        ] {
            assert_eq!(told(line, 1, &source), known, "{line}");
        }
        let diff =
            format!("{failed}diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n 9 passed in 0.1s\n");
        for line in ["pytest -q; git diff", "pytest 2>&1 | tail -3; git diff | head -50"] {
            // What git shows has a summary in it.
            assert_eq!(told(line, 0, &diff), unknown, "{line}");
            assert_eq!(told(line, 0, &diff.replace(" 9 passed in 0.1s", " x")), known, "{line}");
        }
        let passed = pytest(2, &[]);
        let mended = [
            Run("pytest -q", 1, &["web/test_a.py::x"]),
            Edit,
            Print("pytest -q && git diff", 0, format!("{passed}diff --git a/a b/a\n")),
        ];
        check(&mended, (Some(2), Some(0), &[], 1));
        // Whose summary it is cannot be told: nothing is counted, and nothing is forgotten.
        for (line, exit, text) in [
            ("cat old.log; pytest -q", 1, format!("{passed}{failed}")),
            ("pytest -q; cat old.log", 0, failed.clone()),
        ] {
            assert_eq!(told(line, exit, &text), unknown, "{line}");
        }
        // It can only be of the text.
        for (line, exit, text) in [
            ("cat old.log; pytest -q > o", 1, failed.clone()),
            ("cat old.log missing && pytest -q", 1, format!("cat: missing: No such file\n{failed}")),
            ("git diff | cut -c2-; pytest -q", 0, failed.clone()),
        ] {
            assert_eq!(told(line, exit, &text), (None, None, false, 0, 1), "{line}");
        }
        let quiet = told("cat old.log; pytest -q", 0, &format!("{passed}..  [100%]\n"));
        assert_eq!(quiet, (None, None, false, 0, 1));
        let script = results(&[Run("pytest -q", 1, &[]), Print("cat package.json && npm test", 1, failed)]);
        assert_eq!((script.passed, script.complete, script.failed_tests.len()), (None, false, 1));
    }

    #[test]
    fn a_script_that_ran_twice_in_a_line_has_its_last_word() {
        let failed: &[&str] = &["test_a.py::x"];
        let (red, green) = (pytest(2, failed), pytest(3, &[]));
        let line = "npm test; sed -i s/1/2/ m.js; npm test";
        let told = |line, exit, texts: [&str; 2]| {
            let heading = |text| format!("\n> shop@1.0.0 test\n> pytest -q\n\n{text}");
            Print(line, exit, texts.map(heading).concat())
        };
        check(&[told(line, 0, [&red, &green])], (Some(3), Some(0), &[], 1));
        assert!(results(&[told(line, 0, [&red, &green])]).complete);
        check(&[told(line, 1, [&green, &red])], (Some(2), Some(1), failed, 1));
        check(&[told("npm test || npm test", 0, [&red, &green])], (Some(3), Some(0), &[], 1));
        // The first stopped before any test, and the second ran both.
        let both = format!("{red}{green}");
        check(&[told(line, 0, ["no\n", &both])], (None, None, failed, 0));
        check(&[told(line, 1, [&both, "no\n"])], (None, None, failed, 0));
        assert!(!results(&[told(line, 1, [&both, "no\n"])]).complete);
        // Without a word of where each begins, that may be so with any two summaries.
        for (line, exit) in [
            (line, 0),
            ("make test; sed -i s/1/2/ m.js; make test", 0),
            ("./run_tests.sh; echo X=2 > m.py; ./run_tests.sh", 0),
            ("npm test || npm test", 0),
            ("npm test; npm run test:e2e", 0),
            ("npm test; npm test", 1),
        ] {
            check(&[Print(line, exit, both.clone())], (None, None, failed, 0));
        }
    }

    #[test]
    fn tests_before_a_script_in_a_line_have_their_own_last_word() {
        let failed: &[&str] = &["test_a.py::x"];
        let (red, green) = (pytest(2, failed), pytest(3, &[]));
        let jest = |failed: u64, name: &str| {
            let (total, good) = (failed + 1, 1 - failed);
            format!(
                "\n> shop@1.0.0 test\n> jest\n\n{name}\nTest Suites: {failed} failed, {good} passed, 1 total\nTests:       {failed} failed, 1 passed, {total} total\n"
            )
        };
        let (broken, whole) = (jest(1, "FAIL a.test.js\n  ● m\n"), jest(0, "PASS a.test.js\n"));
        let line =
            "pytest -q || true\necho X=2 > m.py\npytest -q\ncd web\nnpm test || true\necho > m.js\nnpm test";
        let told = |line, exit, texts: [&str; 4]| Print(line, exit, texts.concat());
        check(&[told(line, 0, [&red, &green, &broken, &whole])], (Some(4), Some(0), &[], 2));
        assert!(results(&[told(line, 0, [&red, &green, &broken, &whole])]).complete);
        check(&[told(line, 1, [&red, &green, &whole, &broken])], (Some(4), Some(1), &["m"], 2));
        check(&[told(line, 0, [&green, &red, &broken, &whole])], (Some(3), Some(1), failed, 2));
        // The script ran pytest, or the second of them did not begin.
        check(&[told(line, 0, [&red, "", &broken, &whole])], (None, None, failed, 1));
        check(&[told(line, 0, [&red, &green, &broken, ""])], (None, None, &["test_a.py::x", "m"], 0));
    }

    #[test]
    fn what_is_not_known_to_be_here_corrects_nothing() {
        let failed: &[&str] = &["tests/test_a.py::x"];
        for line in ["cd ~/other && pytest", "popd && pytest", "pytest @some.txt", "pytest ~/other/test_a.py"]
        {
            check(&[Run("pytest", 5, &[]), Run(line, 4, failed)], (None, Some(1), failed, 0));
        }
    }

    #[test]
    fn what_a_test_prints_is_no_run() {
        let printed = format!("{}{}{}", pytest(9, &[]), pytest(2, &["test_a.py::x"]), pytest(1, &[]));
        let found = results(&[Print("pytest -q; pytest -q test_c.py", 0, printed)]);
        assert_eq!((found.passed, found.failed, found.failed_tests.len()), (None, None, 1));
        assert!(found.runs.iter().all(|run| run.passed.is_none()), "{found:?}");
    }

    #[test]
    fn what_was_kept_from_running_did_not_run() {
        let none = |line: &str| {
            let mut tests = Tests::new(Origin::new("/home/dev/shop", "/home/dev/shop"));
            tests.note_command("1", line, Some(1), "", Timestamp::from_millis(0));
            tests.finish(NEVER).is_none()
        };
        assert!(
            none("false && pytest")
                && none("cargo build && cargo test")
                && none("ruff check . && cd a && pytest")
        );
        assert!(!none("cd a && pytest") && !none("false; pytest") && !none("pytest"));
    }

    #[test]
    fn what_follows_tests_does_not_hide_them() {
        check(&[Print("pytest && git stash -q", 0, pytest(3, &[]))], (Some(3), Some(0), &[], 0));
        let report = r#"<testsuites><testsuite name="pytest" errors="0" failures="0" skipped="0" tests="2" time="0.1"><testcase classname="a" name="x"/><testcase classname="a" name="y"/></testsuite></testsuites>"#;
        let line = "pytest --junitxml=o.xml -q >/dev/null; cat o.xml";
        check(&[Print(line, 0, report.to_owned())], (Some(2), Some(0), &[], 0));
    }

    #[test]
    fn a_file_that_could_not_run_is_named_and_nothing_is_whole() {
        let not_run = "FAIL t/c.test.js (5 s)\n  ● Test suite failed to run\n\n    no\n\n";
        let alone = format!("{not_run}Test Suites: 1 failed, 1 total\nTests:       0 total\n");
        let found = results(&[Print("npx jest", 1, alone)]);
        assert_eq!((found.passed, found.failed, found.complete), (None, None, false));
        assert_eq!(found.failed_tests, ["t/c.test.js"]);
        let beside = format!("FAIL t/a.test.js\n{not_run}{JEST_FAILED}");
        let found = results(&[Print("npx jest", 1, beside)]);
        assert_eq!((found.passed, found.failed, found.complete), (Some(4), Some(1), false));
        assert_eq!(found.failed_tests, ["t/c.test.js", "s › two"]);
        let passing = format!("PASS t/a.test.js\n{not_run}Test Suites: 1 failed, 1 passed, 2 total\n{JEST}");
        let found = results(&[Print("npx jest", 1, passing)]);
        assert_eq!((found.passed, found.failed, found.complete), (Some(5), Some(0), false));
        assert_eq!(found.failed_tests, ["t/c.test.js"]);
        let vitest = " FAIL  c.test.mjs [ c.test.mjs ]\n FAIL  a.test.mjs > two\n Test Files  2 failed (2)\n      Tests  1 failed | 1 passed (2)\n";
        let found = results(&[Print("npx vitest run", 1, vitest.to_owned())]);
        assert_eq!((found.passed, found.failed, found.complete), (Some(1), Some(1), false));
        assert_eq!(found.failed_tests, ["c.test.mjs", "a.test.mjs > two"]);
        let tap = "TAP version 13\n1..2\nnot ok 1 - a.test.mjs # time=7ms {\n    1..2\n    ok 1 - one\n    not ok 2 - two\n}\nnot ok 2 - c.test.mjs\n    ---\n    ...\n";
        let found = results(&[Print("npx vitest run --reporter=tap", 1, tap.to_owned())]);
        assert_eq!((found.passed, found.failed, found.complete), (Some(1), Some(1), false));
        assert_eq!(found.failed_tests, ["a.test.mjs > two", "c.test.mjs"]);
    }

    #[test]
    fn packages_and_tests_are_not_added_up() {
        let packages = "ok  \ta\t0.1s\nok  \tb\t0.1s\n".to_owned();
        let found = results(&[Print("go test ./...", 0, packages), Run("pytest", 100, &[])]);
        assert_eq!((found.passed, found.failed, found.skipped), (None, None, None));
        assert_eq!((found.runs[0].passed, found.runs[1].passed), (Some(2), Some(100)));
    }

    #[test]
    fn a_filter_that_matched_nothing_is_no_success() {
        let found = results(&[Run("cargo test nothing", 0, &[])]);
        assert_eq!((found.passed, found.failed, found.runs[0].total), (Some(0), Some(0), Some(0)));
        assert!(!found.all_passed());
    }

    #[test]
    fn a_run_without_a_summary_takes_the_place_of_the_one_before_and_has_no_counts() {
        let broken = "error: could not compile `a` (lib test)\n".to_owned();
        let found = results(&[Run("cargo test", 4, &[]), Print("cargo test", 101, broken)]);
        assert_eq!((found.passed, found.failed, found.complete, found.earlier_runs), (None, None, false, 1));
        assert_eq!(results(&[Print("pytest t.py >/dev/null", 1, String::new())]).failed, None);
    }

    #[test]
    fn tests_that_ran_without_a_summary_to_be_seen_have_no_counts() {
        let seen = |line: &'static str, exit_code, text: &str| {
            let mut tests = Tests::new(Origin::new("/home/dev/shop", "/home/dev/shop"));
            tests.note_command("1", line, exit_code, text, Timestamp::from_millis(0));
            tests.finish(NEVER).map(|found| (found.passed, found.failed, found.complete))
        };
        let unknown = Some((None, None, false));
        assert_eq!(seen("pytest >/dev/null", Some(0), ""), Some((None, Some(0), false)));
        for line in ["pytest -qq", "cd web && pytest -q | head -3", "pytest | grep -c x; ls"] {
            assert_eq!(seen(line, Some(0), "..\n"), unknown, "{line}");
        }
        // It did not run, or nobody knows.
        for line in [
            "true || pytest",
            "if false; then pytest; fi",
            "which pytest",
            "pip install pytest",
            "pytest --version",
        ] {
            assert_eq!(seen(line, Some(0), "..\n"), None, "{line}");
        }
        assert_eq!(seen("pytest -qq", None, "..\n"), None);
        assert_eq!(seen("pytest | head", Some(0), "bash: line 1: pytest: command not found\n"), None);
        assert_eq!(seen("python -m pytest", Some(1), "/usr/bin/python: No module named pytest\n"), None);
    }

    #[test]
    fn more_runs_than_are_told_apart_are_not_counted() {
        let lines: Vec<String> = (0..40).map(|at| format!("pytest t{at}.py")).collect();
        let steps: Vec<Step<'_>> = lines.iter().map(|line| Run(line, 1, &[])).collect();
        assert_eq!((results(&steps).passed, results(&steps[..30]).passed), (None, Some(30)));
    }

    #[test]
    fn no_test_is_no_result() {
        let mut tests = Tests::new(Origin::new("/home/dev/shop", "/home/dev/shop"));
        tests.note_command("1", "ls", Some(0), "a\n", Timestamp::from_millis(0));
        assert_eq!(tests.finish(NEVER), None);
    }

    #[test]
    fn the_results_have_the_names_that_callers_know() {
        let json = serde_json::to_value(results(&[Run("cargo test", 1, &["a"])])).unwrap();
        for (name, value) in [("passed", 1), ("failed", 1), ("skipped", 0)] {
            assert_eq!(json[name], value);
        }
        assert_eq!(json["failed_tests"], serde_json::json!(["a"]));
        assert_eq!(json["runs"][0]["framework"], "cargo_test");
    }

    #[test]
    fn a_look_at_a_few_between_two_runs_of_all_takes_no_count() {
        let vitest = |files: u64, passed: u64, failed: u64| {
            let (names, head, tests) = match failed {
                0 => ("", "", String::new()),
                _ => (" FAIL  src/a.test.js > d > b\n\n", "1 failed | ", format!("{failed} failed | ")),
            };
            let (red, all) = (failed.min(1), passed + failed);
            format!(
                "{names} Test Files  {head}{files} passed ({})\n      Tests  {tests}{passed} passed ({all})\n",
                files + red
            )
        };
        let print = |command, code, text| Print(command, code, text);
        for narrow in ["npx vitest run src/a.test.js", "npm test -- src/a.test.js", "npx vitest run -t b"] {
            let steps = [
                print("npm test", 1, vitest(1, 2, 1)),
                Edit,
                print(narrow, 0, vitest(1, 2, 0)),
                print("npm test", 0, vitest(2, 3, 0)),
            ];
            let found = results(&steps);
            assert!(found.all_passed(), "{narrow}: {found:?}");
            assert_eq!((found.passed, found.failed, found.runs.len()), (Some(3), Some(0), 1), "{narrow}");
        }
        let known = |steps: &[Step<'_>]| results(steps).passed;
        let whole = || print("npm test", 0, vitest(2, 3, 0));
        // It failed, ran more than they did, ran elsewhere, or there was no run of all before it.
        for narrow in [
            print("npx vitest run src/a.test.js", 1, vitest(1, 1, 1)),
            print("npx vitest run src/a.test.js", 0, vitest(1, 4, 0)),
            print("cd web && npx vitest run src/a.test.js", 0, vitest(1, 2, 0)),
        ] {
            assert_eq!(known(&[whole(), narrow, whole()]), None);
        }
        // As many ran in the last, so it is of all.
        assert_eq!(known(&[whole(), print("npx vitest run", 0, vitest(1, 2, 0)), whole()]), Some(3));
        assert_eq!(known(&[print("npx vitest run src/a.test.js", 0, vitest(1, 2, 0)), whole()]), None);
        // pytest, where what is found is not known.
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("conftest.py"), "def pytest_collect_file(): ...\n").unwrap();
        let root = dir.path().to_str().unwrap();
        let mut tests = Tests::new(Origin::new(root, root));
        let at = Timestamp::from_millis(0);
        let failing = ["a/test_t.py::x"];
        for (command, text) in [
            ("pytest -q", pytest(2, &failing)),
            ("pytest -q a/test_t.py", pytest(1, &[])),
            ("pytest -q", pytest(3, &[])),
        ] {
            let code = i64::from(text.contains("FAILED"));
            tests.note_command("1", command, Some(code), &text, at);
        }
        let found = tests.finish(NEVER).unwrap();
        assert_eq!((found.passed, found.failed, found.failed_tests.len()), (Some(3), Some(0), 0));
    }

    #[test]
    fn what_runs_without_end_while_changes_are_put_aside_is_not_all_kept() {
        let at = Timestamp::from_millis(0);
        let mut tests = Tests::new(Origin::new("/home/dev/shop", "/home/dev/shop"));
        tests.note_command("0", "git stash", Some(0), "Saved\n", at);
        for number in 0..=MOST_RUNS {
            let (line, name) = (format!("pytest -q test_{number}.py"), format!("test_{number}.py::x"));
            tests.note_command("1", &line, Some(1), &pytest(1, &[&name]), at);
        }
        assert_eq!((tests.aside.len(), tests.lost), (MOST_RUNS, true));
        assert_eq!(tests.aside[0].line, "pytest -q test_1.py");
        let told = tests.finish(NEVER).unwrap();
        assert_eq!((told.failed, told.complete, told.runs.len()), (None, false, MOST_RUNS));
    }
}
