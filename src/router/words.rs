//! Reads `words.txt`: the words and sentences that the router knows, parsed once.

use std::collections::HashMap;
use std::sync::OnceLock;

/// What a sentence asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Say {
    Check,
    Environments,
    Wait,
    Cancel,
    Results,
    Setup,
    Cleanup,
    /// Names one of the tasks that were offered.
    Choice,
    /// Continues a thread, with nothing else to do.
    Resume,
    Help,
    Yes,
    Nothing,
}

const SAYS: [(&str, Say); 12] = [
    ("check", Say::Check),
    ("environments", Say::Environments),
    ("wait", Say::Wait),
    ("cancel", Say::Cancel),
    ("results", Say::Results),
    ("setup", Say::Setup),
    ("cleanup", Say::Cleanup),
    ("choice", Say::Choice),
    ("resume", Say::Resume),
    ("help", Say::Help),
    ("yes", Say::Yes),
    ("nothing", Say::Nothing),
];

/// Where a description of how to work stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Before the work, set off by a comma.
    Lead,
    /// Before the work, and part of its sentence.
    Opener,
    /// Behind the work.
    Tail,
    /// Behind the work, whatever that is.
    Free,
}

/// Tokens are matched by symbol: a word of a sentence, or a whole class of words.
pub(super) type Symbol = usize;

/// What does not come from the file.
pub(super) const ID: Symbol = 0;
pub(super) const NUMBER: Symbol = 1;
pub(super) const SPAN: Symbol = 2;
const GIVEN: [&str; 3] = ["id", "number", "span"];

#[derive(Debug)]
pub(super) enum Node {
    Symbol(Symbol),
    Phrase(usize),
    Sequence(Vec<Node>),
    OneOf(Vec<Node>),
    Maybe(Box<Node>),
    Many(Box<Node>),
    Rest,
}

/// A word for which a slip is forgiven.
#[derive(Debug)]
pub(super) struct Forgiving {
    pub(super) word: String,
    pub(super) symbol: Symbol,
    /// Only beside a task's id.
    pub(super) strict: bool,
}

#[derive(Debug)]
pub(super) struct Words {
    /// All symbols of a word.
    pub(super) symbols: HashMap<String, Vec<Symbol>>,
    pub(super) forgiving: Vec<Forgiving>,
    pub(super) phrases: Vec<Node>,
    pub(super) sentences: Vec<(Say, Node)>,
    pub(super) options: Vec<(Place, String, Node)>,
    names: HashMap<String, usize>,
    classes: HashMap<String, Symbol>,
    pub(super) count: usize,
}

impl Words {
    pub(super) fn shipped() -> &'static Words {
        static WORDS: OnceLock<Words> = OnceLock::new();
        WORDS.get_or_init(|| Words::parse(include_str!("words.txt")))
    }

    /// The class of this name, for reading a matched sentence.
    pub(super) fn class(&self, name: &str) -> Symbol {
        self.classes.get(name).copied().unwrap_or(self.count)
    }

    pub(super) fn phrase(&self, name: &str) -> Option<&Node> {
        self.names.get(name).map(|at| &self.phrases[*at])
    }

    fn parse(text: &str) -> Words {
        let mut words = Words {
            symbols: HashMap::new(),
            forgiving: Vec::new(),
            phrases: Vec::new(),
            sentences: Vec::new(),
            options: Vec::new(),
            names: HashMap::new(),
            classes: GIVEN.iter().enumerate().map(|(symbol, name)| ((*name).to_owned(), symbol)).collect(),
            count: GIVEN.len(),
        };
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let lines = || lines.clone().filter_map(|line| line.split_once(':'));
        // Classes and phrases may be used above the line that has them.
        for (head, listed) in lines() {
            words.declare(head, listed);
        }
        for (head, pattern) in lines() {
            words.read(head, pattern);
        }
        words
    }

    fn declare(&mut self, head: &str, listed: &str) {
        match head.split_once(' ') {
            Some(("phrase", name)) => {
                let next = self.names.len();
                if *self.names.entry(name.to_owned()).or_insert(next) == next {
                    self.phrases.push(Node::OneOf(Vec::new()));
                }
            }
            Some((kind @ ("verb" | "noun" | "strict" | "word"), name)) => {
                let class = match self.classes.get(name) {
                    Some(class) => *class,
                    None => {
                        self.classes.insert(name.to_owned(), self.count);
                        self.count += 1;
                        self.count - 1
                    }
                };
                for word in listed.split_whitespace() {
                    self.symbols.entry(word.to_owned()).or_default().push(class);
                    if kind != "word" {
                        let strict = kind == "strict";
                        self.forgiving.push(Forgiving { word: word.to_owned(), symbol: class, strict });
                    }
                }
            }
            // A word of no class is known, and so no slip.
            None if head == "real" => {
                for word in listed.split_whitespace() {
                    self.symbols.entry(word.to_owned()).or_default();
                }
            }
            Some(_) | None => {}
        }
    }

    fn read(&mut self, head: &str, pattern: &str) {
        let say = SAYS.iter().find(|(name, _)| *name == head).map(|(_, say)| *say);
        match (say, head.split_once(' ')) {
            (Some(say), _) => {
                let node = self.pattern(pattern);
                self.sentences.push((say, node));
            }
            (None, Some(("phrase", name))) => {
                let node = self.pattern(pattern);
                let at = self.names[name];
                if let Node::OneOf(alternatives) = &mut self.phrases[at] {
                    alternatives.push(node);
                }
            }
            (None, Some((place @ ("lead" | "opener" | "tail" | "free"), name))) => {
                let place = match place {
                    "lead" => Place::Lead,
                    "opener" => Place::Opener,
                    "tail" => Place::Tail,
                    _ => Place::Free,
                };
                let node = self.pattern(pattern);
                self.options.push((place, name.to_owned(), node));
            }
            (None, Some(_) | None) => {}
        }
    }

    fn pattern(&mut self, text: &str) -> Node {
        let spaced = ["[", "]", "(", ")", "{", "}", "|"]
            .iter()
            .fold(text.to_owned(), |text, mark| text.replace(mark, &format!(" {mark} ")));
        let mut parts = spaced.split_whitespace();
        self.alternatives(&mut parts)
    }

    /// Reads up to the closing bracket, or to the end.
    fn alternatives<'a>(&mut self, parts: &mut impl Iterator<Item = &'a str>) -> Node {
        let mut all = vec![Vec::new()];
        while let Some(part) = parts.next() {
            let node = match part {
                ")" | "]" | "}" => break,
                "|" => {
                    all.push(Vec::new());
                    continue;
                }
                "(" => self.alternatives(parts),
                "[" => Node::Maybe(Box::new(self.alternatives(parts))),
                "{" => Node::Many(Box::new(self.alternatives(parts))),
                word => self.word(word),
            };
            if let Some(last) = all.last_mut() {
                last.push(node);
            }
        }
        let mut all: Vec<Node> = all.into_iter().map(Node::Sequence).collect();
        if all.len() == 1 { all.remove(0) } else { Node::OneOf(all) }
    }

    fn word(&mut self, word: &str) -> Node {
        let name = word.strip_prefix('<').and_then(|word| word.strip_suffix('>'));
        match name {
            None => {
                let symbol = self.literal(word);
                Node::Symbol(symbol)
            }
            Some("rest") => Node::Rest,
            Some(name) => match (self.names.get(name), self.classes.get(name)) {
                (Some(phrase), _) => Node::Phrase(*phrase),
                (None, Some(class)) => Node::Symbol(*class),
                (None, None) => Node::OneOf(Vec::new()),
            },
        }
    }

    /// The symbol of a word of a sentence. A class of one word, named as no line of the file can name one.
    fn literal(&mut self, word: &str) -> Symbol {
        let name = format!("={word}");
        if let Some(symbol) = self.classes.get(&name) {
            return *symbol;
        }
        let symbol = self.count;
        self.count += 1;
        self.classes.insert(name, symbol);
        self.symbols.entry(word.to_owned()).or_default().push(symbol);
        symbol
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_file_means_something() {
        let text = include_str!("words.txt");
        let words = Words::shipped();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (head, pattern) = line.split_once(':').unwrap_or_else(|| panic!("{line}"));
            let kinds = ["verb", "noun", "strict", "word", "phrase", "lead", "opener", "tail", "free"];
            let known = SAYS.iter().any(|(name, _)| *name == head)
                || head == "real"
                || head.split_once(' ').is_some_and(|(kind, _)| kinds.contains(&kind));
            assert!(known, "{line}");
            let count = |marks: [char; 2]| marks.map(|mark| pattern.matches(mark).count());
            for marks in [['(', ')'], ['[', ']'], ['{', '}']] {
                let [open, closed] = count(marks);
                assert_eq!(open, closed, "{line}");
            }
            for name in pattern.split('<').skip(1) {
                let name = name.split_once('>').unwrap_or_else(|| panic!("{line}")).0;
                let exists =
                    name == "rest" || words.classes.contains_key(name) || words.names.contains_key(name);
                assert!(exists, "{line}: {name}");
            }
        }
    }
}
