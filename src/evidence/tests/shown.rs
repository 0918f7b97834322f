//! Text of others in the output of a command that ran tests: `cat a.py && pytest`, `pytest; git diff`.
//!
//! That tests ran is known by the command. What they came to is known only where the one
//! summary that is there to be seen can be no other's.

use super::detect::{Detected, Runs, Start};
use super::pipes::Through;
use super::pytest;
use super::tally::{Names, Tally};
use super::{Framework, Reading, has_many_blocks};
use crate::evidence::shell::Step;

/// What was shown beside tests.
#[derive(Debug, Clone, Default)]
pub(super) struct Shown {
    /// Whether anything was.
    pub(super) any: bool,
    /// Whether some of it is not git's, whose lines all begin with a mark of its own.
    raw: bool,
    /// Whether some of it came after the tests had begun.
    after: bool,
    /// The programs that showed it before: where they fail, they say so under their names.
    before: Vec<String>,
}

impl Shown {
    pub(super) fn note(&mut self, step: &Step, after_tests: bool) {
        self.any = true;
        self.raw |= !is_marked(step);
        self.after |= after_tests;
        if !after_tests {
            self.before.push(format!("{}: ", step.program()));
        }
    }

    /// A pipe may have taken away how its lines begin.
    pub(super) fn note_rewritten(&mut self) {
        self.raw |= self.any;
    }

    /// Whether all of it can be told by how its lines begin.
    pub(super) fn is_marked(&self) -> bool {
        !self.raw
    }

    /// Whether the last line is the summary of tests that printed something after all of it.
    pub(super) fn is_before_the_end(&self, framework: Framework, text: &str) -> bool {
        let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        framework == Framework::Pytest && !self.after && pytest::summary(last.trim_end()).is_some()
    }

    /// Whether what was to be shown before the tests was not there.
    pub(super) fn failed_before(&self, text: &str) -> bool {
        let complains =
            |line: &str| line.starts_with("fatal: ") || self.before.iter().any(|name| line.starts_with(name));
        text.lines().any(complains)
    }

    /// Whether a framework that ended with `exit_code` printed the one summary that is there.
    pub(super) fn has_own_summary(
        &self,
        framework: Framework,
        tally: &Tally,
        exit_code: i64,
        text: &str,
    ) -> bool {
        // A quiet one may print none.
        let seen = framework != Framework::Pytest || self.after || self.is_before_the_end(framework, text);
        // Others print as many as there are parts, which may be none.
        let prints_one = !has_many_blocks(framework);
        prints_one && seen && (exit_code == 0) == (tally.failed == 0)
    }
}

impl Reading<'_> {
    /// Whether what was found beside text of others can be no other's. `read` finds the same in
    /// another output.
    pub(super) fn is_own(
        &self,
        framework: Framework,
        found: &[Tally],
        read: impl Fn(&Reading<'_>) -> Vec<Tally>,
    ) -> bool {
        let Detected { starts, shown, pipes, .. } = self.detected;
        let ends = |pipe: &Through| matches!(pipe, Through::Last(_));
        let [start] = starts.as_slice() else { return false };
        if start.repeats || self.detected.hidden || !pipes.iter().all(ends) {
            return false;
        }
        if shown.is_marked() {
            let text = without_marked(self.text);
            return read(&Reading { text: &text, ..*self }) == found;
        }
        let [tally] = found else { return false };
        let Some(code) = self.exit_code.filter(|_| start.is_of(framework)) else { return false };
        if code != 0 && self.detected.may_be_kept_from && shown.failed_before(self.text) {
            return false;
        }
        let is_its_exit = self.detected.owns_exit || (self.detected.and_then && code == 0);
        match is_its_exit {
            true => shown.has_own_summary(framework, tally, code, self.text),
            false => shown.is_before_the_end(framework, self.text),
        }
    }
}

impl Reading<'_> {
    /// The names of those that failed, where it is not known whose words `found` are: none that can
    /// only be of the text that was shown.
    pub(super) fn own_names(&self, framework: Framework, found: &[Tally]) -> Names {
        let Detected { starts, shown, .. } = self.detected;
        let passed = self.exit_code == Some(0) && (self.detected.owns_exit || self.detected.and_then);
        let all_passed = passed && starts.iter().skip(1).all(|start| start.waits);
        let is_kept_from = self.exit_code != Some(0) && self.detected.may_be_kept_from;
        if all_passed || self.detected.hidden || (is_kept_from && shown.failed_before(self.text)) {
            return Names::default();
        }
        let runs = |start: &&Start| start.is_of(framework) || start.runs == Runs::Any;
        let own = starts.iter().filter(runs).count();
        let is_apart = !has_many_blocks(framework) && starts.iter().all(|start| !start.repeats);
        let names = |tallies: &[Tally]| Tally::sum(tallies.to_vec()).failing;
        let is_last = framework != Framework::Pytest || shown.is_before_the_end(framework, self.text);
        match (shown.before.is_empty(), shown.after) {
            _ if !is_apart || shown.is_marked() => names(found),
            (false, true) => Names::default(),
            // They begin with its own, or end with its own.
            (true, _) => {
                let own = self.first_own(framework, found).map(|at| &found[at..found.len().min(at + own)]);
                own.map(names).unwrap_or_default()
            }
            (false, false) if is_last => names(&found[found.len().saturating_sub(own)..]),
            (false, false) => Names::default(),
        }
    }

    /// The first of `found` that can be of the tests that the output begins with.
    pub(super) fn first_own(&self, framework: Framework, found: &[Tally]) -> Option<usize> {
        let is_other =
            |tally: &Tally| framework == Framework::Pytest && pytest::are_of_others(self.text, tally);
        found.iter().position(|tally| !is_other(tally))
    }
}

/// Whether each line of it begins with a mark, a commit or a space.
fn is_marked(step: &Step) -> bool {
    let bare = |arg: &String| arg.contains(':') || arg.contains("format") || arg.contains("pretty");
    matches!(step.git_verb(), "diff" | "log" | "show") && !step.args().iter().any(bare) && !step.piped
}

/// An output without the lines that git may have shown in it.
pub(super) fn without_marked(text: &str) -> String {
    text.lines().filter(|line| !line.starts_with([' ', '\t', '+', '-'])).fold(
        String::new(),
        |mut kept, line| {
            kept.push_str(line);
            kept.push('\n');
            kept
        },
    )
}
