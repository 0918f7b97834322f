//! What the exit code of a command says of its tests, where their output is of no help.

use super::detect::Start;
use super::relation::Relation;
use crate::evidence::shell::Command;

/// What an exit code of 0 says of tests, whatever they print.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Settled {
    #[default]
    Nothing,
    /// They passed, or some of them did when they were tried again.
    AtLast,
    /// They passed, and what they printed went to a file.
    Unseen,
}

pub(super) fn settled(command: &Command, starts: &[Start]) -> Settled {
    let is_one = |at: usize| starts.iter().any(|start| start.at == at);
    match starts {
        _ if !command.needs(is_one) => Settled::Nothing,
        [start] if start.is_hidden => Settled::Unseen,
        [first, others @ ..] if !others.is_empty() && others.iter().all(|other| other.tries_again(first)) => {
            Settled::AtLast
        }
        _ => Settled::Nothing,
    }
}

impl Start {
    /// Whether it runs what `first` ran, or some of that.
    fn tries_again(&self, first: &Start) -> bool {
        self.runs == first.runs
            && matches!(self.scope.relation(&first.scope), Relation::Same | Relation::Within)
    }
}
