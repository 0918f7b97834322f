//! What a script ran, which only its output tells.

use super::detect::Start;
use super::scope::Scope;
use super::tally::Tally;
use super::{BY_OUTPUT, Framework, Reading, TestRun, has_many_blocks};

impl Reading<'_> {
    pub(super) fn by_output(&self, script: &Start) -> Vec<TestRun> {
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
            // One summary each: the last is the last word.
            if self.is_one_script_again() && found.len() == self.detected.starts.len() {
                let last = found.last().is_some_and(|last| (self.exit_code == Some(0)) == (last.failed == 0));
                if let (true, Some(start)) = (last, self.detected.starts.last()) {
                    let scope = start.scope.part(framework, 0);
                    let again =
                        found.into_iter().map(|tally| self.run(framework, start, &scope, tally, false));
                    runs.extend(again);
                    continue;
                }
            }
            for (part, mut tally) in found.into_iter().enumerate() {
                tally.cut |= !is_own;
                tally.unknown |= !is_own;
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

    /// Whether all starts are of one script, each ran whatever came before, and the exit code is
    /// that of the last.
    fn is_one_script_again(&self) -> bool {
        let detected = self.detected;
        let [first, others @ ..] = detected.starts.as_slice() else { return false };
        let seen = detected.owns_exit && !detected.shown.any && detected.pipes.is_empty() && !detected.hidden;
        let each_ran = !detected.may_be_kept_from && !detected.branches && !detected.at_once;
        let same = |start: &Start| !start.repeats && start.runs == first.runs && start.scope == first.scope;
        !others.is_empty() && seen && each_ran && !first.repeats && others.iter().all(same)
    }
}
