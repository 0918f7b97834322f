//! What a script says that it runs, before it does: `npm` and its like show the line with a mark before it,
//! `make` and `just` as it is.

use super::scope::Scope;
use super::started::{Started, started};
use super::{Framework, TestRun};
use crate::evidence::lines::lines;
use crate::evidence::shell::Command;

/// A script that shows more before its tests is not followed.
const MOST_LINES: usize = 200;
const LONGEST_LINE: usize = 1000;
/// More are not kept in mind.
const MOST_SCRIPTS: usize = 32;

/// The tests that `script`, which was started in `directory`, says it runs; `None` where it says of none,
/// or of several.
pub(super) fn echoed(script: &str, directory: &str, framework: Framework, text: &str) -> Option<Scope> {
    let mut words = script.split_ascii_whitespace();
    let marks: &[&str] = match words.next()? {
        "npm" | "pnpm" | "bun" => &["> ", "$ "],
        "yarn" => &["$ "],
        "make" | "gmake" | "just" => &[""],
        _ => return None,
    };
    // It works elsewhere then.
    let leads = ["-C", "--prefix", "--cwd", "--dir", "-w", "-F", "-r", "-f", "-d"];
    let is_led =
        |word: &str| leads.contains(&word) || word.starts_with("--workspace") || word.starts_with("--filter");
    if words.any(is_led) || text.contains(": Entering directory ") {
        return None;
    }
    let mut found: Vec<Scope> = Vec::new();
    for line in lines(text).take(MOST_LINES).filter(|line| line.len() <= LONGEST_LINE) {
        let shown = marks.iter().find_map(|mark| line.strip_prefix(mark)).filter(|shown| names_one(shown));
        let Some(shown) = shown else { continue };
        let steps = Command::parse(shown).steps;
        let Some((kind, args, step)) = steps.iter().find_map(|step| match started(step) {
            Some(Started::Framework(kind, args)) => Some((kind, args, step)),
            Some(Started::Script | Started::Program) | None => None,
        }) else {
            continue;
        };
        // Where it goes, or what else it does, is another question.
        if steps.len() > 1 || kind != framework || !step.writes.is_empty() {
            return None;
        }
        let scope = Scope::new(kind, directory, &args).with_context(&step.context);
        if !found.contains(&scope) {
            found.push(scope);
        }
    }
    <[Scope; 1]>::try_from(found).ok().map(|[one]| one)
}

/// Whether a line may start a framework by its name.
fn names_one(line: &str) -> bool {
    const NAMES: [&str; 10] = [
        "pytest",
        "unittest",
        "jest",
        "vitest",
        "mocha",
        "--test",
        "cargo test",
        "cargo t ",
        "nextest",
        "go test",
    ];
    let is_program = line.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '/' | '_'));
    is_program && NAMES.iter().any(|name| line.contains(name))
}

/// What Python runs of a file that starts unittest at its end: the tests of that module.
pub(super) fn by_python(script: &str, directory: &str, framework: Framework) -> Option<Scope> {
    let mut words = script.split(' ');
    let module = words.next()?.strip_prefix("./")?.strip_suffix(".py")?.replace('/', ".");
    let is_all = words.all(|word| matches!(word, "-v" | "-q" | "-b" | "--verbose" | "--quiet"));
    (is_all && framework == Framework::Unittest).then(|| Scope::new(framework, directory, &[module]))
}

/// What scripts were seen to run, for when a pipe hides it.
#[derive(Debug, Default)]
pub(super) struct Scripts {
    /// Each by the directory that it was started in, and its words.
    list: Vec<((String, String), Scope)>,
}

impl Scripts {
    /// Fills in what the script of a run runs, or keeps it in mind.
    pub(super) fn meet(&mut self, run: &mut TestRun) {
        let Some(script) = run.scope.script().map(str::to_owned) else { return };
        let key = (run.scope.directory.clone(), script);
        let known = self.list.iter().position(|(of, _)| *of == key);
        match (run.scope.alias.as_deref().cloned(), known) {
            (Some(new), Some(at)) => self.list[at].1 = new,
            (Some(new), None) if self.list.len() < MOST_SCRIPTS => self.list.push((key, new)),
            (None, Some(at)) if run.scope.part == 0 && self.list[at].1.framework == run.framework => {
                run.scope.alias = Some(Box::new(self.list[at].1.clone()));
            }
            (Some(_) | None, _) => {}
        }
    }
}

impl Scope {
    /// Two runs as what they really ran, where one of them is a script that says so and the other is not
    /// the same script.
    pub(super) fn as_run<'a>(&'a self, other: &'a Self) -> Option<(&'a Self, &'a Self)> {
        let is_same_script = self.unclear == other.unclear && self.directory == other.directory;
        if is_same_script || self.is_of_any_framework() || other.is_of_any_framework() {
            return None;
        }
        match (self.alias.as_deref(), other.alias.as_deref()) {
            (Some(own), Some(others)) => Some((own, others)),
            (Some(own), None) if other.unclear.is_none() => Some((own, other)),
            (None, Some(others)) if self.unclear.is_none() => Some((self, others)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use crate::evidence::{Changed, Gathered};
    use crate::model::Timestamp;

    /// The tests that are left to fail, and whether an error is, after commands.
    fn left(commands: &[(&str, i64, &str)]) -> (usize, bool) {
        let mut gathered = Gathered::new(Path::new("/home/dev/shop"), Path::new("/home/dev/shop"));
        for (line, exit_code, text) in commands {
            gathered.note_only_command(line, Some(*exit_code), text, true, Timestamp::from_millis(0));
        }
        let (tests, errors) = gathered.finish(Changed::Unknown, None);
        (tests.unwrap().failed_tests.len(), errors.is_some())
    }

    #[track_caller]
    fn check(red: (&str, &str), green: (&str, &str), is_mended: bool) {
        let left = left(&[(red.0, 1, red.1), (green.0, 0, green.1)]);
        assert_eq!(left == (0, false), is_mended, "`{}` after `{}`: {left:?}", green.0, red.0);
    }

    #[test]
    fn a_file_of_tests_that_python_runs_is_its_module() {
        let red = "F.\n======================================================================\nFAIL: test_add (test_app.T.test_add)\n----------------------------------------------------------------------\nTraceback (most recent call last):\n  File \"/home/dev/shop/test_app.py\", line 5, in test_add\n    self.assertEqual(add(1, 2), 3)\nAssertionError: -1 != 3\n\n----------------------------------------------------------------------\nRan 2 tests in 0.002s\n\nFAILED (failures=1)\n";
        let green = "..\n----------------------------------------------------------------------\nRan 2 tests in 0.000s\n\nOK\n";
        let dir = tempfile::tempdir().unwrap();
        ["test_app.py", "test_b.py"].iter().for_each(|name| fs::write(dir.path().join(name), "").unwrap());
        for (line, is_mended) in [
            ("python3 test_app.py", true),
            ("python3 ./test_app.py -v 2>&1 | tail -n 40", true),
            ("python3 test_b.py", false),
            ("python3 test_app.py T.test_z", false),
        ] {
            let mut gathered = Gathered::new(dir.path(), dir.path());
            for (line, code, text) in [("python3 -m unittest discover", 1, red), (line, 0, green)] {
                gathered.note_only_command(line, Some(code), text, true, Timestamp::from_millis(0));
            }
            let (tests, errors) = gathered.finish(Changed::Unknown, None);
            let left = (tests.unwrap().failed_tests.len(), errors.is_some());
            assert_eq!(left == (0, false), is_mended, "{line}: {left:?}");
        }
    }

    const RED: &str = "FAIL ./a.test.js\n  ✕ a (2 ms)\n\n  ● a\n\n    expect(received).toBe(expected)\n\n      at Object.toBe (a.test.js:2:24)\n\nTest Suites: 1 failed, 1 passed, 2 total\nTests:       1 failed, 1 passed, 2 total\nTime:        0.4 s\n";
    const GREEN: &str = "PASS ./a.test.js\nPASS ./b.test.js\n\nTest Suites: 2 passed, 2 total\nTests:       2 passed, 2 total\nTime:        0.4 s\n";

    #[test]
    fn a_script_that_says_what_it_runs_is_that() {
        let npm = |line: &str, text: &str| format!("\n> shop@1.0.0 test\n> {line}\n\n{text}");
        let (red, green) = (npm("jest", RED), npm("jest", GREEN));
        check(("npm test", &red), ("npx jest", GREEN), true);
        check(("npx jest", RED), ("npm test", &green), true);
        check(("npm test", &red), ("npx jest --ci 2>&1 | tail -4", &GREEN[34..]), true);
        check(("yarn test", &format!("$ jest\n{RED}")), ("npx jest", GREEN), true);
        check(("npm run unit", &npm("jest", RED)), ("npm test", &green), true);
        check(("cd web && npm test", &red), ("cd web && npx jest", GREEN), true);
        // Another choice, another place, or what else it does is not known.
        check(("npm test", &red), ("npx jest b.test.js", GREEN), false);
        check(("npm test", &red), ("npm run unit", &npm("jest b.test.js", GREEN)), false);
        check(("cd web && npm test", &red), ("npx jest", GREEN), false);
        check(("npm --prefix web test", &red), ("npx jest", GREEN), false);
        check(("npm test -w web", &red), ("npx jest", GREEN), false);
        check(("npm test", &npm("jest && mocha", RED)), ("npx jest", GREEN), false);
        check(("npm test", &npm("cd web && jest", RED)), ("npx jest", GREEN), false);
        check(("npm test", RED), ("npx jest", GREEN), false);
    }

    #[test]
    fn a_file_that_could_not_run_does_not_fail_where_it_passes_alone() {
        let broken = "FAIL ./a.test.js\n  ● Test suite failed to run\n\n    Cannot find module './nope' from 'a.test.js'\n\nTest Suites: 1 failed, 1 passed, 2 total\nTests:       1 passed, 1 total\nTime:        0.4 s\n";
        let one = "PASS ./a.test.js\n\nTest Suites: 1 passed, 1 total\nTests:       1 passed, 1 total\nTime:        0.4 s\n";
        let names = |red, line, text| left(&[("npx jest", 1, red), (line, 0, text)]).0;
        assert_eq!(names(broken, "npx jest a.test.js", one), 0);
        assert_eq!(names(broken, "npx jest ./a.test.js", one), 0);
        assert_eq!(names(broken, "npx jest b.test.js", one), 1);
        assert_eq!(names(broken, "npx jest a", one), 1);
        let skips = one.replace("Tests:       1 passed", "Tests:       1 skipped");
        assert_eq!(names(RED, "npx jest a.test.js", &skips), 1);
    }

    #[test]
    fn what_a_script_was_seen_to_run_is_known_where_a_pipe_hides_it() {
        let whole = format!("\n> shop@1.0.0 test\n> jest\n\n{RED}");
        let hidden = ("npm test 2>&1 | tail -40", 0, RED);
        let green = ("npx jest", 0, GREEN);
        assert_eq!(left(&[("npm test", 1, &whole), hidden, green]), (0, false));
        assert_eq!(left(&[hidden, green]), (1, true));
    }

    #[test]
    fn make_shows_what_it_runs() {
        let red = "F.\n=========== short test summary info ============\nFAILED test_a.py::x - assert 1 == 2\n1 failed, 1 passed in 0.02s\n";
        let green = "2 passed in 0.01s\n";
        let make = |line: &str, text: &str| format!("{line}\n{text}");
        let failed = make("pytest -q", red) + "make: *** [Makefile:2: test] Error 1\n";
        check(("make test", &failed), ("pytest", green), true);
        check(("make test", &failed), ("python -m pytest -v", green), true);
        check(("pytest -q", red), ("make test", &make("pytest -q", green)), true);
        check(("make check", &failed), ("make test", &make("python -m pytest", green)), true);
        check(("make test", &failed), ("pytest -q test_b.py", green), false);
        check(("make test", &make("cd api && pytest -q", red)), ("pytest", green), false);
        let inner = format!("make[1]: Entering directory '/home/dev/shop/api'\n{failed}");
        check(("make test", &inner), ("pytest", green), false);
        check(("make -C api test", &failed), ("cd api && pytest", green), true);
        check(("make -C api test", &failed), ("cd web && pytest", green), false);
    }

    #[test]
    fn cargo_and_nextest_run_the_same_tests() {
        let cargo = |verdict: &str, counts: &str, end: &str| {
            format!(
                "     Running unittests src/lib.rs (target/debug/deps/shop-01)\n\nrunning 2 tests\ntest tests::a ... {verdict}\ntest tests::b ... ok\n\n{end}test result: {counts}; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n"
            )
        };
        let red = cargo("FAILED", "FAILED. 1 passed; 1 failed", "failures:\n    tests::a\n\n");
        let red = format!("{red}\nerror: test failed, to rerun pass `--lib`\n");
        let green = cargo("ok", "ok. 2 passed; 0 failed", "");
        let nextest = "     Summary [   0.011s] 2 tests run: 2 passed, 0 skipped\n";
        let broken = "        FAIL [   0.009s] (1/2) shop tests::a\n     Summary [   0.011s] 2 tests run: 1 passed, 1 failed, 0 skipped\n        FAIL [   0.009s] (1/2) shop tests::a\nerror: test run failed\n";
        check(("cargo test", &red), ("cargo nextest run", nextest), true);
        check(("cargo nextest run", broken), ("cargo test", &green), true);
        check(("cargo test --lib", &red), ("cargo nextest run --workspace", nextest), true);
        check(("cargo test --all-targets", &red), ("cargo test", &green), true);
        check(("cargo test", &red), ("cargo nextest run tests::b", nextest), false);
        check(("cargo test", &red), ("cargo nextest run --test t", nextest), false);
        let skips = nextest.replace("2 passed, 0 skipped", "2 passed, 1 skipped");
        check(("cargo test", &red), ("cargo nextest run", &skips), false);
        // An example of the documentation.
        let example = red.replace("tests::a", "src/lib.rs - f (line 3)").replace("--lib", "--doc");
        assert_eq!(left(&[("cargo test", 101, &example), ("cargo nextest run", 0, nextest)]).0, 1);
    }
}
