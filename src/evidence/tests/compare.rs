//! How the tests of two runs lie to each other, by what each of them asked for. What is
//! not known to be so is unclear, and then nothing is added up.

use super::Framework;
use super::dialect::{Words, dialect};
use super::held::{self, Held, choices};
use super::packages::Packages;
use super::patterns::patterns;
use super::places::is_known;
use super::relation::{Relation, both, contains_package, directories, filters, is_path, sets};
use super::scope::Scope;

const RECURSIVE: &str = "--recursive";

impl Scope {
    /// How this lies to `other`, another run of the same tests' framework.
    pub(crate) fn relation(&self, other: &Scope) -> Relation {
        match self.relation_of_commands(other) {
            // Runs of one command beside each other: what each did is not known.
            Relation::Same if self.part != other.part && !self.any_framework && !other.any_framework => {
                Relation::Unclear
            }
            relation => relation,
        }
    }

    /// The same between whole commands, whatever their parts.
    pub(super) fn relation_of_commands(&self, other: &Scope) -> Relation {
        if self.elsewhere != other.elsewhere || self.other_tree != other.other_tree {
            return Relation::Apart;
        }
        if let Some((own, others)) = self.as_run(other) {
            return own.relation_of_commands(others);
        }
        let any = self.any_framework || other.any_framework || self.is_reported_by(other);
        if self.framework != other.framework && !any {
            return if self.has_tests_in_common(other) { Relation::Unclear } else { Relation::Apart };
        }
        let directories = directories(&self.directory, &other.directory);
        if any || self.unclear.is_some() || other.unclear.is_some() {
            return match directories {
                Relation::Same if self.unclear == other.unclear => Relation::Same,
                Relation::Apart => Relation::Apart,
                _ => Relation::Unclear,
            };
        }
        let words = dialect(self.framework).words;
        let places = match (words, directories) {
            // Folders and files in them are told apart wherever it ran.
            (Words::Places, _) if self.framework == Framework::Pytest => {
                let (a, b) = (self.looked_in(), other.looked_in());
                // What holds the root holds more than that.
                let beyond =
                    |places: &[String]| places.iter().any(|place| place.starts_with('/') || !is_known(place));
                match a != b && beyond(&a) != beyond(&b) {
                    true => Relation::Unclear,
                    false => self.places_to(other),
                }
            }
            (_, Relation::Apart) => Relation::Apart,
            (Words::Places, Relation::Same) => self.places_to(other),
            (Words::Packages, Relation::Same) => {
                let (a, b) = (self.packages_here(), other.packages_here());
                // What a package is called elsewhere, or where another module begins, is not known.
                let paths = |places: &[String]| places.iter().all(|place| is_path(place));
                let names = |places: &[String]| !places.iter().any(|place| is_path(place));
                let alike = (paths(&a) && paths(&b)) || (names(&a) && names(&b));
                match a == b || alike {
                    true => sets(&a, &b, contains_package),
                    false => Relation::Unclear,
                }
            }
            (Words::Filters | Words::Patterns, Relation::Same) => Relation::Same,
            (_, Relation::Covers | Relation::Within | Relation::Unclear) => Relation::Unclear,
        };
        let same = |a: &str, b: &str| a == b;
        let by_words = match words {
            Words::Patterns => patterns(&self.filters, &other.filters),
            Words::Places | Words::Packages | Words::Filters => filters(&self.filters, &other.filters),
        };
        let (set, others_set) = (&self.settings.filters, &other.settings.filters);
        let filters = match by_words {
            // What is always left out may be just what was asked for.
            Relation::Same => filters(set, others_set),
            _ if !set.is_empty() || !others_set.is_empty() => Relation::Unclear,
            by_words => by_words,
        };
        let all = [
            places,
            self.packages_meant().relation(other.packages_meant()),
            sets(&self.targets, &other.targets, same),
            filters,
            self.modes_to(other),
        ];
        all.into_iter().reduce(both).unwrap_or(Relation::Unclear)
    }

    /// By options that may choose anything, and those that reach further.
    pub(super) fn modes_to(&self, other: &Scope) -> Relation {
        let rest = |scope: &Scope| -> Vec<String> {
            scope.modes.iter().filter(|mode| *mode != RECURSIVE).cloned().collect()
        };
        match (self.is_recursive(), other.is_recursive()) {
            _ if rest(self) != rest(other) => Relation::Unclear,
            (true, false) => Relation::Covers,
            (false, true) => Relation::Within,
            _ => Relation::Same,
        }
    }

    /// Whether mocha goes below its folders.
    fn is_recursive(&self) -> bool {
        self.framework == Framework::Mocha && self.modes.iter().any(|mode| mode == RECURSIVE)
    }

    /// Whether one of them is known from a report in a form that any framework may write, and both are
    /// of one script.
    fn is_reported_by(&self, other: &Scope) -> bool {
        let is_report = [self, other].iter().any(|scope| scope.framework == Framework::Junit);
        is_report && self.unclear.is_some() && self.unclear == other.unclear
    }

    /// Two programs that may well run the same tests.
    fn has_tests_in_common(&self, other: &Scope) -> bool {
        let pair = [self.framework, other.framework];
        let both = |a, b| pair.contains(&a) && pair.contains(&b);
        both(Framework::CargoTest, Framework::Nextest) || both(Framework::Pytest, Framework::Unittest)
    }

    /// How the places of two runs lie to each other that ran in one directory, or wherever that
    /// does not matter.
    fn places_to(&self, other: &Scope) -> Relation {
        let (a, b) = (self.looked_in(), other.looked_in());
        if a == b && self.settings.left_alone == other.settings.left_alone {
            return Relation::Same;
        }
        if self.framework == Framework::Unittest && self.places.is_empty() != other.places.is_empty() {
            let wider = self.places.is_empty();
            let found = if wider { other.settings.found } else { self.settings.found };
            return match found {
                Some(Held::Surely) if wider => Relation::Covers,
                Some(Held::Surely) => Relation::Within,
                Some(Held::Not) => Relation::Apart,
                Some(Held::Perhaps) | None => Relation::Unclear,
            };
        }
        choices(
            (&a, |outer: &str, inner: &str| self.held(outer, inner, other)),
            (&b, |outer: &str, inner: &str| other.held(outer, inner, self)),
        )
    }

    /// Whether `outer`, where this looks, has the tests of `inner` in it, where `other` does.
    fn held(&self, outer: &str, inner: &str, other: &Scope) -> Held {
        let held = match self.framework {
            Framework::Pytest => held::of_pytest(outer, inner),
            Framework::Mocha => held::of_mocha(outer, inner, self.is_recursive()),
            Framework::Node => held::of_node(outer, inner),
            Framework::Unittest => {
                held::of_unittest(outer, inner, self.settings.packages || other.settings.packages)
            }
            _ => held::of_tap(outer, inner),
        };
        let own_rules = self.settings.own_rules || other.settings.own_rules;
        let more_files = self.settings.more_files || other.settings.more_files;
        let by_name = outer == inner || outer.contains("::") || outer.ends_with(".py");
        let file = inner.split("::").next().and_then(|path| path.rsplit('/').next()).unwrap_or_default();
        let may_be_test = more_files && file.ends_with(".py") && !file.starts_with("test_");
        match held {
            Held::Surely | Held::Not if may_be_test && !by_name => Held::Perhaps,
            // What mocha is told in a file, it runs beside what it is asked for.
            Held::Not if own_rules && self.framework == Framework::Mocha => Held::Perhaps,
            Held::Surely if own_rules && !by_name => Held::Perhaps,
            Held::Surely if self.leaves_alone(outer, inner, other) => Held::Perhaps,
            held => held,
        }
    }

    /// Whether pytest may pass over `inner`, or some of it, on its way from `outer`.
    fn leaves_alone(&self, outer: &str, inner: &str, other: &Scope) -> bool {
        let is_one = |place: &str| place.contains("::") || place.ends_with(".py");
        let (own, others) = (&self.settings.left_alone, &other.settings.left_alone);
        let on_the_way = own.iter().chain(others).any(|rule| rule.is_between(outer, inner));
        // What both leave alone in a folder is missing in both.
        let mut own_alone = own.iter().filter(|rule| !others.contains(rule));
        !is_one(outer) && (on_the_way || (!is_one(inner) && own_alone.any(|rule| rule.reaches_into(inner))))
    }

    /// Where it looks for tests; an empty one is everywhere below the root.
    pub(super) fn looked_in(&self) -> Vec<String> {
        match self.framework {
            _ if !self.places.is_empty() => self.places.clone(),
            Framework::Pytest => vec![self.directory.clone()],
            Framework::Mocha => vec!["test".to_owned()],
            _ => vec![String::new()],
        }
    }

    /// The packages that are asked for, by the manifest where the command names none.
    fn packages_meant(&self) -> &Packages {
        match &self.settings.unnamed {
            Some(unnamed) if self.packages == Packages::Default => unnamed,
            _ => &self.packages,
        }
    }

    fn packages_here(&self) -> Vec<String> {
        if self.places.is_empty() { vec![".".to_owned()] } else { self.places.clone() }
    }

    /// Whether the test `name` was among those asked for; `None` where that is not known.
    /// It is named from the root, as by `full_name`.
    pub(super) fn asks_for(&self, name: &str) -> Option<bool> {
        if self.unclear.is_some() || !self.modes.is_empty() || self.part > 0 {
            return None;
        }
        match self.framework {
            Framework::Pytest if self.filters.is_empty() => {
                let held: Vec<Held> =
                    self.looked_in().iter().map(|place| self.held(place, name, self)).collect();
                match held.contains(&Held::Surely) {
                    true => Some(true),
                    false => (!held.contains(&Held::Perhaps)).then_some(false),
                }
            }
            Framework::CargoTest | Framework::Nextest
                if self.packages == Packages::Default
                    && self.targets.is_empty()
                    && !self.filters.iter().any(|filter| filter.starts_with('-')) =>
            {
                let name = name.rsplit(' ').next().unwrap_or(name);
                Some(
                    self.filters.is_empty()
                        || self.filters.iter().any(|filter| name.contains(filter.as_str())),
                )
            }
            _ => None,
        }
    }

    /// Whether the test `name` is among those asked for, if it failed when pytest last ran it.
    pub(super) fn asks_for_last_failed(&self, name: &str) -> bool {
        let is_last = |filter: &String| matches!(filter.as_str(), "--lf" | "--last-failed");
        let all = Self { filters: Vec::new(), ..self.clone() };
        self.framework == Framework::Pytest
            && !self.filters.is_empty()
            && self.filters.iter().all(is_last)
            && all.asks_for(name) == Some(true)
    }
}
