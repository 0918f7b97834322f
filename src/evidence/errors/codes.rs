//! Successes that a command prints of itself: `cargo build; echo "exit $?"`, `cargo test && echo OK || echo NO`.

use crate::evidence::shell::{Command, Step};

/// The steps of which `text` says that they ended with 0, though nothing waited for them.
pub(super) fn printed(command: &Command, text: &str) -> Vec<usize> {
    let steps = command.steps.as_slice();
    // A step that is negated ends with 0 where it failed.
    if command.loops || command.defines || command.negates {
        return Vec::new();
    }
    let last = text.lines().map(str::trim_end).rfind(|line| !line.is_empty()).unwrap_or_default();
    if let [.., before, good, bad] = steps
        && good.and
        && bad.or
        && !before.background
        && let (Some(good), Some(bad)) = (words(good), words(bad))
    {
        let is_told = !good.contains('$') && good != bad && last == good;
        return is_told.then(|| steps.len() - 3).into_iter().collect();
    }
    if command.branches {
        return Vec::new();
    }
    let shows = |(at, step): (usize, &Step)| {
        let before = at.checked_sub(1).filter(|before| !steps[*before].background)?;
        let words = words(step).filter(|_| !step.and)?;
        let (head, tail) = words.split_once("$?").filter(|(_, tail)| !tail.contains('$'))?;
        let is_told = match at + 1 == steps.len() {
            true => last == format!("{head}0{tail}"),
            false => is_always_zero(text, head, tail),
        };
        is_told.then_some(before)
    };
    steps.iter().enumerate().filter_map(shows).collect()
}

/// What a step prints that prints its own words only.
fn words(step: &Step) -> Option<String> {
    let prints = step.program() == "echo" && !step.piped && !step.silent && step.writes.is_empty();
    let words = step.args().join(" ");
    let is_plain = !words.contains(['`', '\\', '*']) && !words.contains("$(") && !words.starts_with('-');
    (prints && is_plain && !words.is_empty()).then_some(words)
}

/// Whether the number between `head` and `tail` is there, and 0 wherever it is.
fn is_always_zero(text: &str, head: &str, tail: &str) -> bool {
    // A bare number may be anything.
    if !head.contains(|c: char| c.is_alphabetic()) {
        return false;
    }
    let number = |line: &str| {
        let number = line.trim_end().strip_prefix(head)?.strip_suffix(tail)?.to_owned();
        number.bytes().all(|byte| byte.is_ascii_digit()).then_some(number)
    };
    let mut found = text.lines().filter_map(number).peekable();
    found.peek().is_some() && found.all(|number| number == "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, text: &str, expected: &[&str]) {
        let command = Command::parse(line);
        let found = printed(&command, text);
        let found: Vec<&str> = found.into_iter().map(|at| command.steps[at].program()).collect();
        assert_eq!(found, expected, "{line}\n{text}");
    }

    #[test]
    fn an_exit_code_that_was_printed_is_that_of_the_step_before() {
        check("cargo build; echo \"exit $?\"", "    Finished\nexit 0\n", &["cargo"]);
        check("cargo build; echo $?", "0\n\n", &["cargo"]);
        check("/bin/bash -lc 'cargo build; echo \"exit=$?\"'", "exit=0\n", &["cargo"]);
        check("cargo fmt; echo \"fmt $?\"; make; echo \"make $?\"", "fmt 0\nmake 0\n", &["cargo", "make"]);
        check("cargo fmt; echo \"fmt $?\"; make; echo \"make $?\"", "fmt 1\nmake 0\n", &["make"]);
        for (line, text) in [
            ("cargo build; echo \"exit $?\"", "exit 101\n"),
            ("cargo build; echo \"exit $?\"", "exit 0\nexit 101\n"),
            ("cargo build; echo $?", "10\n"),
            ("cargo build; echo 'exit $?'", "exit $?\n"),
            ("cargo build; echo done", "done\n"),
            ("cargo build; echo \"exit $?\" > a", "exit 0\n"),
            ("cargo build; echo \"exit $? $(cat a)\"", "exit 0 0\n"),
            // It is another's.
            ("cargo build || true; echo \"exit $?\"", "exit 0\n"),
            ("cargo build && echo \"exit $?\"", "exit 0\n"),
            ("! cargo build; echo \"exit $?\"", "exit 0\n"),
            ("cargo build & echo \"exit $?\"", "exit 0\n"),
            ("for i in 1 2; do cargo build; echo \"exit $?\"; done", "exit 101\nexit 0\n"),
            // A number of its own.
            ("cargo build; echo $?; make", "0\n"),
            ("cargo fmt; echo \"fmt $?\"; make", "fmt 0\nfmt 1\n"),
        ] {
            check(line, text, &[]);
        }
    }

    #[test]
    fn one_of_two_words_says_which_way_it_went() {
        let line = "cargo build >/dev/null 2>&1 && echo OK || echo NO";
        check(line, "OK\n", &["cargo"]);
        check(line, "NO\n", &[]);
        check(line, "OK\nNO\n", &[]);
        for line in [
            "cargo build && echo OK || echo OK",
            "cargo build || echo OK && echo NO",
            "cargo build; echo OK || echo NO",
            "cargo build && echo OK; echo NO",
            "! cargo build && echo OK || echo NO",
        ] {
            check(line, "OK\n", &[]);
        }
    }
}
