//! What an exit code of 0 says of the steps of a command line.
//!
//! Only a line that is understood as a whole says anything.

use super::Command;
use super::step::Step;

/// Deeper brackets are not followed.
const DEEPEST: usize = 32;

/// A command line, cut into its steps and what stands between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Step(usize),
    /// The beginning and the end of a group.
    Open,
    Close,
    /// `minds` where a failure before it is the pipeline's.
    Pipe {
        minds: bool,
    },
    And,
    Or,
    End,
    Background,
}

/// What is known of a step where the whole line ended with 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    Unknown,
    /// It ran, if what stands before it in its group did not fail without a word.
    Perhaps,
    /// It ran, and what it came to is lost in the pipes that these steps read.
    Behind(Vec<usize>),
    Succeeded,
}

/// Commands one after the other.
#[derive(Debug)]
pub(super) struct Tree(Vec<Chain>);

/// Pipelines with `&&` and `||` between them.
#[derive(Debug, Default)]
struct Chain {
    pipes: Vec<Pipe>,
    background: bool,
}

#[derive(Debug)]
struct Pipe {
    /// Whether it runs only after a failure of what stands before it in its chain.
    or: bool,
    nodes: Vec<Node>,
    minds: bool,
}

#[derive(Debug)]
enum Node {
    Step(usize),
    Group(Tree),
}

impl Tree {
    pub(super) fn of(parts: &[Part]) -> Option<Self> {
        let (tree, rest) = Self::read(parts, DEEPEST)?;
        rest.is_empty().then_some(tree)
    }

    /// Commands up to the end of their group, and what is left.
    fn read(mut parts: &[Part], deeper: usize) -> Option<(Self, &[Part])> {
        let mut tree = Self(Vec::new());
        loop {
            match parts {
                [Part::End, rest @ ..] => parts = rest,
                [] | [Part::Close, ..] => return Some((tree, parts)),
                _ => {
                    let (chain, rest) = Chain::read(parts, deeper)?;
                    // Nothing stands between it and the next.
                    if !chain.background && !matches!(rest, [] | [Part::End | Part::Close, ..]) {
                        return None;
                    }
                    tree.0.push(chain);
                    parts = rest;
                }
            }
        }
    }

    /// Whether an end with 0 shows that one of the steps that `is_good` names succeeded.
    fn needs(&self, steps: &[Step], is_good: &dyn Fn(usize) -> bool) -> bool {
        self.0.last().is_some_and(|chain| !chain.background && chain.needs(chain.pipes.len(), steps, is_good))
    }

    fn surely_fails(&self, steps: &[Step]) -> bool {
        self.0.last().is_some_and(|chain| !chain.background && chain.surely_fails(steps))
    }

    fn pipes(&self) -> impl Iterator<Item = &Pipe> {
        self.0.iter().flat_map(|chain| &chain.pipes)
    }

    fn steps(&self) -> Vec<usize> {
        self.pipes().flat_map(|pipe| &pipe.nodes).flat_map(Node::steps).collect()
    }

    /// The step whose exit code is that of all.
    fn last(&self) -> Option<usize> {
        self.0.last()?.pipes.last()?.nodes.last()?.last()
    }

    /// The outermost pipe that `at` stands before, and where in it.
    fn pipe_behind(&self, at: usize) -> Option<(&Pipe, usize)> {
        let pipe = self.pipes().find(|pipe| pipe.nodes.iter().any(|node| node.has(at)))?;
        let place = pipe.nodes.iter().position(|node| node.has(at))?;
        match &pipe.nodes[place] {
            _ if place + 1 < pipe.nodes.len() && !pipe.minds => Some((pipe, place)),
            Node::Step(_) => None,
            Node::Group(tree) => tree.pipe_behind(at),
        }
    }

    /// The steps that read what `at` prints, the nearest first.
    fn readers(&self, at: usize) -> Vec<usize> {
        let Some(pipe) = self.pipes().find(|pipe| pipe.nodes.iter().any(|node| node.has(at))) else {
            return Vec::new();
        };
        let mut nodes = pipe.nodes.iter().skip_while(|node| !node.has(at));
        let inner = match nodes.next() {
            Some(Node::Group(tree)) => tree.readers(at),
            Some(Node::Step(_)) | None => Vec::new(),
        };
        inner.into_iter().chain(nodes.flat_map(Node::steps)).collect()
    }

    /// Whether the end of `told` ended with 0 shows that `at` did: it had to before.
    fn is_shown_by(&self, told: usize, at: usize, steps: &[Step]) -> bool {
        self.0.iter().any(|chain| {
            let place = chain.pipes.iter().position(|pipe| pipe.last() == Some(told));
            place.map_or_else(
                || {
                    let nodes = chain.pipes.iter().flat_map(|pipe| &pipe.nodes);
                    nodes.filter_map(Node::group).any(|tree| tree.is_shown_by(told, at, steps))
                },
                |place| chain.needs(place + 1, steps, &|step| step == at),
            )
        })
    }

    /// Whether `at` was begun, where those that `is_good` names are known to have succeeded.
    fn begins(&self, at: usize, is_good: &dyn Fn(usize) -> bool) -> bool {
        let place =
            |chain: &Chain| chain.pipes.iter().position(|pipe| pipe.nodes.iter().any(|node| node.has(at)));
        let Some((chain, place)) = self.0.iter().find_map(|chain| Some((chain, place(chain)?))) else {
            return false;
        };
        let (before, pipe) = (&chain.pipes[..place], &chain.pipes[place]);
        let goes_on = |pipe: &Pipe| !pipe.or && pipe.nodes.iter().flat_map(Node::steps).all(is_good);
        let inner = pipe.nodes.iter().find(|node| node.has(at)).and_then(Node::group);
        !chain.background
            && !pipe.or
            && before.iter().all(goes_on)
            && inner.is_none_or(|tree| tree.begins(at, is_good))
    }

    /// The steps one of which failed where the pipelines up to the one that ends with `last` did.
    fn blamed(&self, last: usize, steps: &[Step]) -> Option<Vec<usize>> {
        self.0.iter().find_map(|chain| {
            let Some(place) = chain.pipes.iter().position(|pipe| pipe.last() == Some(last)) else {
                let nodes = chain.pipes.iter().flat_map(|pipe| &pipe.nodes);
                return nodes.filter_map(Node::group).find_map(|tree| tree.blamed(last, steps));
            };
            Some(chain.blamed(place + 1, steps))
        })
    }

    /// The same of all of it.
    fn blamed_at_end(&self, steps: &[Step]) -> Vec<usize> {
        self.0.last().map(|chain| chain.blamed(chain.pipes.len(), steps)).unwrap_or_default()
    }

    /// Whether nothing but `at` and what reads it can fail in it without a word.
    fn comes_to(&self, at: usize, steps: &[Step]) -> bool {
        let readers = self.readers(at);
        let is_plain = |step: &usize| *step == at || readers.contains(step) || steps[*step].only_prepares();
        let has_or = self.pipes().any(|pipe| pipe.or);
        let is_last = self.0.last().and_then(|chain| chain.pipes.last());
        let is_last = is_last.is_some_and(|pipe| pipe.nodes.iter().any(|node| node.has(at)));
        is_last && !has_or && self.steps().iter().all(is_plain)
    }
}

impl Chain {
    fn read(mut parts: &[Part], deeper: usize) -> Option<(Self, &[Part])> {
        let mut chain = Self::default();
        let mut or = false;
        loop {
            let (pipe, rest) = Pipe::read(parts, or, deeper)?;
            chain.pipes.push(pipe);
            (or, parts) = match rest {
                [Part::And, rest @ ..] => (false, rest),
                [Part::Or, rest @ ..] => (true, rest),
                [Part::Background, rest @ ..] => return Some((Self { background: true, ..chain }, rest)),
                rest => return Some((chain, rest)),
            };
        }
    }

    /// As of the first `count` of its pipelines.
    fn needs(&self, count: usize, steps: &[Step], is_good: &dyn Fn(usize) -> bool) -> bool {
        self.pipes[..count].iter().fold(false, |needed, pipe| match pipe.or {
            true if pipe.surely_fails(steps) => needed,
            true => needed && pipe.needs(steps, is_good),
            false => needed || pipe.needs(steps, is_good),
        })
    }

    /// The steps one of which failed where the first `count` of its pipelines did.
    fn blamed(&self, count: usize, steps: &[Step]) -> Vec<usize> {
        self.pipes[..count].iter().fold(Vec::new(), |blamed, pipe| match pipe.or {
            // It only passes the failure on.
            true if pipe.surely_fails(steps) => blamed,
            true => pipe.blamed(steps),
            false => [blamed, pipe.blamed(steps)].concat(),
        })
    }

    fn surely_fails(&self, steps: &[Step]) -> bool {
        self.pipes.iter().fold(false, |fails, pipe| match pipe.or {
            true => fails && pipe.surely_fails(steps),
            false => fails || pipe.surely_fails(steps),
        })
    }
}

impl Pipe {
    fn read(mut parts: &[Part], or: bool, deeper: usize) -> Option<(Self, &[Part])> {
        let mut pipe = Self { or, nodes: Vec::new(), minds: true };
        loop {
            let (node, rest) = match parts {
                [Part::Step(at), rest @ ..] => (Node::Step(*at), rest),
                [Part::Open, rest @ ..] if deeper > 0 => {
                    let (tree, rest) = Tree::read(rest, deeper - 1)?;
                    (Node::Group(tree), rest.strip_prefix(&[Part::Close])?)
                }
                _ => return None,
            };
            pipe.nodes.push(node);
            let [Part::Pipe { minds }, rest @ ..] = rest else { return Some((pipe, rest)) };
            pipe.minds &= minds;
            parts = rest;
        }
    }

    fn needs(&self, steps: &[Step], is_good: &dyn Fn(usize) -> bool) -> bool {
        let from = if self.minds { 0 } else { self.nodes.len().saturating_sub(1) };
        self.nodes[from..].iter().any(|node| match node {
            Node::Step(at) => is_good(*at),
            Node::Group(tree) => tree.needs(steps, is_good),
        })
    }

    fn surely_fails(&self, steps: &[Step]) -> bool {
        self.nodes.last().is_some_and(|node| match node {
            Node::Step(at) => steps[*at].surely_fails(),
            Node::Group(tree) => tree.surely_fails(steps),
        })
    }

    fn blamed(&self, steps: &[Step]) -> Vec<usize> {
        let from = if self.minds { 0 } else { self.nodes.len().saturating_sub(1) };
        let blamed = |node: &Node| match node {
            Node::Step(at) => vec![*at],
            Node::Group(tree) => tree.blamed_at_end(steps),
        };
        self.nodes[from..].iter().flat_map(blamed).collect()
    }

    fn last(&self) -> Option<usize> {
        self.nodes.last()?.last()
    }
}

impl Node {
    fn steps(&self) -> Vec<usize> {
        match self {
            Self::Step(at) => vec![*at],
            Self::Group(tree) => tree.steps(),
        }
    }

    fn has(&self, at: usize) -> bool {
        self.steps().contains(&at)
    }

    fn last(&self) -> Option<usize> {
        match self {
            Self::Step(at) => Some(*at),
            Self::Group(tree) => tree.last(),
        }
    }

    fn group(&self) -> Option<&Tree> {
        match self {
            Self::Step(_) => None,
            Self::Group(tree) => Some(tree),
        }
    }
}

impl Command {
    /// Whether it may end with 0 before its last step.
    pub(super) fn may_end_early(&self) -> bool {
        let before = self.steps.split_last().map_or(&[][..], |(_, before)| before);
        before.iter().any(|step| matches!(step.program(), "exit" | "return") && !step.surely_fails())
    }

    /// Whether it is understood as a whole.
    pub(crate) fn is_clear(&self) -> bool {
        self.tree.is_some()
    }

    /// Whether nothing but a loop over words stands in the way of that.
    pub(crate) fn only_turns(&self) -> bool {
        (self.loops || self.steps.iter().any(|step| step.repeats))
            && !(self.unread || self.defines || self.negates || self.picks)
    }

    /// Whether an end with 0 shows that one of the steps that `is_good` names succeeded.
    pub(crate) fn needs(&self, is_good: impl Fn(usize) -> bool) -> bool {
        self.tree.as_ref().is_some_and(|tree| tree.needs(&self.steps, &is_good))
    }

    /// Whether the step at `at` was begun, where those that `is_good` names are known to have succeeded. A loop
    /// is taken for one turn of it.
    pub(crate) fn begins(&self, at: usize, is_good: impl Fn(usize) -> bool) -> bool {
        self.tree.as_ref().or(self.turn.as_ref()).is_some_and(|tree| tree.begins(at, &is_good))
    }

    /// The steps one of which failed where the whole line did; `None` where it is not understood as a whole.
    pub(crate) fn blamed_at_end(&self) -> Option<Vec<usize>> {
        self.tree.as_ref().map(|tree| tree.blamed_at_end(&self.steps))
    }

    /// The same of what ends with the step at `last`, as far as can be told.
    pub(crate) fn blamed(&self, last: usize) -> Vec<usize> {
        let in_tree = self.tree.as_ref().and_then(|tree| tree.blamed(last, &self.steps));
        in_tree.unwrap_or_else(|| {
            let waits = self.steps[..=last].iter().rev().take_while(|step| step.and).count();
            (last.saturating_sub(waits)..=last).collect()
        })
    }

    /// The steps that read what the one at `at` prints, the nearest first.
    pub(crate) fn readers(&self, at: usize) -> Vec<usize> {
        self.tree.as_ref().map(|tree| tree.readers(at)).unwrap_or_default()
    }

    /// What an end with 0 says of the step at `at`, where those of `told` are known to have succeeded.
    pub(crate) fn end_of(&self, at: usize, told: &[usize]) -> End {
        let Some(tree) = &self.tree else { return End::Unknown };
        let succeeded = |at: usize| {
            self.needs(|step| step == at) || told.iter().any(|told| tree.is_shown_by(*told, at, &self.steps))
        };
        // Nobody waited for it.
        if self.steps[at].background {
            return End::Unknown;
        }
        if succeeded(at) {
            return End::Succeeded;
        }
        match tree.pipe_behind(at).filter(|(pipe, _)| pipe.last().is_some_and(succeeded)) {
            None => End::Unknown,
            Some((pipe, place)) => match &pipe.nodes[place] {
                Node::Group(group) if !group.comes_to(at, &self.steps) => End::Perhaps,
                Node::Group(_) | Node::Step(_) => End::Behind(tree.readers(at)),
            },
        }
    }
}
