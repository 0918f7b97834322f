//! What a command prints of its own steps: `cargo build; echo "exit $?"`, `cargo test && echo OK || echo NO`.

use super::branch::{Branch, Says, tested};
use super::template::{Taken, Template, last_line, names, speaking, words};
use crate::evidence::shell::{Arm, Command, Step};
use crate::evidence::tests::{Started, started};

/// The steps of which `text` says that they ended with 0 where the command did, though nothing waited for them.
pub(crate) fn printed(command: &Command, text: &str) -> Vec<usize> {
    let mut told = said(command, text);
    if !(command.loops || command.defines || command.negates || command.chooses) {
        told.extend(handed_over(command).map(|taken| taken.of));
    }
    told
}

/// What a command ends with the exit code of: `exit $rc`.
fn handed_over(command: &Command) -> Option<Taken> {
    let (at, last) = command.steps.iter().enumerate().next_back()?;
    let taken = exits_with(command, at).filter(|_| command.is_clear() && !last.piped && !last.or)?;
    // Another shell knows of no failure before it.
    Some(taken).filter(|taken| command.steps[taken.of].shells.starts_with(&last.shells))
}

/// The steps that the words of a command are about, where these say so.
fn said(command: &Command, text: &str) -> Vec<usize> {
    let steps = command.steps.as_slice();
    if let Some(branch) = Branch::of(command).filter(|_| !command.loops && !command.defines) {
        // All that it waited for went well, too.
        let all = blamed(command, branch.by);
        let is_chain = !all.iter().any(|at| steps[*at].or);
        let told = if is_chain { all } else { vec![branch.by.of] };
        return told.into_iter().filter(|_| branch.went_well(steps, text)).collect();
    }
    // A step that is negated ends with 0 where it failed.
    if command.loops || command.defines || command.negates {
        return Vec::new();
    }
    let last = last_line(text);
    // What a test of an exit code says is said of whose it is.
    let behind = |at: usize| match tested(steps, at) {
        Some((taken, true)) => Some(taken.of),
        Some((_, false)) => None,
        None => Some(at),
    };
    if let [.., before, good, bad] = steps
        && good.and
        && bad.or
        && !before.background
        && let (Some(good), Some(bad)) = (words(good), words(bad))
    {
        let is_told = !good.contains(['$', '*']) && good != bad && last == good;
        return behind(steps.len() - 3).filter(|_| is_told).into_iter().collect();
    }
    if let [.., before, bad] = steps
        && bad.or
        && !command.chooses
        && !before.background
        && words(before).is_none()
        && steps.iter().filter(|step| step.or).count() == 1
        && let Some(template) = Template::of(steps, steps.len() - 1)
    {
        let is_told = template.is_plain() && !template.is_in(text);
        return behind(steps.len() - 2).filter(|_| is_told).into_iter().collect();
    }
    // Tests say something where they fail.
    if let [.., before, bad] = steps
        && bad.or
        && !command.chooses
        && steps.iter().filter(|step| step.or).count() == 1
        && matches!(started(before), Some(Started::Framework(..)))
        && matches!(bad.program(), "cat" | "tail")
        && before.silent
        && before.writes.iter().any(|file| bad.args().contains(file))
        && text.trim().is_empty()
    {
        return vec![steps.len() - 2];
    }
    if command.branches {
        return Vec::new();
    }
    let shows = |at: usize| {
        let template = Template::of(steps, at).filter(|words| !steps[at].and && words.is_plain())?;
        let numbers = template.numbers(text, at + 1 == steps.len());
        let is_told = !numbers.is_empty() && numbers.iter().all(|number| *number == 0);
        template.of.filter(|_| is_told).map(|taken| taken.of)
    };
    speaking(steps).filter_map(shows).collect()
}

/// Steps one of which failed by what `text` says, each with the exit code where that is told.
pub(super) fn failed(command: &Command, text: &str) -> Vec<(Vec<usize>, Option<i64>)> {
    let steps = command.steps.as_slice();
    if let Some(branch) = Branch::of(command).filter(|_| !command.defines) {
        let code = match branch.went_wrong(steps, text) {
            Says::Nothing => return Vec::new(),
            Says::Words => None,
            Says::Code(code) => Some(code),
        };
        return vec![(blamed(command, branch.by), code)];
    }
    if command.defines || command.negates {
        return Vec::new();
    }
    let shows = |at: usize| {
        let before = at.checked_sub(1).filter(|before| !steps[*before].background && !steps[at].and)?;
        let template = Template::of(steps, at)?;
        let Some(taken) = template.of else {
            let is_told = steps[at].or && template.is_in(text);
            return is_told.then(|| (behind_tests(command, command.blamed(before)), None));
        };
        let numbers = template.numbers(text, at + 1 == steps.len() && !command.loops);
        // Where each turn does the same, it is the last that counts.
        let turned = command.turned.as_ref().map(|name| format!("${name}"));
        let is_new =
            |word: &String| turned.as_ref().is_some_and(|name| word.replace(['{', '}'], "").contains(name));
        let again = command.loops && !steps[taken.of].words.iter().any(is_new);
        let from = if again { numbers.len().saturating_sub(1) } else { 0 };
        let code = *numbers[from..].iter().find(|number| **number != 0)?;
        Some((blamed(command, taken), Some(code)))
    };
    speaking(steps).filter_map(shows).collect()
}

/// Whether a command goes into `arm` where a step of it failed.
pub(super) fn goes_wrong_in(command: &Command, arm: Arm) -> bool {
    Branch::of(command).is_some_and(|branch| branch.bad == arm)
}

/// The steps of which the command has words for that they failed.
pub(super) fn spoken_of(command: &Command) -> Vec<usize> {
    let steps = command.steps.as_slice();
    let speaks = |at: usize| {
        let before = at.checked_sub(1).filter(|_| !steps[at].and)?;
        match Template::of(steps, at)?.of {
            Some(taken) => Some(blamed(command, taken)),
            None => steps[at].or.then(|| behind_tests(command, command.blamed(before))),
        }
    };
    speaking(steps).filter_map(speaks).flatten().collect()
}

fn blamed(command: &Command, taken: Taken) -> Vec<usize> {
    if taken.is_first { vec![taken.of] } else { command.blamed(taken.of) }
}

/// The same steps, and in the place of a test of an exit code those whose it is.
fn behind_tests(command: &Command, steps: Vec<usize>) -> Vec<usize> {
    let behind = |at: usize| match tested(&command.steps, at) {
        Some((taken, true)) => blamed(command, taken),
        Some((_, false)) | None => vec![at],
    };
    steps.into_iter().flat_map(behind).collect()
}

/// Steps one of which failed where the step at `at` ends with the exit code of another: `exit $?`.
pub(super) fn passed_on(command: &Command, at: usize) -> Option<Vec<usize>> {
    exits_with(command, at).map(|taken| blamed(command, taken))
}

/// The step whose exit code the one at `at` ends with.
fn exits_with(command: &Command, at: usize) -> Option<Taken> {
    let steps = command.steps.as_slice();
    let word = match (steps[at].program(), steps[at].args()) {
        ("exit" | "return", []) => "$?",
        ("exit" | "return", [word]) => word,
        _ => return None,
    };
    let name = names(steps, at).into_iter().find(|name| name.token == word)?;
    name.taken(steps)
}

/// Whether a command has words for a success that `text` is without.
pub(super) fn lacks_words(command: &Command, text: &str) -> bool {
    let steps = command.steps.as_slice();
    let mut waiting = speaking(steps).filter(|at| steps[*at].and);
    waiting.any(|at| {
        let template = Template::of(steps, at);
        template.is_some_and(|words| !words.is_in(text))
    })
}

/// An output without the lines that the command itself has words for.
pub(super) fn without_own_words(command: &Command, text: &str) -> String {
    let steps = command.steps.as_slice();
    let templates = speaking(steps).filter_map(|at| Template::of(steps, at));
    let templates: Vec<Template> = templates.filter(|template| template.may_be_in(text)).collect();
    let computed: Vec<(String, String)> = speaking(steps).filter_map(|at| around_a_sum(&steps[at])).collect();
    let counted: Vec<(String, String)> = speaking(steps).filter_map(|at| around_a_name(&steps[at])).collect();
    let is_own = |line: &str| {
        let line = line.trim_end();
        let between = |(head, tail): &(String, String)| line.strip_prefix(head)?.strip_suffix(tail);
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        templates.iter().any(|template| template.is_filled_by(line))
            || computed.iter().any(|around| between(around).is_some())
            || counted.iter().filter_map(between).any(is_number)
    };
    text.split_inclusive('\n').filter(|line| !is_own(line)).collect()
}

/// What stands around what a step computes and prints: `echo took $((END - START))s`.
fn around_a_sum(step: &Step) -> Option<(String, String)> {
    let words = words(step)?;
    let (head, rest) = words.split_once("$(")?;
    let (_, tail) = rest.rsplit_once(')')?;
    let is_word = head.trim().len() > 2 && !head.contains('$') && !tail.contains('$');
    is_word.then(|| (head.to_owned(), tail.to_owned()))
}

/// What stands around a variable that a step prints, which may hold a number: `echo took $SECONDS s`.
fn around_a_name(step: &Step) -> Option<(String, String)> {
    let words = words(step)?;
    let (head, rest) = words.split_once('$')?;
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let tail = match rest.strip_prefix('{') {
        Some(rest) => rest.trim_start_matches(is_part).strip_prefix('}')?,
        None => rest.trim_start_matches(is_part),
    };
    let is_word = head.trim().len() > 2 && tail.len() < rest.len() && !tail.contains('$');
    is_word.then(|| (head.to_owned(), tail.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::errors::left_by;

    #[track_caller]
    fn check(line: &str, text: &str, expected: &[&str]) {
        let command = Command::parse(line);
        let found = printed(&command, text);
        let found: Vec<&str> = found.into_iter().map(|at| command.steps[at].program()).collect();
        assert_eq!(found, expected, "{line}\n{text}");
    }

    #[test]
    fn what_is_computed_is_no_part_of_what_a_program_says() {
        let broken = "*** Error compiling './b.py'...\n  File \"./b.py\", line 1\n    def g(:\n          ^\nSyntaxError: invalid syntax\n\n";
        let line = "START=$(date +%s); python3 -m compileall -q .; echo took $(( $(date +%s) - START ))s";
        let left = left_by(&[(line, 0, &format!("{broken}took 0s\n"))]);
        assert_eq!(left.map(|(kind, _)| kind).as_deref(), Some("SyntaxError"));
        assert_eq!(left_by(&[(line, 0, "took 0s\n")]), None);
        let line = "echo \"--- run\"; python3 app.py; echo \"--- rc=$?\"";
        let left = left_by(&[(line, 0, "--- run\nit went wrong\n--- rc=1\n")]);
        assert_eq!(left.map(|(_, message)| message).as_deref(), Some("exited with code 1"));
        assert_eq!(left_by(&[(line, 0, "--- run\nfine\n--- rc=0\n")]), None);
        let perl = "Global symbol \"$y\" requires explicit package name at a.pl line 2.\nExecution of a.pl aborted due to compilation errors.\nend\n";
        assert!(left_by(&[("echo start; perl -w a.pl; echo end", 0, perl)]).is_some());
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
