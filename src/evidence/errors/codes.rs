//! What a command prints of its own steps: `cargo build; echo "exit $?"`, `cargo test && echo OK || echo NO`.

use crate::evidence::shell::{Arm, Command, Step};

/// A command has words for so many of its steps at most.
const MOST_PRINTED: usize = 20;

/// The steps of which `text` says that they ended with 0, though nothing waited for them.
pub(super) fn printed(command: &Command, text: &str) -> Vec<usize> {
    let steps = command.steps.as_slice();
    if let Some(branch) = Branch::of(command).filter(|_| !command.loops && !command.defines) {
        return branch.is_told(steps, branch.good, text).then_some(branch.of).into_iter().collect();
    }
    // A step that is negated ends with 0 where it failed.
    if command.loops || command.defines || command.negates {
        return Vec::new();
    }
    let last = last_line(text);
    if let [.., before, good, bad] = steps
        && good.and
        && bad.or
        && !before.background
        && let (Some(good), Some(bad)) = (words(good), words(bad))
    {
        let is_told = !good.contains('$') && good != bad && last == good;
        return is_told.then(|| steps.len() - 3).into_iter().collect();
    }
    if let [.., before, bad] = steps
        && bad.or
        && !command.chooses
        && !before.background
        && words(before).is_none()
        && steps.iter().filter(|step| step.or).count() == 1
        && let Some(template) = Template::of(steps, steps.len() - 1)
    {
        let is_told = template.is_plain() && !text.lines().any(|line| template.is_filled_by(line));
        return is_told.then(|| steps.len() - 2).into_iter().collect();
    }
    if command.branches {
        return Vec::new();
    }
    let shows = |at: usize| {
        let template = Template::of(steps, at).filter(|_| !steps[at].and)?;
        let of = template.of.filter(|_| template.hole.is_none())?;
        let numbers = template.numbers(text, at + 1 == steps.len());
        (!numbers.is_empty() && numbers.iter().all(|number| *number == 0)).then_some(of)
    };
    (0..steps.len()).filter_map(shows).take(MOST_PRINTED).collect()
}

/// Steps one of which failed by what `text` says, each with the exit code where that is told.
pub(super) fn failed(command: &Command, text: &str) -> Vec<(Vec<usize>, Option<i64>)> {
    let steps = command.steps.as_slice();
    if let Some(branch) = Branch::of(command).filter(|_| !command.defines) {
        let is_told = branch.is_told(steps, branch.bad, text);
        return is_told.then(|| (command.blamed(branch.of), None)).into_iter().collect();
    }
    if command.defines || command.negates {
        return Vec::new();
    }
    let shows = |at: usize| {
        let before = at.checked_sub(1).filter(|before| !steps[*before].background && !steps[at].and)?;
        let template = Template::of(steps, at)?;
        let Some(of) = template.of else {
            let is_told = steps[at].or && text.lines().any(|line| template.is_filled_by(line));
            return is_told.then(|| (command.blamed(before), None));
        };
        let numbers = template.numbers(text, at + 1 == steps.len() && !command.loops);
        // Where each turn does the same, it is the last that counts.
        let turned = command.turned.as_ref().map(|name| format!("${name}"));
        let is_new =
            |word: &String| turned.as_ref().is_some_and(|name| word.replace(['{', '}'], "").contains(name));
        let again = command.loops && !steps[of].words.iter().any(is_new);
        let from = if again { numbers.len().saturating_sub(1) } else { 0 };
        let code = *numbers[from..].iter().find(|number| **number != 0)?;
        let blamed = if template.is_first { vec![of] } else { command.blamed(of) };
        Some((blamed, Some(code)))
    };
    (0..steps.len()).filter_map(shows).take(MOST_PRINTED).collect()
}

/// `if make; then echo fine; else echo broken; fi`, or the same by its exit code.
#[derive(Debug)]
struct Branch {
    /// The last step of what it depends on.
    of: usize,
    good: Arm,
    bad: Arm,
}

impl Branch {
    fn of(command: &Command) -> Option<Self> {
        let steps = command.steps.as_slice();
        let is_condition = |at: &usize| steps[*at].arm == Some(Arm::If);
        let at = (0..steps.len()).rfind(is_condition)?;
        let (then, otherwise) = (Arm::Then, Arm::Else);
        if !matches!(steps[at].program(), "[" | "[[" | "test") {
            let (good, bad) = if command.negates { (otherwise, then) } else { (then, otherwise) };
            return Some(Self { of: at, good, bad });
        }
        let args: Vec<&str> = steps[at].args().iter().map(String::as_str).collect();
        let [code, how, "0", ..] = args.as_slice() else { return None };
        let (_, _, from) = codes(steps, at).into_iter().find(|(token, _, _)| token == code)?;
        let of = from.checked_sub(1)?;
        match *how {
            "-ne" | "!=" | "-gt" => Some(Self { of, good: otherwise, bad: then }),
            "-eq" | "==" | "=" => Some(Self { of, good: then, bad: otherwise }),
            _ => None,
        }
    }

    /// Whether words are printed that stand in one arm, and none of the other's.
    fn is_told(&self, steps: &[Step], arm: Arm, text: &str) -> bool {
        let prints = |of: Arm| {
            let in_arm = (0..steps.len()).filter(|at| steps[*at].arm == Some(of));
            let mut words = in_arm.filter_map(|at| Template::of(steps, at));
            words.any(|words| text.lines().any(|line| words.is_filled_by(line)))
        };
        let other = if arm == self.good { self.bad } else { self.good };
        // In a loop it may have gone both ways.
        prints(arm) && (arm == self.bad || !prints(other))
    }
}

/// Steps one of which failed where the step at `at` ends with the exit code of another: `exit $?`.
pub(super) fn passed_on(command: &Command, at: usize) -> Option<Vec<usize>> {
    let steps = command.steps.as_slice();
    let word = match (steps[at].program(), steps[at].args()) {
        ("exit" | "return", []) => "$?",
        ("exit" | "return", [word]) => word,
        _ => return None,
    };
    let (_, value, from) = codes(steps, at).into_iter().find(|(token, _, _)| token == word)?;
    let last = from.checked_sub(1)?;
    let piped = steps[..=last].iter().rev().take_while(|step| step.piped).count();
    Some(if value == "$?" { command.blamed(last) } else { vec![last - piped] })
}

/// An output without the lines that the command itself has words for.
pub(super) fn without_own_words(command: &Command, text: &str) -> String {
    let steps = command.steps.as_slice();
    let templates = (0..steps.len()).filter_map(|at| Template::of(steps, at)).take(MOST_PRINTED);
    let templates: Vec<Template> = templates.collect();
    let is_own = |line: &str| templates.iter().any(|template| template.is_filled_by(line));
    text.split_inclusive('\n').filter(|line| templates.is_empty() || !is_own(line)).collect()
}

/// What a step prints: its own words, around the exit code of another step where that is among them.
#[derive(Debug)]
struct Template {
    head: String,
    tail: String,
    /// The step whose exit code stands between them.
    of: Option<usize>,
    /// Whether that is the first of a pipeline.
    is_first: bool,
    /// Where in the head each turn of a loop puts a word, with those that it may be.
    hole: Option<(usize, usize, Vec<String>)>,
}

impl Template {
    fn of(steps: &[Step], at: usize) -> Option<Self> {
        let words = words(&steps[at])?;
        let mut found = None;
        for (token, value, from) in codes(steps, at) {
            if let Some((head, tail)) = words.split_once(token.as_str()) {
                found = Some((head.to_owned(), tail.to_owned(), value, from));
                break;
            }
        }
        let (head, tail, of, is_first) = match found {
            None => (words, String::new(), None, false),
            Some((head, tail, value, from)) => {
                let last = from.checked_sub(1).filter(|last| !steps[*last].background)?;
                let piped = steps[..=last].iter().rev().take_while(|step| step.piped).count();
                let is_first = value != "$?";
                (head, tail, Some(if is_first { last - piped } else { last }), is_first)
            }
        };
        let hole = match head.find('$') {
            None => None,
            Some(from) => {
                let rest = head[from + 1..].trim_start_matches('{');
                let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                let after = rest[name.len()..].trim_start_matches('}');
                let values = values(&steps[at], &name).filter(|_| !after.contains('$'))?;
                Some((from, after.len(), values))
            }
        };
        (!tail.contains('$')).then_some(Self { head, tail, of, is_first, hole })
    }

    /// Whether nothing in it is another's.
    fn is_plain(&self) -> bool {
        self.hole.is_none()
    }

    /// Whether it is what a line says, whatever the number.
    fn is_filled_by(&self, line: &str) -> bool {
        let line = line.trim_end();
        match self.of {
            Some(_) => self.number(line).is_some(),
            None => self.fits(line),
        }
    }

    /// Whether a line up to the number is its head.
    fn fits(&self, text: &str) -> bool {
        let Some((from, after, values)) = &self.hole else { return text == self.head };
        let (head, tail) = (&self.head[..*from], &self.head[self.head.len() - after..]);
        let value = text.strip_prefix(head).and_then(|rest| rest.strip_suffix(tail));
        value.is_some_and(|value| values.iter().any(|of| is_one_of(of, value)))
    }

    fn number(&self, line: &str) -> Option<i64> {
        let rest = line.trim_end().strip_suffix(self.tail.as_str())?;
        let head = rest.trim_end_matches(|c: char| c.is_ascii_digit());
        let number = rest[head.len()..].parse().ok().filter(|number| *number < 256)?;
        // The head may end with a digit of its own.
        (self.fits(head) || rest.strip_prefix(self.head.as_str()) == Some(&rest[head.len()..]))
            .then_some(number)
    }

    /// All numbers that it was printed with. A bare one may be anything, but for the last that was printed.
    fn numbers(&self, text: &str, is_last: bool) -> Vec<i64> {
        if is_last {
            return self.number(last_line(text)).into_iter().collect();
        }
        let says = self.head.contains(|c: char| c.is_alphabetic()) || self.hole.is_some();
        text.lines().filter(|_| says).filter_map(|line| self.number(line)).collect()
    }
}

/// What stands for an exit code at the step `at`, what it is the value of, and after which step it was taken.
fn codes(steps: &[Step], at: usize) -> Vec<(String, &'static str, usize)> {
    const VALUES: [&str; 3] = ["$?", "${PIPESTATUS[0]}", "$PIPESTATUS"];
    let own = VALUES.iter().map(|value| ((*value).to_owned(), *value, at));
    let kept = (0..at).rev().filter_map(|from| {
        let (name, value) = steps[from].sets()?.split_once('=')?;
        let value = VALUES.iter().find(|of| **of == value)?;
        Some([(format!("${{{name}}}"), *value, from), (format!("${name}"), *value, from)])
    });
    own.chain(kept.flatten()).collect()
}

/// The words that a loop gives a name: `for f in a b`.
fn values(step: &Step, name: &str) -> Option<Vec<String>> {
    let head = format!("for {name} in ");
    let of =
        |said: &String| said.strip_prefix(&head).map(|words| words.split(' ').map(str::to_owned).collect());
    step.context.iter().find_map(of)
}

/// Whether a word is what a pattern with a star may stand for.
fn is_one_of(pattern: &str, word: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == word,
        Some((head, tail)) => {
            let tail = tail.rsplit('*').next().unwrap_or(tail);
            word.len() >= head.len() + tail.len() && word.starts_with(head) && word.ends_with(tail)
        }
    }
}

fn last_line(text: &str) -> &str {
    text.lines().map(str::trim_end).rfind(|line| !line.is_empty()).unwrap_or_default()
}

/// What a step prints that prints its own words only.
fn words(step: &Step) -> Option<String> {
    let prints = !step.piped && !step.silent && step.writes.is_empty();
    let words = match (step.program(), step.args()) {
        ("echo", args) => args.join(" "),
        ("printf", [format, rest @ ..]) => {
            let format = format.strip_suffix("\\n").unwrap_or(format);
            let filled = match rest {
                [] => format.to_owned(),
                [one] => format.replacen("%s", one, 1).replacen("%d", one, 1),
                _ => return None,
            };
            Some(filled).filter(|filled| !filled.contains('%'))?
        }
        _ => return None,
    };
    let is_plain = !words.contains(['`', '\\', '*']) && !words.contains("$(") && !words.starts_with('-');
    (prints && is_plain && !words.is_empty()).then_some(words)
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
