//! Matches the tokens of a clause against the sentences of `words.txt`.
//!
//! Positions are bits, and a part of a sentence maps the positions where it may begin to those where it may end. So
//! the work depends on the file and on the clause's length, which has a limit, and never on how the parts combine.

use std::collections::HashMap;

use crate::model::{RunId, TaskId, ThreadId};
use crate::router::lex::{Kind, Token};
use crate::router::words::{Forgiving, ID, NUMBER, Node, SPAN, Say, Symbol, Words};

/// A clause with more tokens is work.
const LONGEST: usize = 60;
/// A shorter word has too many neighbours.
const SHORTEST_SLIP: usize = 4;

/// What one token can stand for.
#[derive(Debug, Clone, Default)]
pub(super) struct Meaning {
    pub(super) symbols: Vec<Symbol>,
    /// Only if the clause names a task by its id.
    strict: Vec<Symbol>,
}

impl Meaning {
    pub(super) fn is(&self, symbol: Symbol) -> bool {
        self.symbols.contains(&symbol)
    }
}

/// What each token can stand for. `is_alias` tells whether a word is the alias of a task.
pub(super) fn meanings(tokens: &[Token], is_alias: &dyn Fn(&str) -> bool) -> Vec<Meaning> {
    let words = Words::shipped();
    tokens.iter().map(|token| meaning(words, token, is_alias)).collect()
}

fn meaning(words: &Words, token: &Token, is_alias: &dyn Fn(&str) -> bool) -> Meaning {
    let text = token.text.as_str();
    let only = |symbol| Meaning { symbols: vec![symbol], strict: Vec::new() };
    match token.kind {
        Kind::Stop | Kind::Break | Kind::Other => return Meaning::default(),
        Kind::Word | Kind::Quoted if is_id(text) => return only(ID),
        Kind::Quoted if is_alias(&token.raw) => return only(ID),
        Kind::Quoted => return Meaning::default(),
        Kind::Word => {}
    }
    if text.trim_start_matches('#').bytes().all(|byte| byte.is_ascii_digit()) {
        return only(NUMBER);
    }
    let known = words.symbols.get(text);
    if let Some(symbols) = known.filter(|symbols| !symbols.is_empty()) {
        return Meaning { symbols: symbols.clone(), strict: Vec::new() };
    }
    if is_alias(&token.raw) {
        return only(ID);
    }
    if span(text).is_some() {
        return only(SPAN);
    }
    let mut meaning = Meaning::default();
    if known.is_none() {
        for like in words.forgiving.iter().filter(|like| is_slip(text, like)) {
            if like.strict { &mut meaning.strict } else { &mut meaning.symbols }.push(like.symbol);
        }
    }
    meaning
}

/// Whether one slip of the pen turns the word into `text`. The first letter is rarely the wrong one.
fn is_slip(text: &str, like: &Forgiving) -> bool {
    let word = like.word.as_str();
    word.len() >= SHORTEST_SLIP
        && text.len().abs_diff(word.len()) <= 2
        && text.chars().next() == word.chars().next()
        && strsim::osa_distance(text, word) == 1
}

/// A task, run or thread id, or the beginning of a task's id.
pub(super) fn is_id(text: &str) -> bool {
    let beginning = |text: &str| {
        let tail = text.strip_prefix("t-").unwrap_or_default();
        tail.len() >= 2 && tail.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    // Without a digit, `t-shirt` would be one.
    let numbered = text.bytes().any(|byte| byte.is_ascii_digit()) || TaskId::begins(text);
    numbered && beginning(text) || text.parse::<RunId>().is_ok() || text.parse::<ThreadId>().is_ok()
}

/// `30s` or `5min` as a number and its unit.
pub(super) fn span(text: &str) -> Option<(u64, &str)> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let known = ["s", "sec", "secs", "m", "min", "mins", "h", "hr", "hrs"].contains(&unit);
    number.parse().ok().filter(|_| known).map(|number| (number, unit))
}

/// One clause while it is matched.
pub(super) struct Clause {
    masks: Vec<u64>,
    length: usize,
    known: HashMap<(usize, u64), u64>,
    /// How many parts were tried.
    pub(super) steps: usize,
}

impl Clause {
    /// `None` if it is empty or too long.
    pub(super) fn of(meanings: &[Meaning]) -> Option<Self> {
        if meanings.is_empty() || meanings.len() > LONGEST {
            return None;
        }
        let names_task = meanings.iter().any(|meaning| meaning.is(ID));
        let mut masks = vec![0; Words::shipped().count + 1];
        for (at, meaning) in meanings.iter().enumerate() {
            let strict = meaning.strict.iter().filter(|_| names_task);
            for symbol in meaning.symbols.iter().chain(strict) {
                masks[*symbol] |= 1 << at;
            }
        }
        Some(Self { masks, length: meanings.len(), known: HashMap::new(), steps: 0 })
    }

    fn end(&self) -> u64 {
        1 << self.length
    }

    /// What the whole clause says, if it says nothing but that.
    pub(super) fn says(&mut self) -> Option<Say> {
        let words = Words::shipped();
        let (lead, trail) = (words.phrase("lead")?, words.phrase("trail")?);
        let starts = self.many(lead, 1);
        let said = words.sentences.iter().find(|(_, sentence)| {
            let ends = self.run(sentence, starts);
            ends != 0 && self.many(trail, ends) & self.end() != 0
        });
        said.map(|(say, _)| *say)
    }

    /// Whether the whole clause is an instance of this phrase.
    pub(super) fn is_all(&mut self, phrase: &str) -> bool {
        let ends = Words::shipped().phrase(phrase).map_or(0, |phrase| self.run(phrase, 1));
        ends & self.end() != 0
    }

    /// Where the longest instance of `node` that begins at `start` ends.
    pub(super) fn reach(&mut self, node: &Node, start: usize) -> Option<usize> {
        let ends = self.run(node, 1 << start);
        (ends != 0).then(|| ends.ilog2() as usize).filter(|end| *end > start)
    }

    /// Behind the courtesies at its beginning.
    pub(super) fn after_lead(&mut self) -> usize {
        let starts = Words::shipped().phrase("lead").map_or(1, |lead| self.many(lead, 1));
        starts.ilog2() as usize
    }

    fn many(&mut self, node: &Node, from: u64) -> u64 {
        let (mut all, mut new) = (from, from);
        while new != 0 {
            new = self.run(node, new) & !all;
            all |= new;
        }
        all
    }

    fn run(&mut self, node: &Node, from: u64) -> u64 {
        if from == 0 {
            return 0;
        }
        self.steps += 1;
        match node {
            Node::Symbol(symbol) => (from & self.masks[*symbol]) << 1,
            Node::Phrase(phrase) => {
                if let Some(ends) = self.known.get(&(*phrase, from)) {
                    return *ends;
                }
                let ends = self.run(&Words::shipped().phrases[*phrase], from);
                self.known.insert((*phrase, from), ends);
                ends
            }
            Node::Sequence(parts) => parts.iter().fold(from, |from, part| self.run(part, from)),
            Node::OneOf(parts) => parts.iter().fold(0, |ends, part| ends | self.run(part, from)),
            Node::Maybe(part) => from | self.run(part, from),
            Node::Many(part) => self.many(part, from),
            Node::Rest => (self.end() << 1) - (1 << from.trailing_zeros()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_one_edit_behind_the_first_letter() {
        let like = |word: &str| Forgiving { word: word.into(), symbol: 3, strict: false };
        for (text, word, slip) in [
            ("taks", "task", true),
            ("chek", "check", true),
            ("mask", "task", false),
            ("tusks", "task", false),
            ("rum", "run", false),
        ] {
            assert_eq!(is_slip(text, &like(word)), slip, "{text}");
        }
    }

    #[test]
    fn an_id_is_told_from_a_word_with_a_hyphen() {
        for id in ["t-local-0a1b2c3d4e5f", "t-abc123", "t-cloud-x", "01a1de11-e775-7fc2-8102-aec1425b9fd0"] {
            assert!(is_id(id), "{id}");
        }
        for word in ["t-shirt", "task", "t-", "t-1", "to-do-2"] {
            assert!(!is_id(word), "{word}");
        }
    }
}
