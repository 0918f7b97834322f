//! Command lines that look like a success of something, and whether they are one: what failed is told
//! until a line that is understood as a whole shows that it is mended.

use std::path::Path;

use super::{Changed, Gathered};
use crate::model::{Event, ItemStatus, Timestamp};

/// The tests that are told to fail after commands with their exit codes, and whether an error is told.
pub(super) fn left(commands: &[(&str, i64, &str)]) -> (Vec<String>, bool) {
    let mut gathered = Gathered::new(Path::new("/home/dev/shop"), Path::new("/home/dev/shop"));
    for (item, (command, exit_code, text)) in commands.iter().enumerate() {
        let (item, command, exit_code) = (item.to_string(), (*command).to_owned(), Some(*exit_code));
        let status = ItemStatus::Completed;
        let ended = Event::CommandEnded { item, command, exit_code, output_bytes: 0, status };
        gathered.note(&ended, Some(text), Timestamp::from_millis(0));
    }
    let (tests, errors) = gathered.finish(Changed::Unknown, None);
    (tests.map(|tests| tests.failed_tests).unwrap_or_default(), errors.is_some())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    Told,
    Mended,
}

use Then::{Mended, Told};

pub(super) const TRACE: &str = "Traceback (most recent call last):\n  File \"app.py\", line 1, in <module>\nZeroDivisionError: division by zero\n";
pub(super) const PYTEST: &str = "F.                                     [100%]\n=========== FAILURES ===========\n___________ test_x ___________\n\n    def test_x():\n>       assert X == 2\nE       assert 1 == 2\n\ntest_a.py:2: AssertionError\n=========== short test summary info ===========\nFAILED test_a.py::test_x - assert 1 == 2\n1 failed, 1 passed in 0.02s\n";
const AGAIN: &str = "F                                      [100%]\n=========== FAILURES ===========\n___________ test_x ___________\n\n    def test_x():\n>       assert X == 2\nE       assert 1 == 2\n\ntest_a.py:2: AssertionError\n=========== short test summary info ===========\nFAILED test_a.py::test_x - assert 1 == 2\n1 failed in 0.02s\n";
pub(super) const PASSED: &str = "..                                     [100%]\n2 passed in 0.01s\n";

/// A failure that no word tells of: only an exit code shows that it is mended.
const QUIET: &str = "step 3 went wrong\n";

/// `app.py` failed, and then a line ended with 0 and printed this.
#[track_caller]
fn after_app(rows: &[(&str, &str, Then)]) {
    after("python3 app.py", TRACE, rows);
}

#[track_caller]
pub(super) fn after(red: &str, text: &str, rows: &[(&str, &str, Then)]) {
    let found: Vec<(&str, &str, Then)> = rows
        .iter()
        .map(|(line, printed, _)| {
            let has_error = left(&[(red, 1, text), (line, 0, printed)]).1;
            (*line, *printed, if has_error { Told } else { Mended })
        })
        .collect();
    let wrong: Vec<_> = found.iter().zip(rows).filter(|(found, row)| found != row).collect();
    assert!(left(&[(red, 1, text)]).1, "{red} is not told at all");
    assert!(wrong.is_empty(), "after {red}: {wrong:#?}");
}

/// The same line twice: red with 1 and what it printed, then with 0.
#[track_caller]
fn again(rows: &[(&str, &str, &str, Then)]) {
    let mut wrong = Vec::new();
    for (line, red, green, then) in rows {
        let (failing, has_error) = left(&[(line, 1, red)]);
        if !has_error {
            wrong.push(format!("`{line}` is not told: {failing:?}"));
        }
        if red.contains("FAILED ") && failing.is_empty() {
            wrong.push(format!("of `{line}` no test is told to fail"));
        }
        let (failing, has_error) = left(&[(line, 1, red), (line, 0, green)]);
        let found = (failing.is_empty(), has_error);
        if found != (*then == Mended || !red.contains("FAILED "), *then == Told) {
            wrong.push(format!("`{line}` should be {then:?}: {failing:?}, {has_error}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_stands_before_a_pipe_has_no_exit_code() {
    let rows = [
        ("(python3 app.py && echo OK) | tail", "", Told),
        ("(python3 app.py && echo OK) | tail -3", "done\n", Told),
        ("{ python3 app.py && echo OK; } | tail", "", Told),
        ("{ python3 app.py; echo OK; } | tail", "OK\n", Told),
        ("(python3 app.py; ls) | cat", "src\n", Told),
        ("((python3 app.py) && ls) | cat", "", Told),
        ("bash -c 'python3 app.py && echo OK' | tail", "", Told),
        ("{ { python3 app.py && ls; } && ls; } 2>&1 | tee log", "", Told),
        ("(python3 app.py && make) | tail && echo OK", "OK\n", Told),
        ("cd . && (python3 app.py && make) | tail", "", Told),
        ("(python3 app.py || true) | tail", "", Told),
        ("(true || python3 app.py) | tail", "", Told),
        ("(python3 app.py) 2>/dev/null | tail", "", Told),
        ("{ python3 app.py; } >/dev/null 2>&1 | tail", "", Told),
        ("(python3 app.py && echo OK) | wc -l", "1\n", Told),
        ("python3 app.py >&/dev/null | tail", "", Told),
        ("(make && python3 app.py) | tail", "", Told),
    ];
    after("python3 app.py", QUIET, &rows);
    after_app(&[
        ("(python3 app.py && echo OK) | tail", "", Told),
        ("{ python3 app.py; echo OK; } | tail", "OK\n", Mended),
        ("{ python3 app.py; echo OK; } 2>&1 | tail -3", TRACE, Told),
        ("(python3 app.py; ls) | cat", "src\n", Mended),
        ("(make && python3 app.py) 2>&1 | tail", "fine\n", Mended),
        ("(make && python3 app.py) 2>&1 | tail", "make: *** [Makefile:2: all] Error 1\n", Told),
        ("(grep -q x a && python3 app.py) 2>&1 | tail", "", Told),
        ("(python3 app.py; ls) | wc -l", "3\n", Told),
        // As it would be without the brackets.
        ("(python3 app.py) | tail", "fine\n", Mended),
        ("{ python3 app.py; } 2>&1 | tail", "fine\n", Mended),
        ("(cd . && python3 app.py 2>&1) | tail -3", "fine\n", Mended),
        ("(python3 app.py && echo OK)", "OK\n", Mended),
        ("(python3 app.py | cat) && echo OK", "fine\nOK\n", Mended),
        ("{ python3 app.py && echo OK; } && ls | tail", "OK\nsrc\n", Mended),
        ("set -o pipefail; (python3 app.py && echo OK) | tail", "OK\n", Mended),
        ("set -o pipefail; { python3 app.py && echo OK; } | tail", "OK\n", Mended),
    ]);
    after(
        "pytest -q",
        PYTEST,
        &[
            ("(pytest -q && echo OK) | tail -1", "", Told),
            ("{ pytest -q; echo done; } | tail -1", "done\n", Told),
            ("(cd . && pytest -q) | tail -5", PASSED, Mended),
            ("(echo start && pytest -q 2>&1) | tail -5", PASSED, Mended),
        ],
    );
}

#[test]
fn another_input_is_another_command() {
    let in_module = TRACE.replace("app.py", "m.py");
    after(
        "python3 - <<'E'\nfrom m import f\nprint(f())\nE",
        &in_module,
        &[
            ("python3 - <<'E'\nimport m\nprint(m.f())\nE", "1\n", Mended),
            ("python3 -c 'import m; print(m.f())'", "1\n", Mended),
            ("python3 -c 'import m as n; print( n.f() )'; ls", "1\n", Mended),
            ("python3 - <<'E'\nimport os, m\nx = 1\nprint(m.f())\nprint(x)\nE", "1\n1\n", Mended),
            ("python3 -c 'import m; print(m.f(2))'", "1\n", Told),
            ("python3 -c 'import m; print(m.g())'", "1\n", Told),
            ("python3 -c 'import n; print(n.f())'", "1\n", Told),
            ("python3 -c 'import m'", "", Told),
            ("python3 - <<'E'\nimport m\ntry:\n    print(m.f())\nexcept Exception: pass\nE", "", Told),
            ("python3 - <<'E'\nimport m, sys\nsys.exit(0)\nprint(m.f())\nE", "", Told),
            ("python3 - <<'E'\nimport m\n# print(m.f())\nE", "", Told),
            ("python3 - <<'E'\nimport m\nx = 'print(m.f())'\nE", "", Told),
        ],
    );
    after(
        "python3 - <<'E'\nimport nope\nE",
        TRACE,
        &[
            ("python3 - <<'E'\nimport os\nE", "", Told),
            ("python3 - <<'E'\nimport nope\nimport os\nE", "", Mended),
            ("python3 - <<'E'\ntry:\n    import nope\nexcept ImportError:\n    pass\nE", "", Told),
            ("python3 - <<'E'\nprint('import nope')\nE", "", Told),
            ("python3 -c 'import nope'", "", Mended),
            ("python3 -c 'import nope; print(nope.x)'", "", Mended),
            ("python3 -c '# import nope'", "", Told),
            ("cd web && python3 -c 'import nope'", "", Told),
            ("node -e 'import nope'", "", Told),
            ("python3 - < app.py", "", Told),
            ("python3 - <<< 'import nope'", "", Told),
            ("python3 -", "", Told),
            ("cat app.py | python3 -", "", Told),
            ("cd . && python3 - <<'X'\nimport os\nX", "", Told),
            ("python3 - <<'E'\nimport nope\nE", "", Mended),
            ("cd . && python3 - <<'E'\nimport nope\nE", "", Mended),
            ("python3 - <<'X'\nimport nope\nX", "", Mended),
            ("python3 - <<'E' && echo OK\nimport nope\nE", "OK\n", Mended),
            ("python3 - <<'E'\nimport nope\nE\necho OK", "OK\n", Mended),
        ],
    );
    let said = "psql: error: no table\n";
    after(
        "psql < a.sql",
        said,
        &[
            ("psql < b.sql", "", Told),
            ("psql <b.sql", "", Told),
            ("psql", "", Told),
            ("cat b.sql | psql", "", Told),
            ("(psql) < b.sql", "", Told),
            ("{ psql; } < b.sql", "", Told),
            ("bash -c 'psql' < b.sql", "", Told),
            ("bash -c 'psql < b.sql'", "", Told),
            ("psql 0< b.sql", "", Told),
            ("psql < a.sql", "", Mended),
            ("psql <a.sql", "", Mended),
            ("psql < a.sql 3<&1", "", Told),
            ("psql <&3", "", Told),
            ("psql 0<a.sql", "", Mended),
            ("(psql) < a.sql", "", Mended),
            ("bash -c 'psql < a.sql'", "", Mended),
            ("psql < a.sql && psql < b.sql", "", Mended),
        ],
    );
    after(
        "psql -f x <<< 'select 1'",
        said,
        &[
            ("psql -f x <<< 'select 2'", "", Told),
            ("psql -f x", "", Told),
            ("psql -f x <<< 'select 1'", "", Mended),
            ("psql -f x <<<'select 1'", "", Mended),
        ],
    );
    after(
        "echo 'select 1' | psql",
        said,
        &[
            ("echo 'select 2' | psql", "", Told),
            ("psql", "", Told),
            ("cat a.sql | psql", "", Told),
            ("(echo 'select 2'; echo x) | psql", "", Told),
            ("echo x; echo 'select 1' | psql", "x\n", Mended),
            ("echo 'select 1' | psql", "", Mended),
        ],
    );
    after(
        "echo 1 | cargo run",
        "thread 'main' panicked at src/main.rs:4:5:\nno settings\n",
        &[
            ("echo 2 | cargo run", "", Told),
            ("cargo run < b", "", Told),
            ("cargo run", "", Told),
            ("echo 1 | cargo run", "", Mended),
        ],
    );
    after(
        "echo test_a.py | xargs pytest -q",
        PYTEST,
        &[
            ("echo test_b.py | xargs pytest -q", "1 passed in 0.01s\n", Told),
            ("echo test_a.py | xargs pytest -q", PASSED, Mended),
        ],
    );
    after(
        "for f in test_a.py; do pytest -q $f; done",
        PYTEST,
        &[
            ("for f in test_b.py; do pytest -q $f; done", "1 passed in 0.01s\n", Told),
            ("for f in test_a.py; do pytest -q $f; done", PASSED, Mended),
        ],
    );
    after(
        "sh run-tests.sh < a",
        PYTEST,
        &[("sh run-tests.sh < b", PASSED, Told), ("sh run-tests.sh < a", PASSED, Mended)],
    );
}

#[test]
fn an_assignment_is_a_command_with_an_exit_code() {
    let rows = [
        ("python3 app.py; V=$(ls) && echo done", "done\n", Told),
        ("python3 app.py; V=1 && echo done", "done\n", Told),
        ("python3 app.py; V=`ls` && echo done", "done\n", Told),
        ("python3 app.py; V=1", "", Told),
        ("python3 app.py; A=1 B=2", "", Told),
        ("python3 app.py\nV=$(ls) && ls", "src\n", Told),
        ("python3 app.py; PATH=$PATH:x && ls", "src\n", Told),
        ("python3 app.py; > log && echo done", "done\n", Told),
        ("python3 app.py || V=1 && echo done", "done\n", Told),
        ("python3 app.py |& V=1", "", Told),
        ("python3 app.py; V=$(ls); echo \"exit $?\"", "exit 0\n", Told),
        ("python3 app.py; V=1 && echo OK || echo NO", "OK\n", Told),
        ("V=$(python3 app.py) && echo OK || echo NO", "OK\n", Mended),
        ("V=1; python3 app.py", "", Told),
        ("PATH=$PATH:x; python3 app.py", "", Mended),
        ("PATH=$PATH:x && python3 app.py", "", Mended),
        ("python3 app.py && V=$(ls)", "", Mended),
        ("python3 app.py && V=$(ls) && echo done", "done\n", Mended),
        ("python3 app.py; echo \"exit $?\"; V=1", "exit 0\n", Mended),
    ];
    after("python3 app.py", QUIET, &rows);
    // What would be heard to fail was not, and ran whatever the exit code is of.
    after_app(&[
        ("python3 app.py; V=1 && echo done", "done\n", Mended),
        ("python3 app.py; V=1 && echo done", "", Told),
        ("python3 app.py; V=1 && echo done", TRACE, Told),
        ("python3 app.py; git diff --stat", " a.py | 2 +-\n 1 file changed\n", Mended),
        ("python3 app.py; git diff --stat", "ModuleNotFoundError: No module named 'x'\n", Told),
        ("git status --short && python3 app.py; ls", "app.py\n", Mended),
        ("git status --short && python3 app.py; ls", "fatal: not a git repository\napp.py\n", Told),
        ("grep -q x a && python3 app.py; ls", "app.py\n", Told),
        ("test -f a && { ls; python3 app.py; }; ls", "app.py\n", Told),
        ("sed -i s/a/b/ app.py && python3 app.py || true", "fine\n", Mended),
        ("sed -i s/a/b/ app.py && python3 app.py > log 2>&1; tail -30 log", "fine\n", Mended),
        ("python3 app.py > log 2>&1; tail -30 log", TRACE, Told),
        ("python3 app.py > log 2>&1; ls", "log\n", Told),
        ("python3 app.py 2>/dev/null; ls", "log\n", Told),
        ("python3 app.py | wc -l; ls", "3\nlog\n", Told),
        ("timeout 5 python3 app.py; ls", "log\n", Told),
        ("python3 app.py & ls", "log\n", Told),
        ("for i in 1 2; do python3 app.py; done", "fine\nfine\n", Mended),
        ("for i in 1 2; do python3 app.py; echo $i; done", "1\n2\n", Mended),
        ("for i in 1 2; do python3 app.py; done", TRACE, Told),
        ("for i in 1 2; do python3 app.py; done >/dev/null 2>&1; true", "", Told),
        ("for i in 1; do python3 app.py; echo $i; done > log 2>&1; ls", "log\n", Told),
        ("if true; then python3 app.py; fi &>/dev/null; echo ok", "ok\n", Told),
        ("python3 app.py 2>&-; echo ok", "ok\n", Told),
        ("cd /home/dev/shop 2>/dev/null && python3 app.py; true", "", Told),
        ("python3 app.py >&- 2>&-; echo ok", "ok\n", Told),
        ("for i in 1 2; do python3 app.py $i; done", "fine\nfine\n", Told),
        ("for i in $(ls); do python3 app.py; done", "", Told),
        ("for i in a b; do cd $i; python3 app.py; cd ..; done", "", Told),
        ("while read i; do python3 app.py; done < a", "", Told),
        ("for i in 1 2; do test -f $i && python3 app.py; done", "", Told),
        (
            "out=$(python3 app.py 2>&1); rc=$?; echo \"$out\" | tail -20; echo \"rc=$rc\"; exit $rc",
            "fine\nrc=0\n",
            Mended,
        ),
        ("out=$(python3 app.py 2>&1); echo \"$out\"", "fine\n", Mended),
        ("out=$(python3 app.py 2>&1); echo \"$out\"", TRACE, Told),
        ("out=$(python3 app.py 2>&1); echo done", "done\n", Told),
        ("START=$(date +%s); python3 app.py; echo took $(( $(date +%s) - START ))s", "took 1s\n", Mended),
        ("START=1; python3 app.py", "", Told),
        ("git status --short; python3 app.py; git diff --stat", "", Mended),
        ("python3 app.py > log 2>&1; rc=$?; ls; exit $rc", "log\n", Mended),
        ("python3 app.py | wc -l; exit ${PIPESTATUS[0]}", "3\n", Mended),
        ("python3 app.py | wc -l; exit $?", "3\n", Told),
        ("python3 app.py > log 2>&1; ls; exit $?", "log\n", Told),
        ("if ! python3 app.py; then echo broken; exit 1; fi", "", Mended),
        ("if ! python3 app.py; then echo broken; exit 1; fi", "broken\n", Told),
        ("if ! python3 app.py; then true; fi", "", Told),
        ("if python3 app.py; then echo fine; else echo broken; fi", "", Told),
        ("if python3 app.py && ./b; then echo fine; else echo broken; fi", "fine\n", Mended),
        ("if python3 app.py && ./b; then echo fine; else echo broken; fi", "broken\n", Told),
        ("if python3 app.py || ./b; then echo fine; else echo broken; fi", "fine\n", Told),
        ("if ./b && python3 app.py; then echo fine; else echo broken; fi", "fine\n", Mended),
        ("python3 app.py; if ./b; then echo fine; else echo broken; fi", "fine\n", Told),
        ("out=$(python3 app.py); echo done", "done\n", Mended),
        ("out=$(python3 app.py 2>&1) || { echo \"$out\"; exit 1; }", "", Mended),
        ("out=$(python3 app.py 2>&1) || { echo \"$out\"; true; }", TRACE, Told),
    ]);
}

#[test]
fn what_an_assignment_runs_is_not_mended_by_what_follows_it() {
    again(&[
        ("V=$(python3 app.py); ./check", TRACE, TRACE, Told),
        ("V=$(python3 app.py) | ./check", TRACE, TRACE, Told),
        ("V=`python3 app.py`; ./check", TRACE, TRACE, Told),
        ("V=$(python3 app.py); ./check", TRACE, "", Mended),
        ("V=$(python3 app.py) && ./check", TRACE, "", Mended),
        ("V=$(python3 app.py)", TRACE, "", Mended),
    ]);
    after("V=$(python3 app.py)", TRACE, &[("V=$(python3 b.py)", "", Told), ("V=1", "", Told)]);
    // What only looks has no part in it.
    for before in ["S=$(date +%s); ", "D=$(mktemp -d); ", "R=$(git rev-parse HEAD); "] {
        let red = format!("{before}cargo build");
        after(&red, "error: no\n", &[(&format!("ls; {before}cargo build"), "", Mended)]);
    }
}

#[test]
fn what_a_variable_holds_is_what_its_program_printed() {
    for line in [
        "out=$(pytest -q 2>&1); echo \"$out\" | tail -20",
        "out=$(pytest -q 2>&1); rc=$?; echo \"$out\"; exit $rc",
        "out=\"$(pytest -q 2>&1)\"; printf '%s\\n' \"$out\"",
        "out=`pytest -q 2>&1` || true; echo \"${out}\"",
        "echo \"$(pytest -q 2>&1 | tail -20)\"",
        "out=$(pytest -q 2>&1); tail -20 <<< \"$out\"",
        "export out=$(pytest -q 2>&1); echo \"$out\"",
    ] {
        let red = left(&[(line, 0, PYTEST)]);
        assert_eq!(red, (vec!["test_a.py::test_x".to_owned()], true), "{line}");
        let plain = left(&[(line, 0, PYTEST), ("pytest -q", 0, PASSED)]);
        assert_eq!(plain, (Vec::new(), false), "{line}");
        for before in [(line, 0, PYTEST), ("pytest -q", 1, PYTEST)] {
            assert_eq!(left(&[before, (line, 0, PASSED)]), (Vec::new(), false), "{line}");
        }
    }
    // Nothing is known of what nobody shows, nor of what another variable holds.
    let rows = [
        ("out=$(pytest -q 2>&1); echo done", "done\n"),
        ("old=$(cat a.log); out=$(pytest -q 2>&1); echo \"$old\"", PASSED),
    ];
    for (line, text) in rows {
        let found = left(&[("pytest -q", 1, PYTEST), (line, 0, text)]);
        assert_eq!(found, (vec!["test_a.py::test_x".to_owned()], true), "{line}");
    }
    // It ends with 0 whatever the tests came to.
    assert!(left(&[("pytest -q", 1, PYTEST), ("export out=$(pytest -q 2>&1) && echo ok", 0, "ok\n")]).1);
    let hidden = "out=$(pytest -q 2>&1 | tail -1); echo \"${PIPESTATUS[0]}\"";
    assert!(left(&[("pytest -q", 1, PYTEST), (hidden, 0, "0\n")]).1);
}

#[test]
fn tests_that_only_the_command_tells_of_passed_or_failed() {
    let both = |command: &str| format!("{command} >/dev/null 2>&1 && echo yes || echo no");
    let one = vec!["test_a.py::test_x".to_owned()];
    let node = "TAP version 13\nnot ok 1 - adds\n1..1\n# tests 1\n# suites 0\n# pass 0\n# fail 1\n# cancelled 0\n# skipped 0\n# todo 0\n# duration_ms 5.1\n";
    for (command, red, name) in [("pytest -q", PYTEST, one[0].as_str()), ("npm test", node, "adds")] {
        let (line, red) = (both(command), (command, 1, red));
        assert_eq!(left(&[red, (&line, 0, "yes\n")]), (Vec::new(), false), "{line}");
        assert_eq!(left(&[red, (&line, 0, "no\n")]), (vec![name.to_owned()], true), "{line}");
        assert_eq!(left(&[(&line, 0, "no\n"), (&line, 0, "yes\n")]), (Vec::new(), false), "{line}");
        assert!(left(&[(&line, 0, "no\n")]).1, "{line}");
        let asked = format!("if {command} >/dev/null 2>&1; then echo green; else echo red; fi");
        assert_eq!(left(&[red, (&asked, 0, "green\n")]), (Vec::new(), false), "{asked}");
        assert_eq!(left(&[red, (&asked, 0, "red\n")]), (vec![name.to_owned()], true), "{asked}");
        let code = format!("{command} >/dev/null 2>&1; echo $?");
        assert_eq!(left(&[red, (&code, 0, "0\n")]), (Vec::new(), false), "{code}");
        assert_eq!(left(&[red, (&code, 0, "1\n")]), (vec![name.to_owned()], true), "{code}");
    }
    // Others than those that failed.
    for line in [both("pytest -q test_b.py"), both("cd web && pytest -q")] {
        assert_eq!(left(&[("pytest -q", 1, PYTEST), (&line, 0, "yes\n")]), (one.clone(), true), "{line}");
    }
}

#[test]
fn a_loop_does_for_each_word_what_is_done_without_it() {
    let broken = "  File \"b.py\", line 1\n    def f(:\n          ^\nSyntaxError: invalid syntax\n";
    let greens = [
        "python3 -m py_compile a.py b.py",
        "python3 -m py_compile a.py && python3 -m py_compile b.py",
        "for f in a.py b.py; do python3 -m py_compile $f; done",
        "for x in b.py c.py a.py; do python3 -m py_compile \"${x}\"; done",
        "for f in *.py; do python3 -m py_compile \"$f\"; done",
        "ls *.py | xargs -n1 python3 -m py_compile",
        "echo a.py b.py | xargs python3 -m py_compile",
        "find . -name '*.py' -exec python3 -m py_compile {} +",
        "python3 -m py_compile *.py",
        "python3 -m compileall -q .",
    ];
    let rows: Vec<(&str, &str, Then)> = greens.iter().map(|line| (*line, "", Mended)).collect();
    for red in &greens[..4] {
        after(red, broken, &rows[..if red.contains("c.py") { 0 } else { greens.len() }]);
        after(
            red,
            broken,
            &[
                ("python3 -m py_compile a.py", "", Told),
                ("for f in a.py; do python3 -m py_compile $f; done", "", Told),
                ("for f in a.py b.js; do python3 -m py_compile $f; done", "", Told),
                ("for f in a.py b.py; do python3 -m py_compile x$f; done", "", Told),
                ("for f in a.py b.py; do test -f $f && python3 -m py_compile $f; done", "", Told),
                ("for f in src/*.py; do python3 -m py_compile $f; done", "", Told),
                ("for f in a.py b.py; do python3 -m py_compile $f; done", broken, Told),
                ("for f in a.py b.py; do python3 -m py_compile $f 2>/dev/null; done", "", Told),
                ("find src -name '*.py' -exec python3 -m py_compile {} +", "", Told),
                ("find . -name 'a*.py' -exec python3 -m py_compile {} +", "", Told),
            ],
        );
    }
}

#[test]
fn a_loop_over_fewer_places_leaves_the_others() {
    let broken =
        "gcc -o main main.c\nmain.c:2:5: error: 'y' undeclared\nmake: *** [Makefile:2: all] Error 1\n";
    for body in [
        "(cd $d && make)",
        "make -C $d || echo \"fail $d\"",
        "make -C \"$d\" || exit 1",
        "make -C $d",
        "cd $d; make; cd ..",
        "pushd $d; make; popd",
        "bash -c \"cd $d && make\"",
        "npm --prefix $d run build",
        "(cd $d && npm run build)",
    ] {
        let over = |places: &str| format!("for d in {places}; do {body}; done");
        for (all, some) in [("a b", "b"), ("a b", "b c"), ("a b c", "b c"), ("*/", "b/ c/"), ("*/", "[bc]/")]
        {
            let rows = [(over(all), Mended), (over(some), Told)];
            let rows: Vec<_> = rows.iter().map(|(line, then)| (line.as_str(), "fine\n", *then)).collect();
            after(&over(all), broken, &rows);
        }
    }
}

#[test]
fn code_with_a_slip_is_mended_by_the_next_try() {
    let slip = "Traceback (most recent call last):\n  File \"<stdin>\", line 2, in <module>\nNameError: name 'mm' is not defined\n";
    let red = "python3 - <<'E'\nimport m\nprint(mm.f())\nE";
    after(
        red,
        slip,
        &[
            ("python3 - <<'E'\nimport m\nprint(m.f())\nE", "1\n", Mended),
            ("python3 -c 'import m; print(m.f())'", "1\n", Mended),
            ("python3 -c 'import n; print(n.f())'", "1\n", Told),
            ("cd web && python3 -c 'import m; print(m.f())'", "1\n", Told),
            ("python3 m.py", "1\n", Told),
        ],
    );
    // It is not the code.
    let other = slip.replace("NameError", "KeyError");
    after(red, &other, &[("python3 -c 'import m; print(m.f())'", "1\n", Told)]);
    let inside = slip.replace("NameError", "  File \"m.py\", line 3, in f\nNameError");
    after(red, &inside, &[("python3 -c 'import m; print(m.f())'", "1\n", Told)]);
}

#[test]
fn what_only_looks_is_not_to_be_done_again() {
    for red in [
        "git status --short; python3 app.py",
        "python3 app.py; git status --short",
        "for i in 1 2; do python3 app.py && break; done",
        "trap - INT; python3 app.py",
    ] {
        after(red, TRACE, &[("python3 app.py", "", Mended), ("python3 b.py", "", Told)]);
    }
    // A number that is told is no word of failure.
    let oops = "Oops! It went wrong :(\nS=2\n";
    let red = "OUT=`npx eslint . 2>&1`; S=$?; printf \"%s\\n\" \"$OUT\"; echo \"S=$S\"";
    let (is_told, is_left) = (
        left(&[(red, 0, oops)]).1,
        left(&[(red, 0, oops), ("(npx eslint .) 2>&1 | tail", 0, "Oops! It went wrong :(\n")]).1,
    );
    assert!(is_told && is_left);
    assert!(!left(&[(red, 0, oops), ("npx eslint .", 0, "")]).1);
}

#[test]
fn a_fault_of_syntax_is_gone_where_the_file_was_read() {
    let broken = "  File \"m.py\", line 1\n    def f(:\n          ^\nSyntaxError: invalid syntax\n";
    for red in ["python3 -m py_compile m.py", "python3 -m compileall -q m.py", "python3 -c 'import m'"] {
        after(
            red,
            broken,
            &[
                ("python3 -m py_compile m.py", "", Mended),
                ("python -m compileall -q ./m.py", "", Mended),
                ("python3 -m compileall -q .", "", Mended),
                ("python3 -c \"import m\"", "", Mended),
                ("python3 -c \"import m; print(m.f())\"; git diff --stat", "None\n", Mended),
                ("python3 m.py", "", Mended),
                ("python3 -m py_compile n.py", "", Told),
                ("python3 -m compileall -q src", "", Told),
                ("python3 -c 'import n'", "", Told),
                ("python3 -c 'print(1)'", "1\n", Told),
                ("cd web && python3 -m py_compile m.py", "", Told),
                ("python3 n.py", "", Told),
            ],
        );
    }
    // What ran came to nothing else.
    after("python3 -c 'import m; m.f()'", broken, &[("python3 -m py_compile m.py", "", Told)]);
    after("python3 -c 'import m'", TRACE, &[("python3 -m py_compile m.py", "", Told)]);
    let broken = "/home/dev/shop/m.js:1\nfunction f( {\n\nSyntaxError: Unexpected end of input\n    at wrapSafe (node:internal/modules/cjs/loader:1464:18)\n\nNode.js v20.20.2\n";
    after(
        "node --check m.js",
        broken,
        &[
            ("node -c ./m.js || true", "", Mended),
            ("node m.js", "", Mended),
            ("node n.js", "", Told),
            ("node --check n.js", "", Told),
        ],
    );
}

#[test]
fn letters_mean_loudness_only_to_programs_that_are_known() {
    for (red, green, then) in [
        ("./check -v", "./check", Told),
        ("./check", "./check -q", Told),
        ("python3 app.py -q", "python3 app.py", Told),
        ("python3 app.py", "python3 app.py -v", Told),
        ("python3 app.py", "python3 -v app.py", Told),
        ("make", "make -q", Told),
        ("make", "make -v", Told),
        ("tar -v a", "tar a", Told),
        ("ssh -q host ./deploy", "ssh host ./deploy", Told),
        ("npm run build", "npm run build -v", Told),
        ("node app.js", "node -v app.js", Told),
        ("terraform plan", "terraform -v plan", Told),
        ("gcc a.c", "gcc -v", Told),
        ("./deploy --quiet", "./deploy", Told),
        ("git push", "git push -q", Mended),
        ("cargo xtask check", "cargo xtask check -q", Told),
        ("pip install a", "pip install -q a", Mended),
        ("pip3 install --quiet a", "pip3 install a", Mended),
        ("mypy -v src", "mypy src", Mended),
        ("ruff check -q", "ruff check", Mended),
        ("black -q .", "black .", Mended),
        ("go build -v ./...", "go build ./...", Mended),
        ("go build ./...", "go build -q ./...", Told),
        ("cargo doc -q", "cargo doc", Mended),
        ("./check -v", "./check -v", Mended),
    ] {
        after(red, "Error: no such thing\n", &[(green, "", then)]);
    }
    for (red, green, text, then) in [
        ("pytest", "pytest -v", PASSED, Mended),
        ("pytest -q", "pytest", PASSED, Mended),
        ("prove", "prove -v", "", Mended),
        ("bats test", "bats -v test", "", Told),
        ("tap", "tap -v", "", Told),
        ("jest", "jest -v", "", Told),
        ("npx vitest run", "npx vitest run -v", "", Told),
        ("node --test", "node -v --test", "", Told),
        ("pytest", "command -v pytest", "", Told),
        ("pytest", "command -V pytest", "", Told),
        ("pytest", "command pytest", PASSED, Mended),
    ] {
        after(red, PYTEST, &[(green, text, then)]);
    }
}

#[test]
fn a_shell_that_minds_pipes_was_told_to_before() {
    let line = "python3 app.py 2>&1 | wc -l";
    for (before, then) in [
        ("set -o pipefail; ", Mended),
        ("set -eo pipefail; ", Mended),
        ("set -euo pipefail\n", Mended),
        ("set -e -o pipefail && ", Mended),
        ("set -o errexit -o pipefail; ", Mended),
        ("cd . && set -o pipefail && ", Mended),
        ("cd .; set -o pipefail; cd . && ", Mended),
        ("{ set -o pipefail; }; ", Mended),
        ("set -o pipefail || true; ", Mended),
        ("", Told),
        ("set +o pipefail; ", Told),
        ("set -o pipefail; set +o pipefail; ", Told),
        ("set -o pipefail; set +eo pipefail; ", Told),
        ("(set -o pipefail); ", Told),
        ("(set -o pipefail; ls); ", Told),
        ("bash -c 'set -o pipefail'; ", Told),
        ("bash -o pipefail -c 'ls'; ", Told),
        ("echo set -o pipefail; ", Told),
        ("echo 'set -o pipefail'; ", Told),
        ("set pipefail; ", Told),
        ("set -- -o pipefail; ", Told),
        ("set -e pipefail; ", Told),
        ("false && set -o pipefail; ", Told),
        ("ls || set -o pipefail; ", Told),
        ("ls && { ls; set -o pipefail; }; ", Told),
        ("if ls; then set -o pipefail; fi; ", Told),
        ("set -o pipefail & ", Told),
        ("set -o pipefail | cat; ", Told),
        ("bash pipefail; ", Told),
        ("# set -o pipefail\n", Told),
        ("env set -o pipefail; ", Told),
    ] {
        after_app(&[(&format!("{before}{line}"), "0\n", then)]);
    }
    after_app(&[
        ("bash -o pipefail -c 'python3 app.py 2>&1 | wc -l'", "0\n", Mended),
        ("bash -eo pipefail -c 'python3 app.py 2>&1 | wc -l'", "0\n", Mended),
        ("bash -euo pipefail -c 'python3 app.py 2>&1 | wc -l'", "0\n", Mended),
        ("bash -lc 'set -o pipefail; python3 app.py 2>&1 | wc -l'", "0\n", Mended),
        ("set -o pipefail; (python3 app.py 2>&1 | wc -l)", "0\n", Mended),
        ("set -o pipefail; bash -c 'python3 app.py 2>&1 | wc -l'", "0\n", Told),
        ("python3 app.py 2>&1 | wc -l; set -o pipefail", "0\n", Told),
        ("python3 app.py 2>&1 | wc -l && set -o pipefail", "0\n", Told),
        ("bash -o pipefail -c 'ls' && python3 app.py 2>&1 | wc -l", "0\n", Told),
        ("python3 app.py 2>&1 | wc -l # set -o pipefail", "0\n", Told),
        ("python3 app.py 2>&1 | (set -o pipefail; wc -l)", "0\n", Told),
        ("set -o pipefail; python3 app.py 2>&1 | wc -l; true", "0\n", Told),
    ]);
    after(
        "pytest -q",
        PYTEST,
        &[
            ("set -o pipefail; pytest -q | wc -l", "3\n", Mended),
            ("(set -o pipefail); pytest -q | wc -l", "3\n", Told),
            ("pytest -q | wc -l; set -o pipefail", "3\n", Told),
        ],
    );
}

#[test]
fn a_second_try_that_is_not_needed_any_more_has_nothing_left() {
    let twice = format!("{PYTEST}{AGAIN}");
    let twice = twice.as_str();
    let healed = format!("{PYTEST}1 passed, 1 deselected in 0.01s\n");
    again(&[
        ("pytest || pytest --lf", twice, PASSED, Mended),
        ("pytest -q || pytest -q --lf", twice, PASSED, Mended),
        ("cd api && pytest || pytest --lf", twice, PASSED, Mended),
        ("bash -lc 'pytest -q || pytest -q --lf'", twice, PASSED, Mended),
        ("pytest -q || pytest -q", &format!("{PYTEST}{PYTEST}"), PASSED, Mended),
        ("pytest -q || pytest -q --lf || pytest -q --lf", &format!("{twice}{AGAIN}"), PASSED, Mended),
        ("pytest -q || (sleep 1; pytest -q --lf)", twice, PASSED, Mended),
        ("pytest -q || { echo again; pytest -q --lf; }", &format!("{PYTEST}again\n{AGAIN}"), PASSED, Mended),
        ("pytest || pytest --lf", twice, &healed, Mended),
        ("python3 app.py || python3 app.py --slow", TRACE, "", Mended),
        ("./build || ./build -j1", "Error: no\n", "built\n", Mended),
        // Red at its end, or nothing that says that they ran.
        ("pytest || pytest --lf", twice, twice, Told),
        ("pytest || pytest --lf", twice, PYTEST, Told),
        ("pytest || pytest --lf", twice, "", Told),
        // Another may be what succeeded.
        ("pytest || pytest --lf || true", twice, "", Told),
        ("pytest || pytest --lf || true", twice, twice, Told),
        ("pytest || pytest --lf || echo no", twice, &format!("{twice}no\n"), Told),
        ("ls a || pytest || pytest --lf", twice, "a\n", Told),
        ("python3 app.py || python3 app.py --slow", TRACE, TRACE, Told),
        ("python3 app.py || python3 app.py --slow || true", TRACE, "", Told),
        ("python3 app.py || echo no", TRACE, "no\n", Told),
        ("python3 app.py || echo no", TRACE, "", Mended),
        ("python3 check.py || python3 app.py", TRACE, "", Told),
        ("python3 -c check || python3 -c app", TRACE, "", Told),
        ("python3 - < a || python3 - < b", TRACE, "", Told),
        ("npm ci || npm install", "Error: no\n", "", Told),
        ("python3 app.py || python3 app.py --slow &", TRACE, "", Told),
        ("test -f a || ./build || ./build -j1", "Error: no\n", "", Told),
        ("ls a || ./build || ./build -j1", "Error: no\n", "a\n", Told),
        ("test -f a && ./build || ./build -j1", "Error: no\n", "", Told),
        ("./a && ./build || ./build -j1", "Error: no\n", "", Told),
        ("./build 2>/dev/null || ./build -j1", "Error: no\n", "", Told),
        ("cd . && ./build || ./build -j1", "Error: no\n", "", Mended),
        ("./build 2>&1 | tail -3 || ./build -j1", "Error: no\n", "", Told),
        // What stands before the first `&&` is no step.
        ("env && ./build || ./build -j1", "Error: no\n", "", Told),
        ("nice && ./build || ./build -j1", "Error: no\n", "", Told),
        ("time && ./build || ./build -j1", "Error: no\n", "", Told),
        ("sudo && ./build", "Error: no\n", "", Told),
        ("pytest t/a || pytest t/b", twice, PASSED, Told),
        ("pytest || pytest --lf", twice, "1 passed, 1 deselected in 0.01s\n", Told),
        ("pytest | tail -5 || pytest --lf", PYTEST, "", Told),
    ]);
    // Another line is another question.
    assert!(left(&[("pytest || pytest --lf", 1, twice), ("pytest --lf || true", 0, "")]).1);
    assert!(!left(&[("pytest || pytest --lf", 1, twice), ("pytest", 0, PASSED)]).1);
}

#[test]
fn what_shows_its_log_only_where_it_failed_tells_of_it_by_its_exit_code() {
    again(&[
        ("pytest > log || { cat log; exit 1; }", PYTEST, "", Mended),
        ("pytest -q > log 2>&1 || { cat log; exit 1; }", PYTEST, "", Mended),
        ("pytest -q > log 2>&1 || (tail -40 log; false)", PYTEST, "", Mended),
        ("pytest -q > log 2>&1 || (cat log && false)", PYTEST, "", Mended),
        ("cd api && pytest -q &> log || { tail -50 log; false; }", PYTEST, "", Mended),
        ("bash -lc 'pytest -q > log 2>&1 || { cat log; exit 2; }'", PYTEST, "", Mended),
        ("python3 app.py > log 2>&1 || (tail log; false)", TRACE, "", Mended),
        ("python3 app.py > log 2>&1 || { cat log; exit 1; }", TRACE, "", Mended),
        ("python3 app.py > log 2>&1 || (tail log; exit 3)", TRACE, "", Mended),
        ("python3 app.py || exit 1", TRACE, "", Mended),
        ("python3 app.py || exit", TRACE, "", Mended),
        ("python3 app.py || exit $?", TRACE, "", Mended),
        ("python3 app.py > log 2>&1 || { cat log; exit 1; } && echo OK", TRACE, "OK\n", Mended),
        // These end well although it failed.
        ("python3 app.py || (exit)", TRACE, "", Mended),
        ("python3 app.py || { exit; }", TRACE, "", Mended),
        ("pytest -q > log 2>&1 || { cat log; true; }", PYTEST, "", Told),
        // Tests that fail have something to show.
        ("pytest -q > log 2>&1 || cat log", PYTEST, "", Mended),
        ("pytest -q > log 2>&1 || cat log", PYTEST, "..\n", Told),
    ]);
    again(&[
        // These may end well although it failed, which would be heard.
        ("python3 app.py > log 2>&1 || { cat log; exit; }", TRACE, "", Mended),
        ("python3 app.py || { true; exit $?; }", TRACE, "", Mended),
        ("python3 app.py || exit 0", TRACE, "", Mended),
        ("python3 app.py || bash -c exit", TRACE, "", Told),
        ("python3 app.py || bash -c 'exit $?'", TRACE, "", Told),
        ("python3 app.py || exit | cat", TRACE, "", Mended),
        ("python3 app.py || exit 256", TRACE, "", Mended),
        ("python3 app.py || (true; exit 0)", TRACE, "", Mended),
        ("python3 app.py || (false; true)", TRACE, "", Mended),
        ("python3 app.py || (false || true)", TRACE, "", Mended),
        ("python3 app.py > log 2>&1 || (tail log; false) || true", TRACE, "", Mended),
        ("python3 app.py || { true; false; } | cat", TRACE, "", Mended),
        ("python3 app.py || (true; false); echo OK", TRACE, "OK\n", Mended),
        ("python3 app.py || false &", TRACE, "", Told),
    ]);
    let red = ("pytest -q", 1, PYTEST);
    assert_eq!(left(&[red, ("pytest -q > log 2>&1 || cat log", 0, "")]), (Vec::new(), false));
    assert!(left(&[red, ("pytest -q > log 2>&1 || cat other", 0, "")]).1);
    after_app(&[("python3 app.py > log 2>&1 || cat log", "", Mended)]);
    // By another line.
    after_app(&[
        ("python3 app.py > log 2>&1 || { cat log; exit 1; }", "", Mended),
        ("python3 b.py > log 2>&1 || { cat log; exit 1; }", "", Told),
        ("python3 b.py || python3 app.py", "", Told),
        ("python3 app.py || python3 b.py", "", Mended),
    ]);
}

#[test]
fn what_is_not_understood_proves_nothing() {
    after("python3 app.py", QUIET, &[("python3 app.py; [[ -f a && -f b ]]", "", Told)]);
    after_app(&[
        ("! python3 app.py", "", Told),
        ("ls ||\npython3 app.py", "src\n", Told),
        ("ls || # or\npython3 app.py", "src\n", Told),
        ("[ -f a ] || exit 0; python3 app.py", "", Told),
        ("[ -f a ] || { echo none; exit; }; python3 app.py", "none\n", Told),
        ("[ -f a ] && exit; python3 app.py", "", Told),
        ("trap 'exit 0' EXIT; python3 app.py", "", Told),
        ("f () { python3 app.py; }; ls", "src\n", Told),
        ("f() { python3 app.py; }; ls", "src\n", Told),
        ("function f { python3 app.py; }; ls", "src\n", Told),
        ("ls && f () { python3 app.py; }", "src\n", Told),
        ("eval 'exit 0'; python3 app.py", "", Told),
        ("exec true; python3 app.py", "", Told),
        ("python3 app.py & wait", "", Told),
        ("(python3 app.py &)", "", Told),
        ("{ python3 app.py; } &", "", Told),
        ("docker run -d img python3 app.py", "0123\n", Told),
        ("case a in b) python3 app.py;; esac", "", Told),
        ("ls)\npython3 app.py", "", Told),
        ("(ls\npython3 app.py", "", Told),
        ("(ls) python3 app.py", "", Told),
        ("(ls) (python3 app.py)", "", Told),
        (&format!("{}python3 app.py", "ls; ".repeat(300)), "", Told),
        ("ls &&\npython3 app.py", "src\n", Mended),
        ("cd x || exit 1; python3 app.py", "", Told),
        ("cd . || exit 1; python3 app.py", "", Mended),
        ("cd . || exit; python3 app.py", "", Mended),
        ("[ ! -f a ] && python3 app.py", "", Mended),
        ("python3 app.py &&\n  echo OK", "OK\n", Mended),
        ("time python3 app.py", "real 0\n", Mended),
        ("set -e; python3 app.py", "", Mended),
    ]);
}

#[test]
fn text_in_quotes_is_no_command() {
    after(
        "npm run build",
        "Error: no\n",
        &[
            (
                "git commit -m \"$(cat <<'EOF'\nRun \"npm ci && npm run build && npm test\" in CI\nEOF\n)\"",
                "",
                Told,
            ),
            ("git commit -m \"$(cat <<EOF\nIt's \" && npm run build && \" \nEOF\n)\"", "", Told),
            ("git commit -m $(cat <<EOF\n:) && npm run build && (\nEOF\n)", "", Told),
            ("echo \"$(echo \"x ; y && npm run build && z \")\"", "", Told),
            ("echo \"`echo \"x ; y && npm run build && z \"`\"", "", Told),
            ("echo $(echo \")\" && npm run build && echo \"(\")", "", Told),
            ("echo $'a\\' && npm run build #'", "", Told),
            ("echo \"${A:-\"x && npm run build && y\"}\"", "", Told),
            ("echo \"x && npm run build", "", Told),
            ("echo \"$(x && npm run build", "", Told),
            ("echo $((1 << 2)) \"$(case a in a) echo \" && npm run build && \";; esac)\"", "", Told),
            ("cat <<EOF\n EOF\nnpm run build\nEOF", "", Told),
            ("cat <<-EOF\n EOF\nnpm run build\nEOF", "", Told),
            ("cat <<EOF\nEOF\nnpm run build", "", Mended),
            ("cat <<-EOF\n\t\tEOF\nnpm run build", "", Mended),
            ("echo \"$(pwd)\" && npm run build", "", Mended),
            ("echo \"$(pwd # it's here\n)\" && npm run build", "", Mended),
            ("git commit -m \"$(cat <<'EOF'\nIt's :) \"a\"\nEOF\n)\" && npm run build", "", Mended),
            ("echo \"$HOME\" \"${X}\" \"${X:-a}\" `pwd` \"`pwd`\" && npm run build", "", Mended),
            ("echo \"$(basename \"$(pwd)\")\" $((1 + 2)) && npm run build", "", Mended),
            (
                "npm run build && git commit -m \"$(cat <<'EOF'\nIt's :) \"done\"\nEOF\n)\"",
                "[main 1] It's\n",
                Mended,
            ),
        ],
    );
    after(
        "pytest -q",
        PYTEST,
        &[
            (
                "git commit -m \"$(cat <<'EOF'\nRun \"ls && pytest -q && ls\" in CI\nEOF\n)\"",
                "[main 1] Run\n",
                Told,
            ),
            ("echo \"$(echo \"x ; pytest -q && z \")\"", "x\n", Told),
        ],
    );
}
