//! Tests that ran, and whose end nobody saw: they printed no summary, or their command was cut off
//! by a limit, a cancellation or the death of what ran it.

use super::detect::{Runs, Start, detect};
use super::programs::words_of;
use super::settled::Settled;
use super::tally::Tally;
use super::{Framework, Reading, TestRun, read};
use crate::evidence::shell::is_unread;

/// The test runs that `command` made until it was cut off.
pub(super) fn read_cut(command: &str, text: &str) -> Vec<TestRun> {
    let mut runs = read(command, None, text);
    runs.iter_mut().for_each(|run| run.complete = run.was_over);
    if let Some(detected) = detect(command) {
        let reading = Reading { detected: &detected, command, exit_code: None, text };
        runs.extend(reading.unfinished(&runs));
    }
    runs
}

impl Reading<'_> {
    /// Whether tests were run although no summary is there to be seen.
    fn ran_silently(&self, ends_it: bool) -> bool {
        let Some(code) = self.exit_code else { return false };
        // 126, 127 and these words: it was not there at all.
        let absent = ["command not found", ": not found", "No module named ", "error: no such command: "];
        let is_absent = matches!(code, 126 | 127)
            || (self.text.len() < 1000 && absent.iter().any(|words| self.text.contains(words)));
        let ran = match code {
            0 => !self.detected.branches || self.settled() == Settled::Unseen,
            _ => ends_it && self.detected.owns_exit && !self.detected.may_be_kept_from,
        };
        ran && !is_absent && !is_unread(code, self.text)
    }

    /// One that printed nothing, of a framework or of a script that may run any.
    pub(super) fn silent(&self, framework: Framework, start: &Start, ends_it: bool) -> Option<TestRun> {
        if !self.ran_silently(ends_it) {
            return None;
        }
        let tally = Tally { unknown: true, cut: true, ..Tally::default() };
        let run = self.run(framework, start, &start.scope, tally, true);
        let fails = Some(0).filter(|_| run.seen.is_settled());
        Some(TestRun { fails, ..run })
    }

    /// What a script did that printed nothing, and is known to have passed.
    pub(super) fn passed_unseen(&self, script: &Start) -> Option<TestRun> {
        let scope = script.scope.clone().of_any_framework();
        let script = Start { scope, ..script.clone() };
        self.silent(Framework::Tap, &script, true).filter(|run| run.seen.is_settled())
    }

    /// Those that are not among `seen`, which printed something.
    pub(super) fn unfinished(&self, seen: &[TestRun]) -> Vec<TestRun> {
        let is_seen = |start: &Start| match start.runs {
            Runs::Framework(framework) => seen.iter().any(|run| run.framework == framework),
            Runs::Any | Runs::Perhaps => !seen.is_empty(),
        };
        let mut runs = Vec::new();
        // Whether all before it is known to be over.
        let mut is_next = true;
        for start in &self.detected.starts {
            let begins = is_next && start.begins_at_once && !self.detected.branches;
            is_next = is_seen(start);
            if is_next {
                continue;
            }
            let (framework, scope) = match start.runs {
                Runs::Framework(framework) => (framework, start.scope.clone()),
                // Which it would have been cannot be seen.
                Runs::Any => (Framework::Tap, start.scope.clone().of_any_framework()),
                Runs::Perhaps => continue,
            };
            let cut = Tally { unknown: true, cut: true, ..Tally::default() };
            let mut run = self.run(framework, start, &scope, cut, false);
            let is_test = scope.script().filter(|_| start.runs == Runs::Any).is_none_or(runs_tests);
            run.may_not_have_begun = !begins || !is_test;
            runs.push(run);
        }
        runs
    }
}

/// Whether a script is one of tests by its name, and not one that may check anything else.
fn runs_tests(script: &str) -> bool {
    const WORDS: [&str; 10] =
        ["test", "tests", "pytest", "spec", "specs", "e2e", "tox", "nox", "ctest", "gotestsum"];
    script.split([' ', '/']).any(|word| words_of(word).iter().any(|part| WORDS.contains(&part.as_str())))
}
