//! What tests a command ran, and how they went.
//!
//! A summary is believed only where the command is a test run of that framework,
//! or a script whose output has a summary that nothing else prints. One file a
//! framework; each reads the lines once, in order.

mod cargo;
mod detect;
mod dialect;
mod go;
mod jest;
mod junit;
mod mocha;
mod nextest;
mod node;
mod pytest;
mod results;
mod scope;
mod started;
mod tally;
mod tap;
mod unittest;
mod vitest;

use serde::{Deserialize, Serialize};

pub(crate) use results::{Changed, RunResults, TestResults, Tests};

pub(super) use detect::moved;
pub(super) use scope::{Relation, Scope, below};
pub(super) use started::{Started, started};

use detect::{Detected, Start};
use tally::Tally;

use super::lines::lines;
use crate::model::Timestamp;

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
    /// `None` where they are not known.
    #[serde(flatten)]
    pub(crate) counts: Option<Counts>,
    pub(crate) unit: Unit,
    pub(crate) duration_ms: Option<u64>,
    /// The first of those that failed, by the framework's own names.
    pub(crate) failing: Vec<String>,
    /// Whether these are the counts of the whole run: its own summary was seen,
    /// nothing cut it short, and the exit code does not say otherwise.
    pub(crate) complete: bool,
    #[serde(skip)]
    scope: Scope,
    /// Whether files may have been changed by what its command did afterwards.
    #[serde(skip)]
    goes_on: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Counts {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
    pub(crate) total: u64,
}

/// Reads the lines of one output for one framework.
trait Parser {
    fn line(&mut self, line: &str);

    /// What was found: one for each summary, in their order.
    fn end(self: Box<Self>) -> Vec<Tally>;
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

/// Whether `command` is known to run tests.
pub(crate) fn runs_tests(command: &str) -> bool {
    detect::detect(command).is_some()
}

/// What a command that still runs has told of its tests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SoFar {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl SoFar {
    pub(crate) fn of(command: &str, text: &str) -> Self {
        let mut tests = Tests::default();
        tests.note_command("", command, None, text, Timestamp::from_millis(0));
        let told = tests.finish(Changed::Unknown).and_then(|told| told.passed.zip(told.failed));
        // What may overlap is not added up here either: nothing is known of it yet.
        told.map_or_else(Self::default, |(passed, failed)| Self { passed, failed })
    }
}

/// The test runs that `command` made, from all that it printed.
pub(crate) fn read(command: &str, exit_code: Option<i64>, text: &str) -> Vec<TestRun> {
    let Some(detected) = detect::detect(command) else { return Vec::new() };
    let reading = Reading { detected: &detected, command, exit_code, text };
    if let Some(script) = detected.starts.iter().find(|start| start.framework.is_none()) {
        return reading.by_output(script);
    }
    let mut frameworks: Vec<Framework> = Vec::new();
    for framework in detected.starts.iter().filter_map(|start| start.framework) {
        if !frameworks.contains(&framework) {
            frameworks.push(framework);
        }
    }
    frameworks.into_iter().flat_map(|framework| reading.direct(framework)).collect()
}

/// One command that ran tests, and what it printed.
struct Reading<'a> {
    detected: &'a Detected,
    command: &'a str,
    exit_code: Option<i64>,
    text: &'a str,
}

impl Reading<'_> {
    fn direct(&self, framework: Framework) -> Vec<TestRun> {
        let starts: Vec<&Start> =
            self.detected.starts.iter().filter(|start| start.framework == Some(framework)).collect();
        let Some(last) = starts.last() else { return Vec::new() };
        // What holds for one of them only holds for none here.
        let wider = starts.iter().find(|start| !start.scope.is_one_target()).unwrap_or(last);
        let mut found = self.parsed(framework, &wider.scope);
        // A reporter of another format. Node's own counts suites as tests.
        let others = [Framework::Junit, Framework::Tap];
        for other in
            others.iter().filter(|other| !(framework == Framework::Node && **other == Framework::Tap))
        {
            if found.is_empty() {
                found = self.parsed(*other, &last.scope);
            }
        }
        let ends_it = self.detected.starts.last().is_some_and(|start| start.framework == Some(framework));
        if found.is_empty() {
            // It was to run tests, failed, and came to no summary. 126 and 127: it was not there at all.
            let failed = self.exit_code.is_some_and(|code| !matches!(code, 0 | 126 | 127));
            let silent = Tally { unknown: true, cut: true, ..Tally::default() };
            let runs = ends_it && self.detected.owns_exit && failed;
            return runs.then(|| self.run(framework, last, &last.scope, silent, true)).into_iter().collect();
        }
        match starts.as_slice() {
            [start] if !start.repeats => {
                let tally = self.one_of(framework, found);
                vec![self.run(framework, start, &start.scope, tally, ends_it)]
            }
            _ if starts.len() == found.len() && starts.iter().all(|start| !start.repeats) => {
                let runs = starts.iter().zip(found).enumerate().map(|(at, (start, tally))| {
                    let owns_exit = ends_it && at + 1 == starts.len();
                    self.run(framework, start, &start.scope, tally, owns_exit)
                });
                runs.collect()
            }
            // Which run each is of cannot be told.
            _ => {
                let scope = Scope::of_script(framework, "", self.command);
                let parts = found.into_iter().enumerate().map(|(part, mut tally)| {
                    tally.cut = true;
                    tally.unknown |= has_many_blocks(framework);
                    self.run(framework, last, &scope.part(framework, part), tally, false)
                });
                parts.collect()
            }
        }
    }

    /// The counts of a framework that was started once.
    fn one_of(&self, framework: Framework, found: Vec<Tally>) -> Tally {
        if has_many_blocks(framework) {
            return Tally::sum(found);
        }
        let first = found.first().cloned().unwrap_or_default();
        let several = found.len() > 1;
        let same = found.iter().all(|tally| tally.has_counts_of(&first));
        match self.detected.shown_again {
            true if same => first,
            again => {
                // What comes before the last is a test's own output.
                let mut last = found.into_iter().next_back().unwrap_or_default();
                last.unknown |= several && (again || self.detected.beside);
                last
            }
        }
    }

    fn by_output(&self, script: &Start) -> Vec<TestRun> {
        let scope = match self.detected.starts.as_slice() {
            [_] => script.scope.clone(),
            _ => Scope::of_script(Framework::Tap, "", self.command),
        };
        let mut runs: Vec<TestRun> = Vec::new();
        for framework in BY_OUTPUT {
            // Node prints TAP, and others may as well: the same tests count once.
            if matches!(framework, Framework::Tap | Framework::Junit) && !runs.is_empty() {
                break;
            }
            let mut found = self.parsed(framework, &scope);
            if has_many_blocks(framework) && found.len() > 1 {
                found = vec![Tally::sum(found)];
            }
            for (part, tally) in found.into_iter().enumerate() {
                runs.push(self.run(framework, script, &scope.part(framework, part), tally, false));
            }
        }
        // Whose failure an exit code is cannot be told among several.
        let failed = runs.iter().any(|run| run.counts.is_none_or(|counts| counts.failed > 0));
        if self.detected.owns_exit && self.exit_code != Some(0) && !failed {
            runs.iter_mut().for_each(|run| run.complete = false);
        }
        runs
    }

    fn parsed(&self, framework: Framework, scope: &Scope) -> Vec<Tally> {
        let again = self.detected.shown_again;
        let mut parser: Box<dyn Parser> = match framework {
            Framework::CargoTest => Box::new(cargo::Cargo::new(scope.is_one_target(), again)),
            Framework::Nextest => Box::new(nextest::Nextest::default()),
            Framework::Pytest => Box::new(pytest::Pytest::default()),
            Framework::Unittest => Box::new(unittest::Unittest::default()),
            Framework::Jest => Box::new(jest::Jest::default()),
            Framework::Vitest => Box::new(vitest::Vitest::default()),
            Framework::Mocha => Box::new(mocha::Mocha::default()),
            Framework::Node => Box::new(node::Node::new(scope.is_filtered())),
            Framework::Go => Box::new(go::Go::default()),
            Framework::Tap => Box::new(tap::Tap::new(again)),
            // Elements, not lines: its text may be one line.
            Framework::Junit => return junit::read(self.text).into_iter().collect(),
        };
        lines(self.text).for_each(|line| parser.line(&line));
        parser.end()
    }

    /// One run; `owns_exit` where the exit code is no other's.
    fn run(
        &self,
        framework: Framework,
        start: &Start,
        scope: &Scope,
        mut tally: Tally,
        owns_exit: bool,
    ) -> TestRun {
        // What a filter that chose nothing has "skipped" was never asked for.
        if tally.passed + tally.failed == 0 && scope.is_filtered() {
            tally.skipped = 0;
        }
        let detected = self.detected;
        let unseen = detected.filtered && has_many_blocks(framework);
        let owns_exit = owns_exit && detected.owns_exit;
        let unexplained = owns_exit && tally.failed == 0 && self.exit_code != Some(0) && !tally.is_empty();
        let broken = tally.cut || tally.unknown || unseen || unexplained || start.repeats || detected.beside;
        TestRun {
            framework,
            counts: tally.counts(),
            unit: tally.unit,
            duration_ms: tally.duration_ms,
            failing: tally.failing.into_list(),
            complete: !broken && self.exit_code.is_some(),
            scope: scope.clone(),
            goes_on: start.goes_on,
        }
    }
}

/// Whether its summaries are those of parts, which make up the whole.
fn has_many_blocks(framework: Framework) -> bool {
    matches!(framework, Framework::CargoTest | Framework::Go)
}
