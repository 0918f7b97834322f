//! Everything that a run's events and outputs tell, as they come.
//!
//! What is kept does not grow with what is printed.

use super::{Edits, ErrorEvidence, Errors, TestResults, Tests};
use crate::model::{Event, Fault, ItemStatus, Timestamp};

#[derive(Debug)]
pub(crate) struct Gathered {
    edits: Edits,
    tests: Tests,
    errors: Errors,
}

impl Gathered {
    /// Of a run whose commands start in `directory`.
    pub(crate) fn new(directory: &str) -> Self {
        Self { edits: Edits::default(), tests: Tests::new(directory), errors: Errors::new(directory) }
    }

    /// One event, with what was printed where it is the end of a command.
    pub(crate) fn note(&mut self, event: &Event, printed: Option<&str>, at: Timestamp) {
        self.edits.note(event);
        self.tests.note_event(event);
        self.errors.note_event(event);
        if let (Event::CommandEnded { item, command, exit_code, status, .. }, Some(text)) = (event, printed)
            // What was refused did not run, whatever stands where its output would.
            && *status != ItemStatus::Declined
        {
            self.tests.note_command(item, command, *exit_code, text, at);
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

    /// What it all came to. `changed_at` is when a file last changed, where that
    /// is known; `fault` is why the run failed.
    pub(crate) fn finish(
        self,
        changed_at: Option<Timestamp>,
        fault: Option<&Fault>,
    ) -> (Option<TestResults>, Option<ErrorEvidence>) {
        (self.tests.finish(changed_at), self.errors.finish(fault))
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

    fn after(event: &Event, printed: Option<&str>, changed_at: Option<Timestamp>) -> Option<TestResults> {
        let mut gathered = Gathered::new("/home/dev/shop");
        gathered.note(event, printed, at(10));
        gathered.finish(changed_at, None).0
    }

    #[test]
    fn only_commands_that_ran_and_printed_tell_of_tests() {
        assert_eq!(after(&ended(ItemStatus::Completed), Some(PASSED), None).unwrap().passed, 1);
        assert_eq!(after(&ended(ItemStatus::Declined), Some(PASSED), None), None);
        assert_eq!(after(&ended(ItemStatus::Completed), None, None), None);
    }

    #[test]
    fn a_file_that_changed_after_the_tests_makes_them_stale() {
        let stale = |changed| after(&ended(ItemStatus::Completed), Some(PASSED), changed).unwrap().stale;
        assert_eq!([stale(None), stale(Some(at(10))), stale(Some(at(11)))], [false, false, true]);
    }

    #[test]
    fn counts_of_which_the_beginning_is_missing_are_not_the_whole_run() {
        for whole in [true, false] {
            let mut gathered = Gathered::new("/");
            gathered.note_only_command("cargo test", Some(0), PASSED, whole, at(0));
            assert_eq!(gathered.finish(None, None).0.unwrap().complete, whole);
        }
    }
}
