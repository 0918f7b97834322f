//! What options and pipes do to an output: another format, an early end, only
//! its first lines.

use super::detect::Start;
use super::dialect::dialect;
use super::tally::Tally;
use super::words::unbundled;
use super::{Framework, Reading};
use crate::evidence::shell::Step;

/// The form that the output of a test run was asked for in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The framework's own, one of those for people.
    Own,
    Tap,
    Junit,
    /// A mark for each test, without counts.
    Marks,
    /// One without counts that can be read.
    Other,
}

pub(super) fn form(framework: Framework, args: &[String]) -> Form {
    let options: &[&str] = match framework {
        Framework::Mocha => &["-R", "--reporter"],
        Framework::Node => &["--test-reporter"],
        Framework::Vitest => &["--reporter"],
        Framework::Pytest if is_very_quiet(args) => return Form::Marks,
        _ => return Form::Own,
    };
    let mut found = None;
    let mut words = args.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let value = match word.split_once('=') {
            Some((option, value)) if options.contains(&option) => value,
            None if options.contains(&word) => words.next().unwrap_or_default(),
            _ => continue,
        };
        // Of several, which one is shown cannot be told.
        let other = found.replace(value).is_some();
        if other {
            return Form::Own;
        }
    }
    match (framework, found) {
        // Node's counts follow its points in this form.
        (Framework::Node, Some("tap")) | (_, None) => Form::Own,
        (_, Some("tap" | "tap-flat")) => Form::Tap,
        (_, Some("junit" | "xunit")) => Form::Junit,
        (_, Some("json" | "json-stream" | "json-cov" | "lcov" | "html" | "blob")) => Form::Other,
        (Framework::Node, Some("dot")) => Form::Other,
        _ => Form::Own,
    }
}

/// Whether pytest is to leave out its counts, and shows nothing that tests print.
fn is_very_quiet(args: &[String]) -> bool {
    let words = unbundled(dialect(Framework::Pytest), args);
    let count = |names: &[&str]| words.iter().filter(|word| names.contains(&word.as_str())).count();
    count(&["-q", "--quiet"]) >= 2 + count(&["-v", "--verbose"])
        && count(&["-s", "--capture=no", "--verbosity"]) == 0
}

/// Whether it is to end at a failure: what is left then did not run.
pub(super) fn stops_early(framework: Framework, args: &[String]) -> bool {
    let options: &[&str] = match framework {
        Framework::Unittest => &["-f", "--failfast"],
        Framework::Jest => &["-b", "--bail"],
        Framework::Mocha => &["-b", "--bail"],
        Framework::Vitest => &["--bail"],
        Framework::Go => &["-failfast", "--failfast"],
        Framework::Pytest
        | Framework::CargoTest
        | Framework::Nextest
        | Framework::Node
        | Framework::Junit
        | Framework::Tap => return false,
    };
    any_set(options, args)
}

/// The same of what is not known by its name, by options that mean it wherever they are read. What
/// it prints may say so; a report does not.
pub(super) fn may_stop_early(args: &[String]) -> bool {
    const OPTIONS: [&str; 11] = [
        "-x",
        "--exitfirst",
        "--maxfail",
        "--max-fails",
        "--bail",
        "--fail-fast",
        "--failfast",
        "-failfast",
        "--stop-on-defect",
        "--stop-on-error",
        "--stop-on-failure",
    ];
    any_set(&OPTIONS, &unbundled(dialect(Framework::Pytest), args))
}

/// Whether one of these options is there, and not to say no.
pub(super) fn any_set(options: &[&str], args: &[String]) -> bool {
    args.iter().any(|arg| {
        let option = arg.split_once('=').map_or(arg.as_str(), |(option, _)| option);
        options.contains(&option) && !arg.ends_with("=false") && !arg.ends_with("=0")
    })
}

/// How many lines `head` lets through; 0 where that cannot be told.
pub(super) fn first_lines(step: &Step) -> Option<usize> {
    if step.program() != "head" {
        return None;
    }
    let args: Vec<&str> = step.args().iter().map(String::as_str).collect();
    let digits = |text: &str| text.parse().unwrap_or(0);
    Some(match args.as_slice() {
        [] => 10,
        ["-n" | "--lines", lines, ..] => digits(lines),
        [one, ..] => match one.strip_prefix("--lines=").or_else(|| one.strip_prefix("-n")) {
            Some(lines) => digits(lines),
            None => one.strip_prefix('-').map_or(10, digits),
        },
    })
}

impl Reading<'_> {
    /// What a framework printed, in the form that it was asked for.
    pub(super) fn in_form(&self, framework: Framework, wider: &Start, last: &Start) -> Vec<Tally> {
        match last.form {
            Form::Tap => return self.parsed_by(framework, Framework::Tap, &last.scope),
            Form::Junit => return self.parsed(Framework::Junit, &last.scope),
            Form::Other => return Vec::new(),
            Form::Own | Form::Marks => {}
        }
        let (parts, mut found): (Vec<Tally>, Vec<Tally>) =
            self.parsed(framework, &wider.scope).into_iter().partition(|tally| tally.loose);
        // A reporter of another format. Node's own counts suites as tests.
        let others = [Framework::Junit, Framework::Tap];
        for other in
            others.iter().filter(|other| !(framework == Framework::Node && **other == Framework::Tap))
        {
            if found.is_empty() {
                found = self.parsed_by(framework, *other, &last.scope);
            }
        }
        let found = if last.form == Form::Marks { self.by_marks(found) } else { found };
        if found.is_empty() { parts } else { found }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::shell::Command;

    #[test]
    fn a_reporter_is_known_by_its_option() {
        let form =
            |framework, line: &str| form(framework, &line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(form(Framework::Mocha, "-R tap a.js"), Form::Tap);
        assert_eq!(form(Framework::Mocha, "--reporter=xunit"), Form::Junit);
        assert_eq!(form(Framework::Vitest, "--reporter json"), Form::Other);
        assert_eq!(form(Framework::Vitest, "--reporter=default --reporter=json"), Form::Own);
        assert_eq!(form(Framework::Node, "--test --test-reporter=tap"), Form::Own);
        assert_eq!(form(Framework::Jest, "--json"), Form::Own);
    }

    #[test]
    fn the_first_lines_are_counted() {
        let lines = |line: &str| Command::parse(line).steps.last().and_then(first_lines);
        for (line, expected) in [
            ("head", Some(10)),
            ("head -5", Some(5)),
            ("head -n 7", Some(7)),
            ("head -n7", Some(7)),
            ("head --lines=3", Some(3)),
            ("head -c 100", Some(0)),
            ("tail -5", None),
        ] {
            assert_eq!(lines(line), expected, "{line}");
        }
    }
}
