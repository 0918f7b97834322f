//! Everything that a run's events and outputs tell, as they come.
//!
//! What is kept does not grow with what is printed.

use std::path::Path;

use super::tests::Origin;
use super::{Changed, Edits, ErrorEvidence, Errors, TestResults, Tests};
use crate::model::{Event, Fault, ItemStatus, Timestamp};

/// Codex hands over about 1 MiB of a command's output, and leaves out the middle.
const MOST_PRINTED: usize = 1_000_000;

#[derive(Debug)]
pub(crate) struct Gathered {
    edits: Edits,
    tests: Tests,
    errors: Errors,
}

impl Gathered {
    /// Of a run whose commands start in `cwd`, a directory of `checkout`.
    pub(crate) fn new(cwd: &Path, checkout: &Path) -> Self {
        let (cwd, checkout) = (cwd.to_string_lossy(), checkout.to_string_lossy());
        let origin = Origin::new(&cwd, &checkout);
        Self { edits: Edits::new(&cwd), tests: Tests::new(origin.clone()), errors: Errors::new(&cwd, origin) }
    }

    /// One event, with what was printed where it is the end of a command.
    pub(crate) fn note(&mut self, event: &Event, printed: Option<&str>, at: Timestamp) {
        self.edits.note(event);
        self.tests.note_event(event, at);
        self.errors.note_event(event);
        if let (Event::CommandEnded { item, command, exit_code, status, .. }, Some(text)) = (event, printed)
            // What was refused did not run, whatever stands where its output would.
            && *status != ItemStatus::Declined
        {
            // Blocks may be missing in the middle. Without an exit code no count is complete.
            let whole = exit_code.filter(|_| text.len() < MOST_PRINTED);
            self.tests.note_command(item, command, whole, text, at);
            self.errors.note_command(command, *exit_code, text);
        }
    }

    /// A run that is one command, with the end of what it printed. `whole` where
    /// that is all of it: counts may be missing otherwise.
    pub(crate) fn note_only_command(
        &mut self,
        command: &str,
        exit_code: Option<i64>,
        text: &str,
        whole: bool,
        at: Timestamp,
    ) {
        // Without an exit code no count is taken for complete.
        self.tests.note_command("command", command, exit_code.filter(|_| whole), text, at);
        self.errors.note_command(command, exit_code, text);
    }

    pub(crate) fn edits(&self) -> &Edits {
        &self.edits
    }

    /// What it all came to. `changed` is when files last changed; `fault` is why
    /// the run failed.
    pub(crate) fn finish(
        self,
        changed: Changed,
        fault: Option<&Fault>,
    ) -> (Option<TestResults>, Option<ErrorEvidence>) {
        (self.tests.finish(changed), self.errors.finish(fault))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSED: &str = "running 1 test\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";

    fn ended(status: ItemStatus) -> Event {
        let (item, command) = ("1".to_owned(), "cargo test".to_owned());
        Event::CommandEnded { item, command, exit_code: Some(0), output_bytes: 0, status }
    }

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    const NEVER: Changed = Changed::Known { at: None, by: None };

    fn after(event: &Event, printed: Option<&str>) -> Option<TestResults> {
        let mut gathered = Gathered::new(Path::new("/home/dev/shop"), Path::new("/home/dev/shop"));
        gathered.note(event, printed, at(10));
        gathered.finish(NEVER, None).0
    }

    #[test]
    fn only_commands_that_ran_and_printed_tell_of_tests() {
        assert_eq!(after(&ended(ItemStatus::Completed), Some(PASSED)).unwrap().passed, Some(1));
        assert_eq!(after(&ended(ItemStatus::Declined), Some(PASSED)), None);
        assert_eq!(after(&ended(ItemStatus::Completed), None), None);
    }

    #[test]
    fn a_file_that_changed_after_the_tests_makes_them_stale() {
        let stale = |command: &str, changed| {
            let mut gathered = Gathered::new(Path::new("/home/dev/shop"), Path::new("/home/dev/shop"));
            let started = Event::CommandStarted { item: "1".into(), command: command.into() };
            gathered.note(&started, None, at(5));
            let (item, command, status) = ("1".into(), command.into(), ItemStatus::Completed);
            let ended = Event::CommandEnded { item, command, exit_code: Some(0), output_bytes: 0, status };
            gathered.note(&ended, Some(PASSED), at(10));
            gathered.finish(changed, None).0.unwrap().stale
        };
        let file = |ms| Changed::Known { at: Some(at(ms)), by: None };
        let gone = |ms| Changed::Known { at: None, by: Some(at(ms)) };
        for (command, changed, expected) in [
            ("cargo test", NEVER, Some(false)),
            ("cargo test", file(10), Some(false)),
            ("cargo test", file(11), Some(true)),
            ("cargo test", gone(10), Some(false)),
            // Its folder changed, for whatever reason.
            ("cargo test", gone(11), None),
            ("cargo test", Changed::Unknown, Some(false)),
            // Before the tests, or after them?
            ("cargo test; rm a", file(8), None),
            ("cargo test; rm a", gone(8), None),
            ("cargo test; rm a", file(4), Some(false)),
            ("cargo test; rm a", NEVER, Some(false)),
            ("cargo test; rm a", Changed::Unknown, None),
            ("sed -i s/a/b/ a; cargo test", file(8), Some(false)),
        ] {
            assert_eq!(stale(command, changed), expected, "{command} {changed:?}");
        }
    }

    #[test]
    fn an_output_as_long_as_any_may_lack_its_middle() {
        let long = format!("{}\n{PASSED}", "x".repeat(MOST_PRINTED));
        let tests = after(&ended(ItemStatus::Completed), Some(&long)).unwrap();
        assert_eq!((tests.passed, tests.complete), (Some(1), false));
    }

    #[test]
    fn counts_of_which_the_beginning_is_missing_are_not_the_whole_run() {
        for whole in [true, false] {
            let mut gathered = Gathered::new(Path::new("/"), Path::new("/"));
            gathered.note_only_command("cargo test", Some(0), PASSED, whole, at(0));
            assert_eq!(gathered.finish(NEVER, None).0.unwrap().complete, whole);
        }
    }
}
