//! Reads a request: a sentence about tasks, perhaps with what comes after it, or work.
//!
//! A sentence counts only if nothing of it is left over. Everything else is work, word for word.

use std::time::Duration;

use crate::router::grammar::{Clause, Meaning, meanings, span};
use crate::router::lex::{Kind, Token, tokens};
use crate::router::words::{ID, NUMBER, SPAN, Say, Words};
use crate::router::work::{Work, read_work};

/// The most places at which a request is split on trial.
const MOST_SPLITS: usize = 8;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Intent {
    /// About tasks, the cloud, or old runs.
    Control(Control),
    Work(Work),
    Help,
    Yes,
    /// Courtesies alone.
    Nothing,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Control {
    pub(crate) verb: Verb,
    pub(crate) selector: Selector,
    /// How long to wait.
    pub(crate) limit: Option<Duration>,
    /// What to do after that: a request of its own.
    pub(crate) then: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Check,
    Environments,
    Wait,
    Cancel,
    Results,
    Setup,
    Cleanup,
    /// Answers the question which task is meant.
    Choice,
}

/// Which tasks are meant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Selector {
    pub(crate) which: Which,
    pub(crate) only: Option<Only>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Which {
    /// By id, alias, or the beginning of an id.
    Named(Vec<String>),
    /// By its number in the last list, from 1.
    Nth(usize),
    Latest,
    All,
    /// "My task": whichever is the obvious one.
    #[default]
    Mine,
}

/// An adjective that narrows the choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Only {
    Running,
    Failed,
    Finished,
    Cloud,
    Local,
}

/// The beginning of a request with what each token can stand for.
pub(super) struct Reading<'a> {
    pub(super) text: &'a str,
    pub(super) tokens: Vec<Token>,
    pub(super) meanings: Vec<Meaning>,
    /// The tokens are all of the request.
    pub(super) whole: bool,
}

/// Reads a request. `is_alias` tells whether a word is the alias of a task.
pub(crate) fn parse(text: &str, is_alias: &dyn Fn(&str) -> bool) -> Intent {
    let (tokens, whole) = tokens(text);
    let meanings = meanings(&tokens, is_alias);
    let reading = Reading { text, tokens, meanings, whole };
    reading.control().unwrap_or_else(|| Intent::Work(read_work(&reading)))
}

/// What the tokens from `start` to `end` say, and where the next sentence begins.
struct Said {
    say: Say,
    start: usize,
    end: usize,
}

impl Reading<'_> {
    fn is(&self, at: usize, class: &str) -> bool {
        self.meanings.get(at).is_some_and(|meaning| meaning.is(Words::shipped().class(class)))
    }

    fn is_end(&self, at: usize) -> bool {
        self.tokens.get(at).is_none_or(|token| matches!(token.kind, Kind::Stop | Kind::Break))
    }

    /// The end of the sentence that begins at `start`.
    pub(super) fn sentence_end(&self, start: usize) -> usize {
        (start..).find(|at| self.is_end(*at)).unwrap_or(start)
    }

    fn says(&self, start: usize, end: usize) -> Option<Say> {
        Clause::of(&self.meanings[start..end])?.says()
    }

    /// The first sentence at or behind `from` that is more than a courtesy.
    fn first_sentence(&self, mut from: usize) -> Option<(usize, usize)> {
        while from < self.tokens.len() {
            let end = self.sentence_end(from);
            if end > from && self.says(from, end) != Some(Say::Nothing) {
                return Some((from, end));
            }
            from = end + 1;
        }
        None
    }

    fn control(&self) -> Option<Intent> {
        let Some((start, end)) = self.first_sentence(0) else {
            return self.whole.then_some(Intent::Nothing);
        };
        let is_complete = self.whole || end < self.tokens.len();
        if let Some(say) = self.says(start, end).filter(|_| is_complete) {
            return self.with_rest(&Said { say, start, end }, end);
        }
        let splits = (start + 1..end).filter(|at| self.is_connector(*at)).take(MOST_SPLITS);
        for at in splits {
            let behind = self.behind_connectors(at, end);
            let said = self.says(start, at).map(|say| Said { say, start, end: at });
            let Some(said) = said.filter(|said| is_about_tasks(said.say) && behind < end) else { continue };
            let starts_work = self.is_certain(&said) && self.is(behind, "doing");
            if self.is_then(at, behind) || starts_work || self.says(behind, end).is_some() {
                return Some(self.intent(&said, Some(behind)));
            }
        }
        None
    }

    /// The sentence, if what follows it can be a request of its own.
    fn with_rest(&self, said: &Said, end: usize) -> Option<Intent> {
        let Some((next, next_end)) = self.first_sentence(end) else {
            return Some(self.intent(said, None)).filter(|_| self.whole);
        };
        if self.explains(next, next_end) && self.first_sentence(next_end).is_none() && self.whole {
            return Some(self.intent(said, None));
        }
        let breaks = self.tokens[end..next].iter().any(|token| token.kind == Kind::Break);
        let starts_work = self.is(next, "doing") && self.is_certain(said) && !breaks;
        let follows = self.is_connector(next) || self.says(next, next_end).is_some() || starts_work;
        (follows && is_about_tasks(said.say)).then(|| {
            let next = self.behind_connectors(next, next_end);
            self.intent(said, Some(next))
        })
    }

    /// A sentence that only says why.
    fn explains(&self, start: usize, end: usize) -> bool {
        Clause::of(&self.meanings[start..end]).is_some_and(|mut clause| clause.is_all("why"))
    }

    fn is_connector(&self, at: usize) -> bool {
        let words =
            ["then", "and", "afterwards", "afterward", "dann", "danach", "und", "luego", "y", "after"];
        self.tokens[at].kind == Kind::Word && words.contains(&self.tokens[at].text.as_str()) && {
            // "After" alone begins a condition; "after that" connects.
            self.tokens[at].text != "after" || self.tokens.get(at + 1).is_some_and(|next| next.text == "that")
        }
    }

    /// Where the words that only connect end.
    fn behind_connectors(&self, at: usize, end: usize) -> usize {
        let after_that =
            |at: usize| at > 0 && self.tokens[at].text == "that" && self.tokens[at - 1].text == "after";
        (at..end).find(|at| !self.is_connector(*at) && !after_that(*at)).unwrap_or(end)
    }

    /// Whether the connection says that one comes after the other. "And" alone may join two words.
    fn is_then(&self, at: usize, behind: usize) -> bool {
        self.tokens[at..behind].iter().any(|token| !["and", "und", "y"].contains(&token.text.as_str()))
    }

    /// Whether the sentence names its task so that it cannot mean something in the code.
    fn is_certain(&self, said: &Said) -> bool {
        (said.start..said.end)
            .any(|at| self.meanings[at].is(ID) || self.meanings[at].is(NUMBER) || self.is(at, "mine"))
    }

    fn intent(&self, said: &Said, next: Option<usize>) -> Intent {
        let then = next.map(|at| self.text[self.tokens[at].at.start..].trim().to_owned());
        let verb = match said.say {
            Say::Check => Verb::Check,
            Say::Environments => Verb::Environments,
            Say::Wait => Verb::Wait,
            Say::Cancel => Verb::Cancel,
            Say::Results => Verb::Results,
            Say::Setup => Verb::Setup,
            Say::Cleanup => Verb::Cleanup,
            Say::Choice => Verb::Choice,
            Say::Resume => {
                let selector = self.selector(said);
                let task = self.text.trim().to_owned();
                return Intent::Work(Work { task, resume: Some(selector), ..Work::default() });
            }
            Say::Help => return Intent::Help,
            Say::Yes => return Intent::Yes,
            Say::Nothing => return Intent::Nothing,
        };
        Intent::Control(Control { verb, selector: self.selector(said), limit: self.limit(said), then })
    }

    /// Which tasks the words of a sentence mean. The sentence has no other words that could say so.
    fn selector(&self, said: &Said) -> Selector {
        select(&self.tokens[said.start..said.end], &self.meanings[said.start..said.end])
    }

    fn limit(&self, said: &Said) -> Option<Duration> {
        (said.start..said.end).find_map(|at| {
            let token = &self.tokens[at];
            let (number, unit) = match span(&token.text) {
                Some(span) if self.meanings[at].is(SPAN) => span,
                _ => {
                    let counts = self.meanings[at].is(NUMBER) && self.is(at + 1, "unit") && at + 1 < said.end;
                    let number = token.text.parse().ok().filter(|_| counts)?;
                    (number, self.tokens[at + 1].text.as_str())
                }
            };
            let is = |class: &str, letter: char| {
                let classes = Words::shipped().symbols.get(unit);
                unit.starts_with(letter)
                    && classes.is_none_or(|all| all.contains(&Words::shipped().class(class)))
            };
            let seconds = match () {
                () if is("hours", 'h') || is("hours", 's') && unit.starts_with("st") => 3600,
                () if is("minutes", 'm') => 60,
                () => 1,
            };
            Some(Duration::from_secs(u64::saturating_mul(number, seconds)))
        })
    }
}

fn is_about_tasks(say: Say) -> bool {
    match say {
        Say::Check
        | Say::Environments
        | Say::Wait
        | Say::Cancel
        | Say::Results
        | Say::Setup
        | Say::Cleanup => true,
        Say::Choice | Say::Resume | Say::Help | Say::Yes | Say::Nothing => false,
    }
}

/// Which tasks these words mean.
pub(super) fn select(tokens: &[Token], meanings: &[Meaning]) -> Selector {
    let words = Words::shipped();
    let has = |class: &str| meanings.iter().any(|meaning| meaning.is(words.class(class)));
    let ids: Vec<String> = tokens
        .iter()
        .zip(meanings)
        .filter(|(_, meaning)| meaning.is(ID))
        .map(|(token, _)| token.raw.clone())
        .collect();
    let is_counted = |at: usize| meanings.get(at + 1).is_some_and(|next| next.is(words.class("unit")));
    let number = (0..tokens.len()).find(|at| meanings[*at].is(NUMBER) && !is_counted(*at));
    let number = number.and_then(|at| tokens[at].text.trim_start_matches('#').parse().ok());
    let ordinal = || {
        ["one", "two", "three"]
            .iter()
            .position(|class| meanings.iter().any(|meaning| meaning.is(words.class(class))))
    };
    let which = match (number, ordinal()) {
        _ if !ids.is_empty() => Which::Named(ids),
        (Some(number), _) => Which::Nth(number),
        (None, Some(at)) => Which::Nth(at + 1),
        (None, None) if has("all") || has("everything") || has("tasks_only") => Which::All,
        (None, None) if has("latest") => Which::Latest,
        (None, None) => Which::Mine,
    };
    let only = [
        ("running", Only::Running),
        ("failed", Only::Failed),
        ("finished", Only::Finished),
        ("cloudy", Only::Cloud),
        ("local", Only::Local),
    ];
    // An adjective stands before its noun; behind it, it asks.
    let noun = (0..meanings.len())
        .find(|at| ["task", "tasks"].iter().any(|class| meanings[*at].is(words.class(class))));
    let before = &meanings[..noun.unwrap_or(0)];
    let only =
        only.into_iter().find(|(class, _)| before.iter().any(|meaning| meaning.is(words.class(class))));
    Selector { which, only: only.map(|(_, only)| only) }
}
