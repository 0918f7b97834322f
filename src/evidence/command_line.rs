//! Parses a command line as far as the ledger needs it: its steps, which program its exit code belongs to,
//! and what makes two lines the same.
//!
//! This is not a shell: lines that it does not understand (functions, `eval`, open quotes) prove nothing.

mod lex;
mod programs;
mod shell;

use std::path::{Component, Path, PathBuf};

use lex::{Op, Token, lex};
pub(crate) use programs::base_name;
use programs::{bare, moves_tree, only_asks, only_looks};
use shell::{ShellCommand, ShellOptions, mark_unseen};

/// A longer line is really a document, such as a script passed inline.
pub(crate) const LONGEST: usize = 16 << 10;
const DEEPEST: usize = 4;
const LONGEST_NAME: usize = 24;

/// How a step is joined to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Joined {
    /// The first step, or a step after `;`, `&` or a line end.
    Next,
    And,
    Or,
    Pipe,
}

/// One program with its arguments, without wrappers such as `timeout 60`.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) words: Vec<String>,
    pub(crate) joined: Joined,
    /// The file that its standard output is redirected to.
    pub(crate) writes: Option<String>,
    /// Whether its failure may leave the exit code as it is.
    unseen: bool,
}

/// Whether commands are read within brackets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Brackets {
    Outside,
    Inside,
}

/// A parsed command line.
#[derive(Debug, Default)]
pub(crate) struct CommandLine {
    pub(crate) steps: Vec<Step>,
    /// Whether it has loops, conditions or functions, so that it is unknown which steps ran and how often.
    pub(crate) compound: bool,
}

/// Which program the exit code of a line belongs to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ExitOwner {
    /// The program that the shell ran last.
    pub(crate) program: Option<String>,
    /// Whether other programs that do work may have failed without changing the exit code.
    pub(crate) hides: Vec<String>,
}

impl Step {
    pub(crate) fn program(&self) -> &str {
        self.words.first().map_or("", |word| base_name(word))
    }

    pub(crate) fn args(&self) -> &[String] {
        self.words.get(1..).unwrap_or_default()
    }

    /// Whether it may change files.
    pub(crate) fn may_write(&self) -> bool {
        let is_file = |file: &String| !file.starts_with("/dev/");
        self.writes.as_ref().is_some_and(is_file) || programs::may_write(self)
    }

    /// Whether it prints existing text.
    pub(crate) fn shows_text(&self) -> bool {
        programs::shows_text(self)
    }
}

impl CommandLine {
    pub(crate) fn parse(line: &str) -> Self {
        let mut parsed = Self::default();
        parsed.read_script(line, ShellOptions::default(), DEEPEST);
        parsed
    }

    /// Reads the script of one shell.
    fn read_script(&mut self, script: &str, options: ShellOptions, depth: usize) {
        let Some(mut tokens) = lex(script).filter(|_| script.len() <= LONGEST) else {
            self.compound = true;
            return;
        };
        tokens.push(Token::end());
        self.read(&mut tokens.iter(), options, Brackets::Outside, depth);
    }

    /// Reads the commands up to the closing bracket, or to the end.
    fn read(
        &mut self,
        tokens: &mut std::slice::Iter<'_, Token>,
        mut options: ShellOptions,
        brackets: Brackets,
        depth: usize,
    ) {
        let mut commands = Vec::new();
        let (mut words, mut joined, mut writes) = (Vec::new(), Joined::Next, None);
        let mut first = self.steps.len();
        while let Some(token) = tokens.next() {
            let op = match token.op {
                None => {
                    words.push(token.text.clone());
                    continue;
                }
                Some(Op::Writes) => {
                    writes = Some(token.text.clone());
                    continue;
                }
                Some(Op::Redirects) => continue,
                Some(Op::Open) if words.is_empty() && depth > 0 => {
                    self.read(tokens, options.in_brackets(), Brackets::Inside, depth - 1);
                    continue;
                }
                Some(op) => op,
            };
            let is_empty = words.is_empty() && self.steps.len() == first;
            let closes = op == Op::Close && brackets == Brackets::Inside;
            // A line end after `&&` does not change how the next step is joined.
            if is_empty && !closes && matches!(op, Op::Open | Op::Close | Op::Next) {
                continue;
            }
            self.compound |= words.first().is_some_and(|word: &String| programs::is_keyword(word));
            let words = bare(std::mem::take(&mut words));
            if words.first().is_some_and(|word| word == "set") {
                let is_certain = joined == Joined::Next && !matches!(op, Op::Pipe | Op::Background);
                let args = &words[1..];
                options = if is_certain { options.with(args) } else { options.perhaps_with(args) };
                if brackets == Brackets::Inside {
                    options = options.in_brackets();
                }
            } else if !words.is_empty() {
                self.push(Step { words, joined, writes: None, unseen: false }, depth);
            }
            let is_step = self.steps.len() > first;
            if let [step, ..] = &mut self.steps[first..] {
                step.joined = joined;
            }
            if let [.., step] = &mut self.steps[first..] {
                step.writes = step.writes.take().or(writes.take());
            }
            if is_step {
                commands.push(ShellCommand { first, joined, background: op == Op::Background, options });
            }
            (first, writes) = (self.steps.len(), None);
            joined = match op {
                // What is not a step, such as `A=1`, does not come between those around it.
                Op::And if !is_step => joined,
                Op::And => Joined::And,
                Op::Or => Joined::Or,
                Op::Pipe => Joined::Pipe,
                _ => Joined::Next,
            };
            if closes {
                break;
            }
        }
        mark_unseen(&commands, &mut self.steps);
    }

    /// Adds a step, or the steps of the script that it runs.
    fn push(&mut self, step: Step, depth: usize) {
        match script_of(&step).filter(|_| depth > 0) {
            Some((options, script)) => {
                self.read_script(script, ShellOptions::default().with(options), depth - 1);
            }
            None => {
                self.compound |= has_script(&step);
                self.steps.push(step);
            }
        }
    }

    /// Which program the exit code belongs to, and which failures it hides.
    pub(crate) fn exit_owner(&self) -> ExitOwner {
        let hidden = self.steps.iter().filter(|step| (step.unseen || self.compound) && !only_looks(step));
        let mut hides: Vec<String> = hidden.map(named).collect();
        hides.dedup();
        ExitOwner { program: self.steps.last().map(named), hides }
    }

    /// Whether an exit code of 1 only means "no", as for `grep`, `test` and `diff`.
    pub(crate) fn ends_with_a_question(&self) -> bool {
        self.steps.last().is_some_and(only_asks)
    }

    /// Whether git may have changed the files that are checked out.
    pub(crate) fn moves_tree(&self) -> bool {
        self.steps.iter().any(moves_tree)
    }
}

/// The name of a program. Anything that does not look like a name may be a part of a secret that redaction
/// could no longer recognize.
fn named(step: &Step) -> String {
    let name = step.program();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '+' | '[' | ':');
    let is_name = name.len() <= LONGEST_NAME && !name.starts_with('-') && name.chars().all(plain);
    if is_name { name.to_owned() } else { "another program".to_owned() }
}

/// What makes two lines the same: the directory, and the words except those that only show or repeat the
/// result.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    directory: PathBuf,
    words: String,
}

impl Identity {
    pub(crate) fn of(line: &str, directory: &Path) -> Self {
        let mut directory = directory.to_owned();
        let mut line = line.trim().to_owned();
        for _ in 0..DEEPEST {
            let Some(mut tokens) = lex(&line) else { break };
            undecorate(&mut tokens);
            while let Some(there) = goes_to(&tokens) {
                directory = cleaned(&directory.join(there));
                tokens.drain(..3);
            }
            let words: Vec<String> = tokens
                .iter()
                .take_while(|token| token.op.is_none())
                .map(|token| token.text.clone())
                .collect();
            let alone = words.len() == tokens.len();
            let step = Step { words, joined: Joined::Next, writes: None, unseen: false };
            match script_of(&step).filter(|_| alone) {
                Some((_, script)) => line = script.to_owned(),
                None => {
                    let words: Vec<&str> = tokens.iter().map(|token| token.raw.as_str()).collect();
                    return Self { directory, words: words.join(" ") };
                }
            }
        }
        Self { directory, words: line }
    }
}

/// A leading `cd X &&` or `cd X;`.
fn goes_to(tokens: &[Token]) -> Option<&str> {
    let [cd, there, next, ..] = tokens else { return None };
    let is_plain = cd.op.is_none() && cd.text == "cd" && there.op.is_none();
    let goes_on = matches!(next.op, Some(Op::And | Op::Next));
    let is_known = !there.text.starts_with(['~', '-']) && !there.raw.contains(['$', '`', '*']);
    (is_plain && goes_on && is_known).then_some(there.text.as_str())
}

/// Removes what only shows or repeats the result: `2>&1`, `| tail -5`, `| head`, `| tee f`, `; echo $?`.
fn undecorate(tokens: &mut Vec<Token>) {
    loop {
        let last = tokens.iter().rposition(|token| token.op.as_ref().is_some_and(Op::separates));
        let (from, words) = match last {
            Some(at) => (at, &tokens[at + 1..]),
            None => (tokens.len(), &[][..]),
        };
        let program = words.first().map_or("", |word| base_name(&word.text));
        let is_decoration = match last.and_then(|at| tokens[at].op.as_ref()) {
            Some(Op::Pipe) => matches!(program, "tail" | "head" | "tee"),
            Some(Op::Next) => {
                words.is_empty() || (program == "echo" && words.iter().any(|word| word.text.contains("$?")))
            }
            _ => false,
        };
        if is_decoration {
            tokens.truncate(from);
        } else if tokens.last().is_some_and(|token| token.raw == "2>&1") {
            tokens.pop();
        } else {
            return;
        }
    }
}

fn is_shell(step: &Step) -> bool {
    matches!(step.program(), "sh" | "bash" | "zsh" | "dash")
}

/// Where the option is that a shell's script follows, as in `bash -lc 'script'`.
fn script_option(step: &Step) -> Option<usize> {
    let is_it = |arg: &String| arg.starts_with('-') && !arg.starts_with("--") && arg.ends_with('c');
    step.args().iter().position(is_it).filter(|_| is_shell(step))
}

/// The options and the script of `bash -lc 'script'`.
fn script_of(step: &Step) -> Option<(&[String], &str)> {
    let (at, args) = (script_option(step)?, step.args());
    let is_plain = |arg: &String| {
        arg.starts_with(['-', '+']) || matches!(arg.as_str(), "errexit" | "nounset" | "pipefail")
    };
    let is_whole = args[..at].iter().all(is_plain) && args.len() == at + 2;
    is_whole.then(|| (&args[..=at], args[at + 1].as_str()))
}

/// Whether it may run a script of its own words.
fn has_script(step: &Step) -> bool {
    let begins = step.args().first().is_some_and(|arg| arg.starts_with(['-', '+']));
    begins && script_option(step).is_some()
}

/// A path without `.` and `..`, resolved by its words alone.
pub(crate) fn cleaned(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(clean.pop()),
            part => clean.push(part),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::test_rows;

    fn owner(line: &str) -> (Option<String>, Vec<String>) {
        let ExitOwner { program, hides } = CommandLine::parse(line).exit_owner();
        (program, hides)
    }

    #[test]
    fn an_exit_code_is_that_of_the_last_program_and_says_nothing_of_what_it_hides() {
        let rows = include_str!("../../tests/data/exit_owners.jsonl");
        for (line, program, hides) in test_rows::<(String, String, Vec<String>)>(rows) {
            assert_eq!(owner(&line), (Some(program), hides), "{line}");
        }
    }

    #[test]
    fn steps_are_read_through_quotes_wrappers_and_shells() {
        let told = |line: &str| {
            let steps = CommandLine::parse(line).steps;
            steps.iter().map(|step| step.words.join(" ")).collect::<Vec<_>>().join("; ")
        };
        assert_eq!(told("echo 'a; cargo test' # cargo test"), "echo a; cargo test");
        assert_eq!(told("cat > t.py <<'EOF'\ncargo test\nEOF\npytest t.py"), "cat; pytest t.py");
        assert_eq!(told("bash -lc \"bash -c 'npm test' | tail -5\""), "npm test; tail -5");
        assert_eq!(told("A=1 time nice -n 5 sudo -E uv run pytest -q"), "pytest -q");
        assert_eq!(told("(cd a; npx --yes jest@29 b)"), "cd a; jest@29 b");
        assert_eq!(told("git commit -m \"$(cargo test; ls)\""), "git commit -m $(cargo test; ls)");
        assert!(CommandLine::parse("echo 'open").compound);
    }

    #[test]
    fn the_same_line_is_known_however_it_is_shown() {
        let identity = |line: &str| Identity::of(line, Path::new("/w"));
        let pytest = identity("cd api && pytest -q  tests");
        for (line, same) in test_rows::<(String, bool)>(include_str!("../../tests/data/same_commands.jsonl"))
        {
            assert_eq!(identity(&line) == pytest, same, "{line}");
        }
        assert_eq!(Identity::of("pytest -q tests", Path::new("/w/api")), pytest);
        assert_ne!(identity("echo \"a  b\""), identity("echo \"a b\""));
    }

    #[test]
    fn git_moves_the_tree_where_it_puts_other_files_in_place() {
        let rows = include_str!("../../tests/data/tree_moves.jsonl");
        for (line, moves) in test_rows::<(String, bool)>(rows) {
            assert_eq!(CommandLine::parse(&line).moves_tree(), moves, "{line}");
        }
    }
}
