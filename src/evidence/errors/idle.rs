//! A build that found nothing to do. What failed may have left its target there, and then it looks done.

use super::codes::without_own_words;
use super::work::Done;
use crate::evidence::shell::Step;

impl Done {
    /// Whether a step is a build that says so of everything that it was asked for.
    pub(super) fn found_nothing_to_do(&self, step: &Step, text: &str) -> bool {
        if !matches!(step.program(), "make" | "gmake" | "ninja") {
            return false;
        }
        // That it ended with 0 says no more of it.
        let text = without_own_words(&self.command, text);
        let mut lines =
            text.lines().map(str::trim).filter(|line| !line.is_empty() && !is_frame(line)).peekable();
        lines.peek().is_some() && lines.all(says_so)
    }
}

/// `make[1]: Entering directory 'a'`
fn is_frame(line: &str) -> bool {
    line.contains(": Entering directory ") || line.contains(": Leaving directory ")
}

fn says_so(line: &str) -> bool {
    let is_of_make = line.starts_with("make") || line.starts_with("gmake");
    line == "ninja: no work to do."
        || (is_of_make && (line.contains(": Nothing to be done for ") || line.ends_with(" is up to date.")))
}
