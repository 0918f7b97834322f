//! Reads how a piece of work is to be done, and takes those words out of the task.

use crate::router::grammar::Clause;
use crate::router::intent::{Reading, Selector, select};
use crate::router::lex::Kind;
use crate::router::words::{ID, Node, Place, Words};

/// The most descriptions that are taken out.
const MOST_OPTIONS: usize = 6;
/// The longest description, in tokens.
const LONGEST_OPTION: usize = 16;

/// Work and how it is to be done.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Work {
    /// The task in the caller's words, without the description of how to do it.
    pub(crate) task: String,
    /// Continues the thread of this task.
    pub(crate) resume: Option<Selector>,
    /// Only suggests that it continues the last thread: without one, it starts anew.
    pub(crate) may_start_anew: bool,
    /// Begins once this task is done.
    pub(crate) after: Option<Selector>,
    /// `true` for the cloud, `false` for this machine.
    pub(crate) in_cloud: Option<bool>,
    pub(crate) in_worktree: bool,
    /// The agent by the name in `words.txt`.
    pub(crate) agent: Option<&'static str>,
    pub(crate) on_every_agent: bool,
    /// The sandbox by the name in `words.txt`.
    pub(crate) sandbox: Option<&'static str>,
}

pub(super) fn read_work(reading: &Reading<'_>) -> Work {
    let mut span =
        Span { reading, start: 0, end: reading.tokens.len(), begin: 0, finish: reading.text.len() };
    let mut work = Work::default();
    for _ in 0..MOST_OPTIONS {
        if !span.take_option(&mut work) {
            break;
        }
    }
    work.task = span.text().to_owned();
    if work.resume.is_none() {
        span.read_onward(&mut work);
    }
    work
}

/// The part of the request that is left as the task.
struct Span<'a> {
    reading: &'a Reading<'a>,
    /// In tokens.
    start: usize,
    end: usize,
    /// In bytes.
    begin: usize,
    finish: usize,
}

impl Span<'_> {
    fn text(&self) -> &str {
        self.reading.text.get(self.begin..self.finish).unwrap_or_default().trim()
    }

    fn clause(&self, start: usize, end: usize) -> Option<Clause> {
        Clause::of(&self.reading.meanings[start..end])
    }

    /// Takes out one description at the beginning or at the end, if there is one and work is left.
    fn take_option(&mut self, work: &mut Work) -> bool {
        self.take_lead(work) || self.take_tail(work)
    }

    fn take_lead(&mut self, work: &mut Work) -> bool {
        let end = self.end.min(self.start + 2 * LONGEST_OPTION);
        let Some(mut clause) = self.clause(self.start, end) else { return false };
        let begin = clause.after_lead();
        let found = Words::shipped().options.iter().find_map(|(place, name, node)| {
            if !matches!(place, Place::Lead | Place::Opener) {
                return None;
            }
            let reach = self.start + clause.reach(node, begin)?;
            let next = self.reading.tokens.get(reach).filter(|next| next.kind == Kind::Word)?;
            let doing = Words::shipped().class("doing");
            let opens =
                *place == Place::Opener && next.text != "and" || self.reading.meanings[reach].is(doing);
            (next.set_off || opens).then_some((name, begin, reach))
        });
        let Some((name, begin, reach)) = found else { return false };
        apply(name, self.reading, self.start + begin, reach, work);
        self.start = reach;
        self.begin = self.reading.tokens[reach].at.start;
        true
    }

    fn take_tail(&mut self, work: &mut Work) -> bool {
        // Only where the request ends, not where the beginning that is looked at does.
        if !self.reading.whole {
            return false;
        }
        let ends = |kind: Kind| matches!(kind, Kind::Stop | Kind::Break);
        let mut end = self.end;
        while end > self.start && ends(self.reading.tokens[end - 1].kind) {
            end -= 1;
        }
        let sentence = (self.start..end).rev().find(|at| ends(self.reading.tokens[*at].kind));
        let sentence = sentence.map_or(self.start, |at| at + 1);
        for begin in (sentence.max(self.start + 1)..end).take_while(|at| *at < end) {
            if end - begin > LONGEST_OPTION {
                continue;
            }
            let Some(name) = self.tail(sentence, begin, end) else { continue };
            apply(name, self.reading, begin, end, work);
            self.end = begin;
            self.finish = self.reading.tokens[begin - 1].at.end;
            return true;
        }
        false
    }

    /// The name of the description that the tokens from `begin` to `end` are.
    fn tail(&self, sentence: usize, begin: usize, end: usize) -> Option<&'static str> {
        let mut clause = self.clause(begin, end)?;
        let (place, name, _) = Words::shipped().options.iter().find(|(place, _, node)| {
            matches!(place, Place::Tail | Place::Free) && ends_at(&mut clause, node, end - begin)
        })?;
        let set_off = self.reading.tokens[begin].set_off;
        (*place == Place::Free || set_off || self.is_plain_work(sentence, begin)).then_some(name.as_str())
    }

    /// Whether the words before a tail are one plain order, so that the tail belongs to it.
    fn is_plain_work(&self, sentence: usize, end: usize) -> bool {
        let Some(mut clause) = self.clause(sentence, end) else { return false };
        let verb = sentence + clause.after_lead();
        let is = |at: usize, class| self.reading.meanings[at].is(Words::shipped().class(class));
        // A courtesy may be the verb as well.
        let begins = (sentence..=verb.min(end - 1)).any(|at| is(at, "doing"));
        begins && !(sentence..end).any(|at| is(at, "blocker") && at > verb)
    }

    /// Words at the beginning that go on with an earlier thread.
    fn read_onward(&self, work: &mut Work) {
        let end = self.end.min(self.start + 2 * LONGEST_OPTION);
        let Some(mut clause) = self.clause(self.start, end) else { return };
        let Some(node) = Words::shipped().phrase("onward") else { return };
        let lead = clause.after_lead();
        let Some(reach) = (0..=lead).find_map(|at| clause.reach(node, at).map(|reach| (at, reach))) else {
            return;
        };
        let (from, to) = (self.start + reach.0, self.start + reach.1);
        // The word alone may be the name of something: "Also" needs what to do.
        if to >= self.end {
            return;
        }
        let verbs = ["continue", "resume", "carry", "keep", "go", "proceed", "follow"];
        let explicit = (from..to).any(|at| verbs.contains(&self.reading.tokens[at].text.as_str()));
        let selector = select(&self.reading.tokens[from..to], &self.reading.meanings[from..to]);
        let named = (from..to).any(|at| self.reading.meanings[at].is(ID));
        work.may_start_anew = !explicit && !named;
        work.resume = Some(selector);
    }
}

fn ends_at(clause: &mut Clause, node: &Node, end: usize) -> bool {
    clause.reach(node, 0) == Some(end)
}

fn apply(name: &str, reading: &Reading<'_>, from: usize, to: usize, work: &mut Work) {
    match name {
        "cloud" => work.in_cloud = Some(true),
        "local" => work.in_cloud = Some(false),
        "worktree" => work.in_worktree = true,
        "claude" => work.agent = Some("claude"),
        "gemini" => work.agent = Some("gemini"),
        "codex" => work.agent = Some("codex"),
        "everyone" => work.on_every_agent = true,
        "readonly" => work.sandbox = Some("read-only"),
        "write" => work.sandbox = Some("workspace-write"),
        "full" => work.sandbox = Some("danger-full-access"),
        "after" => work.after = Some(select(&reading.tokens[from..to], &reading.meanings[from..to])),
        _ => {}
    }
}
