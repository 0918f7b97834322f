//! The words of a command as its framework takes them.

use super::dialect::Dialect;

/// Short options that share a word, one by one: `-xvs` is `-x -v -s`, `-n4` is `-n 4`.
pub(super) fn unbundled(dialect: &Dialect, words: &[String]) -> Vec<String> {
    words.iter().flat_map(|word| parts(dialect, word).unwrap_or_else(|| vec![word.clone()])).collect()
}

/// `None` where it is no such word, or has a letter that means nothing here.
fn parts(dialect: &Dialect, word: &str) -> Option<Vec<String>> {
    let letters = word.strip_prefix('-').filter(|rest| rest.len() > 1 && !rest.starts_with('-'))?;
    let mut parts = Vec::new();
    for (at, letter) in letters.char_indices() {
        parts.push(format!("-{letter}"));
        if dialect.valued.contains(letter) {
            let value = letters[at + letter.len_utf8()..].trim_start_matches('=');
            parts.extend((!value.is_empty()).then(|| value.to_owned()));
            return Some(parts);
        }
        dialect.flags.contains(letter).then_some(())?;
    }
    Some(parts)
}

/// Whether an option is in a list, whose entries may ask for a value: `-p no:cacheprovider`, or with
/// a star for all that begin so.
pub(super) fn lists(list: &[&str], option: &str, value: Option<&str>) -> bool {
    list.iter().any(|entry| match entry.split_once(' ') {
        None => *entry == option,
        Some((name, asked)) => {
            let fits = |value: &str| match asked.strip_suffix('*') {
                Some(head) => value.starts_with(head),
                None => value == asked,
            };
            name == option && value.is_some_and(fits)
        }
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::evidence::{Changed, Gathered};
    use crate::model::{Event, ItemStatus, Timestamp};

    #[derive(Debug, PartialEq)]
    enum Left {
        /// Counts are known, and nothing fails.
        Green,
        /// No counts; one is told to fail, with its error.
        Red,
        /// No counts, and nothing that fails.
        Null,
        Other(String),
    }

    #[track_caller]
    fn left(commands: &[(&str, &str)]) -> Left {
        let mut gathered = Gathered::new(Path::new("/home/dev/shop"), Path::new("/home/dev/shop"));
        for (item, (command, text)) in commands.iter().enumerate() {
            let is_red = ["FAIL", "1 fail", "fail 1"].iter().any(|word| text.contains(word));
            let exit_code = Some(i64::from(is_red));
            let (item, command, status) = (item.to_string(), (*command).to_owned(), ItemStatus::Completed);
            let ended = Event::CommandEnded { item, command, exit_code, output_bytes: 0, status };
            gathered.note(&ended, Some(text), Timestamp::from_millis(0));
        }
        let (tests, errors) = gathered.finish(Changed::Unknown, None);
        let tests = tests.unwrap();
        match (tests.passed, tests.failed, tests.failed_tests.len(), errors.is_some()) {
            (Some(_), Some(0), 0, false) => Left::Green,
            (None, None, 1, true) => Left::Red,
            (None, None, 0, false) => Left::Null,
            other => Left::Other(format!("{other:?}")),
        }
    }

    /// What a framework prints where one of two tests fails, and where both pass.
    fn printed(framework: &str) -> (&'static str, &'static str) {
        match framework {
            "pytest" => (
                "==== short test summary info ====\nFAILED t/test_a.py::x - no\n1 failed, 1 passed in 0.1s\n",
                "2 passed in 0.1s\n",
            ),
            "cargo" => (
                "     Running unittests src/lib.rs (target/a-01)\n\nrunning 2 tests\ntest b ... ok\ntest a ... FAILED\n\nfailures:\n\n---- a stdout ----\n\nthread 'a' panicked at src/lib.rs:3:9:\nno\n\n\nfailures:\n    a\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n\nerror: test failed, to rerun pass `--lib`\n",
                "     Running unittests src/lib.rs (target/a-01)\n\nrunning 2 tests\ntest b ... ok\ntest a ... ok\n\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n",
            ),
            "go" => (
                "--- FAIL: TestA (0.00s)\n    a_test.go:6: no\nFAIL\nFAIL\texample.com/x\t0.002s\nFAIL\n",
                "ok  \texample.com/x\t0.002s\n",
            ),
            "jest" => (
                "FAIL src/m.test.js\n  ● m\n\n    expect(received).toBe(expected) // Object.is equality\n\n      at Object.toBe (src/m.test.js:1:42)\n\nTest Suites: 1 failed, 1 total\nTests:       1 failed, 1 passed, 2 total\n",
                "PASS src/m.test.js\n\nTest Suites: 1 passed, 1 total\nTests:       2 passed, 2 total\n",
            ),
            "vitest" => (
                " FAIL  src/a.test.js > b\nAssertionError: expected 1 to be 2\n ❯ src/a.test.js:1:90\n\n Test Files  1 failed (1)\n      Tests  1 failed | 1 passed (2)\n",
                " ✓ src/a.test.js (2 tests) 3ms\n\n Test Files  1 passed (1)\n      Tests  2 passed (2)\n",
            ),
            "mocha" => (
                "  1 passing (3ms)\n  1 failing\n\n  1) d\n       b:\n     Error: boom\n      at Context.<anonymous> (test/a.js:1:60)\n",
                "  2 passing (3ms)\n",
            ),
            _ => (
                "not ok 1 - x\nok 2 - y\n# tests 2\n# suites 0\n# pass 1\n# fail 1\n# cancelled 0\n# skipped 0\n# todo 0\n# duration_ms 1\n",
                "ok 1 - x\nok 2 - y\n# tests 2\n# suites 0\n# pass 2\n# fail 0\n# cancelled 0\n# skipped 0\n# todo 0\n# duration_ms 1\n",
            ),
        }
    }

    /// The same tests with these words and without, red before green.
    #[track_caller]
    fn check(framework: &str, line: &str, words: &[&str], after: &Left, before: &Left) {
        let (red, green) = printed(framework);
        for words in words {
            let with = format!("{line} {words}");
            assert_eq!(&left(&[(line, red), (&with, green)]), after, "`{line}`, `{with}`");
            assert_eq!(&left(&[(&with, red), (line, green)]), before, "`{with}`, `{line}`");
            assert_eq!(left(&[(&with, red), (&with, green)]), Left::Green, "`{with}` twice");
        }
    }

    #[test]
    fn how_tests_are_shown_changes_nothing() {
        let words = [
            "-x -v -s",
            "-xvs",
            "-sv",
            "-vx",
            "-vvl",
            "-rfE",
            "-rN",
            "-ra",
            "-qq",
            "-vvvv",
            "--show-capture=no -q",
            "--show-capture no",
            "--cache-clear",
            "-o log_cli=true",
            "-olog_cli=true",
            "--rootdir=.",
            "--nf",
            "--new-first",
            "--verbosity=2",
            "--setup-show",
            "--no-showlocals",
            "-p no:cacheprovider",
            "-pno:cacheprovider",
            "--tb=short",
            "--log-file=x.log",
            "--junit-xml=x.xml",
            "--basetemp=/tmp/x",
            "--log-cli-level=INFO",
        ];
        check("pytest", "pytest", &words, &Left::Green, &Left::Green);
        let words = ["-j4", "-vv", "-- --test-threads=4 --nocapture", "--no-fail-fast"];
        check("cargo", "cargo test", &words, &Left::Green, &Left::Green);
        check(
            "go",
            "go test ./...",
            &["-p 4", "-count=1", "-coverprofile=c.out"],
            &Left::Green,
            &Left::Green,
        );
        let words = [
            "-u",
            "--updateSnapshot",
            "--no-watchman",
            "--expand",
            "--reporters=default",
            "--logHeapUsage",
            "--noStackTrace",
            "--maxWorkers 2",
            "--coverageReporters=text",
            "--ci",
            "-i",
        ];
        check("jest", "npx jest", &words, &Left::Green, &Left::Green);
        let words = ["-u", "--update", "--bail 1", "--bail=1", "--no-file-parallelism", "--retry=2"];
        check("vitest", "npx vitest run", &words, &Left::Green, &Left::Green);
        let words =
            ["--retries 2", "--full-trace", "--no-timeouts", "--ui bdd", "--inline-diffs", "--slow 75"];
        check("mocha", "npx mocha", &words, &Left::Green, &Left::Green);
        let words = [
            "--test-concurrency=1",
            "--test-force-exit",
            "--enable-source-maps",
            "--no-warnings",
            "--experimental-vm-modules",
            "--test-update-snapshots",
        ];
        check("node", "node --test", &words, &Left::Green, &Left::Green);
    }

    #[test]
    fn what_failed_with_an_option_has_not_passed_without_it() {
        let words = [
            "-W error",
            "-Werror::UserWarning",
            "--strict-markers",
            "--strict",
            "--timeout=10",
            "--timeout 10",
            "-n 4",
            "-n4",
            "-p xdist",
            "--asyncio-mode=auto",
            "--cov-fail-under=90",
            "-xn4",
        ];
        check("pytest", "pytest", &words, &Left::Green, &Left::Red);
        check(
            "go",
            "go test ./...",
            &["-race", "-timeout 5s", "-timeout=5s", "-count=10", "-shuffle=on"],
            &Left::Green,
            &Left::Red,
        );
        check(
            "jest",
            "npx jest",
            &["--testTimeout=10", "--randomize", "--clearMocks"],
            &Left::Green,
            &Left::Red,
        );
        check("vitest", "npx vitest run", &["--testTimeout=10", "--pool=threads"], &Left::Green, &Left::Red);
        check(
            "mocha",
            "npx mocha",
            &["--timeout 10", "-t 10", "--forbid-only", "--check-leaks", "--parallel"],
            &Left::Green,
            &Left::Red,
        );
        check("node", "node --test", &["--test-timeout=10"], &Left::Green, &Left::Red);
        // What is in no list may choose tests.
        check("pytest", "pytest", &["--runslow", "--db=postgres", "-xZ", "-c x.ini"], &Left::Red, &Left::Red);
    }

    #[test]
    fn what_passes_with_an_option_that_eases_has_not_passed_without_it() {
        let words = ["-W ignore::DeprecationWarning", "-Wignore", "--reruns 2", "-p no:randomly"];
        check("pytest", "pytest", &words, &Left::Red, &Left::Green);
        check("cargo", "cargo test", &["-- --test-threads=1 --nocapture"], &Left::Red, &Left::Green);
        // These may let it fail as well.
        let words = ["--release", "-r", "--profile bench", "--profile=bench"];
        check("cargo", "cargo test", &words, &Left::Red, &Left::Red);
        check("pytest", "pytest", &["--import-mode=importlib"], &Left::Red, &Left::Red);
        // What fails with it as well does not fail of that.
        let (red, green) = printed("cargo");
        let (with, without) = ("cargo test -- --test-threads=1", "cargo test");
        assert_eq!(left(&[(without, red), (with, red), (with, green)]), Left::Green);
        assert_eq!(left(&[(without, green), (with, green)]), Left::Green);
    }

    #[test]
    fn what_fails_without_an_option_as_well_does_not_fail_of_it() {
        let (red, green) = printed("cargo");
        let (with, without) = ("cargo test --release", "cargo test");
        assert_eq!(left(&[(with, red), (without, red), (without, green)]), Left::Green);
        assert_eq!(left(&[(with, green), (without, green)]), Left::Green);
        assert_eq!(left(&[(with, red), (without, green), (with, green)]), Left::Green);
        // Also where it was one of many that ran again, or where it is named.
        let one = &green.replace("2 tests\ntest b ... ok", "1 test").replace("2 passed", "1 passed");
        assert_eq!(left(&[(with, red), ("cargo test a", one)]), Left::Red);
        let (red, green) = printed("pytest");
        let one = "t/test_a.py::x PASSED [100%]\n\n==== 1 passed in 0.1s ====\n";
        assert_eq!(left(&[("pytest -W error", red), ("pytest -v t/test_a.py::x", one)]), Left::Red);
        assert_eq!(
            left(&[("pytest -q", red), ("pytest -xv t/test_a.py::x", one), ("pytest -q", green)]),
            Left::Green
        );
    }

    #[test]
    fn mocha_below_its_folder_runs_more_than_in_it() {
        let (red, green) = printed("mocha");
        assert_eq!(left(&[("mocha test/sub/b.js", red), ("mocha --recursive", green)]), Left::Green);
        assert_eq!(left(&[("mocha", red), ("mocha --recursive", green)]), Left::Green);
        assert_eq!(left(&[("mocha test/sub/b.js", red), ("mocha", green)]), Left::Red);
        assert_eq!(left(&[("mocha --recursive", red), ("mocha", green)]), Left::Red);
        let red = "  d\n    ✔ a\n    1) b\n\n  1 passing (3ms)\n  1 failing\n\n  1) d\n       b:\n     Error: boom\n      at Context.<anonymous> (test/a.js:1:60)\n";
        let named = "  d\n    ✔ b\n\n  1 passing (3ms)\n";
        assert_eq!(left(&[("mocha --recursive", red), ("mocha", named)]), Left::Null);
    }

    #[test]
    fn a_script_that_is_told_how_to_show_runs_the_same() {
        for (framework, words) in
            [("vitest", "-u"), ("jest", "-u"), ("jest", "--coverage --ci"), ("mocha", "--full-trace")]
        {
            let (red, green) = printed(framework);
            for line in ["npm test", "npm run test:unit", "pnpm test"] {
                let with = format!("{line} -- {words}");
                assert_eq!(left(&[(line, red), (&with, green)]), Left::Green, "{with}");
                assert_eq!(left(&[(&with, red), (line, green)]), Left::Green, "{with}");
            }
            assert_eq!(left(&[("npm test", red), ("npm test -- -g b", green)]), Left::Red);
            assert_eq!(
                left(&[("npm test -- --testTimeout=10 --timeout=10", red), ("npm test", green)]),
                Left::Red
            );
        }
    }
}
