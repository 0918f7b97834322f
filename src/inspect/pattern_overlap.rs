//! Decides whether a match of a pattern can overlap a text somewhere in a line.
//!
//! The pattern's automaton is run over the text, from every state that it may be in at the start of the text,
//! and again from each of the text's characters. Conditions beside the characters themselves are assumed to
//! hold.

use regex_automata::nfa::thompson::{Config, NFA, State};
use regex_automata::util::primitives::StateID;
use regex_syntax::hir::Hir;

/// The size limit of the automaton in bytes.
const MOST_MEMORY: usize = 4 << 20;

pub(super) struct Touch {
    nfa: NFA,
    /// The states before the first character, and all states.
    first: States,
    all: States,
}

impl Touch {
    /// `None` if the pattern is too large to decide.
    pub(super) fn new(hir: &Hir) -> Option<Self> {
        let config = Config::new().utf8(false).nfa_size_limit(Some(MOST_MEMORY));
        let nfa = NFA::compiler().configure(config).build_from_hir(hir).ok()?;
        let mut first = States::new(&nfa);
        first.enter(&nfa, nfa.start_anchored());
        let mut all = States::new(&nfa);
        all.enter(&nfa, nfa.start_anchored());
        let mut looked = 0;
        while let Some(state) = all.list.get(looked).copied() {
            looked += 1;
            each_target(nfa.state(state), &mut |target| all.enter(&nfa, target));
        }
        Some(Self { nfa, first, all })
    }

    /// Whether a match can begin, end or be inside the text, or span it.
    pub(super) fn reaches(&self, text: &str) -> bool {
        if self.first.has_match {
            return true;
        }
        let mut now = self.all.list.clone();
        for (at, byte) in text.bytes().enumerate() {
            let mut next = States::new(&self.nfa);
            for state in &now {
                if let Some(target) = target(self.nfa.state(*state), byte) {
                    next.enter(&self.nfa, target);
                }
            }
            let goes_on = at + 1 == text.len() && !next.list.is_empty();
            if next.has_match || goes_on {
                return true;
            }
            now = next.list;
            now.extend(&self.first.list);
        }
        false
    }
}

/// The states that take a character, and whether a match ends here.
struct States {
    list: Vec<StateID>,
    seen: Vec<bool>,
    has_match: bool,
}

impl States {
    fn new(nfa: &NFA) -> Self {
        Self { list: Vec::new(), seen: vec![false; nfa.states().len()], has_match: false }
    }

    /// Adds a state, or those reachable from it without a character.
    fn enter(&mut self, nfa: &NFA, state: StateID) {
        let mut open = vec![state];
        while let Some(state) = open.pop() {
            if std::mem::replace(&mut self.seen[state.as_usize()], true) {
                continue;
            }
            match nfa.state(state) {
                State::ByteRange { .. } | State::Sparse(_) | State::Dense(_) => self.list.push(state),
                State::Look { next, .. } | State::Capture { next, .. } => open.push(*next),
                State::Union { alternates } => open.extend(alternates.iter()),
                State::BinaryUnion { alt1, alt2 } => open.extend([*alt1, *alt2]),
                State::Match { .. } => self.has_match = true,
                State::Fail => {}
            }
        }
    }
}

fn target(state: &State, byte: u8) -> Option<StateID> {
    match state {
        State::ByteRange { trans } if trans.matches_byte(byte) => Some(trans.next),
        State::Sparse(sparse) => sparse.matches_byte(byte),
        State::Dense(dense) => dense.matches_byte(byte),
        _ => None,
    }
}

fn each_target(state: &State, enter: &mut dyn FnMut(StateID)) {
    match state {
        State::ByteRange { trans } => enter(trans.next),
        State::Sparse(sparse) => sparse.transitions.iter().for_each(|trans| enter(trans.next)),
        State::Dense(dense) => (0..=u8::MAX).filter_map(|byte| dense.matches_byte(byte)).for_each(enter),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex::Regex;
    use regex_syntax::Parser;

    use super::*;

    #[track_caller]
    fn check(pattern: &str, expected: bool) {
        let touch = Touch::new(&Parser::new().parse(pattern).unwrap()).unwrap();
        assert_eq!(touch.reaches("[redacted:x]"), expected, "{pattern}");
    }

    #[test]
    fn a_match_may_begin_end_be_inside_or_go_over() {
        for pattern in [r"x\]=", r"=\[", "redacted", r"=\[r", "=.*;", "", "d?", r"\S+", "[^q]", "x]$"] {
            check(pattern, true);
        }
    }

    #[test]
    fn brackets_of_something_else_are_none_of_the_text() {
        for pattern in [r"\[error\]", r"\[\d+\]", "y]", "=", r"\[x", r"^\[re:", "é", r"\[redacted:y"] {
            check(pattern, false);
        }
    }

    proptest! {
        #[test]
        fn whatever_matches_over_the_text_was_foreseen(
            pattern in r"(a|b|\[|\]|\.|\(a\|\[\)|\[ab\]|b\*|a\?|\[\^b\]){1,5}", before in "[ab]{0,4}", after in "[ab]{0,4}",
        ) {
            let Ok(hir) = Parser::new().parse(&pattern) else { return Ok(()) };
            let (text, regex) = ("[ab]", Regex::new(&pattern).unwrap());
            let line = format!("{before}{text}{after}");
            let place = before.len()..before.len() + text.len();
            let mut touches = false;
            for start in 0..line.len() {
                let found = regex.find_at(&line, start);
                touches |= found.is_some_and(|found| found.start() < place.end && found.end() > place.start);
            }
            prop_assert!(!touches || Touch::new(&hir).unwrap().reaches(text), "{pattern} in {line}");
        }
    }
}
