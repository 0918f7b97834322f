//! What a program prints into a variable, and where that is shown: `out=$(make 2>&1); echo "$out"`.
//!
//! A variable is followed as a file is: what is assigned wrote it, and what shows it reads it.

use super::ends::Part;
use super::lex::Lexer;
use super::parse::Parser;
use super::step::Step;
use super::wrappers::{assignments, is_assignment, is_keyword};

const VARIABLES: &str = "/dev/variable/";

/// Words that stand for what a program printed.
#[derive(Debug)]
pub(super) struct Captured {
    /// What runs, as it is written; of several, one after the other.
    pub(super) text: String,
    /// What holds all that it prints.
    pub(super) held: Vec<String>,
    /// Whether that is without what it says of errors.
    pub(super) lets_errors_out: bool,
    /// Whether its exit code is nobody's: `export out=$(make)`.
    is_masked: bool,
}

/// What assignments run that are nothing else: their exit code is that of the last of it.
pub(super) fn assigned(words: &[String]) -> Option<Captured> {
    let mut words = words.iter().skip_while(|word| is_keyword(word)).peekable();
    let masks =
        |word: &&String| matches!(word.as_str(), "export" | "declare" | "local" | "readonly" | "typeset");
    let is_masked = words.next_if(masks).is_some();
    let words = words.skip_while(|word| is_masked && word.starts_with('-'));
    let set = words.map(|word| word.split_once('=').filter(|_| is_assignment(word)));
    let set: Vec<(&str, &str)> = set.collect::<Option<_>>()?;
    let inner = set.iter().flat_map(|(_, value)| inners(value)).map(|inner| inner.text);
    let text = inner.collect::<Vec<_>>().join("\n");
    let held = set.iter().map(|(name, _)| file(name)).collect();
    let lets_errors_out = ![">&1", "&>", "|&"].iter().any(|joined| text.contains(joined));
    (!text.trim().is_empty()).then_some(Captured { text, held, lets_errors_out, is_masked })
}

/// What `echo "$(make)"` runs.
pub(super) fn echoed(words: &[String]) -> Option<String> {
    let [program, value] = words else { return None };
    let [inner] = <[Inner; 1]>::try_from(inners(value)).ok()?;
    (program == "echo" && inner.is_all && !inner.text.trim().is_empty()).then_some(inner.text)
}

/// What stands for a variable where files do.
fn file(name: &str) -> String {
    format!("{VARIABLES}{name}")
}

/// Whether a file is none, but a variable.
pub(crate) fn is_variable(file: &str) -> bool {
    file.starts_with(VARIABLES)
}

impl Step {
    /// Makes what shows a variable, of those that are held, show its file.
    pub(super) fn read_held(&mut self, held: &[String]) {
        let of = |word: &str| {
            let name = word.strip_prefix('$')?;
            let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name);
            Some(file(name)).filter(|file| held.contains(file))
        };
        if matches!(self.program(), "echo" | "printf") {
            let shown: Vec<String> = self.args().iter().filter_map(|word| of(word)).collect();
            if !shown.is_empty() {
                self.words = ["cat".to_owned()].into_iter().chain(shown).collect();
            }
        } else if self.shows_stored_text() {
            let is_held = |input: &mut String| input.strip_prefix("<<< ").and_then(of).is_some();
            let shown: Vec<String> = self.input.extract_if(.., is_held).collect();
            self.words.extend(shown.iter().filter_map(|input| input.strip_prefix("<<< ").and_then(of)));
        }
    }
}

impl Parser {
    /// What runs in an assignment: a shell of its own, whose output is what is assigned.
    pub(super) fn add_captured(&mut self, mut step: Step, captured: Captured, deeper: usize) {
        let Captured { text, held, lets_errors_out, is_masked } = captured;
        let assigned = assignments(&std::mem::take(&mut step.words));
        if is_masked {
            step.writes.extend(held.iter().cloned());
            self.add_echoed(Step { silent: true, ..step }, &text, deeper);
            self.assigned.extend(assigned);
            self.held.extend(held);
            return;
        }
        (step.silent, step.dies_aloud) = (true, lets_errors_out);
        step.writes.extend(held.iter().cloned());
        let from = self.command.steps.len();
        self.add_script(&step, &text, self.pipefail.inside(), deeper);
        // It has an exit code, if nothing else.
        if self.command.steps.len() == from {
            self.push(step);
        }
        self.assigned.extend(assigned);
        self.held.extend(held);
    }

    /// What runs in a word that is shown as it is: its exit code is nobody's.
    pub(super) fn add_echoed(&mut self, step: Step, text: &str, deeper: usize) {
        let Step { piped, minds, and, or, context, .. } = step.clone();
        let inner = Step { piped, minds, and, or, context, ..Step::default() };
        self.add_script(&inner, text, self.pipefail.inside(), deeper);
        self.parts.push(Part::Pipe { minds: false });
        self.push(Step { words: vec!["cat".to_owned()], piped: true, minds: false, ..step });
    }
}

/// One substitution of a word.
struct Inner {
    text: String,
    /// Whether the word is nothing else.
    is_all: bool,
}

fn inners(word: &str) -> Vec<Inner> {
    let mut found = Vec::new();
    let mut rest = word;
    while let Some(at) = rest.find(['$', '`']) {
        let is_first = rest.len() == word.len() && at == 0;
        let from = &rest[at..];
        let (text, left) = match (from.strip_prefix("$("), from.strip_prefix('`')) {
            // A sum is none.
            (Some(inner), _) if !inner.starts_with('(') => Lexer::up_to_end(inner),
            (_, Some(inner)) => {
                inner.split_once('`').map(|(text, left)| (text.to_owned(), left)).unwrap_or_default()
            }
            _ => {
                rest = &from[1..];
                continue;
            }
        };
        found.push(Inner { text, is_all: is_first && left.is_empty() });
        rest = left;
    }
    found
}
