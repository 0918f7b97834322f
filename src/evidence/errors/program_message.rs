//! A program's own message without a place: the last resort.

use crate::evidence::command_line::base_name;
use crate::evidence::errors::diagnose::{Diagnosis, is_echo, named};
use crate::evidence::errors::formats::rust;

/// The programs whose own messages count in an output.
#[derive(Debug, Default)]
pub(super) struct Speakers<'a> {
    pub(super) programs: Vec<&'a str>,
    /// Whether one of them is known to have tried to run something that does not exist.
    pub(super) lack_one: bool,
}

#[derive(Debug)]
pub(super) struct Said<'a> {
    programs: &'a [&'a str],
    lack_one: bool,
    /// A message labelled as an error.
    error: Option<Diagnosis>,
    /// The first test that pytest lists, with its reason.
    listed: Option<Diagnosis>,
    /// A rustc error without its place.
    headed: Option<Diagnosis>,
    /// What cargo could not compile, if the errors were left out.
    could_not: Option<Diagnosis>,
    /// What a program of the command printed under its own name.
    own: Option<Diagnosis>,
    /// The last program that a shell could not find.
    missing: Option<Diagnosis>,
    /// Whether npm itself failed and is about to say why.
    npm_fails: bool,
}

impl<'a> Said<'a> {
    pub(super) fn new(speakers: &'a Speakers<'a>) -> Self {
        let (programs, lack_one) = (speakers.programs.as_slice(), speakers.lack_one);
        let (error, listed, headed, could_not, own, missing) = (None, None, None, None, None, None);
        Self { programs, lack_one, error, listed, headed, could_not, own, missing, npm_fails: false }
    }

    pub(super) fn line(&mut self, at: usize, line: &str) {
        let plain = |message| Diagnosis::new(at, "error", message, None);
        if self.error.is_none() {
            self.error = message(line).or_else(|| self.npm(line)).map(plain);
        }
        if self.listed.is_none() {
            self.listed = listed(line).map(|(kind, message)| Diagnosis::new(at, kind, message, None));
        }
        if self.headed.is_none() {
            let head = rust::coded(line);
            self.headed = head.map(|(kind, words)| Diagnosis::new(at, &kind, words, None));
        }
        if self.could_not.is_none() {
            let words = could_not(line);
            self.could_not = words.map(|words| Diagnosis::new(at, "compile error", words, None));
        }
        if self.own.is_none() {
            self.own = own(line, self.programs).map(plain);
        }
        self.missing = not_there(line).map(|(_, message)| plain(message)).or(self.missing.take());
        // `make: *** [Makefile:2: all] Error 127`
        self.lack_one |= line.contains("make") && line.ends_with(" Error 127");
    }

    fn npm<'l>(&mut self, line: &'l str) -> Option<&'l str> {
        let rest = line.strip_prefix("npm error").or_else(|| line.strip_prefix("npm ERR!"))?;
        let rest = rest.strip_prefix(' ')?;
        if let Some(code) = rest.strip_prefix("code ") {
            // A number or this word is about what npm ran.
            self.npm_fails = code.starts_with('E') && code != "ELIFECYCLE";
            return None;
        }
        let own = ["Missing script: ", "npx canceled ", "could not determine executable "];
        let details = ["errno ", "syscall ", "path ", "dest ", "A complete log "];
        let says = self.npm_fails && !details.iter().any(|head| rest.starts_with(head));
        let says = says || own.iter().any(|head| rest.starts_with(head));
        (says && !rest.trim().is_empty()).then_some(rest)
    }

    /// The most specific of them.
    pub(super) fn first(self) -> Option<Diagnosis> {
        let missing = self.missing.filter(|_| self.lack_one);
        self.listed.or(self.error).or(self.headed).or(self.could_not).or(self.own).or(missing)
    }
}

/// A message labelled as an error.
fn message(line: &str) -> Option<&str> {
    let heads = ["error: ", "Error: ", "ERROR: ", "fatal: "];
    // Python programs print their own name first.
    let is_name =
        |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" ._-".contains(&byte));
    let named = || {
        let both = line.split_once(": error: ").or_else(|| line.split_once(": fatal error: "));
        both.filter(|(name, _)| is_name(name)).map(|(_, text)| text)
    };
    let message =
        heads.iter().find_map(|head| line.strip_prefix(head)).or_else(named).or_else(|| found_none(line))?;
    let usage = message.starts_with("usage: ");
    (!message.trim().is_empty() && !usage && !is_nothing(message) && !is_echo(message)).then_some(message)
}

/// ``error: could not compile `a` (lib) due to 4 previous errors``, if the errors were left out.
fn could_not(line: &str) -> Option<&str> {
    line.strip_prefix("error: ").filter(|words| words.starts_with("could not compile"))
}

/// jest, vitest and mocha, if no file matches the given word.
fn found_none(line: &str) -> Option<&str> {
    match line {
        "No tests found, exiting with code 1" | "No test files found, exiting with code 1" => Some(line),
        _ => line.strip_prefix("Error: ").filter(|words| words.starts_with("No test files found: ")),
    }
}

/// `0 errors` means that there are none.
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

/// `bash: line 1: x: command not found`: the program, and what is said about it.
fn not_there(line: &str) -> Option<(&str, &str)> {
    let (before, why) = line.rsplit_once(": ")?;
    let (speaker, program) = before.rsplit_once(": ")?;
    let speaker = base_name(speaker.split(": ").next().unwrap_or(speaker));
    let starts_others = matches!(speaker, "bash" | "sh" | "dash" | "zsh" | "make" | "gmake");
    let is_missing = match why {
        // `./build.sh: line 3: x: command not found`
        "command not found" | "not found" => starts_others || has_row(before),
        "No such file or directory" | "Permission denied" => starts_others,
        _ => false,
    };
    let is_program = !program.is_empty() && !program.contains(' ') && program != "cd";
    (is_missing && is_program).then(|| (base_name(program), &line[before.len() - program.len()..]))
}

/// `./build.sh: line 3: x`
fn has_row(before: &str) -> bool {
    let row = before.rsplit(": ").nth(1).unwrap_or_default();
    let row = row.strip_prefix("line ").unwrap_or(row);
    !row.is_empty() && row.bytes().all(|byte| byte.is_ascii_digit())
}

/// `rm: cannot remove 'a': No such file or directory`, `bash: line 1: x: command not found`.
fn own<'l>(line: &'l str, programs: &[&str]) -> Option<&'l str> {
    let (name, rest) = line.split_once(": ")?;
    let name = base_name(name);
    if matches!(name, "bash" | "sh" | "dash" | "zsh") {
        let (program, message) = not_there(line)?;
        return programs.contains(&program).then_some(message);
    }
    let spoke = programs.contains(&name);
    let message = match name {
        // What `make` prints about a failed recipe only repeats it.
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
    use crate::text::test_rows;

    #[track_caller]
    fn check(text: &str, expected: Option<(&str, &str)>) {
        let programs = vec!["rm", "make", "python3", "x"];
        let speakers = Speakers { programs, lack_one: false };
        let mut said = Said::new(&speakers);
        text.lines().enumerate().for_each(|(at, line)| said.line(at, line));
        let first = said.first();
        let told = first.as_ref().map(|first| (first.kind.as_str(), first.message.as_str()));
        assert_eq!(told, expected, "{text}");
    }

    #[test]
    fn a_program_speaks_under_its_own_name() {
        let rows = include_str!("../../../tests/corpus/program_messages.jsonl");
        for (text, kind, message) in test_rows::<(String, Option<String>, Option<String>)>(rows) {
            check(&text, kind.as_deref().zip(message.as_deref()));
        }
    }
}
