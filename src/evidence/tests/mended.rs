//! Tests that failed, and that a later run was seen to pass.

use super::printed::{Told, handed_on, is_home_needed};
use super::results::MOST_NAMES;
use super::{Counts, Framework, TestRun};
use crate::evidence::tests::Relation;

impl TestRun {
    /// Whether this run passed the test `name` that failed in `old`, an earlier one.
    pub(super) fn mends(&self, old: &TestRun, name: &str) -> bool {
        let is_one_tree = self.scope.elsewhere().is_none() && old.scope.elsewhere().is_none();
        if let Some((own, olds)) = self.scope.as_run(&old.scope).filter(|_| is_one_tree) {
            let as_run =
                |run: &TestRun, scope: &super::Scope| TestRun { scope: scope.clone(), ..run.clone() };
            return as_run(self, own).mends(&as_run(old, olds), &old.scope.named_by_module(name));
        }
        if self.framework != old.framework {
            return self.mends_of_cargo(old, name) || self.mends_of_python(old, name);
        }
        let relation = self.scope.relation(&old.scope);
        let says_more = self.says_more || old.says_more;
        let is_beside_a_script =
            !says_more && self.scope.is_beside_a_script(&old.scope) && !has_no_file(self.framework);
        let is_here = self.scope.is_of_same_place(&old.scope) || is_beside_a_script;
        let full = old.scope.full_name(name);
        match relation {
            _ if !is_here || self.scope.lacks(&old.scope) => false,
            Relation::Apart => false,
            Relation::Unclear => {
                let is_named = self.scope.names(&full) || self.scope.is_script_for_some(&old.scope);
                let is_named = is_named || old.scope.by_turns;
                let has_all = self.passed_as_many(old) && self.scope.surely_runs(&full);
                let by_name = is_named && (has_all || self.passed_all_that_hold(&full));
                by_name || self.was_told_to_pass(old, name, &full)
            }
            Relation::Same | Relation::Covers | Relation::Within => {
                self.was_told_to_pass(old, name, &full) || self.passed_all_that_hold(&full)
            }
        }
    }

    /// The same between `cargo test` and nextest: where all passed that this asks for, and that is as much.
    /// nextest runs no example of a documentation.
    fn mends_of_cargo(&self, old: &TestRun, name: &str) -> bool {
        let is_of_cargo = |run: &TestRun| matches!(run.framework, Framework::CargoTest | Framework::Nextest);
        let is_example = name.contains(" (line ");
        let scope = super::Scope { framework: old.framework, ..self.scope.clone() };
        let covers = matches!(scope.relation(&old.scope), Relation::Same | Relation::Covers);
        let skipped = old.counts.map_or(0, |counts| counts.skipped);
        let all = |counts: Counts| counts.passed > 0 && counts.failed == 0 && counts.skipped <= skipped;
        is_of_cargo(self)
            && is_of_cargo(old)
            && covers
            && !self.scope.lacks(&old.scope)
            && !(is_example && self.framework == Framework::Nextest)
            && self.complete
            && self.failing.is_empty()
            && self.counts.is_some_and(all)
    }

    /// Whether what failed in `old` may still do so, as it was run then.
    pub(super) fn may_miss(&self, old: &TestRun) -> bool {
        let all_passed = old.failing.is_empty() && old.all_failures() == Some(0);
        self.scope.lacks(&old.scope) && !all_passed
    }

    /// What fails in `new` as well does not fail of how this was run.
    pub(super) fn compare_ways(&mut self, new: &TestRun) {
        let failing: Vec<String> = new.failing.iter().map(|name| new.scope.full_name(name)).collect();
        let are_all = self.counts.is_some_and(|counts| counts.failed == self.failing.len() as u64);
        let fails = |name: &String| failing.contains(&self.scope.full_name(name));
        let is_of_both =
            new.scope.relation(&self.scope) != Relation::Apart && self.framework == new.framework;
        if is_of_both && are_all && self.failing.iter().all(fails) {
            self.scope.fails_as(&new.scope);
        }
    }

    /// Takes the place of `old`: what failed before, and is not known to have run again, may fail still.
    pub(super) fn take_over(&mut self, old: &TestRun) {
        let failing: Vec<&String> = old.failing.iter().filter(|name| !self.mends(old, name)).collect();
        let ran = self.counts.is_some_and(|counts| counts.passed + counts.failed > 0);
        let passed = self.passed_as_many(old) || self.ended_green() || self.seen.is_settled();
        if (self.complete && ran) || passed || self.ran_as_many(old) {
            return;
        }
        let same_place = self.scope.is_beside(&old.scope);
        for name in failing {
            let full = old.scope.full_name(name);
            let is_known = self.failing.iter().any(|name| self.scope.full_name(name) == full);
            if self.failing.len() < MOST_NAMES && !is_known {
                self.told.extend(old.told.iter().filter(|told| told.name == *name).cloned());
                self.failing.push(if same_place { name.clone() } else { full });
                self.counts = self.counts.filter(|counts| counts.failed > 0);
                self.complete = false;
            }
        }
    }

    /// Whether as many passed as ran in the turns of `old`, a loop, and none failed.
    fn passed_as_many(&self, old: &TestRun) -> bool {
        let passed = |counts: &Counts| counts.failed == 0 && counts.passed > 0;
        let all = self.turns.or(self.counts.filter(|_| self.complete)).filter(passed);
        let both = all.zip(old.turns).filter(|_| self.failing.is_empty());
        both.is_some_and(|(now, before)| now.skipped <= before.skipped && now.total >= before.total)
    }

    fn was_told_to_pass(&self, old: &TestRun, name: &str, full: &str) -> bool {
        let of_old = |told: &&Told| told.name == name;
        let passed_before = old.told.iter().filter(of_old).any(|told| told.passed);
        // Two tests of one name: which of them failed cannot be told, nor whether it is this one.
        if passed_before || (has_no_file(self.framework) && !self.can_be_no_other(old, name)) {
            return false;
        }
        let mut homes: Vec<&str> = old.told.iter().filter(of_old).map(|told| told.home.as_str()).collect();
        if !is_home_needed(self.framework) {
            homes = vec![""];
        }
        let now = |home: &str| -> Vec<bool> {
            let same = |told: &&Told| told.home == home && self.scope.full_name(&told.name) == full;
            self.told.iter().filter(same).map(|told| told.passed).collect()
        };
        let passes = |home: &&str| {
            let now = now(home);
            !now.is_empty() && now.iter().all(|passed| *passed)
        };
        !homes.is_empty()
            && homes.iter().all(passes)
            && !self.failing.iter().any(|failing| self.scope.full_name(failing) == full)
    }

    /// Whether a test of `old` is the only one of its name, where names have no file: another file
    /// may have passed one unseen. What tests print themselves may look like one, too.
    fn can_be_no_other(&self, old: &TestRun, name: &str) -> bool {
        let is_all_told = old.complete && old.counts.is_some_and(|counts| counts.passed == old.listed);
        let is_once = old.told.iter().filter(|told| told.name == name).count() == 1;
        is_all_told && is_once && self.counts.is_some_and(|counts| self.listed <= counts.passed)
    }

    /// Whether all passed that it asked for, this one among them.
    pub(super) fn passed_all_that_hold(&self, full: &str) -> bool {
        let all =
            self.counts.is_some_and(|counts| counts.passed > 0 && counts.failed == 0 && counts.skipped == 0);
        all && self.complete && self.failing.is_empty() && self.scope.surely_runs(full)
    }
}

impl super::Scope {
    /// Whether a name that both print is that of one test.
    fn is_of_same_place(&self, other: &Self) -> bool {
        let script = |scope: &Self| {
            let script = scope.unclear.as_deref().filter(|_| !scope.by_turns);
            script.map(|script| handed_on(script).0.to_owned())
        };
        let directory = self.framework == Framework::Pytest || self.directory == other.directory;
        directory
            && self.elsewhere == other.elsewhere
            && self.other_tree == other.other_tree
            && self.without_all_targets().modes_to(&other.without_all_targets()) != Relation::Unclear
            && script(self) == script(other)
    }

    /// The same, where a test of cargo is called as it is without that.
    fn without_all_targets(&self) -> Self {
        let mut scope = self.clone();
        scope.modes.retain(|mode| mode != "--all-targets");
        scope
    }

    /// Whether it asks for the test itself or for its file, which is run whatever settings say.
    fn names(&self, full: &str) -> bool {
        let is_one = |place: &str| place.ends_with(".py") || place.contains("::");
        let holds = |place: &str| {
            full.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '[']))
        };
        match self.framework {
            Framework::Pytest => self.places.iter().any(|place| is_one(place) && holds(place)),
            Framework::Unittest => self.surely_runs(full),
            _ => false,
        }
    }

    /// Whether it is the script of `other`, which was handed something on.
    fn is_script_for_some(&self, other: &Self) -> bool {
        let hands_on = self.script().is_some_and(|script| handed_on(script).1.is_some());
        hands_on && self.part == 0 && other.part == 0
    }

    /// Whether a run of it has the test `full` in it.
    pub(super) fn surely_runs(&self, full: &str) -> bool {
        match self.framework {
            Framework::Pytest => self.settings.filters.is_empty() && self.asks_for(full) == Some(true),
            // `test_a (t.A.test_a)`
            Framework::Unittest => {
                let inside = full.rsplit_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
                let asked = |id: &str| {
                    self.places.iter().any(|place| {
                        id == place
                            || id.strip_prefix(place.as_str()).is_some_and(|rest| rest.starts_with('.'))
                    })
                };
                self.unclear.is_none()
                    && self.filters.is_empty()
                    && !self.settings.packages
                    && inside.is_some_and(|id| asked(id) || self.discovers(id))
            }
            // A file that could not run: it is called by its path.
            Framework::Jest => {
                let file = full.strip_prefix("./").unwrap_or(full);
                let is_it = |word: &String| word.strip_prefix("./").unwrap_or(word) == file;
                self.unclear.is_none() && !self.filters.is_empty() && self.filters.iter().all(is_it)
            }
            Framework::Vitest => {
                let file = full.split_once(" > ").map_or(full, |(file, _)| file);
                let words = match self.unclear.as_deref() {
                    None => self.filters.iter().map(String::as_str).collect(),
                    Some(script) => words_handed_on(script),
                };
                !words.is_empty() && words.iter().all(|word| *word == file)
            }
            _ => false,
        }
    }
}

/// Frameworks whose names of tests do not say in which file they are.
fn has_no_file(framework: Framework) -> bool {
    matches!(framework, Framework::Mocha | Framework::Node)
}

/// The words that a script of a package hands on.
fn words_handed_on(script: &str) -> Vec<&str> {
    let is_of_package = ["npm ", "pnpm ", "yarn "].iter().any(|program| script.starts_with(program));
    let words = handed_on(script).1.filter(|_| is_of_package).unwrap_or_default();
    words.split_ascii_whitespace().collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::evidence::{Changed, Gathered};
    use crate::model::{Event, ItemStatus, Timestamp};

    /// What is told to fail after these commands, and whether an error is left.
    fn left(commands: &[(&str, i64, &str)]) -> (Vec<String>, bool) {
        let mut gathered = Gathered::new(Path::new("/home/dev/shop"), Path::new("/home/dev/shop"));
        let at = Timestamp::from_millis(0);
        for (item, (command, exit_code, text)) in commands.iter().enumerate() {
            let (item, command, exit_code) = (item.to_string(), (*command).to_owned(), Some(*exit_code));
            let status = ItemStatus::Completed;
            let ended = Event::CommandEnded { item, command, exit_code, output_bytes: 0, status };
            gathered.note(&ended, Some(text), at);
        }
        let (tests, errors) = gathered.finish(Changed::Unknown, None);
        (tests.unwrap().failed_tests, errors.is_some())
    }

    #[track_caller]
    fn check(red: (&str, &str), green: (&str, &str), is_mended: bool) {
        let (failing, has_error) = left(&[(red.0, 1, red.1), (green.0, 0, green.1)]);
        assert_eq!(
            (failing.is_empty(), has_error),
            (is_mended, !is_mended),
            "{}, {}: {failing:?}",
            red.0,
            green.0
        );
    }

    const LIB: &str = "     Running unittests src/lib.rs (target/debug/deps/a-01)\n";
    const OTHER: &str = "     Running unittests src/lib.rs (target/debug/deps/b-02)\n";

    fn cargo(home: &str, test: &str, passed: u64, failed: u64) -> String {
        let (end, panic) = match failed {
            0 => ("ok", ""),
            _ => ("FAILED", "thread 'tests::adds' panicked at src/lib.rs:3:9:\nno\n\n"),
        };
        let failures = if failed > 0 {
            format!("\nfailures:\n\n{panic}failures:\n    tests::adds\n")
        } else {
            String::new()
        };
        let all = passed + failed;
        format!(
            "{home}\nrunning {all} tests\n{test}{failures}\ntest result: {end}. {passed} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n"
        )
    }

    #[test]
    fn cargo_names_the_test_and_its_binary() {
        let red =
            cargo(LIB, "test tests::adds ... FAILED\n", 0, 1) + "error: test failed, to rerun pass `--lib`\n";
        let red = ("cargo test", red.as_str());
        let green = |home| cargo(home, "test tests::adds ... ok\n", 1, 0);
        for line in ["cargo test adds", "cargo test --lib", "cargo test -p a"] {
            check(red, (line, &green(LIB)), true);
        }
        // Another test of that name, one that was not named, or none at all.
        check(red, ("cargo test -p b", &green(OTHER)), false);
        check(red, ("cargo test -q adds", &cargo("", ".\n", 1, 0)), false);
        check(red, ("cargo test other", &cargo(LIB, "test tests::other ... ok\n", 1, 0)), false);
        check(red, ("cargo test adds -- --nocapture", &green(LIB)), false);
        check(red, ("cd web && cargo test adds", &green(LIB)), false);
        check(red, ("cargo test adds; cat old.log", &green(LIB)), false);
    }

    const PYTEST: &str = "\
    def test_x():
>       assert X == 2
E       assert 1 == 2

tests/test_t.py:3: AssertionError
==== short test summary info ====
FAILED tests/test_t.py::test_x - assert 1 == 2
";

    #[test]
    fn pytest_names_the_test_or_was_asked_for_it() {
        let stopped = format!("{PYTEST}!!!! stopping after 1 failures !!!!\n1 failed in 0.1s\n");
        let stopped = ("pytest -q -x", stopped.as_str());
        let whole = format!("{PYTEST}1 failed, 2 passed in 0.1s\n");
        let whole = ("pytest -q", whole.as_str());
        let verbose =
            "tests/test_t.py::test_x PASSED    [100%]\n\n==== 1 passed, 2 deselected in 0.1s ====\n";
        let short = "1 passed in 0.1s\n";
        for red in [stopped, whole] {
            check(red, ("pytest -v -k test_x", verbose), true);
            check(red, ("pytest -q tests/test_t.py::test_x", short), true);
            check(red, ("pytest -q tests/test_t.py", short), true);
            check(red, ("cd tests && pytest -q test_t.py", short), true);
            check(red, ("cd tests && pytest -v -k x", &verbose.replace("tests/", "")), true);
            check(red, ("pytest -q -k test_x", short), false);
            check(red, ("pytest -q tests/test_t.py::test_y", short), false);
            check(red, ("cd web && pytest -v -k x", verbose), false);
        }
        check(stopped, ("pytest -q tests/test_t.py", "1 passed, 1 skipped in 0.1s\n"), false);
        // What a test that failed had printed is no test.
        let printed = "==== FAILURES ====\ntests/test_t.py::test_x PASSED [ 1%]\n==== short test summary info ====\nFAILED tests/test_t.py::test_y - no\n==== 1 failed in 0.1s ====\n";
        let (failing, _) = left(&[("pytest -q", 1, whole.1), ("pytest -k y", 1, printed)]);
        assert_eq!(failing.len(), 2);
        // One file after the other.
        let red = ("pytest tests/test_t.py tests/test_o.py", 1, whole.1);
        let green =
            [("pytest tests/test_t.py", 0, "2 passed in 0.1s\n"), ("pytest tests/test_o.py", 0, short)];
        assert_eq!(left(&[red, green[0], green[1]]), (Vec::new(), false));
        assert!(left(&[red, green[1]]).1);
    }

    #[test]
    fn what_failed_in_a_turn_of_a_loop_is_mended_as_without_the_loop() {
        let red = format!("{PYTEST}1 failed, 2 passed in 0.1s\n1 passed in 0.1s\n");
        let red = ("for f in tests/*.py; do pytest -q $f; done", 0, red.as_str());
        let after = |line: &str, text: &str| left(&[red, (line, 0, text)]);
        assert_eq!(left(&[red]), (vec!["tests/test_t.py::test_x".to_owned()], true));
        for line in
            ["pytest -q", "pytest tests", "pytest -q tests/test_t.py", "pytest tests/test_t.py::test_x"]
        {
            assert_eq!(after(line, "4 passed in 0.1s\n"), (Vec::new(), false), "{line}");
        }
        assert_eq!(after(red.0, "3 passed in 0.1s\n1 passed in 0.1s\n"), (Vec::new(), false));
        assert_eq!(after("pytest -q", "3 passed, 1 skipped in 0.1s\n").0.len(), 1);
        let skips = red.2.replace("2 passed", "2 passed, 1 skipped");
        let skips = (red.0, 0, skips.as_str());
        assert_eq!(left(&[skips, ("pytest", 0, "4 passed, 1 skipped in 0.1s\n")]), (Vec::new(), false));
        assert_eq!(left(&[skips, ("pytest", 0, "3 passed, 1 skipped in 0.1s\n")]).0.len(), 1);
        for line in ["pytest -q tests/test_u.py", "pytest -q -k test_x", "cd web && pytest -q"] {
            assert_eq!(after(line, "4 passed in 0.1s\n").0.len(), 1, "{line}");
        }
    }

    #[test]
    fn node_names_the_test_and_its_groups() {
        let counts = |pass: u64, fail: u64| {
            let tests = pass + fail;
            format!(
                "ℹ tests {tests}\nℹ suites 1\nℹ pass {pass}\nℹ fail {fail}\nℹ cancelled 0\nℹ skipped 0\nℹ todo 0\nℹ duration_ms 9.5\n"
            )
        };
        let told = "\n✖ failing tests:\n\ntest at a.test.js:4:1\n✖ b (0.7ms)\n  Error: no\n      at f (a.test.js:4:31)\n";
        let red = |list: &str, pass, fail| format!("{list}{}{told}", counts(pass, fail));
        let one = red("✔ a (0.8ms)\n▶ g\n  ✖ b (0.7ms)\n✖ g (1ms)\n", 1, 1);
        let named = format!("▶ g\n  ✔ b (0.7ms)\n✔ g (1ms)\n{}", counts(1, 0));
        let (all, some) = ("node --test", "node --test --test-name-pattern=b");
        check((all, &one), (some, &named), true);
        check((all, &one), (some, &named.replace("▶ g\n", "▶ h\n").replace("✔ g", "✔ h")), false);
        check((all, &one), (some, &format!("✔ b (0.7ms)\n{}", counts(1, 0))), false);
        check((all, &one), (some, &format!("✔ a (0.7ms)\n{}", counts(1, 0))), false);
        // What a test printed looks like one.
        check((all, &one), (some, &named.replace("ℹ tests 1", "✔ b (1ms)\nℹ tests 1")), false);
        // Another of that name passed or failed beside it, or may have: some of the list is missing.
        let beside = "▶ g\n  ✖ b (0.7ms)\n✖ g (1ms)\n▶ g\n  ✖ b (0.7ms)\n✖ g (1ms)\n";
        check((all, &red(beside, 0, 2)), (some, &named), false);
        check((all, &red(&beside.replacen("✖ b", "✔ b", 1), 1, 1)), (some, &named), false);
        check(("node --test | tail -40", &red("  ✖ b (0.7ms)\n✖ g (1ms)\n", 7, 1)), (some, &named), false);
    }

    #[test]
    fn pytest_runs_what_failed_last() {
        let names = "==== short test summary info ====\nFAILED t/test_a.py::A::x - no\nFAILED t/test_a.py::A::y - no\n2 failed, 2 passed in 0.1s\n";
        let (red, fails) = (("pytest -q", 1, names), |left: (Vec<String>, bool)| (left.0.len(), left.1));
        let again = |text| fails(left(&[red, ("pytest --lf -q", 0, text)]));
        assert_eq!(again("2 passed, 2 deselected in 0.1s\n"), (0, false));
        assert_eq!(again("2 passed in 0.1s\n"), (0, false));
        assert_eq!(fails(left(&[red, ("pytest -q --last-failed -x", 0, "2 passed in 0.1s\n")])), (0, false));
        // One was looked at before, and does not fail any more.
        let one = ("pytest -q t/test_a.py::A::x", 0, "1 passed in 0.1s\n");
        assert_eq!(
            fails(left(&[red, one, ("pytest --lf", 0, "1 passed, 3 deselected in 0.1s\n")])),
            (0, false)
        );
        // Not both of them, or not just them.
        for text in
            ["1 passed, 3 deselected in 0.1s\n", "1 passed, 1 skipped in 0.1s\n", "3 passed in 0.1s\n"]
        {
            assert_eq!(again(text), (2, true), "{text}");
        }
        assert_eq!(fails(left(&[red, ("pytest --lf -k x", 0, "2 passed in 0.1s\n")])), (2, true));
        assert_eq!(fails(left(&[red, ("cd web && pytest --lf", 0, "2 passed in 0.1s\n")])), (2, true));
    }

    const JEST: &str = "\
FAIL src/m.test.js
  ● s › m

    expect(received).toBe(expected) // Object.is equality

    Expected: 2
    Received: 1

      at Object.toBe (src/m.test.js:1:42)

PASS src/n.test.js

Test Suites: 1 failed, 1 passed, 2 total
Tests:       1 failed, 2 passed, 3 total
";

    #[test]
    fn jest_names_the_file_and_the_test() {
        let green = "PASS src/m.test.js\n  s\n    ✓ m (2 ms)\n    ○ skipped n\n\nTest Suites: 1 passed, 1 total\nTests:       1 skipped, 1 passed, 2 total\n";
        for line in ["npx jest src/m.test.js", "npx jest -t m"] {
            check(("npx jest", JEST), (line, green), true);
        }
        check(("npm test", JEST), ("npm test -- src/m.test.js", green), true);
        let other = green.replace("src/m.", "src/o.");
        check(("npx jest", JEST), ("npx jest src/o.test.js", &other), false);
        check(("npx jest", JEST), ("npx jest -t m", &green.replace("  s\n", "  z\n")), false);
        check(("npx jest", JEST), ("npx jest -t m", &green.replace("✓ m", "○ skipped m")), false);
        check(("npm test -w a", JEST), ("npm test -w b", green), false);
        check(("npm test", JEST), ("npx jest src/m.test.js", green), true);
        check(("npm test -w a", JEST), ("npx jest src/m.test.js", green), false);
        check(("cd web && npm test", JEST), ("npx jest src/m.test.js", green), false);
    }

    #[test]
    fn others_name_their_tests_too() {
        let rule = "-".repeat(70);
        let red = format!(
            "FAIL: test_a (t.test_a.A.test_a)\n{rule}\nTraceback (most recent call last):\n  File \"/home/dev/shop/t/test_a.py\", line 3, in test_a\n    self.fail()\nAssertionError: no\n\n{rule}\nRan 1 test in 0.1s\n\nFAILED (failures=1)\n"
        );
        let green = format!(".\n{rule}\nRan 1 test in 0.1s\n\nOK\n");
        let red = ("python3 -m unittest t.test_a", red.as_str());
        check(red, ("python3 -m unittest t.test_a.A.test_a", &green), true);
        check(red, ("python3 -m unittest t.test_a.A.test_b", &green), false);
        let named = format!("test_a (t.test_a.A.test_a) ... ok\n\n{rule}\nRan 1 test in 0.1s\n\nOK\n");
        check(red, ("python3 -m unittest -v -k test_a", &named), true);
        let red = "  d\n    ✔ a\n    1) b\n\n  1 passing (3ms)\n  1 failing\n\n  1) d\n       b:\n     Error: boom\n      at Context.<anonymous> (test/a.js:1:60)\n";
        let green = |name: &str| format!("  d\n    ✔ {name}\n\n  1 passing (3ms)\n");
        check(("npx mocha", red), ("npx mocha -g b", &green("b")), true);
        check(("npx mocha", red), ("npx mocha -g a", &green("a")), false);
        // A test of the same name in another file may have passed behind the pipe.
        let seen = &red[red.find("  1 passing").unwrap()..];
        check(("npx mocha 2>&1 | tail -9", seen), ("npx mocha test/b.js", &green("b")), false);
        let red = " FAIL  src/a.test.js > d > b\nAssertionError: expected 1 to be 2\n ❯ src/a.test.js:1:90\n\n Test Files  1 failed | 1 passed (2)\n      Tests  1 failed | 2 passed (3)\n";
        let green =
            " ✓ src/a.test.js (2 tests) 3ms\n\n Test Files  1 passed (1)\n      Tests  2 passed (2)\n";
        check(("npx vitest run", red), ("npx vitest run src/a.test.js", green), true);
        check(("npx vitest run", red), ("npx vitest run src/b.test.js", green), false);
        for line in ["npm test", "npm run test:unit", "yarn test", "pnpm test"] {
            check((line, red), (&format!("{line} -- src/a.test.js"), green), true);
            check((line, red), (&format!("{line} -- src/b.test.js"), green), false);
            check((line, red), (&format!("{line} -- src/a.test.js -t a"), green), false);
            check((line, red), (&format!("{line} -- src/a.test.js --config x"), green), false);
        }
        check(("yarn test", red), ("yarn test src/a.test.js", green), true);
        check(("pnpm test", red), ("pnpm run test src/a.test.js", green), true);
        check(("npm test", red), ("npm test src/b.test.js", green), false);
        check(("npm test", red), ("npm test -w a -- src/a.test.js", green), false);
    }
}
