//! A look at a few tests between two runs of all.
//!
//! What a script runs is not in its words, so nobody can tell that `vitest run a.test.js` is a part
//! of `npm test`. Where it lies between two of these, and all of it passed, it is taken for one: it
//! has nothing to say that the later run does not.

use super::printed::handed_on;
use super::relation::Relation;
use super::{Framework, Scope, TestRun};

impl TestRun {
    /// Whether `few`, which ran between two runs like this one, was a look at some of their tests.
    pub(super) fn takes_in(&self, few: &TestRun) -> bool {
        let (Some(all), Some(some)) = (self.counts, few.counts) else { return false };
        let all_passed = some.failed == 0 && few.failing.is_empty() && few.complete;
        let kind = self.framework == few.framework && self.unit == few.unit;
        self.complete
            && all_passed
            && some.total <= all.total
            && kind
            && self.scope.relation(&few.scope) == Relation::Unclear
            && self.scope.is_of_all()
            && few.scope.is_of_a_few(&self.scope)
    }
}

impl Scope {
    fn is_of_all(&self) -> bool {
        match self.script() {
            Some(script) => handed_on(script).1.is_none(),
            None => self.filters.is_empty(),
        }
    }

    /// Whether it asks for some tests by words, where `all` ran.
    fn is_of_a_few(&self, all: &Scope) -> bool {
        let here = self.framework == Framework::Pytest || self.directory == all.directory;
        let asks = match (self.script(), all.script()) {
            (Some(own), Some(script)) => handed_on(own).0 == script && handed_on(own).1.is_some(),
            (Some(_), None) => false,
            (None, _) => !self.places.is_empty() || !self.filters.is_empty(),
        };
        here && asks && self.modes == all.modes
    }
}
