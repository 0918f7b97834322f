//! What a script ran, which only its output tells.

use super::again::Seen;
use super::detect::{Detected, Runs, Start};
use super::echoed::{by_python, echoed};
use super::pipes::Through;
use super::scope::Scope;
use super::tally::{Names, Tally};
use super::whole::Whole;
use super::{BY_OUTPUT, Framework, Reading, TestRun, has_many_blocks};

impl Reading<'_> {
    pub(super) fn by_output(&self, script: &Start) -> Vec<TestRun> {
        if let Some(texts) = self.one_script_again() {
            let starts = self.detected.starts.iter().zip(&texts);
            return starts.flat_map(|(start, text)| self.again(start, text)).collect();
        }
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
            // A part of a summary may be anybody's, unless it was asked for, and counts what failed.
            let is_asked = self.detected.pipes.iter().any(|pipe| matches!(pipe, Through::Chosen { .. }));
            let is_named = matches!(framework, Framework::Jest | Framework::Vitest);
            found.retain(|tally| !tally.loose || (is_asked && is_named && !self.detected.shown.any));
            // Names without counts are pytest's only under its own heading.
            if framework == Framework::Pytest && !self.text.contains(" short test summary info ") {
                found.retain(|tally| !tally.unknown);
            }
            if has_many_blocks(framework) && found.len() > 1 {
                found = vec![Tally::sum(found)];
            }
            let is_own = !self.detected.shown.any
                || self.is_own(framework, &found, |reading| {
                    let found = reading.parsed(framework, &scope);
                    if has_many_blocks(framework) && found.len() > 1 {
                        vec![Tally::sum(found)]
                    } else {
                        found
                    }
                });
            let names = if is_own { Names::default() } else { self.own_names(framework, &found) };
            for (part, mut tally) in found.into_iter().enumerate() {
                if !is_own {
                    tally.failing.keep(&names);
                }
                tally.cut |= !is_own;
                tally.unknown |= !is_own;
                tally.doubtful |= !is_own;
                runs.push(self.run(framework, script, &scope.part(framework, part), tally, false));
            }
        }
        if let ([run], [_]) = (runs.as_mut_slice(), self.detected.starts.as_slice()) {
            let script = run.scope.script().unwrap_or_default();
            let said = echoed(script, &scope.directory, run.framework, self.text)
                .or_else(|| by_python(script, &scope.directory, run.framework));
            run.scope.alias = said.map(Box::new);
        }
        // Whose failure an exit code is cannot be told among several.
        let failed = runs.iter().any(|run| run.counts.is_none() || run.failed());
        if self.detected.owns_exit && self.exit_code != Some(0) && !failed {
            runs.iter_mut().for_each(|run| (run.complete, run.seen) = (false, Seen::default()));
        }
        runs
    }

    /// What a program that may do anything ran, where all of its output says so.
    pub(super) fn whole(&self, program: &Start) -> Option<TestRun> {
        let whole = Whole::of(self.text);
        let passed = self.exit_code.map(|code| code == 0).filter(|_| self.detected.owns_exit);
        BY_OUTPUT.iter().filter(|framework| whole.may_be(**framework)).find_map(|framework| {
            let mut found = self.parsed(*framework, &program.scope);
            found.retain(|tally| !tally.loose);
            if has_many_blocks(*framework) && found.len() > 1 {
                found = vec![Tally::sum(found)];
            }
            let [tally] = <[Tally; 1]>::try_from(found).ok()?;
            let green = tally.failed == 0 && tally.said.is_none();
            let agrees = passed.is_none_or(|passed| passed == green);
            let scope = program.scope.part(*framework, 0);
            let meant = by_python(scope.script().unwrap_or_default(), &scope.directory, *framework);
            (agrees && whole.is(*framework, &tally)).then(|| {
                let mut run = self.run(*framework, program, &scope, tally, true);
                run.scope.alias = meant.map(Box::new);
                run
            })
        })
    }

    /// Frameworks by their names and then a script, where that says by itself where its output begins.
    pub(super) fn before_a_script(&self) -> Option<Vec<TestRun>> {
        let starts = &self.detected.starts;
        let at = starts.iter().position(|start| start.runs == Runs::Any).filter(|at| *at > 0)?;
        let (named, scripts) = starts.split_at(at);
        let begins = self.begins_of(scripts).filter(|_| !named.iter().any(|start| start.repeats))?;
        let (before, after) = self.text.split_at(*begins.first()?);
        let named = Detected { starts: named.to_vec(), owns_exit: false, ..self.detected.clone() };
        let scripts = Detected { starts: scripts.to_vec(), ..self.detected.clone() };
        let runs = Reading { detected: &named, text: before, ..*self }.all();
        let rest = Reading { detected: &scripts, text: after, ..*self };
        Some(runs.into_iter().chain(rest.by_output(scripts.starts.first()?)).collect())
    }

    /// What each start of one script printed, where all are of one, and each says by itself where
    /// its output begins. How many summaries it has does not tell: it may have stopped before any.
    fn one_script_again(&self) -> Option<Vec<&str>> {
        let starts = self.detected.starts.as_slice();
        let begins = self.begins_of(starts).filter(|_| starts.len() > 1)?;
        let ends = begins.iter().skip(1).copied().chain([self.text.len()]);
        Some(begins.iter().zip(ends).map(|(begin, end)| &self.text[*begin..end]).collect())
    }

    /// Where the output of each of these starts begins, all of one script.
    fn begins_of(&self, starts: &[Start]) -> Option<Vec<usize>> {
        let detected = self.detected;
        let first = starts.first()?;
        let seen = !detected.shown.any && detected.pipes.is_empty() && !detected.hidden && !detected.beside;
        let same = |start: &Start| !start.repeats && start.runs == first.runs && start.scope == first.scope;
        if !seen || detected.at_once || !starts.iter().all(same) {
            return None;
        }
        let begins = headings(self.text, first.scope.script()?);
        (begins.len() == starts.len()).then_some(begins)
    }

    /// Whether one of these scripts may have been started, by what is printed.
    pub(super) fn any_begins(&self, scripts: &[Start]) -> bool {
        let is_told = |start: &Start| start.scope.script().map(|script| headings(self.text, script));
        scripts.iter().any(|start| is_told(start).is_none_or(|begins| !begins.is_empty()))
    }

    /// One start of a script by itself. Only the last one's exit code is known.
    fn again(&self, start: &Start, text: &str) -> Vec<TestRun> {
        let is_last = self.detected.starts.last().is_some_and(|last| last.is(start));
        let exit_code = self.exit_code.filter(|_| is_last);
        let detected = Detected { starts: vec![start.clone()], ..self.detected.clone() };
        Reading { detected: &detected, text, exit_code, ..*self }.by_output(start)
    }
}

/// Where a package manager says that it starts a script: `> shop@1.0.0 test`, and the line after it
/// the command.
fn headings(text: &str, script: &str) -> Vec<usize> {
    let name = match script.split(' ').collect::<Vec<_>>()[..] {
        ["npm" | "pnpm", name] => name,
        _ => return Vec::new(),
    };
    let mut begins = Vec::new();
    let (mut at, mut heading) = (0, None);
    for line in text.split_inclusive('\n') {
        let said = line.strip_prefix("> ").map(str::trim_end);
        begins.extend(heading.take().filter(|_| said.is_some()));
        let mut words = said.unwrap_or_default().split(' ');
        let is_heading = match (words.next(), words.next()) {
            (Some(package), Some(found)) => package.contains('@') && found == name,
            (Some(found), None) => found == name,
            _ => false,
        };
        heading = is_heading.then_some(at);
        at += line.len();
    }
    begins
}
