//! Reads a command line: its steps, how they hang together, and what stands in the way of telling.

use super::Command;
use super::arms::Arms;
use super::captured;
use super::ends::{Part, Tree};
use super::kept::Kept;
use super::lex::{Lexer, Token};
use super::pipefail::{self, Pipefail};
use super::step::Step;
use super::surroundings::{self, Named};
use super::wrappers::{self, Bare, Found, Script};

const MOST_STEPS: usize = 200;
/// How deep `bash -c "bash -c …"` is followed.
const DEEPEST: usize = 4;
/// How many groups may be open at once.
const MOST_GROUPS: usize = 64;
const MOST_ASSIGNED: usize = 200;

#[derive(Debug, Default)]
pub(super) struct Parser {
    pub(super) command: Command,
    pub(super) parts: Vec<Part>,
    /// The groups that are open now.
    groups: Vec<Group>,
    /// The first steps of loops and branches that are not over.
    bodies: Vec<usize>,
    /// The group that was closed right before this.
    closed: Option<Group>,
    /// How many shells there were.
    opened: usize,
    /// Variables that were set so far.
    pub(super) assigned: Vec<String>,
    /// Those that hold what a program printed, as files.
    pub(super) held: Vec<String>,
    pub(super) pipefail: Pipefail,
    /// The first step of the pipeline that is being read.
    pipeline: usize,
    kept: Kept,
    named: Named,
    arms: Arms,
    /// The step that takes the place of the shell: `exec`.
    last_of_shell: Option<usize>,
}

/// Steps in brackets, or of another shell.
#[derive(Debug, Clone, Copy, Default)]
struct Group {
    /// The shell that it is, where it is one of its own.
    shell: Option<usize>,
    /// Its first step, and the first of the pipeline that it is in.
    from: usize,
    pipeline: usize,
    fed_from: Option<usize>,
    /// How pipes were minded before it.
    pipefail: Pipefail,
    /// Whether it runs only after a success or a failure of what stands before it.
    waits: bool,
}

/// How a step comes to run.
#[derive(Debug, Clone, Copy, Default)]
struct Link {
    piped: bool,
    and: bool,
    or: bool,
}

impl Parser {
    pub(super) fn parse(line: &str) -> Command {
        let mut parser = Self::default();
        parser.add(line, DEEPEST);
        let Self { mut command, parts, last_of_shell, mut kept, .. } = parser;
        command.unread |= last_of_shell.is_some_and(|at| at + 1 != command.steps.len());
        command.unread |= command.may_end_early();
        command.feed(&mut kept);
        command.cut |= kept.is_full();
        command.unread |= command.cut;
        let is_plain = !(command.unread || command.defines || command.negates || command.picks);
        let tree = is_plain.then(|| Tree::of(&parts)).flatten();
        (command.turn, command.tree) = if command.chooses { (tree, None) } else { (None, tree) };
        command
    }

    fn add(&mut self, line: &str, deeper: usize) {
        let from = self.command.steps.len();
        let mut lexer = Lexer::new(line);
        let (mut step, mut link) = (Step::default(), Link::default());
        self.pipeline = from;
        loop {
            match lexer.next() {
                Some(Token::Word(word)) => step.words.push(word),
                Some(Token::Input(words)) => step.input.push(words),
                Some(Token::Document(number)) => step.documents.push(number),
                Some(Token::Output { file, hides, appends }) => {
                    step.silent |= hides;
                    step.appends |= appends;
                    step.writes.push(file);
                }
                // A line that ends with an operator goes on.
                Some(Token::End) if step == Step::default() && (link.piped || link.and || link.or) => {}
                end => {
                    link = self.end(std::mem::take(&mut step), link, end.as_ref(), deeper);
                    self.command.cut |= self.is_full();
                    if end.is_none() || self.command.cut {
                        break;
                    }
                }
            }
        }
        self.command.unread |= lexer.is_unread();
        self.command.computes |= lexer.computes;
        for step in &mut self.command.steps[from..] {
            for number in std::mem::take(&mut step.documents) {
                let text = lexer.text(number);
                if self.kept.takes([&text], 1) {
                    self.named.note_of([&*step], [&text]);
                    step.input.push(text);
                }
            }
        }
    }

    fn is_full(&self) -> bool {
        self.command.steps.len() >= MOST_STEPS
            || self.groups.len() > MOST_GROUPS
            || self.assigned.len() > MOST_ASSIGNED
            || self.kept.is_full()
    }

    /// A step, and what stands behind it; how the next comes to run.
    fn end(&mut self, mut step: Step, link: Link, end: Option<&Token>, deeper: usize) -> Link {
        let Link { piped, and, or } = link;
        // `time (make)`
        if matches!(end, Some(Token::Open)) {
            step.words.pop_if(|word| word == "time");
        }
        let background = matches!(end, Some(Token::Background));
        let is_alone = !piped && !background && !matches!(end, Some(Token::Pipe));
        self.command.branches |= matches!(end, Some(Token::Or));
        // `f () { …`, or brackets that mean something else.
        let is_named =
            matches!(end, Some(Token::Open)) && !step.words.iter().all(|word| wrappers::is_keyword(word));
        self.command.unread |= is_named;
        let minds = piped && self.pipefail.holds();
        self.end_step(Step { piped, minds, and, or, background, ..step }, is_alone, deeper);
        let closed = match end {
            Some(Token::Open) => {
                self.open(true, link);
                // What opens a shell says nothing of how its first step comes to run.
                return link;
            }
            Some(Token::Close) => {
                self.close(true);
                return Link::default();
            }
            _ => self.closed.take(),
        };
        if let Some(group) = closed.filter(|_| background || matches!(end, Some(Token::Pipe))) {
            self.pipefail.doubt(group.pipefail);
            self.command.steps[group.from..].iter_mut().for_each(|step| step.background |= background);
        }
        self.go_on(end)
    }

    fn go_on(&mut self, end: Option<&Token>) -> Link {
        let mut link = Link::default();
        let part = match end {
            Some(Token::Pipe) => {
                link.piped = true;
                self.parts.push(Part::Pipe { minds: self.pipefail.holds() });
                return link;
            }
            Some(Token::And) => {
                link.and = true;
                Part::And
            }
            Some(Token::Or) => {
                link.or = true;
                self.pipefail.end_chain();
                Part::Or
            }
            Some(Token::Background) => {
                self.pipefail.end_chain();
                Part::Background
            }
            _ => {
                self.pipefail.end_chain();
                Part::End
            }
        };
        self.parts.push(part);
        self.pipeline = self.command.steps.len();
        link
    }

    fn open(&mut self, is_shell: bool, link: Link) {
        self.opened += usize::from(is_shell);
        let from = self.command.steps.len();
        let outer = self.groups.last().and_then(|group| group.fed_from);
        self.groups.push(Group {
            shell: is_shell.then_some(self.opened),
            from,
            pipeline: self.pipeline,
            fed_from: if link.piped { Some(self.pipeline) } else { outer },
            pipefail: self.pipefail,
            waits: link.and || link.or,
        });
        self.pipefail = self.pipefail.inside();
        self.parts.push(Part::Open);
    }

    fn close(&mut self, is_shell: bool) {
        let group = self.groups.pop_if(|group| group.shell.is_some() == is_shell);
        let Some(group) = group else {
            self.command.unbalanced |= is_shell;
            self.command.unread = true;
            return;
        };
        match group.shell.is_some() {
            true => self.pipefail = group.pipefail,
            false if group.waits => self.pipefail.doubt(group.pipefail),
            false => {}
        }
        self.pipeline = group.pipeline;
        self.parts.push(Part::Close);
        self.closed = Some(group);
    }

    fn end_step(&mut self, mut step: Step, is_alone: bool, deeper: usize) {
        let keyword = step.words.first().map_or("", String::as_str);
        if let Some(turned) = wrappers::turned(&step.words) {
            self.command.turned = turned.filter(|_| !self.command.loops).map(str::to_owned);
            self.command.turns_surely = !self.command.loops && wrappers::has_turns(&step.words);
            self.command.loops = true;
            self.assigned.push(step.words.join(" "));
        }
        self.command.negates |=
            step.words.iter().take_while(|word| wrappers::is_keyword(word)).any(|w| w == "!");
        // Whatever is read comes to an end.
        let reads = keyword == "while" && step.words.get(1).is_some_and(|word| word == "read");
        self.command.picks |= matches!(keyword, "while" | "until" | "if" | "case" | "select") && !reads;
        self.command.chooses |= self.command.picks || reads || keyword == "for";
        self.command.branches |= self.command.chooses;
        self.command.defines |= keyword.ends_with("()") || matches!(keyword, "function" | "alias");
        if keyword == "}" {
            self.close(false);
        }
        self.follow_bodies(&step);
        let word = step.words.iter().find(|word| *word != "do").cloned().unwrap_or_default();
        step.arm = self.arms.follow(&word, &mut self.command.steps);
        let braces = step.words.iter().take_while(|word| *word == "{").count();
        let link = Link { piped: step.piped, and: step.and, or: step.or };
        (0..braces).for_each(|_| self.open(false, link));
        self.note_own_words(&step, &step.words[braces..], is_alone);
        if let Some(captured) = captured::assigned(&step.words).filter(|_| deeper > 0) {
            return self.add_captured(step, captured, deeper - 1);
        }
        let Bare { words, context, repeats, limited, detached, sets } = wrappers::removed(step.words);
        step.words = words;
        step.repeats |= repeats;
        step.limited |= limited;
        step.background |= detached;
        step.sets = context.last().filter(|_| step.words.is_empty()).cloned();
        if step.words.is_empty() {
            self.assigned.extend(context.iter().cloned());
        } else {
            self.assigned.extend(surroundings::set_by(&step));
        }
        if self.kept.takes(self.assigned.iter(), 1) {
            let around = surroundings::around(&step, &self.assigned, &mut self.named);
            step.context.extend(around.into_iter().cloned());
        }
        step.context.extend(context);
        if let Some(Found { words, by, forgives }) = wrappers::run_by_find(&step.words) {
            step.input.push(by);
            (step.words, step.repeats, step.forgives) = (words, true, forgives);
        }
        step.read_held(&self.held);
        if let Some(text) = captured::echoed(&step.words).filter(|_| deeper > 0) {
            return self.add_echoed(step, &text, deeper - 1);
        }
        match wrappers::inner_script(&step.words) {
            Some(Script { text, minds }) if deeper > 0 => {
                let text = text.to_owned();
                self.add_script(&step, &text, Pipefail::new(minds), deeper - 1);
            }
            _ if step.words.is_empty() => match self.closed {
                Some(group) => self.hand_down(group.from, &step),
                // It has an exit code, if nothing else.
                None if sets || !step.writes.is_empty() => self.push(step),
                None => {}
            },
            _ => self.push(step),
        }
    }

    /// What stands behind the end of a loop or a branch holds for its steps: `done >/dev/null`.
    fn follow_bodies(&mut self, step: &Step) {
        let around = ["for", "case", "select", "done", "fi", "esac"];
        let is_one = |word: &&String| wrappers::is_keyword(word) || around.contains(&word.as_str());
        for word in step.words.iter().take_while(is_one) {
            match word.as_str() {
                "for" | "while" | "until" | "if" | "case" | "select" => {
                    self.bodies.push(self.command.steps.len());
                }
                "done" | "fi" | "esac" => {
                    let from = self.bodies.pop();
                    let Some(from) = from.filter(|_| !step.writes.is_empty()) else { continue };
                    let Step { writes, silent, appends, .. } = step.clone();
                    self.hand_down(from, &Step { writes, silent, appends, ..Step::default() });
                }
                _ => {}
            }
        }
    }

    /// What a step says to the shell itself.
    fn note_own_words(&mut self, step: &Step, words: &[String], is_alone: bool) {
        let Some((program, args)) = words.split_first() else { return };
        match program.as_str() {
            "set" => {
                let firm = is_alone && !step.or && !self.command.chooses;
                if let Some(asked) = pipefail::asked(args).filter(|asked| firm || !asked) {
                    self.pipefail.set(asked, step.and);
                }
            }
            "exec" if args.is_empty() => self.command.unread = true,
            "exec" => self.last_of_shell = self.last_of_shell.or(Some(self.command.steps.len())),
            "eval" | "trap" => self.command.unread = true,
            _ => {}
        }
    }

    pub(super) fn push(&mut self, mut step: Step) {
        step.shells = self.groups.iter().filter_map(|group| group.shell).collect();
        let outer = self.groups.last().and_then(|group| group.fed_from);
        step.fed_from = if step.piped { Some(self.pipeline) } else { outer };
        self.closed = None;
        self.parts.push(Part::Step(self.command.steps.len()));
        self.named.note_step(&step);
        self.command.steps.push(step);
    }

    /// The steps of a script that a shell is given as a word.
    pub(super) fn add_script(&mut self, step: &Step, text: &str, pipefail: Pipefail, deeper: usize) {
        let (from, depth) = (self.command.steps.len(), self.groups.len());
        self.closed = None;
        self.open(true, Link { piped: step.piped, and: step.and, or: step.or });
        self.pipefail = pipefail;
        self.add(text, deeper);
        self.command.unbalanced |= self.groups.len() <= depth;
        self.command.unread |= self.groups.len() != depth + 1;
        self.groups.truncate(depth + 1);
        if self.groups.len() > depth {
            self.close(true);
        }
        self.closed = None;
        if let Some(first) = self.command.steps.get_mut(from) {
            // A new shell knows of no failure before it.
            self.command.unread |= step.or && matches!(first.program(), "exit" | "return");
            first.piped |= step.piped;
            first.minds |= step.minds;
            first.and |= step.and;
            first.or |= step.or;
        }
        self.hand_down(from, step);
    }

    /// What is said of a group holds for its steps.
    fn hand_down(&mut self, from: usize, step: &Step) {
        let inners = &mut self.command.steps[from..];
        let context: Vec<_> = step.context.iter().filter(|word| !self.assigned.contains(word)).collect();
        let said = step.writes.iter().chain(&step.input).chain(context.iter().copied());
        let fits = self.kept.takes(said, inners.len());
        if fits {
            self.named.note_of(&*inners, step.writes.iter().chain(&step.input));
        }
        for inner in inners {
            inner.repeats |= step.repeats;
            inner.forgives |= step.forgives;
            inner.silent |= step.silent;
            inner.dies_aloud |= step.dies_aloud;
            inner.appends |= step.appends;
            inner.background |= step.background;
            inner.limited |= step.limited;
            if fits {
                inner.writes.extend(step.writes.iter().cloned());
                inner.input.extend(step.input.iter().cloned());
                inner.documents.extend(&step.documents);
                inner.context.extend(context.iter().copied().cloned());
            }
        }
    }
}
