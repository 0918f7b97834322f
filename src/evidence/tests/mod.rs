//! What tests a command ran, and how they went.
//!
//! A summary is believed only where the command is a test run of that framework,
//! or a script whose output has a summary that nothing else prints, or any program
//! whose output is the whole of a test run's.

mod again;
mod as_many;
mod builds;
mod chain;
mod compare;
mod detect;
mod dialect;
mod echoed;
mod failed;
mod formats;
mod forms;
mod held;
mod kept;
mod left_alone;
mod looks;
mod memory;
mod mended;
mod outcome;
mod packages;
mod parts;
mod patterns;
mod pipes;
mod places;
mod printed;
mod programs;
mod pythons;
mod relation;
mod reports;
mod results;
mod run;
mod scope;
mod scripts;
mod settings;
mod settled;
mod shown;
mod so_far;
mod started;
mod sum;
mod tails;
mod tally;
mod turns;
mod unfinished;
mod ways;
mod whole;
mod words;

use serde::{Deserialize, Serialize};

pub(crate) use failed::{Fates, ended_badly, still_failing};
pub(crate) use kept::Changed;
pub(crate) use outcome::{RunResults, TestResults};
pub(crate) use results::Tests;
pub(crate) use run::{Counts, TestRun};

pub(super) use detect::shown_files;
pub(super) use pipes::{drops_the_beginning, keeps_the_end};
pub(super) use places::{Origin, Walk, below, is_in, moved};
pub(super) use pytest::{came_to_its_end as pytest_came_to_its_end, was_stopped as pytest_was_stopped};
pub(super) use relation::{Relation, contains_package};
pub(super) use scope::Scope;
pub(crate) use so_far::{Passing, SoFar};
pub(super) use started::{Started, started};
pub(super) use ways::{is_easing, only_shows};

use chain::are_apart;
use detect::{Detected, Runs, Start};
use formats::{cargo, go, jest, junit, mocha, nextest, node, pytest, tap, unittest, vitest};
use pipes::Through;
use tally::Tally;

use super::lines::lines;
use super::refused::without_refused;

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
    detect::detect(command).is_some_and(|found| found.starts.iter().any(|start| start.runs != Runs::Perhaps))
}

/// The test runs that `command` made, from all that it printed.
pub(crate) fn read(command: &str, exit_code: Option<i64>, text: &str) -> Vec<TestRun> {
    let Some(detected) = detect::detect(&without_refused(command, text)) else { return Vec::new() };
    let reading = Reading { detected: &detected, command, exit_code, text };
    reading.all()
}

/// One command that ran tests, and what it printed.
#[derive(Clone, Copy)]
struct Reading<'a> {
    detected: &'a Detected,
    command: &'a str,
    exit_code: Option<i64>,
    text: &'a str,
}

impl Reading<'_> {
    fn all(&self) -> Vec<TestRun> {
        let mut frameworks: Vec<Framework> = Vec::new();
        for start in &self.detected.starts {
            match start.runs {
                Runs::Framework(framework) if !frameworks.contains(&framework) => frameworks.push(framework),
                Runs::Framework(_) => {}
                Runs::Any => {
                    let runs = self.before_a_script().or_else(|| self.stopped_before_a_script());
                    return runs.or_else(|| self.went_through()).unwrap_or_else(|| self.by_output(start));
                }
                Runs::Perhaps => return self.whole(start).into_iter().collect(),
            }
        }
        frameworks.into_iter().flat_map(|framework| self.direct(framework)).collect()
    }

    fn direct(&self, framework: Framework) -> Vec<TestRun> {
        let starts: Vec<&Start> =
            self.detected.starts.iter().filter(|start| start.is_of(framework)).collect();
        let Some(last) = starts.last() else { return Vec::new() };
        // What holds for one of them only holds for none here.
        let wider = starts.iter().find(|start| !start.scope.is_one_target()).unwrap_or(last);
        let mut found = self.in_form(framework, wider, last);
        // A part of a summary is hardly a mark of its own: anything else may have printed it.
        if self.detected.shown.any
            || self.detected.beside
            || last.is_unseen
            || unittest::is_echoed(self.command)
        {
            found.retain(|tally| !tally.loose);
        }
        let ends_it = self.detected.starts.last().is_some_and(|start| start.is_of(framework));
        if found.is_empty() {
            return self.silent(framework, last, ends_it).into_iter().collect();
        }
        if self.detected.shown.any
            && !self.is_own(framework, &found, |reading| reading.in_form(framework, wider, last))
        {
            let failing = self.own_names(framework, &found);
            let mut tally = Tally { failing, ..Tally::sum(found) };
            (tally.cut, tally.unknown, tally.doubtful) = (true, true, true);
            let scope = match starts.as_slice() {
                [start] => start.scope.clone(),
                _ => Scope::of_script(framework, "", self.command),
            };
            return vec![self.run(framework, last, &scope, tally, false)];
        }
        let starts = self.begun(&starts, &found);
        let ends_it = ends_it && starts.last().is_some_and(|start| start.is(last));
        match starts {
            [start] if !start.repeats => {
                let tally = self.one_of(framework, found);
                vec![self.run(framework, start, &start.scope, tally, ends_it)]
            }
            _ if starts.len() == found.len()
                && !self.detected.at_once
                && starts.iter().all(|start| !start.repeats) =>
            {
                let runs = starts.iter().zip(found).enumerate().map(|(at, (start, tally))| {
                    let owns_exit = ends_it && at + 1 == starts.len();
                    self.run(framework, start, &start.scope, tally, owns_exit)
                });
                runs.collect()
            }
            // Which run each is of cannot be told.
            _ => {
                let scope = match starts {
                    [start] if start.scope.by_turns => start.scope.clone(),
                    _ => Scope::of_script(framework, "", self.command),
                };
                let mut tally = Tally { mixed: true, ..Tally::sum(found) };
                // What failed in one may pass in another that ran after it.
                tally.doubtful |= !tally.ends_red() && !are_apart(starts);
                vec![self.run(framework, last, &scope, tally, false)]
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
            // What comes after the first may be of others.
            false if several && self.detected.beside => {
                let own = self.first_own(framework, &found).and_then(|at| found.into_iter().nth(at));
                Tally { unknown: true, ..own.unwrap_or_default() }
            }
            again => {
                // What comes before the last is a test's own output.
                let mut last = found.into_iter().next_back().unwrap_or_default();
                last.unknown |= several && again;
                last
            }
        }
    }

    fn parsed(&self, framework: Framework, scope: &Scope) -> Vec<Tally> {
        self.parsed_by(framework, framework, scope)
    }

    /// What `of` printed in the form of `framework`.
    fn parsed_by(&self, of: Framework, framework: Framework, scope: &Scope) -> Vec<Tally> {
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
            Framework::Go => Box::new(go::Go::new(!scope.places.is_empty())),
            Framework::Tap => Box::new(tap::Tap::new(again, of == Framework::Vitest)),
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
        let detected = self.detected;
        let owns_exit = owns_exit && detected.owns_exit;
        tally.cut |= start.stops_early && tally.failed > 0;
        let lines = self.text.lines().count();
        let pipes = detected.pipes.iter();
        // What is beyond the first lines may be the rest of the counts, or all of them. Those of
        // unittest come another way.
        let is_beheaded = |pipe: &Through| match pipe {
            Through::First(_) => framework != Framework::Unittest && pipe.may_drop(lines),
            Through::Chosen { mocha, .. } => framework == Framework::Mocha && !mocha && tally.failed == 0,
            Through::Last(_) | Through::Rewritten => false,
        };
        let beheaded = pipes.clone().any(is_beheaded);
        // Which of several summaries is missing cannot be seen.
        let any_others = !start.is_of(framework) || start.repeats;
        let many = has_many_blocks(framework) || any_others;
        let unseen = many && pipes.clone().any(|pipe| pipe.may_drop(lines));
        let hides = pipes.clone().any(|pipe| pipe.may_hide(framework, lines));
        let hidden = unseen && (any_others || (hides && !scope.is_one_target()));
        let rewritten = pipes.clone().any(|pipe| *pipe == Through::Rewritten);
        // The beginning of a block of cargo may be hidden; of others, this is how they ended.
        let stopped = tally.cut && framework != Framework::CargoTest;
        // It was told to run what is not there.
        let refused = framework == Framework::Pytest
            && owns_exit
            && tally.is_empty()
            && !matches!(self.exit_code, Some(0 | 5) | None);
        // So nextest ends where none was left to run.
        let none_ran = framework == Framework::Nextest && tally.passed == 0 && self.exit_code == Some(4);
        let unexplained =
            owns_exit && tally.failed == 0 && self.exit_code != Some(0) && !tally.is_empty() && !none_ran;
        let turns = start.turns.map(|_| tally.seen());
        let unknown = tally.unknown || tally.mixed || beheaded || refused || hidden || rewritten;
        let doubtful = tally.doubtful || rewritten || (unknown && detected.beside);
        let (least, said) = if doubtful { (0, None) } else { (tally.failed, tally.said.clone()) };
        let summed = tally.loose || (tally.passed > 0 && !stopped);
        let looks_green = summed && !doubtful && !beheaded && !tally.ends_red() && tally.failing.len() == 0;
        let is_plain = !beheaded && !rewritten && !unexplained && self.exit_code.is_some();
        let seen = again::Seen::of(&tally, is_plain, self.is_of_many(start, scope)).beside(self.settled());
        let fails = (tally.counts_failed && !doubtful) || self.ends_green(start, &tally);
        tally.unknown |= beheaded || refused || hidden || rewritten;
        let broken = tally.is_partial()
            || tally.unknown
            || tally.said.is_some()
            || unseen
            || unexplained
            || start.repeats
            || detected.beside;
        TestRun {
            framework,
            counts: tally.counts(),
            fails: (fails && tally.counts().is_none()).then_some(tally.failed),
            unit: tally.unit,
            duration_ms: tally.duration_ms,
            failing: tally.failing.into_list(),
            complete: !broken && self.exit_code.is_some(),
            least,
            said,
            stopped,
            looks_green,
            // Of one with many summaries, or of a script, more may have been to come.
            was_over: !broken && start.is_followed && !many,
            may_not_have_begun: false,
            told: Vec::new(),
            listed: 0,
            scope: if tally.deselected { scope.clone().leaving_out_some() } else { scope.clone() },
            goes_on: start.goes_on,
            says_more: false,
            step: start.at,
            turns,
            seen,
        }
    }
}

/// Whether its summaries are those of parts, which make up the whole.
fn has_many_blocks(framework: Framework) -> bool {
    matches!(framework, Framework::CargoTest | Framework::Go)
}
