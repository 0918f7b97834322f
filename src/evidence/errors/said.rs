//! What a program says of its own accord, without a place: the last resort.

use super::diagnose::{Diagnosis, is_echo, named};
use crate::evidence::shell::base_name;

#[derive(Debug)]
pub(super) struct Said<'a> {
    programs: &'a [&'a str],
    /// What is called an error.
    error: Option<Diagnosis>,
    /// The first test that pytest lists, with its reason.
    listed: Option<Diagnosis>,
    /// What a program of the command said under its own name.
    own: Option<Diagnosis>,
}

impl<'a> Said<'a> {
    pub(super) fn new(programs: &'a [&'a str]) -> Self {
        Self { programs, error: None, listed: None, own: None }
    }

    pub(super) fn line(&mut self, at: usize, line: &str) {
        let plain = |message| Diagnosis::new(at, "error", message, None);
        if self.error.is_none() {
            self.error = message(line).map(plain);
        }
        if self.listed.is_none() {
            self.listed = listed(line).map(|(kind, message)| Diagnosis::new(at, kind, message, None));
        }
        if self.own.is_none() {
            self.own = own(line, self.programs).map(plain);
        }
    }

    /// What says most, and whether it is called an error at all.
    pub(super) fn first(self) -> Option<(Diagnosis, bool)> {
        let error = self.listed.or(self.error).map(|error| (error, true));
        error.or_else(|| self.own.map(|own| (own, false)))
    }
}

fn message(line: &str) -> Option<&str> {
    let heads = ["error: ", "Error: ", "ERROR: ", "fatal: "];
    // Programs of Python name themselves first.
    let is_name =
        |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" ._-".contains(&byte));
    let named = || {
        let both = line.split_once(": error: ").or_else(|| line.split_once(": fatal error: "));
        both.filter(|(name, _)| is_name(name)).map(|(_, text)| text)
    };
    let npm = || {
        let rest = line.strip_prefix("npm error ").or_else(|| line.strip_prefix("npm ERR! "))?;
        ["Missing script: ", "enoent ", "404 ", "ERESOLVE "]
            .iter()
            .any(|head| rest.starts_with(head))
            .then_some(rest)
    };
    let message = heads.iter().find_map(|head| line.strip_prefix(head)).or_else(named).or_else(npm)?;
    let usage = message.starts_with("usage: ");
    (!message.trim().is_empty() && !usage && !is_nothing(message) && !is_echo(message)).then_some(message)
}

/// `0 errors` is what there is to say of none.
fn is_nothing(message: &str) -> bool {
    let message = message.trim().to_ascii_lowercase();
    let none = ["0 ", "no error", "none", "null", "nil", "undefined"];
    none.iter().any(|head| message.starts_with(head)) && message.len() < 40 || message == "0"
}

/// `FAILED a.py::test_b - AssertionError: assert 1 == 2`
fn listed(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("ERROR "))?;
    let (_, reason) = rest.split_once(" - ").filter(|(name, _)| name.contains("::"))?;
    let reason = reason.trim();
    match named(reason) {
        Some((kind, message)) => Some((kind.rsplit('.').next().unwrap_or(kind), message)),
        None if reason.starts_with("assert ") => Some(("AssertionError", reason)),
        None => (!reason.is_empty()).then_some(("test failure", reason)),
    }
}

/// `rm: cannot remove 'a': No such file or directory`, `bash: line 1: x: command not found`.
fn own<'l>(line: &'l str, programs: &[&str]) -> Option<&'l str> {
    let (name, rest) = line.split_once(": ")?;
    let name = base_name(name);
    if matches!(name, "bash" | "sh" | "dash" | "zsh") {
        // `bash: line 1: x: command not found`, `sh: 1: x: not found`
        let is_row =
            |place: &str| place.trim_start_matches("line ").bytes().all(|byte| byte.is_ascii_digit());
        let message = rest.split_once(": ").filter(|(place, _)| is_row(place)).map_or(rest, |(_, rest)| rest);
        let (program, why) = message.split_once(": ")?;
        return (programs.contains(&base_name(program)) && why.ends_with("not found")).then_some(message);
    }
    let spoke = programs.contains(&name);
    let message = match name {
        // What it says of a failure under it is an echo.
        "make" | "gmake" => rest.strip_prefix("*** ").filter(|rest| !rest.starts_with('['))?,
        _ => rest,
    };
    let aside = ["warning", "Warning", "note", "usage", "Usage", "info"];
    let message = message.trim();
    let says = message.contains(' ') && !aside.iter().any(|head| message.starts_with(head));
    (spoke && says && !is_nothing(message)).then_some(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<(&str, &str)>) {
        let mut said = Said::new(&["rm", "make", "python3", "x"]);
        text.lines().enumerate().for_each(|(at, line)| said.line(at, line));
        let first = said.first().map(|(first, _)| first);
        let told = first.as_ref().map(|first| (first.kind.as_str(), first.message.as_str()));
        assert_eq!(told, expected, "{text}");
    }

    #[test]
    fn a_program_speaks_under_its_own_name() {
        check("rm: cannot remove 'a': No such file", Some(("error", "cannot remove 'a': No such file")));
        check("/usr/bin/python3: No module named nomod", Some(("error", "No module named nomod")));
        check("bash: line 1: x: command not found", Some(("error", "x: command not found")));
        check(
            "make: *** No rule to make target 'x'.  Stop.",
            Some(("error", "No rule to make target 'x'. Stop.")),
        );
        check("cc1: fatal error: a.c: No such file", Some(("error", "a.c: No such file")));
        check("npm error code E\nnpm error Missing script: \"x\"", Some(("error", "Missing script: \"x\"")));
        check("FAILED a.py::x - assert 1 == 2\n1 failed in 0.1s", Some(("AssertionError", "assert 1 == 2")));
        check("FAILED a.py::x - json.E.JSONDecodeError: no", Some(("JSONDecodeError", "no")));
    }

    #[test]
    fn what_is_no_error_is_none() {
        for text in [
            "error: 0 errors",
            "Error: none",
            "ERROR: null",
            "cat: no such file",
            "rm: warning: skipped a",
            "make: *** [Makefile:2: all] Error 1",
            "make: Entering directory 'a'",
            "bash: line 1: 12 Killed sleep 5",
            "python3: ok",
            "bash: line 1: other: command not found",
        ] {
            check(text, None);
        }
    }
}
