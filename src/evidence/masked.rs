//! What ordinary programs came to whose exit code nobody was given: recorded histories of real ones, whose
//! failures are told, and what only looks like one.

use super::errors::left_by;

/// `make` with a file that gcc does not take, from its first line to its last; what of that is gcc's; and what
/// `tail -5` leaves of it.
const MAKE: &str = "gcc -c a.c -o a.o\na.c: In function ‘f’:\na.c:1:22: error: ‘x’ undeclared (first use in this function)\n    1 | int f(void) { return x; }\n      |                      ^\na.c:1:22: note: each undeclared identifier is reported only once for each function it appears in\nmake: *** [Makefile:4: a.o] Error 1\n";
const GCC: &str = "a.c: In function ‘f’:\na.c:1:22: error: ‘x’ undeclared (first use in this function)\n    1 | int f(void) { return x; }\n      |                      ^\na.c:1:22: note: each undeclared identifier is reported only once for each function it appears in\n";
const END: &str = "a.c:1:22: error: ‘x’ undeclared (first use in this function)\n    1 | int f(void) { return x; }\n      |                      ^\na.c:1:22: note: each undeclared identifier is reported only once for each function it appears in\nmake: *** [Makefile:4: a.o] Error 1\n";
const TRACE: &str = "Traceback (most recent call last):\n  File \"/home/dev/project/app.py\", line 3, in <module>\n    raise ValueError(\"bad input\")\nValueError: bad input\n";
const NODE: &str = "start\n/home/dev/project/app.js:2\nfunction f(){ throw new TypeError(\"no luck\") }\n              ^\n\nTypeError: no luck\n    at f (/home/dev/project/app.js:2:21)\n    at Object.<anonymous> (/home/dev/project/app.js:3:1)\n    at Module._compile (node:internal/modules/cjs/loader:1521:14)\n    at Module._extensions..js (node:internal/modules/cjs/loader:1623:10)\n    at Module.load (node:internal/modules/cjs/loader:1266:32)\n    at Module._load (node:internal/modules/cjs/loader:1091:12)\n    at Function.executeUserEntryPoint [as runMain] (node:internal/modules/run_main:164:12)\n    at node:internal/main/run_main_module:28:49\n\nNode.js v20.20.2\n";

type Ran = (&'static str, i64, &'static str);

fn printed(text: &str) -> String {
    let names = [("<MAKE>", MAKE), ("<GCC>", GCC), ("<END>", END), ("<TRACE>", TRACE), ("<NODE>", NODE)];
    names.iter().fold(text.to_owned(), |text, (name, whole)| text.replace(name, whole))
}

/// The error that is left, with what kind of error it is.
fn left(commands: &[Ran]) -> Option<(String, String)> {
    let texts: Vec<String> = commands.iter().map(|(_, _, text)| printed(text)).collect();
    let commands: Vec<_> =
        commands.iter().zip(&texts).map(|((line, code, _), text)| (*line, *code, text.as_str())).collect();
    left_by(&commands)
}

/// Commands that failed: the beginning of the kind of error that is told, and words of it.
#[track_caller]
fn told(rows: &[(&'static str, i64, &'static str, &str, &str)]) {
    let mut wrong = Vec::new();
    for (line, code, text, kind, words) in rows {
        let left = left(&[(line, *code, text)]);
        let is_told =
            left.as_ref().is_some_and(|(of, message)| of.starts_with(kind) && message.contains(words));
        if !is_told {
            wrong.push(format!("`{line}` should tell of {words}: {left:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Commands that did not fail, or were only asked.
#[track_caller]
fn silent(rows: &[Ran]) {
    let of = |row: &Ran| left(&[*row]).map(|left| format!("`{}` tells of {left:?}", row.0));
    let wrong: Vec<String> = rows.iter().filter_map(of).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A command that failed, and the one that shows that it does not fail any more.
#[track_caller]
fn mended(rows: &[(Ran, Ran)]) {
    let mut wrong = Vec::new();
    for (red, green) in rows {
        if left(&[*red]).is_none() {
            wrong.push(format!("`{}` is not told", red.0));
        }
        if let Some(left) = left(&[*red, *green]) {
            wrong.push(format!("`{}` is told after `{}`: {left:?}", red.0, green.0));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_code_that_was_printed_is_a_fact() {
    told(&[
        ("make; echo $?", 0, "<MAKE>2\n", "compile error", "‘x’ undeclared"),
        ("make; echo \"exit: $?\"", 0, "<MAKE>exit: 2\n", "compile error", "‘x’ undeclared"),
        ("make 2>&1; echo \"EXIT=$?\"", 0, "<MAKE>EXIT=2\n", "compile error", "‘x’ undeclared"),
        ("make quiet 2>/dev/null; echo \"exit: $?\"", 0, "exit: 2\n", "", "exited with code 2"),
        ("make >/dev/null 2>&1; echo $?", 0, "2\n", "", "exited with code 2"),
        ("python3 app.py; echo rc=$?", 0, "start\n<TRACE>rc=1\n", "ValueError", "bad input"),
        ("python3 exit3.py; echo rc=$?", 0, "rc=3\n", "", "exited with code 3"),
        ("./run.sh; echo \"exit code: $?\"", 0, "exit code: 3\n", "", "exited with code 3"),
        ("./run.sh; rc=$?; echo \"rc=$rc\"", 0, "rc=3\n", "", "exited with code 3"),
        ("./run.sh > out.log 2>&1; echo \"done, exit $?\"", 0, "done, exit 3\n", "", "exited with code 3"),
        ("node exit4.js; echo \"status $?\"", 0, "status 4\n", "", "exited with code 4"),
        (
            "make 2>&1 | tail -5; echo \"exit: ${PIPESTATUS[0]}\"",
            0,
            "<END>exit: 2\n",
            "compile error",
            "‘x’ undeclared",
        ),
        ("./run.sh 2>&1 | tail -3; echo \"${PIPESTATUS[0]}\"", 0, "3\n", "", "exited with code 3"),
        ("cd . && ./run.sh; echo \"exit $?\"", 0, "exit 3\n", "", "exited with code 3"),
        ("./run.sh; echo \"exit $?\"; ls", 0, "exit 3\nMakefile\na.c\n", "", "exited with code 3"),
        ("./run.sh\necho \"exit $?\"", 0, "exit 3\n", "", "exited with code 3"),
        ("set +e; ./run.sh; echo \"run: $?\"", 0, "run: 3\n", "", "exited with code 3"),
        ("/bin/bash -lc './run.sh; echo \"run: $?\"'", 0, "run: 3\n", "", "exited with code 3"),
        (
            "for f in exit3 fine; do python3 $f.py; echo \"$f: $?\"; done",
            0,
            "exit3: 3\nfine\nfine: 0\n",
            "",
            "exited with code 3",
        ),
        (
            "./crash; echo \"exit: $?\"",
            0,
            "/bin/bash: line 1: 23761 Segmentation fault      ./crash\nexit: 139\n",
            "",
            "Segmentation fault",
        ),
        ("printf \"a\\n\"; ./run.sh; printf \"exit=%s\\n\" $?", 0, "a\nexit=3\n", "", "exited with code 3"),
        ("./run.sh || echo \"failed with $?\"", 0, "failed with 3\n", "", "exited with code 3"),
        ("sh run.sh; exit $?", 3, "", "", "exited with code 3"),
    ]);
}

#[test]
fn what_a_pipe_leaves_of_a_failure_tells_of_it() {
    told(&[
        ("make 2>&1 | tail -5", 0, "<END>", "compile error", "‘x’ undeclared"),
        (
            "make 2>&1 | tail -1",
            0,
            "make: *** [Makefile:4: a.o] Error 1\n",
            "",
            "make: *** [Makefile:4: a.o] Error 1",
        ),
        ("make 2>&1 | tail", 0, "<MAKE>", "compile error", "‘x’ undeclared"),
        ("make clean all 2>&1 | tail -8", 0, "rm -f a.o\n<MAKE>", "compile error", "‘x’ undeclared"),
        (
            "make run 2>&1 | tail -5",
            0,
            "./crash\nmake: *** [Makefile:8: run] Segmentation fault\n",
            "",
            "[Makefile:8: run] Segmentation fault",
        ),
        (
            "make quiet 2>&1 | tail -5",
            0,
            "make: *** [Makefile:6: quiet] Error 3\n",
            "",
            "[Makefile:6: quiet] Error 3",
        ),
        (
            "make nothing 2>&1 | tail -5",
            0,
            "make: *** No rule to make target 'nothing'.  Stop.\n",
            "",
            "No rule to make target",
        ),
        ("gcc -c a.c 2>&1 | tail -20", 0, "<GCC>", "compile error", "‘x’ undeclared"),
        ("gcc -c a.c 2>&1 | head -20", 0, "<GCC>", "compile error", "‘x’ undeclared"),
        ("gcc -c a.c b.c 2>&1 | cat", 0, "<GCC>", "compile error", "‘x’ undeclared"),
        ("python3 app.py 2>&1 | tail -5", 0, "start\n<TRACE>", "ValueError", "bad input"),
        ("python3 app.py 2>&1 | tail -1", 0, "ValueError: bad input\n", "ValueError", "bad input"),
        (
            "python3 app.py 2>&1 | tail -2",
            0,
            "    raise ValueError(\"bad input\")\nValueError: bad input\n",
            "ValueError",
            "bad input",
        ),
        ("node app.js 2>&1 | tail -20", 0, "<NODE>", "TypeError", "no luck"),
        (
            "node app.js 2>&1 | tail -3",
            0,
            "    at node:internal/main/run_main_module:28:49\n\nNode.js v20.20.2\n",
            "",
            "Node.js",
        ),
        (
            "npm run build 2>&1 | tail",
            0,
            "\n> shop@1.0.0 build\n> node build.js\n\nBuild failed: cannot resolve ./x\n",
            "",
            "Build failed: cannot resolve ./x",
        ),
        (
            "npm run build 2>&1 | tail -3",
            0,
            "> node build.js\n\nBuild failed: cannot resolve ./x\n",
            "",
            "Build failed: cannot resolve ./x",
        ),
        (
            "npm run nothing 2>&1 | tail -5",
            0,
            "npm error Missing script: \"nothing\"\nnpm error\nnpm error To see a list of scripts, run:\nnpm error   npm run\nnpm error A complete log of this run can be found in: /home/dev/.npm/_logs/1.log\n",
            "",
            "Missing script: \"nothing\"",
        ),
        (
            "python3 nothing.py 2>&1 | tail -5",
            0,
            "python3: can't open file '/home/dev/project/nothing.py': [Errno 2] No such file or directory\n",
            "",
            "can't open file",
        ),
        (
            "python3 -m nomod 2>&1 | tail -5",
            0,
            "/usr/bin/python3: No module named nomod\n",
            "",
            "No module named nomod",
        ),
        (
            "node nothing.js 2>&1 | tail -12",
            0,
            "  ^\n\nError: Cannot find module '/home/dev/project/nothing.js'\n    at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15)\n    at Module._load (node:internal/modules/cjs/loader:1038:27)\n    at Function.executeUserEntryPoint [as runMain] (node:internal/modules/run_main:164:12)\n    at node:internal/main/run_main_module:28:49 {\n  code: 'MODULE_NOT_FOUND',\n  requireStack: []\n}\n\nNode.js v20.20.2\n",
            "",
            "Cannot find module",
        ),
        (
            "python3 argp.py 2>&1 | tail -2",
            0,
            "usage: argp.py [-h] --n N\nargp.py: error: the following arguments are required: --n\n",
            "",
            "the following arguments are required: --n",
        ),
        (
            "gcc b.c -o b 2>&1 | tail -4",
            0,
            "/usr/bin/ld: /usr/lib/gcc/x86_64-linux-gnu/12/../../../x86_64-linux-gnu/Scrt1.o: in function `_start':\n(.text+0x17): undefined reference to `main'\ncollect2: error: ld returned 1 exit status\n",
            "",
            "undefined reference",
        ),
        (
            "pip install nothing-of-that-name --no-index 2>&1 | tail -2",
            0,
            "ERROR: Could not find a version that satisfies the requirement nothing-of-that-name (from versions: none)\nERROR: No matching distribution found for nothing-of-that-name\n",
            "",
            "Could not find a version",
        ),
    ]);
}

#[test]
fn what_was_failed_over_failed_all_the_same() {
    told(&[
        ("make || echo failed", 0, "<MAKE>failed\n", "compile error", "‘x’ undeclared"),
        ("make || true", 0, "<MAKE>", "compile error", "‘x’ undeclared"),
        ("python3 app.py || true", 0, "start\n<TRACE>", "ValueError", "bad input"),
        ("python3 app.py 2>&1 || echo \"failed\"", 0, "start\n<TRACE>failed\n", "ValueError", "bad input"),
        ("node app.js || true", 0, "<NODE>", "TypeError", "no luck"),
        ("./run.sh || echo \"BUILD FAILED\"", 0, "BUILD FAILED\n", "", "failed"),
        ("./run.sh && echo OK || echo NO", 0, "NO\n", "", "failed"),
        ("make >/dev/null 2>&1 && echo OK || echo FAIL", 0, "FAIL\n", "", "failed"),
        (
            "python3 nothing.py || true",
            0,
            "python3: can't open file '/home/dev/project/nothing.py': [Errno 2] No such file or directory\n",
            "",
            "can't open file",
        ),
        (
            "./crash || true",
            0,
            "/bin/bash: line 1: 27277 Segmentation fault      ./crash\n",
            "",
            "Segmentation fault",
        ),
        (
            "./crash 1 || true",
            0,
            "/bin/bash: line 1: 27351 Aborted                 ./crash 1\n",
            "",
            "Aborted",
        ),
        (
            "npm run build || true",
            0,
            "\n> shop@1.0.0 build\n> node build.js\n\nBuild failed: cannot resolve ./x\n",
            "",
            "Build failed: cannot resolve ./x",
        ),
        ("python3 said.py || echo failed", 0, "no config found\nfailed\n", "", "failed"),
        (
            "gcc -c a.c || echo \"compile failed\"",
            0,
            "<GCC>compile failed\n",
            "compile error",
            "‘x’ undeclared",
        ),
        ("make > build.log 2>&1 || tail -20 build.log", 0, "<MAKE>", "compile error", "‘x’ undeclared"),
    ]);
}

#[test]
fn whatever_follows_a_failure_does_not_undo_it() {
    told(&[
        ("make; ls", 0, "<MAKE>Makefile\na.c\n", "compile error", "‘x’ undeclared"),
        (
            "make; ls nothing",
            2,
            "<MAKE>ls: cannot access 'nothing': No such file or directory\n",
            "compile error",
            "‘x’ undeclared",
        ),
        ("python3 app.py; ls", 0, "start\n<TRACE>Makefile\na.c\n", "ValueError", "bad input"),
        ("python3 app.py; python3 fine.py", 0, "start\n<TRACE>fine\n", "ValueError", "bad input"),
        ("node app.js; python3 fine.py", 0, "<NODE>fine\n", "TypeError", "no luck"),
        ("gcc -c a.c; gcc -c b.c", 0, "<GCC>", "compile error", "‘x’ undeclared"),
        (
            "npm run build; ls",
            0,
            "\n> shop@1.0.0 build\n> node build.js\n\nBuild failed: cannot resolve ./x\nMakefile\na.c\n",
            "",
            "Build failed: cannot resolve ./x",
        ),
        (
            "./crash; ls",
            0,
            "/bin/bash: line 1: 28043 Segmentation fault      ./crash\nMakefile\na.c\n",
            "",
            "Segmentation fault",
        ),
        (
            "python3 nothing.py; echo done",
            0,
            "python3: can't open file '/home/dev/project/nothing.py': [Errno 2] No such file or directory\ndone\n",
            "",
            "can't open file",
        ),
        (
            "make quiet; git status --short",
            0,
            "make: *** [Makefile:6: quiet] Error 3\n",
            "",
            "[Makefile:6: quiet] Error 3",
        ),
        (
            "frobnicate x; ls",
            0,
            "/bin/bash: line 1: frobnicate: command not found\nMakefile\na.c\n",
            "",
            "command not found",
        ),
        (
            "./nothing.sh; ls",
            0,
            "/bin/bash: line 1: ./nothing.sh: No such file or directory\nMakefile\na.c\n",
            "",
            "No such file",
        ),
        (
            "for f in loop/*.py; do python3 $f; done",
            0,
            "one\nTraceback (most recent call last):\n  File \"/home/dev/project/loop/2.py\", line 1, in <module>\n    raise KeyError(\"two\")\nKeyError: 'two'\nthree\n",
            "KeyError",
            "'two'",
        ),
        (
            "for f in loop/*.py; do python3 $f || true; done",
            0,
            "one\nTraceback (most recent call last):\n  File \"/home/dev/project/loop/2.py\", line 1, in <module>\n    raise KeyError(\"two\")\nKeyError: 'two'\nthree\n",
            "KeyError",
            "'two'",
        ),
        (
            "for f in *.c; do gcc -c $f; done; ls *.o",
            0,
            "<GCC>b.o\ncrash.o\n",
            "compile error",
            "‘x’ undeclared",
        ),
        ("make > build.log 2>&1; tail -5 build.log", 0, "<END>", "compile error", "‘x’ undeclared"),
        ("python3 app.py > out.log 2>&1; cat out.log", 0, "start\n<TRACE>", "ValueError", "bad input"),
        (
            "make quiet > build.log 2>&1; tail -3 build.log; ls",
            0,
            "make: *** [Makefile:6: quiet] Error 3\nMakefile\na.c\n",
            "",
            "[Makefile:6: quiet] Error 3",
        ),
        (
            "npm run build > build.log 2>&1; tail -5 build.log",
            0,
            "\n> shop@1.0.0 build\n> node build.js\n\nBuild failed: cannot resolve ./x\n",
            "",
            "Build failed: cannot resolve ./x",
        ),
        (
            "if make; then echo ok; else echo failed; fi",
            0,
            "<MAKE>failed\n",
            "compile error",
            "‘x’ undeclared",
        ),
        (
            "if ! make quiet; then echo failed; fi",
            0,
            "make: *** [Makefile:6: quiet] Error 3\nfailed\n",
            "",
            "[Makefile:6: quiet] Error 3",
        ),
    ]);
}

#[test]
fn a_program_that_ends_badly_is_told_even_if_it_says_nothing() {
    told(&[
        (
            "python3 nothing.py",
            2,
            "python3: can't open file '/home/dev/project/nothing.py': [Errno 2] No such file or directory\n",
            "",
            "can't open file",
        ),
        ("python3 exit3.py", 3, "", "", "exited with code 3"),
        ("./run.sh", 3, "", "", "exited with code 3"),
        ("./crash", 139, "", "", "exited with code 139"),
        ("./crash 1", 134, "", "", "exited with code 134"),
        ("node exit4.js", 4, "", "", "exited with code 4"),
        ("make quiet", 2, "make: *** [Makefile:6: quiet] Error 3\n", "", "Makefile:6: quiet] Error 3"),
        ("cd . && ./run.sh", 3, "", "", "exited with code 3"),
        ("bash run.sh", 3, "", "", "exited with code 3"),
        ("./run.sh || exit 2", 2, "", "", "exited with code 2"),
        ("fmt=1 ./run.sh --x 2>/dev/null", 3, "", "", "exited with code 3"),
        ("npm run gen", 2, "\n> shop@1.0.0 gen\n> exit 2\n\n", "", "exited with code 2"),
        ("python3 said.py", 1, "no config found\n", "", "exited with code 1"),
        ("set -e; ls; ./run.sh; ls", 3, "Makefile\na.c\n", "", "exited with code 3"),
        ("set -o pipefail; ./run.sh | tail -3", 3, "", "", "exited with code 3"),
        ("make ok && ./run.sh", 3, "fine\n", "", "exited with code 3"),
        ("if ! ./run.sh; then exit 3; fi", 3, "", "", "exited with code 3"),
        ("for i in 1 2; do ./run.sh; done", 3, "", "", "exited with code 3"),
    ]);
}

#[test]
fn a_question_has_an_answer_and_no_failure() {
    silent(&[
        (
            "grep -rn Error .",
            0,
            "./app.js:2:function f(){ throw new TypeError(\"no luck\") }\n./.git/hooks/pre-commit.sample:35:Error: Attempt to add a non-ASCII file name.\n./.git/COMMIT_EDITMSG:1:Error: fix the failing build\n./.git/logs/refs/heads/master:1:0000000000000000000000000000000000000000 3865bfc62a0334922a8ff85fdc848ea05a0dc9d0 n <a@b> 1794842260 +0000\tcommit (initial): Error: fix the failing build\n./.git/logs/HEAD:1:0000000000000000000000000000000000000000 3865bfc62a0334922a8ff85fdc848ea05a0dc9d0 n <a@b> 1794842260 +0000\tcommit (initial): Error: fix the failing build\n./notes.txt:1:Error: this is a note\n./notes.txt:2:make: *** [Makefile:3: all] Error 1\n./loop/2.py:1:raise KeyError(\"two\")\n./app.py:3:raise ValueError(\"bad input\")\n",
        ),
        ("cat notes.txt", 0, "Error: this is a note\nmake: *** [Makefile:3: all] Error 1\n"),
        (
            "git log",
            0,
            "commit b1c26c64c6713f5bbdb3db3b0e5cebb77f137208\nAuthor: n <a@b>\nDate:   Mon Nov 16 15:17:41 2026 +0000\n\n    Error: fix the failing build\n",
        ),
        (
            "git log | tail -5",
            0,
            "commit b1c26c64c6713f5bbdb3db3b0e5cebb77f137208\nAuthor: n <a@b>\nDate:   Mon Nov 16 15:17:41 2026 +0000\n\n    Error: fix the failing build\n",
        ),
        ("ls missing || true", 0, "ls: cannot access 'missing': No such file or directory\n"),
        ("rm x 2>/dev/null || true", 0, ""),
        ("which foo || echo no", 0, "no\n"),
        ("grep nothing a.c; echo $?", 0, "1\n"),
        (
            "diff a.c b.c; echo $?",
            0,
            "1c1\n< int f(void) { return x; }\n---\n> int g(void) { return 1; }\n1\n",
        ),
        ("test -f x; echo $?", 0, "1\n"),
        ("[ -f x ]; echo \"exit $?\"", 0, "exit 1\n"),
        ("[[ -f x ]] || echo no", 0, "no\n"),
        ("command -v foo; echo $?", 0, "1\n"),
        ("command -v foo || echo missing", 0, "missing\n"),
        ("pgrep -f nothing-like-it; echo \"rc $?\"", 0, "29601\nrc 0\n"),
        ("timeout 1 sleep 5", 124, ""),
        ("timeout 1 sleep 5; echo $?", 0, "124\n"),
        ("git diff --exit-code; echo $?", 0, "0\n"),
        (
            "echo \" \" >> a.c; git diff --exit-code",
            1,
            "diff --git a/a.c b/a.c\nindex 29f08ff..9b84107 100644\n--- a/a.c\n+++ b/a.c\n@@ -1 +1,2 @@\n int f(void) { return x; }\n+ \n",
        ),
        ("git status; echo $?", 0, "On branch master\nnothing to commit, working tree clean\n0\n"),
        ("ls missing", 2, "ls: cannot access 'missing': No such file or directory\n"),
        (
            "ls missing; echo \"exit $?\"",
            0,
            "ls: cannot access 'missing': No such file or directory\nexit 2\n",
        ),
        ("cat missing", 1, "cat: missing: No such file or directory\n"),
        ("grep -q x notes.txt || echo none", 0, "none\n"),
        ("grep x missing", 2, "grep: missing: No such file or directory\n"),
        ("diff a.c b.c", 1, "1c1\n< int f(void) { return x; }\n---\n> int g(void) { return 1; }\n"),
        ("cmp a.c b.c", 1, "a.c b.c differ: byte 5, line 1\n"),
        ("test -f nothing", 1, ""),
        ("[ -d nothing ] && ls", 1, ""),
        ("which foo", 1, ""),
        ("type foo", 1, "/bin/bash: line 1: type: foo: not found\n"),
        ("command -v foo", 1, ""),
        ("kill 999999", 1, "/bin/bash: line 1: kill: (999999) - No such process\n"),
        ("kill -0 999999; echo $?", 0, "/bin/bash: line 1: kill: (999999) - No such process\n1\n"),
        ("find . -name \"*.zzz\" | grep .", 1, ""),
        ("cat notes.txt | tail -3", 0, "Error: this is a note\nmake: *** [Makefile:3: all] Error 1\n"),
        ("tail -2 notes.txt", 0, "Error: this is a note\nmake: *** [Makefile:3: all] Error 1\n"),
        ("head -5 notes.txt; echo $?", 0, "Error: this is a note\nmake: *** [Makefile:3: all] Error 1\n0\n"),
        (
            "git show HEAD | head",
            0,
            "commit 2fff9c822891953e1382993b58490092a71c8bf3\nAuthor: n <a@b>\nDate:   Mon Nov 16 15:17:46 2026 +0000\n\n    Error: fix the failing build\n\ndiff --git a/Makefile b/Makefile\nnew file mode 100644\nindex 0000000..41a95c6\n--- /dev/null\n",
        ),
        (
            "git grep -n Error | tail",
            0,
            "app.js:2:function f(){ throw new TypeError(\"no luck\") }\napp.py:3:raise ValueError(\"bad input\")\nloop/2.py:1:raise KeyError(\"two\")\nnotes.txt:1:Error: this is a note\nnotes.txt:2:make: *** [Makefile:3: all] Error 1\n",
        ),
        ("echo \"make: *** [Makefile:3: all] Error 1\"", 0, "make: *** [Makefile:3: all] Error 1\n"),
        (
            "sed -n 1,2p notes.txt; ls missing",
            2,
            "Error: this is a note\nmake: *** [Makefile:3: all] Error 1\nls: cannot access 'missing': No such file or directory\n",
        ),
        ("git diff --quiet; echo $?", 0, "0\n"),
        ("git rev-parse --verify nothing 2>/dev/null; echo $?", 0, "128\n"),
        ("git merge-base --is-ancestor HEAD HEAD~1 2>/dev/null; echo $?", 0, "128\n"),
        ("python3 fine.py; grep nothing a.c", 1, "fine\n"),
        ("make ok 2>&1 | grep error", 1, ""),
        ("make ok; grep nothing a.c; echo \"exit $?\"", 0, "fine\nexit 1\n"),
        ("python3 -c \"import yamlnot\" 2>/dev/null || echo \"no yaml\"", 0, "no yaml\n"),
        ("node --version || true", 0, "v20.20.2\n"),
        ("foo --version 2>/dev/null || echo missing", 0, "missing\n"),
        ("test -x ./nothing && ./nothing", 1, ""),
        ("[ -f nothing ] && python3 nothing", 1, ""),
        ("grep -q zzz a.c && make", 1, ""),
        ("cd nothing && ls", 1, "/bin/bash: line 1: cd: nothing: No such file or directory\n"),
        ("exit 1", 1, ""),
        ("false", 1, ""),
        ("false || true", 0, ""),
        ("python3 fine.py | grep nothing", 1, ""),
        ("awk \"/zzz/{f=1} END{exit !f}\" a.c", 1, ""),
        ("python3 fine.py | grep -c nothing", 1, "0\n"),
        ("ls *.zzz 2>/dev/null", 2, ""),
        ("stat nothing", 1, "stat: cannot statx 'nothing': No such file or directory\n"),
        ("readlink nothing", 1, ""),
        ("pip show nothing-of-that-name", 1, "WARNING: Package(s) not found: nothing-of-that-name\n"),
        ("npm ls nothing", 1, "shop@1.0.0 /home/dev/project\n└── (empty)\n\n"),
        ("file nothing; echo $?", 0, "nothing: cannot open `nothing' (No such file or directory)\n0\n"),
        ("command -v make >/dev/null && echo yes || echo no", 0, "yes\n"),
        (
            "git ls-files --error-unmatch nothing; echo $?",
            0,
            "error: pathspec 'nothing' did not match any file(s) known to git\nDid you forget to 'git add'?\n1\n",
        ),
        ("pkill -f nothing-like-it-at-all", 1, ""),
        ("sleep 5 & kill $!; wait $!", 143, ""),
        ("sleep 30 & sleep 0.1; kill %1; wait", 0, ""),
        ("python3 fine.py; test -f x", 1, "fine\n"),
        ("! grep -q zzz a.c", 0, ""),
        ("expr 1 - 1", 1, "0\n"),
        ("python3 fine.py || true", 0, "fine\n"),
        ("make ok || echo failed", 0, "fine\n"),
        ("make ok; echo \"exit: $?\"", 0, "fine\nexit: 0\n"),
        ("make ok 2>&1 | tail -5; echo \"exit: ${PIPESTATUS[0]}\"", 0, "fine\nexit: 0\n"),
        (
            "for f in loop/1.py loop/3.py; do python3 $f; echo \"$f: $?\"; done",
            0,
            "one\nloop/1.py: 0\nthree\nloop/3.py: 0\n",
        ),
    ]);
}

#[test]
fn what_succeeds_since_does_not_fail_any_more() {
    mended(&[
        (
            ("make 2>&1 | tail -5", 0, "<END>"),
            ("make 2>&1 | tail -5", 0, "gcc -c a.c -o a.o\necho linked\nlinked\n"),
        ),
        (("make 2>&1 | tail -5", 0, "<END>"), ("make", 0, "gcc -c a.c -o a.o\necho linked\nlinked\n")),
        (
            ("make 2>&1 | tail -1", 0, "make: *** [Makefile:4: a.o] Error 1\n"),
            ("make", 0, "gcc -c a.c -o a.o\necho linked\nlinked\n"),
        ),
        (
            ("make 2>&1 | tail -1", 0, "make: *** [Makefile:4: a.o] Error 1\n"),
            ("make 2>&1 | tail -1", 0, "linked\n"),
        ),
        (
            ("make; echo $?", 0, "<MAKE>2\n"),
            ("make; echo $?", 0, "gcc -c a.c -o a.o\necho linked\nlinked\n0\n"),
        ),
        (
            ("make; echo \"exit: $?\"", 0, "<MAKE>exit: 2\n"),
            ("make", 0, "gcc -c a.c -o a.o\necho linked\nlinked\n"),
        ),
        (("make >/dev/null 2>&1; echo $?", 0, "2\n"), ("make >/dev/null 2>&1; echo $?", 0, "0\n")),
        (
            ("make >/dev/null 2>&1; echo $?", 0, "2\n"),
            ("make", 0, "gcc -c a.c -o a.o\necho linked\nlinked\n"),
        ),
        (
            ("make || echo failed", 0, "<MAKE>failed\n"),
            ("make || echo failed", 0, "gcc -c a.c -o a.o\necho linked\nlinked\n"),
        ),
        (
            ("make || echo failed", 0, "<MAKE>failed\n"),
            ("make", 0, "gcc -c a.c -o a.o\necho linked\nlinked\n"),
        ),
        (("make || true", 0, "<MAKE>"), ("make || true", 0, "gcc -c a.c -o a.o\necho linked\nlinked\n")),
        (("make; ls", 0, "<MAKE>Makefile\na.c\n"), ("make", 0, "gcc -c a.c -o a.o\necho linked\nlinked\n")),
        (
            ("make; ls", 0, "<MAKE>Makefile\na.c\n"),
            ("make; ls", 0, "gcc -c a.c -o a.o\necho linked\nlinked\nMakefile\na.c\n"),
        ),
        (("make", 2, "<MAKE>"), ("make || echo failed", 0, "gcc -c a.c -o a.o\necho linked\nlinked\n")),
        (("make", 2, "<MAKE>"), ("make -j4", 0, "gcc -c a.c -o a.o\necho linked\nlinked\n")),
        (
            ("make 2>&1 | tail -5", 0, "<END>"),
            ("make -j4 2>&1 | tail -5", 0, "gcc -c a.c -o a.o\necho linked\nlinked\n"),
        ),
        (("python3 app.py || true", 0, "start\n<TRACE>"), ("python3 app.py || true", 0, "1\n")),
        (("python3 app.py || true", 0, "start\n<TRACE>"), ("python3 app.py", 0, "1\n")),
        (
            ("python3 app.py; ls", 0, "start\n<TRACE>Makefile\na.c\n"),
            ("python3 app.py; ls", 0, "1\nMakefile\na.c\n"),
        ),
        (("python3 app.py 2>&1 | tail -1", 0, "ValueError: bad input\n"), ("python3 app.py", 0, "1\n")),
        (("python3 app.py 2>&1 | tail -5", 0, "start\n<TRACE>"), ("python3 app.py 2>&1 | tail -5", 0, "1\n")),
        (
            (
                "node app.js 2>&1 | tail -3",
                0,
                "    at node:internal/main/run_main_module:28:49\n\nNode.js v20.20.2\n",
            ),
            ("node app.js 2>&1 | tail -3", 0, "1\n"),
        ),
        (
            ("npm run build 2>&1 | tail -3", 0, "> node build.js\n\nBuild failed: cannot resolve ./x\n"),
            ("npm run build 2>&1 | tail -3", 0, "> node build.js\n\n1\n"),
        ),
        (
            ("npm run build 2>&1 | tail -3", 0, "> node build.js\n\nBuild failed: cannot resolve ./x\n"),
            ("npm run build", 0, "\n> shop@1.0.0 build\n> node build.js\n\n1\n"),
        ),
        (
            (
                "npm run build; ls",
                0,
                "\n> shop@1.0.0 build\n> node build.js\n\nBuild failed: cannot resolve ./x\nMakefile\na.c\n",
            ),
            ("npm run build", 0, "\n> shop@1.0.0 build\n> node build.js\n\n1\n"),
        ),
        (("./run.sh", 3, ""), ("./run.sh", 0, "")),
        (("./run.sh; echo \"exit $?\"", 0, "exit 3\n"), ("./run.sh; echo \"exit $?\"", 0, "exit 0\n")),
        (
            ("./run.sh; rc=$?; echo \"rc=$rc\"", 0, "rc=3\n"),
            ("./run.sh; rc=$?; echo \"rc=$rc\"", 0, "rc=0\n"),
        ),
        (("./run.sh && echo OK || echo NO", 0, "NO\n"), ("./run.sh && echo OK || echo NO", 0, "OK\n")),
        (("./run.sh || echo NO", 0, "NO\n"), ("./run.sh || echo NO", 0, "")),
        (
            ("./run.sh 2>&1 | tail -3; echo \"${PIPESTATUS[0]}\"", 0, "3\n"),
            ("./run.sh 2>&1 | tail -3; echo \"${PIPESTATUS[0]}\"", 0, "0\n"),
        ),
        (
            ("make > build.log 2>&1; tail -5 build.log", 0, "<END>"),
            ("make > build.log 2>&1; tail -5 build.log", 0, "gcc -c a.c -o a.o\necho linked\nlinked\n"),
        ),
        (
            ("make > build.log 2>&1; tail -5 build.log", 0, "<END>"),
            ("make", 0, "gcc -c a.c -o a.o\necho linked\nlinked\n"),
        ),
        (
            ("gcc -c a.c || echo \"compile failed\"", 0, "<GCC>compile failed\n"),
            ("gcc -c a.c || echo \"compile failed\"", 0, ""),
        ),
        (("gcc -c a.c; ls", 0, "<GCC>Makefile\na.c\n"), ("gcc -c a.c", 0, "")),
        (("for f in *.c; do gcc -c $f; done", 0, "<GCC>"), ("for f in *.c; do gcc -c $f; done", 0, "")),
        (
            ("./crash; ls", 0, "/bin/bash: line 1:   333 Segmentation fault      ./crash\nMakefile\na.c\n"),
            ("./crash; ls", 0, "Makefile\na.c\n"),
        ),
        (
            ("./crash; ls", 0, "/bin/bash: line 1:   354 Segmentation fault      ./crash\nMakefile\na.c\n"),
            ("./crash", 0, ""),
        ),
        (
            ("if make; then echo ok; else echo failed; fi", 0, "<MAKE>failed\n"),
            ("make", 0, "gcc -c a.c -o a.o\necho linked\nlinked\n"),
        ),
        (
            (
                "python3 nothing.py || true",
                0,
                "python3: can't open file '/home/dev/project/nothing.py': [Errno 2] No such file or directory\n",
            ),
            ("python3 nothing.py", 0, "fine\n"),
        ),
    ]);
}

#[test]
fn what_stands_behind_the_part_of_a_line_that_is_read_may_fail() {
    let set: String = (0..300).map(|at| format!("v{at}=$(true); ")).collect();
    let line = format!("{set}python3 app.py; echo $v1");
    for code in [0, 1] {
        assert_eq!(left_by(&[(&line, code, TRACE)]).unwrap().1, "bad input", "{code}");
    }
    // Nothing says that it was done since, and the same line may do it.
    assert!(left_by(&[(&line, 1, TRACE), ("make", 0, "")]).is_some());
    assert_eq!(left_by(&[(&line, 0, "fine\n")]), None);
}

#[test]
fn what_only_ended_badly_leaves_room_for_a_reason() {
    let lines: Vec<String> = (0..20).map(|at| format!("./gen{at}")).collect();
    let mut commands: Vec<(&str, i64, &str)> = lines.iter().map(|line| (line.as_str(), 3, "")).collect();
    assert_eq!(left_by(&commands).unwrap().1, "exited with code 3");
    commands.push(("make", 2, MAKE));
    assert_eq!(left_by(&commands).unwrap().0, "compile error");
    // What is known of it is not forgotten for a code.
    let again = [("make", 2, MAKE), ("make >/dev/null 2>&1; echo $?", 0, "2\n")];
    assert_eq!(left_by(&again).unwrap().0, "compile error");
}

#[test]
fn what_is_put_right_is_not_looked_for_again() {
    let diff =
        "Diff in /home/dev/project/src/lib.rs:1:\n-pub fn f()->u32{1}\n+pub fn f() -> u32 {\n+    1\n+}\n";
    let red = ("cargo fmt --check", 1, diff);
    told(&[(red.0, red.1, diff, "", "exited with code 1")]);
    mended(&[
        (red, ("cargo fmt", 0, "")),
        (red, ("cargo fmt --all", 0, "")),
        (("cargo fmt --all -- --check", 1, diff), ("cargo fmt --all", 0, "")),
        (("npx prettier --check src", 1, ""), ("npx prettier --write src", 0, "")),
        (("ruff check .", 1, ""), ("ruff check --fix .", 0, "")),
    ]);
    assert!(left(&[red, ("cargo build", 0, "")]).is_some());
}

/// What the shell says of how long a command took, and what the program does that is called `time`.
const TIMES: [&str; 2] = [
    "\nreal\t0m0.051s\nuser\t0m0.032s\nsys\t0m0.008s\n",
    "Command exited with non-zero status 1\n0.02user 0.00system 0:00.03elapsed 96%CPU (0avgtext+0avgdata 10240maxresident)k\n0inputs+0outputs (0major+1190minor)pagefaults 0swaps\n",
];

#[test]
fn what_was_timed_is_told_as_it_would_be_without() {
    let script = "cat: conf/settings.ini: No such file or directory\n";
    for (program, text, words) in [
        ("python3 app.py", TRACE, "bad input"),
        ("node app.js", NODE, "no luck"),
        ("./build.sh", script, script.trim_end()),
    ] {
        for (before, after, shown) in [
            ("time ", "; true", ""),
            ("time ", " || true", ""),
            ("time ", " 2>&1 | tail -20", ""),
            ("time (", "); echo done", "done\n"),
            ("time -p ", " ; git status --short", "?? out/\n"),
            ("/usr/bin/env time ", "; true", ""),
            ("/usr/bin/time ", " 2>&1 | tail -20", ""),
            ("/usr/bin/time -v ", "; true", ""),
        ] {
            let line = format!("{before}{program}{after}");
            let listed = "\tCommand being timed: \"x\"\n\tUser time (seconds): 0.01\n\tExit status: 1\n";
            for times in TIMES.into_iter().chain([listed, "real 0.05\nuser 0.03\nsys 0.00\n"]) {
                let red = format!("{text}{times}{shown}");
                let left = left_by(&[(&line, 0, &red)]).map(|(_, message)| message);
                assert_eq!(left.as_deref(), Some(words), "{line}\n{red}");
                let taken = times.trim_start_matches("Command exited with non-zero status 1\n");
                let green = format!("fine\n{taken}{shown}");
                assert_eq!(left_by(&[(&line, 0, &red), (&line, 0, &green)]), None, "{line}");
            }
        }
    }
}

#[test]
fn what_is_left_of_a_traceback_is_told() {
    let cut = "    return x[\"k\"]\n           ~^^^^^\nKeyError: 'k'\n";
    let last = "KeyError: 'k'\n";
    let script = "checking\ncat: conf/settings.ini: No such file or directory\n";
    for (line, text, words) in [
        ("python3 app.py > l 2>&1 || tail -3 l", cut, "'k'"),
        ("python3 app.py > l 2>&1 || tail -1 l", last, "'k'"),
        ("python3 app.py > l 2>&1; tail -3 l", cut, "'k'"),
        ("r=$(python3 app.py 2>&1); echo \"$r\" | tail -1", last, "'k'"),
        ("r=$(python3 app.py 2>&1); echo \"$r\" | tail -n 3", cut, "'k'"),
        (
            "python3 app.py 2>&1 | tail -2; echo \"took $SECONDS s\"",
            "    return\nKeyError: 'k'\ntook 3 s\n",
            "'k'",
        ),
        (
            "./build.sh 2>&1 | tail -2; echo \"took ${SECONDS}s\"",
            &format!("{script}took 3s\n"),
            "settings.ini",
        ),
        (
            "python3 app.py 2>&1 | sed \"s/^/  /\"",
            "  Traceback (most recent call last):\n    File \"/home/dev/project/app.py\", line 3, in <module>\n      raise ValueError(\"bad input\")\n  ValueError: bad input\n",
            "bad input",
        ),
    ] {
        let left = left_by(&[(line, 0, text)]).map(|(_, message)| message);
        assert!(left.as_ref().is_some_and(|left| left.contains(words)), "{line}: {left:?}");
        assert_eq!(left_by(&[(line, 0, text), (line, 0, "")]), None, "{line}");
    }
    let only_errors = ("python3 app.py 2>&1 >/dev/null | tail -3", 0, cut);
    assert_eq!(left_by(&[only_errors]).map(|(_, message)| message).as_deref(), Some("'k'"));
    assert_eq!(left_by(&[only_errors, ("python3 app.py", 0, "")]), None);
    assert_eq!(left_by(&[only_errors, (only_errors.0, 0, "")]), None);
    silent(&[
        ("python3 app.py > l 2>&1 || tail -3 l", 0, ""),
        ("python3 app.py > l 2>&1; tail -3 l", 0, "fine\nTotal: 5\n"),
        ("python3 app.py 2>&1 >/dev/null | tail -3", 0, ""),
        ("python3 app.py 2>&1 | tail -2; echo \"took $SECONDS s\"", 0, "fine\nTotal: 5\ntook 3 s\n"),
        ("python3 app.py 2>&1 | sed \"s/^/  /\"", 0, "  fine\n  Total: 5\n"),
    ]);
}

#[test]
fn the_last_of_several_ways_is_told() {
    let script = "cat: conf/settings.ini: No such file or directory\n";
    let first = "sudo -n python3 app.py 2>/dev/null || python3 app.py || true";
    let again = "python3 app.py; sleep 1; python3 app.py || true";
    for (line, text, words) in [
        (first, TRACE, "bad input"),
        (again, TRACE, "bad input"),
        ("python3 app.py || python3 app.py --safe || true", TRACE, "bad input"),
        ("python3 app.py --fast || node app.js || true", NODE, "no luck"),
        ("./build.sh 2>/dev/null || ./build.sh || true", script, script.trim_end()),
    ] {
        let left = left_by(&[(line, 0, text)]).map(|(_, message)| message);
        assert_eq!(left.as_deref(), Some(words), "{line}");
    }
    assert_eq!(left_by(&[(first, 0, TRACE), ("python3 app.py", 0, "fine\n")]), None);
    silent(&[
        (first, 0, "fine\n"),
        (again, 0, "<TRACE>fine\n"),
        ("python3 app.py || python3 app.py", 0, "<TRACE>"),
        ("python3 app.py || python3 app.py --safe || true", 0, "<TRACE>fine\n"),
        ("make || make || true", 0, "<MAKE>fine\n"),
    ]);
}

#[test]
fn a_framework_that_is_not_there_is_told() {
    told(&[
        (
            "PATH=/usr/bin:/bin; pytest -q; echo done",
            0,
            "/bin/sh: 1: pytest: not found\ndone\n",
            "error",
            "pytest: not found",
        ),
        ("vitest run; echo done", 0, "/bin/sh: 1: vitest: not found\ndone\n", "error", "vitest: not found"),
        ("mocha; echo done", 0, "/bin/sh: 1: mocha: not found\ndone\n", "error", "mocha: not found"),
        ("go test ./...; echo done", 0, "/bin/sh: 1: go: not found\ndone\n", "error", "go: not found"),
        ("pytest -q || true", 0, "/bin/sh: 1: pytest: not found\n", "error", "pytest: not found"),
        (
            "pytest; echo \"exit $?\"",
            0,
            "/bin/sh: 1: pytest: not found\nexit 127\n",
            "error",
            "pytest: not found",
        ),
        (
            "/bin/bash -lc 'pytest -q; echo done'",
            0,
            "/bin/bash: line 1: pytest: command not found\ndone\n",
            "error",
            "pytest: command not found",
        ),
        (
            "cd web && pytest -q; git status --short",
            0,
            "/bin/bash: line 1: pytest: command not found\n M a.py\n",
            "error",
            "pytest: command not found",
        ),
        (
            "jest; mocha",
            0,
            "/bin/sh: 1: jest: not found\n\n  1 passing (2ms)\n\n",
            "error",
            "jest: not found",
        ),
        (
            "python3 -m pytest -q; echo done",
            0,
            "/usr/bin/python3: No module named pytest\ndone\n",
            "error",
            "No module named pytest",
        ),
    ]);
    const RED: Ran = ("pytest -q; echo done", 0, "/bin/sh: 1: pytest: not found\ndone\n");
    mended(&[
        (RED, ("python3 -m pytest -q", 0, "1 passed in 0.01s\n")),
        (RED, ("pytest -q; echo done", 0, "1 passed in 0.01s\ndone\n")),
        (RED, ("pip install pytest && pytest", 0, "1 passed in 0.01s\n")),
    ]);
    silent(&[
        ("pytest -q || python3 -m pytest -q", 0, "/bin/sh: 1: pytest: not found\n1 passed in 0.01s\n"),
        (
            "pytest -q || python3 -m unittest",
            0,
            "/bin/sh: 1: pytest: not found\n.\n----------------------------------------------------------------------\nRan 1 test in 0.000s\n\nOK\n",
        ),
        ("pytest --version; echo done", 0, "/bin/sh: 1: pytest: not found\ndone\n"),
        ("pytest -q; echo done", 0, "1 passed in 0.01s\ndone\n"),
        ("pytest -q 2>/dev/null; cat old.log", 0, "/bin/sh: 1: pytest: not found\n"),
    ]);
}

/// jest and mocha before their first test, and vitest with settings that throw.
const NO_SETTINGS: &str = "Error: Could not find a config file based on provided values:\npath: \"/home/dev/project\"\ncwd: \"/home/dev/project\"\nConfig paths must be specified by either a direct path to a config\nfile, or a path to a directory. If directory is given, Jest will try to\ntraverse directory tree up, until it finds one of those files in exact order: \"jest.config.js\" or \"jest.config.ts\" or \"jest.config.mjs\" or \"jest.config.mts\" or \"jest.config.cjs\" or \"jest.config.cts\" or \"jest.config.json\".\n    at resolveConfigPathByTraversing (/home/dev/node_modules/jest-config/build/index.js:2596:11)\n    at resolveConfigPath (/home/dev/node_modules/jest-config/build/index.js:2567:10)\n    at Object.run (/home/dev/node_modules/jest-cli/build/index.js:665:34)\n";
const NOT_VALID: &str = "● Validation Error:\n\n  Module ts-jest in the transform option was not found.\n         <rootDir> is: /home/dev/project\n\n  Configuration Documentation:\n  https://jestjs.io/docs/configuration\n\n";
const NO_FILE: &str = "\n Exception during run: TypeError: bad x\n    at Object.<anonymous> (/home/dev/project/x.js:1:7)\n    at Module._compile (node:internal/modules/cjs/loader:1521:14)\n    at async exports.handler (/home/dev/node_modules/mocha/lib/cli/run.cjs:143:5)\n";
const NOT_REQUIRED: &str = "\n✖ ERROR: TypeError: bad y\n    at Object.<anonymous> (/home/dev/project/y.js:1:7)\n    at Module._compile (node:internal/modules/cjs/loader:1521:14)\n    at async runCommand (file:///home/dev/node_modules/mocha/lib/cli/cli.js:91:5)\n";
const NOT_STARTED: &str = "failed to load config from /home/dev/project/vitest.config.js\n\n⎯⎯⎯⎯⎯⎯⎯ Startup Error ⎯⎯⎯⎯⎯⎯⎯⎯\nError: bad config\n    at Object.<anonymous> (/home/dev/project/vitest.config.js:1:7)\n    at Module._compile (node:internal/modules/cjs/loader:1521:14)\n    at async bundleAndLoadConfigFile (file:///home/dev/node_modules/vite/dist/node/chunks/node.js:38019:21)\n\n\n\n";
const NONE: &str = "Error: No test files found: \"test\"\n";
const GREEN: &str = "\n\n  ✔ adds\n\n  1 passing (2ms)\n\n";

#[test]
fn what_a_framework_died_of_before_any_test_is_told() {
    for (program, text, kind, words) in [
        ("jest", NO_SETTINGS, "Error", "Could not find a config file"),
        ("jest", NOT_VALID, "validation error", "Module ts-jest in the transform option was not found."),
        ("jest", "No tests found, exiting with code 1\n", "error", "No tests found, exiting with code 1"),
        ("mocha x.js", NO_FILE, "TypeError", "bad x"),
        ("mocha -r ./y.js", NOT_REQUIRED, "TypeError", "bad y"),
        ("mocha", NONE, "error", "No test files found: \"test\""),
        ("vitest run", NOT_STARTED, "Error", "bad config"),
    ] {
        for (line, code, after) in [
            (program.to_owned(), 1, ""),
            (format!("{program}; echo done"), 0, "done\n"),
            (format!("{program} || true"), 0, ""),
            (format!("npx {program} 2>&1 | tail -60"), 0, ""),
        ] {
            let left = left_by(&[(&line, code, &format!("{text}{after}"))]);
            let is_told = left.as_ref().is_some_and(|(of, message)| of == kind && message.contains(words));
            assert!(is_told, "`{line}` should tell of {words}: {left:?}");
        }
    }
    told(&[
        ("mocha; ls", 0, "Error: No test files found: \"test\"\na.js\n", "error", "No test files found"),
        ("jest; ls", 0, NOT_VALID, "validation error", "Module ts-jest"),
    ]);
    mended(&[(("mocha; ls", 0, NONE), ("mocha; ls", 0, GREEN))]);
    silent(&[
        // It is what a test printed, or another time.
        ("mocha -R json; echo done", 0, "Error: no luck\n    at f (/home/dev/project/a.js:1:7)\n{}\ndone\n"),
        (
            "mocha; echo done",
            0,
            "Error: no luck\n    at f (/home/dev/project/a.js:1:7)\n\n  1 passing (2ms)\n\ndone\n",
        ),
        ("mocha; cat old.log", 0, NONE),
        ("mocha; echo done", 0, GREEN),
    ]);
}

#[test]
fn only_the_framework_that_says_so_found_no_tests() {
    let all = [
        ("jest", "PASS ./a.test.js\n\nTests:       1 passed, 1 total\n"),
        ("vitest run", " Test Files  1 passed (1)\n      Tests  1 passed (1)\n"),
        ("mocha", GREEN),
    ];
    for (of, text) in [
        (0, "No tests found, exiting with code 1\n"),
        (0, NOT_VALID),
        (1, "No test files found, exiting with code 1\n"),
        (2, NONE),
    ] {
        let (program, green) = all[of];
        let own = format!("{program} nothing");
        for (other, other_green) in all.into_iter().filter(|(other, _)| *other != program) {
            let line = format!("{other}; {own}; true");
            let left = |after: &str, green: &str| left_by(&[(&line, 0, text), (after, 0, green)]);
            assert!(left(other, other_green).is_some(), "`{line}` after `{other}`");
            assert_eq!(left(&own, green), None, "`{line}` after `{own}`");
            let alone = format!("{other}; true");
            assert_eq!(left_by(&[(&alone, 0, text)]), None, "{alone}: {text}");
        }
    }
}
