//! What is known of tests that failed where no error says why.

use super::diagnose::{Diagnosis, Found, diagnose};
use super::said::{Speakers, not_there};
use super::verdict::told_from;
use super::work::Done;
use crate::evidence::lines::lines;
use crate::evidence::tests::{TestRun, Unit, ended_badly, read, runs_tests, still_failing};

/// The first test that failed, or how many did.
pub(super) fn test(command: &str, exit_code: i64, text: &str) -> Option<Found> {
    let runs = if runs_tests(command) { read(command, Some(exit_code), text) } else { Vec::new() };
    named(&runs).or_else(|| ended_badly(command, exit_code, text).then(|| ended_with(exit_code)))
}

/// Whether tests failed by a count of their own: what others only said beside them is not the reason.
pub(super) fn are_counted(command: &str, exit_code: Option<i64>, text: &str) -> bool {
    let runs = if runs_tests(command) { read(command, exit_code, text) } else { Vec::new() };
    runs.iter().any(|run| run.failures() > Some(0) || run.least > 0)
}

/// Whether tests came to a summary, whatever it says.
pub(super) fn are_seen(command: &str, text: &str) -> bool {
    let runs = if runs_tests(command) { read(command, Some(0), text) } else { Vec::new() };
    runs.iter().any(|run| run.counts.is_some() || run.failed())
}

/// Whether all that is seen of tests says that they passed, whatever may be hidden.
pub(super) fn look_green(command: &str, text: &str) -> bool {
    let runs = if runs_tests(command) { read(command, Some(0), text) } else { Vec::new() };
    !runs.is_empty() && runs.iter().all(|run| run.looks_green)
}

/// Why tests failed that were followed by something else, whose exit code says nothing of them.
pub(super) fn before_another(command: &str, text: &str, done: &Done) -> Option<Found> {
    let mut runs = still_failing(command, Some(0), text);
    // Where a pipe let only names through, a later turn of a loop may have mended them.
    runs.retain(|run| run.failures().is_some() || !done.loops());
    told_of(&runs, command, Some(0), text)
}

/// Why tests failed in a command that did the same more than once: by summaries of their own, which
/// nothing that followed can have mended.
pub(super) fn to_the_end(command: &str, exit_code: Option<i64>, text: &str) -> Option<Found> {
    let mut runs = if runs_tests(command) { still_failing(command, exit_code, text) } else { Vec::new() };
    runs.retain(|run| run.counts.is_some());
    told_of(&runs, command, exit_code, text)
}

/// The first test that failed by a summary of its own, in a command that ended well all the same.
pub(super) fn on_the_way(command: &str, text: &str) -> Option<Found> {
    let mut runs = if runs_tests(command) { read(command, Some(0), text) } else { Vec::new() };
    runs.retain(|run| run.failures() > Some(0));
    named(&runs)
}

/// The error of the first of `runs`, where no other's can be taken for it.
fn told_of(runs: &[TestRun], command: &str, exit_code: Option<i64>, text: &str) -> Option<Found> {
    let name = runs.iter().find_map(|run| run.failing.first());
    let others = read(command, exit_code, text);
    let are_all = others.iter().filter(|run| !run.failing.is_empty()).all(|run| runs.contains(run));
    let own = if are_all { told_from(text) } else { name.and_then(|name| told_under(text, name)) };
    runs.first()?;
    own.and_then(|text| diagnose(text, &Speakers::default())).or_else(|| named(runs))
}

/// An output from where a test that failed is told of under its name.
fn told_under<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let bare = format!("{} ", name.rsplit("::").next().unwrap_or(name));
    let is_head = |line: &str| match name.contains(".py") {
        true => line.starts_with("____") && line.contains(&bare),
        false => line.contains(name),
    };
    let at = text.lines().position(is_head)?;
    let from: usize = text.split_inclusive('\n').take(at).map(str::len).sum();
    Some(&text[from..])
}

/// The first test that failed, where a text of others followed it: by a summary that can be no
/// other's.
pub(super) fn before_text(command: &str, exit_code: Option<i64>, text: &str) -> Option<Found> {
    let runs = if runs_tests(command) { read(command, exit_code, text) } else { Vec::new() };
    let [run] = runs.as_slice() else { return None };
    // Names alone may be of the text.
    (run.counts.is_some_and(|counts| counts.failed > 0) || run.least > 0 || run.said.is_some())
        .then_some(())?;
    named(&runs)
}

/// Why tests failed, in an output that has the text of others too; `None` where they
/// may not have begun at all.
pub(super) fn beside_text(command: &str, exit_code: i64, text: &str, done: &Done) -> Option<Found> {
    let runs = read(command, Some(exit_code), text);
    if runs.is_empty() || !done.reached_its_end(text) {
        return None;
    }
    // What is read may be part of the text that is shown.
    let is_own = runs.iter().any(|run| run.counts.is_some() || run.least > 0 || run.said.is_some());
    let own = is_own.then(|| {
        let told = told_from(text).and_then(|text| diagnose(text, &Speakers::default()));
        told.or_else(|| named(&runs))
    });
    own.flatten().or_else(|| Some(ended_with(exit_code)))
}

/// What was to run tests, or to build, and was not there.
pub(super) fn missing_tool(text: &str, done: &Done) -> Option<Found> {
    let last = lines(text).filter(|line| !line.trim().is_empty()).last()?;
    let (program, message) = not_there(&last)?;
    done.needs(program).then(|| vague("error", message))
}

/// A program of the command that was not there: the last that was said.
pub(super) fn missing(text: &str, done: &Done) -> Option<Found> {
    let last = lines(text).filter(|line| !line.trim().is_empty()).last()?;
    let (program, message) = not_there(&last)?;
    done.starts(program).then(|| vague("error", message))
}

pub(super) fn ended_with(exit_code: i64) -> Found {
    bare("test failure", &format!("the tests ended with exit code {exit_code}"))
}

pub(super) fn took_too_long() -> Found {
    vague("timeout", "`timeout` ended it: it took too long")
}

/// A test that failed, where nothing says of what.
pub(super) fn named_test(name: &str) -> Found {
    vague("test failure", &format!("{name} failed"))
}

fn named(runs: &[TestRun]) -> Option<Found> {
    let name = runs.iter().find_map(|run| run.failing.first());
    let words = match name {
        Some(name) => format!("{name} failed"),
        None => runs.iter().find_map(counted)?,
    };
    let is_glimpse = name.is_none() && !runs.iter().any(|run| run.failures() > Some(0));
    Some(Found { is_glimpse, ..vague("test failure", &words) })
}

/// How many failed, where a summary is all that came through, or a part of it; or what else did.
fn counted(run: &TestRun) -> Option<String> {
    let unit = match run.unit {
        Unit::Tests => "test",
        Unit::Packages => "package",
    };
    let told = |failed: u64| {
        let plural = if failed == 1 { "" } else { "s" };
        format!("{failed} {unit}{plural} failed")
    };
    match run.failures().filter(|failed| *failed > 0) {
        Some(failed) => Some(told(failed)),
        None if run.least > 0 => Some(format!("at least {}", told(run.least))),
        None => run.said.clone(),
    }
}

/// That something failed, and no word of why.
pub(super) fn bare(kind: &str, message: &str) -> Found {
    Found { is_bare: true, ..vague(kind, message) }
}

pub(super) fn vague(kind: &str, message: &str) -> Found {
    let errors = vec![Diagnosis::new(0, kind, message, None)];
    Found { errors, count: 1, is_vague: true, ..Found::default() }
}

#[cfg(test)]
mod tests {
    use super::super::collect::left_by;

    #[track_caller]
    fn check(commands: &[(&str, i64, &str)], expected: &str) {
        assert_eq!(left_by(commands).map(|(_, message)| message).as_deref(), Some(expected), "{commands:?}");
    }

    #[test]
    fn tests_that_failed_first_are_told_whatever_is_said_after_them() {
        let missing = "bash: line 1: nosuch: command not found\n";
        let red = "1 failed in 0.02s\n";
        let (pytest, later) = (("pytest -q --no-summary | tail -1", 0, red), ("nosuch", 127, missing));
        check(&[pytest, later], "1 test failed");
        check(&[later, pytest], "1 test failed");
        for (line, code, said) in [
            ("pytest -q | tail -1; nosuch", 127, missing),
            ("pytest -q | tail -1; git nosuch", 1, "git: 'nosuch' is not a git command.\n"),
            ("pytest -q | tail -1; rm a", 1, "rm: cannot remove 'a': No such file or directory\n"),
        ] {
            check(&[(line, code, &format!("{red}{said}"))], "1 test failed");
            let green = format!("1 passed in 0.02s\n{said}");
            let told = left_by(&[(line, code, &green)]).unwrap().1;
            assert!(said.trim_end().ends_with(&told), "{line}: {told}");
        }
        let unittest = "Ran 2 tests in 0.000s\n\nFAILED (failures=1)\n";
        let line = "python -m unittest 2>&1 | tail -3; nosuch";
        check(&[(line, 127, &format!("{unittest}{missing}"))], "1 test failed");
        let error =
            "Traceback (most recent call last):\n  File \"b.py\", line 1, in f\n    x\nKeyError: 'z'\n";
        check(&[pytest, ("python b.py", 1, error)], "1 test failed");
        check(&[("python b.py", 1, error), pytest], "'z'");
    }
}
