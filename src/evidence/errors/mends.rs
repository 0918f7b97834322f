//! Which failures a success mends.

use super::cargo::Shows;
use super::work::Work;
use crate::evidence::calls::Call;
use crate::evidence::tests::{Relation, Scope};

impl Work {
    /// Whether a success of this shows that what failed for want of syntax does so no more.
    pub(super) fn reads(&self, failed: &Work) -> bool {
        match (self, failed) {
            (
                Self::Program { call, input, directory, .. },
                Self::Program { call: of, input: read, directory: at, .. },
            ) => directory == at && call.reads(input, of, read),
            _ => false,
        }
    }

    /// Whether this is code that was written in the place of some that had a slip.
    pub(super) fn is_next_try(&self, failed: &Work) -> bool {
        match (self, failed) {
            (
                Self::Program { call, input, directory, .. },
                Self::Program { call: of, input: read, directory: at, .. },
            ) => directory == at && call.is_next_try(input, of, read),
            _ => false,
        }
    }

    /// Whether a success of this shows that what failed does not fail any more.
    pub(super) fn mends(&self, failed: &Work) -> bool {
        let holds = |a: &Scope, b: &Scope| matches!(a.relation(b), Relation::Same | Relation::Covers);
        let at_least = |a: &Scope, b: &Scope| holds(a, b) && !a.lacks(b);
        match (self, failed) {
            // Without a word it runs one program, not all of them.
            (Self::Cargo { shows, scope }, Self::Cargo { shows: needed @ Shows::Runs(_), scope: of }) => {
                shows.implies(needed) && scope.relation(of) == Relation::Same && !scope.lacks(of)
            }
            (Self::Cargo { shows, scope }, Self::Cargo { shows: needed, scope: of }) => {
                // What does not compile does so in no profile.
                let is_as_wide = match needed {
                    Shows::Passes => at_least(scope, of),
                    Shows::Lints(_) | Shows::Runs(_) => scope.builds_at_least(of),
                    Shows::Checks | Shows::Builds | Shows::BuildsTests if shows.has_tests() => {
                        scope.tests_need(of)
                    }
                    Shows::Checks | Shows::Builds | Shows::BuildsTests => scope.builds_at_least(of),
                };
                shows.implies(needed) && is_as_wide
            }
            (Self::Tests(scope), Self::Tests(of)) => at_least(scope, of),
            (_, Self::Elsewhere(failed)) => self.is_kin_of(failed),
            (Self::Program { call, .. }, Self::HalfDone(verbs)) => {
                call.git_verb().is_some_and(|verb| verbs.contains(&verb)) && !call.is_dry()
            }
            (
                Self::Program { call, meant, input, context, directory },
                Self::Program { call: of, meant: of_meant, input: read, context: around, directory: at },
            ) => {
                let covers =
                    |own: &Call| [Some(of), of_meant.as_ref()].iter().flatten().any(|of| own.covers(of));
                let is_same = || (covers(call) || meant.as_ref().is_some_and(covers)) && input == read;
                (context, directory) == (around, at) && (is_same() || call.does_code_of(input, of, read))
            }
            _ => false,
        }
    }
}
