//! Reads the summaries of test frameworks from the output of one command line.

use crate::evidence::command_line::{CommandLine, Joined, Step};
use crate::evidence::screen_lines::lines;
use crate::evidence::tests::formats::{
    cargo, go, jest, junit, jvm, mocha, nextest, node, pytest, tap, unittest, vitest,
};
use crate::evidence::tests::recognise::{Runs, recognise};
use crate::evidence::tests::tally::Tally;
use crate::evidence::tests::{Framework, Parser, TestRun};

/// Every framework whose summary no other program prints, for scripts that may run any.
const BY_OUTPUT: [Framework; 11] = [
    Framework::CargoTest,
    Framework::Nextest,
    Framework::Pytest,
    Framework::Unittest,
    Framework::Jest,
    Framework::Vitest,
    Framework::Mocha,
    Framework::Node,
    Framework::Go,
    Framework::Tap,
    Framework::Junit,
];

/// A command's output, and how the command ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output<'a> {
    pub(crate) text: &'a str,
    /// Whether the output is complete.
    pub(crate) is_whole: bool,
    pub(crate) exit_code: Option<i64>,
}

/// The test runs of a line, from the summaries in its whole output.
pub(in crate::evidence) fn read(line: &CommandLine, output: Output<'_>) -> Vec<TestRun> {
    let Some(started) = Started::of(line, output.text) else { return Vec::new() };
    let mut runs = match started.frameworks() {
        Some(frameworks) => {
            frameworks.into_iter().flat_map(|framework| started.framework(framework, output)).collect()
        }
        None => started.by_output(output),
    };
    if started.text_after {
        // It is unknown which framework printed the summaries.
        for run in &mut runs {
            (run.counts, run.complete, run.said) = (None, false, None);
            run.failing.clear();
        }
    }
    runs
}

/// The steps of a line that may run tests, and what may stand between their output and the reader.
struct Started {
    starts: Vec<Runs>,
    /// Whether other texts were printed before the last test step, or after it.
    text_before: bool,
    text_after: bool,
    /// Whether lines may be missing.
    filtered: bool,
    /// Whether lines are missing at the end, where the summary would be.
    beheaded: bool,
    /// Whether the steps may have run more than once.
    repeats: bool,
    /// Whether the exit code belongs to the last test step.
    owns_exit: bool,
    /// Whether the steps end at the first failure.
    stops_early: bool,
}

impl Started {
    fn of(line: &CommandLine, text: &str) -> Option<Self> {
        let found: Vec<(usize, Runs)> =
            line.steps.iter().enumerate().filter_map(|(at, step)| Some((at, recognise(step)?))).collect();
        // A script's own output cannot be separated from the framework's.
        let is_named = |runs: &Runs| matches!(runs, Runs::Framework(..));
        let (first, last) = (found.first()?.0, found.last()?.0);
        let written: Vec<&str> =
            found.iter().filter_map(|(at, _)| line.steps[*at].writes.as_deref()).collect();
        let tees = line.steps.iter().filter(|step| step.program() == "tee");
        let written: Vec<&str> =
            written.into_iter().chain(tees.flat_map(|step| step.args()).map(String::as_str)).collect();
        let lines = text.lines().count();
        let (mut filtered, mut beheaded) = (false, false);
        let (mut text_before, mut text_after, mut piped) = (false, false, false);
        for (at, step) in line.steps.iter().enumerate() {
            let is_start = found.iter().any(|(start, _)| *start == at);
            piped = is_start || (piped && step.joined == Joined::Pipe);
            let reads_them = step.args().iter().any(|arg| written.contains(&arg.as_str()));
            if is_start || step.writes.is_some() {
                continue;
            }
            if piped || reads_them {
                filtered |= drops_lines(step, lines);
                beheaded |= step.program() == "head" && drops_lines(step, lines);
            } else if step.shows_text() {
                text_before |= at < last;
                text_after |= at > first;
            }
        }
        let owner = line.exit_owner();
        let starts: Vec<Runs> = found.iter().map(|(_, runs)| runs.clone()).collect();
        let is_last = line.steps[last..].iter().skip(1).all(|step| step.joined == Joined::And);
        let owns_exit = owner.hides.is_empty() && is_last;
        let repeats = line.compound;
        let any_named = starts.iter().any(is_named);
        let starts = starts.into_iter().filter(|runs| !any_named || is_named(runs)).collect();
        let stops_early = line.steps.iter().any(stops_early);
        Some(Self { starts, text_before, text_after, filtered, beheaded, repeats, owns_exit, stops_early })
    }

    /// Each framework that is started by name, once; `None` if only a script is started.
    fn frameworks(&self) -> Option<Vec<Framework>> {
        let mut all: Vec<Framework> = Vec::new();
        for runs in &self.starts {
            let Runs::Framework(framework, _) = runs else { return None };
            if !all.contains(framework) {
                all.push(*framework);
            }
        }
        Some(all)
    }

    fn framework(&self, framework: Framework, output: Output<'_>) -> Vec<TestRun> {
        let of = |runs: &Runs| match runs {
            Runs::Framework(one, args) if *one == framework => Some(args.clone()),
            _ => None,
        };
        let starts: Vec<Vec<String>> = self.starts.iter().filter_map(of).collect();
        let args = starts.last().cloned().unwrap_or_default();
        let found = in_form(framework, &args, output.text, self.filtered);
        let (parts, mut found): (Vec<Tally>, Vec<Tally>) = found.into_iter().partition(|tally| tally.loose);
        if found.is_empty() {
            // If another text is printed, a part of a summary may belong to it.
            found = if self.text_before || self.text_after { Vec::new() } else { parts };
        }
        // If the tests printed no summary of their own, only those of other texts are left.
        let is_red = found.last().is_some_and(|last| last.failed > 0);
        let agrees = self.owns_exit && output.exit_code.is_some_and(|code| (code != 0) == is_red);
        let is_lost = self.text_before && (!agrees || framework.has_many_blocks());
        // It was started but printed no summary.
        if found.is_empty() || is_lost {
            return vec![self.run(framework, Tally { unknown: true, ..Tally::partly_seen() }, output, false)];
        }
        let count = found.len();
        let tallies = match starts.len() {
            _ if self.repeats && count > 1 => vec![Tally { mixed: true, ..Tally::sum(found) }],
            1 if framework.has_many_blocks() => vec![Tally::sum(found)],
            // Summaries before the last one are a test's own output, or another text.
            1 => found.split_off(count - 1),
            starts if count <= starts => found,
            _ => vec![Tally { mixed: true, ..Tally::sum(found) }],
        };
        let last = tallies.len() - 1;
        let runs = tallies.into_iter().enumerate();
        runs.map(|(at, tally)| self.run(framework, tally, output, at == last)).collect()
    }

    fn by_output(&self, output: Output<'_>) -> Vec<TestRun> {
        let mut runs: Vec<TestRun> = Vec::new();
        for framework in BY_OUTPUT {
            // Node prints TAP, and other steps may as well: count the same tests once.
            if matches!(framework, Framework::Tap | Framework::Junit) && !runs.is_empty() {
                break;
            }
            let mut found = parsed(framework, &[], output.text);
            found.retain(|tally| !tally.loose);
            // Names without counts are pytest's only under its own heading.
            if framework == Framework::Pytest && !output.text.contains(" short test summary info ") {
                found.retain(|tally| !tally.unknown);
            }
            if framework.has_many_blocks() && found.len() > 1 {
                found = vec![Tally::sum(found)];
            }
            runs.extend(found.into_iter().map(|tally| self.run(framework, tally, output, false)));
        }
        let explained = runs.iter().any(|run| run.counts.is_none() || run.is_red());
        if self.owns_exit && output.exit_code != Some(0) && !explained {
            runs.iter_mut().for_each(|run| run.complete = false);
        }
        runs
    }

    /// One run; `is_last` if the exit code may be its own.
    fn run(&self, framework: Framework, tally: Tally, output: Output<'_>, is_last: bool) -> TestRun {
        let owns_exit = is_last && self.owns_exit;
        // nextest ends this way if there was nothing to run.
        let none_ran = framework == Framework::Nextest && tally.passed == 0 && output.exit_code == Some(4);
        let unexplained =
            owns_exit && !none_ran && tally.failed == 0 && output.exit_code != Some(0) && !tally.is_empty();
        // It is unknown which of several blocks is missing.
        let any_missing =
            framework.has_many_blocks() || !matches!(self.starts.as_slice(), [Runs::Framework(..)]);
        let missing = self.beheaded || (any_missing && self.filtered);
        let broken = tally.is_partial()
            || tally.unknown
            || tally.said.is_some()
            || tally.loose
            || missing
            || unexplained
            || (tally.failed > 0 && self.stops_early)
            || self.repeats;
        TestRun {
            framework,
            counts: tally.counts().filter(|_| !tally.loose),
            unit: tally.unit,
            duration_ms: tally.duration_ms,
            said: tally.said.clone(),
            failing: tally.failing.into_list(),
            complete: !broken && output.is_whole && output.exit_code.is_some(),
        }
    }
}

/// Whether a step ends at the first failure and leaves the rest unrun.
pub(super) fn stops_early(step: &Step) -> bool {
    const OPTIONS: [&str; 8] =
        ["-x", "-qx", "--exitfirst", "--maxfail", "--bail", "--fail-fast", "--failfast", "-failfast"];
    let is_one =
        |arg: &String| OPTIONS.contains(&arg.split_once('=').map_or(arg.as_str(), |(option, _)| option));
    match recognise(step) {
        Some(Runs::Framework(Framework::Unittest, args)) => {
            args.iter().any(|arg| arg == "-f" || arg == "--failfast")
        }
        Some(_) => step.args().iter().any(is_one),
        None => false,
    }
}

/// Whether a line continues after its tests with a step that may change files.
pub(in crate::evidence) fn goes_on(line: &CommandLine) -> bool {
    let Some(last) = line.steps.iter().rposition(|step| recognise(step).is_some()) else { return false };
    line.steps[last + 1..].iter().any(|step| step.may_write())
}

/// Whether a step behind a pipe may drop some of these lines.
fn drops_lines(step: &Step, lines: usize) -> bool {
    match step.program() {
        "tee" | "cat" => false,
        "head" | "tail" => most_lines(step.args()).is_none_or(|most| lines >= most),
        _ => true,
    }
}

/// How many lines `head` or `tail` passes on; `None` if unknown.
fn most_lines(args: &[String]) -> Option<usize> {
    let args: Vec<&str> = args.iter().map(String::as_str).filter(|arg| *arg != "-f").collect();
    match args.as_slice() {
        [] => Some(10),
        ["-n" | "--lines", lines, ..] => lines.trim_start_matches('-').parse().ok(),
        [one, ..] => match one
            .strip_prefix("--lines=")
            .or_else(|| one.strip_prefix("-n"))
            .or_else(|| one.strip_prefix('-'))
        {
            Some(lines) => lines.parse().ok(),
            None => Some(10),
        },
    }
}

/// A framework's summaries, in the format that was asked for.
fn in_form(framework: Framework, args: &[String], text: &str, filtered: bool) -> Vec<Tally> {
    let asked = reporter(framework, args);
    let of_vitest = framework == Framework::Vitest;
    match asked {
        Some("tap" | "tap-flat") if framework != Framework::Node => {
            return through(Box::new(tap::Tap::new(of_vitest)), text);
        }
        Some("junit" | "xunit") => return junit::read(text).into_iter().collect(),
        Some("json" | "json-stream" | "json-cov" | "lcov" | "html" | "blob" | "dot")
            if asked != Some("dot") || framework == Framework::Node =>
        {
            return Vec::new();
        }
        _ => {}
    }
    let mut found = parsed(framework, args, text);
    if found.iter().all(|tally| tally.loose) {
        let in_others = junit::read(text).into_iter().collect::<Vec<_>>();
        let is_tap = framework != Framework::Node;
        let others = if in_others.is_empty() && is_tap {
            through(Box::new(tap::Tap::new(of_vitest)), text)
        } else {
            in_others
        };
        found = if others.is_empty() { found } else { others };
    }
    if framework == Framework::Pytest
        && !filtered
        && (found.is_empty() || found.iter().all(|tally| tally.unknown))
    {
        let names = found.first().map(|tally| tally.failing.clone()).unwrap_or_default();
        if let Some(marked) = pytest::by_marks(text, names.len()) {
            found = vec![Tally { failing: names, ..marked }];
        }
    }
    found
}

fn reporter(framework: Framework, args: &[String]) -> Option<&str> {
    let options: &[&str] = match framework {
        Framework::Mocha => &["-R", "--reporter"],
        Framework::Node => &["--test-reporter"],
        Framework::Vitest => &["--reporter"],
        _ => return None,
    };
    let mut words = args.iter().map(String::as_str);
    let mut found = None;
    while let Some(word) = words.next() {
        let value = match word.split_once('=') {
            Some((option, value)) if options.contains(&option) => Some(value),
            None if options.contains(&word) => words.next(),
            _ => continue,
        };
        // It is unknown which of several steps printed it.
        if found.is_some() {
            return None;
        }
        found = value;
    }
    found
}

fn parsed(framework: Framework, args: &[String], text: &str) -> Vec<Tally> {
    let has = |options: &[&str]| args.iter().any(|arg| options.iter().any(|option| arg.starts_with(option)));
    let parser: Box<dyn Parser> = match framework {
        Framework::CargoTest => Box::new(cargo::Cargo::new(has(&["--lib", "--test=", "--bin=", "--doc"]))),
        Framework::Nextest => Box::new(nextest::Nextest::default()),
        Framework::Pytest => Box::new(pytest::Pytest::default()),
        Framework::Unittest => Box::new(unittest::Unittest::default()),
        Framework::Jest => Box::new(jest::Jest::default()),
        Framework::Vitest => Box::new(vitest::Vitest::default()),
        Framework::Mocha => Box::new(mocha::Mocha::default()),
        Framework::Node => Box::new(node::Node::new(has(&["--test-name-pattern", "--test-only"]))),
        Framework::Go => Box::new(go::Go::new(args.iter().any(|arg| !arg.starts_with('-')))),
        Framework::Tap => Box::new(tap::Tap::new(false)),
        // Elements, not lines; or the summaries that Maven and Gradle print themselves.
        Framework::Junit => {
            let tallies = through(Box::new(jvm::Jvm::default()), text);
            return if tallies.is_empty() { junit::read(text).into_iter().collect() } else { tallies };
        }
    };
    through(parser, text)
}

fn through(mut parser: Box<dyn Parser>, text: &str) -> Vec<Tally> {
    lines(text).for_each(|line| parser.line(&line));
    parser.end()
}
