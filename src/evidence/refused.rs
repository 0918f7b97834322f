//! Options that a program does not know: it says so, does nothing, and is called again without them.
//!
//! What it was asked for is what the rest of its words say.

use std::borrow::Cow;

/// A longer output is none of a program that did nothing.
const LONGEST: usize = 4096;
const MOST_OPTIONS: usize = 16;

/// A command line without the options that `text`, which it printed, says are not known.
pub(super) fn without_refused<'a>(line: &'a str, text: &str) -> Cow<'a, str> {
    let all = if text.len() <= LONGEST { text.lines().flat_map(refused).collect() } else { Vec::new() };
    let options = all.into_iter().filter(|option| option.len() > 1).take(MOST_OPTIONS);
    options.fold(Cow::Borrowed(line), |line, option| match without(&line, &option) {
        Some(rest) => Cow::Owned(rest),
        None => line,
    })
}

/// The options that a line of an output names as not known.
fn refused(line: &str) -> Vec<String> {
    let is_option = |word: &str| word.starts_with('-');
    let quoted = |rest: &str| {
        rest.trim_start_matches(['"', '\'', '`']).split(['"', '\'', '`']).next().map(str::to_owned)
    };
    if let Some((_, words)) = line.split_once(": unrecognized arguments: ") {
        return words.split_ascii_whitespace().filter(|word| is_option(word)).map(str::to_owned).collect();
    }
    if let Some((_, word)) = line.split_once(": bad option: ") {
        return vec![word.trim().to_owned()].into_iter().filter(|word| is_option(word)).collect();
    }
    let heads = ["error: unexpected argument ", "error: unknown option ", "Error: Unknown option "];
    if let Some(rest) = heads.iter().find_map(|head| Some(line.split_once(head)?.1)) {
        return quoted(rest).into_iter().filter(|word| is_option(word)).collect();
    }
    // jest names it without its dashes.
    let of_jest = line.trim_start().strip_prefix("Unrecognized option ").and_then(quoted);
    of_jest.map(|name| format!("--{name}")).into_iter().collect()
}

/// A line without an option, and its value.
fn without(line: &str, option: &str) -> Option<String> {
    let is_end = |c: char| c.is_whitespace() || matches!(c, '\'' | '"' | ';' | '|' | '&' | ')');
    let is_it = |at: &usize| {
        let (before, rest) = (&line[..*at], &line[at + option.len()..]);
        before.ends_with(char::is_whitespace)
            && (rest.is_empty() || rest.starts_with(|c: char| c == '=' || is_end(c)))
    };
    let at = line.match_indices(option).map(|(at, _)| at).find(is_it)?;
    let rest = &line[at + option.len()..];
    let rest = &rest[rest.find(is_end).unwrap_or(rest.len())..];
    // `-n 4`
    let value = rest.trim_start().find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.trim_start().len());
    let after = &rest.trim_start()[value..];
    let rest = if value > 0 && (after.is_empty() || after.starts_with(is_end)) { after } else { rest };
    let before = line[..at].trim_end();
    // Nothing is handed on any more.
    let hands_on = !rest.is_empty() && !rest.starts_with(['\'', '"', ';', '|', '&', ')']);
    let before = before.strip_suffix(" --").filter(|_| !hands_on).unwrap_or(before);
    Some(format!("{before}{}{rest}", if rest.starts_with(char::is_whitespace) { "" } else { " " }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::proofs::{PASSED, left};

    #[test]
    fn a_line_is_read_without_what_its_program_does_not_know() {
        let argparse = "python -m pytest: error: unrecognized arguments: -n --timeout=60 x\n";
        for (line, text, expected) in [
            ("pytest -n 4 -q", argparse, "pytest -q"),
            ("bash -lc 'pytest -q --timeout=60'", argparse, "bash -lc 'pytest -q '"),
            ("pytest -n4 x -q", argparse, "pytest -n4 x -q"),
            ("npx jest --bail2=x a; ls", "  Unrecognized option \"bail2\".\n", "npx jest a; ls"),
            ("npm test -- --foo", "  Unrecognized option \"foo\".\n", "npm test "),
            ("node --test --foo a.js", "node: bad option: --foo\n", "node --test a.js"),
            ("cargo test --foo | tail", "error: unexpected argument '--foo' found\n", "cargo test | tail"),
            ("vitest run --foo", "CACError: Unknown option `--foo`\n", "vitest run "),
            ("pytest -q", argparse, "pytest -q"),
            ("pytest --é -n", argparse, "pytest --é "),
        ] {
            assert_eq!(without_refused(line, text), expected, "{line}");
        }
    }

    #[test]
    fn an_option_that_was_not_known_is_not_needed_again() {
        let usage = "ERROR: usage: pytest [options] [file_or_dir] [file_or_dir] [...]\npytest: error: unrecognized arguments: -n\n  inifile: None\n  rootdir: /home/dev/shop\n\n";
        for (red, code) in
            [("pytest -n 4", 4), ("pytest -n 4 2>&1 | tail -5", 0), ("pytest -n 4 test_a.py", 4)]
        {
            assert!(left(&[(red, code, usage)]).1, "{red}");
            assert_eq!(left(&[(red, code, usage), ("pytest -q", 0, PASSED)]), (Vec::new(), false), "{red}");
            assert!(left(&[(red, code, usage), ("pytest -q test_b.py", 0, PASSED)]).1, "{red}");
        }
        let jest = "● Unrecognized CLI Parameter:\n\n  Unrecognized option \"foo\".\n\n  CLI Options Documentation:\n  https://jestjs.io/docs/cli\n\n";
        let green = "PASS ./a.test.js\n\nTest Suites: 1 passed, 1 total\nTests:       2 passed, 2 total\n";
        for (red, then) in [("npx jest --foo", "npx jest"), ("npm test -- --foo", "npm test")] {
            assert!(left(&[(red, 1, jest)]).1, "{red}");
            assert!(!left(&[(red, 1, jest), (then, 0, green)]).1, "{red}");
        }
        let script = "usage: app.py [-h]\napp.py: error: unrecognized arguments: --all\n";
        assert!(!left(&[("python3 app.py --all", 2, script), ("python3 app.py", 0, "")]).1);
        assert!(left(&[("python3 app.py --all", 2, script), ("python3 b.py", 0, "")]).1);
    }
}
