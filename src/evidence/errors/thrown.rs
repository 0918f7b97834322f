//! Exceptions that nobody caught: the calls that led to one are the last words of the program, whatever it
//! is called, and whatever a pipe makes of the exit code.

use super::diagnose::{Diagnosis, Found, diagnose, named};
use super::node;
use super::place::Location;
use super::python::{self, raised};
use super::said::{Speakers, is_nothing};
use super::work::Done;
use crate::evidence::lines::lines;
use crate::evidence::shell::{Command, Step};
use crate::evidence::tests::{drops_the_beginning, keeps_the_end};

const LONGEST: usize = 64 << 10;

/// What a program died of whose exit code a pipe hides.
pub(super) fn behind_a_pipe(text: &str, done: &Done) -> Option<Found> {
    let steps = done.command.steps.as_slice();
    // `|| true`
    let passed_over = steps.iter().rev().take_while(|step| matches!(step.program(), "true" | ":")).count();
    let steps = &steps[..steps.len() - passed_over];
    let piped = steps.iter().rev().take_while(|step| step.piped).count();
    let (program, pipes) = steps[..].split_at_checked(steps.len() - piped)?;
    let count = text.lines().count();
    let is_seen = pipes.iter().all(|step| keeps_the_end(step, count));
    let speaks = program.last().filter(|step| step.writes.is_empty() && !step.silent).is_some_and(may_throw);
    let may_be = is_seen && speaks && (done.hides_exit() || passed_over > 0);
    let thrown = may_be.then(|| last(text)).flatten()?;
    let told = diagnose(text, &done.speakers(Some(1))).filter(|found| !found.is_vague);
    let found = told.filter(|found| found.errors.iter().any(|error| error.message == thrown.message));
    Some(found.unwrap_or_else(|| Found { errors: vec![thrown], count: 1, ..Found::default() }))
}

/// What a program died of that gives no other reason.
pub(super) fn at_the_end(text: &str, done: &Done) -> Option<Found> {
    let may_be = done.command.steps.iter().any(may_throw);
    let thrown = may_be.then(|| last(text)).flatten()?;
    Some(Found { errors: vec![thrown], count: 1, ..Found::default() })
}

/// The exception that an output ends with, or of which a pipe left the name.
pub(super) fn last_words(command: &Command, text: &str, at_end: bool) -> Option<Found> {
    let thrown = last(text)
        .filter(|_| at_end)
        .or_else(|| cut_off(command, text).filter(|_| at_end || command.loops))?;
    let told = diagnose(text, &Speakers::default()).filter(|found| !found.is_vague);
    let found = told.filter(|found| found.errors.iter().any(|error| error.message == thrown.message));
    Some(found.unwrap_or_else(|| Found { errors: vec![thrown], count: 1, ..Found::default() }))
}

/// The name of an exception, where a pipe left out the calls that led to it.
fn cut_off(command: &Command, text: &str) -> Option<Diagnosis> {
    let count = text.lines().count();
    let is_tail = |step: &Step| drops_the_beginning(step, count);
    let is_chosen = |step: &Step| step.piped && matches!(step.program(), "grep" | "egrep" | "rg");
    // Each turn of a loop has an end of its own.
    let any_line = command.steps.iter().any(is_chosen)
        || (command.loops && command.steps.iter().any(|step| step.program() == "tail"));
    let told: Vec<_> = lines(end_of(text)).filter(|line| !line.trim().is_empty()).collect();
    let is_end = |line: &str| named(line).is_some() && !line.starts_with(' ') && looks_raised(line);
    let end = match any_line {
        true => told.iter().rfind(|line| is_end(line))?,
        false => {
            let (end, before) = told.split_last()?;
            let is_alone = before.last().is_none_or(|line| line.starts_with("    "));
            Some(end).filter(|end| is_end(end) && is_alone && command.steps.iter().any(is_tail))?
        }
    };
    let (kind, message) = raised(end).filter(|(_, message)| !is_nothing(message))?;
    Some(Diagnosis::new(0, kind, message, None))
}

/// Whether Node says at last that it ended, as it does where nobody caught an exception.
pub(super) fn ends_node(text: &str) -> bool {
    let last = lines(end_of(text)).filter(|line| !line.trim().is_empty()).last();
    last.is_some_and(|line| line.starts_with("Node.js v"))
}

/// Whether the end of an output may be that of a program that died of an exception.
pub(super) fn may_end(line: &str, text: &str) -> bool {
    let count = text.lines().count();
    let steps = Command::parse(line).steps;
    let is_cut = steps.iter().any(|step| step.piped && drops_the_beginning(step, count));
    let told: Vec<_> = lines(end_of(text)).filter(|line| !line.trim().is_empty()).collect();
    let (Some(end), before) = (told.last(), told.iter().rev().nth(1)) else { return false };
    // Where the beginning is left out, no call may be there to be seen.
    let is_name = is_cut && looks_raised(end) && before.is_none_or(|line| line.starts_with("    "));
    is_name || told.iter().any(|line| is_call(line) || is_end_of_group(line))
}

/// As much of an output as an exception and its calls may take.
fn end_of(text: &str) -> &str {
    &text[text.floor_char_boundary(text.len().saturating_sub(LONGEST))..]
}

/// Whether the calls that led to an exception are the end of an output.
pub(super) fn ends_with_calls(text: &str) -> bool {
    let told = lines(end_of(text)).filter(|line| !line.trim().is_empty() && !is_last_word(line));
    told.last().is_some_and(|line| is_call(&line))
}

/// What an output ends with, where that is an exception with some of the calls that led to it.
fn last(text: &str) -> Option<Diagnosis> {
    let all: Vec<_> = lines(end_of(text)).filter(|line| !line.trim().is_empty()).collect();
    let all: Vec<&str> = all.iter().map(|line| line.as_ref()).collect();
    let end = all.iter().rposition(|line| !is_last_word(line))?;
    if is_call(all[end]) { by_calls(&all[..=end]) } else { by_traceback(&all[..=end]) }
}

/// Python: the calls, and then the name.
fn by_traceback(lines: &[&str]) -> Option<Diagnosis> {
    let (end, before) = lines.split_last()?;
    let (kind, message) = raised(end).filter(|_| !end.starts_with(' '))?;
    let mut calls = before.iter().rev().take_while(|line| line.starts_with("  "));
    let place = calls.find_map(|line| python::frame(line.trim_start()))?.0;
    Some(Diagnosis::new(0, kind, message, Some(place).filter(Location::is_own)))
}

/// Node and Java: the name, and then the calls.
fn by_calls(lines: &[&str]) -> Option<Diagnosis> {
    let head = lines.iter().rposition(|line| !is_call(line) && !line.trim_start().starts_with("... "))?;
    let place = lines[head + 1..].iter().find_map(|line| node::frame(line.trim_start())?);
    let named = lines[head].trim_start();
    let named = named.strip_prefix("Caused by: ").unwrap_or(named);
    let named = match named.strip_prefix("Exception in thread \"") {
        Some(rest) => rest.split_once("\" ")?.1,
        None => named,
    };
    let (kind, message) = raised(named)?;
    Some(Diagnosis::new(0, kind, message, place.filter(Location::is_own)))
}

/// A call that led to an exception: `File "a.py", line 3, in main`, `at main (/a/b.js:3:9)`,
/// `at com.example.App.main(App.java:5)`.
fn is_call(line: &str) -> bool {
    let bare = line.trim_start();
    let is_indented = bare.len() < line.len();
    let bare = bare.strip_prefix("| ").map_or(bare, str::trim_start);
    let of_java = || {
        let (method, place) = bare.strip_prefix("at ")?.strip_suffix(')')?.split_once('(')?;
        let is_place = place.contains(".java:")
            || place.contains(".kt:")
            || place.contains(".scala:")
            || matches!(place, "Native Method" | "Unknown Source" | "<generated>");
        (is_place && method.contains('.')).then_some(())
    };
    let of_node = || bare.starts_with("at ") && node::frame(bare).is_some();
    is_indented && (python::frame(bare).is_some() || of_node() || of_java().is_some())
}

/// What Node says after all, or Java of the calls that it leaves out.
fn is_last_word(line: &str) -> bool {
    let bare = line.trim();
    bare.starts_with("Node.js v")
        || (bare.starts_with("... ") && bare.ends_with(" more"))
        || bare == "}"
        || (line.starts_with("  ") && !is_call(line) && bare.contains(": ") && !bare.starts_with("at "))
}

/// `    +------------------------------------`
fn is_end_of_group(line: &str) -> bool {
    let rule = line.trim().strip_prefix('+').unwrap_or_default();
    line.starts_with("  ") && rule.len() >= 30 && rule.bytes().all(|byte| byte == b'-')
}

/// Whether a line by itself may be the name of an exception.
fn looks_raised(line: &str) -> bool {
    let Some((kind, _)) = raised(line) else { return false };
    let capitals = kind.bytes().filter(u8::is_ascii_uppercase).count();
    let is_name = kind.starts_with(|c: char| c.is_ascii_uppercase());
    let is_joined = capitals > 1 && kind.bytes().any(|byte| byte.is_ascii_lowercase());
    is_name && (line.contains(": ") || line.contains('.') || is_joined)
}

/// Whether a step runs a program of a language whose exceptions are known by their calls.
pub(super) fn may_throw(step: &Step) -> bool {
    const PROGRAMS: [&str; 22] = [
        "alembic",
        "bun",
        "celery",
        "deno",
        "django-admin",
        "flask",
        "gunicorn",
        "java",
        "kotlin",
        "mypy",
        "node",
        "nodejs",
        "pip",
        "pip3",
        "pypy",
        "pypy3",
        "pytest",
        "scala",
        "ts-node",
        "tsx",
        "uvicorn",
        "py.test",
    ];
    let program = step.program();
    let ends = [".py", ".js", ".mjs", ".cjs", ".ts", ".jar"];
    program.starts_with("python")
        || PROGRAMS.contains(&program)
        || ends.iter().any(|end| program.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::super::collect::left_by;

    const CALLS: &str = "Traceback (most recent call last):\n  File \"/home/dev/project/app.py\", line 5, in <module>\n    main()\n  File \"/home/dev/project/app.py\", line 3, in main\n    next(iter([]))\n";
    const OLD: (&str, i64, &str) = (
        "python app.py",
        1,
        "Traceback (most recent call last):\n  File \"app.py\", line 1\nValueError: old\n",
    );

    #[track_caller]
    fn check(commands: &[(&str, i64, &str)], expected: Option<(&str, &str)>) {
        let left = left_by(commands);
        let told = left.as_ref().map(|(kind, message)| (kind.as_str(), message.as_str()));
        assert_eq!(told, expected, "{commands:?}");
    }

    #[test]
    fn what_a_program_died_of_is_told_whatever_it_is_called() {
        for (end, told) in [
            ("StopIteration\n", ("StopIteration", "StopIteration")),
            ("KeyboardInterrupt\n", ("KeyboardInterrupt", "KeyboardInterrupt")),
            ("my.module.Timeout: waited 5 s\n", ("Timeout", "waited 5 s")),
            ("__main__.Boom: no luck\n", ("Boom", "no luck")),
            ("Boom: no luck\n", ("Boom", "no luck")),
            ("ValueError: bad\n", ("ValueError", "bad")),
        ] {
            let whole = format!("start\n{CALLS}{end}");
            for line in [
                "python app.py 2>&1 | tail -20",
                "cd . && python3 -m app 2>&1 | cat",
                "./app.py 2>&1 | tee log",
                "python app.py 2>&1 || true",
                "python app.py 2>&1 | tail -20; true",
            ] {
                check(&[(line, 0, &whole)], Some(told));
            }
            // Where it begins is left out.
            let cut = &CALLS[CALLS.find("  File").unwrap()..];
            check(&[("python app.py 2>&1 | tail -5", 0, &format!("{cut}{end}"))], Some(told));
            let green = ("python app.py 2>&1 | tail -20", 0, "start\ndone\n");
            check(&[("python app.py 2>&1 | tail -20", 0, &whole), green], None);
        }
    }

    #[test]
    fn what_died_behind_a_pipe_mends_nothing() {
        for end in [
            "StopIteration",
            "KeyboardInterrupt",
            "my.module.Timeout: waited 5 s",
            "Boom: no luck",
            "my.Timeout",
        ] {
            for (line, text) in [
                ("python app.py 2>&1 | tail -20", format!("{CALLS}{end}\n")),
                (
                    "python app.py 2>&1 | tail -3",
                    format!("  File \"app.py\", line 3, in main\n    main()\n{end}\n"),
                ),
                ("python app.py 2>&1 | tail -2", format!("    main()\n{end}\n")),
                ("python app.py 2>&1 | tail -2", format!("    ~~~~^^\n{end}\n")),
                ("python app.py 2>&1 | tail -n 1", format!("{end}\n")),
                ("python app.py 2>&1 | tail -20", format!("{CALLS}{end}\nand a note to it\n")),
                (
                    "python app.py 2>&1 | tail -2",
                    format!("    | {end}\n    +------------------------------------\n"),
                ),
            ] {
                assert!(left_by(&[OLD, (line, 0, &text)]).is_some(), "{line}\n{text}");
            }
        }
        for (line, text) in [
            ("python app.py 2>&1 | tail -20", "done\n"),
            ("python app.py 2>&1 | tail -20", "Total: 5\n"),
            ("python app.py 2>&1 | tail -1", "done\n"),
            ("python app.py 2>&1 | tail -1", "OK\n"),
            ("python app.py 2>&1 | tail -1", "all done: 5 written\n"),
            ("python app.py | cat", "Result: fine\n"),
            ("python app.py 2>&1 | tail -2", "a\nTotal: 5\n"),
        ] {
            check(&[OLD, (line, 0, text)], None);
        }
    }

    const NODE: &str = "/home/dev/project/boom.js:2\nfunction f(){ throw new Boom(\"no luck\") }\n              ^\n\nBoom: no luck\n    at f (/home/dev/project/boom.js:2:21)\n    at Object.<anonymous> (/home/dev/project/boom.js:3:1)\n    at Module._compile (node:internal/modules/cjs/loader:1521:14)\n    at node:internal/main/run_main_module:28:49\n";
    const JAVA: &str = "Exception in thread \"main\" my.Boom: no luck\n\tat my.Boom.main(Boom.java:1)\n\tat java.base/java.lang.reflect.Method.invoke(Method.java:569)\n";

    #[test]
    fn node_and_java_tell_the_name_before_the_calls() {
        let told = Some(("Boom", "no luck"));
        check(&[("node boom.js 2>&1 | tail -20", 0, &format!("{NODE}\nNode.js v20.20.2\n"))], told);
        check(&[("node boom.js 2>&1 | tail -20", 0, NODE)], told);
        check(&[("java -jar a.jar 2>&1 | tail -20", 0, JAVA)], told);
        let caused =
            format!("{JAVA}Caused by: my.Deep: inner\n\tat my.Deep.go(Deep.java:7)\n\t... 12 more\n");
        check(&[("java -jar a.jar 2>&1 | tail -20", 0, &caused)], Some(("Deep", "inner")));
        check(&[("node boom.js", 1, &format!("{NODE}\nNode.js v20.20.2\n")), ("node other.js", 0, "")], told);
        // Only the calls came through.
        let old = ("java -jar a.jar", 1, JAVA);
        for text in ["\tat my.Boom.main(Boom.java:1)\n", "\tat a.B.c(Native Method)\n\t... 3 more\n"] {
            assert!(left_by(&[old, ("java -jar a.jar 2>&1 | tail -2", 0, text)]).is_some(), "{text}");
        }
        check(&[old, ("java -jar a.jar 2>&1 | tail -2", 0, "at last: done\n")], None);
    }

    #[test]
    fn an_exception_that_was_caught_or_shown_is_no_end() {
        let caught = format!("{CALLS}Boom: no luck\nwent on\n");
        let whole = format!("{CALLS}Boom: no luck\n");
        for (line, code, text) in [
            ("python app.py 2>&1 | tail -20", 0, caught.as_str()),
            ("python app.py", 0, &whole),
            ("cat crash.log | tail -20", 0, &whole),
            ("tail -20 crash.log", 0, &whole),
            ("grep -A9 Traceback crash.log | tail -20", 0, &whole),
            ("docker logs web 2>&1 | tail -20", 0, &whole),
            ("journalctl -u web | tail -20", 0, &whole),
            ("python app.py 2>&1 | head -20; cat crash.log | tail -9", 0, &whole),
            ("set -o pipefail; python app.py 2>&1 | tail -20", 0, &whole),
            ("python app.py 2>/dev/null >out.log | tail -20", 0, &whole),
            ("python app.py 2>&1 | tail -20", 0, "Usage: app\n  name: what\n"),
        ] {
            check(&[(line, code, text)], None);
        }
    }
}
