//! What tests a command ran, and how they went.
//!
//! A summary is believed only where the command is a test run of that framework,
//! or a script whose output has a summary that nothing else prints. One file a
//! framework; each reads the lines once, in order.

mod cargo;
mod detect;
mod go;
mod jest;
mod junit;
mod mocha;
mod nextest;
mod node;
mod pytest;
mod results;
mod scope;
mod tally;
mod tap;
mod unittest;
mod vitest;

use serde::{Deserialize, Serialize};

use detect::{Detected, Kind};
pub(crate) use results::{TestResults, Tests};
use scope::Scope;
use tally::{Keep, Tally};

use super::lines::lines;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Framework {
    CargoTest,
    Nextest,
    Pytest,
    Unittest,
    Jest,
    Vitest,
    Mocha,
    Node,
    Go,
    Junit,
    Tap,
}

impl Framework {
    /// As it is written in JSON.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::CargoTest => "cargo_test",
            Self::Nextest => "nextest",
            Self::Pytest => "pytest",
            Self::Unittest => "unittest",
            Self::Jest => "jest",
            Self::Vitest => "vitest",
            Self::Mocha => "mocha",
            Self::Node => "node",
            Self::Go => "go",
            Self::Junit => "junit",
            Self::Tap => "tap",
        }
    }
}

/// What the numbers count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Unit {
    #[default]
    Tests,
    /// `go test` without `-v` names no test that passed.
    Packages,
}

/// One run of one framework.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct TestRun {
    pub(crate) framework: Framework,
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
    pub(crate) total: u64,
    pub(crate) unit: Unit,
    pub(crate) duration_ms: Option<u64>,
    /// The first of those that failed, by the framework's own names.
    pub(crate) failing: Vec<String>,
    /// Whether these are the counts of the whole run: its own summary was seen,
    /// nothing cut it short, and the exit code does not say otherwise.
    pub(crate) complete: bool,
    #[serde(skip)]
    scope: Scope,
}

/// Reads the lines of one output for one framework.
trait Parser {
    fn line(&mut self, line: &str);

    /// What was found; `None` without a summary.
    fn end(self: Box<Self>) -> Option<Tally>;
}

/// Every framework whose summary nothing else prints, for scripts that may have run any.
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

/// The test runs that `command` made, from all that it printed.
pub(crate) fn read(command: &str, exit_code: Option<i64>, text: &str) -> Vec<TestRun> {
    let Some(detected) = detect::detect(command) else { return Vec::new() };
    match detected.kind {
        Kind::Script(ref scope) => by_output(&detected, scope, exit_code, text),
        Kind::Direct(ref started) => {
            let runs = started.iter().filter_map(|(framework, scope, times)| {
                direct(&detected, *framework, scope, *times, exit_code, text)
            });
            runs.collect()
        }
    }
}

fn direct(
    detected: &Detected,
    framework: Framework,
    scope: &Scope,
    times: usize,
    exit_code: Option<i64>,
    text: &str,
) -> Option<TestRun> {
    let found = parsed(framework, Keep::Last(times), scope, text)
        // A reporter of another format.
        .or_else(|| parsed(Framework::Junit, Keep::Last(times), scope, text))
        .or_else(|| match framework {
            // Its own summary is missing, and what it prints before counts suites as tests.
            Framework::Node => None,
            _ => parsed(Framework::Tap, Keep::Last(times), scope, text),
        });
    let tally = match found {
        Some(tally) => tally,
        // It was to run tests, failed, and came to no summary. 126 and 127: it was not there at all.
        None if detected.owns_exit && exit_code.is_some_and(|code| !matches!(code, 0 | 126 | 127)) => {
            Tally { cut: true, ..Tally::default() }
        }
        None => return None,
    };
    Some(run(detected, framework, scope, tally, exit_code))
}

fn by_output(detected: &Detected, scope: &Scope, exit_code: Option<i64>, text: &str) -> Vec<TestRun> {
    let mut runs: Vec<TestRun> = Vec::new();
    for framework in BY_OUTPUT {
        // Node prints TAP, and others may as well: the same tests count once.
        if matches!(framework, Framework::Tap | Framework::Junit) && !runs.is_empty() {
            break;
        }
        if let Some(tally) = parsed(framework, Keep::All, scope, text) {
            runs.push(run(detected, framework, scope, tally, exit_code));
        }
    }
    // Whose failure an exit code is cannot be told among several.
    if runs.iter().any(|run| run.failed > 0) {
        return runs;
    }
    let failed = detected.owns_exit && exit_code != Some(0);
    runs.iter_mut().for_each(|run| run.complete &= !failed);
    runs
}

fn parsed(framework: Framework, keep: Keep, scope: &Scope, text: &str) -> Option<Tally> {
    let mut parser: Box<dyn Parser> = match framework {
        Framework::CargoTest => Box::new(cargo::Cargo::new(scope.keeps_going())),
        Framework::Nextest => Box::new(nextest::Nextest::new(keep)),
        Framework::Pytest => Box::new(pytest::Pytest::new(keep)),
        Framework::Unittest => Box::new(unittest::Unittest::new(keep)),
        Framework::Jest => Box::new(jest::Jest::new(keep)),
        Framework::Vitest => Box::new(vitest::Vitest::new(keep)),
        Framework::Mocha => Box::new(mocha::Mocha::new(keep)),
        Framework::Node => Box::new(node::Node::new(keep, scope.is_filtered())),
        Framework::Go => Box::new(go::Go::default()),
        Framework::Tap => Box::new(tap::Tap::default()),
        // Elements, not lines: its text may be one line.
        Framework::Junit => return junit::read(text),
    };
    lines(text).for_each(|line| parser.line(&line));
    parser.end()
}

fn run(
    detected: &Detected,
    framework: Framework,
    scope: &Scope,
    mut tally: Tally,
    exit_code: Option<i64>,
) -> TestRun {
    // What a filter that chose nothing has "skipped" was never asked for.
    if tally.passed + tally.failed == 0 && scope.is_filtered() {
        tally.skipped = 0;
    }
    let many_blocks = matches!(framework, Framework::CargoTest | Framework::Go);
    let unseen = detected.filtered && many_blocks;
    let unexplained = detected.owns_exit && tally.failed == 0 && exit_code != Some(0) && !tally.is_empty();
    TestRun {
        framework,
        passed: tally.passed,
        failed: tally.failed,
        skipped: tally.skipped,
        total: tally.passed.saturating_add(tally.failed).saturating_add(tally.skipped),
        unit: tally.unit,
        duration_ms: tally.duration_ms,
        failing: tally.failing.into_list(),
        complete: !tally.cut && !unseen && !unexplained && !detected.loops && exit_code.is_some(),
        scope: scope.clone(),
    }
}
