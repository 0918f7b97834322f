//! What pipes leave to be seen of what a program before them came to.

use crate::evidence::shell::Step;
use crate::evidence::tests::{TestRun, keeps_the_end, read};

/// The steps behind a program whose exit code they hide.
#[derive(Debug, Clone, Copy)]
pub(super) struct Behind {
    /// Whether what it dies of would be among what they print.
    pub(super) lets_failures_through: bool,
}

impl Default for Behind {
    fn default() -> Self {
        Self { lets_failures_through: true }
    }
}

impl Behind {
    /// With one more before them; `lines` is how many came out at the end.
    pub(super) fn and(self, step: &Step, lines: usize) -> Self {
        Self { lets_failures_through: self.lets_failures_through && keeps_the_end(step, lines) }
    }
}

/// What an output says of success.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) lines: usize,
    /// Whether all tests of which it tells passed; `None` where it tells of none.
    pub(super) tests: Option<bool>,
    /// How often cargo says that it came to a good end.
    pub(super) finished: usize,
    /// Whether nothing in it has a word of failure.
    pub(super) is_clean: bool,
}

impl Seen {
    pub(super) fn new(line: &str, text: &str) -> Self {
        let runs = read(line, Some(0), text);
        let passed = || runs.iter().all(TestRun::passed);
        let finished = text.lines().filter(|line| line.trim_start().starts_with("Finished")).count();
        Self {
            lines: text.lines().count(),
            tests: (!runs.is_empty()).then(passed),
            finished,
            is_clean: !text.lines().any(tells_of_failure),
        }
    }
}

fn tells_of_failure(line: &str) -> bool {
    // A test that passed may be called anything. Node's last words are its version.
    if line.starts_with("test ") && line.ends_with(" ... ok") {
        return false;
    }
    let line = line.to_ascii_lowercase().replace("; 0 failed", "");
    line.starts_with("node.js v")
        || ["error", "fail", "panic", "traceback"].iter().any(|word| line.contains(word))
}
