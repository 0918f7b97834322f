//! What pipes leave to be seen of what a program before them came to.

use super::thrown;
use crate::evidence::shell::Step;
use crate::evidence::tests::{TestRun, read};

/// Whether a step shows every line that begins with cargo's word for an error: `grep -E "^(warning|error)"`.
pub(super) fn keeps_errors(step: &Step) -> bool {
    let turned = |arg: &String| {
        arg.starts_with("--")
            || (arg.starts_with('-') && arg.contains(['v', 'c', 'q', 'l', 'L', 'm', 'w', 'x']))
    };
    let is_word = |part: &str| part.trim_matches(['^', '(', ')', '\\']) == "error";
    let is_pattern = |arg: &String| !arg.starts_with('-') && arg.split('|').any(is_word);
    let args = step.args();
    matches!(step.program(), "grep" | "egrep" | "rg")
        && !args.iter().any(turned)
        && args.iter().any(is_pattern)
}

/// Whether something is shown where a step reads something.
pub(super) fn keeps_some(step: &Step) -> bool {
    step.piped && matches!(step.program(), "head" | "tail" | "cat" | "sort" | "uniq" | "nl")
}

/// What an output says of success.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) lines: usize,
    /// Whether all tests of which it tells passed; `None` where it tells of none.
    pub(super) tests: Option<bool>,
    /// How often cargo says that it came to a good end.
    pub(super) finished: usize,
    /// Whether nothing in it is an error of a compiler.
    pub(super) built: bool,
    /// Whether nothing in it has a word of failure.
    pub(super) is_clean: bool,
}

impl Seen {
    pub(super) fn new(line: &str, text: &str) -> Self {
        let runs = read(line, Some(0), text);
        // One that ran none shows nothing.
        let ran = |run: &TestRun| run.counts.is_some_and(|counts| counts.passed > 0) || run.ended_green();
        let passed = || runs.iter().all(|run| run.passed() && ran(run));
        let is_end =
            |line: &&str| line.trim_start().starts_with("Finished ") && line.contains("target(s) in ");
        Self {
            lines: text.lines().count(),
            tests: (!runs.is_empty()).then(passed),
            finished: text.lines().filter(is_end).count(),
            built: !text.lines().any(tells_of_broken_build),
            is_clean: !text.lines().any(tells_of_failure) && !thrown::may_end(line, text),
        }
    }
}

/// Where cargo says that it finished, a name with such a word in it tells of nothing.
fn tells_of_broken_build(line: &str) -> bool {
    let heads = ["error:", "error["];
    heads.iter().any(|head| line.starts_with(head) || line.contains(&format!(": {head}")))
        || line.contains("could not compile")
        || line.contains(" panicked at ")
}

fn tells_of_failure(line: &str) -> bool {
    // A test that passed may be called anything, and so may a package. Node's last words are its version.
    let heads = ["Compiling ", "Checking ", "warning: "];
    let is_name =
        heads.iter().any(|head| line.trim_start().starts_with(head)) && !line.contains("build failed");
    if is_name || (line.starts_with("test ") && line.ends_with(" ... ok")) {
        return false;
    }
    let line = NOTHING.iter().fold(line.to_ascii_lowercase(), |line, words| without(&line, words));
    line.starts_with("node.js v")
        || ["error", "fail", "panic", "traceback", ": not found", "no such file"]
            .iter()
            .any(|word| line.contains(word))
}

/// What counts failures, and none.
const NOTHING: [&str; 6] = ["0 failed", "0 failures", "0 failing", "0 errors", "no errors", "no failures"];

/// A line without words that stand by themselves: `10 errors` has no `0 errors` in it.
fn without(line: &str, words: &str) -> String {
    let mut parts = line.split(words);
    let mut left = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        if left.ends_with(|c: char| c.is_alphanumeric()) {
            left.push_str(words);
        }
        left.push_str(part);
    }
    left
}
